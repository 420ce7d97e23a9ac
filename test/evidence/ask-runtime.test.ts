// SPDX-License-Identifier: Apache-2.0
import { rmSync, symlinkSync, utimesSync } from 'node:fs'
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { NodeDisk } from '../../src/checkpoint/node-disk.ts'
import { askCluster } from '../../src/evidence/ask-cluster.ts'
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
  t.match(await askRuntime(mute, files)['static-pods'](about), { kind: 'not-asked', detail: /gone/, hasFailed: true })
  const other = answers({ ok: true, value: status }, { ok: false, why: 'not-cri', detail: 'unknown service' })
  t.notOk('hasFailed' in (await askRuntime(other, files)['static-pods'](about)), 'another call would say the same')
  t.notOk('hasFailed' in (await askRuntime(mute, files)['static-pods']({ ...about, runtimeSocket: undefined })))
})

t.test('the pods that the runtime runs, static or not', async (t) => {
  const api = { configSource: 'api', namespace: 'default' }
  const sandboxes = [sandbox({}), sandbox({ ...api, name: 'a' }), sandbox({ ...api, name: 'b', state: 'not-ready' })]
  const ask = async (all: readonly PodSandbox[]) => {
    const runtime = answers({ ok: true, value: status }, { ok: true, value: { sandboxes: all, containers: [] } })
    const answer = await askRuntime(runtime, filesWith({}))['static-pods'](about)
    return answer.kind === 'found' ? answer.live : answer
  }
  t.same(await ask(sandboxes), ['kube-system/etcd-node-1', 'default/a'])
  t.match(await ask(Array.from({ length: 1001 }, () => sandbox({}))), { length: 1000 })
  const long = { namespace: 'n'.repeat(63), name: 'p'.repeat(253) }
  const listed = { kind: 'PodList', items: [{ metadata: { ...long, uid: 'a' }, status: { phase: 'Failed' } }] }
  const cluster = askCluster({ request: async () => ({ kind: 'ok', object: listed, serverMs: 0 }) }, 'node-1')
  const failed = await cluster.pods()
  t.same(await ask([sandbox(long)]), failed.kind === 'found' ? failed.pods.map(({ name }) => name) : failed, 'as the API server has it')
})

t.test('manifests are read from a directory, or by their paths, and each change is seen', async (t) => {
  const directory = '/etc/kubernetes/manifests'
  const files = filesWith({ [`${directory}/etcd.yaml`]: 'metadata:\n  name: etcd', [`${directory}/.hidden`]: 'metadata:\n  name: hidden' })
  const ask = (manifests: readonly string[]) =>
    askRuntime(answers({ ok: true, value: status }), files)['static-pods']({ ...about, manifests })
  const before = await ask([directory])
  t.match(before, { kind: 'found', manifests: [{ path: `${directory}/etcd.yaml`, names: ['etcd'], digest: /^[0-9a-f]{64}$/ }] })
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

t.test('a pod has the latest start of its sandboxes, and runs or is held by any of them', async (t) => {
  const [ready, dead] = [sandbox({ id: 's1', createdAtMs: 7 }), sandbox({ id: 's0', createdAtMs: 5, state: 'not-ready' })]
  const find = (sandboxes: readonly PodSandbox[], ...containers: readonly RuntimeContainer[]) => findStaticPods({ sandboxes, containers })
  const runs = [{ ...ETCD, isRunning: true, isHeld: false, startedAtMs: 7 }]
  const isHeld = [{ ...ETCD, isRunning: false, isHeld: true, startedAtMs: 7 }]
  const isDown = [{ ...ETCD, isRunning: false, isHeld: false, startedAtMs: 7 }]
  for (const sandboxes of [
    [ready, dead],
    [dead, ready],
  ]) {
    t.strictSame(find(sandboxes, container('s1', 'running')), runs)
    t.strictSame(find(sandboxes, container('s1', 'exited')), isHeld)
    t.strictSame(find(sandboxes, container('s0', 'running')), isDown)
    t.strictSame(find(sandboxes, container('s0', 'exited')), isDown)
    t.strictSame(find(sandboxes, container('other', 'running')), isDown)
    t.strictSame(find(sandboxes, container('s1', 'created')), isDown)
  }
  const again = sandbox({ id: 's2', createdAtMs: 6 })
  for (const sandboxes of [
    [ready, again],
    [again, ready],
  ])
    t.strictSame(find(sandboxes, container('s1', 'exited'), container('s2', 'running')), runs, 'one runs, and another has ended')
  t.equal(find([ready, sandbox({ configHash: 'h2' })]).length, 2)
  t.strictSame(find([sandbox({ configSource: 'api' }), sandbox({ configSource: undefined })]), [], 'that is no static pod')
})

t.test('which manifests are of a pod that may complete', async (t) => {
  const path = '/etc/kubernetes/manifests/etcd.yaml'
  const mayComplete = async (policy: string) => {
    const files = filesWith({ [path]: `metadata:\n  name: etcd\nspec:\n  ${policy}\n` })
    const answer = await askRuntime(answers({ ok: true, value: status }), files)['static-pods']({ ...about, manifests: [path] })
    return answer.kind === 'found' && answer.manifests[0]?.names.length === 0
  }
  for (const policy of ['restartPolicy: Never', 'restartPolicy:OnFailure', '"restartPolicy" : "Never"', "'restartPolicy':  'OnFailure'"])
    t.equal(await mayComplete(policy), true, policy)
  for (const policy of [
    'restartPolicy: Always',
    'restartPolicy: NeverMore',
    'restart: Never',
    'restartPolicyX: Never',
    'restartPolicy: IfNever',
  ])
    t.equal(await mayComplete(policy), false, policy)
})

t.test('which texts are the values of a field `name`', async (t) => {
  const name = 'a1-b.c'
  for (const text of [
    'name: N',
    '  name: N',
    '- name: N',
    '-name: N',
    '{name: N}',
    '{a: b,name: N}',
    '"name":"N"',
    "'name' : 'N'",
    'name:N',
    'name:  N,',
    'a\nname: N\nb',
  ])
    t.same(findNames(text.replace('N', name)), [name], text)
  for (const text of ['surname: N', 'names: N', 'name N', 'name: _N', 'name: -N', 'name: .N', 'name: N_', 'name: N/x', 'name: XN'])
    t.same(findNames(text.replace('N', name)), [], text)
  t.same(findNames(`name: ${'a'.repeat(253)}`), ['a'.repeat(253)])
  t.same(findNames(`name: ${'a'.repeat(254)}`), [], 'too long for a name')
  t.same(findNames('name: a\nname: b\nname: a'), ['a', 'b'])
  t.equal(findNames(Array.from({ length: 201 }, (_, index) => `name: n${index}`).join('\n')).length, 200)
})

t.test('what is no name of the pod in its manifest', async (t) => {
  for (const [text, name] of [
    ['  {"metadata": {"name": "etcd"}}', 'etcd'],
    ['{"metadata": {"name": 7}}', undefined],
    ['{"metadata": null}', undefined],
    ['{"metadata": {}}', undefined],
    ['{}', undefined],
    ['metadata:\n  name: etcd\n  name: other\n', undefined],
    ['metadata:\n  labels:\n    name: other\n', undefined],
    ['metadata:\n    labels: {}\n  name: etcd\n', undefined],
    ['metadata:\nname: etcd\n', undefined],
    ['metadata:x\n  name: etcd\n', undefined],
    ['xmetadata:\n  name: etcd\n', undefined],
    ['  metadata:\n  name: etcd\n', undefined],
    ['metadata: x # of it\n  name: etcd\n', undefined],
    ['metadata:   \n  name: etcd\n', 'etcd'],
    ['metadata:# of it\n  name: etcd\n', 'etcd'],
    ['metadata:\n# at the margin\n \n  name: etcd\n', 'etcd'],
    ['metadata:\n  a: "x # y"\n  name: etcd\n', 'etcd'],
    ['metadata:\n  name: ETCD\n', undefined],
    ['name: etcd\n', undefined],
    ['spec:\n  name: x\nmetadata:\n  name: etcd\nstatus:\n  name: y\n', 'etcd'],
  ] as const)
    t.equal(findPodName(text), name, text)
})

/** @param entries by their paths. An Error is thrown by each way to read it. */
function fakeFiles(
  entries: Readonly<Record<string, { size?: number; text?: string; mtimeMs?: number; linkMs?: number; names?: string[] } | Error>>,
) {
  const find = (path: string) => {
    const entry = entries[path]
    if (entry instanceof Error) throw entry
    return entry
  }
  return {
    read(path: string) {
      const text = find(path)?.text
      return text === undefined ? undefined : Buffer.from(text)
    },
    list: (path: string) => find(path)?.names,
    stat(path: string, links?: 'follow') {
      const entry = find(path)
      if (entry === undefined || (links === undefined && entry.linkMs === undefined)) return undefined
      const { names, size = 1, mtimeMs = 1, linkMs = 0 } = entry
      const kind = names === undefined ? ('file' as const) : ('directory' as const)
      return { kind, mode: 0, uid: 0, gid: 0, size, mtimeMs: links === undefined ? linkMs : mtimeMs, identity: '' }
    },
  }
}

t.test('a file that cannot be read is left out, and hides no other', async (t) => {
  const read = async (entries: Parameters<typeof fakeFiles>[0], manifests: readonly string[]) => {
    const answer = await askRuntime(answers({ ok: true, value: status }), fakeFiles(entries))['static-pods']({ ...about, manifests })
    return answer.kind === 'found' ? answer.manifests.map(({ path, modifiedAtMs }) => `${path} ${modifiedAtMs}`) : answer
  }
  const good = { text: 'metadata:\n  name: etcd', mtimeMs: 5, linkMs: 3 }
  const { linkMs: _, ...unlinked } = good
  const broken = new Error('EIO')
  t.same(
    await read(
      {
        '/m': { names: ['.a', 'b', 'c', 'd', 'e', 'f'] },
        '/m/.a': good,
        '/m/b': broken,
        '/m/c': good,
        '/m/d': { ...good, names: [] },
        '/m/e': { size: 1 },
      },
      ['/m'],
    ),
    ['/m/c 5'],
  )
  t.same(await read({ '/m': broken, '/n': good }, ['/m', '/gone', '/n']), ['/n 5'])
  t.same(await read({ '/n': { ...good, linkMs: 9 } }, ['/n']), ['/n 9'], 'a link that was turned is as new as that')
  t.same(await read({ '/n': unlinked }, ['/n']), ['/n 5'], 'it was removed meanwhile')
  t.same(await read({ '/n': { ...good, size: 256 * 1024 } }, ['/n']), ['/n 5'])
  t.same(await read({ '/n': { ...good, size: 256 * 1024 + 1 } }, ['/n']), [])
  const names = Array.from({ length: 101 }, (_, index) => `${index}`)
  const many = Object.fromEntries(names.map((name) => [`/m/${name}`, good]))
  t.match(await read({ '/m': { names }, ...many }, ['/m']), { length: 100 })
})

t.test('why the runtime was not asked', async (t) => {
  const nothing = { kind: 'not-asked', detail: 'no CRI socket of a container runtime is known' }
  const ask = askRuntime(answers({ ok: true, value: status }, { ok: false, why: 'not-trusted', detail: 'gone' }), filesWith({}))
  const noSocket = { ...about, runtimeSocket: undefined }
  t.strictSame(await ask.runtime(noSocket), nothing)
  t.strictSame(await ask['static-pods'](noSocket), nothing)
  t.strictSame(await ask['static-pods'](about), { kind: 'not-asked', detail: 'the container runtime lists no pods: gone' })
  t.strictSame(await ask.runtime(about), { kind: 'answered', endpoint: '/run/x.sock', detail: '' })
})
