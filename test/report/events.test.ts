// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import type { TransitionKind } from '../../src/decision/records.ts'
import type { KubeAnswer } from '../../src/ports/kube-api.ts'
import { EventWork, eventOf } from '../../src/report/events.ts'
import { FileHistory } from '../../src/report/history.ts'
import { ReportWorker } from '../../src/report/report-worker.ts'
import { FakeDisk } from '../checkpoint/fake/fake-disk.ts'
import { source, transition } from './build.ts'
import { FakeApi, FakeLog, FakeTime, refusal } from './fakes.ts'

t.test("a restart makes upstream's event, apart from the component", async (t) => {
  t.same(eventOf(transition(), 'node-1'), {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'node-1.17979cfe362a0000', namespace: 'default' },
    involvedObject: { kind: 'Node', name: 'node-1', uid: 'node-1' },
    type: 'Normal',
    reason: 'KubeletConfigChanged',
    message:
      'Kubelet restarting to use /api/v1/namespaces/kube-system/configmaps/my-node-config, UID: uid-1, ResourceVersion: 212, KubeletConfigKey: kubelet',
    source: { component: 'kubelet-cfg-agent', host: 'node-1' },
    firstTimestamp: '2023-11-14T22:13:20Z',
    lastTimestamp: '2023-11-14T22:13:20Z',
    count: 1,
  })
})

t.test('the event of each transition', async (t) => {
  const kinds: Readonly<Record<TransitionKind, string | undefined>> = {
    restarting: 'Normal KubeletConfigChanged',
    promoted: 'Normal KubeletConfigPromoted',
    rejected: 'Warning KubeletConfigRejected',
    'rolled-back': 'Warning KubeletConfigRolledBack',
    assigned: undefined,
    retrying: undefined,
    'set-aside': undefined,
    'download-failed': 'Warning KubeletConfigDownloadFailed',
    invalid: 'Warning KubeletConfigInvalid',
    synced: undefined,
  }
  for (const [kind, expected] of Object.entries(kinds)) {
    const event = eventOf(transition({ kind: kind as TransitionKind }), 'n')
    t.equal(event && `${event.type} ${event.reason}`, expected, kind)
  }
})

t.test('the time is that of the wall clock, and the name that of the number', async (t) => {
  const event = eventOf(transition({ atNs: '1900000000000000001', wallMs: 1_700_000_000_000 }), 'n')
  t.equal(event?.firstTimestamp, '2023-11-14T22:13:20Z')
  t.equal(event?.metadata.name, `n.${1900000000000000001n.toString(16)}`)
})

t.test('the source in a message', async (t) => {
  const rolledBack = eventOf(transition({ kind: 'rolled-back', from: source(), to: 'local', why: 'kubelet exited 3 times' }), 'n')
  t.match(rolledBack?.message, /rolled back from \/api\/.*my-node-config, UID.* to local config: kubelet exited 3 times$/)
  const rejected = eventOf(transition({ kind: 'rejected', from: source(), to: undefined, why: 'kubeAPIQPS: -1' }), 'n')
  t.match(rejected?.message, /refused before a restart: \/api\/.*: kubeAPIQPS: -1$/)
  const promoted = eventOf(transition({ kind: 'promoted', from: 'local', to: source() }), 'n')
  t.match(promoted?.message, /promoted to last-known-good: \/api\//)
})

t.test("distinct times give distinct names, and messages never exceed the server's limit", async (t) => {
  const property = fc.property(
    fc.bigInt(0n, 2n ** 62n),
    fc.bigInt(0n, 2n ** 62n),
    fc.string({ unit: 'grapheme', maxLength: 3000 }),
    (a, b, why) => {
      const [first, second] = [a, b].map((atNs) => eventOf(transition({ kind: 'rejected', atNs: String(atNs), why }), 'n'))
      const message = first?.message ?? ''
      return (
        (a === b) === (first?.metadata.name === second?.metadata.name) &&
        Buffer.byteLength(message) <= 1024 &&
        (why.includes('\ufffd') || !message.includes('\ufffd'))
      )
    },
  )
  t.doesNotThrow(() => fc.assert(property))
})

const LACKS = { ...refusal(403, 'Forbidden'), detail: '403: events is forbidden: User "u" cannot create resource "events" in API group ""' }
const DENIED = { ...refusal(403, 'Forbidden'), detail: '403: admission webhook "w" denied the request: no' }

function fresh(queueLimit?: number) {
  const time = new FakeTime()
  const api = new FakeApi(() => time.nowMs)
  const log = new FakeLog()
  const disk = new FakeDisk(() => time.wallMs)
  const files = new DurableFiles(disk)
  const open = () => {
    const bell: { ring?: () => void } = {}
    const history = new FileHistory({ files, directory: '/d', clock: time.clock, log, onAppend: () => bell.ring?.() })
    const options = { api, nodeName: 'node-1', clock: time.clock, log, random: () => 1, files, directory: '/d', history }
    const work = new EventWork({ ...options, ...(queueLimit !== undefined && { queueLimit }) })
    const lane = new ReportWorker(work, time.sleep, log)
    bell.ring = () => {
      work.refresh()
      lane.wake()
    }
    lane.start()
    let version = 0
    const restart = () => {
      version += 1
      history.append({ kind: 'restarting', from: 'local', to: source(String(version)), why: '' })
    }
    return { history, lane, restart }
  }
  const sent = () => [...api.events.values()].map((event) => /ResourceVersion: (\d+)/.exec((event as { message: string }).message)?.[1])
  return { time, api, log, disk, files, open, sent }
}

t.test('each transition with an event is sent, oldest first, at most one a second', async (t) => {
  const { time, api, open, sent } = fresh()
  const { history, restart } = open()
  restart()
  history.append({ kind: 'assigned', from: 'local', to: source(), why: '' })
  restart()
  restart()
  await time.advance(2000)
  t.same(sent(), ['1', '2', '3'])
  t.same(
    api.requests.map(({ path, atMs }) => [path, atMs]),
    [0, 1000, 2000].map((atMs) => ['/api/v1/namespaces/default/events', atMs]),
  )
})

t.test('outages and restarts of the agent lose no event, and none is sent twice', async (t) => {
  const { time, api, log, open, sent } = fresh()
  const first = open()
  first.restart()
  await time.advance(5000)
  api.fault = () => ({ kind: 'unreachable', detail: 'ECONNREFUSED' })
  first.restart()
  await time.advance(3600_000)
  t.same(log.said('warn').length, 1)
  await first.lane.stop()
  first.restart()
  api.fault = () => undefined
  open()
  await time.advance(5000)
  t.same(sent(), ['1', '2', '3'])
  t.equal(api.requests.filter(({ atMs }) => atMs > 3_600_000).length > 0, true)
  open()
  const { length } = api.requests
  await time.advance(60_000)
  t.equal(api.requests.length, length, 'the cursor is on disk')
})

t.test('without a cursor, the names of events prevent duplicates', async (t) => {
  const { time, api, log, files, open, sent } = fresh()
  const { restart, lane } = open()
  restart()
  restart()
  await time.advance(5000)
  await lane.stop()
  files.replace('/d/meta/events-published', 'garbage')
  open()
  await time.advance(5000)
  t.same(sent(), ['1', '2'])
  t.equal(api.requests.length, 4)
  t.same(log.said('warn'), [], 'which is not logged')
})

t.test('a refused event is dropped and the next is sent; a failing server is retried', async (t) => {
  for (const status of [400, 413, 422]) {
    const { time, api, log, open, sent } = fresh()
    const answers = [refusal(status, 'No')]
    api.fault = () => answers.shift()
    const { restart } = open()
    restart()
    restart()
    await time.advance(5000)
    t.same(sent(), ['2'], String(status))
    t.match(log.said('warn'), [/dropped/])
  }
  for (const status of [401, 403, 404, 408, 429, 500, 503]) {
    const { time, api, open, sent } = fresh()
    const answers = [{ ...refusal(status, 'Later', 7000), ...(status === 403 && { detail: LACKS.detail }) } as KubeAnswer]
    api.fault = () => answers.shift()
    const { restart } = open()
    restart()
    restart()
    await time.advance(6999)
    t.same(sent(), [], String(status))
    await time.advance(3000)
    t.same(sent(), ['1', '2'], String(status))
  }
})

t.test('events are sent after the loss of a history whose clock was ahead', async (t) => {
  const { time, files, open, sent } = fresh()
  files.makeDirectory('/d/meta')
  files.replace('/d/meta/events-published', '2500000000000000000')
  const { restart } = open()
  restart()
  await time.advance(2000)
  t.same(sent(), ['1'])
  restart()
  await time.advance(2000)
  t.same(sent(), ['1', '2'])
})

t.test('a power cut that takes the last lines of the history sends no event again', async (t) => {
  const { time, api, files, open, sent } = fresh()
  const { restart } = open()
  restart()
  await time.advance(2000)
  const lost = files.read('/d/history.jsonl')
  restart()
  await time.advance(2000)
  t.same(sent(), ['1', '2'])
  if (lost !== undefined) files.replace('/d/history.jsonl', lost)
  const { length } = api.requests
  time.wallMs += 5000
  open()
  await time.advance(5000)
  t.equal(api.requests.length, length)
})

t.test('an event that an admission plugin denies is dropped and the next is sent', async (t) => {
  const { time, api, log, open, sent } = fresh()
  const answers = [DENIED]
  api.fault = () => answers.shift()
  const { restart } = open()
  restart()
  restart()
  await time.advance(5000)
  t.same(sent(), ['2'])
  t.match(log.said('warn'), [/dropped/])
})

t.test('without the right, and behind a proxy that forbids, no event is lost, and few requests are made', async (t) => {
  for (const answer of [LACKS, { ...refusal(403), detail: '403: the answer is not a Status object (text/html)' }]) {
    const { time, api, log, open, sent } = fresh()
    api.fault = () => answer
    const { restart } = open()
    restart()
    restart()
    await time.advance(60_000)
    t.equal(api.requests.length, 4, 'a new right may not have reached every server')
    await time.advance(10 * 3600_000)
    t.ok(api.requests.length >= 40 && api.requests.length <= 60, `${api.requests.length} in ten hours`)
    t.equal(log.said('warn').length, 1)
    api.fault = () => undefined
    await time.advance(900_000)
    t.same(sent(), ['1', '2'])
  }
})

t.test('a queue that grows too long drops the oldest events, and logs how many', async (t) => {
  const { time, api, log, open, sent } = fresh(3)
  api.fault = () => ({ kind: 'unreachable', detail: '' })
  const { restart } = open()
  for (let count = 0; count < 5; count += 1) {
    restart()
    await time.advance(10)
  }
  api.fault = () => undefined
  await time.advance(60_000)
  t.same(sent(), ['3', '4', '5'])
  const dropped = log.lines.filter(({ message }) => message.includes('dropped the oldest')).map(({ fields }) => fields.dropped)
  t.equal(
    dropped.reduce((sum: number, count) => sum + Number(count), 0),
    2,
  )
})

t.test('on a full disk, events are still sent once', async (t) => {
  const { time, api, disk, open, sent } = fresh()
  const { restart } = open()
  restart()
  await time.advance(2000)
  disk.full = true
  restart()
  restart()
  await time.advance(60_000)
  t.same(sent(), ['1', '2', '3'])
  t.equal(api.requests.length, 3)
})

t.test('every event arrives exactly once and in order, for any faults of the server and restarts of the agent', async (t) => {
  const faults = fc.constantFrom(undefined, { kind: 'unreachable', detail: '' } as const, refusal(500), refusal(429, '', 2000))
  const move = fc.oneof(fc.constant('append' as const), fc.constant('reopen' as const), fc.nat(30_000), fc.record({ fault: faults }))
  const property = fc.asyncProperty(fc.array(move, { maxLength: 40 }), async (moves) => {
    const { time, api, open, sent } = fresh()
    let agent = open()
    let appended = 0
    for (const step of moves) {
      if (step === 'append') {
        appended += 1
        agent.history.append({ kind: 'restarting', from: 'local', to: source(String(appended)), why: '' })
      } else if (step === 'reopen') {
        await agent.lane.stop()
        agent = open()
      } else if (typeof step === 'number') await time.advance(step)
      else api.fault = () => step.fault
    }
    api.fault = () => undefined
    await time.advance(3600_000)
    t.same(
      sent(),
      Array.from({ length: appended }, (_, index) => String(index + 1)),
    )
  })
  await fc.assert(property, { numRuns: 60 })
})
