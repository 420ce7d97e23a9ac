import fc from 'fast-check'
import t from 'tap'
import { sameSource } from '../../src/decision/config-source.ts'
import type { Desired, Stale } from '../../src/decision/desired.ts'
import { resolveDesired } from '../../src/decision/desired.ts'
import { recordSample } from '../../src/decision/health-record.ts'
import { nextStep } from '../../src/decision/next-step.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Phase } from '../../src/decision/step.ts'
import { CONDITION_REASONS, type Condition, describeCondition, isAssignmentKnown } from '../../src/report/condition.ts'
import { type Deadlines, NO_DEADLINES } from '../../src/report/deadlines.ts'
import { describeStatus } from '../../src/report/status.ts'
import { anySnapshot } from '../decision/any-snapshot.ts'
import { PHASES } from '../decision/phases.ts'
import { following, found, held, IDENTITY, runningContent, snapshot, source, unit, verdictOn } from './build.ts'

const good = source('100')
const next = source('200')
const UNTIL: Deadlines = {
  trial: { sinceMs: Date.UTC(2026, 0, 2, 3, 4, 5), untilMs: Date.UTC(2026, 0, 2, 3, 14, 5) },
  waitUntilMs: Date.UTC(2026, 0, 2, 3, 5, 0),
}

const say = (of: Snapshot, phase: Phase, detail = 'DETAIL', deadlines = NO_DEADLINES) => describeCondition(of, { phase, detail }, deadlines)
const words = ({ status, reason, message }: Condition) => `${status} ${reason}: ${message}`

/** Assigned is `next`, what runs is last-known-good `good`. */
function behind(fields: Partial<Snapshot> = {}): Snapshot {
  return following(next, {
    lastKnownGood: held(good),
    nextStart: { kind: 'known', held: held(good) },
    running: runningContent('content-100'),
    ...fields,
  })
}
const proven = `content-100@${IDENTITY}`

t.test('what runs is what is wanted', async (t) => {
  t.equal(words(say(snapshot(), 'settled')), 'True Local: nothing is assigned: kubelet runs its local config')
  t.equal(words(say(following(good, { proven }), 'settled')), 'True Promoted: kube-system/my-node-config:kubelet@100 has passed its trial')
  t.equal(say(following(good, { proven }), 'in-trial').reason, 'Promoted', 'a kubelet that was upgraded on disk alone runs what it ran')
  t.equal(
    words(say(following(good), 'in-trial', '', UNTIL)),
    'Unknown InTrial: trial of kube-system/my-node-config:kubelet@100 until 2026-01-02T03:14:05Z',
  )
  t.equal(words(say(following(good), 'in-trial')), 'Unknown InTrial: trial of kube-system/my-node-config:kubelet@100')
  const recordedChannelState = { channel: 'label', paused: { on: 'Node', by: 'annotation x of Node n' }, problem: undefined } as const
  t.match(
    say(following(good, { proven, recordedChannelState }), 'settled').message,
    /has passed its trial; paused by annotation x of Node n$/,
  )
})

t.test('what runs is not, or not yet, what is wanted', async (t) => {
  const table: readonly [Phase, string][] = [
    ['preflight', 'False Preflight: DETAIL'],
    ['drain', 'False Draining: DETAIL'],
    ['spread', 'False Waiting: DETAIL, until 2026-01-02T03:05:00Z'],
    ['restarting', 'False Restarting: kubelet is on its way up or down; wanted is kube-system/my-node-config:kubelet@200'],
    ['kubelet-stopped', 'False KubeletStopped: DETAIL'],
    ['runtime-down', 'False RuntimeDown: DETAIL'],
    [
      'restart-limit',
      'False RestartLimit: kube-system/my-node-config:kubelet@200: failed to activate config: kubelet was restarted too often within an hour, see kubelet-cfg-agent log for details, until 2026-01-02T03:05:00Z',
    ],
    [
      'ineffective',
      'False Ineffective: kube-system/my-node-config:kubelet@200: failed to activate config: kubelet was restarted and still runs another config, see kubelet-cfg-agent log for details',
    ],
    ['unknown', 'Unknown KubeletUnknown: systemd does not say what kubelet does'],
    ['settled', 'False Ineffective: kubelet runs another config than kube-system/my-node-config:kubelet@200'],
  ]
  for (const [phase, expected] of table) t.equal(words(say(behind(), phase, 'DETAIL', UNTIL)), expected, phase)
  t.equal(say(behind({ running: { kind: 'none' } }), 'settled').reason, 'Restarting')
  t.equal(say(following(good, { proven, desired: found(next), desiredContent: 'content-200' }), 'settled').reason, 'Waiting')
})

t.test('what is held against the config that is assigned', async (t) => {
  const refused = behind({ verdicts: verdictOn('content-200', { state: 'refused', reason: 'validate', detail: 'line 3: maxPods' }) })
  t.equal(
    words(say(refused, 'fallen-back')),
    'False Refused: kube-system/my-node-config:kubelet@200 was refused before a restart, kube-system/my-node-config:kubelet@100 runs: line 3: maxPods',
  )
  t.equal(
    words(say(behind({ verdicts: verdictOn('content-200'), running: runningContent('content-200') }), 'restarting')),
    'False RolledBack: kube-system/my-node-config:kubelet@200 failed, falling back: kubelet exited 3 times',
  )
  const all = behind({ verdicts: verdictOn('content-200', { state: 'provisional' }) })
  t.equal(say(all, 'node-at-fault').reason, 'NodeAtFault')
  t.equal(say(all, 'fallen-back').reason, 'RolledBack')
  t.equal(say(behind({ assignedContent: undefined }), 'fallen-back').reason, 'CheckpointMissing')
})

t.test('what keeps the agent from following', async (t) => {
  const requests = (hold: 'paused' | 'local') => ({ requests: { hold, rollback: undefined, retry: false } })
  t.equal(
    words(say(behind(requests('paused')), 'paused')),
    'False Paused: config not activated: paused by an operator of the node, see kubelet-cfg-agent log for details; wanted is kube-system/my-node-config:kubelet@200',
  )
  t.equal(say(behind(requests('local')), 'settled').reason, 'HeldLocal')
  t.equal(words(say(behind({ desired: { kind: 'invalid', detail: 'a tie' } }), 'settled')), 'False Invalid: failed to sync: a tie')
  const unavailable = { kind: 'unavailable', reason: 'forbidden', detail: 'SECRET' } as const
  t.equal(
    words(say(following(good, { proven, desired: { kind: 'config-map', ref: next, object: unavailable } }), 'settled')),
    'False DownloadFailed: kube-system/my-node-config:kubelet cannot be read: the API server forbids it',
  )
  const wiring = { kind: 'broken', reason: 'flag-wins', detail: '/etc/secret' } as const
  t.equal(say(behind({ unit: unit({ wiring }) }), 'blocked').reason, 'Wiring')
  t.equal(say(following(good, { proven, unit: unit({ wiring }) }), 'settled').reason, 'Promoted', 'silent while what is wanted runs')
  const trouble = { troubles: [{ step: 'activate', about: '', detail: 'ENOSPC', retryAtUs: 0 }] }
  t.equal(say(following(good, { proven, ...trouble }), 'settled').reason, 'InternalError')
  for (const step of ['prune', 'record-channel']) {
    const troubles = [{ step, about: '', detail: 'ENOSPC', retryAtUs: 0 }]
    t.equal(say(following(good, { proven, troubles }), 'settled').reason, 'Promoted', 'what kubelet runs does not hang on it')
  }
})

t.test('what has not been heard is not known, and the records know what was', async (t) => {
  const unheard = following(good, { proven, desired: { kind: 'unknown', detail: 'SECRET' } })
  t.equal(words(say(unheard, 'settled')), 'Unknown AssignmentUnknown: what is assigned to this node is not known: it has not been read yet')
  for (const silence of ['missing', 'forbidden', 'unreachable', 'kubeconfig'] as const) {
    const { reason, message } = say(following(good, { proven, desired: { kind: 'unknown', detail: 'SECRET', silence } }), 'settled')
    t.equal(reason, 'AssignmentUnknown')
    t.notMatch(message, /SECRET|not been read yet/)
  }
  t.notOk(isAssignmentKnown(unheard))
  const pending = following(good, { proven, desired: { kind: 'config-map', ref: good, object: { kind: 'pending' } } })
  t.equal(say(pending, 'settled').reason, 'AssignmentUnknown')
  t.notOk(isAssignmentKnown(pending))
  t.ok(isAssignmentKnown(following(good)))
})

t.test('what was heard long ago is not taken for what is wanted now', async (t) => {
  const stale = (what: Stale['what'], reason: Stale['reason'], forSeconds: number) => {
    const at = snapshot().now.monotonicUs - forSeconds * 1e6
    return say(following(good, { proven, desired: { ...wanted, stale: { what, reason, sinceUs: at } } }), 'settled')
  }
  const wanted = { kind: 'config-map', ref: good, object: { kind: 'found', uid: 'uid-1', resourceVersion: '100', data: {} } } as const
  t.equal(stale('ConfigMap', 'forbidden', 59).reason, 'Promoted')
  t.equal(
    words(stale('ConfigMap', 'forbidden', 60)),
    'False DownloadFailed: kube-system/my-node-config:kubelet cannot be read any more: the API server forbids it; what was read before stands',
  )
  t.equal(
    words(stale('Node', 'forbidden', 60)),
    'Unknown AssignmentUnknown: the Node cannot be read any more: the API server forbids it; what was assigned before stands',
  )
  t.equal(stale('ConfigMap', 'unreachable', 60).reason, 'AssignmentUnknown')
  t.equal(stale('fleet', 'unreachable', 60).reason, 'AssignmentUnknown')
  const local: Desired = { kind: 'local', stale: { what: 'Node', reason: 'unreachable', sinceUs: 40e6 } }
  t.equal(say(snapshot({ desired: local }), 'settled').reason, 'AssignmentUnknown')
})

t.test('a kubelet that never stays up is never ready', async (t) => {
  const invocationId = 'i9'
  const at = (startedSecondsAgo: number, health: Snapshot['health'], of = following(good, { proven })) => {
    const { running } = of
    if (running.kind !== 'known') throw new Error('it runs')
    const startedAtUs = of.now.monotonicUs - startedSecondsAgo * 1e6
    return say({ ...of, running: { ...running, startedAtUs, invocationId }, health }, 'settled')
  }
  for (const of of [following(good, { proven }), snapshot()]) {
    const young = at(2, undefined, of)
    t.equal(young.reason, 'Restarting')
    t.same(say({ ...of, running: { kind: 'none' } }, 'settled'), young, 'up or down, it is the same')
    t.equal(at(10, undefined, of).status, 'True')
  }
  const { now, policy } = snapshot()
  const sample = { at: now, unit: unit({ invocationId }), running: { ...runningContent('content-100'), invocationId }, runtimeUp: true }
  const record = (ok: boolean) => recordSample(undefined, { ...sample, healthz: { ok, detail: '' } }, proven, policy)
  t.equal(at(50, record(true)).reason, 'Promoted')
  t.equal(at(2, record(false)).reason, 'Restarting')
  t.equal(words(at(50, record(false))), 'False Unhealthy: kubelet runs kube-system/my-node-config:kubelet@100 and is not healthy')
  t.equal(at(50, { ...required(record(false)), invocationId: 'before' }).reason, 'Promoted', 'another process')
  const brief = { ...policy, trialUs: 5e6 }
  t.equal(at(5, record(true), following(good, { proven, policy: brief })).reason, 'Promoted', 'right after a trial that was shorter')
})

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('there is none')
  return value
}

t.test('a reason belongs to one status', async (t) => {
  const all = [...CONDITION_REASONS.True, ...CONDITION_REASONS.Unknown, ...CONDITION_REASONS.False]
  t.equal(new Set(all).size, all.length)
  for (const reason of all) t.match(reason, /^[A-Z][A-Za-z]+$/)
})

/** Every snapshot in every phase, those that it can be in and those that it cannot. */
const cases = fc.record({ of: anySnapshot, phase: fc.constantFrom(...PHASES), detail: fc.constantFrom('waits', 'a\nb\u0000'.repeat(2000)) })

t.test('whatever the state: one reason, one line, and True only of what is proven', async () => {
  const property = fc.property(cases, ({ of, phase, detail }) => {
    const { status, reason, message } = say(of, phase, detail, UNTIL)
    const { error } = describeStatus(of, phase)
    const isLine = message !== '' && Buffer.byteLength(message) <= 1024 && !/[\p{Cc}]/u.test(message)
    const belongs = CONDITION_REASONS[status].some((one) => one === reason)
    if (!isLine || !belongs) return false
    if (error !== '' && status !== 'False') return false
    if (status !== 'True') return true
    const wanted = resolveDesired(of.desired)
    const { assigned, running, assignedContent } = of
    const isAssigned = wanted !== undefined && assigned.kind === 'source' && sameSource(wanted, assigned.source)
    const runs =
      running.kind === 'known' && running.content === assignedContent && (running.content === 'local' || running.key === of.proven)
    return isAssigned && runs
  })
  fc.assert(property, { numRuns: 3000 })
})

t.test('a decision to wait is told as what it is', async () => {
  const property = fc.property(anySnapshot, (of) => {
    const step = nextStep(of)
    if (step.kind !== 'wait') return true
    const { status } = describeCondition(of, step, NO_DEADLINES)
    return status !== 'True' || step.phase === 'settled' || step.phase === 'in-trial'
  })
  fc.assert(property, { numRuns: 2000 })
})
