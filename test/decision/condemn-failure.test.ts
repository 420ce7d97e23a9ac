// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { asCandidate, makeVerdict, mayTryAgain } from '../../src/decision/condemn-failure.ts'
import type { RestartRecord } from '../../src/decision/records.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Acceptance, ConfigFailure, Verdict } from '../../src/decision/verdict.ts'
import type { HealthRecord } from '../../src/health/fold.ts'
import { type ConfigMapSource, describeSource } from '../../src/subject/config-source.ts'
import { STARTED_US, serving, snapshotOf } from '../evidence/samples.ts'
import { look } from './any-snapshot.ts'
import {
  A,
  accepts,
  assignedTo,
  B,
  BOOT,
  C,
  contentOf,
  crashing,
  decide,
  HOUR_US,
  health,
  hold,
  INVOCATION,
  inTrial,
  judged,
  keyOf,
  LOCAL_EVERYWHERE,
  lost,
  MINUTE_US,
  NOW_US,
  POLICY,
  READY_FOR_B,
  restartTo,
  runs,
  runsNothing,
  SECOND_US,
  snapshot,
  startsWith,
  UPGRADED_KUBELET,
  unit,
  verdict,
  wants,
} from './snapshots.ts'

t.test('what fails while the next one waits for a drained node, or for its judge, is rolled back', async (t) => {
  const failing = { ...crashing(A), ...startsWith(A), ...assignedTo(B), ...wants(B), lastKnownGood: hold('local'), proven: undefined }
  const undrained = { ...failing, accepted: new Map([[keyOf(B), { drain: ['cgroupDriver'] }]]) }
  t.match(decide(undrained), { kind: 'condemn', verdict: { source: A, state: 'provisional' } })
  t.match(decide({ ...undrained, ...judged(verdict(A, 'provisional')) }), { kind: 'activate', target: 'local' })
  t.match(decide({ ...failing, accepted: new Map(), preflightPending: new Set([keyOf(B)]) }), { kind: 'condemn', verdict: { source: A } })
  t.match(decide({ ...undrained, drained: true }), { kind: 'activate', target: B }, 'once it is drained, what is wanted takes its place')
})

/** Often enough to end its trial. */
function rebootedWith(source: ConfigMapSource): Pick<Snapshot, 'trialBoots'> {
  const boots = [50, 40, 25, 0].map((minutesAgo) => ({
    bootId: minutesAgo === 0 ? BOOT : `the boot ${minutesAgo} minutes ago`,
    atWallMs: snapshot().now.wallMs - minutesAgo * 60_000,
  }))
  return { trialBoots: { content: contentOf(source), boots } }
}

t.test('a config that fails while its successor waits gives way to what does not wait', async (t) => {
  const waits = (acceptance: Acceptance, facts: Partial<Snapshot> = {}) =>
    nextStep(inTrial({ ...crashing(B), ...wants(C), ...assignedTo(C), accepted: new Map([[keyOf(C), acceptance]]), ...facts }))
  const drained = { drain: ['cgroupDriver'] }
  t.match(waits(drained), { kind: 'condemn', verdict: { key: keyOf(B) }, next: A })
  const others = judged(verdict(A, 'provisional'), verdict('local', 'provisional'))
  t.match(waits(drained, others), { kind: 'condemn', next: C }, 'or to what waits, where nothing else is left')
  const rebooted = {
    ...runs(B, { startedAgoUs: 20 * SECOND_US }),
    health: health(B, { healthySinceUs: NOW_US - 10 * SECOND_US, subjectSinceUs: NOW_US - 20 * SECOND_US }),
    ...rebootedWith(B),
    exclusives: { kind: 'held', by: 'a pod has CPUs of its own' },
  } as const
  const freed = waits({ drain: [], managers: ['cpuManagerPolicy'] }, rebooted)
  t.match(
    freed,
    { kind: 'condemn', verdict: { key: keyOf(B), reason: 'reboots' }, next: C },
    'no pod has to leave a kubelet that has failed',
  )
})

t.test('what the node is about to leave gets no verdict while everything else has failed', async (t) => {
  const all = [A, B, 'local' as const].map((source) => verdict(source, 'provisional'))
  const runsC = { ...startsWith(C), ...runs(C), health: health(C), ...rebootedWith(C) }
  t.match(nextStep(inTrial({ ...runsC, ...judged(...all) })), { kind: 'activate', target: A })
})

t.test('what has failed as one kubelet after another is left whatever the next kubelet is', async (t) => {
  const { wallMs } = snapshot().now
  const ago = (kubelet: string, hours: number, facts: Partial<Verdict> = {}) =>
    verdict(B, 'provisional', { key: keyOf(B, kubelet), atWallMs: wallMs - hours * 3600e3, ...facts })
  const next = (...before: readonly Verdict[]) => nextStep(inTrial({ ...crashing(B), ...judged(...before) }))
  t.match(next(ago('x', 1), ago('y', 3)), { kind: 'condemn', verdict: { key: keyOf(B), anyKubelet: true } })
  const no = { kind: 'condemn', verdict: { anyKubelet: undefined } }
  t.match(next(ago('x', 1)), no, 'an upgrade')
  t.match(next(ago('x', 1), ago('y', 5)), no, 'upgrades of a day')
  t.match(next(ago('x', 1), ago('y', 1, { state: 'refused' })), no, 'kubelet never ran it')
  t.match(next(ago('x', 1), ago('y', 1, { reason: 'requested' })), no, 'an operator left it')
  t.match(next(ago('x', 1), { ...ago('y', 1), key: keyOf(A, 'y'), source: A }), no, 'another config')
  const again = [ago('x', 1, { suspended: true }), ago('y', 1, { suspended: true })].map((each) => [each.key, each] as const)
  const tried = nextStep(inTrial({ ...crashing(B), suspendedVerdicts: new Map(again) }))
  t.match(tried, { verdict: { anyKubelet: true } }, 'also what is tried again')
  const own = new Map([ago('x', 1), verdict(B, 'provisional', { atWallMs: wallMs })].map((each) => [each.key, each] as const))
  t.match(nextStep(inTrial({ ...crashing(B), suspendedVerdicts: own })), no, 'each kubelet counts once')
})

t.test('a verdict on a checkpoint that is lost is none on another that is lost', async (t) => {
  t.not(asCandidate(lost(A), unit()).key, asCandidate(lost(B), unit()).key)
})

t.test('a failure', async (t) => {
  const ill = (since: number, facts = {}) => health(B, { healthySinceUs: undefined, unhealthySinceUs: NOW_US - since, ...facts })
  const failures: [string, Partial<Snapshot>, Verdict['reason']][] = [
    ['crash loop', crashing(B), 'crash-loop'],
    ['systemd gave it up', { ...runsNothing('failed'), health: ill(SECOND_US) }, 'crash-loop'],
    ['start deadline', { ...runs(B), health: ill(POLICY.startDeadlineUs + 1, { wasHealthy: false }) }, 'start-deadline'],
    ['lost health', { ...runs(B), health: ill(POLICY.toleranceUs + 1) }, 'ill-health'],
  ]
  for (const [what, facts, reason] of failures) {
    t.match(
      nextStep(inTrial(facts)),
      { kind: 'condemn', verdict: { key: keyOf(B), state: 'provisional', reason, source: B }, next: A, requested: false },
      what,
    )
    const promoted = inTrial({ ...facts, ...assignedTo(B), lastKnownGood: hold(B), proven: keyOf(B) })
    const triedAgain = { ...promoted, health: promoted.health && { ...promoted.health, triedAgainUs: NOW_US - 10 * MINUTE_US } }
    t.match(
      nextStep(triedAgain),
      { kind: 'condemn', verdict: { state: 'provisional', doubtful: true }, next: 'local' },
      `${what} of what was promoted, and was tried again`,
    )
    const paused = { requests: { hold: 'paused', rollback: undefined, retry: false } } as const
    t.match(nextStep(inTrial({ ...facts, ...paused })), { kind: 'wait' }, `${what} while paused`)
  }

  t.test('of what was promoted is followed by one more start of it', async (t) => {
    const promoted = (facts: Partial<Snapshot>) => inTrial({ ...facts, lastKnownGood: hold(B), proven: keyOf(B) })
    const hung = promoted({ ...runs(B), health: ill(POLICY.toleranceUs + 1) })
    const step = nextStep(hung)
    t.match(step, {
      kind: 'try-again',
      source: B,
      failure: { reason: 'ill-health', damage: 'transient' },
      record: { target: keyOf(B), exempt: true, fallback: false, failed: false, invocationBefore: INVOCATION },
    })
    if (step.kind === 'wait') return t.fail('it waits')
    const after = look(hung, step, () => false)
    t.equal(nextStep(after).kind, 'wait', 'and not by a second one')
    t.match(nextStep(promoted({ ...runsNothing('failed'), health: ill(SECOND_US) })), { kind: 'try-again', record: { failed: true } })
    const tried = (restartInUs: number | undefined) => {
      const untilUs = restartInUs === undefined ? undefined : NOW_US + restartInUs
      const restartWait = untilUs === undefined ? undefined : { sinceUs: NOW_US, untilUs }
      return nextStep(promoted({ ...crashing(B), ...runsNothing('auto-restart', { nRestarts: 2, restartWait }) }))
    }
    for (const soonUs of [undefined, POLICY.toleranceUs])
      t.match(tried(soonUs), { kind: 'try-again', record: undefined }, 'systemd starts it by itself')
    t.match(tried(POLICY.toleranceUs + 1), { kind: 'try-again', record: { target: keyOf(B) } }, 'but not soon')
    const retrial = {
      suspendedVerdicts: new Map([[keyOf(B), verdict(B, 'provisional', { retrials: 1, suspended: true, doubtful: true })]]),
    }
    t.match(nextStep(promoted({ ...crashing(B), ...retrial })), { kind: 'condemn', verdict: { retrials: 1, doubtful: true } })
  })

  t.test('of what was promoted is not tried once more until kubelet was restarted', async (t) => {
    const hung = inTrial({ ...runs(B), health: ill(POLICY.toleranceUs + 1), lastKnownGood: hold(B), proven: keyOf(B) })
    const step = nextStep(hung)
    if (step.kind !== 'try-again' || step.record === undefined) return t.fail('it is not tried once more')
    const { record } = step
    const tried = { triedAgainUs: NOW_US - MINUTE_US, restartedFrom: INVOCATION, restartDueUntilUs: NOW_US + MINUTE_US }
    const after = (facts: Partial<RestartRecord>, invocationId = INVOCATION): Snapshot => ({
      ...hung,
      ...runs(B, { invocationId }),
      health: ill(POLICY.toleranceUs + 1, { ...tried, invocationId }),
      restarts: [{ ...record, ...facts }],
    })
    t.match(nextStep(after({})), { kind: 'try-again', record: { target: keyOf(B) } }, 'the agent died before it made the request')
    const refused = { outcome: { ok: false, detail: 'systemd does not answer' } }
    t.match(nextStep(after(refused)), { kind: 'try-again' }, 'systemd refused the request')
    t.match(nextStep(after({ outcome: { ok: true, detail: '' } })), { kind: 'condemn' }, 'systemd took the request')
    t.match(nextStep(after(refused, 'invocation-2')), { kind: 'condemn' }, 'systemd refused it, and kubelet was restarted all the same')
    t.match(nextStep(after({ ...refused, target: keyOf(A) })), { kind: 'condemn' }, 'the request was for another config')
    t.match(nextStep(after({ ...refused, bootId: 'boot-0' })), { kind: 'condemn' }, 'the request was made in another boot')
    const again = after(refused)
    t.match(
      nextStep({ ...again, restarts: [record, record, record].map((each) => ({ ...each, ...refused })) }),
      { kind: 'condemn' },
      'at last',
    )
  })

  t.test('that left something behind is no node fault: no other start, and no retrial', async (t) => {
    const before = inTrial({ lastKnownGood: hold(B), proven: keyOf(B) })
    const damage = { reason: 'evidence', detail: 'static pods are gone', damage: 'one-way' } as const
    t.match(makeVerdict(before, { source: B, content: contentOf(B), key: keyOf(B) }, damage), { state: 'confirmed', damage: 'one-way' })
    t.equal(mayTryAgain({ snapshot: before, unit: unit() }, health(B), { key: keyOf(B) }, damage), false)
  })

  t.test('is doubtful where the runtime has excused many exits before', async (t) => {
    const loops = { reason: 'crash-loop', detail: 'kubelet exited 3 times', damage: 'transient' } as const
    const failed = { source: B, content: contentOf(B), key: keyOf(B) }
    const after = (excusedExits: HealthRecord['excusedExits']) =>
      makeVerdict(inTrial({ health: health(B, { excusedExits }) }), failed, loops)
    t.match(after({ count: 60, sinceUs: NOW_US - 20 * MINUTE_US }), { doubtful: true })
    t.notOk(after({ count: 60, sinceUs: NOW_US - MINUTE_US }).doubtful)
    t.notOk(after(undefined).doubtful)
  })

  t.test('is not doubtful since a stranger takes the health port at that moment', async (t) => {
    const healthz = { ok: false, detail: 'uid 65534 has port 10348', isStrangers: true } as const
    const step = nextStep(inTrial({ ...crashing(B), healthz }))
    t.match(step, { kind: 'condemn', verdict: { reason: 'crash-loop', doubtful: undefined } })
  })

  t.test('leads to the fallback without a wait', async (t) => {
    const condemned = inTrial({ ...crashing(B), ...judged(verdict(B, 'provisional')) })
    t.match(nextStep(condemned), { kind: 'activate', target: A, fallback: undefined })
    const activated = { ...condemned, ...startsWith(A), health: health(A, { started: false, lastProcess: health(B).lastProcess }) }
    t.match(nextStep(activated), { kind: 'restart', to: A, record: { fallback: true } })
  })

  t.test('of local where local is assigned, and what ran before is left, is answered by that', async (t) => {
    const returned = { ...LOCAL_EVERYWHERE, ...wants('local'), ...crashing('local'), left: [hold(A)] }
    t.match(decide(returned), { kind: 'condemn', verdict: { key: keyOf('local'), state: 'provisional' }, next: A })
  })

  t.test('with a local that preflight had refused is one, unless kubelet runs something else', async (t) => {
    const refused = judged(verdict('local', 'refused'), verdict(A, 'refused'), verdict(B, 'confirmed'))
    const last = inTrial({ ...startsWith('local'), ...crashing('local'), ...refused })
    t.match(nextStep(last), { kind: 'condemn', verdict: { key: keyOf('local'), state: 'provisional' }, next: undefined })
    // The exits were noticed before the operator reset the node to local.
    const { health: record } = crashing('local')
    const others = { ...LOCAL_EVERYWHERE, ...wants('local'), ...runs(A), health: record, left: [hold(A)], ...refused }
    t.match(decide(others), { kind: 'wait', phase: 'refused' })
  })

  t.test('of what has a verdict already is none, also while nothing can take its place', async (t) => {
    const troubles = [{ step: 'activate', about: describeSource(A), detail: 'disk full', retryAtUs: NOW_US + MINUTE_US }] as const
    for (const known of [verdict('local', 'provisional'), verdict(B, 'refused')]) {
      const stuck = { ...startsWith(known.source), ...crashing(known.source), ...judged(verdict(B, 'confirmed'), known), troubles }
      t.not(nextStep(inTrial(stuck)).kind, 'condemn', known.state)
    }
  })

  t.test('while kubelet on disk could not start with any config is none', async (t) => {
    t.match(nextStep(inTrial({ ...crashing(B), cannotStart: 'libfoo.so is missing' })), { kind: 'wait' })
  })

  t.test('by evidence condemns what runs, also where kubelet was upgraded on disk since it started, and once', async (t) => {
    const refused = snapshotOf({
      before: [serving(403)],
      seen: [
        [5, serving(401)],
        [70, serving(401)],
      ],
    })
    t.match(nextStep(refused), { kind: 'condemn', verdict: { key: keyOf(B), reason: 'evidence', evidence: 'serving' }, next: A })
    const upgraded = keyOf(B, UPGRADED_KUBELET)
    const after = { ...refused, unit: { ...unit(refused.unit as object), kubeletIdentity: UPGRADED_KUBELET } }
    const record = health(B, { ...refused.health, subject: upgraded })
    const seen = { ...after, health: record, accepted: new Map([...refused.accepted, [upgraded, { drain: [] }]]) }
    t.match(nextStep(seen), { kind: 'condemn', verdict: { key: keyOf(B) } }, 'on the kubelet that it runs with')
    t.not(nextStep({ ...seen, ...judged(verdict(B, 'provisional')) }).kind, 'condemn', 'it is known')
    const trouble = { step: 'activate', about: describeSource(B), detail: 'EIO', retryAtUs: NOW_US } as const
    const next = { ...refused, ...startsWith(A), health: health(A), troubles: [trouble] }
    t.match(nextStep(next), { kind: 'condemn', verdict: { key: keyOf(B) }, next: A }, 'also where kubelet starts next with another one')
  })

  t.test('by evidence condemns what runs, also while its successor waits, or the restart into that', async (t) => {
    const seen = ([5, 70] as const).map((at) => [at, serving(401)] as const)
    const story = snapshotOf({ before: [serving(403)], seen, snapshot: { ...wants(C), ...assignedTo(C) } })
    const condemned = { kind: 'condemn', verdict: { key: keyOf(B), reason: 'evidence' }, next: A }
    t.match(nextStep({ ...story, accepted: new Map([[keyOf(C), { drain: ['cgroupDriver'] }]]) }), condemned, 'it is not drained')
    const { health: before } = story
    const lastProcess = before?.lastProcess && { ...before.lastProcess, source: B }
    const process = {
      key: keyOf(B),
      invocationId: INVOCATION,
      startedAtUs: STARTED_US,
      ...{ wasHealthy: true, healthySinceUs: STARTED_US, unhealthySinceUs: undefined, exits: 0 },
    }
    const restarts = Array.from({ length: POLICY.restartsPerHour }, () => restartTo(C, { atUs: STARTED_US }))
    const next = {
      ...story,
      ...startsWith(C),
      ...accepts(C),
      restarts,
      health: health(C, { ...before, subject: keyOf(C), lastProcess, process, started: false }),
      checkpoints: [{ uid: B.uid, resourceVersion: B.resourceVersion, savedAtMs: 0 }],
    }
    t.match(nextStep(next), { ...condemned, next: C }, 'the hourly limit holds it up')
    const harmful = judged(verdict(A, 'confirmed', { damage: 'one-way' }))
    t.not(nextStep({ ...story, ...runsNothing('auto-restart'), ...harmful }).kind, 'condemn', 'but not where nothing runs')
  })

  t.test('by evidence of the process that one more start is to replace is none', async (t) => {
    const seen = ([5, 70] as const).map((at) => [at, serving(401)] as const)
    const story = snapshotOf({ before: [serving(403)], seen, snapshot: { proven: keyOf(B), lastKnownGood: hold(B) } })
    const { evidence } = story
    if (evidence?.baseline === undefined) return t.fail('there is a baseline')
    const ofC = { ...evidence, baseline: { ...evidence.baseline, candidate: keyOf(C) } }
    const failedAlike = verdict(C, 'provisional', { reason: 'evidence', evidence: 'serving' })
    const fallback = { ...story, evidence: ofC, ...wants(C), ...assignedTo(C), ...judged(failedAlike) }
    const step = nextStep(fallback)
    if (step.kind !== 'try-again' || step.record === undefined) return t.fail(`it is not tried once more: ${step.kind}`)
    const { record } = step
    const after = (facts: Partial<RestartRecord>, us = 0): Snapshot => {
      const seen = look(fallback, step, () => false)
      return { ...seen, restarts: [{ ...record, ...facts }], now: { ...seen.now, monotonicUs: seen.now.monotonicUs + us } }
    }
    const taken = { outcome: { ok: true, detail: '' } }
    t.equal(nextStep(after(taken)).kind, 'wait', 'kubelet still stops')
    t.match(nextStep(after(taken, POLICY.startDeadlineUs)), { kind: 'condemn' }, 'but not for ever')
    t.match(nextStep(after({ outcome: { ok: false, detail: 'systemd does not answer' } })), { kind: 'try-again' }, 'systemd refused it')
  })

  t.test('where everything else has failed too leaves nowhere to go', async (t) => {
    const all = judged(verdict(A, 'provisional'), verdict('local', 'provisional'))
    t.match(nextStep(inTrial({ ...crashing(B), ...all })), { kind: 'condemn', verdict: { key: keyOf(B) }, next: undefined })
  })

  t.test('of what is no longer wanted is none while only something else cannot be done', async (t) => {
    const replaced = inTrial({ ...crashing(B), ...wants(C), ...assignedTo(C), ...accepts(A, B, C) })
    const troubles = [
      { step: 'activate', about: describeSource(A) },
      { step: 'prune', about: describeSource(C) },
    ] as const
    for (const trouble of troubles) {
      const other = { ...trouble, detail: 'disk full', retryAtUs: NOW_US + MINUTE_US }
      t.match(nextStep({ ...replaced, troubles: [other] }), { kind: 'activate', target: C }, `${trouble.step} of ${trouble.about}`)
    }
  })

  t.test('of local where local is assigned is the administrator’s', async (t) => {
    t.match(decide({ ...LOCAL_EVERYWHERE, ...wants('local'), ...crashing('local') }), { kind: 'wait' })
  })

  t.test('of what kubelet does not start with is none', async (t) => {
    t.match(decide({ ...READY_FOR_B, ...crashing(B) }), { kind: 'activate', target: B })
  })

  t.test('while the container runtime refuses is none', async (t) => {
    t.match(nextStep(inTrial({ ...crashing(B), runtimeUp: false })), { kind: 'wait' })
  })

  t.test('of a unit that does not take its config from us is none', async (t) => {
    const broken = runsNothing('auto-restart', { wiring: { kind: 'broken', reason: 'overridden', detail: 'another drop-in' } })
    t.match(nextStep(inTrial({ ...crashing(B), ...broken })), { kind: 'wait', phase: 'blocked', detail: 'another drop-in' })
  })

  t.test('of what is no longer wanted, while its successor cannot be had, is one all the same', async (t) => {
    for (const step of ['activate', 'preflight'] as const) {
      const stuck = {
        ...crashing(B),
        ...wants(C),
        ...assignedTo(C),
        troubles: [{ step, about: describeSource(C), detail: 'disk full', retryAtUs: NOW_US + MINUTE_US }],
      }
      const found = nextStep(inTrial({ ...stuck, ...(step === 'activate' ? accepts(A, B, C) : {}) }))
      t.not(found.kind, 'wait', `${step} fails`)
    }
  })

  t.test('leads on to where there is no verdict', async (t) => {
    const lower = { ...crashing(A), proven: undefined, ...wants(B), ...assignedTo(B), ...judged(verdict(B, 'provisional')) }
    t.match(decide({ ...lower, previous: hold(C) }), { kind: 'condemn', verdict: { key: keyOf(A) }, next: C })
    t.match(decide(lower), { kind: 'condemn', next: 'local' })
  })
})

const LOOPS: ConfigFailure = { reason: 'crash-loop', detail: 'kubelet exited 3 times', damage: 'transient' }
const FAILED = { source: B, content: contentOf(B), key: keyOf(B) } as const
const LOCAL = { source: 'local', content: 'local', key: keyOf('local') } as const

const tried = (facts: object) => ({ suspendedVerdicts: new Map([[keyOf(B), verdict(B, 'provisional', { suspended: true, ...facts })]]) })
const judge = (facts: Partial<Snapshot> = {}, failure: Partial<ConfigFailure> = {}, failed: typeof FAILED | typeof LOCAL = FAILED) =>
  makeVerdict(inTrial(facts), failed, { ...LOOPS, ...failure })

t.test('a verdict is doubtful where the config had worked, or something else may be the cause (rule 42)', async (t) => {
  const doubtful: [why: string, facts: Partial<Snapshot>, failure?: Partial<ConfigFailure>][] = [
    ['it passed its trial', { proven: keyOf(B) }],
    ['it is last-known-good', { lastKnownGood: hold(B) }],
    ['it was last-known-good', { previous: hold(B) }],
    ['the runtime does not answer', { health: health(B, { runtimeDownSinceUs: NOW_US - SECOND_US }) }],
    ['it was doubtful before', tried({ doubtful: true })],
    ['the node may be the cause', {}, { doubtful: true }],
  ]
  for (const [why, facts, failure] of doubtful) t.match(judge(facts, failure), { doubtful: true }, why)
  t.equal(judge().doubtful, undefined)
  const silent = { health: health(B, { runtimeDownSinceUs: NOW_US - SECOND_US }) }
  t.equal(judge({ ...silent, changesRuntime: true }).doubtful, undefined, 'it names another runtime than the one that is silent')
  t.equal(judge({ health: undefined }).doubtful, undefined, 'nothing is known of its health')
  t.equal(judge({ proven: keyOf(B), lastKnownGood: hold(B), ...tried({}) }).doubtful, undefined, 'it has been tried again since it worked')
  t.equal(judge({ lastKnownGood: hold('local') }, {}, LOCAL).doubtful, undefined, 'local is never promoted')
})

t.test('a verdict keeps what an earlier try has shown', async (t) => {
  const known = { acquitted: true, recurring: true, anyKubelet: true, retrials: 2 } as const
  t.match(judge(tried(known)), known)
  const none = { acquitted: undefined, recurring: undefined, anyKubelet: undefined, retrials: undefined, evidence: undefined }
  t.match(judge(), none)
  t.match(judge(tried({})), none)
  const refused = judged(verdict('local', 'refused', { former: verdict('local', 'provisional', known) }))
  t.match(judge(refused, {}, LOCAL), known, 'also where local ran in spite of a refusal')
  for (const facts of [{ recurring: true }, { anyKubelet: true }, { evidence: 'lease' }] as const) t.match(judge({}, facts), facts)
  for (const resets of [{ reason: 'reboots' }, { resetsNode: true }] as const) t.match(judge(tried(resets)), { resetsNode: true })
  t.equal(judge(tried({})).resetsNode, undefined)
  t.equal(judge({ ...tried({ reason: 'reboots' }), proven: keyOf(B) }).resetsNode, undefined, 'it has passed a trial without them since')
  const former = verdict(B, 'provisional', { ...known, key: keyOf(B, 'kubelet-0') })
  const before = (facts: Partial<Verdict>) =>
    judge(judged(verdict(B, 'refused', { key: keyOf(B, 'kubelet-0'), former: { ...former, ...facts } })))
  t.match(before({}), known, 'and where another kubelet than the present one refused it')
  t.match(before({ anyKubelet: undefined }), none, 'unless it failed on that one alone')
})

t.test('a verdict on local names the local config that kubelet was started with', async (t) => {
  const returned = { left: [hold(B)], localConfig: 'now', triedLocalConfig: 'then' }
  t.match(judge(returned, {}, LOCAL), { localConfig: 'then' })
  t.match(judge({ ...returned, triedLocalConfig: undefined }, {}, LOCAL), { localConfig: 'now' })
  t.equal(judge({ ...returned, left: [] }, {}, LOCAL).localConfig, undefined, 'no return is under way')
  t.notOk('localConfig' in judge({ ...returned, localConfig: undefined, triedLocalConfig: undefined }, {}, LOCAL), 'nobody could read it')
  t.equal(judge(returned).localConfig, undefined, 'of another config')
})

t.test('what has proved itself is started once more, once a day (rule 25, rule 47)', async (t) => {
  const may = (triedAgoUs: number | undefined, failure: Partial<ConfigFailure> = {}, facts: Partial<Snapshot> = {}) => {
    const record = health(B, { triedAgainUs: triedAgoUs === undefined ? undefined : NOW_US - triedAgoUs })
    const situation = { snapshot: inTrial({ proven: keyOf(B), ...facts }), unit: unit() }
    return mayTryAgain(situation, record, { key: keyOf(B) }, { ...LOOPS, ...failure })
  }
  t.equal(may(undefined), true)
  t.equal(may(undefined, {}, { proven: undefined }), false, 'it has not')
  t.equal(may(undefined, { recurring: true }), false, 'it failed over many starts')
  t.equal(may(23 * HOUR_US), false)
  t.equal(may(25 * HOUR_US), true)
  const refused = restartTo(B, { invocationBefore: INVOCATION, outcome: { ok: false, detail: '' } })
  const others = [restartTo(B), restartTo(B), restartTo(B)]
  t.equal(may(HOUR_US, {}, { restarts: [...others, refused] }), true, 'only requests that systemd refused count')
})
