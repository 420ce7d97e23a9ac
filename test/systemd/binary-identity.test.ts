// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process'
import { copyFileSync, linkSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { silentLog } from '../checkpoint/silent-log.ts'
import { openBinary, uncachedBinary } from './uncached-binary.ts'

function install(t: Test) {
  const dir = t.testdir({ kubelet: 'v1' })
  const path = join(dir, 'kubelet')
  const identity = async (binary = uncachedBinary()) => {
    const found = await binary.identify(path)
    return found.kind === 'known' ? found.identity : found.kind
  }
  return { dir, path, identity }
}

/** /run, and how often it was written. */
function createCache() {
  const files = new Map<string, Buffer>()
  let writes = 0
  const cache = {
    read: (path: string) => files.get(path),
    makeDirectory: () => {},
    replace: (path: string, text: string | Buffer) => {
      writes += 1
      files.set(path, Buffer.from(text))
    },
  }
  return { cache, writes: () => writes }
}

const KUBELET = '/usr/bin/kubelet'
const FORMER = '2:3:4:5'
const EIO = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', errno: -5 })

/** Kubelet on a disk that a test replaces. */
function createProgram() {
  return { stat: () => ({ dev: 1n, ino: 2n, size: 3n, mtimeNs: 4n, ctimeNs: 5n }), hash: async (_path: string) => 'v1' }
}

function createClock() {
  let monotonicUs = 0
  const pass = (seconds: number) => {
    monotonicUs += seconds * 1e6
  }
  return { clock: { now: () => ({ bootId: 'boot', monotonicUs, wallMs: 0 }) }, pass }
}

t.test('the same bytes are the same kubelet', async (t) => {
  const { dir, path, identity } = install(t)
  const before = await identity()
  t.match(before, /^[0-9a-f]{64}$/)
  linkSync(path, join(dir, 'another-name'))
  t.equal(await identity(), before, 'after a hard link, which changes the ctime')
  utimesSync(path, new Date(0), new Date(0))
  t.equal(await identity(), before, 'after a touch')
  copyFileSync(path, join(dir, 'copy'))
  renameSync(join(dir, 'copy'), path)
  t.equal(await identity(), before, 'after another file with these bytes')
})

t.test('other bytes are another kubelet, whatever leads to them', async (t) => {
  const { dir, path, identity } = install(t)
  const before = await identity()
  writeFileSync(join(dir, 'kubelet-v2'), 'v2')
  rmSync(path)
  t.equal(await identity(), 'missing')
  symlinkSync('kubelet-v2', path)
  t.not(await identity(), before)
})

t.test('the file is read once, also by the next agent', async (t) => {
  const { path, identity } = install(t)
  const { cache, writes } = createCache()
  const agent = openBinary({ files: cache })
  const before = await identity(agent)
  t.equal(await identity(agent), before)
  t.equal(await identity(openBinary({ files: cache })), before)
  t.equal(writes(), 1)
  writeFileSync(path, 'v2')
  t.not(await identity(agent), before)
  t.equal(writes(), 2)
})

t.test('a cache that is damaged, or cannot be written, costs a read and nothing else', async (t) => {
  const { identity } = install(t)
  const fails = () => {
    throw new Error('read-only')
  }
  const expected = await identity()
  t.equal(await identity(openBinary({ files: { read: () => Buffer.from('{'), makeDirectory: fails, replace: fails } })), expected)
  t.equal(await identity(openBinary({ files: { read: fails, makeDirectory: fails, replace: fails } })), expected)
})

t.test('a disk that hangs does not hold up the agent', async (t) => {
  const { path } = install(t)
  rmSync(path)
  execFileSync('mkfifo', [path])
  const binary = uncachedBinary(1)
  t.same(await binary.identify(path), { kind: 'reading' })
  t.same(await binary.identify(path), { kind: 'reading' })
  // Ends the read.
  writeFileSync(path, 'v1')
})

t.test('a file that cannot be read goes by its stat after a while, until it can be', async (t) => {
  const { cache } = createCache()
  const log = silentLog()
  const { clock, pass } = createClock()
  const disk = createProgram()
  disk.hash = async () => {
    throw EIO
  }
  const agent = openBinary({ files: cache, clock, log, program: disk })
  const reading = { kind: 'reading' }
  t.same(await agent.identify(KUBELET), reading, 'the disk may come back')
  pass(29)
  t.same(await agent.identify(KUBELET), reading)
  pass(1)
  const byStat = { kind: 'known', identity: FORMER, former: FORMER, unread: true }
  t.same(await agent.identify(KUBELET), byStat)
  t.match(log.said, [/kubelet cannot be read, so kubelet goes by the size and the times of its file: EIO/])
  t.same(await openBinary({ files: cache, clock, program: disk }).identify(KUBELET), byStat, 'for a command, too')

  let reads = 0
  disk.hash = async () => {
    reads += 1
    return 'content'
  }
  pass(59)
  t.same(await agent.identify(KUBELET), byStat)
  t.equal(reads, 0)
  pass(1)
  await agent.identify(KUBELET)
  t.same(await agent.identify(KUBELET), { kind: 'known', identity: 'content', former: FORMER }, 'then it is read again')
  pass(600)
  await agent.identify(KUBELET)
  t.equal(reads, 1)
  t.equal(log.said.length, 1)
})

t.test('where even the stat cannot be read, nothing shows that it is another kubelet', async (t) => {
  const { clock, pass } = createClock()
  const disk = createProgram()
  const agent = openBinary({ clock, program: disk })
  t.match(await agent.identify(KUBELET), { identity: 'v1' })
  disk.stat = () => {
    throw EIO
  }
  t.same(await agent.identify(KUBELET), { kind: 'known', identity: 'v1', former: 'v1' })

  const next = openBinary({ clock, program: disk })
  t.same(await next.identify(KUBELET), { kind: 'reading' })
  pass(30)
  t.match(await next.identify(KUBELET), { kind: 'known', identity: 'unreadable' })
})

t.test('a read that takes long has not failed', async (t) => {
  const { clock, pass } = createClock()
  const disk = createProgram()
  let finish: (identity: string) => void = () => {}
  const read = new Promise<string>((resolve) => {
    finish = resolve
  })
  disk.hash = () => read
  const log = silentLog()
  const agent = openBinary({ clock, log, patienceMs: 1, program: disk })
  for (let seconds = 0; seconds < 300; seconds += 10) {
    t.same(await agent.identify(KUBELET), { kind: 'reading' }, `after ${seconds} s`)
    pass(10)
  }
  finish('content')
  t.same(await agent.identify(KUBELET), { kind: 'known', identity: 'content', former: FORMER })
  t.same(log.said, [])
})

t.test('a file that hangs goes by its stat after a while, and by its content once it is read', async (t) => {
  const { path } = install(t)
  rmSync(path)
  execFileSync('mkfifo', [path])
  const { clock, pass } = createClock()
  const agent = openBinary({ clock, patienceMs: 1 })
  t.same(await agent.identify(path), { kind: 'reading' })
  pass(600)
  t.match(await agent.identify(path), { identity: /^\d+:0:/, unread: true })
  t.match(await agent.identify(path), { identity: /^\d+:0:/ }, 'no other read is begun')
  // Ends the read.
  writeFileSync(path, 'v1')
})
