// SPDX-License-Identifier: Apache-2.0
/**
 * A config that preflight refuses while another one runs: what runs goes on, with its trial and its
 * promotion. With `whenRefused: last-known-good` the node falls back, as kubelet's own Dynamic
 * Kubelet Configuration did.
 */
import t from 'tap'
import { effectsOf } from '../../src/decision/effects-of-step.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { assess } from '../../src/decision/target.ts'
import {
  A,
  A_EDITED,
  accepts,
  assignedTo,
  B,
  C,
  contentOf,
  crashing,
  health,
  hold,
  INVOCATION,
  inTrial,
  judged,
  KUBELET,
  keyOf,
  LOCAL_EVERYWHERE,
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
  verdict,
  wants,
} from './snapshots.ts'

const KUBELETS_WAY = { policy: { ...POLICY, whenRefused: 'last-known-good' } } as const
/** C is assigned and was refused. */
const C_REFUSED = { ...wants(C), ...assignedTo(C), ...judged(verdict(C, 'refused')), accepted: new Map() }
const OVER = { health: health(B, { healthySinceUs: NOW_US - POLICY.trialUs }), ...runs(B) }

/** B is on trial; A is last-known-good. */
const refusedInTrial = (facts: Partial<Snapshot> = {}) => inTrial({ ...C_REFUSED, ...facts })

t.test('on trial: the trial goes on, and nothing is restarted', async (t) => {
  t.match(assess(refusedInTrial()).target, { source: B, fallback: true, goesOn: true, atFault: false })
  t.match(nextStep(refusedInTrial()), { kind: 'wait', phase: 'in-trial', untilUs: NOW_US + 5 * SECOND_US, detail: /^trial of .*\/b:/ })
  t.match(nextStep(refusedInTrial({ ...KUBELETS_WAY, ...accepts(A) })), { kind: 'activate', target: A }, "kubelet's way")
  t.match(
    nextStep(refusedInTrial({ ...KUBELETS_WAY, ...startsWith(A), ...accepts(A) })),
    { kind: 'restart', to: A, record: { fallback: true } },
    "kubelet's way: last-known-good is activated",
  )
})

t.test("kubelet's way, what runs goes on all the same where every fallback has failed", async (t) => {
  const verdicts = [verdict(C, 'refused'), verdict(A, 'provisional'), verdict('local', 'provisional')]
  const nowhere = refusedInTrial({ ...KUBELETS_WAY, ...judged(...verdicts) })
  t.match(assess(nowhere).target, { source: B, fallback: true, goesOn: true, atFault: false })
  t.match(nextStep(nowhere), { kind: 'wait', phase: 'in-trial' })
  t.match(assess({ ...nowhere, ...runsNothing('auto-restart') }).target, { source: B, goesOn: true }, 'also between two starts')
  const failed = refusedInTrial({ ...KUBELETS_WAY, ...judged(...verdicts, verdict(B, 'provisional')) })
  t.match(assess(failed).target, { source: A, atFault: true }, 'unless it has failed, too')
})

t.test('what no record names runs on as well, unless it fails', async (t) => {
  const unnamed = { ...LOCAL_EVERYWHERE, ...C_REFUSED, ...runs(B) }
  t.match(nextStep(snapshot(unnamed)), { kind: 'wait', phase: 'refused', detail: /kubelet runs on, and its next start uses local/ })
  t.match(nextStep(snapshot({ ...unnamed, ...KUBELETS_WAY })), { kind: 'restart', to: 'local' }, "kubelet's way")
  const failed = { ...unnamed, ...judged(verdict(C, 'refused'), verdict(B, 'provisional')) }
  t.match(nextStep(snapshot(failed)), { kind: 'restart', to: 'local' })
  const gone = { ...unnamed, desired: { kind: 'unknown', detail: 'the API server does not answer' }, desiredContent: undefined } as const
  t.match(
    nextStep(snapshot({ ...gone, assignedContent: undefined })),
    { kind: 'wait', phase: 'unknown', detail: /the checkpoint of the assigned config is gone: kubelet runs on/ },
    'also when the checkpoint of what was refused is lost',
  )
})

t.test('what runs is left for what it did on the kubelet that it was started as', async (t) => {
  const upgraded = {
    ...runs(B, { unit: { kubeletIdentity: UPGRADED_KUBELET } }),
    ...startsWith(A),
    health: health(A, { subject: keyOf(A, UPGRADED_KUBELET) }),
    accepted: new Map([[keyOf(A, UPGRADED_KUBELET), { drain: [] }]]),
  }
  const refused = verdict(C, 'refused', { key: keyOf(C, UPGRADED_KUBELET) })
  const damage = { reason: 'evidence', evidence: 'static-pods', damage: 'one-way' } as const
  const condemned = refusedInTrial({ ...upgraded, ...judged(refused, verdict(B, 'confirmed', damage)) })
  t.match(nextStep(condemned), { kind: 'restart', to: A, record: { fallback: true } }, 'what is assigned was refused')
  const unread = { desired: { kind: 'unknown', detail: '' }, desiredContent: undefined } as const
  const damaged = { ...unread, assigned: { kind: 'damaged', detail: '' }, assignedContent: undefined } as const
  t.match(nextStep({ ...condemned, ...damaged }), { kind: 'restart', to: A }, 'what is assigned is not known')
})

t.test('a look is due when the trial ends', async (t) => {
  const almost = { ...runs(B), health: health(B, { healthySinceUs: NOW_US - POLICY.trialUs + 1000 }) }
  t.match(nextStep(refusedInTrial(almost)), { kind: 'wait', untilUs: NOW_US + 1000 })
})

t.test('on trial: it is promoted, although another config is assigned', async (t) => {
  t.match(nextStep(refusedInTrial(OVER)), { kind: 'prove', key: keyOf(B) })
  const proven = { ...OVER, proven: keyOf(B) }
  const promotion = nextStep(refusedInTrial(proven))
  t.match(promotion, { kind: 'promote', target: hold(B), previous: A })
  const previousIsWritten = { ...proven, previous: hold(A) }
  t.match(
    nextStep(refusedInTrial(previousIsWritten)),
    { kind: 'promote', target: hold(B), previous: A },
    'after a crash between the records',
  )
  const promoted = { ...proven, lastKnownGood: hold(B), previous: hold(A) }
  t.match(nextStep(refusedInTrial(promoted)), { kind: 'wait', phase: 'refused', detail: /in place of what is assigned/ })
  t.notOk(
    promotion.kind === 'promote' && effectsOf(promotion, refusedInTrial(proven)).some(({ kind }) => kind === 'remove-verdict'),
    'the refusal stands',
  )
})

t.test('what runs is left when it fails, refusal or not', async (t) => {
  const failing = refusedInTrial(crashing(B))
  t.match(nextStep(failing), { kind: 'condemn', verdict: { source: B, reason: 'crash-loop' }, next: A })
  const condemned = refusedInTrial({ ...crashing(B), ...judged(verdict(C, 'refused'), verdict(B, 'provisional')), ...accepts(A) })
  t.match(nextStep(condemned), { kind: 'activate', target: A })
  const runsCondemned = refusedInTrial(judged(verdict(C, 'refused'), verdict(B, 'confirmed')))
  t.match(assess(runsCondemned).target, { source: A, goesOn: false }, 'also where it still runs')
})

t.test('local goes on as well', async (t) => {
  t.match(nextStep(snapshot({ ...LOCAL_EVERYWHERE, ...C_REFUSED })), { kind: 'wait', phase: 'refused', detail: /^local runs/ })
  const withLastKnownGood = { ...LOCAL_EVERYWHERE, lastKnownGood: hold(A), ...C_REFUSED }
  t.match(nextStep(snapshot(withLastKnownGood)), { kind: 'wait', phase: 'refused', detail: /^local runs/ })
  t.match(assess(snapshot({ ...withLastKnownGood, ...KUBELETS_WAY })).target, { source: A }, "kubelet's way")
})

t.test('what was activated and does not run yet gives way to what runs', async (t) => {
  const facts = { ...C_REFUSED, ...startsWith(B) }
  t.match(nextStep(snapshot(facts)), { kind: 'activate', target: A }, 'last-known-good runs')
  const old = {
    ...facts,
    ...runs(A_EDITED),
    health: health(B, {
      lastProcess: { invocationId: INVOCATION, content: contentOf(A_EDITED), kubeletIdentity: KUBELET, source: A_EDITED },
    }),
    checkpoints: [{ uid: A_EDITED.uid, resourceVersion: A_EDITED.resourceVersion, savedAtMs: 0 }],
  }
  t.match(nextStep(snapshot(old)), { kind: 'activate', target: A_EDITED, fallback: A }, 'what runs has no record any more')
  t.match(assess(snapshot({ ...old, checkpoints: [] })).target, { source: A, goesOn: false }, 'nor a checkpoint')
  const failed = {
    troubles: [
      { step: 'activate' as const, about: 'kube-system/a:kubelet@1', detail: 'no space left on device', retryAtUs: NOW_US + MINUTE_US },
    ],
  }
  t.match(nextStep(snapshot({ ...facts, ...failed })), { kind: 'wait' }, 'a disk that is full restarts nothing either')
})

t.test('where nothing runs, what kubelet starts with next stays', async (t) => {
  for (const activity of ['starting', 'auto-restart', 'stopped'] as const) {
    const down = refusedInTrial({ ...runsNothing(activity), health: health(B, { exits: 0, healthySinceUs: undefined }), ...accepts(B) })
    t.match(assess(down).target, { source: B, goesOn: true }, activity)
    t.match(nextStep(down), { kind: 'wait' }, activity)
  }
  t.match(
    assess(refusedInTrial({ ...runsNothing('stopped'), nextStart: { kind: 'known', held: lost(B) } })).target,
    { source: A },
    'unless it is lost',
  )
})

t.test('where nothing runs, local that somebody has put back gives way to last-known-good', async (t) => {
  const failed = { health: health(A, { exits: 1, healthySinceUs: undefined }), ...accepts(A) }
  const putBack = { ...C_REFUSED, ...failed, ...startsWith('local') }
  for (const activity of ['auto-restart', 'failed'] as const) {
    const facts = snapshot({ ...putBack, ...runsNothing(activity), lastKnownGood: hold(A) })
    t.match(assess(facts).target, { source: A, fallback: true, goesOn: false }, activity)
    t.match(nextStep(facts), { kind: 'activate', target: A }, activity)
  }
  const withoutAny = snapshot({ ...putBack, ...runsNothing('auto-restart'), lastKnownGood: hold('local') })
  t.match(assess(withoutAny).target, { source: 'local', goesOn: true }, 'and stays where there is none')
  const running: Snapshot['running'] = { kind: 'unknown', detail: 'process 7 has no command line: it is starting or exiting' }
  const starting = snapshot({ ...putBack, ...runsNothing('starting'), running, lastKnownGood: hold(A) })
  t.match(assess(starting).target, { source: 'local', goesOn: true }, 'and where kubelet may run it already')
})

t.test('where kubelet runs something that nobody knows, last-known-good is the target', async (t) => {
  const running = { kind: 'known', content: 'other:/etc/kubelet.yaml', key: `other@${KUBELET}`, startedAtUs: 0, invocationId: 'i' } as const
  t.match(assess(refusedInTrial({ running })).target, { source: A, goesOn: false })
})

t.test('after a refusal, a config that is accepted is taken', async (t) => {
  const fixed = inTrial({ ...wants(C), ...assignedTo(C), ...accepts(B, C), ...judged(verdict(A_EDITED, 'refused')) })
  t.match(nextStep(fixed), { kind: 'activate', target: C, fallback: A })
})

t.test('a pause, a reboot and an upgrade of kubelet change nothing', async (t) => {
  t.match(nextStep(refusedInTrial({ requests: { hold: 'paused', rollback: undefined, retry: false } })), {
    kind: 'wait',
    phase: 'in-trial',
  })
  const booted = {
    ...runs(B, { startedAgoUs: 30 * SECOND_US }),
    now: { bootId: 'boot-2', monotonicUs: NOW_US, wallMs: 0 },
    health: health(B, { bootId: 'boot-2', healthySinceUs: NOW_US - 20 * SECOND_US }),
    restarts: [],
  }
  t.match(nextStep(refusedInTrial(booted)), { kind: 'wait', phase: 'in-trial' })
})
