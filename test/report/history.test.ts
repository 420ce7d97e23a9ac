// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import type { Transition } from '../../src/decision/records.ts'
import { FileHistory, formatLine, instantOf, parseHistory, readHistory } from '../../src/report/history.ts'
import { FakeDisk } from '../checkpoint/fake/fake-disk.ts'
import { source, transition } from './build.ts'
import { FakeLog, FakeTime } from './fakes.ts'

const PATH = '/d/history.jsonl'

function fresh(limit?: number) {
  const time = new FakeTime()
  const disk = new FakeDisk(() => time.wallMs)
  const files = new DurableFiles(disk)
  const log = new FakeLog()
  const appended: number[] = []
  const open = () =>
    new FileHistory({
      files,
      directory: '/d',
      clock: time.clock,
      log,
      onAppend: () => appended.push(1),
      ...(limit !== undefined && { limit }),
    })
  return { time, disk, files, log, appended, open, read: () => readHistory(files, '/d') }
}
const what = (resourceVersion: string): Omit<Transition, 'atNs'> => ({
  kind: 'assigned',
  from: undefined,
  to: source(resourceVersion),
  why: 'w',
})
const versions = (transitions: readonly Transition[]) =>
  transitions.map(({ to }) => (to === undefined || to === 'local' ? to : to.resourceVersion))

t.test('appended transitions are read in order, by this agent and the next', async (t) => {
  const { open, read, appended } = fresh()
  t.same(read(), { transitions: [], skipped: 0 })
  const history = open()
  history.append(what('1'))
  history.append({ kind: 'promoted', from: 'local', to: source('1'), why: 'trial passed' })
  open().append(what('2'))
  t.same(versions(read().transitions), ['1', '1', '2'])
  t.same(history.after('0'), read().transitions)
  t.same(versions(history.after(read().transitions[1]?.atNs ?? '')), ['2'])
  t.equal(appended.length, 3)
})

t.test('numbers are unique and increasing, across jumps of the wall clock and restarts', async (t) => {
  const property = fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 2 ** 41 }), fc.boolean()), { maxLength: 20 }), (jumps) => {
    const { time, open, read } = fresh()
    let history = open()
    for (const [index, [wallMs, restarts]] of jumps.entries()) {
      time.wallMs = wallMs
      if (restarts) history = open()
      history.append(what(String(index)))
    }
    const times = read().transitions.map(({ atNs }) => BigInt(atNs))
    return times.length === jumps.length && times.every((time, index) => index === 0 || time > (times[index - 1] ?? 0n))
  })
  t.doesNotThrow(() => fc.assert(property))
})

t.test('a clock that was years ahead once does not date what comes later', (t) => {
  const { time, files, open, read } = fresh()
  const [now, ahead] = [Date.UTC(2026, 0, 1), Date.UTC(2033, 0, 1)]
  for (const [index, wallMs] of [now, ahead, now + 1000, now + 2000, ahead + 1000].entries()) {
    time.wallMs = wallMs
    open().append(what(String(index)))
  }
  const { transitions } = read()
  t.same(
    transitions.map((transition) => instantOf(transition).getTime()),
    [now, ahead, now + 1000, now + 2000, ahead + 1000],
  )
  t.equal(transitions.filter(({ wallMs }) => wallMs !== undefined).length, 2)
  for (const wallMs of ['"x"', '1e300', 'null'])
    files.append(PATH, formatLine(transition({ atNs: '3000000000000000000' })).replace('"kind"', `"wallMs":${wallMs},"kind"`))
  t.equal(instantOf(read().transitions.at(-1) ?? transition()).getTime(), 3_000_000_000_000)
  t.end()
})

t.test('the same transition right again is a repetition after a crash', async (t) => {
  const { open, read, appended } = fresh()
  open().append(what('1'))
  open().append({ ...what('1'), why: 'after 61 s' })
  t.equal(read().transitions.length, 1)
  t.equal(appended.length, 1)
  const history = open()
  history.append(what('2'))
  history.append(what('1'))
  history.append(what('1'))
  t.same(versions(read().transitions), ['1', '2', '1'])
  history.append({ kind: 'set-aside', from: undefined, to: undefined, why: 'meta/assigned' })
  history.append({ kind: 'set-aside', from: undefined, to: undefined, why: 'meta/previous' })
  history.append({ kind: 'set-aside', from: undefined, to: undefined, why: 'meta/previous' })
  t.equal(read().transitions.length, 5, 'without a source, the reason distinguishes them')
})

t.test('its length is bounded: the oldest are dropped', async (t) => {
  const { open, read, files } = fresh(8)
  for (let index = 0; index < 100; index += 1) {
    open().append(what(String(index)))
    t.ok((files.read(PATH)?.toString().trim().split('\n').length ?? 0) <= 10)
  }
  t.same(versions(read().transitions).slice(-8), ['92', '93', '94', '95', '96', '97', '98', '99'])
})

t.test('a torn last line and garbage are skipped, and the next line starts on its own', async (t) => {
  const { open, read, files, log } = fresh()
  open().append(what('1'))
  const line = formatLine(transition({ atNs: '9' }))
  files.append(PATH, `garbage\n{"atNs":"x"}\n[]\nnull\n${line}${formatLine(transition({ atNs: '1800000000000000000' })).slice(0, 40)}`)
  const history = open()
  history.append(what('2'))
  t.same(versions(read().transitions), ['1', '2'])
  t.equal(read().skipped, 6, 'four lines of garbage, one out of order, one torn')
  t.match(log.said('warn'), [/skipping unreadable lines/])
})

t.test('reading never throws, and finds every complete line in any damaged file', async (t) => {
  const lines = ['1', '2', '3'].map((atNs) => formatLine(transition({ atNs })))
  const property = fc.property(fc.string(), fc.nat(lines.join('').length), (noise, cut) => {
    const { transitions } = parseHistory(`${noise}\n${lines.join('').slice(0, cut)}`)
    const whole = lines.join('').slice(0, cut).split('\n').length - 1
    // A last line without its line feed may be complete too.
    return transitions.length === whole || transitions.length === whole + 1
  })
  t.doesNotThrow(() => fc.assert(property))
})

t.test('a full disk delays it, stops nothing, and is logged once', async (t) => {
  const { open, read, disk, log } = fresh()
  const history = open()
  history.append(what('1'))
  disk.full = true
  history.append(what('2'))
  history.append(what('3'))
  t.same(versions(read().transitions), ['1'])
  t.same(versions(history.after('0')), ['1', '2', '3'], 'publishing goes on')
  t.same(log.said('warn').length, 1)
  disk.full = false
  history.append(what('4'))
  t.same(versions(read().transitions), ['1', '2', '3', '4'])
})

t.test('an append that fails half-way leaves neither a gap nor a duplicate', async (t) => {
  const { open, read, disk } = fresh()
  const history = open()
  history.append(what('1'))
  disk.faultOf = (step) => (step.kind === 'append' ? 'short-write' : undefined)
  history.append(what('2'))
  disk.faultOf = (step) => (step.kind === 'append' ? 'EIO' : undefined)
  history.append(what('3'))
  disk.faultOf = undefined
  history.append(what('4'))
  const found = versions(read().transitions)
  t.same(
    found.filter((version) => version !== '2'),
    ['1', '3', '4'],
    'what the disk reported as written is all that can be lost',
  )
  t.equal(new Set(found).size, found.length)
})

t.test('an append that fails after half a line does not spoil the next', async (t) => {
  const { files, log, time } = fresh()
  let cut = 0
  const append = (path: string, text: string) => {
    files.append(path, cut > 0 ? text.slice(0, cut) : text)
    if (cut > 0) throw new Error('EIO')
  }
  const torn = {
    append,
    read: (path: string) => files.read(path),
    makeDirectory: (path: string) => files.makeDirectory(path),
    replace: (path: string, text: Uint8Array | string) => files.replace(path, text),
  }
  const history = new FileHistory({ files: torn, directory: '/d', clock: time.clock, log })
  history.append(what('1'))
  cut = 20
  history.append(what('2'))
  cut = 0
  history.append(what('3'))
  t.same(versions(readHistory(files, '/d').transitions), ['1', '2', '3'])
})

t.test('a history that cannot be read is not overwritten', async (t) => {
  const { files, log, time } = fresh()
  files.makeDirectory('/d')
  files.append(PATH, formatLine(transition({ atNs: '5' })))
  let isBroken = true
  const broken = {
    read: (path: string) => {
      if (isBroken) throw new Error('EIO')
      return files.read(path)
    },
    makeDirectory: (path: string) => files.makeDirectory(path),
    append: (path: string, text: string) => files.append(path, text),
    replace: (path: string, text: Uint8Array | string) => files.replace(path, text),
  }
  const history = new FileHistory({ files: broken, directory: '/d', clock: time.clock, log })
  history.append(what('1'))
  t.same(versions(history.after('0')), ['1'])
  isBroken = false
  history.append(what('2'))
  t.same(readHistory(files, '/d').transitions.length, 3)
  t.match(log.said('warn'), [/could not be read/])
})
