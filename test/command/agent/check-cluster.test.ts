// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { checkCluster } from '../../../src/command/agent/check-cluster.ts'
import type { CommandContext } from '../../../src/command/agent/command.ts'
import type { Desired } from '../../../src/decision/desired.ts'
import type { KubeAnswer, KubeRequest } from '../../../src/ports/kube-api.ts'
import { found, source } from '../../report/build.ts'
import { defaults } from '../../settings/settled-settings.ts'
import { fakeNode } from './fake-node.ts'

const refused = (status: number, detail = `${status}`): KubeAnswer => ({
  kind: 'refused',
  status,
  reason: '',
  detail,
  retryAfterMs: undefined,
})
const assigned = found(source())

interface Cluster {
  readonly node?: KubeAnswer
  readonly desired?: Desired | Error
  /** Rights that are missing, as in `watch configmaps`. */
  readonly missing?: readonly string[]
  readonly review?: KubeAnswer
  readonly context?: Partial<CommandContext>
}

async function check({ node = { kind: 'ok', object: {} }, desired = assigned, missing = [], review, context }: Cluster = {}) {
  const asked: string[] = []
  const answer = ({ path, body }: KubeRequest): KubeAnswer => {
    if (path.startsWith('/api/v1/nodes/')) return node
    if (path.endsWith('/selfsubjectreviews')) return { kind: 'ok', object: { status: { userInfo: { username: 'system:node:node-1' } } } }
    const { verb, resource, subresource, namespace, name } = (body as { spec: { resourceAttributes: Record<string, string> } }).spec
      .resourceAttributes
    const right = `${verb} ${[resource, subresource].filter(Boolean).join('/')}`
    asked.push(`${right} ${[namespace, name].filter(Boolean).join('/')}`)
    return review ?? { kind: 'ok', object: { status: { allowed: !missing.includes(right) } } }
  }
  const fetchDesired = async () => {
    if (desired instanceof Error) throw desired
    return desired
  }
  const api = { request: async (request: KubeRequest) => answer(request) }
  const findings = await checkCluster(fakeNode({ context: { api, fetchDesired, ...context } }).context)
  return { asked, lines: findings.map(({ level, topic, text }) => `${level} ${topic}: ${text}`), findings }
}

t.test('a cluster where all is well', async (t) => {
  const { asked, lines } = await check()
  t.same(lines.slice(0, 3), [
    'ok api server: answers; Node node-1 can be read',
    'ok identity: system:node:node-1',
    'ok assignment: ConfigMap kube-system/my-node-config is assigned and can be read',
  ])
  t.match(lines[3], /^ok grants: may get nodes node-1, watch nodes node-1, get configmaps kube-system\/my-node-config, /)
  t.same(asked, [
    'get nodes node-1',
    'watch nodes node-1',
    'get configmaps kube-system/my-node-config',
    'watch configmaps kube-system/my-node-config',
    'patch nodes/status node-1',
    'create events default',
    'get leases kube-node-lease/node-1',
    'list pods ',
  ])
})

t.test('the ConfigMaps under a part, and the record of a rollout', async (t) => {
  const base = { ref: { namespace: 'infra', name: 'base', kubeletConfigKey: 'kubelet' }, object: { kind: 'pending' } } as const
  const object = assigned.kind === 'config-map' && assigned.object.kind === 'found' ? assigned.object : undefined
  if (assigned.kind !== 'config-map' || object === undefined) throw new Error('a found ConfigMap is needed')
  const staged = (record: string): Desired => ({
    ...assigned,
    object: { ...object, bases: { views: [base], problem: undefined }, rollout: { record, plan: undefined } },
  })
  const { asked } = await check({ desired: staged('my-record') })
  t.same(asked.slice(2, 10), [
    'get configmaps kube-system/my-node-config',
    'watch configmaps kube-system/my-node-config',
    'get configmaps infra/base',
    'watch configmaps infra/base',
    'get configmaps kube-system/my-record',
    'watch configmaps kube-system/my-record',
    'patch configmaps kube-system/my-record',
    'create events kube-system',
  ])
  t.match((await check({ desired: staged('my-record'), missing: ['patch configmaps'] })).findings.at(-1), {
    level: 'warn',
    text: 'may not patch configmaps kube-system/my-record (deploy/rbac/rollout.yaml grants it)',
  })
  t.notOk((await check({ desired: staged('off') })).asked.some((right) => right.startsWith('patch configmaps')))
})

t.test('the pods of this node alone, and only the evidence that the settings ask for', async (t) => {
  const bodies: unknown[] = []
  const request = async ({ path, body }: KubeRequest): Promise<KubeAnswer> => {
    if (path.endsWith('/selfsubjectaccessreviews')) bodies.push((body as { spec: { resourceAttributes: unknown } }).spec.resourceAttributes)
    return { kind: 'ok', object: { status: { allowed: true } } }
  }
  await check({ context: { api: { request } } })
  t.match(bodies.at(-1), {
    verb: 'list',
    resource: 'pods',
    version: 'v1',
    fieldSelector: { requirements: [{ key: 'spec.nodeName', operator: 'In', values: ['node-1'] }] },
  })
  t.match(bodies.at(-2), { verb: 'get', group: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-node-lease', name: 'node-1' })
  for (const attributes of bodies) t.notOk('grantedBy' in (attributes as object))
  const settings = { ...defaults, evidence: { ...defaults.evidence, lease: 'off', pods: 'off' } } as const
  t.notOk((await check({ context: { settings } })).asked.some((right) => /leases|pods/.test(right)))
})

t.test('asks only for what the settings need', async (t) => {
  const { asked } = await check({ desired: { kind: 'local' }, context: { settings: { ...defaults, publish: [], channels: ['selector'] } } })
  t.same(asked, [
    'get nodes node-1',
    'watch nodes node-1',
    'list configmaps kube-system',
    'watch configmaps kube-system',
    'create events default',
    'get leases kube-node-lease/node-1',
    'list pods ',
  ])
  t.same((await check({ context: { settings: { ...defaults, manifestDir: '/m' } } })).lines, [], 'no API server is used')
})

t.test('the right to patch the status is enough, and without it annotation and label take their own', async (t) => {
  const grants = async (missing: readonly string[], publish = defaults.publish) =>
    (await check({ missing, context: { settings: { ...defaults, publish } } })).findings.at(-1)
  t.match(await grants(['patch nodes']), { level: 'ok' })
  t.match(await grants(['patch nodes/status']), {
    level: 'warn',
    text: 'may not patch nodes/status node-1 (deploy/rbac/status.yaml grants it)',
  })
  t.match(
    (await grants(['patch nodes/status', 'patch nodes']))?.text,
    /status\.yaml grants it\); may not patch nodes node-1 \(.*status-annotation/,
  )
  t.match(await grants(['patch nodes'], ['annotation']), { level: 'ok' })
  t.match(await grants(['patch nodes/status'], ['annotation']), { level: 'ok', text: /patch nodes node-1/ })
  t.match(await grants(['patch nodes/status', 'patch nodes'], ['annotation']), {
    level: 'warn',
    text: 'may not patch nodes node-1 (deploy/rbac/status-annotation.yaml grants it)',
  })
})

t.test('401 is a matter of identity, and no right is missing', async (t) => {
  const { lines, asked } = await check({ node: refused(401) })
  t.match(lines, [/^fail identity: the API server does not accept the identity in \/etc\/kubernetes\/kubelet.conf \(401\)/])
  t.same(asked, [])
})

t.test('an API server that does not answer, forbids, or has no such Node', async (t) => {
  t.match((await check({ node: { kind: 'unreachable', detail: 'ECONNREFUSED' } })).lines, [
    'fail api server: cannot be asked: ECONNREFUSED',
  ])
  t.match((await check({ node: refused(503) })).lines, ['fail api server: cannot be asked: 503'])
  t.match(
    (await check({ node: refused(403, 'no') })).lines[0],
    /^fail api server: answers, and forbids .* deploy\/rbac\/serviceaccount.yaml/,
  )
  const none = await check({ node: refused(404), missing: ['patch nodes/status'] })
  t.match(none.lines, [
    /^warn api server: answers; there is no Node node-1/,
    /identity/,
    /^warn grants: may not patch nodes\/status node-1/,
  ])
})

t.test('the kubeconfig is that of a Node, which the agent does not take for its own', async (t) => {
  const context = { nodeName: () => 'ip-10-0-0-1' }
  for (const status of [403, 404])
    t.same((await check({ node: refused(status, 'no'), context })).lines, [
      'fail identity: system:node:node-1 cannot read Node ip-10-0-0-1, which the agent takes for its own: set --node-name to node-1; no right is missing',
    ])
  t.match((await check({ context })).lines, [/^ok api server: answers; Node ip-10-0-0-1 can be read$/])
})

t.test('before TLS bootstrap nothing is asked', async (t) => {
  const rights: CommandContext['rights'] = (needs) => needs.map((need) => ({ ...need, state: 'missing', detail: '' }))
  t.match((await check({ context: { rights } })).lines, [/^warn api server: not asked: .*kubelet.conf is not there yet$/])
})

t.test('an assignment that cannot be read or used', async (t) => {
  const line = async (desired: Desired | Error) => (await check({ desired })).lines[2] ?? ''
  const unavailable = (detail: string): Desired => ({
    kind: 'config-map',
    ref: source(),
    object: { kind: 'unavailable', reason: 'forbidden', detail },
  })
  t.equal(
    await line(unavailable('403: no')),
    'fail assignment: ConfigMap kube-system/my-node-config is assigned and cannot be read: 403: no',
  )
  t.match(await line({ kind: 'invalid', detail: 'a tie' }), /^fail assignment: cannot be used: a tie/)
  t.match(await line({ kind: 'unknown', detail: 'why' }), /^fail assignment: cannot be read: why/)
  t.match(await line({ kind: 'local' }), /^ok assignment: nothing is assigned/)
  t.match(await line(new Error('the overlay is gone')), /^fail assignment: .*the overlay is gone/)
})

t.test('each missing right, with the file that grants it', async (t) => {
  const grants = async (...missing: string[]) => (await check({ missing })).findings.at(-1)
  t.match(await grants('get configmaps'), {
    level: 'fail',
    text: /^may not get configmaps kube-system\/my-node-config \(deploy\/rbac\/node-configmaps.yaml grants it\)$/,
  })
  t.match(await grants('watch configmaps'), { level: 'warn', text: /node-configmaps/ })
  t.match(await grants('patch nodes/status', 'create events'), {
    level: 'warn',
    text: /status.yaml grants it\); may not create events default \(deploy\/rbac\/status.yaml/,
  })
  t.match((await check({ review: refused(403, 'no reviews') })).findings.at(-1), { level: 'warn', text: 'cannot be asked for: no reviews' })
  t.match((await check({ review: { kind: 'ok', object: [] } })).findings.at(-1), { level: 'warn', text: /no review/ })
})
