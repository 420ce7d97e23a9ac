// SPDX-License-Identifier: Apache-2.0
import { rmSync, symlinkSync, utimesSync } from 'node:fs'
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { NodeDisk } from '../../src/checkpoint/node-disk.ts'
import { askRuntime, findNames, findPodName, findStaticPods } from '../../src/evidence/ask-runtime.ts'
import type { PodSandbox, RuntimeAnswer, RuntimeContainer, RuntimePods, RuntimeStatus } from '../../src/ports/probes.ts'
import { FakeDisk } from '../checkpoint/fake/fake-disk.ts'

function sandbox(facts: Partial<PodSandbox>): PodSandbox {
  const base = { id: 's1', uid: 'u1', name: 'etcd-node-1', namespace: 'kube-system', attempt: 0, createdAtMs: 0 }
  return { ...base, state: 'ready', configSource: 'file', configHash: 'h1', ...facts }
}
function container(sandboxId: string, state: RuntimeContainer['state']): RuntimeContainer {
  return { id: `c-${sandboxId}`, sandboxId, name: 'etcd', attempt: 0, state, createdAtMs: 0 }
}
const ETCD = { hash: 'h1', name: 'kube-system/etcd-node-1' }

t.test('a static pod runs if one of its sandboxes is ready and has a running container', async (t) => {
  const cases: [what: string, pods: RuntimePods, expected: unknown][] = [
    ['it runs', { sandboxes: [sandbox({})], containers: [container('s1', 'running')] }, [{ ...ETCD, isRunning: true }]],
    [
      'its container exited',
      { sandboxes: [sandbox({})], containers: [container('s1', 'exited')] },
      [{ ...ETCD, isRunning: false, isHeld: true }],
    ],
    [
      'its container exited with its sandbox',
      { sandboxes: [sandbox({ state: 'not-ready' })], containers: [container('s1', 'exited')] },
      [{ ...ETCD, isRunning: false, isHeld: false }],
    ],
    [
      'its container exited and was started again',
      { sandboxes: [sandbox({ createdAtMs: 7 })], containers: [container('s1', 'exited'), container('s1', 'running')] },
      [{ ...ETCD, isRunning: true, isHeld: false, startedAtMs: 7 }],
    ],
    [
      'its sandbox is not ready',
      { sandboxes: [sandbox({ state: 'not-ready' })], containers: [container('s1', 'running')] },
      [{ ...ETCD, isRunning: false }],
    ],
    [
      'an earlier attempt is dead',
      { sandboxes: [sandbox({}), sandbox({ id: 's0', state: 'not-ready' })], containers: [container('s1', 'running')] },
      [{ ...ETCD, isRunning: true }],
    ],
    [
      'the pods of the cluster',
      { sandboxes: [sandbox({ configSource: 'api' }), sandbox({ configSource: undefined })], containers: [] },
      [],
    ],
    ['without a hash', { sandboxes: [sandbox({ configHash: undefined })], containers: [] }, [{ ...ETCD, hash: 'u1', isRunning: false }]],
  ]
  for (const [what, pods, expected] of cases) t.match(findStaticPods(pods), expected, what)
})

t.test('a pod that may complete is not expected to run', async (t) => {
  const files = filesWith({
    '/etc/kubernetes/manifests/once.yaml': 'metadata:\n  name: once\nspec:\n  restartPolicy: "OnFailure"\n',
    '/etc/kubernetes/manifests/etcd.yaml': 'metadata:\n  name: etcd\nspec:\n  restartPolicy: Always\n',
  })
  const ask = askRuntime(answers({ ok: true, value: status }), files)
  const answer = await ask['static-pods']({ ...about, manifests: ['/etc/kubernetes/manifests'] })
  t.match(answer, { manifests: [{ names: ['etcd'] }, { path: '/etc/kubernetes/manifests/once.yaml', names: [] }] })
})

t.test('the names in a manifest', async (t) => {
  const yaml = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: etcd\nspec:\n  containers:\n  - name: "etcd-main"\n    hostname: other\n'
  t.same(findNames(yaml), ['etcd', 'etcd-main'])
  t.same(findNames('{"metadata":{"name":"kube-proxy"},"spec":{"x":{"name": "a"}}}'), ['kube-proxy', 'a'])
  t.same(findNames('nothing here'), [])
  t.same(findNames('name: etcd_x\nname: etcd/x\nname: etcd # one\n'), ['etcd'])
})

t.test('the name of the pod in a manifest', async (t) => {
  const head = 'apiVersion: v1\nkind: Pod\n'
  for (const [text, name] of [
    [`${head}metadata: # of the pod\n\n  # a comment\n  labels:\n    name: other\n  name: "etcd"\nspec:\n  name: x\n`, 'etcd'],
    [`${head}metadata:\r\n    name: etcd\r\n`, 'etcd'],
    ['{"metadata": {"labels": {"name": "other"}, "name": "etcd"}, "spec": {"name": "x"}}', 'etcd'],
    [`${head}spec:\n  metadata:\n    name: etcd\n`, undefined],
    [`${head}metadata: {name: etcd}\n`, undefined],
    [`${head}metadata:\n  name: etcd\n---\nmetadata:\n  name: other\n`, undefined],
    ['{metadata: {name: etcd}}', undefined],
    [`${head}metadata:\n`, undefined],
  ] as const)
    t.equal(findPodName(text), name, text)
})

const status: RuntimeStatus = { runtimeReady: true }
const answers = (
  answer: RuntimeAnswer<RuntimeStatus>,
  pods: RuntimeAnswer<RuntimePods> = { ok: true, value: { sandboxes: [], containers: [] } },
) => ({
  probe: async () => answer,
  listPods: async () => pods,
})
const about = { invocationId: 'i', serving: undefined, runtimeSocket: '/run/x.sock', manifests: [] }

function filesWith(texts: Readonly<Record<string, string>>): DurableFiles {
  const files = new DurableFiles(new FakeDisk(() => 0))
  files.makeDirectory('/etc/kubernetes/manifests')
  for (const [path, text] of Object.entries(texts)) files.replace(path, text)
  return files
}

t.test('the runtime answers, is silent, or cannot be asked', async (t) => {
  const files = filesWith({})
  t.match(await askRuntime(answers({ ok: true, value: status }), files).runtime(about), { kind: 'answered', endpoint: '/run/x.sock' })
  const down = answers({ ok: false, why: 'down', detail: 'no answer within 10 s' })
  t.match(await askRuntime(down, files).runtime(about), { kind: 'silent', detail: 'no answer within 10 s' })
  const forbidden = answers({ ok: false, why: 'not-allowed', detail: 'EACCES' })
  t.match(await askRuntime(forbidden, files).runtime(about), { kind: 'not-asked', detail: 'EACCES' })
  t.match(await askRuntime(down, files).runtime({ ...about, runtimeSocket: undefined }), { kind: 'not-asked' })
  const mute = answers({ ok: true, value: status }, { ok: false, why: 'down', detail: 'gone' })
  t.match(await askRuntime(mute, files)['static-pods'](about), { kind: 'not-asked', detail: /gone/ })
})

t.test('manifests are read from a directory, or by their paths, and each change is seen', async (t) => {
  const directory = '/etc/kubernetes/manifests'
  const files = filesWith({ [`${directory}/etcd.yaml`]: 'metadata:\n  name: etcd', [`${directory}/.hidden`]: 'metadata:\n  name: hidden' })
  const ask = (manifests: readonly string[]) =>
    askRuntime(answers({ ok: true, value: status }), files)['static-pods']({ ...about, manifests })
  const before = await ask([directory])
  t.match(before, { kind: 'found', manifests: [{ path: `${directory}/etcd.yaml`, names: ['etcd'] }] })
  t.same(await ask([`${directory}/etcd.yaml`]), before)
  files.replace(`${directory}/etcd.yaml`, 'metadata:\n  name: etcd\nspec: {}')
  t.notSame(await ask([directory]), before)
  files.remove(`${directory}/etcd.yaml`)
  t.match(await ask([directory, `${directory}/etcd.yaml`, '/no/such']), { manifests: [] })
  files.replace(`${directory}/huge.yaml`, 'x'.repeat(300 * 1024))
  t.match(await ask([directory]), { manifests: [] })
})

t.test('kubelet follows a symbolic link in its directory, and so does the agent', async (t) => {
  const directory = t.testdir({
    outside: { 'etcd.yaml': 'metadata:\n  name: etcd', 'other.yaml': 'metadata:\n  name: other' },
    manifests: {
      'etcd.yaml': t.fixture('symlink', '../outside/etcd.yaml'),
      'gone.yaml': t.fixture('symlink', '../outside/gone.yaml'),
      'loop.yaml': t.fixture('symlink', 'loop.yaml'),
      directory: t.fixture('symlink', '../outside'),
    },
  })
  const path = `${directory}/manifests/etcd.yaml`
  const ask = (manifests: readonly string[]) =>
    askRuntime(answers({ ok: true, value: status }), new DurableFiles(new NodeDisk()))['static-pods']({ ...about, manifests })
  const before = await ask([`${directory}/manifests`])
  t.match(before, { manifests: [{ path, podName: 'etcd' }] })
  t.equal(before.kind === 'found' && before.manifests.length, 1)
  t.same(await ask([path]), before, 'by its own path too')
  utimesSync(`${directory}/outside/other.yaml`, 1, 1)
  rmSync(path)
  symlinkSync('../outside/other.yaml', path)
  const after = await ask([path])
  t.match(after, { manifests: [{ path, podName: 'other' }] })
  t.ok(after.kind === 'found' && (after.manifests[0]?.modifiedAtMs ?? 0) > 1e6, 'a link that was turned is as new as that')
})
