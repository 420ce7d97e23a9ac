import t from 'tap'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { spreadDelayUs } from '../../src/decision/spread.ts'
import type { Phase } from '../../src/decision/step.ts'
import { NO_COUNTERS } from '../../src/report/counters.ts'
import { Publisher } from '../../src/report/publisher.ts'
import { Reporter } from '../../src/report/reporter.ts'
import { findSlot } from '../../src/report/slot.ts'
import { following, found, IDENTITY, snapshot, source } from './build.ts'
import { FakeApi, FakeLog, FakeTime } from './fakes.ts'

const NODES = 200
const good = source('100')
const next = source('200')
const BEFORE = following(good, { proven: `content-100@${IDENTITY}` })

function openNode(time: FakeTime, nodeName: string) {
  const { clock, sleep } = time
  const [api, log] = [new FakeApi(() => time.nowMs), new FakeLog()]
  const files = { read: () => undefined, makeDirectory: () => {}, replace: () => {} }
  const history = { after: () => [] }
  const publisher = new Publisher({ api, nodeName, clock, log, random: () => 1, files, directory: '/d', history, sleep })
  publisher.start()
  const reporter = new Reporter({
    clock,
    log,
    counters: NO_COUNTERS,
    agentVersion: '1.2.3',
    warnings: { see: () => [] },
    syncFaults: { see: () => {} },
    publish: (status, _trial, summary) => publisher.publish(status, summary),
    publishCondition: (condition) => publisher.publishCondition(condition),
  })
  const look = (of: Snapshot, phase: Phase) =>
    reporter.decided({ ...of, now: clock.now(), nodeName }, { kind: 'wait', phase, detail: phase, untilUs: 0 })
  // Servers of today have no status.config.
  const isCounted = (body: unknown) => !JSON.stringify(body).includes('"config"')
  const patchesSince = (sinceMs: number) =>
    api.requests.filter(({ method, atMs, body }) => method === 'PATCH' && atMs >= sinceMs && isCounted(body))
  return { api, look, patchesSince, stop: () => publisher.stop() }
}

t.test('an edit of what nodes share does not make each of them write to its Node at the same moment', async (t) => {
  const time = new FakeTime()
  await time.advance(100_000)
  const nodes = Array.from({ length: NODES }, (_, i) => openNode(time, `node-${i}`))
  for (const { look } of nodes) look(BEFORE, 'settled')
  await time.advance(10_000)
  const editMs = time.nowMs
  const spread = { bootId: 'b1', source: next, sinceUs: editMs * 1000 }
  const waiting = { ...BEFORE, desired: found(next), desiredContent: 'content-200', spread, assignedContent: 'content-200' }
  const edited: Snapshot = { ...waiting, assigned: { kind: 'source', source: next } }
  for (const { look } of nodes) look(edited, 'preflight')
  await time.advance(1000)
  for (const { look } of nodes) look(edited, 'spread')
  await time.advance(1000)
  const writing = nodes.filter(({ patchesSince }) => patchesSince(editMs).length > 0)
  t.ok(writing.length <= NODES / 10, `${writing.length} of ${NODES}`)
  await time.advance(29_000)
  for (const { api, patchesSince } of nodes) {
    t.match(api.conditions.at(-2), { reason: 'Waiting' })
    t.ok(patchesSince(editMs).length <= 4)
  }
  const all = nodes.flatMap(({ patchesSince }) => patchesSince(editMs))
  t.ok(all.length < NODES * 2.3, `${all.length} writes: most nodes have come to their wait by then`)
  await Promise.all(nodes.map(({ stop }) => stop()))
})

t.test('a burst of edits does not put off what a node has to tell of the first one', async (t) => {
  const time = new FakeTime()
  await time.advance(100_000)
  const name = Array.from({ length: 100 }, (_, i) => `node-${i}`).find((each) => spreadDelayUs(each, 'local', 30e6) > 20e6) ?? ''
  const { api, look, patchesSince, stop } = openNode(time, name)
  look(BEFORE, 'settled')
  await time.advance(10_000)
  const edit = (version: string) => {
    const edited = source(version)
    const spread = { bootId: 'b1', source: edited, sinceUs: time.nowMs * 1000 }
    look({ ...BEFORE, desired: found(edited), desiredContent: `content-${version}`, spread }, 'spread')
  }
  edit('200')
  await time.advance(20_000)
  t.match(api.conditions.at(-2), { status: 'True' })
  edit('300')
  await time.advance(10_000)
  t.match(api.conditions.at(-2), { reason: 'Waiting' }, '30 s after the first')
  await time.advance(10_000)
  edit('400')
  await time.advance(30_000)
  t.ok(patchesSince(110_000).length <= 4, 'the first two in one write, and the third')
  await stop()
})

t.test('what happens in the turn of the node, and what is set on this Node alone, is told at once', (t) => {
  const spread = { bootId: 'b1', source: next, sinceUs: 99e6 }
  const slot = (phase: Phase, fields: Partial<Snapshot> = {}) => findSlot(snapshot({ spread, ...fields }), phase, next, undefined)
  for (const phase of ['preflight', 'drain', 'spread', 'rollout'] as const) t.ok((slot(phase) ?? 0) >= 99e6, phase)
  for (const phase of ['restarting', 'in-trial', 'settled', 'refused', 'fallen-back', 'paused'] as const)
    t.equal(slot(phase), undefined, phase)
  const { now, policy } = snapshot()
  const own = { ...spread, sinceUs: now.monotonicUs - policy.spreadUs }
  t.ok((slot('preflight', { spread: own }) ?? 0) < now.monotonicUs)
  t.equal(slot('preflight', { spread: undefined }), undefined)
  t.equal(slot('preflight', { spread: { ...spread, bootId: 'b0' } }), undefined)
  t.equal(slot('preflight', { spread: { ...spread, source: good } }), undefined)
  t.equal(findSlot(snapshot({ spread }), 'preflight', undefined, undefined), undefined)
  const short = slot('spread', { policy: { ...policy, spreadUs: 2e6 } }) ?? 0
  t.ok(short < 101e6, 'within the spread')
  t.end()
})
