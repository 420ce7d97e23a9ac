import t from 'tap'
import type { PodSandbox, RuntimeContainer } from '../../src/decision/runtime-pods.ts'
import { findStaticPods } from '../../src/runtime/static-pods.ts'

const sandbox = (id: string, facts: Partial<PodSandbox> = {}): PodSandbox => ({
  id,
  uid: 'hash',
  name: 'etcd-n1',
  namespace: 'kube-system',
  attempt: 0,
  state: 'ready',
  createdAtMs: 0,
  configSource: 'file',
  configHash: 'hash',
  ...facts,
})
const container = (sandboxId: string, state: RuntimeContainer['state'] = 'running'): RuntimeContainer => ({
  id: `c-${sandboxId}`,
  sandboxId,
  name: 'main',
  attempt: 0,
  state,
  createdAtMs: 0,
})
const ETCD = { hash: 'hash', name: 'kube-system/etcd-n1', isRunning: true }

t.test('a static pod runs with a ready sandbox and a running container', async (t) => {
  t.strictSame(findStaticPods({ sandboxes: [sandbox('a')], containers: [container('a')] }), [ETCD])
  const stopped = [{ ...ETCD, isRunning: false }]
  t.strictSame(findStaticPods({ sandboxes: [sandbox('a')], containers: [container('a', 'exited'), container('b')] }), stopped)
  t.strictSame(findStaticPods({ sandboxes: [sandbox('a', { state: 'not-ready' })], containers: [container('a')] }), stopped)
  t.strictSame(findStaticPods({ sandboxes: [sandbox('a')], containers: [] }), stopped)
})

t.test('a sandbox that was replaced does not count against its pod', async (t) => {
  const old = sandbox('old', { state: 'not-ready' })
  for (const sandboxes of [
    [old, sandbox('new', { attempt: 1 })],
    [sandbox('new', { attempt: 1 }), old],
  ])
    t.strictSame(findStaticPods({ sandboxes, containers: [container('new'), container('old', 'exited')] }), [ETCD])
})

t.test('pods of the cluster, and sandboxes of others, are none', async (t) => {
  const others = [
    sandbox('a', { configSource: 'api', configHash: undefined }),
    sandbox('b', { configSource: undefined }),
    sandbox('c', { configSource: 'http' }),
  ]
  t.strictSame(findStaticPods({ sandboxes: others, containers: [container('a'), container('b'), container('c')] }), [])
})
