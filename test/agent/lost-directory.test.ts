// SPDX-License-Identifier: Apache-2.0
import { chmodSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { LostDirectory } from '../../src/agent/lost-directory.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { holdDirectory } from '../../src/checkpoint/node-disk.ts'
import { FakeDisk } from '../checkpoint/fake/fake-disk.ts'
import { unit } from '../decision/snapshots.ts'

const MINUTE_US = 60e6

function createWorld() {
  const disk = new FakeDisk(() => 0)
  const state = { isUnlinked: false, monotonicUs: 1000 * MINUTE_US, bootId: 'boot', upUs: 0 }
  const open = () =>
    new LostDirectory({
      held: { isUnlinked: () => state.isUnlinked },
      directory: '/state',
      runtimeDir: '/run/agent',
      files: new DurableFiles(disk),
      clock: { now: () => ({ ...state, wallMs: 0 }) },
      uptimeUs: () => state.upUs,
    })
  return { disk, state, open }
}

t.test('an agent whose directory is there goes on', async (t) => {
  const { open } = createWorld()
  t.equal(open().findOccasion(), undefined)
  t.equal(open().explain(unit()).kind, 'known')
})

t.test('one whose directory was removed ends, once in 10 minutes, and knows nothing meanwhile', async (t) => {
  const { state, open } = createWorld()
  state.isUnlinked = true
  t.match(open().explain(unit()), { kind: 'unknown', detail: /^\/state was removed while the agent ran/ })
  t.match(open().findOccasion(), /removed/)
  state.monotonicUs += 9 * MINUTE_US
  t.equal(open().findOccasion(), undefined, 'nor the agent after it, from which it was removed again')
  state.monotonicUs += MINUTE_US
  t.match(open().findOccasion(), /removed/)
  state.bootId = 'next'
  t.match(open().findOccasion(), /removed/, 'and in another boot')
})

t.test('an agent that has run for long leaves the next one word of its end, too', async (t) => {
  const { state, open } = createWorld()
  state.isUnlinked = true
  state.upUs = 20 * MINUTE_US
  t.match(open().findOccasion(), /removed/)
  state.upUs = 0
  t.equal(open().findOccasion(), undefined)
})

t.test('without its directory, it says of no process that it still runs', async (t) => {
  const { state, open } = createWorld()
  const seen = unit()
  const { stillRuns } = open().watch({ observe: async () => seen, stillRuns: () => true })
  t.equal(stillRuns(seen), true)
  state.isUnlinked = true
  t.equal(stillRuns(seen), false)
})

t.test('where /run is lost too, only an agent that has run for as long ends', async (t) => {
  const { disk, state, open } = createWorld()
  state.isUnlinked = true
  disk.faultOf = () => 'EROFS'
  t.equal(open().findOccasion(), undefined)
  state.upUs = 10 * MINUTE_US
  t.match(open().findOccasion(), /removed/)
})

t.test('a directory on a disk', async (t) => {
  const root = t.testdir({ renamed: {}, removed: { lock: '' }, again: {}, sealed: {} })
  const hold = (name: string) => holdDirectory(join(root, name))
  const [renamed, removed, again, sealed] = [hold('renamed'), hold('removed'), hold('again'), hold('sealed')]
  renameSync(join(root, 'renamed'), join(root, 'another-name'))
  rmSync(join(root, 'removed'), { recursive: true })
  rmSync(join(root, 'again'), { recursive: true })
  mkdirSync(join(root, 'again'))
  chmodSync(join(root, 'sealed'), 0o500)
  t.same(
    [renamed, removed, again, sealed].map((held) => held.isUnlinked()),
    [false, true, true, false],
    'another in its place is not the one that is held',
  )
  t.throws(() => hold('removed'), { code: 'ENOENT' })
})
