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
