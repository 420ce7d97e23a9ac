// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { watchDirectory } from '../../src/directory/watch-directory.ts'
import { until } from '../until.ts'

/** Reading by time is so slow that only chokidar can report a change. */
const NEVER_MS = 1_000_000

t.test('a file renamed into the directory is reported without the poll', async (t) => {
  const path = t.testdir({ watched: {}, 'new.yaml': 'a: 1' })
  let wakes = 0
  const watch = watchDirectory(join(path, 'watched'), () => wakes++, NEVER_MS)
  t.teardown(() => watch.close())
  // The watch does not tell when it is ready: repeat until a change is reported.
  let files = 0
  const isNoticed = () => {
    files += 1
    writeFileSync(join(path, 'new.yaml'), `a: ${files}`)
    renameSync(join(path, 'new.yaml'), join(path, 'watched', `${files}.yaml`))
    return wakes > 0
  }
  await until(isNoticed, 'chokidar notices a file', 100)
  t.ok(wakes > 0)
})

t.test('the directory may be created later, deleted and created again', async (t) => {
  const path = join(t.testdir({}), 'watched')
  let wakes = 0
  const watch = watchDirectory(path, () => wakes++, 30)
  t.teardown(() => watch.close())
  for (let i = 0; i < 3; i++) {
    mkdirSync(path)
    writeFileSync(join(path, 'a.yaml'), 'a: 1')
    const before = wakes
    await until(() => wakes > before, 'the new directory is noticed')
    rmSync(path, { recursive: true })
    const gone = wakes
    await until(() => wakes > gone, 'its removal is noticed')
  }
  t.pass()
})

t.test('a poll that finds the same directory is no change for a listener of its own', async (t) => {
  const path = join(t.testdir({}), 'watched')
  mkdirSync(path)
  const seen = { changes: 0, polls: 0 }
  const watch = watchDirectory(
    path,
    () => void seen.changes++,
    5,
    () => void seen.polls++,
  )
  t.teardown(() => watch.close())
  await until(() => seen.polls > 3, 'it polls')
  t.equal(seen.changes, 0)
  rmSync(path, { recursive: true })
  await until(() => seen.changes > 0, 'its removal is a change')
})

t.test('nothing is reported after close', async (t) => {
  const path = t.testdir({})
  let wakes = 0
  const watch = watchDirectory(path, () => wakes++, 5)
  await until(() => wakes > 3, 'it wakes')
  await watch.close()
  const before = wakes
  const seen = { changes: 0, polls: 0 }
  const open = watchDirectory(
    path,
    () => void seen.changes++,
    5,
    () => void seen.polls++,
  )
  let files = 0
  const isNoticed = () => {
    files += 1
    writeFileSync(join(path, `${files}.yaml`), 'a: 1')
    return seen.changes > 0 && seen.polls > 3
  }
  await until(isNoticed, 'one that is open notices a file, and polls', 100)
  t.equal(wakes, before)
  await open.close()
})
