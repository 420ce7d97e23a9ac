import t from 'tap'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import type { Log } from '../../src/ports/log.ts'
import { ClusterSource } from '../../src/source/cluster.ts'

t.test('a configSource that was wrong before the agent started is said', async (t) => {
  const lines: string[] = []
  const say = (message: string) => void lines.push(message)
  const log: Log = { debug: () => {}, info: say, warn: say, error: say }
  const node = { metadata: { name: 'n1', uid: 'u', resourceVersion: '1' }, spec: { configSource: { secret: {} } } }
  const api: KubeApi = {
    request: async () => ({ kind: 'ok', object: { metadata: { resourceVersion: '1' }, items: [node] } }),
    watch: ({ signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve({ kind: 'ended', detail: 'stopped' }), { once: true })),
  }
  const pace = { nowMs: () => 0, random: () => 0.5, sleep: async () => {} }
  const source = new ClusterSource({ nodeName: 'n1', api, pace, log, counters: { watchReconnected: () => {}, synced: () => {} } })
  t.teardown(() => source.stop())
  await new Promise<void>((resolve) => source.start(resolve))
  t.equal(source.desired().kind, 'invalid')
  t.match(lines, ['initial Node watch event', /^failed to sync: invalid NodeConfigSource.* what was assigned before stands$/])
})
