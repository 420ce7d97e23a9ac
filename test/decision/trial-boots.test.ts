import t from 'tap'
import { effectsOf } from '../../src/decision/effects-of-step.ts'
import { nextStep } from '../../src/decision/next-step.ts'
import type { TrialBoots } from '../../src/decision/records.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Action } from '../../src/decision/step.ts'
import {
  A,
  B,
  BOOT,
  health,
  hold,
  inTrial,
  judged,
  keyOf,
  restartTo,
  runs,
  runsNothing,
  snapshot,
  startsWith,
  UPGRADED_KUBELET,
  verdict,
} from './snapshots.ts'

const NOW_MS = snapshot().now.wallMs
const MINUTE_MS = 60e3
const THIS_BOOT = { bootId: BOOT, atWallMs: NOW_MS }

/** This boot began in the trial of B, as did others so many minutes ago. */
function afterBoots(minutesAgo: readonly number[], facts: Partial<Snapshot> = {}): Snapshot {
  return inTrial({ trialBoots: bootsOf(keyOf(B), minutesAgo), restarts: [], ...facts })
}

function bootsOf(key: string, minutesAgo: readonly number[]): TrialBoots {
  return { key, boots: minutesAgo.map((minutes) => ({ bootId: `boot-${minutes}-ago`, atWallMs: NOW_MS - minutes * MINUTE_MS })) }
}

const PAUSED = { requests: { hold: 'paused', rollback: undefined, retry: false } } as const

t.test('a boot that began in a trial is written down once', async (t) => {
  const first = { key: keyOf(B), boots: [THIS_BOOT] }
  const none = { restarts: [], trialBoots: undefined }
  t.same(nextStep(inTrial(none)), { kind: 'record-boot', trialBoots: first })
  t.match(nextStep(inTrial({ ...none, trialBoots: first })), { kind: 'wait', phase: 'in-trial', detail: /^trial of \S+$/ })
  const both = [...bootsOf(keyOf(B), [20]).boots, THIS_BOOT]
  t.same(nextStep(afterBoots([20])), { kind: 'record-boot', trialBoots: { key: keyOf(B), boots: both } }, 'beside the one before')
  const ofA = inTrial({ restarts: [], trialBoots: bootsOf(keyOf(A), [5, 10, 15]) })
  t.same(nextStep(ofA), { kind: 'record-boot', trialBoots: first }, 'those of another config say nothing of this one')
  const second = nextStep(inTrial({ ...none, trialBoots: { key: keyOf(B), boots: both } }))
  t.match(second, { kind: 'wait', phase: 'in-trial', detail: /in which the node was rebooted 2 times$/ })
  const old = [...bootsOf(keyOf(B), [10]).boots, THIS_BOOT]
  t.same(nextStep(afterBoots([90, 70, 10])), { kind: 'record-boot', trialBoots: { key: keyOf(B), boots: old } }, 'old ones are forgotten')
})

t.test('no boot is written down that did not begin in a trial', async (t) => {
  t.match(nextStep(inTrial({ trialBoots: undefined })), { kind: 'wait', phase: 'in-trial' }, 'the agent itself restarted kubelet with it')
  t.match(
    nextStep(inTrial({ trialBoots: undefined, restarts: [restartTo(B, { bootId: 'boot-0' })] })),
    { kind: 'record-boot' },
    'but not in another boot',
  )
  t.match(
    nextStep(inTrial({ trialBoots: undefined, restarts: [], health: health(B, { started: false }) })),
    { kind: 'wait' },
    'kubelet was not started with it',
  )
  t.match(nextStep(snapshot({ trialBoots: undefined, restarts: [] })), { kind: 'wait', phase: 'settled' }, 'what was promoted')
  const passed = inTrial({ trialBoots: undefined, restarts: [], proven: keyOf(B), lastKnownGood: hold(B) })
  t.match(nextStep(passed), { kind: 'wait' }, 'what has passed')
  const upgraded = { trialBoots: undefined, restarts: [], lastKnownGood: hold(B), proven: keyOf(B, UPGRADED_KUBELET) }
  t.match(nextStep(inTrial(upgraded)), { kind: 'wait', phase: 'in-trial' }, 'what was promoted with another kubelet')
  t.match(nextStep(inTrial({ trialBoots: undefined, restarts: [], previous: hold(B) })), { kind: 'wait' }, 'what was promoted before')
  t.match(nextStep(inTrial({ trialBoots: undefined, restarts: [], ...PAUSED })), { kind: 'wait' }, 'in a pause')
})

t.test('a config is left when three boots within an hour began in its trial', async (t) => {
  const failed = { reason: 'reboots', detail: 'the node was rebooted 3 times in its trial', damage: 'transient', doubtful: true }
  t.match(nextStep(afterBoots([25, 10])), { kind: 'condemn', verdict: { key: keyOf(B), state: 'provisional', ...failed }, next: A })
  const exited = afterBoots([25, 10], runsNothing('auto-restart'))
  t.match(nextStep(exited), { kind: 'condemn', verdict: failed }, 'whether kubelet runs or not')
  t.match(nextStep(afterBoots([10])), { kind: 'record-boot' }, 'two are too few')
  t.match(nextStep(afterBoots([70, 10])), { kind: 'record-boot' }, 'or they are too far apart')
})

t.test('nothing is left that was promoted here, that a pause keeps, or that is local', async (t) => {
  const boots = afterBoots([40, 25, 10])
  const upgraded = { ...boots, lastKnownGood: hold(B), proven: keyOf(B, UPGRADED_KUBELET) }
  t.match(nextStep(upgraded), { kind: 'wait', phase: 'in-trial' })
  t.match(nextStep({ ...boots, ...PAUSED }), { kind: 'wait' })
  const local = { ...startsWith('local'), ...runs('local'), restarts: [], trialBoots: bootsOf(keyOf('local'), [40, 25, 10]) }
  t.not(nextStep(snapshot(local)).kind, 'condemn')
})

t.test('what was left for that and is tried again is left after one more reboot', async (t) => {
  const before = verdict(B, 'provisional', { reason: 'reboots', doubtful: true, retrials: 1, suspended: true })
  t.match(nextStep(afterBoots([], { suspendedVerdicts: new Map([[keyOf(B), before]]) })), {
    kind: 'condemn',
    verdict: { reason: 'reboots', detail: 'the node was rebooted once in its trial', doubtful: true, retrials: 1 },
  })
  const ill = new Map([[keyOf(B), { ...before, reason: 'ill-health' as const }]])
  t.match(nextStep(afterBoots([], { suspendedVerdicts: ill })), { kind: 'record-boot' }, 'but not what failed otherwise')
})

t.test('it is tried again once the fallback has been healthy for a while', async (t) => {
  const left = verdict(B, 'provisional', { reason: 'reboots', doubtful: true, atWallMs: NOW_MS - 11 * MINUTE_MS })
  const { desired, desiredContent, storedContent, assigned, assignedContent } = inTrial()
  const fallenBack = snapshot({ ...judged(left), desired, desiredContent, storedContent, assigned, assignedContent })
  t.match(nextStep(fallenBack), { kind: 'retry-failed', verdict: { reason: 'reboots' }, number: 1 })
})

t.test('boots are forgotten with the trial in which they began', async (t) => {
  const forgotten = { kind: 'write-trial-boots', trialBoots: undefined }
  const boots = afterBoots([25, 10])
  const condemn = nextStep(boots) as Action
  const effects = effectsOf(condemn, boots).map(({ kind }) => kind)
  t.ok(effects.indexOf('write-trial-boots') < effects.indexOf('write-verdict'), 'first, since what is tried again is not charged with them')
  t.match(
    effectsOf(condemn, boots).find(({ kind }) => kind === 'write-trial-boots'),
    forgotten,
  )
  t.match(
    effectsOf({ kind: 'prove', key: keyOf(B) }, boots).find(({ kind }) => kind === 'write-trial-boots'),
    forgotten,
  )
  const none = { ...boots, trialBoots: undefined }
  t.notOk(
    effectsOf({ kind: 'prove', key: keyOf(B) }, none).some(({ kind }) => kind === 'write-trial-boots'),
    'where there were any',
  )
})
