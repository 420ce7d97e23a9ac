import fc from 'fast-check'
import t from 'tap'
import { describeSource, sameSource } from '../../src/decision/config-source.ts'
import type { Desired } from '../../src/decision/desired.ts'
import { nextStep } from '../../src/decision/next-step.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { spreadDelayUs } from '../../src/decision/spread.ts'
import type { Step } from '../../src/decision/step.ts'
import type { Verdict } from '../../src/decision/verdict.ts'
import { anySnapshot, look } from './any-snapshot.ts'
import {
  A,
  A_EDITED,
  accepts,
  assignedTo,
  B,
  BOOT,
  C,
  configMap,
  contentOf,
  crashing,
  dataOf,
  fallenBack,
  GOOD,
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

const LOCAL_EVERYWHERE = {
  ...assignedTo('local'),
  lastKnownGood: hold('local'),
  previous: hold('local'),
  proven: undefined,
  ...startsWith('local'),
  ...runs('local'),
  health: health('local'),
}

/** B assigned and accepted; A still runs. */
const READY_FOR_B = { ...wants(B), ...assignedTo(B), ...accepts(A, B) }

function decide(facts: Partial<Snapshot> = {}): Step {
  return nextStep(snapshot(facts))
}

t.test('a settled node waits', async (t) => {
  t.match(decide(), { kind: 'wait', phase: 'settled', untilUs: NOW_US + 15 * SECOND_US })
  t.match(decide({ ...wants('local'), ...LOCAL_EVERYWHERE }), { kind: 'wait', phase: 'settled' })
})

t.test('from a new assignment to the restart, one step at a time', async (t) => {
  const fresh = { ...LOCAL_EVERYWHERE, ...wants(A), accepted: new Map() }
  t.same(decide(fresh), { kind: 'assign', source: A, data: dataOf(A), inPlace: false })
  const assigned = { ...fresh, ...assignedTo(A) }
  t.same(decide(assigned), { kind: 'preflight', source: A, key: keyOf(A), data: undefined, fallback: false })
  const accepted = { ...assigned, ...accepts(A) }
  t.match(decide(accepted), { kind: 'activate', target: A, fallback: 'local' })
  const activated = { ...accepted, ...startsWith(A), health: health(A, { started: false, healthySinceUs: undefined }) }
  t.match(decide(activated), { kind: 'restart', from: 'local', to: A, record: { target: keyOf(A), fallback: false, failed: false } })
  const asked = restartTo(A, { atUs: NOW_US, invocationBefore: INVOCATION })
  t.match(decide({ ...activated, health: health(A, { subjectSinceUs: NOW_US }), restarts: [asked] }), { kind: 'wait', phase: 'restarting' })
})

t.test('a judgement that takes long is waited for, while all else goes on', async (t) => {
  const assigned = { ...LOCAL_EVERYWHERE, ...wants(A), ...assignedTo(A), accepted: new Map() }
  const pending = { ...assigned, preflightPending: new Set([keyOf(A)]) }
  t.match(decide(pending), { kind: 'wait', phase: 'preflight' })
  t.match(decide({ ...pending, ...accepts(A) }), { kind: 'activate', target: A }, 'it was accepted before')
  const failed = { ...crashing(B), ...startsWith(B), ...assignedTo(B), preflightPending: new Set([keyOf(B)]) }
  t.match(decide(failed), { kind: 'condemn' }, 'a kubelet that fails meanwhile is rolled back')
  const back = { ...failed, ...wants(B), ...judged(verdict(B, 'provisional')), accepted: new Map(), preflightPending: new Set([keyOf(A)]) }
  t.match(decide(back), { kind: 'preflight', source: A, fallback: true }, 'a fallback does not wait: it is judged by what takes no time')
})

t.test('what may change on a drained node only waits for that', async (t) => {
  const wanted = { ...LOCAL_EVERYWHERE, ...wants(A), ...assignedTo(A), accepted: new Map([[keyOf(A), { drain: ['cgroupDriver'] }]]) }
  t.match(decide(wanted), { kind: 'wait', phase: 'drain', detail: /waits until the node is drained: it changes cgroupDriver/ })
  t.match(decide({ ...wanted, drained: false }), { phase: 'drain' })
  t.match(decide({ ...wanted, drained: true }), { kind: 'activate', target: A })
  t.match(decide({ ...wanted, ...runs(A) }), { kind: 'activate', target: A }, 'a new version of what runs changes nothing')
  t.match(decide({ ...wanted, ...startsWith(A) }), { kind: 'restart', to: A }, 'once it is activated, nothing holds it')
})

t.test('what fails while the next one waits for a drained node, or for its judge, is rolled back', async (t) => {
  const failing = { ...crashing(A), ...startsWith(A), ...assignedTo(B), ...wants(B), lastKnownGood: hold('local') }
  const undrained = { ...failing, accepted: new Map([[keyOf(B), { drain: ['cgroupDriver'] }]]) }
  t.match(decide(undrained), { kind: 'condemn', verdict: { source: A, state: 'provisional' } })
  t.match(decide({ ...undrained, ...judged(verdict(A, 'provisional')) }), { kind: 'activate', target: 'local' })
  t.match(decide({ ...failing, accepted: new Map(), preflightPending: new Set([keyOf(B)]) }), { kind: 'condemn', verdict: { source: A } })
  t.match(decide({ ...undrained, drained: true }), { kind: 'activate', target: B }, 'once it is drained, what is wanted takes its place')
})

t.test('what has passed its trial and is what kubelet starts with needs no judge, as at boot', async (t) => {
  const booting = { ...runsNothing('stopped'), accepted: new Map(), basis: 'now' }
  t.not(decide(booting).kind, 'preflight')
  t.match(decide({ ...booting, proven: undefined }), { kind: 'preflight', source: A })
})

t.test('an acceptance of yesterday is asked for again before it counts', async (t) => {
  const wanted = { ...LOCAL_EVERYWHERE, ...wants(A), ...assignedTo(A), basis: 'now' }
  const accepted = (basis: string) => ({ accepted: new Map([[keyOf(A), { drain: [], basis }]]) })
  t.match(decide({ ...wanted, ...accepted('then') }), { kind: 'preflight', source: A })
  t.match(decide({ ...wanted, ...accepted('now') }), { kind: 'activate', target: A })
  t.match(decide({ ...wanted, ...accepted('then'), ...startsWith(A) }), { kind: 'restart', to: A }, 'but not once it is activated')
})

t.test('a refusal is judged anew when what it rests on has changed', async (t) => {
  const refused = { ...wants(B), ...assignedTo(B), ...judged(verdict(B, 'refused', { basis: 'then' })) }
  t.match(decide({ ...refused, basis: 'then' }), { kind: 'wait', phase: 'fallen-back' })
  t.match(decide({ ...refused, basis: 'now' }), { kind: 'preflight', source: B, fallback: false })
  t.match(decide({ ...refused, basis: 'now', preflightPending: new Set([keyOf(B)]) }), { kind: 'wait', phase: 'fallen-back' })
  t.match(decide({ ...refused, basis: undefined }), { kind: 'wait' }, 'whoever cannot judge does not')
  const failed = { ...wants(B), ...assignedTo(B), ...judged(verdict(B, 'confirmed')), basis: 'now' }
  t.match(decide(failed), { kind: 'wait' }, 'but not what kubelet failed on')
})

t.test('the fallback that is made ready is the best that is left', async (t) => {
  t.match(decide(READY_FOR_B), { kind: 'activate', target: B, fallback: A })
  t.match(decide({ ...READY_FOR_B, ...judged(verdict(A, 'confirmed')), previous: hold(C) }), { fallback: C })
  t.match(decide({ ...READY_FOR_B, lastKnownGood: hold('local') }), { fallback: 'local' })
})

t.test('what is wanted', async (t) => {
  t.test('anything but a clear answer changes nothing', async (t) => {
    const { uid: _uid, resourceVersion: _version, ...ref } = B
    const unclear: Desired[] = [
      { kind: 'unknown', detail: 'no answer yet' },
      { kind: 'invalid', detail: 'all were nil' },
      { kind: 'config-map', ref, object: { kind: 'pending' } },
      ...(['not-found', 'forbidden', 'unreachable', 'malformed'] as const).map((reason): Desired => {
        return { kind: 'config-map', ref, object: { kind: 'unavailable', reason, detail: '' } }
      }),
    ]
    for (const desired of unclear) t.match(decide({ desired, desiredContent: undefined }), { kind: 'wait', phase: 'settled' })
  })

  t.test('configSource removed: assigned, last-known-good and previous are local', async (t) => {
    t.same(decide(wants('local')), { kind: 'reset-to-local', from: A })
    const half = { ...wants('local'), ...assignedTo('local') }
    t.same(decide(half), { kind: 'reset-to-local', from: 'local' }, 'a crash on the way there is made good')
    t.same(decide({ ...half, lastKnownGood: hold('local'), previous: hold(B) }), { kind: 'reset-to-local', from: 'local' })
    const reset = { ...wants('local'), ...LOCAL_EVERYWHERE, ...startsWith(A), ...runs(A) }
    t.match(decide(reset), { kind: 'activate', target: 'local', fallback: undefined })
    t.match(decide({ ...reset, ...startsWith('local') }), { kind: 'restart', to: 'local' })
  })

  t.test('an edit in place, a new uid, another key: a new version is assigned', async (t) => {
    t.match(decide(wants(A_EDITED)), { kind: 'assign', source: A_EDITED, inPlace: true })
    const recreated = { ...A, uid: 'uid-of-the-next' }
    t.match(decide(wants(recreated)), { kind: 'assign', source: recreated, inPlace: true })
    const otherKey = { ...A, kubeletConfigKey: 'other' }
    t.match(decide(wants(otherKey)), { kind: 'assign', source: otherKey, inPlace: false })
    t.match(decide(wants(B)), { kind: 'assign', source: B, inPlace: false })
  })

  t.test('only metadata was edited: every record moves on, and nothing restarts', async (t) => {
    const same = contentOf(A)
    const assigned = { ...wants(A_EDITED, same), ...assignedTo(A_EDITED, same) }
    t.match(decide(assigned), { kind: 'activate', target: A_EDITED })
    const activated = { ...assigned, ...startsWith(A_EDITED, same) }
    t.match(decide(activated), { kind: 'promote', target: { source: A_EDITED, content: same }, previous: undefined })
    t.match(decide({ ...activated, lastKnownGood: hold(A_EDITED, same) }), { kind: 'wait', phase: 'settled' })
  })

  t.test('also while systemd does not answer', async (t) => {
    t.match(decide({ ...wants(B), unit: { kind: 'unknown', detail: 'bus' } }), { kind: 'assign', source: B })
    t.match(decide({ ...READY_FOR_B, unit: { kind: 'unknown', detail: 'bus' } }), { kind: 'wait', phase: 'unknown', detail: 'bus' })
  })

  t.test('a reset on the node holds it on local until it is lifted', async (t) => {
    const requests = { hold: 'local', rollback: undefined, retry: false } as const
    t.same(decide({ requests }), { kind: 'reset-to-local', from: A })
    t.match(decide({ ...LOCAL_EVERYWHERE, requests, ...wants(A) }), { kind: 'wait', phase: 'settled' })
    t.match(decide({ ...LOCAL_EVERYWHERE, ...wants(A) }), { kind: 'assign', source: A })
  })
})

t.test('the same version once more', async (t) => {
  const other = 'other bytes'
  t.test('its checkpoint is gone: saved again', async (t) => {
    const gone = { ...assignedTo(A), assignedContent: undefined, storedContent: undefined }
    t.match(decide(gone), { kind: 'assign', source: A })
    const other = { ...gone, desiredContent: 'other bytes', nextStart: { kind: 'known', held: lost(A) } } as const
    t.match(decide(other), { kind: 'preflight', data: dataOf(A) }, 'but with other content not unjudged, where kubelet starts from it')
  })

  const restored = { ...wants(A, other) }
  t.test('with other content, as after a restored etcd: judged first, since kubelet may start from it at any time', async (t) => {
    t.match(decide(restored), { kind: 'preflight', source: A, key: `${other}@kubelet-v1`, data: dataOf(A) })
    t.match(decide({ ...restored, accepted: new Map([[`${other}@kubelet-v1`, { drain: [] }]]) }), {
      kind: 'assign',
      source: A,
      inPlace: true,
    })
  })

  t.test('while nobody knows what kubelet starts with: not now', async (t) => {
    const accepted = {
      ...restored,
      accepted: new Map([
        [keyOf(A), { drain: [] }],
        [`${other}@kubelet-v1`, { drain: [] }],
      ]),
      nextStart: { kind: 'unknown', detail: '' },
    } as const
    t.not(decide({ ...accepted, unit: { kind: 'unknown', detail: 'bus' } }).kind, 'assign', 'systemd does not answer')
    const wiring = { kind: 'broken', reason: 'daemon-reload-needed', detail: '' } as const
    t.not(
      decide({ ...accepted, accepted: new Map([[keyOf(A), { drain: [] }]]), unit: unit({ wiring }) }).kind,
      'assign',
      'the unit may read kubelet.env or not',
    )
  })

  t.test('refused: what runs stays', async (t) => {
    const refused = judged(verdict(A, 'refused', { key: `${other}@kubelet-v1` }))
    t.match(decide({ ...restored, ...refused }), { kind: 'wait', phase: 'settled' })
  })

  t.test('whatever was assigned: kubelet starts from it', async (t) => {
    const damaged = { assigned: { kind: 'damaged', detail: 'garbage' }, assignedContent: undefined } as const
    for (const before of [damaged, assignedTo(B), assignedTo('local')]) {
      t.match(decide({ ...restored, ...before }), { kind: 'preflight', source: A, data: dataOf(A) })
      const refused = judged(verdict(A, 'refused', { key: `${other}@kubelet-v1` }))
      t.not(decide({ ...restored, ...before, ...refused }).kind, 'assign')
      const same = { ...wants(A), ...before, unit: unit({ wiring: { kind: 'broken', reason: 'overridden', detail: '' } }) } as const
      t.match(decide({ ...same, nextStart: { kind: 'unknown', detail: '' } }), { kind: 'assign' }, 'what differs in nothing needs no judge')
    }
    const otherKey = { ...A, kubeletConfigKey: 'other' }
    t.match(decide({ ...wants(otherKey, other) }), { kind: 'preflight', source: otherKey }, 'nor does it matter which of its keys')
  })

  t.test('nothing starts from it: saved at once, and judged before it is activated', async (t) => {
    t.match(decide({ ...restored, ...startsWith(B), ...runs(B) }), { kind: 'assign', source: A })
  })
})

t.test('preflight refused it', async (t) => {
  const refused = { ...READY_FOR_B, ...judged(verdict(B, 'refused')) }
  t.match(decide(refused), { kind: 'wait', phase: 'fallen-back' }, 'no restart where last-known-good runs')
  const running = { ...refused, ...startsWith(C), ...runs(C), health: health(C) }
  t.match(decide(running), { kind: 'activate', target: A, fallback: undefined }, 'back to it where something else does')
})

t.test('the spread', async (t) => {
  const sinceUs = NOW_US - spreadDelayUs('node-1', A_EDITED, POLICY.spreadUs) + SECOND_US
  const spread = { bootId: BOOT, source: A_EDITED, sinceUs }
  const edited = { ...wants(A_EDITED), ...assignedTo(A_EDITED), ...accepts(A, A_EDITED), spread }
  t.match(decide(edited), { kind: 'wait', phase: 'spread', untilUs: NOW_US + SECOND_US })
  t.match(decide({ ...edited, spread: { ...spread, sinceUs: sinceUs - SECOND_US } }), { kind: 'activate', target: A_EDITED })
  t.match(decide({ ...edited, spread: undefined }), { kind: 'activate' }, 'a change of the node’s own assignment')
  t.not(decide({ ...edited, ...crashing(A) }).kind, 'wait', 'what runs fails: its successor cannot come too soon')
  t.match(decide({ ...edited, accepted: new Map([[keyOf(A), { drain: [] }]]) }), { kind: 'preflight' }, 'it is judged while it waits')
  const same = contentOf(A)
  t.match(decide({ ...edited, ...wants(A_EDITED, same), ...assignedTo(A_EDITED, same) }), { kind: 'activate' }, 'nothing to restart')
})

t.test('the trial', async (t) => {
  t.match(nextStep(inTrial()), { kind: 'wait', phase: 'in-trial' })
  const over = { ...runs(B), health: health(B, { healthySinceUs: NOW_US - POLICY.trialUs }) }
  t.match(nextStep(inTrial(over)), { kind: 'prove', key: keyOf(B) })
  t.match(nextStep(inTrial({ ...over, proven: keyOf(B) })), { kind: 'promote', target: hold(B), previous: A })
  t.match(nextStep(inTrial({ ...over, proven: keyOf(B), lastKnownGood: hold(B) })), { kind: 'wait', phase: 'settled' })

  t.test('a look is due when it ends', async (t) => {
    const almost = { ...runs(B), health: health(B, { healthySinceUs: NOW_US - POLICY.trialUs + 1000 }) }
    t.match(nextStep(inTrial(almost)), { kind: 'wait', untilUs: NOW_US + 1000 })
  })

  t.test('nothing is promoted that does not run', async (t) => {
    const again = { ...LOCAL_EVERYWHERE, ...wants(A), ...assignedTo(A), ...accepts(A), proven: keyOf(A) }
    t.match(decide({ ...again, ...startsWith(A), health: health(A, { started: false, healthySinceUs: undefined }) }), { kind: 'restart' })
  })

  t.test('a new kubelet reopens it, from its next start on', async (t) => {
    const upgraded = { unit: unit({ kubeletIdentity: UPGRADED_KUBELET }), health: undefined }
    t.match(decide(upgraded), { kind: 'wait', phase: 'in-trial', detail: /have changed since it started/ })
    const key = keyOf(A, UPGRADED_KUBELET)
    const started = runs(A, { kubelet: UPGRADED_KUBELET, unit: { kubeletIdentity: UPGRADED_KUBELET } })
    t.match(decide({ ...started, health: health(A, { subject: key, healthySinceUs: NOW_US - HOUR_US }) }), { kind: 'prove', key })
  })

  t.test('one that does not come to an end is said', async (t) => {
    t.match(nextStep(inTrial()), { detail: /^trial of kube-system\/b/ })
    const young = { healthySinceUs: NOW_US - MINUTE_US }
    t.match(nextStep(inTrial({ health: health(B, { ...young, starts: 6 }) })), { detail: /does not come to an end/ })
    t.match(nextStep(inTrial({ health: health(B, { ...young, subjectSinceUs: NOW_US - 2 * HOUR_US }) })), {
      detail: /does not come to an end/,
    })
  })

  t.test('last-known-good that runs as a fallback is proved, and stays what it is', async (t) => {
    const started = runs(A, { kubelet: UPGRADED_KUBELET, unit: { kubeletIdentity: UPGRADED_KUBELET } })
    const key = keyOf(A, UPGRADED_KUBELET)
    const facts = {
      ...started,
      health: health(A, { subject: key }),
      ...judged(verdict(B, 'confirmed', { key: keyOf(B, UPGRADED_KUBELET) })),
    }
    t.match(nextStep(fallenBack(facts)), { kind: 'prove', key })
    t.match(nextStep(fallenBack({ ...facts, proven: key })), { kind: 'wait', phase: 'fallen-back' })
    const previous = { lastKnownGood: hold(C), previous: hold(A), ...judged(verdict(B, 'confirmed'), verdict(C, 'confirmed')) }
    t.match(
      nextStep(fallenBack({ ...previous, proven: keyOf(C) })),
      { kind: 'wait', phase: 'fallen-back' },
      'previous is not promoted again',
    )
  })
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
      { kind: 'condemn', verdict: { key: keyOf(B), state: 'provisional', reason, source: B }, next: A, asked: false },
      what,
    )
    t.match(
      nextStep(inTrial({ ...facts, ...assignedTo(B), lastKnownGood: hold(B), proven: keyOf(B) })),
      { kind: 'condemn', next: 'local' },
      `${what} of what was promoted`,
    )
    const paused = { requests: { hold: 'paused', rollback: undefined, retry: false } } as const
    t.match(nextStep(inTrial({ ...facts, ...paused })), { kind: 'wait' }, `${what} while paused`)
  }

  t.test('leads to the fallback without a wait', async (t) => {
    const condemned = inTrial({ ...crashing(B), ...judged(verdict(B, 'provisional')) })
    t.match(nextStep(condemned), { kind: 'activate', target: A, fallback: undefined })
    const activated = { ...condemned, ...startsWith(A), health: health(A, { started: false, lastProcess: health(B).lastProcess }) }
    t.match(nextStep(activated), { kind: 'restart', to: A, record: { fallback: true } })
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
    const lower = { ...crashing(A), ...wants(B), ...assignedTo(B), ...judged(verdict(B, 'provisional')) }
    t.match(decide({ ...lower, previous: hold(C) }), { kind: 'condemn', verdict: { key: keyOf(A) }, next: C })
    t.match(decide(lower), { kind: 'condemn', next: 'local' })
  })
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
    keys: [keyOf(B), keyOf(A), keyOf('local')],
    asked: false,
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
  t.match(nextStep(fallenBack({ ...resting, ...startsWith('local') })), { kind: 'activate', target: A }, 'it rests on last-known-good')

  t.test('but not for ever: last-known-good may have gone bad itself', async (t) => {
    const since = (agoUs: number) => ({ ...resting, ...crashing(A, { exits: 50, subjectSinceUs: NOW_US - agoUs }) })
    t.match(nextStep(fallenBack(since(3 * POLICY.trialUs - 1))), { kind: 'wait', phase: 'node-at-fault' })
    const long = since(3 * POLICY.trialUs)
    t.match(nextStep(fallenBack(long)), { kind: 'forgive', keys: [keyOf(B), keyOf(A), keyOf('local')], asked: false })
    const paused = { requests: { hold: 'paused', rollback: undefined, retry: false } } as const
    for (const not of [paused, { runtimeUp: false }]) t.match(nextStep(fallenBack({ ...long, ...not })), { kind: 'wait' })
  })

  t.test('and nothing that happened meanwhile is charged to the config that comes out of it', async (t) => {
    const well = { ...runs(A), health: health(A, { healthySinceUs: NOW_US - 2 * MINUTE_US, exits: 50 }) }
    const step = nextStep(fallenBack({ ...all, ...well }))
    if (step.kind === 'wait') return t.fail('it waits')
    const forgiven = look(fallenBack({ ...all, ...well }), step, () => false)
    t.not(nextStep({ ...forgiven, ...judged(verdict(B, 'refused')) }).kind, 'condemn')
  })
})

t.test('requests', async (t) => {
  const ask = (facts: Partial<Snapshot['requests']>) =>
    ({ requests: { hold: 'none', rollback: undefined, retry: false, ...facts } }) as const

  t.test('retry drops every verdict', async (t) => {
    const facts = { ...ask({ retry: true }), ...judged(verdict(B, 'confirmed'), verdict(C, 'refused')) }
    t.match(nextStep(fallenBack(facts)), { kind: 'forgive', keys: [keyOf(B), keyOf(C)], asked: true })
    t.match(decide(ask({ retry: true })), { kind: 'forgive', keys: [], asked: true }, 'and is done even where there is none')
  })

  t.test('rollback condemns what runs, for good', async (t) => {
    t.match(nextStep(inTrial(ask({ rollback: { content: contentOf(B) } }))), {
      kind: 'condemn',
      verdict: { key: keyOf(B), state: 'confirmed', reason: 'requested' },
      next: A,
      asked: true,
    })
    t.match(nextStep(inTrial(ask({ rollback: { content: contentOf(A) } }))), { kind: 'drop-rollback' }, 'it was about something else')
    t.match(decide({ ...LOCAL_EVERYWHERE, ...wants('local'), ...ask({ rollback: { content: 'local' } }) }), { kind: 'drop-rollback' })
  })

  t.test('paused: assigned is followed, kubelet is left alone', async (t) => {
    const paused = ask({ hold: 'paused' })
    t.match(decide({ ...wants(B), ...paused }), { kind: 'assign' })
    t.match(decide({ ...READY_FOR_B, ...paused }), { kind: 'wait', phase: 'paused' })
    t.match(decide({ ...READY_FOR_B, ...startsWith(B), ...paused }), { kind: 'wait', phase: 'paused' })
    t.match(decide(paused), { kind: 'wait', phase: 'settled' }, 'where there is nothing to do it is no matter')
  })
})

t.test('a kubelet that a person stopped', async (t) => {
  const stopped = { ...READY_FOR_B, ...runsNothing('stopped') }
  t.match(decide(stopped), { kind: 'activate', target: B }, 'its next start uses what is wanted')
  t.match(decide({ ...stopped, ...startsWith(B) }), { kind: 'wait', phase: 'kubelet-stopped' })
})

t.test('while systemd is stopping it nothing is done or judged', async (t) => {
  t.match(nextStep(inTrial({ ...crashing(B), ...runsNothing('stopping') })), { kind: 'wait', phase: 'restarting' })
  t.match(decide({ ...wants(B), ...runsNothing('stopping') }), { kind: 'wait', phase: 'restarting' })
})

t.test('limits', async (t) => {
  const spent = Array.from({ length: POLICY.restartsPerHour }, (_, index) => restartTo(GOOD, { atUs: NOW_US - (20 - index) * MINUTE_US }))
  const due = { ...READY_FOR_B, ...startsWith(B), health: health(B, { started: false }), restarts: spent }
  t.match(decide(due), { kind: 'wait', phase: 'restart-limit' })

  const asked = restartTo(B, { atUs: NOW_US - MINUTE_US, invocationBefore: 'invocation-0' })
  const ineffective = { ...due, health: health(B, { subjectSinceUs: NOW_US - 2 * MINUTE_US }), restarts: [asked] }
  t.match(decide(ineffective), { kind: 'wait', phase: 'ineffective' })

  t.match(decide({ ...READY_FOR_B, ...startsWith(B), health: health(B, { started: false }), runtimeUp: false }), {
    kind: 'wait',
    phase: 'runtime-down',
  })
})

t.test('wiring', async (t) => {
  const broken = (reason: 'overridden' | 'dynamic-config-dir') => ({ unit: unit({ wiring: { kind: 'broken', reason, detail: reason } }) })
  t.match(decide({ ...wants(B), ...broken('overridden') }), { kind: 'assign' }, 'the assignment is followed')
  t.match(decide({ ...READY_FOR_B, ...broken('overridden') }), { kind: 'wait', phase: 'blocked', detail: 'overridden' })
  t.match(decide(broken('overridden')), { kind: 'wait', phase: 'settled', detail: 'overridden' }, 'what is wanted runs already')
  t.match(decide({ ...wants(B), ...broken('dynamic-config-dir') }), { kind: 'wait', phase: 'blocked' }, 'two controllers: touch nothing')
})

t.test('damage', async (t) => {
  const damaged = { assigned: { kind: 'damaged', detail: 'garbage' }, assignedContent: undefined } as const
  t.match(decide(damaged), { kind: 'assign', source: A }, 'the cluster says it anew')
  t.match(decide({ ...damaged, ...wants('local') }), { kind: 'reset-to-local', from: undefined })
  const untold = { ...damaged, desired: { kind: 'unknown', detail: '' } } as const
  t.match(decide(untold), { kind: 'wait', phase: 'unknown', detail: /was damaged/ }, 'unknown is not local')
  t.match(decide({ ...untold, nextStart: { kind: 'unknown', detail: '' } }), { kind: 'wait', phase: 'unknown', detail: /was damaged/ })
  t.match(decide({ ...untold, lastKnownGood: lost(A) }), { kind: 'wait' }, 'a lost fallback may be what is assigned')
  const failing = { ...untold, ...startsWith(B), ...crashing(B), ...accepts(A, B) }
  t.match(decide(failing), { kind: 'condemn', verdict: { key: keyOf(B) }, next: A }, 'what fails is left all the same')
  t.match(decide({ ...failing, ...judged(verdict(B, 'provisional')) }), { kind: 'activate', target: A })
  const rested = { ...untold, ...startsWith(B), ...runs(B), health: health(B), proven: keyOf(B) }
  t.match(decide(rested), { kind: 'wait', phase: 'unknown' }, 'and nothing is promoted')

  const localFails = { ...untold, ...startsWith('local'), ...crashing('local') }
  t.match(decide(localFails), { kind: 'condemn', next: A }, 'local may be a fallback that fails')
  const all = judged(...[A, B, 'local' as const].map((source) => verdict(source, 'provisional')))
  t.match(decide({ ...localFails, ...all }), { kind: 'activate', target: A }, 'and where everything failed, the node was at fault')
  t.match(decide({ ...untold, ...all }), { kind: 'forgive', keys: [keyOf(A), keyOf(B), keyOf('local')] }, 'for every config, known or not')
  const nothingElse = { lastKnownGood: hold('local'), previous: hold('local') }
  t.match(decide({ ...localFails, ...nothingElse }), { kind: 'wait' }, 'but where there never was another, it is the administrator’s')

  t.match(decide({ lastKnownGood: lost(C) }), { kind: 'forget-fallback', record: 'last-known-good', source: C })
  t.match(decide({ previous: lost(C) }), { kind: 'forget-fallback', record: 'previous', source: C })
  const gone = { ...assignedTo(A), assignedContent: undefined, lastKnownGood: lost(A) }
  t.match(decide(gone), { kind: 'assign', source: A }, 'the cluster still has it')

  t.match(decide({ nextStart: { kind: 'unknown', detail: 'garbage' } }), { kind: 'activate', target: A }, 'kubelet.env is written anew')
})

t.test('a step that failed is left alone for a while', async (t) => {
  const failed = (step: Step['kind'], inUs = 10 * SECOND_US, about = '') => ({
    troubles: [{ step, about, detail: 'disk full', retryAtUs: NOW_US + inUs }],
  })
  t.match(decide({ ...wants(B), ...failed('assign') }), { kind: 'wait', phase: 'settled', untilUs: NOW_US + 10 * SECOND_US })
  t.match(decide({ ...wants(B), ...failed('assign', 0) }), { kind: 'assign' }, 'and then tried again')
  t.match(decide({ ...READY_FOR_B, ...failed('preflight') }), { kind: 'activate' }, 'other steps go on')

  t.test('which does not keep a node from falling back', async (t) => {
    const condemned = { ...crashing(B), ...judged(verdict(B, 'provisional')) }
    for (const step of ['assign', 'prove', 'promote', 'prune', 'confirm', 'preflight', 'forget-fallback'] as const) {
      t.match(nextStep(inTrial({ ...condemned, ...failed(step) })), { kind: 'activate', target: A }, step)
    }
    t.match(nextStep(inTrial({ ...condemned, ...failed('activate') })), { kind: 'activate', target: A }, 'nor does another activation')
    const unjudged = { ...condemned, accepted: new Map(), ...failed('preflight', 10 * SECOND_US, describeSource(A)) }
    t.match(nextStep(inTrial(unjudged)), { kind: 'activate', target: A }, 'nor a preflight that cannot be carried out')
  })

  t.test('a fallback that cannot be written has left local behind, and that is what is to run', async (t) => {
    const condemned = {
      ...judged(verdict(B, 'provisional')),
      ...failed('activate', 10 * SECOND_US, describeSource(A)),
      ...startsWith('local'),
    }
    const fresh = { health: health('local', { started: false, healthySinceUs: undefined, lastProcess: health(B).lastProcess }) }
    t.match(nextStep(inTrial({ ...condemned, ...runsNothing('auto-restart'), ...fresh })), {
      kind: 'restart',
      to: 'local',
      record: { target: keyOf('local'), fallback: true },
    })
  })

  t.test('a trial that is over and cannot be written down is waited for at the usual pace', async (t) => {
    const over = { ...runs(B), health: health(B, { healthySinceUs: NOW_US - 2 * POLICY.trialUs }) }
    const step = nextStep(inTrial({ ...over, ...failed('prove') }))
    t.ok(step.kind === 'wait' && step.untilUs > NOW_US)
  })
})

t.test('old checkpoints go last', async (t) => {
  const checkpoints = Array.from({ length: POLICY.keepCheckpoints + 2 }, (_, index) => {
    const { uid, resourceVersion } = configMap('old', String(index))
    return { uid, resourceVersion, savedAtMs: index }
  })
  t.match(decide({ checkpoints }), { kind: 'prune', checkpoints: [{ resourceVersion: '1' }, { resourceVersion: '0' }] })
  t.match(decide({ checkpoints, ...READY_FOR_B }), { kind: 'activate' })
})

t.test('whatever can be read', async (t) => {
  const check = (property: (seen: Snapshot, step: Step) => boolean) =>
    fc.assert(
      fc.property(anySnapshot, (seen) => property(seen, nextStep(seen))),
      { numRuns: 2000 },
    )

  t.test('is decided on, and waits end', async () => check((seen, step) => step.kind !== 'wait' || step.untilUs > seen.now.monotonicUs))

  t.test('kubelet is never restarted while paused, stopped by a person, or running just that', async () =>
    check((seen, step) => {
      if (step.kind !== 'restart') return true
      if (seen.unit.kind === 'unknown' || seen.requests.hold === 'paused') return false
      const interrupted = step.record.failed && seen.restarts.at(-1)?.failed === true
      if (seen.unit.activity === 'stopped' && !interrupted) return false
      if (seen.nextStart.kind === 'unknown') return false
      return seen.running.kind !== 'known' || seen.running.content !== seen.nextStart.held.content
    }),
  )

  t.test('a restart says truly what kubelet will run', async () =>
    check((seen, step) => step.kind !== 'restart' || (seen.nextStart.kind === 'known' && sameSource(step.to, seen.nextStart.held.source))),
  )

  t.test('an unknown wish changes no assignment', async () =>
    check((seen, step) => {
      const clear = seen.desired.kind === 'local' || (seen.desired.kind === 'config-map' && seen.desired.object.kind === 'found')
      return clear || seen.requests.hold === 'local' || (step.kind !== 'assign' && step.kind !== 'reset-to-local')
    }),
  )

  t.test('a fallback never waits for its turn', async () =>
    check((seen, step) => {
      if (step.kind !== 'wait' || step.phase !== 'spread') return true
      return (
        seen.assigned.kind === 'source' &&
        seen.assignedContent !== undefined &&
        ![...seen.verdicts.values()].some(
          ({ key }) => key === `${seen.assignedContent}@${seen.unit.kind === 'known' ? seen.unit.kubeletIdentity : ''}`,
        )
      )
    }),
  )

  t.test('what is activated exists, was not refused, and what is not proved was judged', async () =>
    check((seen, step) => {
      if (step.kind !== 'activate' || step.target === 'local' || seen.unit.kind === 'unknown') return true
      const assigned = seen.assigned.kind === 'source' ? [{ source: seen.assigned.source, content: seen.assignedContent }] : []
      const held = [...assigned, seen.lastKnownGood, seen.previous].find(({ source }) => sameSource(source, step.target))
      if (held?.content === undefined) return false
      return seen.verdicts.get(`${held.content}@${seen.unit.kubeletIdentity}`)?.state !== 'refused'
    }),
  )

  t.test('two controllers: nothing is touched', async () =>
    check((seen, step) => {
      const held = seen.unit.kind === 'known' && seen.unit.wiring.kind === 'broken' && seen.unit.wiring.reason === 'dynamic-config-dir'
      return !held || step.kind === 'wait'
    }),
  )

  t.test('last-known-good moves only to what is proved and runs, or to another version of itself', async () =>
    check((seen, step) => {
      if (step.kind !== 'promote') return true
      if (step.target.content === seen.lastKnownGood.content) return true
      return seen.running.kind === 'known' && seen.running.content === step.target.content && seen.running.key === seen.proven
    }),
  )

  t.test('what is proved has been healthy for a whole trial', async () =>
    check((seen, step) => {
      if (step.kind !== 'prove') return true
      const { running, health: record, now } = seen
      if (running.kind !== 'known' || running.key !== step.key || record?.healthySinceUs === undefined || record.bootId !== now.bootId)
        return false
      return now.monotonicUs - Math.max(running.startedAtUs, record.healthySinceUs) >= POLICY.trialUs
    }),
  )

  t.test('steps that are carried out come to an end', async () => {
    fc.assert(
      fc.property(anySnapshot, fc.func(fc.boolean()), (start, refuses) => {
        let seen: Snapshot = { ...start, troubles: [] }
        for (let count = 0; count < 25; count += 1) {
          const step = nextStep(seen)
          if (step.kind === 'wait') return true
          seen = look(seen, step, refuses)
        }
        return false
      }),
      { numRuns: 2000 },
    )
  })

  t.test('and leave kubelet to start with what is assigned, or with what it falls back to', async () => {
    fc.assert(
      fc.property(anySnapshot, (start) => {
        let seen: Snapshot = { ...start, preflightPending: new Set(), troubles: [] }
        let step = nextStep(seen)
        for (; step.kind !== 'wait'; step = nextStep(seen)) seen = look(seen, step, () => false)
        const held = ['unknown', 'blocked', 'paused', 'preflight', 'drain', 'spread', 'restarting'].includes(step.phase)
        if (held || seen.unit.kind === 'unknown' || seen.unit.wiring.kind === 'broken' || seen.assigned.kind === 'damaged') return true
        if (seen.nextStart.kind === 'unknown') return false
        const key = `${seen.assignedContent}@${seen.unit.kubeletIdentity}`
        const waits = seen.drained !== true && (seen.accepted.get(key)?.drain.length ?? 0) > 0
        if (seen.verdicts.has(key) || waits) return true
        return seen.assignedContent === undefined || seen.nextStart.held.content === seen.assignedContent
      }),
      { numRuns: 2000 },
    )
  })
})
