// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { FileError } from '../../src/checkpoint/file-error.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { NodeDisk } from '../../src/checkpoint/node-disk.ts'
import { LastReportFile, readLastReport } from '../../src/report/last-report.ts'
import type { Condition } from '../../src/report/reasons.ts'
import { FakeLog, FakeTime } from './fakes.ts'

const FAILED: Condition = { status: 'False', reason: 'DownloadFailed', message: 'kube-system/a:kubelet cannot be read: it does not exist' }
const PATH = '/run/agent/report'

/** Files in memory that a test can make fail. */
function fresh() {
  const held = new Map<string, string>()
  const world = { failure: undefined as Error | undefined, writes: 0 }
  const files = {
    read: (path: string) => (held.has(path) ? Buffer.from(held.get(path) ?? '') : undefined),
    makeDirectory: () => {},
    replace: (path: string, bytes: Uint8Array | string) => {
      world.writes += 1
      if (world.failure !== undefined) throw world.failure
      held.set(path, typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString())
    },
  }
  const time = new FakeTime()
  const log = new FakeLog()
  const file = new LastReportFile({ files, runtimeDir: '/run/agent', nodeName: 'node-1', pid: 42, clock: time.clock, log })
  return { file, files, held, time, log, world, read: (bootId = 'b1') => readLastReport(files, '/run/agent', bootId) }
}

t.test('what was reported can be read, with the agent and the time', async (t) => {
  const { file, time, read } = fresh()
  await time.advance(5000)
  file.write(FAILED, 'failed to sync: failed to download config')
  t.same(read(), { bootId: 'b1', nodeName: 'node-1', pid: 42, atUs: 5e6, ...FAILED, error: 'failed to sync: failed to download config' })
  file.write({ ...FAILED, reason: 'InTrial', status: 'Unknown' })
  t.match(read(), { reason: 'InTrial', error: undefined })
})

t.test('it is written on change, and once a minute while nothing changes', async (t) => {
  const { file, time, world, read } = fresh()
  for (let second = 0; second < 180; second += 15) {
    file.write(FAILED)
    await time.advance(15_000)
  }
  t.equal(world.writes, 3)
  file.write({ ...FAILED, message: 'another' })
  t.equal(world.writes, 4)
  t.equal(read()?.atUs, 180e6)
})

t.test('a report of an earlier boot, or a file that is none, counts as none', async (t) => {
  const { file, held, read } = fresh()
  t.equal(read(), undefined)
  file.write(FAILED)
  t.equal(read('b2'), undefined)
  const whole = held.get(PATH) ?? ''
  for (const text of ['', 'null', '[]', '{}', whole.slice(0, -5), whole.replace('"False"', '"false"'), `${whole}${' '.repeat(1 << 17)}`]) {
    held.set(PATH, text)
    t.equal(read(), undefined, text.slice(0, 20))
  }
  const unreadable = {
    read: () => {
      throw new Error('EIO')
    },
  }
  t.equal(readLastReport(unreadable, '/run/agent', 'b1'), undefined)
})

t.test('a directory that cannot be written stops nothing, and is said once', async (t) => {
  const { file, log, time, world, read } = fresh()
  world.failure = new FileError('write', PATH, 'ENOSPC', 'no space left')
  for (let pass = 0; pass < 5; pass += 1) {
    file.write(FAILED)
    await time.advance(15_000)
  }
  t.match(log.said('warn'), [/^cannot write .+: kubelet-cfg-agent status may show an old report$/])
  world.failure = undefined
  file.write(FAILED)
  t.equal(read()?.reason, 'DownloadFailed', 'and it is written at the next pass')
})

t.test('an agent that is killed while it writes leaves the report of before whole', async (t) => {
  const directory = t.testdir()
  const files = new DurableFiles(new NodeDisk())
  const { time, log } = fresh()
  const options = { runtimeDir: directory, nodeName: 'node-1', pid: 42, clock: time.clock, log }
  new LastReportFile({ ...options, files }).write(FAILED)
  class Dying extends NodeDisk {
    override rename(): never {
      throw new Error('killed')
    }
  }
  new LastReportFile({ ...options, files: new DurableFiles(new Dying()) }).write({ ...FAILED, reason: 'InTrial' })
  t.equal(readLastReport(files, directory, 'b1')?.reason, 'DownloadFailed')
})

t.test('an error is one bounded line without control characters', async (t) => {
  const text = fc.string({ unit: fc.constantFrom('\u001b', '\n', '\u009b', 'a', 'é', ' '), maxLength: 5000 })
  await fc.assert(
    fc.asyncProperty(text, async (error) => {
      const { file, read } = fresh()
      file.write(FAILED, error)
      const { error: kept = '' } = read() ?? {}
      return Buffer.byteLength(kept) <= 2048 && !/\p{Cc}/u.test(kept)
    }),
  )
  t.pass()
})
