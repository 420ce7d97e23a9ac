import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { watchDirectory } from '../../src/source/watch-directory.ts'
import { until } from '../until.ts'

/** A poll so slow that only chokidar can have noticed. */
const NEVER_MS = 1_000_000

t.test('a file renamed into the directory is noticed without the poll', async (t) => {
  const path = t.testdir({ watched: {}, 'new.yaml': 'a: 1' })
  let wakes = 0
  const watch = watchDirectory(join(path, 'watched'), () => wakes++, NEVER_MS)
  t.teardown(() => watch.close())
  // chokidar says when it watches, we do not: repeat until it is heard.
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

t.test('the directory may be made later, be deleted and be made again', async (t) => {
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

t.test('it is silent after it was closed', async (t) => {
  const path = t.testdir({})
  let wakes = 0
  const watch = watchDirectory(path, () => wakes++, 5)
  await until(() => wakes > 3, 'it wakes')
  await watch.close()
  const before = wakes
  writeFileSync(join(path, 'a.yaml'), 'a: 1')
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.equal(wakes, before)
})
