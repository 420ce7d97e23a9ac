import t from 'tap'
import type { Desired } from '../../src/decision/desired.ts'
import { parseDocuments } from '../../src/kubelet/yaml.ts'
import type { FileFacts } from '../../src/ports/files.ts'
import { DirectorySource } from '../../src/source/directory.ts'

const node = (spec: string) => `apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec:\n${spec}`
const ASSIGNED = node('  configSource:\n    configMap: {namespace: kube-system, name: cfg, kubeletConfigKey: kubelet}\n')
const LOCAL = node('  {}\n')
const configMap = (text: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: kube-system, name: cfg}\ndata: {kubelet: ${text}}\n`

/** A directory in memory, and time that passes when told. */
function setUp(settleMs = 300) {
  const files = new Map<string, { text: string; version: number }>()
  const lines: string[] = []
  const say = (message: string): void => void lines.push(message)
  const sleepers: { atMs: number; wake: () => void }[] = []
  let nowMs = 0
  let version = 0
  let exists = true
  let look = (): void => {}
  let wakes = 0
  const source = new DirectorySource({
    path: '/m',
    nodeName: 'n1',
    files: {
      list: () => (exists ? [...files.keys()].sort() : undefined),
      read: (path) => {
        const file = files.get(path.slice(3))
        return file === undefined ? undefined : Buffer.from(file.text)
      },
      stat: (path) => {
        const file = files.get(path.slice(3))
        return file === undefined ? undefined : ({ kind: 'file', identity: `${file.version}` } as FileFacts)
      },
    },
    parse: parseDocuments,
    watch: (_, onChange) => {
      look = onChange
      return { close: async () => {} }
    },
    pace: {
      nowMs: () => nowMs,
      sleep: (ms) => new Promise((wake) => sleepers.push({ atMs: nowMs + ms, wake })),
    },
    log: { debug: say, info: say, warn: say, error: say },
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
    look: () => look(),
    wakes: () => wakes,
  }
}

const versionIn = (desired: Desired) =>
  desired.kind === 'config-map' && desired.object.kind === 'found' ? desired.object.resourceVersion : desired.kind

t.test('unknown until the files have rested; then what they say', async (t) => {
  const { source, write, pass, wakes } = setUp()
  t.equal(source.desired().kind, 'unknown')
  write('node.yaml', ASSIGNED)
  write('cfg.yaml', configMap('a'))
  t.equal(source.desired().kind, 'unknown')
  await pass(320)
  t.match(source.desired(), { kind: 'config-map', object: { kind: 'found', data: { kubelet: 'a' } } })
  t.equal(wakes(), 1)
})

t.test('an edit moves the version, a rewrite with the same bytes does not', async (t) => {
  const { source, write, pass, wakes } = setUp()
  write('node.yaml', ASSIGNED)
  write('cfg.yaml', configMap('a'))
  await pass(320)
  const before = versionIn(source.desired())
  write('cfg.yaml', configMap('a'))
  await pass(320)
  t.equal(versionIn(source.desired()), before)
  write('cfg.yaml', configMap('b'))
  t.equal(versionIn(source.desired()), before, 'not at once')
  await pass(320)
  t.not(versionIn(source.desired()), before)
  t.equal(wakes(), 2)
})

t.test('a manifest that is half written for a while never means local', async (t) => {
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

t.test('a file that no longer parses leaves what it said, and is complained of once', async (t) => {
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

t.test('nothing that is missing or never was good means local', async (t) => {
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
  t.match(source.desired(), { kind: 'local' }, 'and it comes back')
})

t.test('hidden files and files of other kinds are not looked at', async (t) => {
  const { source, write, pass } = setUp()
  write('node.yaml', LOCAL)
  write('.node.yaml.swp', 'x')
  write('.hidden.yaml', 'a: [')
  write('notes.txt', 'a: [')
  await pass(320)
  t.match(source.desired(), { kind: 'local' })
})

t.test('it stops', async (t) => {
  const { source, write, pass } = setUp()
  write('node.yaml', LOCAL)
  const stopped = source.stop()
  await pass(320)
  await stopped
  t.equal(source.desired().kind, 'unknown')
})

t.test('what changes is said as of a cluster, and being unknown for a while is no change', async (t) => {
  const { write, remove, pass, lines } = setUp()
  const said = async () => {
    await pass(400)
    return lines.splice(0).filter((line) => !line.startsWith('manifests are not all usable'))
  }
  const PATH = '/api/v1/namespaces/kube-system/configmaps/cfg'
  write('node.yaml', ASSIGNED)
  t.match(await said(), [`failed to download ${PATH}: no manifest of ConfigMap kube-system/cfg`], 'the first assignment is no update')
  write('cfg.yaml', configMap('a'))
  t.match(await said(), [`successfully downloaded ${PATH}, UID: `])
  write('cfg.yaml', configMap('b'))
  t.match(await said(), ['assigned ConfigMap was updated', 'successfully downloaded'])
  remove('node.yaml')
  t.same(await said(), [])
  write('node.yaml', ASSIGNED)
  t.same(await said(), [])
  remove('cfg.yaml')
  t.match(await said(), ['assigned ConfigMap was deleted', 'failed to download'])
  write('node.yaml', LOCAL)
  t.same(await said(), ['Node.Spec.ConfigSource was updated'])
  write('node.yaml', node('  configSource: {}\n'))
  t.match(await said(), [
    'Node.Spec.ConfigSource was updated',
    /^failed to sync: invalid NodeConfigSource.* what was assigned before stands$/,
  ])
})
