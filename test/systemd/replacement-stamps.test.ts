import t from 'tap'
import { FakeDisk } from '../../src/checkpoint/fake/fake-disk.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { ReplacementStamps } from '../../src/systemd/replacement-stamps.ts'

const PATH = '/run/kubelet-cfg-agent/config-file.json'

/** It was put in place of the local one at 10 us. */
function configInPlace() {
  const disk = new FakeDisk(() => 0)
  const files = new DurableFiles(disk)
  files.makeDirectory('/run/kubelet-cfg-agent')
  const time = { monotonicUs: 0 }
  const open = () => new ReplacementStamps(files, PATH, { now: () => ({ bootId: 'boot', ...time, wallMs: 0 }) })
  const stamps = open()
  stamps.since('local', true)
  time.monotonicUs = 10
  stamps.expectReplacement('local')
  stamps.stamp('config', false)
  return { disk, open, time, stamps }
}

t.test('another wording is in place since the first one was, also after a crash between', async (t) => {
  const { open, time, stamps } = configInPlace()
  time.monotonicUs = 20
  stamps.expectRewording('config', 'reworded')
  const since = { bootId: 'boot', monotonicUs: 10 }
  t.same(open().since('config', false), since, 'it was not replaced')
  stamps.expectRewording('config', 'reworded')
  t.same(open().since('reworded', false), since, 'it was')
  t.same(open().since('reworded', false), since)
  t.same(open().since('config', false), { bootId: 'boot', monotonicUs: 20 }, 'something else put the first one back')
})

t.test('what a disk did not take is written once it does, before the agent ends', async (t) => {
  const { disk, open, time, stamps } = configInPlace()
  time.monotonicUs = 20
  stamps.expectReplacement('config')
  disk.full = true
  stamps.stamp('local', true)
  t.same(stamps.since('local', true), { bootId: 'boot', monotonicUs: 20 }, 'it is kept in memory')
  disk.full = false
  time.monotonicUs = 30
  t.same(stamps.since('local', true), { bootId: 'boot', monotonicUs: 20 })
  time.monotonicUs = 40
  t.same(open().since('local', true), { bootId: 'boot', monotonicUs: 20 }, 'a kubelet that was started since then runs it')
})
