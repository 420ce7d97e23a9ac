import { execFileSync } from 'node:child_process'
import { copyFileSync, linkSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { FileKubeletBinary } from '../../src/systemd/binary-identity.ts'
import { uncachedBinary } from './uncached-binary.ts'

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
  const agent = new FileKubeletBinary(cache, '/run/agent')
  const before = await identity(agent)
  t.equal(await identity(agent), before)
  t.equal(await identity(new FileKubeletBinary(cache, '/run/agent')), before)
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
  t.equal(
    await identity(new FileKubeletBinary({ read: () => Buffer.from('{'), makeDirectory: fails, replace: fails }, '/run/agent')),
    expected,
  )
  t.equal(await identity(new FileKubeletBinary({ read: fails, makeDirectory: fails, replace: fails }, '/run/agent')), expected)
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
