// SPDX-License-Identifier: Apache-2.0
/** ConfigMaps that are laid over the one that the selector chooses, and the right to them. */
import { strict as assert } from 'node:assert'
import { LAYER_ANNOTATION } from '../../../src/decision/channels.ts'
import type { Administrator } from '../administrator.ts'
import { fleetMember } from '../fleet.ts'
import { CommandError } from '../lab/processes.ts'
import type { Step } from '../lab/runner.ts'
import type { Machine } from '../machine.ts'
import { configOf, MAX_PODS, playOne, type Stage } from './losses.ts'
import { forAlone, type Manifest, readManifests, type Subject } from './manifests.ts'

const layerOf = (machine: string): string => `${machine}-layer`

/** The layer's fields win: a kubelet that runs with it has both. */
export async function withLayer(machine: Machine, admin: Administrator, maxPods: number): Promise<void> {
  const selector = `kubernetes.io/hostname=${machine.name}`
  const layer = fleetMember(layerOf(machine.name), selector, 10)
  await admin.applyConfigMap({ ...layer, annotations: { ...layer.annotations, [LAYER_ANNOTATION]: 'true' } }, `maxPods: ${maxPods}\n`)
  await admin.applyConfigMap(fleetMember(configOf(machine.name), selector), machine.config('maxPods: 41'))
}

/** The agent reads a layer by list and watch, the commands by get. */
export async function playLayerLoss(step: Step, stage: Stage, file: string): Promise<void> {
  const name = 'no-layer'
  const manifests = readManifests(file)
  const grant = (subject: Subject) =>
    forAlone(
      manifests.map((manifest) => getOnly(manifest, configOf(name))),
      subject,
      [configOf(name)],
    )
  const shows = async (machine: Machine) => {
    await machine.untilRuns(MAX_PODS)
    await assert.rejects(
      machine.agent.command('diff'),
      (error) => error instanceof CommandError && /-layer:kubelet cannot be read: .*cannot get resource/.test(error.stderr),
    )
  }
  const lost = 'the commands on the node cannot read what is laid over the choice'
  await step(`${file} without configmaps get of a layer: ${lost}`, () => playOne(stage, name, grant, { lost, shows }))
}

/** `get` of this ConfigMap alone, the other verbs as they are. */
function getOnly(manifest: Manifest, name: string): Manifest {
  const { rules } = manifest
  if (rules === undefined) return manifest
  const [rule, ...others] = rules
  assert(rule?.verbs.includes('get') === true && others.length === 0, 'one rule')
  const verbs = rule.verbs.filter((verb) => verb !== 'get')
  return {
    ...manifest,
    rules: [
      { ...rule, verbs },
      { ...rule, verbs: ['get'], resourceNames: [name] },
    ],
  }
}
