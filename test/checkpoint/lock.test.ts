// SPDX-License-Identifier: Apache-2.0
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findLockHolder, holdsRemovedLock, takeLock } from '../../src/checkpoint/lock.ts'
import { LOADER } from '../typescript/loader.ts'

const directory = mkdtempSync(join(tmpdir(), 'lock-'))
t.teardown(() => rmSync(directory, { recursive: true }))
let locks = 0
function newPath(): string {
  locks += 1
  return join(directory, `lock-${locks}`)
}

/**
 * A second is enough for a look, unless the machine is busy: this flock waits for an hour where it
 * is asked to wait for a second. It makes the file `asked` once it has found the lock taken.
 */
function waitLonger(t: Test, asked: string): void {
  const real = execFileSync('sh', ['-c', 'command -v flock'], { encoding: 'utf8' }).trim()
  const bin = join(directory, 'bin')
  mkdirSync(bin)
  writeFileSync(
    join(bin, 'flock'),
    `#!/bin/sh
[ "$2 $3" = "--timeout 1" ] || exec ${real} "$@"
if ${real} "$1" --nonblock "$4"; then echo 'nobody holds the lock' >&2; exit 9; fi
: >${asked}
exec ${real} "$1" --timeout 3600 "$4"
`,
    { mode: 0o755 },
  )
  const path = process.env.PATH
  process.env.PATH = `${bin}:${path}`
  t.teardown(() => {
    process.env.PATH = path
  })
}

t.test('an agent whose directory was removed still holds the lock that was in it', (t) => {
  const path = newPath()
  const { pid } = process
  const taken = takeLock(path, pid)
  if (!taken.ok) return t.fail(taken.detail)
  t.notOk(holdsRemovedLock(pid, path))
  rmSync(path)
  t.same(findLockHolder(path), { kind: 'absent' })
  t.ok(holdsRemovedLock(pid, path))
  taken.lock.release()
  t.notOk(holdsRemovedLock(pid, path))
  t.notOk(holdsRemovedLock(2 ** 30, path), 'no such process')
  t.end()
})

t.test('one holder at a time, identified by its pid; free after release', (t) => {
  const path = newPath()
  t.same(findLockHolder(path), { kind: 'absent' })
  const { pid } = process
  const first = takeLock(path, pid)
  if (!first.ok) return t.fail(first.detail)
  t.equal(readFileSync(path, 'utf8'), `${pid}\n`)
  t.same(findLockHolder(path), { kind: 'running', pid })
  const { detail } = { detail: '', ...takeLock(path, 4712) }
  t.match(detail, `another agent (process ${pid}) uses this directory: stop it`)
  t.match(detail, /^cannot lock /)
  t.equal(readFileSync(path, 'utf8'), `${pid}\n`, 'a failed attempt leaves the file unchanged')
  first.lock.release()
  t.same(findLockHolder(path), { kind: 'absent' })
  const next = takeLock(path, 4713)
  t.ok(next.ok)
  if (next.ok) next.lock.release()
  t.end()
})

t.test('a command that holds the lock for a moment does not keep an agent from taking it', async (t) => {
  const asked = join(directory, 'asked')
  waitLonger(t, asked)
  const path = newPath()
  writeFileSync(path, '')
  const untilAsked = `echo held; until [ -e ${asked} ]; do sleep 0.01; done`
  const looker = spawn('flock', ['--shared', path, 'sh', '-c', untilAsked], { stdio: ['ignore', 'pipe', 'ignore'] })
  await once(looker.stdout, 'data')
  const taken = takeLock(path, 1)
  t.ok(taken.ok)
  if (taken.ok) taken.lock.release()
  t.equal((await once(looker, 'exit'))[0], 0)
})

t.test('the lock ends with its process, however that exits', async (t) => {
  const path = newPath()
  const program = `
    import { takeLock } from ${JSON.stringify(new URL('../../src/checkpoint/lock.ts', import.meta.url).href)}
    console.log(takeLock(${JSON.stringify(path)}, process.pid).ok)
    setInterval(() => {}, 1000)`
  const agent = spawn(process.execPath, ['--import', LOADER, '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = await once(agent.stdout, 'data')
  t.equal(String(said).trim(), 'true')
  t.same(findLockHolder(path), { kind: 'running', pid: agent.pid })
  agent.kill('SIGKILL')
  await once(agent, 'exit')
  t.same(findLockHolder(path), { kind: 'absent' })
})

t.test('a disk that is read-only keeps no agent from starting', (t) => {
  const path = newPath()
  // Of an agent that ended before. The number is that of another process now.
  writeFileSync(path, `${process.ppid}\n`)
  const readOnly = (file: string, flags: number, mode?: number): number => {
    if ((flags & (constants.O_RDWR | constants.O_WRONLY)) !== 0) throw Object.assign(new Error('EROFS'), { code: 'EROFS' })
    return openSync(file, flags, mode)
  }
  const first = takeLock(path, 1, readOnly)
  if (!first.ok) return t.fail(first.detail)
  t.equal(readFileSync(path, 'utf8'), `${process.ppid}\n`)
  t.match(takeLock(path, 2, readOnly), { ok: false, detail: /another agent uses this directory/ }, 'it is a lock all the same')
  t.same(findLockHolder(path), { kind: 'running', pid: undefined })
  first.lock.release()
  t.throws(() => takeLock(newPath(), 1, readOnly), { code: 'ENOENT' }, 'no agent was there before')
  t.end()
})

t.test('a pid is that of the holder only where its process has the file open', (t) => {
  const path = newPath()
  const real = join(directory, 'real')
  mkdirSync(real)
  symlinkSync(real, join(directory, 'link'))
  const linked = join(directory, 'link', 'lock')
  const cases: readonly (readonly [path: string, pid: number, found: number | undefined])[] = [
    [path, 2 ** 22, undefined],
    [path, process.ppid, undefined],
    [linked, process.pid, process.pid],
  ]
  for (const [file, pid, found] of cases) {
    const taken = takeLock(file, pid)
    t.same(findLockHolder(file), { kind: 'running', pid: found })
    if (taken.ok) taken.lock.release()
  }
  t.end()
})

t.test('errors say what prevents the lock', (t) => {
  const path = process.env.PATH
  t.teardown(() => {
    process.env.PATH = path
  })
  process.env.PATH = '/nowhere'
  t.match(takeLock(newPath(), 1), { ok: false, detail: /the program flock is missing: install util-linux/ })
  t.throws(() => takeLock(join(directory, 'none', 'lock'), 1), { code: 'ENOENT' })
  writeFileSync(join(directory, 'garbled'), 'not a pid')
  t.match(findLockHolder(join(directory, 'garbled')), { kind: 'unknown' })
  t.match(findLockHolder(join(directory, 'garbled', 'lock')), { kind: 'unknown', detail: /^ENOTDIR: / }, 'in the words of the system alone')
  t.end()
})
