// SPDX-License-Identifier: Apache-2.0
/**
 * The node's own identity, on an API server that drops configSource: what deploy/rbac adds to what
 * the Node authorizer grants, and nothing more.
 */
import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import { BASE_ANNOTATION } from '../../../src/decision/channels.ts'
import type { Administrator } from '../administrator.ts'
import { FLEET_NAMESPACE, fleetMember } from '../fleet.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { CommandError } from '../lab/processes.ts'
import { scenario } from '../lab/runner.ts'
import { type Machine, withMachine } from '../machine.ts'
import { withModernPlane } from '../modern-plane.ts'
import { CONFIG_LABEL } from '../node-words.ts'
import { playBaseLosses } from './bases.ts'
import { playLayerLoss, withLayer } from './layers.ts'
import { asNode, configOf, type Loss, MAX_PODS, NAMED_CONFIG_MAP, playLosses, type Stage } from './losses.ts'
import { DEPLOY } from './manifests.ts'

const FLEET: Readonly<Record<string, Loss>> = {
  'configmaps list': {
    lost: 'nothing is selected',
    async shows(machine) {
      await machine.agent.untilSays(/configmaps\?labelSelector=\S+ cannot be followed: .*forbidden/)
      assert.equal(machine.restarts(), 0)
    },
  },
  'configmaps watch': {
    lost: 'another choice is not heard of at once, nor an edit of what is chosen or laid over it',
    async shows(machine) {
      await machine.untilRuns(MAX_PODS)
      for (const what of [/configmaps\?labelSelector=.*/, /-config/, /-layer/])
        await machine.agent.untilSays(new RegExp(`^watching .*${what.source} is forbidden: reading it every minute instead$`))
    },
  },
  'configmaps get': {
    lost: 'the commands on the node cannot read what is selected',
    async shows(machine) {
      await machine.untilRuns(MAX_PODS)
      await assert.rejects(
        machine.agent.command('diff'),
        (error) => error instanceof CommandError && /cannot get resource/.test(error.stderr),
      )
    },
  },
}

export function addNodeIdentityScenarios(program: string): void {
  scenario('rights: node-configmaps.yaml', async (step) =>
    withModernPlane(step, async (plane) => {
      const stage = { ...asNode(plane, program), settings: {}, prepare: assignByLabel }
      await playLosses(step, stage, 'rbac/node-configmaps.yaml', NAMED_CONFIG_MAP)
      await playBaseLosses(step, asNode(plane, program), 'rbac/node-configmaps.yaml')
      await step(
        'the file as it is: both of its ConfigMaps, an edit of one older than the server, and all else by the Node authorizer',
        () => playNamed(plane, program),
      )
      await step('the file as it is, with one of its ConfigMaps under the other: an edit of the base', () => playPart(plane, program))
    }),
  )
  scenario('rights: node-fleet-selector.yaml', async (step) =>
    withModernPlane(step, async (plane) => {
      await plane.kubectl(['create', 'namespace', FLEET_NAMESPACE])
      const settings = { channels: 'config-source,label,selector', configNamespace: FLEET_NAMESPACE }
      const stage = {
        ...asNode(plane, program),
        settings,
        prepare: (machine: Machine, admin: Administrator) => withLayer(machine, admin, MAX_PODS),
      }
      await playLosses(step, stage, 'rbac/node-fleet-selector.yaml', FLEET)
      await playLayerLoss(step, stage, 'rbac/node-fleet-selector.yaml')
      await step('the file as it is: selected, edited, and read by the commands, with a layer and without', async () => {
        await plane.kubectl(['apply', '-f', join(DEPLOY, 'rbac/node-fleet-selector.yaml')])
        await withMachine(plane, program, { name: 'whole', settings }, async (machine, admin) => {
          await select(machine, admin, MAX_PODS)
          machine.agent.start()
          await machine.untilRuns(MAX_PODS)
          await select(machine, admin, MAX_PODS + 1)
          await machine.untilRuns(MAX_PODS + 1)
          assert.match((await machine.agent.command('diff')).stdout, /no difference$/m)
          for (const maxPods of [MAX_PODS + 2, MAX_PODS + 3]) {
            await withLayer(machine, admin, maxPods)
            await machine.untilRuns(maxPods)
            assert.match((await machine.agent.command('diff')).stdout, /no difference$/m)
          }
          assert(!machine.agent.says(/configmaps.*forbidden/))
        })
      })
    }),
  )
}

const assignByLabel: Stage['prepare'] = async (machine, admin) => {
  const name = configOf(machine.name)
  await admin.kubectl('-n', 'kube-system', 'create', 'configmap', name, `--from-literal=kubelet=${machine.config(`maxPods: ${MAX_PODS}`)}`)
  await admin.kubectl('label', 'node', machine.name, `${CONFIG_LABEL}=${name}`)
}

/** An edit must not be found by a read: those are a minute apart. */
async function playNamed(plane: ControlPlane, program: string): Promise<void> {
  await plane.kubectl(['apply', '-f', join(DEPLOY, 'rbac/node-configmaps.yaml')])
  const options = { name: 'whole', settings: { defaultConfigMap: 'kube-system/kubelet-config', requireDrain: 'maxPods' } }
  await withMachine(plane, program, options, async (machine, admin) => {
    const put = (name: string, maxPods: number) =>
      admin.applyConfigMap({ name, namespace: 'kube-system' }, machine.config(`maxPods: ${maxPods}`))
    await put('kubelet-config', 41)
    await put('node-config', 51)
    // After a restart, no server remembers their versions.
    await plane.stopApiserver()
    await plane.startApiserver()
    await admin.kubectl('cordon', machine.name)
    machine.agent.start()
    await machine.untilRuns(41)
    await admin.kubectl('label', 'node', machine.name, `${CONFIG_LABEL}=node-config`)
    await machine.untilRuns(51)
    await put('node-config', 52)
    await machine.untilRuns(52)
    await eventually(async () => (await admin.events()).length >= 3, { what: 'its events are there' })
    assert(!machine.agent.says(/could not be (updated|sent)/))
    assert(!machine.agent.says(/configmaps.*forbidden/))
  })
}

async function playPart(plane: ControlPlane, program: string): Promise<void> {
  await withMachine(plane, program, { name: 'part' }, async (machine, admin) => {
    const namespace = 'kube-system'
    const put = (maxPods: number) => admin.applyConfigMap({ name: 'kubelet-config', namespace }, machine.config(`maxPods: ${maxPods}`))
    await put(42)
    const annotations = { [BASE_ANNOTATION]: `${namespace}/kubelet-config` }
    await admin.applyConfigMap({ name: 'node-config', namespace, annotations }, 'podsPerCore: 3\n')
    await admin.kubectl('label', 'node', machine.name, `${CONFIG_LABEL}=node-config`)
    machine.agent.start()
    await machine.untilRuns(42)
    await put(43)
    await machine.untilRuns(43)
    assert(!machine.agent.says(/configmaps.*forbidden/))
  })
}

async function select(machine: Machine, admin: Administrator, maxPods: number): Promise<void> {
  const metadata = fleetMember(configOf(machine.name), `kubernetes.io/hostname=${machine.name}`)
  await admin.applyConfigMap(metadata, machine.config(`maxPods: ${maxPods}`))
}
