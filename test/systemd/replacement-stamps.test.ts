// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { ReplacementStamps, type Stamp } from '../../src/systemd/replacement-stamps.ts'
import { FakeDisk } from '../checkpoint/fake/fake-disk.ts'

const PATH = '/run/kubelet-cfg-agent/config-file.json'

/** The record of what is in place. */
function createRecord() {
  const record = {
    /** undefined: nothing was ever put in place. */
    stamps: undefined as readonly Stamp[] | undefined,
    takes: true,
    keep: (stamp: Stamp) => {
      if (!record.takes) throw Object.assign(new Error('full'), { code: 'ENOSPC' })
      record.stamps = [stamp]
    },
  }
  return record
}

/** A config that was put in place of the local one at 10 us. */
function configInPlace() {
  const disk = new FakeDisk(() => 0)
  const files = new DurableFiles(disk)
  files.makeDirectory('/run/kubelet-cfg-agent')
  const time = { monotonicUs: 0, bootId: 'boot' }
  const open = () => new ReplacementStamps(files, PATH, { now: () => ({ ...time, wallMs: 0 }) })
  const record = createRecord()
  /** As an activation does it. */
  const replace = (from: string, to: string, { isRewording = false, isLocal = false, crashes = false, runsIn = '' } = {}) => {
    const stamps = open()
    const replacement = { hash: to, isLocal, isRewording, ...(runsIn !== '' && { runsIn }) }
    const begun = stamps.begin(from, replacement, record.stamps?.[0])
    if (begun !== undefined && record.takes) record.keep(begun)
    const rename = () => {
      if (crashes) throw new Error('crash')
    }
    try {
      stamps.replace(begun, replacement, rename, record.keep)
    } catch {
      // The agent is gone.
    }
    return stamps
  }
  open().since('local', true, record)
  time.monotonicUs = 10
  replace('local', 'config')
  const loseRun = () => files.remove(PATH)
  return { disk, open, time, record, replace, loseRun }
}

const at = (monotonicUs: number, bootId = 'boot') => ({ bootId, monotonicUs })

t.test('another wording is in place since the first one was, also after a crash between', async (t) => {
  const { open, time, replace, record } = configInPlace()
  time.monotonicUs = 20
  replace('config', 'reworded', { isRewording: true, crashes: true })
  t.same(open().since('config', false, record), { since: at(10) }, 'it was not replaced')
  replace('config', 'reworded', { isRewording: true, crashes: true })
  t.same(open().since('reworded', false, record), { since: at(10) }, 'it was')
  t.same(open().since('reworded', false, record), { since: at(10) })
  t.same(open().since('config', false, record), { since: at(20) }, 'something else put the first one back')
})

t.test('what a disk did not take is written once it does, before the agent ends', async (t) => {
  const { disk, open, time, replace, record } = configInPlace()
  time.monotonicUs = 20
  disk.full = true
  record.takes = false
  const stamps = replace('config', 'local', { isLocal: true })
  t.same(stamps.since('local', true, record), { since: at(20) }, 'it is kept in memory')
  disk.full = false
  time.monotonicUs = 30
  t.same(stamps.since('local', true, record), { since: at(20) })
  time.monotonicUs = 40
  t.same(open().since('local', true, record), { since: at(20) }, 'a kubelet that was started since then runs it')
})

t.test('once /run is lost, the record tells', async (t) => {
  t.test('since when the config is in place', async (t) => {
    const { open, time, loseRun, record } = configInPlace()
    loseRun()
    time.monotonicUs = 30
    t.same(open().since('config', false, record), { since: at(10) })
    time.bootId = 'next'
    loseRun()
    t.same(open().since('config', false, record), { since: undefined }, 'since before this boot')
    t.equal(record.stamps?.[0]?.bootId, 'boot', 'which the record says already')
  })

  t.test('of another wording, and of an edit of the local config', async (t) => {
    const { open, time, replace, loseRun, record } = configInPlace()
    time.monotonicUs = 20
    replace('config', 'reworded', { isRewording: true })
    loseRun()
    t.same(open().since('reworded', false, record), { since: at(10) })
    time.monotonicUs = 30
    replace('reworded', 'local', { isLocal: true })
    loseRun()
    t.same(open().since('edited', true, record), { since: at(30) })
  })

  t.test('which kubelet ran it already, in any wording, until another config is put in place', async (t) => {
    const { open, time, replace, loseRun, record } = configInPlace()
    time.monotonicUs = 20
    replace('edited', 'config', { runsIn: 'i-1' })
    const known = { since: { ...at(20), runsIn: 'i-1' } }
    t.same(open().since('config', false, record), known)
    loseRun()
    t.same(open().since('config', false, record), known)
    time.monotonicUs = 30
    replace('config', 'reworded', { isRewording: true })
    loseRun()
    t.same(open().since('reworded', false, record), known)
    time.monotonicUs = 40
    replace('reworded', 'other')
    loseRun()
    t.same(open().since('other', false, record), { since: at(40) })
  })

  t.test('what was replaced before a boot', async (t) => {
    const { open, time, replace, loseRun, record } = configInPlace()
    time.monotonicUs = 20
    replace('config', 'another', { crashes: true })
    time.bootId = 'next'
    loseRun()
    t.same(open().since('another', false, record), { since: undefined })
  })

  t.test('a replacement that crashed in this boot, where nobody knows when', async (t) => {
    const { open, time, replace, loseRun, record } = configInPlace()
    time.monotonicUs = 20
    replace('config', 'another', { crashes: true })
    loseRun()
    time.monotonicUs = 30
    t.same(open().since('another', false, record), { since: undefined, foundAt: at(30) })
    time.monotonicUs = 40
    t.same(open().since('another', false, record), { since: undefined, foundAt: at(30) })
    loseRun()
    t.same(open().since('another', false, record), { since: undefined, foundAt: at(30) }, 'the record has that, too')
  })

  t.test('nothing, if an agent that kept no stamp has written it', async (t) => {
    const { open, time, loseRun, record } = configInPlace()
    record.stamps = []
    t.same(open().since('config', false, record), { since: at(10) }, '/run tells')
    t.same(record.stamps, [{ bootId: 'boot', hash: 'config', isLocal: false, sinceUs: 10 }], 'and the record has it from then on')
    record.stamps = []
    loseRun()
    time.monotonicUs = 50
    t.same(open().since('config', false, record), { since: undefined, foundAt: at(50) })
  })
})

t.test('the later one counts, where one could not be written', async (t) => {
  t.test('in the record', async (t) => {
    const { open, time, replace, record } = configInPlace()
    record.takes = false
    time.monotonicUs = 20
    replace('config', 'another')
    time.monotonicUs = 30
    replace('another', 'config')
    record.takes = true
    t.same(open().since('config', false, record), { since: at(30) })
    t.equal(record.stamps?.[0]?.sinceUs, 30)
  })
  t.test('in /run', async (t) => {
    const { disk, open, time, replace, record } = configInPlace()
    disk.full = true
    time.monotonicUs = 20
    replace('config', 'another')
    time.monotonicUs = 30
    replace('another', 'config')
    disk.full = false
    t.same(open().since('config', false, record), { since: at(30) })
  })
})

t.test('nothing was ever put in place: nothing is recorded outside /run', async (t) => {
  const disk = new FakeDisk(() => 0)
  const stamps = new ReplacementStamps(new DurableFiles(disk), PATH, { now: () => ({ ...at(5), wallMs: 0 }) })
  const record = { stamps: undefined, keep: () => t.fail('a record') }
  t.same(stamps.since('local', true, record), { since: undefined })
})
