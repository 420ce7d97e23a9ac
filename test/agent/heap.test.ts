// SPDX-License-Identifier: Apache-2.0
/** In processes of its own: the flags and the collections are those of a whole process. */
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { HeapGrowth } from '../../src/agent/heap.ts'
import { LOADER } from '../typescript/loader.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)

async function runProgram(program: string) {
  const whole = `const { keepHeapSmall } = await import('./src/agent/heap.ts'); ${program}`
  const args = ['--import', LOADER, '--input-type=module', '--eval', whole]
  return run(process.execPath, args, { cwd: ROOT })
}

t.test('this Node.js knows every flag', async (t) => {
  // V8 prints a complaint about a flag that it does not know, in the middle of the agent's log.
  const { stdout, stderr } = await runProgram("keepHeapSmall(); console.log('kept small')")
  t.equal(stdout, 'kept small\n')
  t.equal(stderr, '')
})

/** Counts collections of the whole heap: in so small a program V8 begins none by itself. */
const COUNTING = `
  const { constants, PerformanceObserver } = await import('node:perf_hooks')
  const { getHeapStatistics } = await import('node:v8')
  let collections = 0
  const isMajor = ({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR
  new PerformanceObserver((list) => { collections += list.getEntries().filter(isMajor).length }).observe({ entryTypes: ['gc'] })
  const looks = async (count) => { for (let i = 0; i < count; i++) await new Promise((done) => setTimeout(done, 5)) }
  keepHeapSmall(5)
  while (collections === 0) await looks(1)
  await looks(5)
`

t.test('what a change leaves is collected, and a heap that does not grow is left alone', async (t) => {
  const { stdout } = await runProgram(`${COUNTING}
    const first = collections
    await looks(20)
    const later = collections
    const small = getHeapStatistics().used_heap_size
    let left = Array.from({ length: 200_000 }, (_, index) => ({ index }))
    const large = getHeapStatistics().used_heap_size
    left = undefined
    while (getHeapStatistics().used_heap_size > small + (large - small) / 2) await looks(1)
    console.log(JSON.stringify({ grew: large > small, whileQuiet: later - first }))
  `)
  t.same(JSON.parse(stdout), { grew: true, whileQuiet: 0 })
})

const MIB = 1 << 20

t.test('an object that is used during a collection is collected by the next one', async (t) => {
  const growth = new HeapGrowth()
  t.ok(growth.isWorthwhile(9 * MIB))
  growth.collected(8 * MIB)
  t.notOk(growth.isWorthwhile(8 * MIB))
  t.ok(growth.isWorthwhile(16 * MIB), 'a large answer is being read')
  growth.collected(16 * MIB)
  t.ok(growth.isWorthwhile(16 * MIB), 'the answer is garbage now, and the heap as large as before')
  growth.collected(8 * MIB)
  t.notOk(growth.isWorthwhile(8 * MIB))
})

t.test('a heap that stays larger is collected twice after it has grown, and not at each look', async (t) => {
  const growth = new HeapGrowth()
  let collections = 0
  for (const size of [8, 8, 8, 12, 12, 12, 12]) {
    if (!growth.isWorthwhile(size * MIB)) continue
    collections++
    growth.collected(size * MIB)
  }
  t.equal(collections, 3)
})

t.test('a heap that has become smaller by itself is measured from there', async (t) => {
  const growth = new HeapGrowth()
  growth.collected(16 * MIB)
  t.notOk(growth.isWorthwhile(8 * MIB))
  t.ok(growth.isWorthwhile(9 * MIB))
})
