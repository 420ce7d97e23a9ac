// SPDX-License-Identifier: Apache-2.0
/**
 * deploy/rbac/rollout.yaml and deploy/admission/rollout.yaml together, as they are: they grant all
 * that the agent's own decision writes in whole rollouts, to nodes and to tokens of the
 * ServiceAccount, and RBAC alone nothing beyond the one record.
 */
import { strict as assert } from 'node:assert'
import { join } from 'node:path'
import { FLEET_NAMESPACE } from '../fleet.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { type Step, scenario } from '../lab/runner.ts'
import { withModernPlane } from '../modern-plane.ts'
import { type Asked, ask, type Who } from './ask.ts'
import { nodeItself } from './cases/case.ts'
import { asList, DEPLOY, listRights, nameOf, readManifests, without } from './manifests.ts'
import { Fleet } from './rollout/fleet.ts'
import { pathOf } from './rollout/write.ts'
import { createAccount, NAMESPACE, requestToken } from './tokens.ts'

const FILE = 'rbac/rollout.yaml'
const RECORD = { namespace: NAMESPACE, name: 'node-config-rollout' }
const CONFIG = { namespace: NAMESPACE, name: 'node-config' }
const PLAN = 'waves: [20%, 60%], witnesses: 2, maxSilent: 1'
const [GOOD, BAD, FIXED] = ['a', 'b', 'c'].map((letter) => ({ hash: letter.repeat(64), isGood: letter !== 'b' })) as [
  Content,
  Content,
  Content,
]
type Content = Parameters<Fleet['runningOn']>[0]

const ON_RECORD: Readonly<Record<string, Asked>> = {
  'configmaps get': { method: 'GET', path: pathOf(RECORD) },
  'configmaps watch': {
    method: 'GET',
    path: `/api/v1/namespaces/${NAMESPACE}/configmaps?fieldSelector=metadata.name%3D${RECORD.name}&watch=1&timeoutSeconds=1`,
  },
  'configmaps patch': { method: 'PATCH', path: pathOf(RECORD), body: { data: {} } },
}

export function addRolloutRightsScenarios(): void {
  scenario('rights: rollout.yaml', (step) =>
    withModernPlane(step, async (plane) => {
      const node = nodeItself('n1')
      const manifests = readManifests(FILE)
      for (const name of [RECORD.name, CONFIG.name]) await plane.kubectl(['-n', NAMESPACE, 'create', 'configmap', name])
      await step('the file as it is: these three on the record, and nothing else', async () => {
        await plane.kubectl(['apply', '-f', join(DEPLOY, FILE)])
        assert.deepEqual(listRights(manifests).map(nameOf).sort(), Object.keys(ON_RECORD).sort())
        for (const [right, asks] of Object.entries(ON_RECORD)) assert.equal((await ask(plane, node, asks)).status, 200, right)
        const beyond: Asked[] = [
          { method: 'DELETE', path: pathOf(RECORD) },
          { method: 'PUT', path: pathOf(RECORD), body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: RECORD } },
          { method: 'POST', path: pathOf({ namespace: NAMESPACE, name: '' }).slice(0, -1), body: { metadata: { name: 'new' } } },
          { method: 'DELETE', path: pathOf({ namespace: NAMESPACE, name: '' }).slice(0, -1) },
          { method: 'PATCH', path: pathOf(CONFIG), body: { data: {} } },
          { method: 'GET', path: pathOf(CONFIG) },
        ]
        for (const asks of beyond) assert.equal((await ask(plane, node, asks)).status, 403, `${asks.method} ${asks.path}`)
      })
      for (const right of listRights(manifests))
        await step(`without ${nameOf(right)}: that is refused`, async () => {
          await plane.kubectl(['apply', '-f', '-'], { input: asList(without(manifests, right)) })
          for (const [name, asks] of Object.entries(ON_RECORD))
            assert.equal((await ask(plane, node, asks)).status, name === nameOf(right) ? 403 : 200, name)
        })
    }),
  )
}

/** In a namespace whose ConfigMaps deploy/admission/configs.yaml leaves to editors. */
async function playAmongConfigs(step: Step, plane: ControlPlane): Promise<void> {
  const node = nodeItself('n1')
  const record = { namespace: FLEET_NAMESPACE, name: RECORD.name }
  const [patch, other] = [record, { ...record, name: 'fleet' }].map(
    (metadata): Asked => ({ method: 'PATCH', path: pathOf(metadata), body: { data: { a: 'b' } } }),
  ) as [Asked, Asked]
  const refused = 'kubelets use this ConfigMap'
  await plane.kubectl(['create', 'namespace', FLEET_NAMESPACE])
  for (const name of [record.name, 'fleet']) await plane.kubectl(['-n', FLEET_NAMESPACE, 'create', 'configmap', name])
  await grant(plane, 'patch', { apiGroups: [''], resources: ['configmaps'], verbs: ['patch'] })
  await plane.kubectl(['apply', '-f', join(DEPLOY, 'admission/configs.yaml')])
  await step('without the right that the policy asks for, a node cannot write the record', () =>
    eventually(async () => (await ask(plane, node, patch)).message.includes(refused), { what: 'the policy is in force' }),
  )
  await step('with it, for the record alone, it can', async () => {
    await grant(plane, 'record', {
      apiGroups: ['kubelet-cfg-agent.io'],
      resources: ['configs'],
      resourceNames: [record.name],
      verbs: ['update'],
    })
    assert.equal((await ask(plane, node, patch)).status, 200)
    assert((await ask(plane, node, other)).message.includes(refused))
  })
}

async function grant(plane: ControlPlane, name: string, rule: object): Promise<void> {
  const [apiVersion, apiGroup] = ['rbac.authorization.k8s.io/v1', 'rbac.authorization.k8s.io']
  const metadata = { name, namespace: FLEET_NAMESPACE }
  const subjects = [{ apiGroup, kind: 'Group', name: 'system:nodes' }]
  const items = [
    { apiVersion, kind: 'Role', metadata, rules: [rule] },
    { apiVersion, kind: 'RoleBinding', metadata, roleRef: { apiGroup, kind: 'Role', name }, subjects },
  ]
  await plane.kubectl(['apply', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) })
}

export function addRolloutFleetScenarios(): void {
  scenario('rights: a record among the configs of configs.yaml', (step) => withModernPlane(step, (plane) => playAmongConfigs(step, plane)))
  for (const [whose, tokens] of [
    ['nodes', false],
    ['tokens of the ServiceAccount', true],
  ] as const)
    scenario(`rights: the policy admits what the agent decides, for ${whose}`, (step) =>
      withModernPlane(step, async (plane) => {
        const names = Array.from({ length: 12 }, (_, index) => `n${index + 1}`)
        const as = await step('identities, the config, the record and its policy', () => prepare(plane, names, tokens))
        const fleet = new Fleet(plane, RECORD.name, as)
        for (const name of names.slice(0, 11)) fleet.join(name, { controlPlane: ['n1', 'n2', 'n3'].includes(name) })
        await step('a good content goes through all stages, and the control planes one after another', async () => {
          await fleet.settle(await edit(plane, GOOD))
          assert.equal(fleet.runningOn(GOOD), 11)
          const { writes } = fleet.account()
          // One of stage 0, two of each of the three after it; where all are free, the control
          // planes that are left.
          assert.equal(writes.begin, 1)
          assert((writes.claim ?? 0) >= 6 && writes.proof === (writes.claim ?? 0) + 1, JSON.stringify(writes))
        })
        await step('one that fails everywhere is started by one node', async () => {
          await fleet.settle(await edit(plane, BAD))
          const { writes, started } = fleet.account()
          assert.deepEqual([started.length, writes], [1, { begin: 1, veto: 1 }])
        })
        await step('after retry by one more, and not by the first', async () => {
          await fleet.settle(await edit(plane, BAD, `${PLAN}, retry: 1`))
          assert.equal(fleet.account().started.length, 1)
        })
        await step('a record that is emptied learns the veto, before anybody starts', async () => {
          await plane.kubectl(['-n', NAMESPACE, 'patch', 'configmap', RECORD.name, '--type=json', '-p', '[{"op":"remove","path":"/data"}]'])
          await fleet.settle(await edit(plane, BAD, `${PLAN}, retry: 1`))
          assert.deepEqual(fleet.account().started, [])
        })
        await step('the fix goes to all', async () => {
          await fleet.settle(await edit(plane, FIXED))
          assert.equal(fleet.runningOn(FIXED), 11)
          fleet.account()
        })
        await step('a node that switches to it begins anew', async () => {
          fleet.join('n12', { arrival: 'switched' })
          await fleet.settle(await edit(plane, FIXED))
          const { writes, started } = fleet.account()
          assert.deepEqual([started, writes], [['n12'], { begin: 1, proof: 1 }])
        })
      }),
    )
}

async function prepare(plane: ControlPlane, names: readonly string[], tokens: boolean): Promise<(name: string) => Who> {
  await plane.kubectl(['-n', NAMESPACE, 'create', 'configmap', CONFIG.name])
  await plane.kubectl(['-n', NAMESPACE, 'create', 'configmap', RECORD.name])
  for (const file of [FILE, 'admission/rollout.yaml']) await plane.kubectl(['apply', '-f', join(DEPLOY, file)])
  if (!tokens) return nodeItself
  await createAccount(plane, 'kubelet-cfg-agent')
  const whose = new Map<string, Who>()
  for (const name of names) {
    await plane.createNode(name)
    const { metadata } = JSON.parse(await plane.kubectl(['get', 'node', name, '-o', 'json']))
    whose.set(name, { kind: 'token', token: await requestToken(plane, 'kubelet-cfg-agent', { kind: 'Node', name, uid: metadata.uid }) })
  }
  return (name) => whose.get(name) ?? nodeItself(name)
}

async function edit(plane: ControlPlane, content: Content, plan = PLAN) {
  const annotations = { 'kubelet-cfg-agent.io/rollout': RECORD.name, 'kubelet-cfg-agent.io/rollout-plan': plan }
  const patch = JSON.stringify({ metadata: { annotations }, data: { kubelet: content.hash } })
  const edited = await plane.kubectl(['-n', NAMESPACE, 'patch', 'configmap', CONFIG.name, '-o', 'json', '--type=merge', '-p', patch])
  const { uid, resourceVersion } = JSON.parse(edited).metadata
  return { uid, resourceVersion, plan, content }
}
