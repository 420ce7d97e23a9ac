// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { Phase } from '../../src/decision/phases.ts'
import type { Transition } from '../../src/decision/records.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { spreadDelayUs } from '../../src/decision/wait.ts'
import { NO_COUNTERS } from '../../src/report/counters.ts'
import { Publisher } from '../../src/report/publisher.ts'
import { type Condition, type ConditionReason, conditionOf } from '../../src/report/reasons.ts'
import { Reporter } from '../../src/report/reporter.ts'
import { findSlot, type Slot } from '../../src/report/slot.ts'
import type { ConfigSource } from '../../src/subject/config-source.ts'
import { following, found, held, IDENTITY, snapshot, source, transition, verdictOn } from './build.ts'
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
  const transitions: Transition[] = []
  const history = { after: (atNs: string) => transitions.filter((each) => BigInt(each.atNs) > BigInt(atNs)) }
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
  const reject = () => {
    transitions.push(transition({ kind: 'rejected', from: next, to: undefined }))
    publisher.historyAppended()
  }
  return { api, look, reject, patchesSince, stop: () => publisher.stop() }
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
  for (const phase of ['restarting', 'in-trial', 'settled', 'fallen-back', 'paused'] as const) t.equal(slot(phase), undefined, phase)
  const { policy } = snapshot()
  t.equal(slot('preflight', { spread: { ...spread, own: true } }), undefined)
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

const UNCHANGED = {
  recordedChannelState: { channel: 'label', paused: undefined, problem: undefined, nodeHash: 'h' },
} as const
/** Preflight has refused `next`, and what ran before runs. */
const REFUSING: Snapshot = {
  ...BEFORE,
  desired: found(next),
  desiredContent: 'content-200',
  assigned: { kind: 'source', source: next },
  assignedContent: 'content-200',
  verdicts: verdictOn('content-200', { state: 'refused', source: next }),
}
const unusable = (nodeHash: string) =>
  ({
    kind: 'invalid',
    detail: 'two match',
    channelState: { channel: 'selector', paused: undefined, problem: 'two match', nodeHash },
  }) as const
const REFUSED = { status: 'False', reason: 'Refused', message: '@200 was refused' } as const
const INVALID = { status: 'False', reason: 'Invalid', message: 'two match' } as const
const ROLLED_BACK = { status: 'False', reason: 'RolledBack', message: '@200 failed' } as const

t.test('a refusal, and what nobody can use, are told in the slot where nodes share them', (t) => {
  const of = snapshot({ spread: { bootId: 'b1', source: next, sinceUs: 99e6 } })
  const atUs = findSlot(of, 'refused', next, REFUSED, undefined).atUs ?? 0
  t.ok(atUs >= 99e6 && atUs < 129e6, 'also by an agent that was restarted meanwhile')
  const own = snapshot({ spread: { bootId: 'b1', source: next, sinceUs: 99e6, own: true } })
  t.equal(findSlot(own, 'refused', next, REFUSED, undefined).atUs, undefined, 'set on this Node alone')
  t.equal(findSlot(snapshot({ spread: undefined }), 'refused', next, REFUSED, undefined).atUs, undefined)

  const shared = snapshot({ ...UNCHANGED, desired: unusable('h') })
  t.ok((findSlot(shared, 'settled', undefined, INVALID, undefined).atUs ?? 0) >= shared.now.monotonicUs)
  const alone = snapshot({ ...UNCHANGED, desired: unusable('another') })
  t.equal(findSlot(alone, 'settled', undefined, INVALID, undefined).atUs, undefined, 'the label of this Node is the cause')
  t.end()
})

const SHARED = { bootId: 'b1', source: next, sinceUs: 99e6 } as const
const DELAY_US = spreadDelayUs('node-1', 'local', 30e6)
type Look = readonly [seconds: number, reason: ConditionReason, phase: Phase, fields?: Partial<Snapshot>]

function showing(condition: Condition, seenUs = 0): Slot {
  return { condition, seenUs, atUs: undefined, eventsAtUs: undefined, shown: undefined, pause: 'nobody', isFalling: false }
}

/** When a node tells of the last of these, and of its events, in seconds from its slot. */
function afterLooks(looks: readonly Look[], fields: Partial<Snapshot> = {}) {
  let slot: Slot | undefined
  for (const [seconds, reason, phase, more] of looks) {
    const now = { ...snapshot().now, monotonicUs: 9000e6 + seconds * 1e6 }
    slot = findSlot(
      snapshot({ spread: SHARED, nodeName: 'node-1', now, ...fields, ...more }),
      phase,
      next,
      conditionOf(reason, `${seconds}`),
      slot,
    )
  }
  const fromSlot = (atUs: number | undefined) => (atUs === undefined ? 'at once' : (atUs - 9000e6 - DELAY_US) / 1e6)
  return { told: fromSlot(slot?.atUs), events: fromSlot(slot?.eventsAtUs), shown: slot?.shown?.reason }
}

const IN_TRIAL: Look = [-100, 'InTrial', 'in-trial']

t.test('nodes that fail together with what they share do not tell of it at the same moment', (t) => {
  const fall: Look[] = [IN_TRIAL, [0, 'Restarting', 'restarting'], [1, 'InTrial', 'in-trial'], [2, 'Unhealthy', 'in-trial']]
  const fallen: Look[] = [...fall, [3, 'Restarting', 'restarting'], [4, 'RolledBack', 'fallen-back']]
  t.ok(DELAY_US > 5e6)
  t.same(afterLooks(fallen), { told: 0, events: 30, shown: 'InTrial' }, 'all of it in one write, long after the spread, too')
  t.match(afterLooks([...fallen, [31, 'Unhealthy', 'fallen-back'], [33, 'RolledBack', 'fallen-back']]), { told: 31, events: 30 })
  const well: Look = [100, 'InTrial', 'in-trial']
  t.match(afterLooks([...fall, well]), { told: 100, shown: 'Unhealthy' }, 'what they share is back')
  t.match(afterLooks([...fall, well, [101, 'Unhealthy', 'in-trial'], [200, 'InTrial', 'in-trial'], [300, 'InTrial', 'in-trial']]), {
    told: 'at once',
  })
  t.match(afterLooks([[0, 'RolledBack', 'fallen-back']]), { told: 'at once' }, 'the Node of an agent that was restarted shows most of it')
  t.match(
    afterLooks([
      [-9, 'Waiting', 'rollout'],
      [0, 'Restarting', 'restarting'],
    ]),
    { told: 0 },
    'what runs ends while they wait',
  )
  t.match(afterLooks([IN_TRIAL, [0, 'RuntimeDown', 'runtime-down']]), { told: 0 })
  t.end()
})

t.test('what a node starts in its own turn, and what failed on it alone, is told at once', (t) => {
  const restart = { bootId: 'b1', atUs: 8999e6, target: 'content-200@kubelet-1', fallback: false, invocationBefore: '', outcome: undefined }
  const own = { restarts: [restart] } as unknown as Partial<Snapshot>
  const started: Look = [0, 'Restarting', 'restarting', own]
  for (const [reason, phase] of [
    ['Waiting', 'spread'],
    ['Paused', 'paused'],
    ['RestartLimit', 'restart-limit'],
    ['RolledBack', 'fallen-back'],
    ['KubeletUnknown', 'unknown'],
  ] as const) {
    t.match(afterLooks([[-9, reason, phase], started]), { told: 'at once' }, reason)
    t.match(afterLooks([[-9, reason, phase], started, [1, 'Restarting', 'restarting', own], [2, 'InTrial', 'in-trial', own]]), {
      told: 'at once',
    })
  }
  const fallback = { restarts: [{ ...restart, fallback: true }] } as unknown as Partial<Snapshot>
  t.match(afterLooks([IN_TRIAL, [0, 'Restarting', 'restarting', fallback]]), { told: 0 }, 'a fallback')
  t.match(afterLooks([[-0.5, 'InTrial', 'in-trial'], started]), { told: 0 }, 'it has ended by itself after that restart')

  const falls = (fields: Partial<Snapshot>) => afterLooks([IN_TRIAL, [0, 'RolledBack', 'fallen-back']], fields).told
  t.equal(falls({}), 0)
  t.equal(falls({ spread: { ...SHARED, own: true } }), 'at once')
  t.equal(falls({ spread: undefined }), 'at once', 'its first config')
  t.equal(falls({ spread: undefined, lastKnownGood: held(next, 'content-200') }), 0, 'others may have been promoted to it, too')
  const asked = { ...ROLLED_BACK, deliberate: true } as const
  t.equal(findSlot(snapshot({ spread: SHARED }), 'fallen-back', next, asked, showing(conditionOf('InTrial', ''))).atUs, undefined)
  t.end()
})

t.test('what gives back the content that runs is told in the slot, whatever the node had made of the edit', (t) => {
  const back = source('300')
  const of = snapshot({ spread: { bootId: 'b1', source: back, sinceUs: 131e6 }, now: { ...snapshot().now, monotonicUs: 131e6 } })
  const restored = { ...PROMOTED, message: '@300' }
  const after = (shown: Slot['condition']) => findSlot(of, 'settled', back, restored, showing(shown)).atUs
  for (const shown of [REFUSED, ROLLED_BACK, WAITING, PROMOTED]) t.ok((after(shown) ?? 0) >= 131e6, shown.reason)
  t.equal(after({ ...ROLLED_BACK, deliberate: true }), undefined, 'an operator of the node did it')
  for (const reason of ['InTrial', 'Restarting', 'Unhealthy', 'Paused', 'HeldLocal'] as const)
    t.equal(after({ status: 'False', reason, message: '' }), undefined, `${reason} is of the node`)
  const read = snapshot({ ...UNCHANGED, desired: { ...found(back), channelState: unusable('h').channelState } })
  t.ok((findSlot(read, 'settled', back, restored, showing(INVALID)).atUs ?? 0) >= 100e6)
  t.end()
})

t.test('slots: no node tells before the change, all within the time, and they are even over it', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 120 }), fc.integer({ min: 0, max: 1e6 }), (spreadSeconds, seed) => {
      const longestUs = Math.min(30, spreadSeconds) * 1e6
      const { policy, now: later } = snapshot()
      const now = { ...later, monotonicUs: 99e6 }
      const slots = Array.from({ length: 500 }, (_, i) => {
        const spread = { bootId: 'b1', source: next, sinceUs: 99e6 }
        const of = snapshot({ now, spread, nodeName: `node-${seed}-${i}`, policy: { ...policy, spreadUs: spreadSeconds * 1e6 } })
        const slot = findSlot(of, 'refused', next, REFUSED, undefined)
        return { atUs: (slot.atUs ?? 0) - 99e6, eventUs: (slot.eventsAtUs ?? 0) - 99e6 }
      })
      const isWithin = slots.every(({ atUs, eventUs }) => atUs >= 0 && atUs <= longestUs && eventUs - atUs === longestUs)
      const thirds = [0, 1, 2].map((third) => slots.filter(({ atUs }) => Math.floor((atUs * 3) / longestUs) === third).length)
      return isWithin && (longestUs === 0 || thirds.every((count) => count > 110 && count < 230))
    }),
  )
  t.end()
})

t.test('of a fleet that refuses an edit, each node writes once to its Node, and its event comes after that', async (t) => {
  const { time, nodes, editMs, spread, mostlySilent } = await editOnFleet()
  const edited: Snapshot = { ...REFUSING, spread }
  for (const { look } of nodes) look({ ...edited, verdicts: new Map() }, 'preflight')
  await time.advance(1000)
  for (const { look, reject } of nodes) {
    reject()
    look(edited, 'refused')
  }
  await time.advance(1000)
  mostlySilent(t)
  const firstMs = Math.min(...nodes.flatMap(({ patchesSince }) => patchesSince(editMs).map(({ atMs }) => atMs)))
  t.ok(firstMs - editMs < 5000, 'a person sees it soon')
  await time.advance(60_000)
  for (const { api, patchesSince } of nodes) {
    const write = patchesSince(editMs).at(-1)
    t.match(api.conditions.at(-2), { reason: 'Refused' })
    const events = api.requests.filter(({ method, atMs }) => method === 'POST' && atMs >= editMs)
    t.equal(events.length, 1)
    t.ok((events[0]?.atMs ?? 0) > (write?.atMs ?? Number.POSITIVE_INFINITY))
  }
  const all = nodes.flatMap(({ patchesSince }) => patchesSince(editMs))
  t.ok(all.length < NODES * 1.1, `${all.length} writes: preflight takes a second, and few tell of it before`)
  await Promise.all(nodes.map(({ stop }) => stop()))
})

t.test('what preflight comes to is told in a slot, however long preflight takes', (t) => {
  for (const [seconds, phase, condition] of [
    [6, 'refused', REFUSED],
    [40, 'refused', REFUSED],
    [40, 'spread', WAITING],
  ] as const) {
    const sinceUs = 100e6 - seconds * 1e6
    const slots = Array.from({ length: 500 }, (_, i) => {
      const of = snapshot({ spread: { bootId: 'b1', source: next, sinceUs }, nodeName: `node-${i}` })
      const now = { ...of.now, monotonicUs: 100e6 }
      const preflight = { status: 'False', reason: 'Preflight', message: '@200' } as const
      const before = findSlot({ ...of, now: { ...now, monotonicUs: sinceUs } }, 'preflight', next, preflight, undefined)
      return findSlot({ ...of, now }, phase, next, condition, before).atUs ?? 0
    })
    const atOnce = slots.filter((atUs) => atUs <= 101e6).length
    t.ok(atOnce < 50, `${atOnce} of 500 tell ${condition.reason} within a second after ${seconds} s`)
    t.ok(slots.every((atUs) => atUs <= 130e6))
  }
  t.end()
})

t.test('a pause of the ConfigMap, and its end, are told in the slot; one of this Node is told at once', (t) => {
  const pausedBy = (on: 'Node' | 'ConfigMap' | undefined) =>
    snapshot({
      recordedChannelState: { ...UNCHANGED.recordedChannelState, paused: on && { on, by: `${on} x` } },
      spread: { bootId: 'b1', source: next, sinceUs: 99e6 },
    })
  const paused = { status: 'False', reason: 'Paused', message: 'paused' } as const
  const running = findSlot(pausedBy(undefined), 'settled', good, PROMOTED, undefined)
  const shared = findSlot(pausedBy('ConfigMap'), 'paused', next, paused, running)
  t.ok((shared.atUs ?? 0) >= 100e6)
  t.equal(findSlot(pausedBy('Node'), 'spread', next, paused, running).atUs, undefined)
  const later = { ...pausedBy(undefined), now: { ...snapshot().now, monotonicUs: 300e6 } }
  t.ok((findSlot(later, 'settled', good, { ...PROMOTED, message: 'goes on' }, shared).atUs ?? 0) >= 300e6)
  t.end()
})

t.test('a pause of this Node is told at once where its ConfigMap is paused, and so is a retry under that pause', (t) => {
  const pausedBy = (on: 'Node' | 'ConfigMap' | undefined, fields: Partial<Snapshot> = {}) =>
    snapshot({ recordedChannelState: { ...UNCHANGED.recordedChannelState, paused: on && { on, by: `${on} x` } }, ...fields })
  const paused = { status: 'False', reason: 'Paused', message: 'the ConfigMap' } as const
  const byConfigMap = findSlot(pausedBy('ConfigMap'), 'paused', next, paused, {
    ...findSlot(pausedBy(undefined), 'settled', good, PROMOTED, undefined),
    atUs: undefined,
  })
  const later = { ...snapshot().now, monotonicUs: 500e6 }
  const own = { ...paused, message: 'an operator' }
  const onNode = findSlot(pausedBy('Node', { now: later }), 'paused', next, own, { ...byConfigMap, atUs: undefined })
  t.equal(onNode.atUs, undefined)
  t.equal(findSlot(pausedBy('ConfigMap', { now: later }), 'paused', next, paused, onNode).atUs, undefined, 'its end as well')

  const refused = findSlot(pausedBy(undefined), 'refused', next, REFUSED, undefined)
  const kept = findSlot(pausedBy('ConfigMap'), 'refused', next, REFUSED, refused)
  const preflight = { status: 'False', reason: 'Preflight', message: 'again' } as const
  t.equal(findSlot(pausedBy('ConfigMap', { now: later }), 'preflight', next, preflight, kept).atUs, undefined)
  t.end()
})
