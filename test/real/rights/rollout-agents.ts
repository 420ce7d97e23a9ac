// SPDX-License-Identifier: Apache-2.0
/**
 * The loss of an agent without one right of deploy/rbac/rollout.yaml and rollout-events.yaml, and
 * that they suffice as they are, together with the policies. Each agent has a config with a rollout
 * of its own, in which it is the first witness.
 */
import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import type { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import { type Machine, withMachine } from '../machine.ts'
import { withModernPlane } from '../modern-plane.ts'
import { CONFIG_LABEL } from '../node-words.ts'
import { NO_EVIDENCE } from '../rollout/fleet.ts'
import { PLAN_ANNOTATION, ROLLOUT_ANNOTATION } from '../rollout/words.ts'
import { asAccount, asNode, configOf, type Loss, MAX_PODS, playLosses } from './losses.ts'
import { DEPLOY, RECORD_SUFFIX } from './manifests.ts'
import { NAMESPACE, useAccount } from './tokens.ts'

const ACCOUNT = 'kubelet-cfg-agent'
const CONFIG = 'node-config'
/** A proof is a trial whose evidence is known. */
const SETTINGS = { evidence: NO_EVIDENCE }
const FOR_ACCOUNT = ['rbac/serviceaccount.yaml', 'rbac/rollout.yaml']
/** Without a watch, it reads once a minute. */
const READS_MS = 240_000
/** The agent runs alone, so nobody opens stage 2. */
const FROM_ITS_PROOF = ['RolloutStarted', 'RolloutAdvanced']

const ON_RECORD: Readonly<Record<string, Loss>> = {
  'configmaps get': {
    lost: 'nothing is started',
    async shows(machine) {
      await machine.agent.untilSays(/^rollout: .*the record .*(may not|cannot) be read.*forbidden/)
      assert.equal(machine.restarts(), 0)
    },
  },
  'configmaps watch': {
    lost: 'the record is read every minute',
    async shows(machine) {
      await machine.agent.untilSays(/^watching .*configmaps.* is forbidden: reading it every minute instead$/)
      await machine.untilRuns(MAX_PODS, READS_MS)
    },
  },
  'configmaps patch': {
    lost: 'this node is no witness',
    async shows(machine) {
      await machine.agent.untilSays(/could not be written.*: 403 Forbidden/)
      assert.equal(machine.restarts(), 0)
    },
  },
}

export function addRolloutAgentScenarios(program: string): void {
  scenario('rights: rollout.yaml, by what an agent loses', (step) =>
    withModernPlane(step, (plane) =>
      playLosses(step, { ...asNode(plane, program), settings: SETTINGS, prepare: stageConfig }, 'rbac/rollout.yaml', ON_RECORD, [
        'rbac/node-configmaps.yaml',
      ]),
    ),
  )
  scenario('rights: rollout-events.yaml, by what an agent loses', (step) =>
    withModernPlane(step, (plane) =>
      playLosses(
        step,
        { ...asAccount(plane, program), settings: SETTINGS, prepare: stageConfig },
        'rbac/rollout-events.yaml',
        { 'events create': { lost: 'no events on the config', shows: (machine) => showsNoEvents(plane, machine) } },
        FOR_ACCOUNT,
      ),
    ),
  )
}

/** Where there are policies. */
export function addRolloutWholeScenarios(program: string): void {
  for (const whose of ['node', 'token'] as const)
    scenario(`rights: a rollout with the files as they are, by ${whose === 'node' ? 'a node' : 'a token that names its node'}`, (step) =>
      withModernPlane(step, async (plane) => {
        const rights = whose === 'node' ? ['rbac/node-configmaps.yaml', 'rbac/rollout.yaml'] : [...FOR_ACCOUNT, 'rbac/rollout-events.yaml']
        for (const file of [...rights, 'admission/rollout.yaml', 'admission/serviceaccount.yaml'])
          await plane.kubectl(['apply', '-f', join(DEPLOY, file)])
        await step('it begins, proves, and tells of it', () => playWhole(plane, program, whose))
      }),
    )
}

async function playWhole(plane: ControlPlane, program: string, whose: 'node' | 'token'): Promise<void> {
  const name = 'whole'
  const account = whose === 'node' ? undefined : await useAccount(plane, ACCOUNT, name)
  const kubeconfig = account?.kubeconfig ?? (await plane.nodeKubeconfig(name))
  await withMachine(plane, program, { name, kubeconfig, settings: { ...SETTINGS, nodeName: name } }, async (machine, admin) => {
    const { metadata } = JSON.parse(await admin.kubectl('get', 'node', name, '-o', 'json'))
    await account?.renew({ kind: 'Node', name, uid: metadata.uid })
    await stageConfig(machine, admin, CONFIG)
    machine.agent.start()
    await machine.untilRuns(MAX_PODS, READS_MS)
    const told = () => reasonsAbout(plane, CONFIG)
    await eventually(async () => assert.deepEqual(await told(), [...FROM_ITS_PROOF].sort()) === undefined, {
      what: 'its events are on the config',
    })
    assert(!machine.agent.says(/ValidatingAdmissionPolicy|events about rollouts are refused|could not be written to the record/))
  })
}

async function showsNoEvents(plane: ControlPlane, machine: Machine): Promise<void> {
  await machine.agent.untilSays(/^events about .*rollout.* are refused/)
  await machine.untilRuns(MAX_PODS, READS_MS)
  const record = `${configOf(machine.name)}${RECORD_SUFFIX}`
  const isProven = async () =>
    / proof$/.test(JSON.parse(await plane.read(`/api/v1/namespaces/${NAMESPACE}/configmaps/${record}`)).data[`node.${machine.name}`])
  await eventually(isProven, { what: 'the record has its proof', timeoutMs: READS_MS })
  assert.deepEqual(await reasonsAbout(plane, configOf(machine.name)), [])
}

async function reasonsAbout(plane: ControlPlane, config: string): Promise<string[]> {
  const selector = encodeURIComponent(`involvedObject.kind=ConfigMap,involvedObject.name=${config}`)
  const { items } = JSON.parse(await plane.read(`/api/v1/namespaces/${NAMESPACE}/events?fieldSelector=${selector}`))
  const events: readonly { reason: string }[] = items
  return events.map(({ reason }) => reason).sort()
}

async function stageConfig(machine: Machine, admin: Administrator, name = configOf(machine.name)): Promise<void> {
  const record = `${name}${RECORD_SUFFIX}`
  const annotations = { [ROLLOUT_ANNOTATION]: record, [PLAN_ANNOTATION]: 'waves: [50%], spread: 2s' }
  await admin.applyConfigMap({ name, namespace: NAMESPACE, annotations }, machine.config(`maxPods: ${MAX_PODS}`))
  // After the config: without it, the policy refuses the record.
  await admin.kubectl('-n', NAMESPACE, 'create', 'configmap', record)
  await admin.kubectl('label', 'node', machine.name, `${CONFIG_LABEL}=${name}`)
}
