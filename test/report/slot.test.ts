// SPDX-License-Identifier: Apache-2.0
import t, { type Test } from 'tap'
import type { Phase } from '../../src/decision/phases.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { spreadDelayUs } from '../../src/decision/wait.ts'
import { NO_COUNTERS } from '../../src/report/counters.ts'
import { Publisher } from '../../src/report/publisher.ts'
import { Reporter } from '../../src/report/reporter.ts'
import { findSlot } from '../../src/report/slot.ts'
import type { ConfigSource } from '../../src/subject/config-source.ts'
import { following, found, held, IDENTITY, snapshot, source } from './build.ts'
import { FakeApi, FakeLog, FakeTime } from './fakes.ts'

const NODES = 200
const good = source('100')
const next = source('200')
const BEFORE = following(good, { proven: `content-100@${IDENTITY}` })

/** Another version of the content of `BEFORE`. */
const RUNS_ON = {
  desiredContent: 'content-100',
  assignedContent: 'content-100',
  nextStart: { kind: 'known', held: held(next, 'content-100') },
  running: BEFORE.running,
} as const
const PROMOTED = { status: 'True', reason: 'Promoted', message: '@100' } as const
const WAITING = { status: 'False', reason: 'Waiting', message: '@200' } as const

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
    warnings: { see: () => [], otherwise: () => undefined },
    syncFaults: { see: () => {} },
    publish: (status, _trial, summary) => publisher.publish(status, summary),
    publishCondition: (condition) => publisher.publishCondition(condition),
  })
  const look = (of: Snapshot, phase: Phase) =>
    reporter.decided({ ...of, now: clock.now(), nodeName }, { kind: 'wait', phase, detail: phase, untilUs: 0 })
  // As servers of today do.
  api.dropsConfig = true
  const patchesSince = (sinceMs: number) => api.requests.filter(({ method, atMs }) => method === 'PATCH' && atMs >= sinceMs)
  return { api, look, patchesSince, stop: () => publisher.stop() }
}

/** On a fleet that has settled, the edit reaches all nodes now. */
async function editOnFleet() {
  const time = new FakeTime()
  await time.advance(100_000)
  const nodes = Array.from({ length: NODES }, (_, i) => openNode(time, `node-${i}`))
  for (const { look } of nodes) look(BEFORE, 'settled')
  await time.advance(10_000)
  const editMs = time.nowMs
  const spread = { bootId: 'b1', source: next, sinceUs: editMs * 1000 }
  const mostlySilent = (t: Test) => {
    const writing = nodes.filter(({ patchesSince }) => patchesSince(editMs).length > 0)
    t.ok(writing.length <= NODES / 10, `${writing.length} of ${NODES}`)
  }
  return { time, nodes, editMs, spread, mostlySilent }
}

t.test('an edit of what nodes share does not make each of them write to its Node at the same moment', async (t) => {
  const { time, nodes, editMs, spread, mostlySilent } = await editOnFleet()
  const waiting = { ...BEFORE, desired: found(next), desiredContent: 'content-200', spread, assignedContent: 'content-200' }
  const edited: Snapshot = { ...waiting, assigned: { kind: 'source', source: next } }
  for (const { look } of nodes) look(edited, 'preflight')
  await time.advance(1000)
  for (const { look } of nodes) look(edited, 'spread')
  await time.advance(1000)
  mostlySilent(t)
  await time.advance(29_000)
  for (const { api, patchesSince } of nodes) {
    t.match(api.conditions.at(-2), { reason: 'Waiting' })
    t.ok(patchesSince(editMs).length <= 2)
  }
  const all = nodes.flatMap(({ patchesSince }) => patchesSince(editMs))
  t.ok(all.length < NODES * 1.15, `${all.length} writes: most nodes have come to their wait by then`)
  await Promise.all(nodes.map(({ stop }) => stop()))
})

t.test('an edit that leaves what runs as it is does not make each node write to its Node at the same moment', async (t) => {
  const { time, nodes, editMs, spread, mostlySilent } = await editOnFleet()
  const reworded = { ...following(next, { proven: BEFORE.proven, spread }), ...RUNS_ON }
  for (let second = 0; second < 2; second += 1) {
    for (const { look } of nodes) look(reworded, 'settled')
    await time.advance(1000)
  }
  mostlySilent(t)
  await time.advance(29_000)
  for (const { api, patchesSince } of nodes) {
    t.match(api.conditions.at(-2), { reason: 'Promoted', message: /@200 has passed/ })
    t.equal(patchesSince(editMs).length, 1, 'condition and annotation in one write')
  }
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
  t.ok(patchesSince(110_000).length <= 2, 'the first two in one write, and the third')
  await stop()
})

t.test('what happens in the turn of the node, and what is set on this Node alone, is told at once', (t) => {
  const spread = { bootId: 'b1', source: next, sinceUs: 99e6 }
  const slot = (phase: Phase, fields: Partial<Snapshot> = {}, wanted: ConfigSource | undefined = next) =>
    findSlot(snapshot({ spread, ...fields }), phase, wanted, WAITING, undefined).atUs
  for (const phase of ['preflight', 'drain', 'spread', 'rollout'] as const) t.ok((slot(phase) ?? 0) >= 99e6, phase)
  for (const phase of ['restarting', 'in-trial', 'settled', 'refused', 'fallen-back', 'paused'] as const)
    t.equal(slot(phase), undefined, phase)
  const { now, policy } = snapshot()
  const own = { ...spread, sinceUs: now.monotonicUs - policy.spreadUs }
  t.ok((slot('preflight', { spread: own }) ?? 0) < now.monotonicUs)
  t.equal(slot('preflight', { spread: undefined }), undefined)
  t.equal(slot('preflight', { spread: { ...spread, bootId: 'b0' } }), undefined)
  t.equal(slot('preflight', {}, good), undefined)
  t.equal(findSlot(snapshot({ spread }), 'preflight', undefined, WAITING, undefined).atUs, undefined)
  const short = slot('spread', { policy: { ...policy, spreadUs: 2e6 } }) ?? 0
  t.ok(short < 101e6, 'within the spread')
  t.end()
})

t.test('a promotion is told at once, also at the looks after it', (t) => {
  const of = snapshot({ spread: { bootId: 'b1', source: next, sinceUs: 100e6 } })
  const promoted = { ...PROMOTED, message: '@200' }
  const inTrial = findSlot(of, 'in-trial', next, { status: 'Unknown', reason: 'InTrial', message: '@200' }, undefined)
  const first = findSlot(of, 'settled', next, promoted, inTrial)
  t.equal(first.atUs, undefined)
  t.equal(findSlot(of, 'settled', next, promoted, first).atUs, undefined)
  t.end()
})

t.test('an edit that is taken back before a node has told of it leaves nothing to tell at once', (t) => {
  const of = snapshot({ spread: { bootId: 'b1', source: next, sinceUs: 100e6 } })
  const before = findSlot(snapshot(), 'settled', good, PROMOTED, undefined)
  const waiting = findSlot(of, 'spread', next, WAITING, before)
  t.ok((waiting.atUs ?? 0) > of.now.monotonicUs)
  const back = source('300')
  const revert = (atSeconds: number) => {
    const now = { ...of.now, monotonicUs: atSeconds * 1e6 }
    const reverted = snapshot({ now, spread: { bootId: 'b1', source: back, sinceUs: now.monotonicUs } })
    return findSlot(reverted, 'settled', back, { ...PROMOTED, message: '@300' }, waiting)
  }
  t.equal(revert(100).atUs, waiting.atUs)
  t.ok((revert(131).atUs ?? 0) >= 131e6, 'nor that it no longer waits')
  t.end()
})
