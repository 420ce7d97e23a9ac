// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { askCluster } from '../../src/evidence/ask-cluster.ts'
import type { KubeAnswer, KubeRequest } from '../../src/ports/kube-api.ts'

function clusterThatAnswers(answer: KubeAnswer) {
  const requests: KubeRequest[] = []
  const request = async (each: KubeRequest) => {
    requests.push(each)
    return answer
  }
  return { requests, ask: askCluster({ request }, 'node-1') }
}

const found = (object: unknown) => clusterThatAnswers({ kind: 'ok', object, serverMs: 5000 }).ask
const NODE = { kind: 'Node', metadata: { name: 'node-1' } }

t.test('the requests', async (t) => {
  const { requests, ask } = clusterThatAnswers({ kind: 'unreachable', detail: 'no route' })
  await ask.node()
  await ask.lease()
  await ask.pods()
  t.match(requests, [
    { method: 'GET', path: '/api/v1/nodes/node-1' },
    { method: 'GET', path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1' },
    // From the watch cache of the server, not from etcd.
    { method: 'GET', path: '/api/v1/pods', query: { fieldSelector: 'spec.nodeName=node-1,status.phase=Failed', resourceVersion: '0' } },
  ])
})

t.test('a Node', async (t) => {
  const managedFields = [
    { manager: 'kubelet', operation: 'Update', time: '2026-01-01T00:00:09Z' },
    { manager: 'kubelet', subresource: 'status', time: '2026-01-01T00:00:05Z' },
    { manager: 'kubelet-cfg-agent', subresource: 'status', time: '2026-01-01T00:00:30Z' },
  ]
  const conditions = [
    { type: 'MemoryPressure', status: 'False' },
    { type: 'DiskPressure', status: 'True' },
    // Not kubelet's, and so not by its config.
    { type: 'KernelPressure', status: 'True' },
    { type: 'Ready', status: 'False', message: 'PLEG is not healthy', lastHeartbeatTime: '2026-01-01T00:00:04Z' },
  ]
  const heartbeat = '2026-01-01T00:00:04Z'
  const expected = { heartbeat, kind: 'found', ready: 'False', message: 'PLEG is not healthy', serverMs: 5000, pressure: ['DiskPressure'] }
  const node = { kind: 'Node', metadata: { name: 'node-1', managedFields }, status: { conditions } }
  t.same(await found(node).node(), { ...expected, reportedAtMs: Date.UTC(2026, 0, 1, 0, 0, 5) })
  // As a server up to 1.21 has it.
  const old = [{ manager: 'kubelet', time: '2026-01-01T00:00:07Z', fieldsV1: { 'f:status': {} } }]
  t.match(await found({ ...node, metadata: { name: 'node-1', managedFields: old } }).node(), {
    reportedAtMs: Date.UTC(2026, 0, 1, 0, 0, 7),
  })
  t.match(await found(NODE).node(), { kind: 'found', ready: 'absent', reportedAtMs: undefined, pressure: [] })
})

t.test('an answer that is too long is an answer, and is not asked for again', async (t) => {
  const { ask } = clusterThatAnswers({ kind: 'unreachable', reason: 'too-long', detail: 'the answer has more than 8 characters' })
  t.same(await ask.pods(), { kind: 'refused', detail: 'the answer has more than 8 characters' })
})

t.test('a Lease', async (t) => {
  const lease = { kind: 'Lease', metadata: { name: 'node-1', resourceVersion: '7' }, spec: { leaseDurationSeconds: 100 } }
  t.same(await found(lease).lease(), { kind: 'found', resourceVersion: '7', durationSeconds: 100 })
  t.match(await found({ ...lease, spec: {} }).lease(), { durationSeconds: 40 })
})

t.test('failed pods', async (t) => {
  const creationTimestamp = '2025-12-31T23:59:59Z'
  const pod = (uid: string, status: object) => ({ metadata: { uid, namespace: 'default', name: uid, creationTimestamp }, status })
  const items = [
    pod('a', { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.', startTime: '2026-01-01T00:00:00Z' }),
    pod('b', { phase: 'Failed' }),
    pod('c', { phase: 'Running' }),
    null,
  ]
  t.same(await found({ kind: 'PodList', items }).pods(), {
    kind: 'found',
    serverMs: 5000,
    pods: [
      {
        uid: 'a',
        name: 'default/a',
        reason: 'Evicted',
        message: 'The node was low on resource: memory.',
        createdAtMs: Date.UTC(2026, 0, 1) - 1000,
        startedAtMs: Date.UTC(2026, 0, 1),
      },
      { uid: 'b', name: 'default/b', reason: '', message: '', createdAtMs: Date.UTC(2026, 0, 1) - 1000, startedAtMs: undefined },
    ],
  })
})

t.test('what is kept of an answer is bounded', async (t) => {
  const long = 'x'.repeat(1_000_000)
  const lease = { kind: 'Lease', metadata: { name: 'node-1', resourceVersion: long }, spec: {} }
  const status = { phase: 'Failed', reason: long, message: long, startTime: long }
  const items = Array.from({ length: 3000 }, () => ({ metadata: { uid: long, namespace: long, name: long }, status }))
  const conditions = Array.from({ length: 1000 }, (_, index) => ({ type: `${long}${index}Pressure`, status: 'True', message: long }))
  for (const answer of [
    await found(lease).lease(),
    await found({ kind: 'PodList', items: items.slice(0, 10) }).pods(),
    await found({ ...NODE, status: { conditions: [...conditions.slice(0, 10), { type: 'Ready', status: long, message: long }] } }).node(),
  ])
    t.ok(JSON.stringify(answer).length < 20_000, JSON.stringify(answer).slice(0, 80))
})

t.test('an answer that is not what was asked for says nothing', async (t) => {
  for (const object of [null, 'x', {}, { kind: 'Status' }, { kind: 'Node', metadata: { name: 'node-2' } }]) {
    t.match(await found(object).node(), { kind: 'refused' })
    t.match(await found(object).lease(), { kind: 'refused' })
    t.match(await found(object).pods(), { kind: 'refused' })
  }
})

t.test('a missing right is told apart from a server that does not answer', async (t) => {
  const refusal = (status: number) =>
    clusterThatAnswers({ kind: 'refused', status, reason: 'x', detail: 'y', retryAfterMs: undefined }).ask.lease()
  t.match(await refusal(403), { kind: 'forbidden', detail: 'the API server answers 403 x: y' })
  t.match(await refusal(404), { kind: 'refused' })
  t.match(await refusal(429), { kind: 'unreachable' })
  t.match(await refusal(503), { kind: 'unreachable' })
  t.match(await clusterThatAnswers({ kind: 'unreachable', detail: 'no route' }).ask.lease(), { kind: 'unreachable', detail: 'no route' })
  t.match(await askCluster(undefined, 'node-1').lease(), { kind: 'not-asked' })
})

t.test('how long a request may take', async (t) => {
  const { requests, ask } = clusterThatAnswers({ kind: 'unreachable', detail: 'no route' })
  await ask.node()
  t.strictSame(requests, [{ method: 'GET', path: '/api/v1/nodes/node-1', query: {}, timeoutMs: 10_000 }])
})

t.test('what a refusal says of the API server', async (t) => {
  const refusal = (status: number) =>
    clusterThatAnswers({ kind: 'refused', status, reason: 'x', detail: 'y', retryAfterMs: undefined }).ask.node()
  const says = (status: number, facts: object) => ({ detail: `the API server answers ${status} x: y`, ...facts })
  t.strictSame(await refusal(401), says(401, { kind: 'refused', isUnauthorized: true }))
  t.strictSame(await refusal(403), says(403, { kind: 'forbidden' }))
  t.strictSame(await refusal(404), says(404, { kind: 'refused' }))
  t.strictSame(await refusal(429), says(429, { kind: 'unreachable', busy: true }))
  t.strictSame(await refusal(499), says(499, { kind: 'refused' }))
  t.strictSame(await refusal(500), says(500, { kind: 'unreachable' }), 'a server that fails has said nothing')
  t.strictSame(await refusal(503), says(503, { kind: 'unreachable', busy: true }))
  const long = clusterThatAnswers({ kind: 'unreachable', detail: 'x'.repeat(301) })
  t.equal((await long.ask.node()).kind, 'unreachable')
  t.match(await long.ask.node(), { detail: /^x{300}$/ })
  t.match(await askCluster(undefined, 'node-1').pods(), { kind: 'not-asked', detail: 'the agent has no API server to ask' })
  t.match(await found({}).node(), { kind: 'refused', detail: 'GET /api/v1/nodes/node-1: the answer is not what was asked for' })
})

t.test('the condition Ready', async (t) => {
  const ready = async (facts: object) => found({ ...NODE, status: { conditions: [{ type: 'Other' }, { type: 'Ready', ...facts }] } }).node()
  for (const status of ['True', 'False', 'Unknown']) t.match(await ready({ status }), { ready: status })
  t.match(await ready({ status: 'Perhaps' }), { ready: 'absent' })
  t.match(await ready({ message: 7 }), { message: '' })
  t.match(await ready({ lastTransitionTime: '2026-01-01T00:00:03Z' }), { transitionMs: Date.UTC(2026, 0, 1, 0, 0, 3) })
  t.match(await ready({ lastTransitionTime: 'soon' }), { transitionMs: undefined })
  t.notOk('heartbeat' in (await ready({ lastHeartbeatTime: 7 })))
})

t.test('the pressure that kubelet reports', async (t) => {
  const pressure = async (conditions: unknown) => {
    const answer = await found({ ...NODE, status: { conditions } }).node()
    return answer.kind === 'found' ? answer.pressure : answer
  }
  for (const type of ['DiskPressure', 'MemoryPressure', 'PIDPressure']) {
    t.same(await pressure([null, { type, status: 'True' }]), [type])
    t.same(await pressure([{ type, status: 'Unknown' }]), [])
  }
  t.same(await pressure('none'), [])
  t.match(await found({ ...NODE, status: null }).node(), { kind: 'found', pressure: [] })
  t.match(await found({ kind: 'Node', metadata: null }).node(), { kind: 'refused' })
  t.match(await found({ ...NODE, kind: 'Pod' }).node(), { kind: 'refused' })
})

t.test('when kubelet wrote the status of its Node', async (t) => {
  const reported = async (...managedFields: readonly unknown[]) => {
    const answer = await found({ ...NODE, metadata: { name: 'node-1', managedFields } }).node()
    return answer.kind === 'found' && answer.reportedAtMs && new Date(answer.reportedAtMs).getUTCSeconds()
  }
  const wrote = (seconds: number, facts: object = { subresource: 'status' }) => ({
    manager: 'kubelet',
    time: `2026-01-01T00:00:0${seconds}Z`,
    ...facts,
  })
  t.equal(await reported(wrote(5), wrote(7), wrote(6)), 7, 'the latest')
  t.equal(await reported(null, wrote(5), { ...wrote(6), time: 'soon' }), 5)
  t.equal(await reported(wrote(5), wrote(6, { fieldsV1: { 'f:metadata': {} } })), 5)
  t.equal(await reported(wrote(5), wrote(6, { fieldsV1: null })), 5)
  t.equal(await reported(wrote(5), wrote(6, { subresource: 'scale', fieldsV1: { 'f:status': {} } })), 5)
  t.equal(await reported(wrote(5), wrote(6, { manager: 'other', subresource: 'status' })), 5)
  t.equal(await reported(), undefined)
  t.match(await found({ ...NODE, metadata: { name: 'node-1', managedFields: 'none' } }).node(), { reportedAtMs: undefined })
})

t.test('which Lease is that of this kubelet', async (t) => {
  const lease = async (spec: unknown, metadata: unknown = { name: 'node-1', resourceVersion: '7' }) =>
    found({ kind: 'Lease', metadata, spec }).lease()
  const FOUND = { kind: 'found', resourceVersion: '7', durationSeconds: 40, renewedAtMs: undefined }
  t.strictSame(await lease(undefined), FOUND)
  t.strictSame(await lease({ holderIdentity: '' }), FOUND)
  t.strictSame(await lease({ holderIdentity: 'node-1' }), FOUND)
  t.strictSame(await lease({ holderIdentity: 'node-2' }), { kind: 'refused', detail: 'node-2 holds the Lease, and not this kubelet' })
  t.match(await lease({ renewTime: '2026-01-01T00:00:00.500000Z' }), { renewedAtMs: Date.UTC(2026, 0, 1) + 500 })
  for (const leaseDurationSeconds of [0, -1, '100']) t.match(await lease({ leaseDurationSeconds }), { durationSeconds: 40 })
  t.match(await lease({ leaseDurationSeconds: 1 }), { durationSeconds: 1 })
  for (const metadata of [null, { name: 'node-2', resourceVersion: '7' }, { name: 'node-1' }, { name: 'node-1', resourceVersion: 7 }])
    t.match(await lease({}, metadata), { kind: 'refused' }, JSON.stringify(metadata))
  t.match(await found({ kind: 'Node', metadata: { name: 'node-1', resourceVersion: '7' } }).lease(), { kind: 'refused' })
})

t.test('a pod that lacks something', async (t) => {
  const read = async (pod: unknown) => {
    const answer = await found({ kind: 'PodList', items: [pod] }).pods()
    return answer.kind === 'found' ? answer.pods : answer
  }
  const status = { phase: 'Failed' }
  const nothing = { reason: '', message: '', createdAtMs: undefined, startedAtMs: undefined }
  t.strictSame(await read({ metadata: { uid: 'a' }, status }), [{ uid: 'a', name: '/', ...nothing }])
  for (const pod of [{ status }, { metadata: { uid: 'a' } }, { metadata: {}, status }, { metadata: { uid: 7 }, status }])
    t.strictSame(await read(pod), [], JSON.stringify(pod))
  const items = Array.from({ length: 2001 }, (_, index) => ({ metadata: { uid: `${index}` }, status }))
  t.match(await found({ kind: 'PodList', items }).pods(), { pods: { length: 2000 } })
  t.match(await found({ kind: 'NodeList', items }).pods(), { kind: 'refused' })
  t.match(await found({ kind: 'PodList', items: {} }).pods(), { kind: 'refused' })
})
