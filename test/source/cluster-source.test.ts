// SPDX-License-Identifier: Apache-2.0
import t, { type Test } from 'tap'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import type { Log } from '../../src/ports/log.ts'
import { ClusterSource, type ClusterSourceDeps } from '../../src/source/cluster-source.ts'
import { until } from '../until.ts'

const NODE = { metadata: { name: 'n1', uid: 'u', resourceVersion: '1' }, spec: { configSource: { secret: {} } } }

const API: KubeApi = {
  request: async () => ({ kind: 'ok', object: { kind: 'NodeList', metadata: { resourceVersion: '1' }, items: [NODE] } }),
  watch: ({ signal }) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve({ kind: 'ended', detail: 'stopped' }), { once: true })),
}

function open(t: Test, deps: Partial<ClusterSourceDeps> = {}) {
  const lines: string[] = []
  const record = (message: string) => void lines.push(message)
  const log: Log = { debug: () => {}, info: record, warn: record, error: record }
  const pace = { nowMs: () => 0, random: () => 0.5, sleep: async () => {} }
  const counters = { watchReconnected: () => {}, synced: () => {} }
  const source = new ClusterSource({ nodeName: 'n1', api: API, pace, log, counters, ...deps })
  t.teardown(() => source.stop())
  return { source, lines }
}

t.test('an invalid configSource is logged also when it was set before the agent started', async (t) => {
  const { source, lines } = open(t)
  await new Promise<void>((resolve) => source.start(resolve))
  t.equal(source.desired().kind, 'invalid')
  t.match(lines, ['initial Node watch event', /^failed to sync: invalid NodeConfigSource.* the previous assignment stays in effect$/])
})

t.test('there is contact once the watch of the Node is open', async (t) => {
  const said: string[] = []
  let accept = () => {}
  const watch: KubeApi['watch'] = (request) => {
    accept = () => request.onOpen?.()
    said.push('watch')
    return API.watch(request)
  }
  const { source } = open(t, { api: { ...API, watch }, onContact: () => void said.push('contact') })
  source.start(() => {})
  await until(() => said.length > 0, 'the Node is watched')
  accept()
  t.same(said, ['watch', 'contact'])
})

t.test('there is contact as well where the Node cannot be read', async (t) => {
  const request: KubeApi['request'] = async () => ({ kind: 'unreachable', detail: 'connect ECONNREFUSED' })
  const contact = new Promise<void>((resolve) => {
    const { source } = open(t, { api: { ...API, request }, onContact: resolve })
    source.start(() => {})
  })
  await contact
})

t.test('what fails before the first request is tried again', async (t) => {
  const fails = [new Error('EIO'), new Error('EIO')]
  const ready = async () => {
    const error = fails.pop()
    if (error !== undefined) throw error
  }
  const { source, lines } = open(t, { ready })
  await new Promise<void>((resolve) => source.start(resolve))
  t.equal(source.desired().kind, 'invalid')
  t.same(lines.slice(0, 2), Array(2).fill('watching Node n1 failed, trying again in a while'))
})

t.test('an event that cannot be handled ends its watch, and another one begins', async (t) => {
  let seen = 0
  const onNode = () => {
    seen += 1
    if (seen === 2) throw new Error('a bug')
  }
  let ended = 0
  const watch: KubeApi['watch'] = ({ onEvent, signal }) => {
    if (ended === 0)
      queueMicrotask(() => onEvent({ type: 'MODIFIED', object: { ...NODE, metadata: { ...NODE.metadata, resourceVersion: '2' } } }))
    return new Promise((resolve) =>
      signal.addEventListener('abort', () => {
        ended += 1
        resolve({ kind: 'ended', detail: 'stopped' })
      }),
    )
  }
  const { source, lines } = open(t, { onNode, api: { ...API, watch } })
  source.start(() => {})
  while (seen < 3) await new Promise((resolve) => setImmediate(resolve))
  t.equal(ended, 1)
  t.equal(lines.filter((line) => line.startsWith('watching Node n1 failed')).length, 1)
})

t.test('what fails in a watch is tried again, and its preparations are not repeated', async (t) => {
  let ready = 0
  let seen = 0
  const onNode = () => {
    seen += 1
    if (seen === 1) throw new Error('a bug')
  }
  const { source } = open(t, {
    onNode,
    ready: async () => {
      ready += 1
    },
  })
  await new Promise<void>((resolve) => source.start(resolve))
  t.same([ready, seen], [1, 2])
})
