// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { effectsOf } from '../../src/decision/effects-of-step.ts'
import type { TrialBoots } from '../../src/decision/records.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Action } from '../../src/decision/step.ts'
import { describeTrial, isSteady, measureHealth, measureTrial, updateTrialBoots } from '../../src/decision/trial.ts'
import type { Verdict } from '../../src/decision/verdict.ts'
import { LOCAL } from '../../src/subject/config-source.ts'
import { look } from './any-snapshot.ts'
import {
  A,
  assignedTo,
  B,
  BOOT,
  C,
  contentOf,
  HOUR_US,
  health,
  hold,
  INVOCATION,
  inTrial,
  judged,
  keyOf,
  lost,
  MINUTE_US,
  NOW_US,
  POLICY,
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

const KEY = keyOf(B)
const OF_B = { source: B, content: contentOf(B), key: KEY } as const

t.test('trial time runs from the beginning of health', async (t) => {
  t.same(measureTrial(inTrial(), KEY), { elapsedUs: 5 * MINUTE_US, remainingUs: 5 * MINUTE_US, endsAtUs: NOW_US + 5 * MINUTE_US })
})

t.test('a trial runs from the start of the process if that is later: a restart between two looks starts it anew (rule 32)', async (t) => {
  t.match(measureTrial(inTrial(runs(B, { startedAgoUs: MINUTE_US })), KEY), { elapsedUs: MINUTE_US })
})

t.test('a trial is over at its end, and stays so', async (t) => {
  const since = (us: number) => inTrial({ ...runs(B, { startedAgoUs: us }), health: health(B, { healthySinceUs: NOW_US - us }) })
  t.equal(measureTrial(since(POLICY.trialUs - 1), KEY)?.remainingUs, 1)
  t.equal(measureTrial(since(POLICY.trialUs), KEY)?.remainingUs, 0)
  t.equal(measureTrial(since(2 * POLICY.trialUs), KEY)?.remainingUs, 0)
})

t.test('no trial is measured', async (t) => {
  t.equal(measureTrial(inTrial(runs(A)), KEY), undefined, 'where another content runs')
  t.equal(measureTrial(inTrial(runs(B, { kubelet: UPGRADED_KUBELET })), KEY), undefined, 'where another kubelet runs it')
  t.equal(measureTrial(inTrial({ running: { kind: 'none' } }), KEY), undefined, 'where nothing runs')
  t.equal(measureTrial(inTrial({ running: { kind: 'unknown', detail: '' } }), KEY), undefined, 'where nobody knows what runs')
  t.equal(measureTrial(inTrial({ health: undefined }), KEY), undefined, 'without a record')
  t.equal(measureTrial(inTrial({ health: health(A) }), KEY), undefined, 'with a record of something else')
  t.equal(measureTrial(inTrial({ health: health(B, { healthySinceUs: undefined }) }), KEY), undefined, 'without health')
})

t.test('what works is measured on whatever kubelet runs it, and a trial is not', async (t) => {
  const of = { invocationId: INVOCATION, startedAtUs: 0, wasHealthy: true, unhealthySinceUs: undefined, exits: 0 }
  const process = { ...of, key: KEY, healthySinceUs: NOW_US - 3 * MINUTE_US }
  const seen = health(B, { process, healthySinceUs: undefined })
  const earlier = inTrial({ ...runs(B, { kubelet: UPGRADED_KUBELET }), health: seen })
  t.match(measureHealth(earlier, KEY), { elapsedUs: 3 * MINUTE_US })
  t.equal(measureTrial(earlier, KEY), undefined)
  const upgraded = inTrial({ health: { ...seen, subject: keyOf(B, UPGRADED_KUBELET) } })
  t.match(measureHealth(upgraded, KEY), { elapsedUs: 3 * MINUTE_US })
  t.equal(measureTrial(upgraded, KEY), undefined, 'with a record of another kubelet')
  const unread = unit({ isKubeletUnread: true })
  t.equal(measureHealth({ ...earlier, unit: unread }, KEY), undefined, 'nobody knows which kubelet is installed')
  t.match(measureHealth(inTrial({ unit: unread }), KEY), { elapsedUs: 5 * MINUTE_US }, 'unless that is the one which runs')
  t.equal(measureHealth(inTrial({ unit: { kind: 'unknown', detail: '' } }), KEY), undefined)
})

t.test('a trial that does not end for long is said to be so', async (t) => {
  const isEndless = (facts: Partial<Snapshot>) => /does not come to an end/.test(describeTrial(inTrial(facts), OF_B))
  const after = (us: number, facts: Partial<Snapshot> = {}) => isEndless({ health: health(B, { subjectSinceUs: NOW_US - us }), ...facts })
  const long = { policy: { ...POLICY, trialUs: HOUR_US } }
  t.same([after(HOUR_US), after(HOUR_US + 1)], [false, true])
  t.same([after(2 * HOUR_US, long), after(2 * HOUR_US + 1, long)], [false, true], 'twice a trial that is longer')
  t.same(
    [5, 6].map((starts) => isEndless({ health: health(B, { starts }) })),
    [false, true],
    'or after many starts',
  )
  t.equal(isEndless({ health: health(A, { subjectSinceUs: 0 }) }), false, 'that was another config')
  const lately = { subjectSinceUs: 0, startedSinceUs: NOW_US - MINUTE_US }
  t.equal(isEndless({ health: health(B, lately) }), false, 'its restart waited for an hour, or a person stopped kubelet')
  const upgraded = { subjectSinceUs: NOW_US - MINUTE_US, startedSinceUs: 0 }
  t.equal(isEndless({ health: health(B, upgraded) }), false, 'it has another trial on another kubelet')
  const SHORT = 'trial of kube-system/b:kubelet@1'
  for (const facts of [{ health: undefined }, runs(A), ofB(boots(20, 10))]) t.equal(describeTrial(inTrial(facts), OF_B), SHORT)
})

t.test('a kubelet that changed on disk says why no trial is measured', async (t) => {
  t.equal(
    describeTrial(inTrial(runs(B)), { source: B, content: contentOf(B), key: keyOf(B, UPGRADED_KUBELET) }),
    "kube-system/b:kubelet@1 runs, but kubelet's binary, flags or drop-ins have changed since it started: trial at its next start",
  )
})

t.test('a record that nobody has added to is no health: what was not looked at is not known', async (t) => {
  const stale = health(B, { healthySinceUs: NOW_US - 5 * MINUTE_US, lastSampleUs: NOW_US - POLICY.toleranceUs - 1 })
  t.equal(measureTrial(inTrial({ health: stale }), KEY), undefined, 'the last look is too long ago')
  t.ok(measureTrial(inTrial({ health: { ...stale, lastSampleUs: stale.lastSampleUs + 1 } }), KEY), 'and a moment before it was not')
  t.equal(measureTrial(inTrial({ health: health(B, { bootId: 'boot-0' }) }), KEY), undefined, 'another boot')
})

t.test('isSteady: as long as an illness would be tolerated, or a whole trial where that is shorter', async (t) => {
  const healthyFor = (us: number, trialUs = POLICY.trialUs) =>
    isSteady(inTrial({ ...runs(B), health: health(B, { healthySinceUs: NOW_US - us }), policy: { ...POLICY, trialUs } }), KEY)
  t.notOk(healthyFor(POLICY.toleranceUs - 1))
  t.ok(healthyFor(POLICY.toleranceUs))
  t.ok(healthyFor(10 * SECOND_US, 10 * SECOND_US))
})

const NOW_MS = snapshot().now.wallMs
const THIS_BOOT = { bootId: BOOT, atWallMs: NOW_MS }
const PAUSED = { requests: { hold: 'paused', rollback: undefined, retry: false } } as const

/** The trial of B began so many minutes ago, and the node has been rebooted at the other times. */
type TrialBoot = TrialBoots['boots'][number]

function boots(...minutesAgo: readonly number[]): TrialBoot[] {
  return minutesAgo.map((minutes) => (minutes === 0 ? THIS_BOOT : bootAgo(minutes)))
}

function bootAgo(minutes: number): TrialBoot {
  return { bootId: `boot-${minutes}-ago`, atWallMs: NOW_MS - minutes * 60e3 }
}

function ofB(recorded: readonly TrialBoot[]): { trialBoots: TrialBoots } {
  return { trialBoots: { content: contentOf(B), boots: recorded } }
}

t.test('each boot in which a config is on trial is written down once', async (t) => {
  const first = { kind: 'record-boot', ...ofB([THIS_BOOT]) }
  t.same(nextStep(inTrial({ trialBoots: undefined })), first, 'that in which it was activated')
  const down = { ...runsNothing('auto-restart'), health: health(B, { started: true }) }
  t.same(nextStep(inTrial({ trialBoots: undefined, ...down })), first, 'also where its process is gone')
  t.same(nextStep(inTrial(ofB(boots(20)))), { kind: 'record-boot', ...ofB(boots(20, 0)) }, 'beside those before')
  t.match(nextStep(inTrial(ofB(boots(20, 0)))), { kind: 'wait', phase: 'in-trial' })
  const ofA = inTrial({ trialBoots: { content: contentOf(A), boots: boots(5, 10, 15) } })
  t.same(nextStep(ofA), first, 'those of another config say nothing of this one')
  const upgraded = { ...ofB(boots(20, 10)), ...runs(B, { kubelet: UPGRADED_KUBELET, unit: { kubeletIdentity: UPGRADED_KUBELET } }) }
  t.match(nextStep(inTrial(upgraded)), { kind: 'record-boot', ...ofB(boots(20, 10, 0)) }, 'whatever kubelet it is on')
  const many = Array.from({ length: 20 }, (_, index) => bootAgo(100 - index))
  const kept = nextStep(inTrial(ofB(many)))
  t.match(kept, { trialBoots: { boots: [many[0], ...many.slice(-9), THIS_BOOT] } }, 'of many, the first and the latest')
})

t.test('nothing is written down of what is not on trial', async (t) => {
  const none = { trialBoots: undefined }
  const idle = { ...runsNothing('stopped'), health: health(B, { started: false }) }
  t.match(nextStep(inTrial({ ...none, ...idle })), { kind: 'wait' }, 'kubelet was not started with it')
  const earlier = { ...idle, health: health(B, { started: true, bootId: 'boot-0' }) }
  t.match(nextStep(inTrial({ ...none, ...earlier })), { kind: 'wait' }, 'nor in this boot')
  t.match(nextStep(snapshot(none)), { kind: 'wait', phase: 'settled' }, 'what was promoted')
  t.match(nextStep(inTrial({ ...none, proven: keyOf(B), lastKnownGood: hold(B) })), { kind: 'wait' }, 'what has passed')
  const upgraded = { ...none, lastKnownGood: hold(B), proven: keyOf(B, UPGRADED_KUBELET) }
  t.match(nextStep(inTrial(upgraded)), { kind: 'wait', phase: 'in-trial' }, 'what was promoted with another kubelet')
  t.match(nextStep(inTrial({ ...none, previous: hold(B) })), { kind: 'wait' }, 'what was promoted before')
  const requested = inTrial({ ...none, ...runs(A), health: health(B, { started: true }) })
  t.not(nextStep(requested).kind, 'record-boot', 'a restart into it that systemd has not done')
  const left = { ...inTrial(none), ...wants('local'), ...assignedTo('local'), lastKnownGood: hold('local'), previous: hold('local') }
  t.match(nextStep({ ...left, proven: undefined }), { kind: 'preflight', source: 'local' }, 'what is being left')
  const unread = inTrial({ ...ofB(boots(20)), nextStart: { kind: 'known', held: lost(B) } })
  t.not(nextStep(unread).kind, 'record-boot', 'what cannot be read')
  t.equal(updateTrialBoots(inTrial({ ...none, ...judged(verdict(B, 'confirmed')) }), OF_B), undefined, 'what has failed for good')
  const ofAnother = inTrial({ ...none, ...runsNothing('stopped'), health: health(A) })
  t.equal(updateTrialBoots(ofAnother, OF_B), undefined, 'what ran before it')
  const local = { source: 'local', content: contentOf('local'), key: keyOf('local') } as const
  const onLocal = inTrial({ ...none, ...startsWith('local'), ...runs('local'), previous: hold(A) })
  t.equal(updateTrialBoots(onLocal, local), undefined, 'local')
})

t.test('a config is left when the node was rebooted three times within an hour in its trial', async (t) => {
  const failed = { reason: 'reboots', detail: 'the node was rebooted 3 times in its trial', damage: 'transient', doubtful: true }
  const rebooted = inTrial(ofB(boots(300, 25, 10, 0)))
  t.match(nextStep(rebooted), { kind: 'condemn', verdict: { key: keyOf(B), state: 'provisional', ...failed }, next: A })
  t.match(nextStep({ ...rebooted, ...runsNothing('auto-restart') }), { kind: 'condemn', verdict: failed }, 'whether kubelet runs or not')
  const twice = nextStep(inTrial(ofB(boots(20, 10, 0))))
  t.match(
    twice,
    { kind: 'wait', phase: 'in-trial', detail: /\(the node was rebooted 2 times in it\)$/ },
    'the first boot has cut nothing short',
  )
  t.match(nextStep(inTrial(ofB(boots(80, 70, 10, 0)))), { kind: 'wait' }, 'they are too far apart')
  const long = { policy: { ...POLICY, trialUs: HOUR_US } }
  t.match(nextStep(inTrial({ ...long, ...ofB(boots(118, 80, 40, 0)) })), { kind: 'condemn' }, 'but not for a trial that long')
  t.match(nextStep(inTrial({ ...long, ...ofB(boots(260, 240, 40, 0)) })), { kind: 'condemn' }, 'in which kubelet has to start, too')
})

t.test('nothing is left that was promoted here, or that is local', async (t) => {
  const rebooted = inTrial(ofB(boots(50, 40, 25, 0)))
  const upgraded = { ...rebooted, lastKnownGood: hold(B), proven: keyOf(B, UPGRADED_KUBELET) }
  t.match(nextStep(upgraded), { kind: 'wait', phase: 'in-trial' })
  const local = { ...startsWith('local'), ...runs('local'), trialBoots: { content: contentOf('local'), boots: boots(50, 40, 25, 0) } }
  t.not(nextStep(snapshot(local)).kind, 'condemn')
})

t.test('a trial that another config has interrupted begins anew', async (t) => {
  const back = snapshot({ ...runs(A), ...ofB(boots(20, 10)) })
  t.same(nextStep(back), { kind: 'record-boot', trialBoots: undefined })
  t.match(nextStep({ ...back, trialBoots: undefined }), { kind: 'wait', phase: 'settled' })
})

t.test('what runs for a moment in the place of the assigned config interrupts nothing', async (t) => {
  const rebooted = ofB(boots(20, 10))
  const rewritten = { ...wants(B), ...assignedTo(B), ...startsWith('local'), ...runs('local'), health: health('local') }
  const checked = snapshot({ ...rewritten, preflightPending: new Set([keyOf(B)]), ...rebooted })
  t.match(nextStep(checked), { kind: 'wait', phase: 'preflight' }, 'a file that is written at each boot')
  const refused = snapshot({ ...wants(B), ...assignedTo(B), ...judged(verdict(B, 'refused')), ...rebooted })
  t.match(nextStep(refused), { kind: 'wait', phase: 'refused' }, 'a fallback while a booting node refuses it')
  const lostRecord = snapshot({ assigned: { kind: 'damaged', detail: '' }, assignedContent: undefined, ...rebooted })
  t.not(nextStep(lostRecord).kind, 'record-boot', 'while it is not known what is assigned')
})

t.test('a boot in a pause is not charged, then or later', async (t) => {
  const before = boots(40, 25, 10)
  const paused = inTrial({ ...ofB(before), ...PAUSED })
  const inPause = [...before, { ...THIS_BOOT, paused: true }]
  t.same(nextStep(paused), { kind: 'record-boot', ...ofB(inPause) })
  t.match(nextStep(inTrial({ ...ofB(inPause), ...PAUSED })), { kind: 'wait', phase: 'in-trial' })
  t.match(nextStep(inTrial(ofB(inPause))), { kind: 'wait', phase: 'in-trial' }, 'when the pause has ended')
  t.match(nextStep(inTrial({ ...ofB(boots(40, 25, 10, 0)), ...PAUSED })), { kind: 'wait' }, 'nor does a pause condemn')
})

t.test('what was left for that and is tried again is left after two more reboots, since one may be planned', async (t) => {
  const before = verdict(B, 'provisional', { reason: 'reboots', doubtful: true, retrials: 1, suspended: true })
  const suspendedVerdicts = new Map([[keyOf(B), before]])
  t.match(nextStep(inTrial({ ...ofB(boots(10, 0)), suspendedVerdicts })), { kind: 'wait' })
  t.match(nextStep(inTrial({ ...ofB(boots(20, 10, 0)), suspendedVerdicts })), {
    kind: 'condemn',
    verdict: { reason: 'reboots', detail: 'the node was rebooted 2 times in its trial', doubtful: true, retrials: 1 },
  })
  const asAnother = { ...before, key: keyOf(B, UPGRADED_KUBELET), anyKubelet: true }
  const varying = inTrial({ ...ofB(boots(20, 10, 0)), suspendedVerdicts: new Map([[asAnother.key, asAnother]]) })
  t.match(nextStep(varying), { kind: 'condemn', verdict: { key: asAnother.key, retrials: 1 } }, 'as whatever kubelet')
  const ill = new Map([[keyOf(B), { ...before, reason: 'ill-health' as const }]])
  t.match(nextStep(inTrial({ ...ofB(boots(20, 10, 0)), suspendedVerdicts: ill })), { kind: 'wait' }, 'but not what failed otherwise')
})

/** B was left for its reboots; A, last-known-good, has been healthy since. */
function fallenBack(minutes: number, facts: Partial<Parameters<typeof verdict>[2]> = {}): Snapshot {
  const left = verdict(B, 'provisional', { reason: 'reboots', doubtful: true, atWallMs: NOW_MS - minutes * 60e3, bootId: BOOT, ...facts })
  const sinceUs = snapshot().now.monotonicUs - minutes * MINUTE_US
  return snapshot({
    ...judged(left),
    ...wants(B),
    ...assignedTo(B),
    ...runs(A, { startedAgoUs: minutes * MINUTE_US }),
    health: health(A, { healthySinceUs: sinceUs, subjectSinceUs: sinceUs }),
  })
}

t.test('it is tried again once the fallback has been healthy for a while', async (t) => {
  t.match(nextStep(fallenBack(11)), { kind: 'retry-failed', verdict: { reason: 'reboots' }, number: 1 })
})

t.test('its verdict is confirmed by a whole trial of the fallback, which may reset the node as well', async (t) => {
  t.match(nextStep(fallenBack(2, { retrials: 3 })), { kind: 'wait', phase: 'fallen-back' })
  const tried = fallenBack(11, { retrials: 3 })
  t.match(nextStep(tried), { kind: 'confirm' })
  const health = tried.health && { ...tried.health, startedByOthers: true }
  t.match(nextStep({ ...tried, health }), { kind: 'confirm' }, 'also where the boot started it')
  t.match(nextStep(fallenBack(11, { retrials: 3, bootId: 'boot-0' })), { kind: 'confirm' }, 'or where that was in another boot')
})

t.test('a node on which everything failed does not rest on it, though kubelet is healthy with it', async (t) => {
  const others = [verdict(A, 'provisional'), verdict('local', 'provisional')]
  const healthySinceUs = snapshot().now.monotonicUs - 5 * MINUTE_US
  const process = { key: keyOf(B), invocationId: INVOCATION, startedAtUs: healthySinceUs, wasHealthy: true, healthySinceUs }
  const well = { health: health(B, { process: { ...process, unhealthySinceUs: undefined, exits: 0 } }) }
  const left = (facts: Partial<Verdict>) => inTrial({ ...well, ...judged(...others, verdict(B, 'provisional', facts)) })
  t.match(nextStep(left({ reason: 'reboots' })), { kind: 'activate', target: A })
  t.match(nextStep(left({ resetsNode: true })), { kind: 'activate', target: A }, 'nor if it failed in another way since')
  t.match(nextStep(left({})), { kind: 'forgive' }, 'unlike on one that kubelet is well with again')
  const beforeLocal = { left: [hold(B)], ...wants(C), ...assignedTo(C), lastKnownGood: LOCAL, previous: LOCAL }
  const all = judged(verdict(C, 'provisional'), verdict('local', 'provisional'), verdict(B, 'provisional', { reason: 'reboots' }))
  t.match(nextStep(inTrial({ ...beforeLocal, ...all })), { kind: 'activate', target: 'local' }, 'also where a return to local left it')
})

t.test('a node on which everything failed leaves what it resets with, though that had only crashed before', async (t) => {
  const wanted = { left: [hold(B)], ...wants(C), ...assignedTo(C), lastKnownGood: LOCAL, previous: LOCAL }
  const failed = verdict(B, 'provisional', { retrials: 2, acquitted: true })
  const young = {
    ...runs(B, { startedAgoUs: 20 * SECOND_US }),
    health: health(B, { healthySinceUs: NOW_US, subjectSinceUs: NOW_US - 20 * SECOND_US }),
  }
  const rests = { ...wanted, ...young, ...judged(verdict(C, 'provisional'), verdict('local', 'provisional'), failed) }
  t.same(nextStep(inTrial({ ...rests, ...ofB(boots(40, 25)) })), { kind: 'record-boot', ...ofB(boots(40, 25, 0)) })
  t.match(nextStep(inTrial({ ...rests, ...ofB(boots(40, 25, 0)) })), { kind: 'wait', phase: 'node-at-fault' }, 'not for one reboot more')
  const rebooted = inTrial({ ...rests, ...ofB(boots(50, 40, 25, 0)) })
  const step = nextStep(rebooted)
  t.match(step, {
    kind: 'condemn',
    verdict: { key: keyOf(B), state: 'provisional', reason: 'reboots', resetsNode: true, retrials: 2, acquitted: true },
    requested: false,
  })
  if (step.kind === 'wait') return
  t.match(nextStep(look(rebooted, step, () => false)), { kind: 'activate', target: 'local' })
})

t.test('boots are forgotten with the trial, and where all is forgiven', async (t) => {
  const rebooted = inTrial(ofB(boots(50, 40, 25, 0)))
  const effects = (step: Action, of: Snapshot = rebooted) => effectsOf(step, of)
  const forgets = (step: Action, of?: Snapshot) =>
    effects(step, of).some((effect) => effect.kind === 'put' && effect.record === 'trial-boots' && effect.value === undefined)
  const condemn = nextStep(rebooted) as Action
  const kinds = effects(condemn).map((effect) => (effect.kind === 'put' ? effect.record : effect.kind))
  t.ok(forgets(condemn))
  t.ok(kinds.indexOf('write-verdict') < kinds.indexOf('trial-boots'), 'the verdict is in force, even on a disk that cannot be written')
  const left = verdict(B, 'provisional', { reason: 'reboots' })
  t.ok(forgets({ kind: 'prove', key: keyOf(B) }))
  t.ok(forgets({ kind: 'retry-failed', verdict: left, number: 1, of: 3 }), 'what is tried again starts at zero')
  t.ok(forgets({ kind: 'forgive', drop: [], requested: true, why: '' }))
  t.ok(forgets({ kind: 'reset-to-local', from: B, shared: false }))
  t.notOk(forgets({ kind: 'prove', key: keyOf(B) }, { ...rebooted, trialBoots: undefined }), 'where there are any')
  const ofAnother = { ...rebooted, trialBoots: { content: contentOf(A), boots: boots(5) } }
  t.notOk(forgets(condemn, ofAnother), 'and not those of another config')
})
