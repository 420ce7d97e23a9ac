// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import type { RestartRecord } from '../../src/decision/records.ts'
import { listCounted } from '../../src/decision/restart-limit.ts'
import { awaitsStart, decideRestart, keepRestarts } from '../../src/decision/restarts.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Target } from '../../src/decision/target.ts'
import type { Verdict } from '../../src/decision/verdict.ts'
import { RUNTIME_EXCUSE_US } from '../../src/health/excuse.ts'
import type { HealthRecord } from '../../src/health/fold.ts'
import type { ProcessHealth } from '../../src/health/process.ts'
import { LOCAL_CONTENT } from '../../src/subject/config-source.ts'
import { trialKey } from '../../src/subject/trial-key.ts'
import type { KnownUnit, UnitActivity } from '../../src/subject/unit-state.ts'
import {
  A,
  assignedTo,
  B,
  BOOT,
  contentOf,
  GOOD,
  HOUR_US,
  health,
  hold,
  INVOCATION,
  judged,
  keyOf,
  MINUTE_US,
  NOW_US,
  POLICY,
  restartTo,
  runs,
  runsNothing,
  SECOND_US,
  snapshot,
  startsWith,
  UPGRADED_KUBELET,
  unit,
  verdict,
} from './snapshots.ts'

/** B is what kubelet is to run; it was activated just now. */
const TARGET: Target = {
  source: B,
  content: contentOf(B),
  key: keyOf(B),
  verdict: undefined,
  fallback: false,
  goesOn: false,
  atFault: false,
}
const LOCAL_TARGET: Target = { ...TARGET, source: 'local', content: 'local', key: keyOf('local') }
const JUST_NOW = { started: false, subjectSinceUs: NOW_US, healthySinceUs: undefined }

function decide(facts: Partial<Snapshot>, target: Target = TARGET) {
  const seen = snapshot({ ...startsWith(B), health: health(B, { ...JUST_NOW, lastProcess: health(A).lastProcess }), ...facts })
  return decideRestart(seen, seen.unit as KnownUnit, target)
}

t.test('what runs differs: restart, and say so first', async (t) => {
  t.same(decide(runs(A)), {
    kind: 'restart',
    record: {
      bootId: BOOT,
      atUs: NOW_US,
      target: TARGET.key,
      fallback: false,
      invocationBefore: INVOCATION,
      failed: false,
      outcome: undefined,
    },
  })
  t.match(decide(runsNothing('auto-restart')), { kind: 'restart' }, 'also where nothing runs')
  t.match(decide(runsNothing('failed')), { kind: 'restart', record: { failed: true } }, 'and where systemd gave up')
})

t.test('what runs is the same, whatever its version or kubelet: no restart', async (t) => {
  t.match(decide(runs(B)), { kind: 'not-due' })
  t.match(decide(runs(B, { kubelet: 'kubelet-v2' })), { kind: 'not-due' })
})

t.test('a person stopped it: no restart', async (t) => {
  for (const activity of ['stopped', 'not-found'] as const) t.match(decide(runsNothing(activity)), { kind: 'stays-down' })
})

t.test('an agent that died between reset and start goes on', async (t) => {
  const half = restartTo(B, { failed: true, outcome: undefined, invocationBefore: INVOCATION, atUs: NOW_US - SECOND_US })
  for (const source of [A, B]) {
    const just = restartTo(source, { ...half, target: keyOf(source), atUs: NOW_US - SECOND_US + 1 })
    const cutShort = { kind: 'under-way', untilUs: NOW_US + 1, detail: 'kubelet is being restarted' }
    t.same(decide({ ...runsNothing('stopped'), restarts: [just] }), cutShort, 'in a moment')
  }
  const known = { health: health(B, { ...JUST_NOW, subjectSinceUs: NOW_US - MINUTE_US }) }
  t.match(decide({ ...known, ...runsNothing('failed'), restarts: [half] }), { kind: 'under-way' }, 'a unit that looks failed is none')
  for (const facts of [{}, known])
    t.match(decide({ ...facts, ...runsNothing('stopped'), restarts: [half] }), { kind: 'restart', record: { failed: true } })
  for (const other of [{ outcome: { ok: true, detail: '' } }, { failed: false }, { invocationBefore: 'another' }, { bootId: 'boot-0' }]) {
    t.match(decide({ ...runsNothing('stopped'), restarts: [{ ...half, ...other }] }), { kind: 'stays-down' }, JSON.stringify(other))
  }
})

t.test('a start that systemd refused after the reset is requested again', async (t) => {
  const REFUSED = { failed: true, outcome: { ok: false, detail: 'connection timed out' }, invocationBefore: INVOCATION }
  const half = { ...runsNothing('stopped'), restarts: [restartTo(B, { ...REFUSED, atUs: NOW_US })] }
  t.match(decide(half), { kind: 'under-way', detail: 'connection timed out' }, 'in a while')
  const later = { ...half, restarts: [restartTo(B, { ...REFUSED, atUs: NOW_US - 2 * MINUTE_US })] }
  t.match(decide(later), { kind: 'restart', record: { failed: true } })
  const another = { ...half, restarts: [restartTo(A, { ...REFUSED, atUs: NOW_US - SECOND_US })] }
  t.match(decide(another), { kind: 'restart' }, 'and at once with another config')
  const withdrawn = { ...another, ...assignedTo('local'), ...startsWith('local'), health: health('local') }
  t.match(decide(withdrawn, LOCAL_TARGET), { kind: 'restart' }, 'or with local, although local ran last')
})

t.test('kubelet is on its way: look again soon', async (t) => {
  for (const [activity, detail] of [
    ['starting', 'kubelet is starting'],
    ['stopping', 'kubelet is stopping'],
    ['queued', 'systemd has queued a start of kubelet'],
  ] as const)
    t.same(decide(runsNothing(activity)), { kind: 'under-way', untilUs: NOW_US + SECOND_US, detail }, activity)
  const unknown = decide({ ...runs(A), running: { kind: 'unknown', detail: '' } })
  t.match(unknown, { kind: 'under-way', detail: 'kubelet has just been started' }, 'not yet kubelet')
})

t.test('a start that does not come to an end (Type=notify) is waited for, unless its config has failed', async (t) => {
  const starting = runs(A, { startedAgoUs: 20 * SECOND_US, unit: { activity: 'starting' } })
  t.match(decide(starting), { kind: 'under-way' })
  t.match(decide({ ...starting, ...judged(verdict(A, 'refused')) }), { kind: 'under-way' }, 'a refusal says nothing of what runs')
  const failed = judged(verdict(A, 'provisional', { reason: 'start-deadline' }))
  t.match(decide({ ...starting, ...failed }), { kind: 'restart' })
  t.match(decide({ ...runs(A, { unit: { activity: 'stopping' } }), ...failed }), { kind: 'under-way' }, 'which a stop comes to')
})

t.test('the last process ran this already, and systemd starts it again by itself', async (t) => {
  const facts = { health: health(B, { lastProcess: health(B).lastProcess }) }
  t.match(decide({ ...facts, ...runsNothing('auto-restart') }), { kind: 'not-due' })
  t.match(decide({ ...facts, ...runsNothing('failed') }), { kind: 'restart' }, 'which it does not where it gave up')
  const unseen = runsNothing('auto-restart', { invocationId: 'invocation-2' })
  t.match(decide({ ...facts, ...unseen }), { kind: 'restart' }, 'another one came and went unseen: RestartSec need not pass')
  t.match(decide({ ...runsNothing('auto-restart'), health: undefined }), { kind: 'restart' }, 'and nobody knows what ran last')
})

t.test('a start of the agent that came to nothing for a dependency is due again at once', async (t) => {
  const atUs = NOW_US - 2 * SECOND_US
  const down = {
    name: 'kubelet.service',
    activeExitUs: atUs,
    mainExitUs: atUs,
    inactiveEnterUs: atUs,
    dependencyFailedUs: NOW_US - SECOND_US,
  }
  const since = { health: health(B, { ...JUST_NOW, subjectSinceUs: NOW_US - MINUTE_US }) }
  const next = (outcome: RestartRecord['outcome'], of: typeof A = B) => {
    const restarts = [restartTo(of, { atUs, invocationBefore: INVOCATION, outcome })]
    return decide({ ...since, ...runsNothing('left-down', { down }), restarts })
  }
  t.match(next({ ok: true, detail: '' }), { kind: 'restart' })
  t.match(next(undefined), { kind: 'restart' }, 'no answer came')
  t.match(next({ ok: false, detail: 'timed out', mayBeTaken: true }), { kind: 'under-way' }, 'it may be another one that came to nothing')
  t.match(next({ ok: true, detail: '' }, A), { kind: 'restart' }, 'it was to start another config')
})

t.test('whether nothing but the agent starts a kubelet that is down', async (t) => {
  const awaits = (activity: UnitActivity, kind: 'not-due' | 'restart' | 'stays-down') =>
    awaitsStart(unit({ activity }), kind === 'restart' ? decide(runs(A)) : { kind })
  for (const activity of ['failed', 'exited', 'left-down'] as const) {
    t.equal(awaits(activity, 'restart'), true, activity)
    t.equal(awaits(activity, 'stays-down'), true, activity)
    t.equal(awaits(activity, 'not-due'), false, activity)
  }
  t.equal(awaits('stopped', 'restart'), true, "the agent's own start has left it so")
  t.equal(awaits('stopped', 'stays-down'), false)
  t.equal(awaits('running', 'restart'), false)
})

const HEALTHY_PROCESS = { wasHealthy: true, healthySinceUs: NOW_US - SECOND_US, unhealthySinceUs: undefined, exits: 0 }

t.test('local is the administrator’s, but the way there is the agent’s (rule 51)', async (t) => {
  const given = (everHealthy: boolean, restarts: Snapshot['restarts'], facts: Partial<HealthRecord> = {}) => {
    const sick = health('local', { everHealthy, healthySinceUs: undefined, subjectSinceUs: NOW_US - 2 * MINUTE_US, ...facts })
    return decide({ ...assignedTo('local'), ...startsWith('local'), ...runsNothing('failed'), health: sick, restarts }, LOCAL_TARGET)
  }
  const asked = restartTo('local', { atUs: NOW_US - MINUTE_US })
  t.match(given(false, [asked]), { kind: 'restart', record: { failed: true } }, 'never healthy since the agent brought it there')
  const upgraded = trialKey(LOCAL_CONTENT, 'kubelet-before')
  t.match(given(false, [{ ...asked, target: upgraded }]), { kind: 'restart' }, 'nor since kubelet was upgraded there')
  t.match(given(true, [asked]), { kind: 'not-due' }, 'it was healthy there')
  t.match(given(false, [{ ...asked, failed: true }]), { kind: 'not-due' }, 'it was started there once more, in vain')
  t.match(given(false, [{ ...asked, failed: true, invocationBefore: INVOCATION }]), { kind: 'under-way' }, 'or is just about to be')
  t.match(given(false, [{ ...asked, target: keyOf(B) }]), { kind: 'not-due' }, 'the agent asked for something else last')
  t.match(given(false, []), { kind: 'not-due' }, 'the agent did not bring it there')
  t.match(given(false, [], { lastProcess: undefined }), { kind: 'not-due' }, 'nor does anything tell that')
  t.match(given(false, [asked], { subject: keyOf(B) }), { kind: 'not-due' }, 'its health is known with another config only')
  t.match(given(false, [{ ...asked, bootId: 'boot-0' }]), { kind: 'not-due' }, 'nor in this boot')
  for (const activity of ['exited', 'left-down'] as const) {
    const down = { ...assignedTo('local'), ...startsWith('local'), ...runsNothing(activity), health: health('local') }
    t.match(decide(down, LOCAL_TARGET), { kind: 'stays-down' }, `kubelet is down with it: ${activity}`)
  }
  const failed = { ...assignedTo('local'), ...startsWith('local'), ...runsNothing('failed') }
  t.match(
    decide({ ...failed, health: health('local', { lastProcess: health(A).lastProcess }) }, LOCAL_TARGET),
    { kind: 'restart' },
    'A ran last',
  )
  t.match(decide({ ...failed, health: health('local'), left: [hold(A)] }, LOCAL_TARGET), { kind: 'restart' }, 'a return is not over')

  t.test('where the record of what ran is lost, a verdict tells that B failed', async (t) => {
    const lost = { ...assignedTo('local'), ...startsWith('local'), ...runsNothing('failed'), health: undefined }
    const afterVerdict = (state: Verdict['state'], bootId = BOOT) =>
      decide({ ...lost, ...judged(verdict(B, state, { bootId })) }, LOCAL_TARGET)
    t.match(decide(lost, LOCAL_TARGET), { kind: 'not-due' })
    t.match(decide({ ...lost, restarts: [restartTo(B)] }, LOCAL_TARGET), { kind: 'restart' }, 'or the record of a restart')
    t.match(afterVerdict('provisional'), { kind: 'restart', record: { failed: true } })
    t.match(afterVerdict('confirmed', 'boot-0'), { kind: 'not-due' }, 'kubelet has been started with local since')
    t.match(afterVerdict('refused'), { kind: 'not-due' }, 'kubelet never ran it')
  })

  t.test('where the kubelet that the agent started with B came and went unseen, B ran last', async (t) => {
    const before = health('local', { subjectSinceUs: NOW_US - SECOND_US })
    const seen = { ...assignedTo('local'), ...startsWith('local'), health: before }
    const restarts = [restartTo(B, { atUs: NOW_US - SECOND_US, invocationBefore: INVOCATION })]
    const unseen = runsNothing('auto-restart', { invocationId: 'invocation-2' })
    t.match(decide({ ...seen, ...unseen, restarts }, LOCAL_TARGET), { kind: 'restart' })
    t.match(decide({ ...seen, ...unseen, restarts: [] }, LOCAL_TARGET), { kind: 'not-due' }, 'that was not the agent’s doing')
    const old = [{ ...restarts[0], invocationBefore: 'invocation-0' } as RestartRecord]
    t.match(decide({ ...seen, ...unseen, restarts: old }, LOCAL_TARGET), { kind: 'not-due' }, 'local was seen since')
    const process = { ...HEALTHY_PROCESS, key: keyOf('local'), invocationId: INVOCATION, startedAtUs: NOW_US - 2 * SECOND_US }
    const crashed = { ...seen, ...unseen, health: { ...before, process }, restarts: old }
    t.match(decide(crashed, LOCAL_TARGET), { kind: 'restart' }, 'nor was what systemd had started in between')
    const since = { ...process, startedAtUs: NOW_US }
    t.match(decide({ ...crashed, health: { ...before, process: since } }, LOCAL_TARGET), { kind: 'not-due' }, 'local was seen since')
    const other = { ...process, invocationId: 'invocation-x' }
    t.match(decide({ ...crashed, health: { ...before, process: other } }, LOCAL_TARGET), { kind: 'not-due' }, 'that was not the last one')
    t.match(decide({ ...seen, ...runsNothing('auto-restart'), restarts }, LOCAL_TARGET), { kind: 'not-due' }, 'it is not done yet')
    const earlier = restarts.map((record) => ({ ...record, bootId: 'boot-0' }))
    t.match(decide({ ...seen, ...unseen, restarts: earlier }, LOCAL_TARGET), { kind: 'not-due' }, 'that was before a reboot')
  })
})

t.test('a container runtime that refuses would keep kubelet from coming back', async (t) => {
  t.match(decide({ ...runs(A), runtimeUp: false }), { kind: 'runtime-down' })
  t.match(decide({ ...runs(A), runtimeUp: true }), { kind: 'restart' })
  const downFor = (us: number) => ({ health: health(B, { ...JUST_NOW, runtimeDownSinceUs: NOW_US - us }) })
  t.match(decide({ ...runs(A), runtimeUp: false, ...downFor(RUNTIME_EXCUSE_US - 1) }), { kind: 'runtime-down' })
  t.match(decide({ ...runs(A), runtimeUp: false, ...downFor(RUNTIME_EXCUSE_US) }), { kind: 'restart' }, 'what runs may have killed it')
  t.match(decide({ ...runs(A), runtimeUp: false, ...judged(verdict(A, 'provisional')) }), { kind: 'restart' }, 'a failed config is left')
  t.match(decide({ ...runsNothing('failed'), runtimeUp: false }), { kind: 'restart' })
  const move = { ...runs(A), changesRuntime: true, runtimeUp: false }
  t.match(decide({ ...move, targetRuntimeUp: true }), { kind: 'restart' }, 'a move to another runtime needs only that one')
  t.match(decide({ ...move, targetRuntimeUp: false }), { kind: 'runtime-down' })
  for (const down of [
    { ...runs(A), runtimeUp: false },
    { ...move, targetRuntimeUp: false },
  ])
    t.match(decide({ ...down, health: undefined }), { kind: 'runtime-down' }, 'for how long is not known')
  t.match(decide({ ...runsNothing('auto-restart'), runtimeUp: false }), { kind: 'restart' }, 'where nothing runs, nothing is lost')
})

t.test('once per target', async (t) => {
  const asked = restartTo(B, { atUs: NOW_US - SECOND_US, invocationBefore: INVOCATION })
  const since = { health: health(B, { ...JUST_NOW, subjectSinceUs: NOW_US - 2 * SECOND_US, lastProcess: health(A).lastProcess }) }

  t.test('asked, and nothing seen of it yet', async (t) => {
    const waits = { kind: 'under-way', untilUs: asked.atUs + POLICY.startDeadlineUs, detail: 'kubelet is being restarted' }
    t.same(decide({ ...runs(A), ...since, restarts: [asked] }), waits)
    const again = { ...asked, atUs: NOW_US - POLICY.startDeadlineUs }
    t.match(decide({ ...runs(A), ...since, restarts: [again] }), { kind: 'restart' }, 'nor for long')
  })

  t.test('systemd did not take it: again after a minute', async (t) => {
    const refused = { ...asked, outcome: { ok: false, detail: 'no bus' } }
    t.match(decide({ ...runs(A), ...since, restarts: [refused] }), { kind: 'under-way', untilUs: asked.atUs + MINUTE_US, detail: 'no bus' })
    t.match(decide({ ...runs(A), ...since, restarts: [{ ...refused, atUs: NOW_US - MINUTE_US }] }), { kind: 'restart' })
  })

  t.test('the agent died before systemd answered, and perhaps before it asked: again soon', async (t) => {
    const lost = { ...asked, outcome: undefined }
    const aMomentAgo = { ...runs(A), ...since, restarts: [lost] }
    t.match(decide(aMomentAgo), { kind: 'under-way', untilUs: asked.atUs + 10 * SECOND_US })
    const subjectSinceUs = NOW_US - 20 * SECOND_US
    const longer = { ...runs(A), health: { ...since.health, subjectSinceUs } }
    const restarts = [{ ...lost, atUs: NOW_US - 10 * SECOND_US }]
    t.match(decide({ ...longer, restarts }), { kind: 'restart', record: { fallback: false } })
    t.match(decide({ ...longer, restarts }, { ...TARGET, fallback: true }), { record: { fallback: true } }, 'falling back stays exempt')
  })

  t.test('a process that was started since still runs something else: never again', async (t) => {
    const ineffective = { ...runs(A, { invocationId: 'invocation-2' }), ...since, restarts: [asked] }
    t.match(decide(ineffective), { kind: 'ineffective', detail: /another config/ })
    t.match(decide({ ...ineffective, ...runs('local', { invocationId: 'invocation-2' }) }), { detail: /local config/ })
    const longSince = { health: { ...since.health, subjectSinceUs: NOW_US - HOUR_US } }
    const startedAfter = (us: number) => {
      const process = runs(A, { invocationId: 'invocation-2', startedAgoUs: SECOND_US })
      return decide({ ...process, ...longSince, restarts: [{ ...asked, atUs: NOW_US - SECOND_US - us }] })
    }
    t.match(startedAfter(POLICY.startDeadlineUs), { kind: 'ineffective' })
    t.match(startedAfter(POLICY.startDeadlineUs + 1), { kind: 'restart' }, 'unless it was started long after')
  })

  t.test('started since, and gone again: systemd’s turn', async (t) => {
    const gone = { ...runsNothing('auto-restart', { invocationId: 'invocation-2' }), ...since, restarts: [asked] }
    t.match(decide(gone), { kind: 'not-due' })
  })

  t.test('a kubelet that differs at each start is no other target', async (t) => {
    const target = { ...TARGET, key: keyOf(B, 'kubelet-9') }
    const subject = { subject: target.key, subjectSinceUs: NOW_US, contentSinceUs: NOW_US - 2 * SECOND_US }
    const varying = { health: { ...since.health, ...subject }, restarts: [asked] }
    const gone = { ...runsNothing('auto-restart', { invocationId: 'invocation-2' }), ...varying }
    t.match(decide(gone, target), { kind: 'not-due' }, 'started since, and gone again')
    t.match(decide({ ...runs(A, { invocationId: 'invocation-2' }), ...varying }, target), { kind: 'ineffective' })
  })

  t.test('another target, or another boot, is asked for anew', async (t) => {
    for (const restarts of [[asked, restartTo(A)], [{ ...asked, bootId: 'boot-0' }]]) {
      t.match(decide({ ...runs(A, { invocationId: 'invocation-2' }), restarts }), { kind: 'restart' })
    }
  })

  t.test('and so is a target that was left and has come back', async (t) => {
    const before = restartTo(B, { atUs: NOW_US - HOUR_US / 2, invocationBefore: 'invocation-0' })
    t.match(decide({ ...runs(A), restarts: [before] }), { kind: 'restart' }, 'kubelet ran something else meanwhile')
    t.match(decide({ ...runsNothing('failed'), restarts: [before] }), { kind: 'restart' }, 'and systemd gave up on that')
  })
})

t.test('at most so many an hour', async (t) => {
  const spent = Array.from({ length: POLICY.restartsPerHour }, (_, index) => restartTo(GOOD, { atUs: NOW_US - (50 - index) * MINUTE_US }))
  t.match(decide({ ...runs(A), restarts: spent }), { kind: 'limit', untilUs: NOW_US + 10 * MINUTE_US })
  t.match(decide({ ...runs(A), restarts: spent.slice(1) }), { kind: 'restart' })
  t.match(
    decide({ ...runs(A), restarts: spent }, { ...TARGET, fallback: true }),
    { kind: 'restart', record: { fallback: true } },
    'falling back is exempt',
  )
  const exempt = spent.map((record, index) => ({ ...record, fallback: index > 0 }))
  t.match(decide({ ...runs(A), restarts: exempt }), { kind: 'restart' }, 'and does not count')
  const process = (facts: Partial<ProcessHealth>) => {
    const of = { key: keyOf(A), invocationId: INVOCATION, startedAtUs: 0, wasHealthy: true, healthySinceUs: undefined, exits: 0 }
    return { health: health(B, { ...JUST_NOW, process: { ...of, unhealthySinceUs: undefined, ...facts } }) }
  }
  const left = { kind: 'restart', record: { fallback: false, exempt: true } }
  const illFor = (us: number) => decide({ ...runs(A), restarts: spent, ...process({ unhealthySinceUs: NOW_US - us }) })
  t.match(illFor(POLICY.toleranceUs), { kind: 'limit' }, 'a short illness is no reason')
  t.match(illFor(POLICY.toleranceUs + 1), left, 'but a hung kubelet is left')
  t.match(decide({ ...runs(A), restarts: spent, ...process({ exits: POLICY.crashLimit }) }), left, 'so is one that crash-loops')
  t.match(decide({ ...runs(A), restarts: spent, ...judged(verdict(A, 'provisional')) }), left, 'and a config that failed')
  t.match(decide({ ...runsNothing('auto-restart'), restarts: spent }), left, 'where nothing runs, nothing is lost')
  const reset = { ...assignedTo('local'), requests: { hold: 'local', rollback: undefined, retry: false } } as const
  t.match(decide({ ...runs(A), restarts: spent }, LOCAL_TARGET), { kind: 'limit' })
  t.match(decide({ ...runs(A), restarts: spent, ...reset }, LOCAL_TARGET), left, 'an operator has requested it')
  const onAnother = verdict('local', 'provisional', { key: keyOf('local', UPGRADED_KUBELET), anyKubelet: true, suspended: true })
  for (const failed of [verdict('local', 'provisional', { suspended: true }), onAnother]) {
    const suspendedVerdicts = new Map([[failed.key, failed]])
    t.match(decide({ ...runs(A), restarts: spent, ...reset, suspendedVerdicts }, LOCAL_TARGET), { kind: 'limit' }, 'local has failed since')
  }
  const isExempted = { restarts: spent.map((record) => ({ ...record, exempt: true })) }
  t.match(decide({ ...runs(A), ...isExempted }), { kind: 'restart', record: { exempt: undefined } }, 'what was exempt does not count')
  const refused = spent.map((record) => ({ ...record, invocationBefore: INVOCATION, outcome: { ok: false, detail: 'no bus' } }))
  t.match(decide({ ...runs(A), restarts: refused }), { kind: 'restart' }, 'nor does what systemd never took')
  const timedOut = spent.map((record, index) => {
    return { ...record, invocationBefore: `invocation-${-index}`, outcome: { ok: false, detail: 'systemctl: timed out' } }
  })
  t.match(decide({ ...runs(A), restarts: timedOut }), { kind: 'limit' }, 'what systemd took counts, although systemctl failed')
  const unknown = { unit: { kind: 'unknown', detail: 'no bus' } } as const
  t.equal(listCounted(timedOut, unknown.unit).length, POLICY.restartsPerHour - 1, 'what followed the last one is not known yet')
})

t.test('a fallback that systemd refused at first is still exempt', async (t) => {
  const spent = Array.from({ length: POLICY.restartsPerHour }, (_, index) => restartTo(GOOD, { atUs: NOW_US - (50 - index) * MINUTE_US }))
  const refused = restartTo(B, {
    fallback: true,
    invocationBefore: INVOCATION,
    atUs: NOW_US - MINUTE_US,
    outcome: { ok: false, detail: 'no bus' },
  })
  const since = { health: health(B, { ...JUST_NOW, subjectSinceUs: NOW_US - 2 * MINUTE_US }) }
  const decision = decide({ ...runs(A), ...since, restarts: [...spent, refused] }, { ...TARGET, fallback: true })
  t.match(decision, { kind: 'restart', record: { fallback: true } })
})

t.test('a fallback that systemd started, and gave up again, is started ever more slowly, as any other', async (t) => {
  const failing = { ...runsNothing('failed'), health: health(B, { ...JUST_NOW, subjectSinceUs: NOW_US - HOUR_US }) }
  const next = (agoUs: number, ok: boolean) =>
    decide(
      { ...failing, restarts: [restartTo(B, { atUs: NOW_US - agoUs, failed: true, outcome: { ok, detail: '' } })] },
      { ...TARGET, fallback: true },
    )
  t.match(next(5 * SECOND_US, true), { kind: 'under-way', untilUs: NOW_US + 10 * SECOND_US, detail: /systemd gave kubelet up/ })
  t.match(next(20 * SECOND_US, true), { kind: 'restart', record: { fallback: false, failed: true } })
  t.match(next(2 * MINUTE_US, false), { kind: 'restart', record: { fallback: true } }, 'not one that systemd never took')
})

t.test('a restart notes of a fallback alone whether it goes on in its own right', async (t) => {
  const noted = (target: Partial<Target>, facts: Partial<Snapshot> = runs(A)) => {
    const decision = decide(facts, { ...TARGET, ...target })
    return decision.kind === 'restart' && [decision.record.fallback, decision.record.goesOn]
  }
  t.strictSame(noted({ fallback: true, goesOn: true }), [true, true])
  t.strictSame(noted({ fallback: true }), [true, undefined])
  const since = { health: health(B, { ...JUST_NOW, subjectSinceUs: NOW_US - HOUR_US }) }
  const givenUp = { ...runsNothing('failed'), ...since, restarts: [restartTo(B, { failed: true })] }
  t.strictSame(noted({ fallback: true, goesOn: true }, givenUp), [false, undefined], 'what systemd gave up starts as any other')
})

t.test('a kubelet that hangs on the same content is restarted when its binary, flags or drop-ins have changed on disk', async (t) => {
  const running = runs(B, { kubelet: 'kubelet-v1' })
  const upgraded: Target = { ...TARGET, key: keyOf(B, 'kubelet-v2') }
  const process = (facts: Partial<ProcessHealth>): Partial<Snapshot> => ({
    ...running,
    health: health(B, {
      ...JUST_NOW,
      process: {
        key: keyOf(B),
        invocationId: INVOCATION,
        startedAtUs: 0,
        wasHealthy: true,
        healthySinceUs: undefined,
        unhealthySinceUs: undefined,
        exits: 0,
        ...facts,
      },
    }),
  })
  t.match(decide(process({}), upgraded), { kind: 'not-due' }, 'not while it is well')
  const recovered = { healthySinceUs: NOW_US - SECOND_US, exits: POLICY.crashLimit }
  t.match(decide(process(recovered), upgraded), { kind: 'not-due' }, 'nor where it has just become well, after many exits')
  t.match(decide(process({ exits: POLICY.crashLimit }), upgraded), { kind: 'not-due' }, 'nor where its health is not known')
  const hung = process({ unhealthySinceUs: NOW_US - POLICY.toleranceUs - 1 })
  t.match(decide(hung, upgraded), { kind: 'restart', record: { target: upgraded.key } })
  t.match(decide(hung), { kind: 'not-due' }, 'with the same kubelet it is judged instead')
  const nextUpgraded = hung.health && { ...hung.health, subject: upgraded.key, subjectSinceUs: NOW_US - MINUTE_US }
  const asked = (of: Target) => {
    const restarts = [restartTo(B, { target: of.key, atUs: NOW_US - SECOND_US, invocationBefore: INVOCATION })]
    return decide({ ...hung, health: nextUpgraded, restarts }, upgraded)
  }
  t.match(asked(upgraded), { kind: 'under-way' }, 'once')
  t.match(asked(TARGET), { kind: 'restart' }, 'whatever was asked for before the upgrade')
  const failed = (damage: Verdict['damage']) => decide({ ...running, ...judged(verdict(B, 'provisional', { damage })) }, upgraded)
  t.match(failed('transient'), { kind: 'restart' }, 'what failed may not fail on another kubelet')
  t.match(failed('one-way'), { kind: 'not-due' }, 'what cannot be undone may be done again')
  const paused = { requests: { hold: 'paused', rollback: undefined, retry: false } } as const
  t.match(decide({ ...hung, ...paused }, upgraded), { kind: 'not-due' }, 'nor during a pause')
  const local: Partial<Snapshot> = { ...runs('local'), ...judged(verdict('local', 'provisional')) }
  const upgradedLocal: Target = { ...LOCAL_TARGET, key: keyOf('local', UPGRADED_KUBELET) }
  t.match(decide(local, upgradedLocal), { kind: 'not-due' }, 'nor with local, which is the administrator’s')
  t.match(decide(local, { ...upgradedLocal, fallback: true }), { kind: 'restart' }, 'unless the agent fell back to it')
})

t.test('what systemd gave up is started again ever more slowly, but not left down for an hour', async (t) => {
  const spent = Array.from({ length: POLICY.restartsPerHour }, (_, index) => restartTo(GOOD, { atUs: NOW_US - (50 - index) * MINUTE_US }))
  const giveUp = (restarts: Snapshot['restarts']) => decide({ ...runsNothing('failed'), restarts })
  t.match(giveUp(spent), { kind: 'restart', record: { failed: true } }, 'whatever was done to a kubelet that ran')
  const starts = (count: number, lastAtUs: number) =>
    Array.from({ length: count }, (_, index) =>
      restartTo(B, { failed: true, invocationBefore: 'another', atUs: lastAtUs - (count - 1 - index) * SECOND_US }),
    )
  for (const [count, pauseUs] of [
    [1, 15 * SECOND_US],
    [2, 30 * SECOND_US],
    [4, 2 * MINUTE_US],
    [12, 5 * MINUTE_US],
  ] as const) {
    t.match(giveUp(starts(count, NOW_US - pauseUs + 1)), { kind: 'under-way', untilUs: NOW_US + 1 }, `${count} starts`)
    t.match(giveUp(starts(count, NOW_US - pauseUs)), { kind: 'restart', record: { failed: true } }, `${count} starts`)
  }
  t.match(decide({ ...runs(A), restarts: starts(12, NOW_US - MINUTE_US) }), { kind: 'restart' }, 'and it costs no restart of one that runs')
  const ofAnother = starts(12, NOW_US - SECOND_US).map((record) => ({ ...record, target: keyOf(A) }))
  t.match(giveUp(ofAnother), { kind: 'restart', record: { failed: true } }, 'another config is started at once')
  const onKubelets = starts(3, NOW_US - SECOND_US).map((record, index) => ({ ...record, target: keyOf(B, `kubelet-${index}`) }))
  t.match(giveUp(onKubelets.slice(0, 1)), { kind: 'restart' }, 'and so is another kubelet')
  t.match(giveUp(onKubelets), { kind: 'under-way', untilUs: NOW_US + 59 * SECOND_US }, 'but not one after the other')
  t.match(giveUp([...onKubelets, ...ofAnother.slice(-1)]), { kind: 'restart' }, 'where another config was started since')
  const ofOthers = onKubelets.map((record, index) => ({ ...record, target: keyOf(index === 2 ? B : A, `kubelet-${index}`) }))
  t.match(giveUp(ofOthers), { kind: 'restart' }, 'or another one was started as the others')
  const onceMore = [...ofAnother, ...starts(1, NOW_US - 5 * MINUTE_US + 1)]
  t.match(giveUp(onceMore), { kind: 'under-way', untilUs: NOW_US + 1 }, 'once')
  const refused = starts(4, NOW_US - MINUTE_US).map((record) => {
    return { ...record, invocationBefore: INVOCATION, outcome: { ok: false, detail: 'no bus' } }
  })
  t.match(giveUp(refused), { kind: 'restart' }, 'what systemd refused was not started in vain')
  const [once] = starts(1, NOW_US - 15 * SECOND_US)
  const others = [...starts(4, NOW_US - 2 * HOUR_US), restartTo(B), restartTo(B, { fallback: true, failed: true })]
  t.match(giveUp(once === undefined ? [] : [...others, once]), { kind: 'restart' }, 'nor was what is no start of the last hour')
})

t.test('whatever is recorded, what runs the target, starts or stops is not restarted, and each wait has an end', async () => {
  const activity = fc.constantFrom<UnitActivity>('running', 'auto-restart', 'failed', 'stopped', 'starting', 'stopping', 'not-found')
  const record = fc.record({
    target: fc.constantFrom(A, B),
    agoUs: fc.integer({ min: 0, max: 2 * HOUR_US }),
    fallback: fc.boolean(),
    invocationBefore: fc.constantFrom(INVOCATION, 'invocation-0'),
    failed: fc.boolean(),
    outcome: fc.constantFrom(undefined, { ok: true, detail: '' }, { ok: false, detail: '' }),
  })
  const running = fc.constantFrom<'local' | typeof A | typeof B | undefined>('local', A, B, undefined)
  fc.assert(
    fc.property(activity, running, fc.array(record, { maxLength: 12 }), fc.boolean(), (is, source, records, fallback) => {
      const restarts = records.map(({ target, agoUs, ...facts }) => restartTo(target, { ...facts, atUs: NOW_US - agoUs }))
      const seen = source === undefined || is !== 'running' ? runsNothing(is) : runs(source)
      const decision = decide({ ...seen, restarts }, { ...TARGET, fallback })
      const unsafe =
        (seen.running?.kind === 'known' && seen.running.content === TARGET.content) ||
        is === 'stopping' ||
        is === 'starting' ||
        is === 'not-found'
      if (unsafe && decision.kind === 'restart') return false
      return !('untilUs' in decision) || decision.untilUs > NOW_US
    }),
  )
})

t.test('keepRestarts: this boot’s last hour, and the last one whenever it was', async (t) => {
  const now = { bootId: BOOT, monotonicUs: NOW_US }
  const at = (agoUs: number, bootId = BOOT) => restartTo(B, { atUs: NOW_US - agoUs, bootId })
  t.same(keepRestarts([at(2 * HOUR_US), at(HOUR_US), at(HOUR_US - 1)], now), [at(HOUR_US - 1)])
  t.same(keepRestarts([at(3 * HOUR_US), at(2 * HOUR_US)], now), [at(2 * HOUR_US)])
  t.same(keepRestarts([at(HOUR_US - 1), at(1)], now), [at(HOUR_US - 1), at(1)])
  t.same(keepRestarts([at(1, 'boot-0')], now), [])
})
