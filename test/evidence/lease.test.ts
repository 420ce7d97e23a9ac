// SPDX-License-Identifier: Apache-2.0
/** How long a Lease may go without a renewal, and what a write of the agent's own tells of that. */
import t from 'tap'
import type { NoAnswer } from '../../src/evidence/kind.ts'
import type { EvidenceView } from '../../src/evidence/kinds.ts'
import { findSlowness, LEASE, type LeaseAnswer, type LeaseSeen } from '../../src/evidence/lease.ts'
import { MINUTE_US, POLICY } from '../decision/snapshots.ts'
import { momentOf, NO, s, viewOf } from './views.ts'

/** Renewed at 130, by what was seen of it. The start deadline is over at 120. */
const SEEN: LeaseSeen = { resourceVersion: '7', durationSeconds: 40, renewals: 1, sameSinceUs: s(130), lastUs: s(190), problem: '' }

interface Facts {
  readonly lease?: Partial<LeaseSeen>
  readonly writtenAt?: number
  readonly reachableSince?: number
  readonly renewsFrom?: number
  readonly ready?: string
}

function viewWith({ lease, writtenAt, reachableSince = 0, renewsFrom, ready }: Facts): EvidenceView {
  const node = ready === undefined ? undefined : { ready, message: '', readySinceUs: 0, lastUs: 0, newPressure: [], problem: '' }
  const process = {
    reachableSinceUs: s(reachableSince),
    ...(writtenAt !== undefined && { writtenAtUs: s(writtenAt) }),
    lease: lease && { ...SEEN, ...lease },
    node,
  }
  return viewOf(process, { renewsFromUs: renewsFrom === undefined ? undefined : s(renewsFrom) })
}

t.test('a Lease that is not renewed for 1.5 times its duration, and at least for 40 s', async (t) => {
  const judge = (facts: Facts) => LEASE.judge(viewWith(facts))
  const WRITE = { writtenAt: 150 }
  t.match(judge({ lease: {}, ...WRITE }), {
    answer: NO,
    detail: 'kubelet did not renew its Lease for 60 s, while the agent could write to the API server',
    sinceUs: s(130),
  })
  const early = { answer: 'unknown', isDoubtful: true, detail: 'kubelet has not renewed its Lease yet', sinceUs: s(130) }
  t.match(judge({ lease: { lastUs: s(189.9) }, ...WRITE }), early)
  t.match(judge({ lease: { lastUs: s(170), durationSeconds: 10 }, ...WRITE }), { answer: NO })
  t.match(judge({ lease: { lastUs: s(169.9), durationSeconds: 10 }, ...WRITE }), early)
  t.match(judge({ lease: { lastUs: s(280), durationSeconds: 100 }, writtenAt: 200 }), { answer: NO })
  t.match(judge({ lease: { lastUs: s(279.9), durationSeconds: 100 }, writtenAt: 200 }), early)
  t.match(judge({ lease: { provenAtUs: s(7), lastUs: s(189.9) } }), { answer: 'yes', detail: 'kubelet renews its Lease', sinceUs: s(7) })
  t.match(judge({ lease: { provenAtUs: s(7) }, ...WRITE }), { answer: NO }, 'and does no longer')
  t.match(judge({ lease: { sameSinceUs: s(190) } }), { answer: 'unknown', detail: 'not renewed twice yet', isDoubtful: undefined })
})

t.test('a Lease that was never renewed is looked at until the looks tell why', async (t) => {
  const awaits = (lease: Partial<LeaseSeen>, facts: Facts = {}) =>
    LEASE.awaitsLook(viewWith({ lease: { renewals: 0, sameSinceUs: s(130), ...lease }, ...facts }))
  t.equal(awaits({ lastUs: s(130) }), true, 'it was read once')
  t.equal(awaits({ lastUs: s(189.9) }), true)
  t.equal(awaits({ lastUs: s(190) }), false, 'for as long as a no takes')
  t.equal(awaits({ lastUs: s(190) }, { writtenAt: 100 }), false, 'the agent did not write meanwhile')
  t.equal(awaits({ lastUs: s(190) }, { writtenAt: 140 }), true, 'it wrote too early')
  t.equal(awaits({ lastUs: s(190) }, { writtenAt: 171 }), true, 'it wrote a moment ago')
  t.equal(awaits({ lastUs: s(190) }, { writtenAt: 160 }), false, 'which is a no')
  t.equal(awaits({ lastUs: s(400) }, { reachableSince: 400 }), true, 'nobody knows whether the API server was up meanwhile')
  t.equal(awaits({ lastUs: s(119), sameSinceUs: s(10) }), false, 'the start deadline is not over')
  t.equal(awaits({ lastUs: s(130), renewals: 1 }), false, 'it was renewed')
  t.equal(awaits({ lastUs: s(130), problem: '404' }), false, 'there is none')
  t.equal(awaits({ lastUs: s(130) }, { renewsFrom: Number.POSITIVE_INFINITY }), false, 'kubelet is not healthy')
  t.equal(LEASE.awaitsLook(viewWith({})), false, 'it was never read')
})

t.test('the time begins when kubelet has to renew it, and could', async (t) => {
  const since = (facts: Facts) => LEASE.judge(viewWith({ lease: { lastUs: s(400), ...facts.lease }, ...facts })).sinceUs
  t.equal(since({ writtenAt: 300, lease: { sameSinceUs: 0, lastUs: s(400) } }), s(120), 'its start deadline is over')
  t.equal(since({ writtenAt: 300 }), s(130), 'it was renewed')
  t.equal(since({ writtenAt: 300, reachableSince: 200 }), s(200), 'the API server could be reached')
  t.equal(since({ writtenAt: 300, renewsFrom: 210 }), s(210), 'kubelet is healthy without a gap')
  const { reachableSinceUs: _, ...unreached } = viewWith({ lease: {}, writtenAt: 150 }).process
  t.match(
    LEASE.judge({ ...viewWith({}), process: unreached }),
    { answer: 'unknown', detail: 'not renewed twice yet' },
    'the API server is down',
  )
})

t.test('only a write in the midst of that time tells that the API server took writes', async (t) => {
  const judge = (writtenAt: number | undefined, lease: Partial<LeaseSeen> = {}) =>
    LEASE.judge(viewWith({ lease: { lastUs: s(330), ...lease }, ...(writtenAt !== undefined && { writtenAt }) }))
  const OUTAGE = {
    answer: 'unknown',
    isDoubtful: true,
    detail: 'kubelet did not renew its Lease, and the API server may have been down meanwhile',
    sinceUs: s(130),
  }
  const UNWRITTEN = {
    answer: 'unknown',
    isDoubtful: undefined,
    detail: 'kubelet did not renew its Lease, and whether the API server could be written to is not known',
  }
  t.match(judge(undefined), UNWRITTEN)
  t.match(judge(129.9), UNWRITTEN)
  t.match(judge(130), OUTAGE)
  t.match(judge(149.9), OUTAGE)
  t.match(judge(150), { answer: NO })
  t.match(judge(310), { answer: NO })
  t.match(judge(310.1), OUTAGE)
  const long = { durationSeconds: 100 }
  t.match(judge(169.9, long), OUTAGE)
  t.match(judge(170, long), { answer: NO })
  t.match(judge(290, long), { answer: NO })
  t.match(judge(290.1, long), OUTAGE)
})

t.test('a Lease that could not be read', async (t) => {
  t.match(LEASE.judge(viewWith({})), { answer: 'unknown', detail: 'not read yet' })
  t.match(LEASE.judge(viewWith({ lease: { problem: 'no route' }, writtenAt: 150 })), { answer: 'unknown', detail: 'no route' })
})

t.test('a Lease is slow by the measure of node controllers after 40 s', async (t) => {
  const find = (renewedAt: number | undefined, facts: Facts = {}) =>
    findSlowness(viewWith({ ...facts, lease: { renewedUs: renewedAt === undefined ? undefined : s(renewedAt), ...facts.lease } }))
  t.equal(find(150.1), undefined)
  t.equal(find(150), 'slow')
  t.equal(find(0, { lease: { lastUs: s(159.9) } }), undefined, 'not before its start deadline is over')
  t.equal(find(undefined), undefined, 'it does not say when it was renewed')
  t.equal(find(150, { lease: { problem: 'no route' } }), undefined)
  t.equal(findSlowness(viewWith({ writtenAt: 150 })), undefined)
  t.equal(find(140, { writtenAt: 159.9 }), 'slow')
  t.equal(find(140, { writtenAt: 160 }), 'silent', 'although the agent could write meanwhile')
  t.equal(find(140, { writtenAt: 170 }), 'silent')
  t.equal(find(140, { writtenAt: 170.1 }), 'slow')
  t.equal(find(140, { writtenAt: 165, lease: { durationSeconds: 600 } }), 'silent', 'whatever its duration')
})

t.test('the agent writes once a Lease has been silent for half of its time, and once only', async (t) => {
  const writes = (now: number, facts: Facts) => LEASE.needsWrite(viewWith(facts), s(now))
  t.equal(writes(190, { lease: { lastUs: s(149.9) } }), false, 'the next look may find it renewed')
  t.equal(writes(190, { lease: { lastUs: s(150) } }), true)
  t.equal(writes(190, { lease: { lastUs: s(150) }, writtenAt: 149.9 }), true, 'a write of before tells nothing')
  t.equal(writes(190, { lease: { lastUs: s(150) }, writtenAt: 150 }), false)
  t.equal(writes(190, { lease: { lastUs: s(169.9), durationSeconds: 100 } }), false)
  t.equal(writes(190, { lease: { lastUs: s(170), durationSeconds: 100 } }), true)
  const never = { renewals: 0, lastUs: s(140) }
  t.equal(writes(164.9, { lease: never }), false)
  t.equal(writes(165, { lease: never }), true, 'one that was never renewed is in doubt before the next look')
  t.equal(writes(165, { lease: never, writtenAt: 150 }), false)
  t.equal(writes(165, { lease: { ...never, renewals: 1 } }), false)
  t.equal(writes(999, { lease: { lastUs: s(400), problem: 'no route' } }), false)
  t.equal(writes(999, { lease: { lastUs: s(400), resourceVersion: undefined } }), false, 'no Lease was ever seen')
  t.equal(writes(999, {}), false)
})

t.test('where the Node is Unknown, the agent writes by when the Lease says that it was renewed', async (t) => {
  const writes = (renewedAt: number | undefined, facts: Facts = {}) => {
    const renewedUs = renewedAt === undefined ? undefined : s(renewedAt)
    return LEASE.needsWrite(viewWith({ ready: 'Unknown', ...facts, lease: { sameSinceUs: s(190), renewedUs, ...facts.lease } }), s(190))
  }
  t.equal(writes(170), true)
  t.equal(writes(170.1), false)
  t.equal(writes(150, { writtenAt: 169.9 }), true)
  t.equal(writes(150, { writtenAt: 170 }), false)
  t.equal(writes(150, { ready: 'True' }), false)
  t.equal(LEASE.needsWrite(viewWith({ lease: { sameSinceUs: s(190), renewedUs: s(150) } }), s(190)), false, 'nothing is known of the Node')
  const long = { lease: { sameSinceUs: s(160), durationSeconds: 100 } }
  t.equal(writes(undefined, long), false, 'it does not say when')
  t.equal(writes(160, long), true)
})

t.test('while the Node is Unknown, the Lease is read as often as a node controller waits for it', async (t) => {
  const gap = (facts: Facts, trialUs = POLICY.trialUs) => {
    const view = viewWith(facts)
    return LEASE.gapUs({ ...view, policy: { ...view.policy, trialUs } })
  }
  const PROVEN = { lastUs: s(130), provenAtUs: s(7), durationSeconds: 600 }
  t.equal(gap({ lease: PROVEN, ready: 'Unknown' }), s(40))
  t.equal(gap({ lease: PROVEN, ready: 'Unknown' }, s(100)), s(25))
  t.equal(gap({ lease: PROVEN, ready: 'False' }), 5 * MINUTE_US)
})

const FOUND: LeaseAnswer = { kind: 'found', resourceVersion: '1', durationSeconds: 40 }
/** The wall clock is 1,000 s ahead of the monotonic one. */
function fold(before: LeaseSeen | undefined, answer: LeaseAnswer | NoAnswer, at: number): LeaseSeen | undefined {
  return LEASE.fold(answer, momentOf(at, { lease: before }, undefined, { wallMs: 1000 * (at + 1000) })).lease
}
const read = (before: LeaseSeen | undefined, resourceVersion: string, at: number, renewedAt?: number) =>
  fold(before, { ...FOUND, resourceVersion, ...(renewedAt !== undefined && { renewedAtMs: 1000 * (renewedAt + 1000) }) }, at)

t.test('each look that finds another version of the Lease has seen a renewal', async (t) => {
  const first = read(undefined, '1', 10)
  t.match(first, { renewals: 0, sameSinceUs: s(10), lastUs: s(10), provenAtUs: undefined, problem: '' })
  t.match(read(first, '1', 20), { renewals: 0, sameSinceUs: s(10), lastUs: s(20) })
  const second = read(first, '2', 20)
  t.match(second, { renewals: 1, sameSinceUs: s(20), provenAtUs: undefined })
  const third = read(second, '3', 30)
  t.match(third, { renewals: 2, sameSinceUs: s(30), provenAtUs: s(30) })
  t.match(read(third, '4', 40), { renewals: 2, sameSinceUs: s(40), provenAtUs: s(30) })
})

t.test('when the Lease says that it was renewed', async (t) => {
  const first = read(undefined, '1', 100, 60.1)
  t.match(first, { renewedUs: s(60.1), slowUs: undefined })
  const slow = read(first, '1', 101, 61)
  t.match(slow, { renewedUs: s(61), slowUs: s(101) })
  t.match(read(slow, '2', 120, 119), { renewedUs: s(119), slowUs: s(101) }, 'it was once')
  t.match(read(slow, '2', 120), { renewedUs: undefined, slowUs: s(101) })
})

t.test('an answer without a Lease keeps what was seen, and one that was not asked changes nothing', async (t) => {
  const NOT_FOUND = { kind: 'refused', detail: '404 NotFound' } as const
  t.strictSame(fold(undefined, NOT_FOUND, 10), { durationSeconds: 40, renewals: 0, lastUs: s(10), problem: '404 NotFound' })
  t.strictSame(fold(SEEN, NOT_FOUND, 10), { ...SEEN, lastUs: s(10), problem: '404 NotFound' })
  t.equal(fold(SEEN, { kind: 'not-asked', detail: 'nothing to ask' }, 10), SEEN)
  t.equal(fold(undefined, { kind: 'not-asked', detail: 'nothing to ask' }, 10), undefined)
})

t.test('a Lease shows whether kubelet has reached the API server, once it was seen', async (t) => {
  const contact = (facts: Facts) => LEASE.contact(viewWith(facts).process)
  t.same(contact({}), { isAsked: false, isKnowable: false, isMade: false })
  t.same(contact({ lease: {} }), { isAsked: true, isKnowable: true, isMade: false })
  t.same(contact({ lease: { resourceVersion: undefined } }), { isAsked: true, isKnowable: false, isMade: false })
})
