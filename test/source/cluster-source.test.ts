import t from 'tap'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import type { Log } from '../../src/ports/log.ts'
import { ClusterSource } from '../../src/source/cluster-source.ts'

t.test('an invalid configSource is logged also when it was set before the agent started', async (t) => {
  const lines: string[] = []
  const record = (message: string) => void lines.push(message)
  const log: Log = { debug: () => {}, info: record, warn: record, error: record }
  const node = { metadata: { name: 'n1', uid: 'u', resourceVersion: '1' }, spec: { configSource: { secret: {} } } }
  const api: KubeApi = {
    request: async () => ({ kind: 'ok', object: { kind: 'NodeList', metadata: { resourceVersion: '1' }, items: [node] } }),
    watch: ({ signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve({ kind: 'ended', detail: 'stopped' }), { once: true })),
  }
  const pace = { nowMs: () => 0, random: () => 0.5, sleep: async () => {} }
  const source = new ClusterSource({ nodeName: 'n1', api, pace, log, counters: { watchReconnected: () => {}, synced: () => {} } })
  t.teardown(() => source.stop())
  await new Promise<void>((resolve) => source.start(resolve))
  t.equal(source.desired().kind, 'invalid')
  t.match(lines, ['initial Node watch event', /^failed to sync: invalid NodeConfigSource.* the previous assignment stays in effect$/])
})
