// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import {
  clearAfterLongHealth,
  findRetrial,
  findRetrialUs,
  forgetLostFallback,
  learnFromFallback,
  retryAfterRest,
  tryFailedAgain,
} from '../../src/decision/fallback-rules.ts'
import type { RestartRecord } from '../../src/decision/records.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Step } from '../../src/decision/step.ts'
import { assess, type TargetSituation } from '../../src/decision/target.ts'
import type { Verdict } from '../../src/decision/verdict.ts'
import { RUNTIME_EXCUSE_US } from '../../src/health/excuse.ts'
import { describeSource, LOCAL } from '../../src/subject/config-source.ts'
import { look } from './any-snapshot.ts'
import {
  A,
  accepts,
  assignedTo,
  B,
  BOOT,
  C,
  configMap,
  contentOf,
  crashing,
  decide,
  fallenBack,
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
  READY,
  restartTo,
  runs,
  SECOND_US,
  snapshot,
  startsWith,
  UPGRADED_KUBELET,
  unit,
  verdict,
  wants,
} from './snapshots.ts'

/** Of kubelet 1.36.4, cut as last words are. */
const STATE_FILE =
  'Failed to start ContainerManager: start cpu manager error: could not restore state from checkpoint: configured policy "none" differs from state checkpoint policy "static", please drain this node and delete the CPU manager checkpoint file "/var/lib/kub...'

function keysOf(step: Step): readonly string[] {
  return step.kind === 'forgive' ? [...(step.suspend ?? []).map(({ key }) => key), ...step.drop] : [`step ${step.kind}`]
}

t.test('a config that kubelet is healthy with again before its fallback could be started', async (t) => {
  const trouble = { step: 'activate' as const, about: describeSource(A), detail: 'read-only', retryAtUs: NOW_US + MINUTE_US }
  const recovered = (us: number, facts: Partial<Verdict> = {}, more: Partial<Snapshot> = {}) =>
    nextStep(
      fallenBack({
        ...runs(B, { startedAgoUs: us }),
        ...startsWith(B),
        health: health(B, { healthySinceUs: NOW_US - us }),
        ...judged(verdict(B, 'provisional', { doubtful: true, ...facts })),
        troubles: [trouble],
        ...more,
      }),
    )
  const step = { kind: 'retry-failed', verdict: { key: keyOf(B) }, number: 1, of: 3, recovered: true }
  const left = { kind: 'activate' }
  t.match(recovered(POLICY.toleranceUs), step, 'is not left')
  t.match(recovered(POLICY.toleranceUs - 1), left, 'unless that was a moment ago')
  t.match(recovered(POLICY.toleranceUs, { doubtful: undefined }), left, 'nor where it never passed a trial')
  t.match(recovered(POLICY.toleranceUs, { reason: 'evidence' }), left, 'nor where it was healthy all the time')
  t.match(recovered(POLICY.toleranceUs, { retrials: 3 }), left, 'nor without end')
  t.match(recovered(POLICY.toleranceUs, {}, { troubles: [] }), left, 'nor where the fallback is to be had')
  const unknown = { nextStart: { kind: 'unknown', detail: 'EIO' } } as const
  t.match(recovered(POLICY.toleranceUs, {}, unknown), { kind: 'wait' }, 'nor where nobody knows what kubelet starts with next')
  t.match(recovered(POLICY.toleranceUs, {}, { requests: { hold: 'paused', rollback: undefined, retry: false } }), { kind: 'wait' })
})

t.test('what a fallback teaches', async (t) => {
  const provisional = judged(verdict(B, 'provisional'))
  const healthyFor = (us: number) => ({
    ...provisional,
    ...runs(A, { startedAgoUs: us }),
    health: health(A, { healthySinceUs: NOW_US - us }),
  })
  t.match(nextStep(fallenBack(healthyFor(POLICY.toleranceUs - 1))), { kind: 'wait', phase: 'fallen-back' })
  t.match(nextStep(fallenBack(healthyFor(POLICY.toleranceUs))), { kind: 'confirm', verdicts: [{ key: keyOf(B) }] })

  const all = judged(verdict(B, 'provisional'), verdict(A, 'provisional'), verdict('local', 'provisional'))
  t.match(nextStep(fallenBack({ ...healthyFor(POLICY.toleranceUs), ...all })), {
    kind: 'forgive',
    drop: [keyOf(A), keyOf('local')],
    suspend: [{ key: keyOf(B), acquitted: true, retrials: 1 }],
    requested: false,
  })

  t.test('once: what a config left on the node may be what the others failed with', async (t) => {
    const proved = { doubtful: true } as const
    const failed = (facts: Partial<Verdict>, more: Partial<Snapshot> = {}) =>
      fallenBack({
        ...healthyFor(POLICY.toleranceUs),
        ...more,
        ...judged(
          verdict(B, 'provisional', { atWallMs: 1_700_000_000_000, ...facts }),
          verdict(A, 'provisional', proved),
          verdict('local', 'provisional'),
        ),
      })
    const first = nextStep(failed({}))
    if (first.kind !== 'forgive') return t.fail(first.kind)
    t.match(look(failed({}), first, () => false).suspendedVerdicts.get(keyOf(B)), { acquitted: true, suspended: true, retrials: 1 })
    const second = nextStep(failed({ acquitted: true, doubtful: true, retrials: 1 }))
    if (second.kind !== 'forgive') return t.fail(second.kind)
    t.same([second.drop, second.suspend], [[keyOf(A), keyOf('local')], []])
    const after = look(failed({ acquitted: true, doubtful: true, retrials: 1 }), second, () => false)
    t.match(nextStep(after), { kind: 'wait', detail: /is tried again \(2 of 3\) when kubelet has been healthy for 1h/ })
    const forgotten = { kind: 'forgive', drop: [keyOf(B), keyOf(A), keyOf('local')], suspend: { length: 0 } } as const
    t.match(nextStep(failed(proved, { proven: keyOf(B) })), forgotten, 'what passed a trial here is forgiven')
    t.match(nextStep(failed(proved, { previous: hold(B) })), forgotten, 'also long ago')
    t.match(nextStep(failed(proved)), { drop: forgotten.drop.slice(1), suspend: [{ key: keyOf(B), retrials: 1 }] }, 'but not for a doubt')
  })

  t.test('that the wanted config failed, once what it left behind is gone (rule 50)', async (t) => {
    const left = (of: typeof A | 'local') => verdict(of, 'provisional', { detail: `kubelet exited 2 times: ${STATE_FILE}` })
    const healthyNow = healthyFor(POLICY.toleranceUs)
    const rests = (...verdicts: readonly Verdict[]) => nextStep(fallenBack({ ...healthyNow, ...judged(...verdicts) }))
    const local = verdict('local', 'provisional')
    t.strictSame(keysOf(rests(verdict(B, 'provisional'), left(A), local)), [keyOf(A), keyOf('local')], 'only the fallbacks are forgiven')
    t.match(rests(verdict(B, 'provisional')), { kind: 'confirm', verdicts: [{ key: keyOf(B) }] }, 'and then the wanted one is condemned')
    const blamed = rests(verdict(B, 'provisional'), left(A), local)
    t.match(blamed.kind === 'forgive' && blamed.keep, [{ key: keyOf(B), state: 'provisional', leavesState: true }], 'it stays condemned')
    const startedByPerson = { health: { ...health(A, { healthySinceUs: NOW_US - POLICY.toleranceUs }), startedByOthers: true } }
    const afterwards = (facts: Partial<Verdict>) =>
      nextStep(fallenBack({ ...healthyNow, ...startedByPerson, ...judged(verdict(B, 'provisional', facts)) }))
    t.match(afterwards({}), { kind: 'retry-failed' }, 'a person who starts kubelet may have cured it')
    t.match(afterwards({ leavesState: true }), { kind: 'confirm' }, 'but not one who had to delete what it left')
    const requested = (outcome: RestartRecord['outcome']) =>
      nextStep(fallenBack({ ...healthyNow, restarts: [restartTo(A, { fallback: true, outcome })], ...judged(verdict(B, 'provisional')) }))
    for (const outcome of [undefined, { ok: false, detail: 'timed out', mayBeTaken: true }])
      t.match(requested(outcome), { kind: 'retry-failed' }, 'nobody knows whether systemd got the request of the agent')
    for (const ok of [true, false]) t.match(requested({ ok, detail: '' }), { kind: 'confirm' }, 'systemd has answered')
    const fallback = { key: keyOf(A), invocationId: INVOCATION, startedAtUs: NOW_US - HOUR_US, wasHealthy: true, exits: 0 }
    const ofPerson = { ...fallback, healthySinceUs: NOW_US - POLICY.toleranceUs, unhealthySinceUs: undefined, startedByOthers: true }
    const next = health('local', { process: ofPerson })
    t.match(
      nextStep(fallenBack({ ...healthyNow, health: next, ...judged(verdict(B, 'provisional')) })),
      { kind: 'retry-failed' },
      'also where something else was to be started next meanwhile',
    )
    for (const [retrials, hours] of [
      [3, '12h'],
      [4, '24h'],
      [6, '96h'],
      [9, '96h'],
    ] as const)
      t.match(
        afterwards({ retrials, atWallMs: 1_700_000_000_000 }),
        { kind: 'wait', detail: new RegExp(`healthy for ${hours}\\b`) },
        `after ${retrials}`,
      )
    t.strictSame(keysOf(rests(left(B), left(A), local)), [keyOf(B), keyOf(A), keyOf('local')], 'a damaged file kills every config')
    const since = { ...verdict(B, 'provisional'), bootId: 'the boot before' }
    t.strictSame(keysOf(rests(since, left(A), local)), [keyOf(B), keyOf(A), keyOf('local')], 'another boot')
    const other = rests(verdict(B, 'provisional'), verdict(A, 'provisional'), left('local'))
    t.strictSame(keysOf(other), [keyOf(B), keyOf(A), keyOf('local')], 'what the node rests on did not die of it')
    const healthySinceUs = NOW_US - POLICY.toleranceUs
    const process = {
      key: keyOf(B),
      invocationId: INVOCATION,
      startedAtUs: healthySinceUs,
      wasHealthy: true,
      unhealthySinceUs: undefined,
      exits: 0,
      healthySinceUs,
    }
    const healthyWithB = { ...runs(B), ...startsWith(B), health: health(B, { healthySinceUs, process }) }
    const works = nextStep(inTrial({ ...healthyWithB, ...judged(verdict(B, 'provisional'), left(A), local) }))
    t.strictSame(keysOf(works), [keyOf(A), keyOf(B), keyOf('local')], 'what works is not blamed')
  })

  t.test('that a config which may not be at fault can be tried again, but not during a pause', async (t) => {
    const rested = { ...healthyFor(HOUR_US), ...judged(verdict(B, 'provisional', { doubtful: true })) }
    t.match(nextStep(fallenBack(rested)), { kind: 'retry-failed', verdict: { key: keyOf(B) }, number: 1, of: 3 })
    const paused = { requests: { hold: 'paused', rollback: undefined, retry: false } } as const
    t.match(nextStep(fallenBack({ ...rested, ...paused })), { kind: 'wait' })
  })

  t.test('nothing from an old record of health', async (t) => {
    const stale = health(A, { healthySinceUs: NOW_US - HOUR_US, lastSampleUs: NOW_US - HOUR_US / 2 })
    const broken = unit({ wiring: { kind: 'broken', reason: 'overridden', detail: '' } })
    const blind = { ...provisional, nextStart: { kind: 'unknown', detail: '' }, unit: broken, health: stale } as const
    t.match(nextStep(fallenBack(blind)), { kind: 'wait' })
  })

  t.test('local is never proved guilty: its file may have been changed since', async (t) => {
    const localToo = inTrial({ ...judged(verdict('local', 'provisional')) })
    const step = nextStep(localToo)
    t.notOk(step.kind === 'confirm' && step.verdicts.some(({ source }) => source === 'local'))
  })
})

t.test('the node is at fault', async (t) => {
  const all = judged(verdict(B, 'provisional'), verdict(A, 'provisional'), verdict('local', 'provisional'))
  const resting = {
    ...all,
    ...crashing(A, { exits: 50, subjectSinceUs: NOW_US - MINUTE_US }),
    restarts: [restartTo(A, { fallback: true })],
  }
  t.match(nextStep(fallenBack(resting)), { kind: 'wait', phase: 'node-at-fault' }, 'nothing is judged or restarted')
  const damaged = {
    assigned: { kind: 'damaged', detail: '' },
    assignedContent: undefined,
    desired: { kind: 'unknown', detail: '' },
  } as const
  t.match(nextStep(fallenBack({ ...resting, ...damaged })), { kind: 'wait', phase: 'node-at-fault', detail: /meta\/assigned was damaged/ })
  t.match(nextStep(fallenBack({ ...resting, ...startsWith('local') })), { kind: 'activate', target: A }, 'it rests on last-known-good')

  t.test('but not for ever: last-known-good may have gone bad itself', async (t) => {
    const since = (agoUs: number) => ({ ...resting, ...crashing(A, { exits: 50, subjectSinceUs: NOW_US - agoUs }) })
    t.match(nextStep(fallenBack(since(3 * POLICY.trialUs - 1))), { kind: 'wait', phase: 'node-at-fault' })
    const long = since(3 * POLICY.trialUs)
    t.match(nextStep(fallenBack(long)), {
      kind: 'forgive',
      drop: [keyOf('local')],
      suspend: [{ key: keyOf(B) }, { key: keyOf(A) }],
      requested: false,
    })
    t.test('nor where the wanted config waits for a drain and nothing else is left', async (t) => {
      const waits = (agoUs: number, ...failed: readonly (typeof A | 'local')[]) =>
        nextStep(
          fallenBack({
            ...startsWith(A),
            ...crashing(A, { exits: 50, subjectSinceUs: NOW_US - agoUs }),
            ...judged(...failed.map((source) => verdict(source, 'provisional'))),
            accepted: new Map([[keyOf(B), { drain: ['cpuManagerPolicy'] }]]),
            drained: false,
          }),
        )
      const rest = waits(3 * POLICY.trialUs - 1, A, 'local')
      t.match(rest, { kind: 'wait', phase: 'fallen-back', detail: /failed, and so did everything else that can be started now/ })
      t.match(waits(3 * POLICY.trialUs, A, 'local'), { kind: 'forgive', drop: [keyOf('local')], suspend: [{ key: keyOf(A) }] })
      t.match(waits(3 * POLICY.trialUs, A), { kind: 'activate', target: 'local' }, 'what did not fail comes first')
    })
    t.test('what had its second try lets the others go first, and is tried with them the next time', async (t) => {
      const failed = (facts: Partial<Verdict>) => {
        const again = verdict(B, 'provisional', { acquitted: true, doubtful: true, retrials: 1, ...facts })
        return fallenBack({ ...long, ...judged(again, verdict(A, 'provisional', { doubtful: true }), verdict('local', 'provisional')) })
      }
      const others = nextStep(failed({}))
      if (others.kind !== 'forgive') return t.fail(others.kind)
      t.same([others.drop, others.suspend, others.keep?.map(({ key }) => key)], [[keyOf(A), keyOf('local')], [], [keyOf(B)]])
      const after = look(failed({}), others, () => false)
      t.match(after.verdicts.get(keyOf(B)), { state: 'provisional', acquitted: true, yielded: true }, 'its verdict stays in force')
      const all = nextStep(failed({ yielded: true }))
      if (all.kind !== 'forgive') return t.fail(all.kind)
      t.same([all.drop, all.suspend?.map(({ key }) => key), all.keep], [[keyOf(A), keyOf('local')], [keyOf(B)], []])
    })
    t.test('but not where there is no other', async (t) => {
      const step = nextStep(
        fallenBack({
          ...startsWith('local'),
          ...crashing('local', { exits: 50, subjectSinceUs: NOW_US - 3 * POLICY.trialUs }),
          ...judged(verdict(B, 'provisional', { acquitted: true, doubtful: true }), verdict('local', 'provisional')),
          lastKnownGood: LOCAL,
          previous: LOCAL,
        }),
      )
      t.match(step, { kind: 'forgive', drop: [keyOf('local')], suspend: [{ key: keyOf(B) }], keep: { length: 0 } })
    })
    const paused = { requests: { hold: 'paused', rollback: undefined, retry: false } } as const
    for (const not of [paused, { runtimeUp: false }]) t.match(nextStep(fallenBack({ ...long, ...not })), { kind: 'wait' })
    const beside = (silentUs: number) => {
      const since = { subjectSinceUs: NOW_US - 3 * POLICY.trialUs, runtimeDownSinceUs: NOW_US - silentUs }
      return nextStep(fallenBack({ ...long, ...crashing(A, { exits: 50, ...since }), runtimeUp: false })).kind
    }
    t.equal(beside(RUNTIME_EXCUSE_US - 1), 'wait', 'the runtime is the reason for a while')
    t.equal(beside(RUNTIME_EXCUSE_US), 'forgive', 'then the node may rest on the reason for its silence')
  })

  t.test('until kubelet has run for longer than before its exits on trial', async (t) => {
    const exitAfter = (lifeUs: number) => {
      const atUs = NOW_US - 5 * MINUTE_US
      return { key: keyOf(A), invocationId: 'before', startedAtUs: atUs - lifeUs, atUs }
    }
    const after = (agoUs: number, ...lives: readonly number[]) => {
      const sinceUs = NOW_US - agoUs
      const well = health(A, { subjectSinceUs: sinceUs, healthySinceUs: sinceUs, recentExits: lives.map(exitAfter) })
      return nextStep(fallenBack({ ...all, ...runs(A, { startedAgoUs: agoUs }), health: well })).kind
    }
    t.equal(after(2 * MINUTE_US, SECOND_US), 'forgive', 'it had exited at its start')
    t.equal(after(2 * MINUTE_US, SECOND_US, 2 * MINUTE_US), 'wait', 'it had been well for as long before')
    t.equal(after(2 * MINUTE_US + 1, SECOND_US, 2 * MINUTE_US), 'forgive')
    t.equal(after(2 * MINUTE_US, POLICY.trialUs), 'forgive', 'it had passed a trial before')
  })

  t.test('and nothing that happened meanwhile is charged to the config that comes out of it', async (t) => {
    const well = { ...runs(A), health: health(A, { healthySinceUs: NOW_US - 2 * MINUTE_US, exits: 50 }) }
    const step = nextStep(fallenBack({ ...all, ...well }))
    if (step.kind === 'wait') return t.fail('it waits')
    const forgiven = look(fallenBack({ ...all, ...well }), step, () => false)
    t.not(nextStep({ ...forgiven, ...judged(verdict(B, 'refused')) }).kind, 'condemn')
  })
})

t.test('a config with which the node resets is let go a few times only, though the node seems at fault', async (t) => {
  const others = [verdict(A, 'provisional', { doubtful: true }), verdict('local', 'provisional')]
  const resets = (facts: Partial<Verdict>) => verdict(B, 'provisional', { reason: 'reboots', doubtful: true, ...facts })
  const release = (facts: Partial<Verdict>, more: Partial<Snapshot>) => {
    const step = nextStep(fallenBack({ ...judged(resets(facts), ...others), ...more }))
    return step.kind === 'forgive' ? step.suspend?.map(({ key, retrials }) => [key, retrials]) : step.kind
  }
  const trialAgo = NOW_US - POLICY.trialUs
  const well = { ...runs(A, { startedAgoUs: POLICY.trialUs }), health: health(A, { healthySinceUs: trialAgo }) }
  const down = crashing(A, { exits: 50, subjectSinceUs: NOW_US - 3 * POLICY.trialUs })
  for (const [what, more] of Object.entries({ well, down })) {
    t.strictSame(release({}, more), [[keyOf(B), 1]], `${what}: each time is a try`)
    t.strictSame(release({ retrials: 2 }, more), [[keyOf(B), 3]], `${what}: also after others`)
    t.strictSame(release({ retrials: 3 }, more), [], `${what}: and no more after three`)
    t.strictSame(release({ retrials: 3, reason: 'crash-loop', resetsNode: true }, more), [], `${what}: also if it fails in another way`)
  }
  t.strictSame(release({ acquitted: true, yielded: true, retrials: 1 }, down), [[keyOf(B), 2]], 'also where nothing gets well')
  t.strictSame(release({ acquitted: true, yielded: true, retrials: 3 }, down), [], 'for however long')
  const short = { ...runs(A, { startedAgoUs: POLICY.toleranceUs }), health: health(A, { healthySinceUs: NOW_US - POLICY.toleranceUs }) }
  t.strictSame(release({ retrials: 3 }, short), [], 'the others do not wait for it')

  const left = { left: [hold(C)], lastKnownGood: LOCAL, previous: LOCAL, ...runs(B), health: health(B) }
  const beside = (facts: Partial<Verdict>) => nextStep(inTrial({ ...left, ...judged(verdict(C, 'provisional', facts)) }))
  t.match(beside({}), { kind: 'forgive', drop: [keyOf(C)] })
  t.not(beside({ reason: 'reboots' }).kind, 'forgive', 'nor is it at all since another one is well')
})

t.test('what never passed a trial here is forgiven once, however often another config is well', async (t) => {
  const beside = (facts: Partial<Verdict>, more: Partial<Snapshot> = {}) =>
    nextStep(inTrial({ left: [hold(C)], lastKnownGood: LOCAL, previous: LOCAL, ...more, ...judged(verdict(C, 'provisional', facts)) }))
  const well = { ...runs(B), health: health(B) }
  const forgotten = { kind: 'forgive', drop: [keyOf(C)] } as const
  t.match(beside({}, well), forgotten)
  const again = { acquitted: true, doubtful: true, retrials: 1 } as const
  t.not(beside(again, well).kind, 'forgive', 'it may have left what the others failed with')
  t.match(beside(again, { ...well, previous: hold(C) }), forgotten, 'what passed one is forgiven each time')
  t.match(beside(again, { ...well, proven: keyOf(C) }), forgotten, 'also the last that did')
})

type Facts = Partial<Snapshot>

const FAILED = verdict('local', 'provisional', { localConfig: 'old' })
/** Local is assigned and failed, and kubelet runs what had run before. */
const BACK: Facts = { ...assignedTo('local'), ...wants('local'), lastKnownGood: hold('local'), left: [hold(A)], localConfig: 'new' }

t.test('local is tried again where its config has changed since kubelet failed with it', async (t) => {
  const next = (facts: Facts = {}) => decide({ ...BACK, ...judged(FAILED), ...facts })
  const again = { kind: 'forgive', drop: [], suspend: [FAILED], requested: false, why: /^the local config has changed/ }
  t.match(next(), again)
  const step = next()
  t.strictSame(step.kind === 'forgive' && [step.drop, step.suspend], [[], [FAILED]])
  const not: [when: string, facts: Facts][] = [
    ['it is the same', { localConfig: 'old' }],
    ['it cannot be read', { localConfig: undefined }],
    ['what runs instead has not been well for long', { health: health(A, { healthySinceUs: NOW_US - SECOND_US }) }],
    ['the node is paused', { requests: { hold: 'paused', rollback: undefined, retry: false } }],
    ['preflight refused it', judged(verdict('local', 'refused', { localConfig: 'old' }))],
    ['it is known to have failed', judged(verdict('local', 'confirmed', { localConfig: 'old' }))],
    ['everything has failed', judged(FAILED, verdict(A, 'provisional'))],
  ]
  for (const [when, facts] of not) t.notMatch(next(facts), again, when)
  const other = fallenBack({ localConfig: 'new', ...judged(verdict(B, 'confirmed'), FAILED) })
  t.notMatch(nextStep(other), again, 'local is not assigned')
})

t.test('a return is over when kubelet has been healthy with local for a whole trial', async (t) => {
  const returned: Facts = { ...LOCAL_EVERYWHERE, ...wants('local'), left: [hold(A)] }
  const over = { kind: 'forget-left', key: keyOf('local'), wiring: READY }
  t.match(decide(returned), over)
  t.match(decide({ ...returned, left: undefined, leftDamaged: true }), over, 'also where nobody can read what was left')
  const not: [when: string, facts: Facts][] = [
    ['it has not been healthy for so long', { health: health('local', { healthySinceUs: NOW_US - MINUTE_US }) }],
    ['nothing is left', { left: [] }],
    ['nothing was ever left', { left: undefined }],
    ['the unit does not take its config from the agent', { unit: unit({ wiring: { kind: 'broken', reason: 'overridden', detail: '' } }) }],
    ['kubelet runs what was left', { ...startsWith(A), ...runs(A), health: health(A), ...judged(verdict('local', 'refused')) }],
    [
      'local stands in for what failed',
      { ...assignedTo(B), ...wants(B), ...accepts(B), ...judged(verdict(B, 'confirmed'), verdict(A, 'confirmed')) },
    ],
  ]
  for (const [when, facts] of not) t.not(decide({ ...returned, ...facts }).kind, 'forget-left', when)
})

t.test('a refusal of local is forgotten once kubelet is well with it', async (t) => {
  const returned: Facts = { ...LOCAL_EVERYWHERE, ...wants('local'), ...judged(verdict('local', 'refused')) }
  t.strictSame(decide(returned), {
    kind: 'forgive',
    drop: [keyOf('local')],
    suspend: [],
    requested: false,
    why: 'kubelet is healthy with the local config that was refused',
  })
  t.not(decide({ ...returned, health: health('local', { healthySinceUs: NOW_US - SECOND_US }) }).kind, 'forgive', 'not before')
  const failed = decide({ ...returned, ...judged(verdict('local', 'refused', { former: FAILED })) })
  t.match(failed, { kind: 'forgive', drop: { length: 0 }, suspend: [FAILED] }, 'but not what it had failed with')
})

function situate(facts: Facts = {}): TargetSituation {
  return assess(snapshot(facts)) as TargetSituation
}

const NOW_MS = 1_700_000_000_000
const DAY_US = 24 * HOUR_US
/** B has failed, is tried again, and A stands in for it. */
const DOUBTED = verdict(B, 'provisional', { doubtful: true, bootId: BOOT, atWallMs: NOW_MS })
const healthyWith = (source: typeof A | 'local', us: number): Facts => ({
  ...startsWith(source),
  ...runs(source, { startedAgoUs: us }),
  health: health(source, { healthySinceUs: NOW_US - us, subjectSinceUs: NOW_US - us }),
})
const DRAINS: Facts = { accepted: new Map([[keyOf(B), { drain: ['cpuManagerPolicy'] }]]), drained: false }

t.test('a fallback whose checkpoint is gone is forgotten, but not one that only cannot be read', async (t) => {
  const forgets = (facts: Facts) => {
    const step = forgetLostFallback(situate(facts))
    return step?.kind === 'forget-fallback' ? [step.record, step.source] : step
  }
  const unreadable = { ...lost(C), unreadable: true }
  t.strictSame(forgets({ lastKnownGood: lost(C) }), ['last-known-good', C])
  t.strictSame(forgets({ previous: lost(C) }), ['previous', C])
  t.equal(forgets({ lastKnownGood: unreadable }), undefined)
  t.equal(forgets({ previous: unreadable }), undefined)
})

t.test('what a healthy kubelet says of the configs that failed', async (t) => {
  t.test('local is never condemned by it, since its file may be another one by now', async (t) => {
    t.equal(learnFromFallback(situate({ ...BACK, ...judged(verdict('local', 'provisional')) })), undefined)
  })

  t.test('a config under trial clears a fallback that failed before, unless that exits only after hours of health', async (t) => {
    const learns = (facts: Partial<Verdict> = {}) =>
      learnFromFallback(assess(inTrial(judged(verdict(A, 'provisional', facts)))) as TargetSituation)
    const why = 'kubelet is healthy again after other configs had failed too: the node was at fault'
    t.strictSame(learns(), { kind: 'forgive', drop: [keyOf(A)], requested: false, why })
    t.equal(learns({ recurring: true }), undefined)
  })

  const onA = (us: number, ...verdicts: readonly Verdict[]) =>
    learnFromFallback(assess(fallenBack({ ...healthyWith(A, us), ...judged(...verdicts) })) as TargetSituation)

  t.test('a node is at fault only where all of it has passed', async (t) => {
    const failed = [verdict(B, 'provisional'), verdict(A, 'provisional'), verdict('local', 'provisional', { reason: 'evidence' })]
    t.equal(onA(2 * MINUTE_US, ...failed), undefined, 'what evidence found was there while kubelet was healthy')
    t.match(onA(POLICY.trialUs, ...failed), { kind: 'forgive', drop: [keyOf(A), keyOf('local')], suspend: [{ key: keyOf(B) }] })
  })

  t.test('what kubelet is healthy with is free, also where it had its second try, or failed as another kubelet', async (t) => {
    const others = [verdict(B, 'provisional'), verdict('local', 'provisional')]
    const frees = (facts: Partial<Verdict>) => {
      const step = onA(2 * MINUTE_US, ...others, verdict(A, 'provisional', facts))
      return step?.kind === 'forgive' && { drop: step.drop, suspend: step.suspend?.map(({ key }) => key), keep: step.keep }
    }
    t.strictSame(frees({}), { drop: [keyOf('local'), keyOf(A)], suspend: [keyOf(B)], keep: [] })
    t.strictSame(frees({ acquitted: true }), { drop: [keyOf('local')], suspend: [keyOf(B), keyOf(A)], keep: [] })
    const key = keyOf(A, UPGRADED_KUBELET)
    t.strictSame(frees({ key, anyKubelet: true }), { drop: [keyOf('local'), key], suspend: [keyOf(B)], keep: [] })
  })
})

t.test('which failed config is tried again, and when', async (t) => {
  const plan = (facts: Facts) => {
    const of = assess(fallenBack(facts)) as TargetSituation
    const retrial = findRetrial(of.snapshot, of.candidates, of.target)
    return retrial && [retrial.verdict.source, retrial.pauseUs / HOUR_US, retrial.number, retrial.of]
  }
  const failed = (facts: Partial<Verdict> = {}) => plan(judged({ ...DOUBTED, ...facts }))
  const BEFORE = 'the boot before'
  t.strictSame(failed(), [B, 1 / 6, 1, 3])
  t.strictSame(failed({ retrials: 2 }), [B, 6, 3, 3])
  t.equal(failed({ retrials: 3 }), undefined, 'three times')
  t.equal(failed({ doubtful: undefined }), undefined, 'where it is in doubt')
  t.equal(plan({ ...judged({ ...DOUBTED, doubtful: undefined }), health: undefined }), undefined, 'which no missing record makes it')
  t.strictSame(failed({ doubtful: undefined, bootId: BEFORE }), [B, 1 / 6, 1, 3], 'or a boot may have cured it')
  t.strictSame(failed({ bootId: BEFORE, retrials: 4 }), [B, 24, 5, 5], 'however often it was tried')
  t.equal(failed({ bootId: BEFORE, retrials: 4, leavesState: true }), undefined, 'but not where it left a file behind')
  t.equal(failed({ state: 'confirmed' }), undefined, 'what is condemned stays so')
  t.equal(failed({ damage: 'one-way' }), undefined, 'damage that no restart undoes is done once')

  const localFailed = { ...DOUBTED, ...verdict('local', 'provisional'), doubtful: true }
  t.strictSame(plan({ ...BACK, ...judged(localFailed) }), ['local', 1 / 6, 1, 3], 'local, where it is assigned')
  const onPrevious = { ...judged(verdict(B, 'confirmed'), localFailed), lastKnownGood: LOCAL, previous: hold(A) }
  t.equal(plan(onPrevious), undefined, 'and never where it stands in for another')

  const aFailed = { ...DOUBTED, ...verdict(A, 'provisional'), doubtful: true }
  t.equal(plan(judged(DOUBTED, aFailed, localFailed)), undefined, 'nothing by itself where every config failed')
  t.equal(plan({ ...healthyWith('local', HOUR_US), ...judged({ ...DOUBTED, retrials: 2 }, aFailed) })?.[0], A, 'the one that is due first')
  const neither = judged({ ...DOUBTED, retrials: 2 }, { ...aFailed, atWallMs: NOW_MS, retrials: 2 })
  t.equal(plan({ ...healthyWith('local', HOUR_US), ...neither })?.[0], B, 'and else the one that is wanted most')
  for (const settled of [snapshot(), inTrial()]) {
    const of = assess(settled) as TargetSituation
    t.equal(findRetrial(settled, of.candidates, of.target), undefined)
  }

  t.test('once, while other nodes wait for what this one has to say', async (t) => {
    const staging = {
      config: 'kube-system/b',
      record: 'record',
      arrival: 'there',
      contents: [{ hash: 'hash', content: contentOf(B) }],
    } as const
    const turn = { kind: 'go', detail: '' } as const
    const rollout = { config: 'kube-system/b', hash: 'hash', turn, confirmedAtUs: undefined }
    const counts = { generation: 1, stage: 1, lastStage: 6, openPercent: 10, proofs: 0, needed: 1, claimed: [], silent: [], vetoes: [] }
    const awaits = (finished: boolean, retrials = 0) =>
      plan({
        ...judged({ ...DOUBTED, retrials }),
        stagings: [staging],
        rollout: { ...rollout, progress: { ...counts, finished, halted: false } },
      })
    t.strictSame(awaits(false), [B, 1 / 6, 1, 1])
    t.equal(awaits(false, 1), undefined)
    t.strictSame(awaits(true, 1), [B, 1, 2, 3], 'with its rollout over, nobody waits')
  })

  t.test('when its fallback has been healthy for long enough, by either clock', async (t) => {
    const tries = (healthyUs: number, agoMs: number, facts: Facts = {}) => {
      const failedAt = judged({ ...DOUBTED, atWallMs: NOW_MS - agoMs })
      return tryFailedAgain(assess(fallenBack({ ...healthyWith(A, healthyUs), ...failedAt, ...facts })) as TargetSituation)
    }
    const again = { kind: 'retry-failed', verdict: { key: keyOf(B) }, number: 1, of: 3 }
    t.match(tries(10 * MINUTE_US, 0), again)
    t.equal(tries(10 * MINUTE_US - 1, 0), undefined)
    t.match(tries(2 * MINUTE_US, 600_000), again, 'also over a boot')
    t.equal(tries(2 * MINUTE_US, 599_999), undefined)
    t.match(tries(10 * MINUTE_US, -HOUR_US), again, 'also where the wall clock was set back')
    t.equal(tries(SECOND_US, 600_000), undefined, 'but not while the fallback has just started')
    const bootedUs = 5 * MINUTE_US
    const justBooted = {
      now: { bootId: BOOT, monotonicUs: bootedUs, wallMs: NOW_MS },
      running: { kind: 'known', content: contentOf(A), key: keyOf(A), startedAtUs: MINUTE_US, invocationId: INVOCATION },
      health: health(A, { healthySinceUs: MINUTE_US, lastSampleUs: bootedUs }),
    } as const
    const years = 50 * 365 * 24 * 3600_000
    t.equal(tries(0, years, justBooted), undefined, 'nor since the clock was set after the boot in which it failed')
    const setForward = judged({ ...DOUBTED, atWallMs: NOW_MS - years, atUs: NOW_US - 5 * MINUTE_US })
    t.equal(tries(2 * MINUTE_US, 0, setForward), undefined, 'nor since the clock was set after the failure')
    t.match(tries(0, years, { ...justBooted, ...judged({ ...DOUBTED, bootId: 'boot-0', atWallMs: NOW_MS - years }) }), again)
    const channelState = { channel: 'label', paused: { on: 'ConfigMap', by: 'x' }, problem: undefined } as const
    t.equal(tries(HOUR_US, 0, { desired: { ...wants(B).desired, channelState } }), undefined, 'nor while its ConfigMap is paused')

    const { snapshot: seen, target } = assess(fallenBack(healthyWith(A, MINUTE_US))) as TargetSituation
    const retrial = { verdict: DOUBTED, pauseUs: 10 * MINUTE_US, number: 1, of: 3 }
    t.equal(findRetrialUs(seen, retrial, target), NOW_US + 9 * MINUTE_US)
    const ill = fallenBack({ health: health(A, { healthySinceUs: undefined, unhealthySinceUs: NOW_US }) })
    t.equal(findRetrialUs(ill, retrial, target), undefined, 'nobody knows while it is ill')
  })
})

t.test('a config is not tried again for being healthy where nothing stands in for it', async (t) => {
  const failedOnA = { ...healthyWith(A, HOUR_US), ...judged({ ...DOUBTED, ...verdict(A, 'provisional'), doubtful: true }) }
  t.equal(
    tryFailedAgain(situate({ ...wants(B), ...assignedTo(B), ...DRAINS, ...failedOnA })),
    undefined,
    'another is about to take its place',
  )
  const all = judged(DOUBTED, verdict(A, 'provisional', { doubtful: true }), verdict('local', 'provisional', { reason: 'evidence' }))
  const pending = { preflightPending: new Set([keyOf(A)]) }
  t.equal(
    tryFailedAgain(situate({ ...wants(B), ...assignedTo(B), ...healthyWith(A, HOUR_US), ...all, ...pending })),
    undefined,
    'all failed',
  )
})

t.test('a failure is forgotten once kubelet has been healthy for a day with its config', async (t) => {
  const clears = (us: number, facts: Facts = {}) =>
    clearAfterLongHealth(situate({ ...healthyWith(A, us), suspendedVerdicts: new Map([[keyOf(A), verdict(A, 'provisional')]]), ...facts }))
  const why = 'kubelet has been healthy for a day with a config that had failed'
  t.strictSame(clears(DAY_US), { kind: 'forgive', drop: [keyOf(A)], requested: false, why })
  t.equal(clears(DAY_US - 1), undefined)
  t.equal(clears(DAY_US, { health: health(A, { healthySinceUs: undefined, unhealthySinceUs: NOW_US }) }), undefined, 'it is ill now')
  t.equal(clears(DAY_US, { suspendedVerdicts: new Map() }), undefined, 'it never failed')
})

t.test('what a node tries again after a long rest', async (t) => {
  const D = configMap('d')
  const rests = (facts: Facts, ...failed: readonly Verdict[]) => {
    const step = retryAfterRest(
      situate({
        ...wants(B),
        ...assignedTo(B),
        ...crashing(A, { exits: 50, subjectSinceUs: NOW_US - 3 * POLICY.trialUs }),
        ...judged(...failed),
        ...facts,
      }),
    )
    return step?.kind === 'forgive' ? { why: step.why, keys: keysOf(step) } : step
  }
  const [a, b, c, local] = ([A, B, C, 'local'] as const).map((source) => verdict(source, 'provisional')) as [
    Verdict,
    Verdict,
    Verdict,
    Verdict,
  ]
  const why = 'every config has failed, and nothing has changed for long: all are tried again'
  t.strictSame(rests({}, a, b, local), { why, keys: [keyOf(B), keyOf(A), keyOf('local')] })
  t.strictSame(rests(DRAINS, a, local), { why, keys: [keyOf(A), keyOf('local')] }, 'what waits for a drained node has not failed')
  t.equal(rests({ ...DRAINS, previous: hold(C) }, a, c), undefined, 'nor has local, which comes first')
  const onlyA = { ...BACK, localConfig: undefined, preflightPending: new Set([keyOf('local')]) }
  t.equal(rests({ ...wants('local'), ...onlyA }, a), undefined, 'there is no other than the one that runs')
  t.equal(rests({ health: undefined }, a, b, local), undefined, 'nobody knows for how long it has rested')
  const onD = { ...startsWith(D), ...runs(D), health: health(D) }
  t.equal(rests({ ...DRAINS, ...onD }, a, local), undefined, 'nor does it rest with a config that has not failed')
})
