// SPDX-License-Identifier: Apache-2.0
import { chmodSync, existsSync, mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ANY_UNIT } from '../../src/agent/identity.ts'
import { FileActivation } from '../../src/systemd/file-activation.ts'
import { SystemFileOwnership } from '../../src/systemd/file-ownership.ts'
import { findMeaning, parseOriginalRecord } from '../../src/systemd/original-records.ts'
import { fileWiring } from '../../src/systemd/wiring-kinds.ts'
import { bytesOf, CONFIG, DIRECTORY, ORIGINAL, pathOf, sourceOf, worldWith } from './disk.ts'

const A = sourceOf('101')
const B = sourceOf('102')
const WIRING = fileWiring(CONFIG)
const fresh = () => {
  const world = worldWith(A, B)
  const given: string[] = []
  const ownership = { give: (path: string) => given.push(path) }
  const start = () => new FileActivation({ ...world, ownership, dynamicConfigDir: DIRECTORY, runtimeDir: '/run/kubelet-cfg-agent' })
  return { ...world, given, start, activation: start(), text: () => world.files.read(CONFIG)?.toString() }
}
type World = ReturnType<typeof fresh>
const stateOf = (activation: FileActivation) => {
  const state = activation.read(WIRING)
  return state.kind === 'checkpoint' ? state.source : state.kind
}
const siblings = ({ files }: Pick<World, 'files'>) => files.list('/etc/kubernetes/kubelet')

t.test('replaces the file by a checkpoint, and restores the original', async (t) => {
  const world = fresh()
  const { activation, text } = world
  t.strictSame(activation.read(WIRING), { kind: 'local', since: undefined }, 'before any activation')
  activation.stage('local', WIRING)
  activation.activate(A, WIRING)
  t.equal(text(), bytesOf(A))
  t.match(activation.read(WIRING), { kind: 'checkpoint', source: A, since: { bootId: 'boot-1', monotonicUs: 50e6 } })
  activation.stage(A, WIRING)
  activation.activate(B, WIRING)
  t.equal(text(), bytesOf(B))
  t.strictSame(siblings(world), [
    '.kubelet-config.json.kubelet-cfg-agent-fallback',
    '.kubelet-config.json.kubelet-cfg-agent-local',
    '.kubelet-config.json.kubelet-cfg-agent-record',
    'kubelet-config.json',
  ])
  world.time.monotonicUs = 70e6
  activation.activate('local', WIRING)
  t.equal(text(), ORIGINAL)
  t.strictSame(activation.read(WIRING), { kind: 'local', since: { bootId: 'boot-1', monotonicUs: 70e6 } })
  t.strictSame(siblings(world), ['kubelet-config.json'], 'no staged files are left')
})

t.test('activating local does nothing if nothing was ever replaced', async (t) => {
  const world = fresh()
  world.activation.activate('local', WIRING)
  t.equal(world.files.list(`${DIRECTORY}/local`), undefined)
})

t.test('a restarted agent knows source and time', async (t) => {
  const world = fresh()
  world.activation.stage('local', WIRING)
  world.activation.activate(A, WIRING)
  world.time.monotonicUs = 90e6
  t.match(world.start().read(WIRING), { source: A, since: { monotonicUs: 50e6 } })
  world.time.bootId = 'boot-2'
  t.match(world.start().read(WIRING), { source: A, since: undefined }, 'since before this boot')
})

t.test('distinguishes versions with the same content, and does not replace the file for them', async (t) => {
  const world = fresh()
  const again = sourceOf('103')
  world.disk.plant(`${DIRECTORY}/checkpoints/u-1/103/kubelet`, bytesOf(A))
  const sameAsLocal = sourceOf('104')
  world.disk.plant(`${DIRECTORY}/checkpoints/u-1/104/kubelet`, ORIGINAL)
  world.activation.activate(A, WIRING)
  world.time.monotonicUs = 60e6
  world.activation.stage(A, WIRING)
  world.activation.activate(again, WIRING)
  t.match(world.activation.read(WIRING), { source: again, since: { monotonicUs: 50e6 } })
  world.activation.activate(sameAsLocal, WIRING)
  t.strictSame(stateOf(world.activation), sameAsLocal)
  world.activation.activate('local', WIRING)
  t.equal(stateOf(world.activation), 'local')
})

t.test('a checkpoint that got other content is not in place before it is activated again', async (t) => {
  const world = fresh()
  world.activation.activate(A, WIRING)
  world.disk.plant(pathOf(A), 'other bytes')
  t.match(world.activation.read(WIRING), { kind: 'unknown', detail: /holds what .* was before/ })
  world.activation.activate(A, WIRING)
  t.equal(world.text(), 'other bytes')
  t.strictSame(stateOf(world.activation), A)
  world.disk.unlink(pathOf(A))
  t.strictSame(stateOf(world.activation), A, 'a checkpoint that is lost')
})

t.test('a file that something else wrote becomes the new local, once it has settled', async (t) => {
  const world = fresh()
  const { activation, disk, time, files } = world
  activation.stage('local', WIRING)
  activation.activate(A, WIRING)
  activation.read(WIRING)
  time.monotonicUs = 60e6
  disk.plant(CONFIG, 'half a conf')
  t.match(activation.read(WIRING), { kind: 'local', since: { monotonicUs: 60e6 } })
  t.throws(() => activation.activate(B, WIRING), { code: 'unsettled' })
  time.wallMs += 3000
  disk.plant(CONFIG, 'a new config')
  time.wallMs += 3000
  activation.activate(B, WIRING)
  t.equal(world.text(), bytesOf(B))
  activation.activate('local', WIRING)
  t.equal(world.text(), 'a new config')
  const [kept = ''] = files.list(`${DIRECTORY}/local`) ?? []
  t.equal(files.list(`${DIRECTORY}/local/${kept}`)?.length, 3, 'the first original is still kept')
})

t.test('a file that a power loss left without content is no new local: the original stays', async (t) => {
  for (const blank of ['', '\0\0\0\0']) {
    const { activation, disk, time, text } = fresh()
    activation.stage('local', WIRING)
    activation.activate(A, WIRING)
    disk.plant(CONFIG, blank)
    t.match(activation.read(WIRING), { kind: 'unknown', absent: true, detail: 'does not exist or has no content' })
    t.equal(activation.readLocal(WIRING)?.toString(), ORIGINAL)
    for (const target of [A, 'local'] as const)
      t.throws(() => activation.activate(target, WIRING), { code: 'unsettled' }, 'an editor may be about to write it')
    time.wallMs += 3000
    activation.activate(A, WIRING)
    t.equal(text(), bytesOf(A))
    disk.plant(CONFIG, blank)
    time.wallMs += 3000
    activation.activate('local', WIRING)
    t.equal(text(), ORIGINAL)
  }
})

t.test('an original without content stays what it is', async (t) => {
  const { activation, disk, text } = fresh()
  disk.plant(CONFIG, '')
  activation.stage('local', WIRING)
  t.match(activation.read(WIRING), { kind: 'local' })
  activation.activate(A, WIRING)
  activation.activate('local', WIRING)
  t.equal(text(), '')
  t.match(activation.read(WIRING), { kind: 'local' })
})

const K0S = 'apiVersion: k0s.k0sproject.io/v1beta1\nkind: ClusterConfig\n'

t.test('a file of another kind is neither kept as the original nor replaced', async (t) => {
  for (const text of [K0S, '{"apiVersion": "v1", "kind": "ClusterConfig"}']) {
    const { activation, disk, files, text: inPlace } = fresh()
    disk.plant(CONFIG, text)
    const refusal = { code: 'other-kind', message: /kubelet-config\.json is a ClusterConfig, .* kubelet's --config/ }
    t.throws(() => activation.stage('local', WIRING), refusal)
    t.throws(() => activation.activate(A, WIRING), refusal)
    t.equal(inPlace(), text)
    t.equal(files.list(`${DIRECTORY}/local`), undefined)
    t.equal(siblings({ files })?.length, 1)
    activation.activate('local', WIRING)
    t.match(activation.read(WIRING), { kind: 'local' })
    disk.plant(CONFIG, ORIGINAL)
    activation.activate(A, WIRING)
    t.equal(inPlace(), bytesOf(A), "once the file is kubelet's")
  }
})

t.test('a file of another kind over a config of the agent is the new local, and keeps kubelet from no config', async (t) => {
  const { activation, disk, time, text } = fresh()
  activation.activate(A, WIRING)
  disk.plant(CONFIG, K0S)
  time.wallMs += 3000
  activation.stage(A, WIRING)
  activation.activate(B, WIRING)
  t.equal(text(), bytesOf(B))
  activation.activate('local', WIRING)
  t.equal(text(), K0S)
})

t.test('where a config of the agent is in place, each fallback is activated, whatever kind the files are of', async (t) => {
  const { activation, disk, text } = fresh()
  activation.activate(A, WIRING)
  for (const source of [A, B]) disk.plant(pathOf(source), `kind: Other\nversion: ${source.resourceVersion}\n`)
  activation.activate(A, WIRING)
  activation.stage(A, WIRING)
  activation.activate(B, WIRING)
  activation.activate(A, WIRING)
  t.match(text(), /version: 101/)
  disk.unlink(CONFIG)
  activation.activate(B, WIRING)
  t.match(text(), /version: 102/)
  activation.activate('local', WIRING)
  t.equal(text(), ORIGINAL)
})

t.test('a file without a kind, or one that cannot be decoded, is replaced as before', async (t) => {
  for (const original of ['', 'maxPods: 5\n', 'kind: ', '{"kind": "Clust', 'half a conf']) {
    const { activation, disk, text } = fresh()
    disk.plant(CONFIG, original)
    activation.stage('local', WIRING)
    activation.activate(A, WIRING)
    t.equal(text(), bytesOf(A))
    activation.activate('local', WIRING)
    t.equal(text(), original)
  }
})

t.test('a withdrawal while the file is missing does not make local of the config that comes back', async (t) => {
  const { activation, files } = fresh()
  activation.stage('local', WIRING)
  activation.activate(A, WIRING)
  files.remove(CONFIG)
  activation.withdraw('everything', ANY_UNIT, (path) => t.fail(`${path} was withdrawn`))
  files.replace(CONFIG, bytesOf(A))
  t.same(stateOf(activation), A)
  activation.activate('local', WIRING)
  t.equal(files.read(CONFIG)?.toString(), ORIGINAL)
})

t.test('damage and missing files', async (t) => {
  const { activation, disk, files, text } = fresh()
  activation.stage('local', WIRING)
  activation.activate(A, WIRING)
  const [directory = ''] = files.list(`${DIRECTORY}/local`) ?? []
  const recordPath = `${DIRECTORY}/local/${directory}/record.json`
  const record = files.read(recordPath) ?? ''
  t.throws(() => activation.activate(sourceOf('999'), WIRING), { code: 'missing' })
  t.throws(() => activation.activate(sourceOf('../..'), WIRING), { code: 'unsafe-character' })

  files.remove(CONFIG)
  t.match(activation.read(WIRING), { kind: 'unknown', detail: 'does not exist' })
  activation.activate('local', WIRING)
  t.equal(text(), ORIGINAL, 'a removed file is restored')

  for (const damage of ['', '{}', '{"configPath":"x","original":{"hash":"y"}}']) {
    disk.plant(recordPath, damage)
    t.match(activation.read(WIRING), { kind: 'unknown', detail: recordPath })
    t.throws(() => activation.activate(A, WIRING), { code: 'record-damaged' })
  }
  disk.plant(recordPath, record)
  activation.activate(A, WIRING)
  const hash = parseOriginalRecord(record.toString())?.original.hash
  disk.plant(`${DIRECTORY}/local/${directory}/${hash}`, 'not the original')
  disk.unlink('/etc/kubernetes/kubelet/.kubelet-config.json.kubelet-cfg-agent-local')
  t.throws(() => activation.activate('local', WIRING), { code: 'original-damaged' })
  t.throws(() => activation.activate('local', fileWiring('/etc/none')) ?? activation.activate(A, fileWiring('/etc/none')), {
    code: 'no-file',
  })
})

function crashedBeforeStamp(t: Test) {
  const world = fresh()
  world.activation.read(WIRING)
  world.activation.stage('local', WIRING)
  world.disk.onStep = ({ kind, path }, phase) => {
    if (kind === 'rename' && phase === 'after' && path.endsWith('agent-new')) throw new Error('crash')
  }
  t.throws(() => world.activation.activate(A, WIRING))
  world.disk.onStep = undefined
  world.disk.restart()
  return world
}

t.test('after a crash between the replacement and its stamp, the time counts from the next read', async (t) => {
  const world = crashedBeforeStamp(t)
  world.time.monotonicUs = 80e6
  t.match(world.start().read(WIRING), { source: A, since: { monotonicUs: 80e6 } })
})

t.test('local is one config, whatever its file holds: an edit by an administrator does not put it in place anew', async (t) => {
  const { activation, disk, start, time } = fresh()
  const edit = (text: string, atUs: number) => {
    disk.plant(CONFIG, text)
    time.monotonicUs = atUs
  }
  activation.read(WIRING)
  edit('edited', 60e6)
  t.strictSame(activation.read(WIRING), { kind: 'local', since: undefined }, 'before any activation')
  activation.activate(A, WIRING)
  edit('edited over a checkpoint', 70e6)
  t.match(activation.read(WIRING), { kind: 'local', since: { monotonicUs: 70e6 } }, 'what runs may be the checkpoint')
  edit('edited again', 80e6)
  t.match(start().read(WIRING), { kind: 'local', since: { monotonicUs: 70e6 } })
})

t.test('after a crash between the replacement and its stamp, an edit is no mere edit of local', async (t) => {
  const world = crashedBeforeStamp(t)
  world.disk.plant(CONFIG, 'edited')
  world.time.monotonicUs = 80e6
  t.match(world.start().read(WIRING), { kind: 'local', since: { monotonicUs: 80e6 } }, 'a process may run the checkpoint')
})

t.test('a staged file has its owner before it gets its name', async (t) => {
  const world = fresh()
  world.activation.stage('local', WIRING)
  t.strictSame(world.given, ['/etc/kubernetes/kubelet/.kubelet-config.json.kubelet-cfg-agent-new'])
})

t.test('mode, owner and links on a real disk', async (t) => {
  const { NodeDisk } = await import('../../src/checkpoint/node-disk.ts')
  const { DurableFiles } = await import('../../src/checkpoint/files.ts')
  // The umask of the agent's unit, which must not restrict the mode of the file.
  const umask = process.umask(0o077)
  t.teardown(() => process.umask(umask))
  const root = mkdtempSync(join(t.testdir(), 'file-activation-'))
  const configPath = join(root, 'config.json')
  const wiring = fileWiring(configPath)
  writeFileSync(configPath, ORIGINAL)
  chmodSync(configPath, 0o644)
  const files = new DurableFiles(new NodeDisk())
  files.makeDirectory(join(root, 'state/checkpoints/u-1/101'))
  files.replace(join(root, 'state/checkpoints/u-1/101/kubelet'), bytesOf(A))
  const chcon = join(root, 'chcon')
  writeFileSync(chcon, `#!/bin/sh\necho "$@" >> ${root}/chcon.log\n`, { mode: 0o755 })
  const selinux = join(root, 'selinux')
  files.makeDirectory(selinux)
  new SystemFileOwnership(chcon, selinux).give(configPath, { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }, configPath)
  t.notOk(existsSync(join(root, 'chcon.log')), 'an empty directory does not mean SELinux: containers have one')
  writeFileSync(join(selinux, 'enforce'), '1')
  const activation = new FileActivation({
    files,
    ownership: new SystemFileOwnership(chcon, selinux),
    clock: { now: () => ({ bootId: 'b', monotonicUs: 1, wallMs: Date.now() }) },
    dynamicConfigDir: join(root, 'state'),
    runtimeDir: root,
  })
  activation.stage('local', wiring)
  activation.activate(A, wiring)
  t.equal(readFileSync(configPath, 'utf8'), bytesOf(A))
  t.equal(statSync(configPath).mode & 0o777, 0o644)
  t.equal(
    readFileSync(join(root, 'chcon.log'), 'utf8').split('\n')[0],
    `--reference=${configPath} -- ${join(root, '.config.json.kubelet-cfg-agent-new')}`,
  )
  chmodSync(configPath, 0o600)
  activation.activate('local', wiring)
  t.equal(readFileSync(configPath, 'utf8'), ORIGINAL)
  t.equal(statSync(configPath).mode & 0o777, 0o600, 'a later chmod persists')

  const link = join(root, 'link.json')
  symlinkSync(configPath, link)
  t.match(activation.read(fileWiring(link)), { kind: 'local' })
  t.throws(() => activation.activate(A, fileWiring(link)), { code: 'no-file' })
  t.ok(existsSync(link))
})

t.test('the meaning of a content that two sources share', async (t) => {
  const hash = 'a'.repeat(64)
  const record = {
    configPath: CONFIG,
    original: { hash, mode: 0, uid: 0, gid: 0 },
    target: undefined,
    fallback: undefined,
    before: undefined,
    revision: 1,
  }
  t.equal(findMeaning(record, hash)?.source, 'local')
  t.strictSame(findMeaning({ ...record, before: { source: A, hash } }, hash)?.source, A)
  t.strictSame(findMeaning({ ...record, before: { source: A, hash }, fallback: { source: B, hash } }, hash)?.source, B)
  t.equal(findMeaning(record, 'other'), undefined)
})

t.test('the local config: of a file that is gone, the original that is kept; of a damaged record or original, an error', async (t) => {
  const world = fresh()
  const { activation, disk } = world
  const local = () => activation.readLocal(WIRING)?.toString()
  disk.removeTree(CONFIG)
  t.equal(local(), undefined, 'nothing was ever kept')
  disk.plant(CONFIG, ORIGINAL)
  activation.activate(A, WIRING)
  disk.removeTree(CONFIG)
  t.equal(local(), ORIGINAL)
  disk.plant(CONFIG, bytesOf(A))
  const [directory = ''] = world.files.list(`${DIRECTORY}/local`) ?? []
  const kept = `${DIRECTORY}/local/${directory}`
  const [original = ''] = (world.files.list(kept) ?? []).filter((name) => name !== 'record.json')
  disk.plant(`${kept}/${original}`, 'x')
  t.equal(local(), ORIGINAL, 'the one that lies ready beside the file')
  disk.unlink('/etc/kubernetes/kubelet/.kubelet-config.json.kubelet-cfg-agent-local')
  t.throws(local, { code: 'original-damaged' })
  for (const path of [`${kept}/record.json`, '/etc/kubernetes/kubelet/.kubelet-config.json.kubelet-cfg-agent-record']) disk.plant(path, '{')
  t.throws(local, { code: 'record-damaged' })
})
