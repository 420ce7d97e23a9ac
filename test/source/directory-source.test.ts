// SPDX-License-Identifier: Apache-2.0
import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Desired } from '../../src/decision/desired.ts'
import { NodeOwnedFiles } from '../../src/directory/owned-files.ts'
import { parseDocuments } from '../../src/kubelet/yaml.ts'
import type { OwnedFiles } from '../../src/ports/files.ts'
import { DirectorySource, type DirectorySourceDeps } from '../../src/source/directory-source.ts'

const node = (spec: string) => `apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec:\n${spec}`
const ASSIGNED = node('  configSource:\n    configMap: {namespace: kube-system, name: cfg, kubeletConfigKey: kubelet}\n')
const LOCAL = node('  {}\n')
const configMap = (text: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: kube-system, name: cfg}\ndata: {kubelet: ${text}}\n`

/** A directory in memory, and a clock that the test moves. */
function setUp(settleMs = 300, parse: DirectorySourceDeps['parse'] = parseDocuments) {
  const files = new Map<string, { text: string; version: number }>()
  const lines: string[] = []
  const record = (message: string): void => void lines.push(message)
  const sleepers: { atMs: number; wake: () => void }[] = []
  let nowMs = 0
  let version = 0
  let exists = true
  let broken = false
  let look = (): void => {}
  let wakes = 0
  const source = new DirectorySource({
    path: '/m',
    nodeName: 'n1',
    files: {
      list: () => (exists ? [...files.keys()].sort() : undefined),
      read: (path) => {
        if (broken) throw new Error('EIO')
        const file = files.get(path.slice(3))
        return file === undefined ? undefined : Buffer.from(file.text)
      },
      stat: (path) => {
        const file = files.get(path.slice(3))
        return file === undefined ? undefined : { kind: 'file', identity: `${file.version}` }
      },
    },
    parse,
    watch: (_, onChange) => {
      look = onChange
      return { close: async () => {} }
    },
    pace: {
      nowMs: () => nowMs,
      sleep: (ms) => new Promise((wake) => sleepers.push({ atMs: nowMs + ms, wake })),
    },
    log: { debug: record, info: record, warn: record, error: record },
    counters: { synced: () => {} },
    settleMs,
  })
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms
    for (const sleeper of sleepers.splice(0)) {
      if (sleeper.atMs <= nowMs) sleeper.wake()
      else sleepers.push(sleeper)
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  source.start(() => wakes++)
  wakes = 0
  return {
    source,
    lines,
    pass,
    write(name: string, text: string) {
      version += 1
      files.set(name, { text, version })
      look()
    },
    remove(name: string) {
      files.delete(name)
      look()
    },
    setExists(value: boolean) {
      exists = value
      look()
    },
    failReads(value: boolean) {
      broken = value
    },
    look: () => look(),
    wakes: () => wakes,
  }
}

const versionIn = (desired: Desired) =>
  desired.kind === 'config-map' && desired.object.kind === 'found' ? desired.object.resourceVersion : desired.kind

t.test('unknown until the files have settled', async (t) => {
  const { source, write, pass, wakes } = setUp()
  t.equal(source.desired().kind, 'unknown')
  write('node.yaml', ASSIGNED)
  write('cfg.yaml', configMap('a'))
  t.equal(source.desired().kind, 'unknown')
  await pass(320)
  t.match(source.desired(), { kind: 'config-map', object: { kind: 'found', data: { kubelet: 'a' } } })
  t.equal(wakes(), 1)
})

t.test('an edit changes the version, writing the same bytes again does not', async (t) => {
  const { source, write, pass, wakes } = setUp()
  write('node.yaml', ASSIGNED)
  write('cfg.yaml', configMap('a'))
  await pass(320)
  const before = versionIn(source.desired())
  write('cfg.yaml', configMap('a'))
  await pass(320)
  t.equal(versionIn(source.desired()), before)
  write('cfg.yaml', configMap('b'))
  t.equal(versionIn(source.desired()), before, 'not before it has settled')
  await pass(320)
  t.not(versionIn(source.desired()), before)
  t.equal(wakes(), 2)
})

t.test('a partly written manifest never means local', async (t) => {
  const { source, write, pass } = setUp()
  write('node.yaml', ASSIGNED)
  write('cfg.yaml', configMap('a'))
  await pass(320)
  for (let end = 0; end < ASSIGNED.length; end += 10) {
    write('node.yaml', ASSIGNED.slice(0, end))
    await pass(100)
    t.equal(source.desired().kind, 'config-map')
  }
  write('node.yaml', ASSIGNED)
  await pass(320)
  await pass(320)
  t.equal(source.desired().kind, 'config-map')
})

t.test('a file that no longer parses keeps its last good content, and is logged once', async (t) => {
  const { source, write, pass, lines, look } = setUp()
  write('node.yaml', ASSIGNED)
  write('cfg.yaml', configMap('a'))
  await pass(320)
  const before = source.desired()
  write('node.yaml', '{ a: [')
  await pass(320)
  look()
  look()
  t.same(source.desired(), before)
  t.equal(lines.filter((line) => line.includes('node.yaml')).length, 1)
  write('node.yaml', LOCAL)
  await pass(320)
  t.match(source.desired(), { kind: 'local' })
})

t.test('missing and invalid manifests never mean local', async (t) => {
  const { source, write, remove, pass, setExists } = setUp()
  write('node.yaml', LOCAL)
  await pass(320)
  t.match(source.desired(), { kind: 'local' })
  write('other.yaml', ': : :')
  await pass(320)
  t.equal(source.desired().kind, 'unknown')
  remove('other.yaml')
  t.match(source.desired(), { kind: 'local' })
  remove('node.yaml')
  t.equal(source.desired().kind, 'unknown')
  write('node.yaml', LOCAL)
  await pass(320)
  setExists(false)
  t.equal(source.desired().kind, 'unknown')
  setExists(true)
  await pass(320)
  t.match(source.desired(), { kind: 'local' }, 'after the directory is back')
})

t.test('hidden files and other file types are ignored', async (t) => {
  const { source, write, pass } = setUp()
  write('node.yaml', LOCAL)
  write('.node.yaml.swp', 'x')
  write('.hidden.yaml', 'a: [')
  write('notes.txt', 'a: [')
  await pass(320)
  t.match(source.desired(), { kind: 'local' })
})

t.test('nothing changes after stop', async (t) => {
  const { source, write, pass } = setUp()
  write('node.yaml', LOCAL)
  const stopped = source.stop()
  await pass(320)
  await stopped
  t.equal(source.desired().kind, 'unknown')
})

t.test('changes are logged as for a cluster, and being unknown for a while is not a change', async (t) => {
  const { write, remove, pass, lines } = setUp()
  const logged = async () => {
    await pass(400)
    return lines.splice(0).filter((line) => !line.startsWith('some manifests cannot be used'))
  }
  const PATH = '/api/v1/namespaces/kube-system/configmaps/cfg'
  write('node.yaml', ASSIGNED)
  t.match(await logged(), [`failed to download ${PATH}: no manifest of ConfigMap kube-system/cfg`], 'the first assignment is not an update')
  write('cfg.yaml', configMap('a'))
  t.match(await logged(), [`successfully downloaded ${PATH}, UID: `])
  write('cfg.yaml', configMap('b'))
  t.match(await logged(), ['assigned ConfigMap was updated', 'successfully downloaded'])
  remove('node.yaml')
  t.same(await logged(), [])
  write('node.yaml', ASSIGNED)
  t.same(await logged(), [])
  remove('cfg.yaml')
  t.match(await logged(), ['assigned ConfigMap was deleted', 'failed to download'])
  write('node.yaml', LOCAL)
  t.same(await logged(), ['Node.Spec.ConfigSource was updated'])
  write('node.yaml', node('  configSource: {}\n'))
  t.match(await logged(), [
    'Node.Spec.ConfigSource was updated',
    /^failed to sync: invalid NodeConfigSource.* the previous assignment stays in effect$/,
  ])
})

/** A real directory, and a clock that the test moves. */
function setUpIn(path: string, files: OwnedFiles = new NodeOwnedFiles()) {
  const lines: string[] = []
  const record = (message: string): void => void lines.push(message)
  let look = (): void => {}
  const source = new DirectorySource({
    ...{ path, nodeName: 'n1', files, parse: parseDocuments, settleMs: 0, counters: { synced: () => {} } },
    watch: (_, onChange) => {
      look = onChange
      return { close: async () => {} }
    },
    pace: { nowMs: () => 0, sleep: async () => {} },
    log: { debug: record, info: record, warn: record, error: record },
  })
  source.start(() => {})
  return { source, lines, look: () => look() }
}

t.test('a manifest that others may write does not count: the assignment stays', async (t) => {
  const path = t.testdir({ 'node.yaml': LOCAL })
  chmodSync(path, 0o755)
  const node = join(path, 'node.yaml')
  chmodSync(node, 0o644)
  const { source, lines, look } = setUpIn(path)
  t.match(source.desired(), { kind: 'local' })
  writeFileSync(node, ASSIGNED)
  chmodSync(node, 0o664)
  look()
  t.match(source.desired(), { kind: 'local' })
  t.match(lines.at(-1), /node\.yaml is writable by group or others.*: chmod go-w/)
  chmodSync(node, 0o644)
  look()
  t.match(source.desired(), { kind: 'config-map' })
  chmodSync(path, 0o777)
  look()
  t.match(source.desired(), { kind: 'unknown', detail: /is writable by group or others.*: chmod go-w/ })
  chmodSync(path, 0o755)
  look()
  t.match(source.desired(), { kind: 'config-map' })
})

t.test('a manifest of another user is not read', { skip: process.geteuid?.() !== 0 && 'only root can give files away' }, async (t) => {
  const path = t.testdir({ 'node.yaml': LOCAL })
  chmodSync(path, 0o755)
  const node = join(path, 'node.yaml')
  chmodSync(node, 0o644)
  chownSync(node, 12345, 0)
  const { source, look } = setUpIn(path)
  t.match(source.desired(), { kind: 'unknown', detail: /belongs to uid 12345.*: chown root/ })
  chownSync(node, 0, 0)
  look()
  t.match(source.desired(), { kind: 'local' })
})

t.test('a file that could not be read for a moment is no longer a problem, and a new failure is logged again', async (t) => {
  const { source, write, pass, failReads, lines } = setUp()
  write('node.yaml', LOCAL)
  await pass(320)
  for (const failures of [1, 2]) {
    failReads(true)
    write('node.yaml', LOCAL)
    t.match(source.desired(), { kind: 'local' }, 'its last good content')
    t.equal(lines.filter((line) => line.includes('node.yaml: EIO')).length, failures)
    failReads(false)
    write('node.yaml', LOCAL)
    await pass(320)
  }
})

t.test('a file that takes long to parse is awaited, and the previous assignment stays in effect', async (t) => {
  const waiting = new Map<string, () => void>()
  const done = new Set<string>()
  const { source, write, pass } = setUp(300, (text, onParsed) => {
    if (!text.includes('slow') || done.has(text)) return parseDocuments(text)
    waiting.set(text, onParsed)
    return undefined
  })
  write('node.yaml', LOCAL)
  await pass(320)
  const slow = `${ASSIGNED}# slow\n`
  write('node.yaml', slow)
  await pass(320)
  await pass(10_000)
  t.match(source.desired(), { kind: 'local' })
  done.add(slow)
  waiting.get(slow)?.()
  t.match(source.desired(), { kind: 'config-map' })
})
