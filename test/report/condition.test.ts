// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { type Desired, resolveDesired, type Stale } from '../../src/decision/desired.ts'
import { PHASES, type Phase } from '../../src/decision/phases.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { recordSample } from '../../src/health/fold.ts'
import { PORT_NOT_KNOWN } from '../../src/health/sample.ts'
import { describeCondition, isAssignmentKnown, isTransient } from '../../src/report/condition.ts'
import { type Deadlines, NO_DEADLINES } from '../../src/report/deadlines.ts'
import { CONDITION_REASONS, type Condition, describeDegraded } from '../../src/report/reasons.ts'
import { describeStatus } from '../../src/report/status.ts'
import { sameSource } from '../../src/subject/config-source.ts'
import type { UnitActivity } from '../../src/subject/unit-state.ts'
import { anySnapshot } from '../decision/any-snapshot.ts'
import { following, found, held, IDENTITY, runningContent, snapshot, source, unit, verdictOn } from './build.ts'

const good = source('100')
const next = source('200')
const UNTIL: Deadlines = {
  trial: { sinceMs: Date.UTC(2026, 0, 2, 3, 4, 5), untilMs: Date.UTC(2026, 0, 2, 3, 14, 5) },
  waitUntilMs: Date.UTC(2026, 0, 2, 3, 5, 0),
}

const describe = (of: Snapshot, phase: Phase, detail = 'DETAIL', deadlines = NO_DEADLINES) =>
  describeCondition(of, { phase, detail }, deadlines)
const format = ({ status, reason, message }: Condition) => `${status} ${reason}: ${message}`

/** `next` is assigned; the last-known-good `good` runs. */
function behind(fields: Partial<Snapshot> = {}): Snapshot {
  return following(next, {
    lastKnownGood: held(good),
    nextStart: { kind: 'known', held: held(good) },
    running: runningContent('content-100'),
    ...fields,
  })
}
const proven = `content-100@${IDENTITY}`

t.test('the desired config runs', async (t) => {
  t.equal(format(describe(snapshot(), 'settled')), 'True Local: nothing is assigned: kubelet runs its local config')
  t.equal(
    format(describe(following(good, { proven }), 'settled')),
    'True Promoted: kube-system/my-node-config:kubelet@100 has passed its trial',
  )
  t.equal(describe(following(good, { proven }), 'in-trial').reason, 'Promoted', 'a kubelet that was upgraded only on disk runs as before')
  t.equal(
    format(describe(following(good), 'in-trial', '', UNTIL)),
    'Unknown InTrial: trial of kube-system/my-node-config:kubelet@100 until 2026-01-02T03:14:05Z',
  )
  t.equal(format(describe(following(good), 'in-trial')), 'Unknown InTrial: trial of kube-system/my-node-config:kubelet@100')
  const runs = following(good)
  const process = { invocationId: runs.running.kind === 'known' ? runs.running.invocationId : '', key: proven, sinceUs: 0 }
  const servingTaken = 'a process of uid 65534, which is not kubelet, has port 10250 of 0.0.0.0'
  const evidence = { bootId: runs.now.bootId, process: { ...process, requests: 0, requestsSinceUs: 0, answeredUs: {}, servingTaken } }
  t.match(describe({ ...runs, evidence }, 'in-trial').message, `@100; ${servingTaken}`)
  const recordedChannelState = { channel: 'label', paused: { on: 'Node', by: 'annotation x of Node n' }, problem: undefined } as const
  t.match(
    describe(following(good, { proven, recordedChannelState }), 'settled').message,
    /has passed its trial; paused by annotation x of Node n$/,
  )
  t.equal(
    format(describe(following(good, { recordedChannelState }), 'in-trial', '', UNTIL)),
    'Unknown InTrial: trial of kube-system/my-node-config:kubelet@100 until 2026-01-02T03:14:05Z; paused by annotation x of Node n',
  )
})

t.test('a new version of the bytes that run leaves nothing to activate, so a pause is no fault', async (t) => {
  const newVersion = behind({
    desiredContent: 'content-100',
    assignedContent: 'content-100',
    requests: { hold: 'paused', rollback: undefined, retry: false },
  })
  t.equal(
    format(describe({ ...newVersion, proven }, 'settled')),
    'True Promoted: kube-system/my-node-config:kubelet@200 has passed its trial; paused on the node',
  )
  t.equal(format(describe(newVersion, 'in-trial')), 'Unknown InTrial: trial of kube-system/my-node-config:kubelet@200; paused on the node')
})

t.test('the desired config does not run, or not yet', async (t) => {
  const table: readonly [Phase, string][] = [
    ['preflight', 'False Preflight: DETAIL'],
    ['drain', 'False Draining: DETAIL'],
    ['spread', 'False Waiting: DETAIL, until 2026-01-02T03:05:00Z'],
    ['restarting', 'False Restarting: kubelet is starting or stopping; desired: kube-system/my-node-config:kubelet@200'],
    ['kubelet-stopped', 'False KubeletStopped: DETAIL'],
    ['runtime-down', 'False RuntimeDown: DETAIL'],
    [
      'restart-limit',
      'False RestartLimit: kube-system/my-node-config:kubelet@200: failed to activate config: kubelet was restarted too often within an hour, until 2026-01-02T03:05:00Z',
    ],
    [
      'ineffective',
      'False Ineffective: kube-system/my-node-config:kubelet@200: failed to activate config: kubelet was restarted and still runs another config',
    ],
    ['unknown', 'Unknown KubeletUnknown: DETAIL'],
    ['settled', 'False Ineffective: kubelet runs a different config than kube-system/my-node-config:kubelet@200'],
  ]
  for (const [phase, expected] of table) t.equal(format(describe(behind(), phase, 'DETAIL', UNTIL)), expected, phase)
  t.equal(
    format(describe(behind({ unit: { kind: 'unknown', detail: 'exit code 1' } }), 'unknown', 'exit code 1')),
    'Unknown KubeletUnknown: systemd does not report the state of kubelet',
    'one text, however systemd fails to answer',
  )
  t.equal(describe(behind({ running: { kind: 'none' } }), 'settled').reason, 'Restarting')
  t.equal(describe(following(good, { proven, desired: found(next), desiredContent: 'content-200' }), 'settled').reason, 'Waiting')
})

t.test('faults of the assigned config', async (t) => {
  const refused = behind({ verdicts: verdictOn('content-200', { state: 'refused', reason: 'validate', detail: 'line 3: maxPods' }) })
  t.equal(
    format(describe(refused, 'fallen-back')),
    'False Refused: kube-system/my-node-config:kubelet@200 was refused before a restart, kube-system/my-node-config:kubelet@100 runs: line 3: maxPods',
  )
  t.equal(
    format(describe(behind({ verdicts: verdictOn('content-200'), running: runningContent('content-200') }), 'restarting')),
    'False RolledBack: kube-system/my-node-config:kubelet@200 failed, falling back: kubelet exited 3 times',
  )
  const all = behind({ verdicts: verdictOn('content-200', { state: 'provisional' }) })
  t.equal(describe(all, 'node-at-fault').reason, 'NodeAtFault')
  t.equal(describe(all, 'fallen-back').reason, 'RolledBack')
  const others = { verdicts: verdictOn('content-100', { state: 'provisional' }) }
  for (const phase of ['fallen-back', 'restarting'] as const)
    t.equal(describe(behind(others), phase).reason, 'NodeAtFault', 'also while the assigned one waits, as for a drained node')
  t.equal(describe(behind(others), 'drain').reason, 'Draining', 'on its way to another one')
  const rolledBack = behind({ verdicts: verdictOn('content-200', { reason: 'requested' }), running: { kind: 'none' } })
  t.equal(describe(rolledBack, 'node-at-fault').reason, 'NodeAtFault', 'also where an operator gave the assigned one up')
  const kept = { requests: { hold: 'paused', rollback: undefined, retry: false }, running: runningContent('content-200') } as const
  t.match(
    describe(behind({ verdicts: verdictOn('content-200', { reason: 'requested', detail: 'as requested' }), ...kept }), 'paused').message,
    /@200 was rolled back, not left yet: as requested; paused on the node: nothing is rolled back, /,
  )
  t.equal(describe(behind({ assignedContent: undefined }), 'fallen-back').reason, 'CheckpointMissing')
})

t.test("an operator's own rollback is deliberate, a failure is not", async (t) => {
  const requested = behind({ verdicts: verdictOn('content-200', { reason: 'requested', detail: 'rollback was requested on the node' }) })
  t.match(describe(requested, 'fallen-back'), {
    ...{ status: 'False', reason: 'RolledBack', deliberate: true },
    message: /@200 was rolled back, .*@100 runs: rollback was requested on the node$/,
  })
  t.equal(describeDegraded(describe(requested, 'fallen-back')).status, 'False')
  const failed = describe(behind({ verdicts: verdictOn('content-200') }), 'fallen-back')
  t.match(failed, { reason: 'RolledBack', deliberate: undefined })
  t.equal(describeDegraded(failed).status, 'True')
  const invalid = { ...requested, desired: { kind: 'invalid', detail: 'a tie' } } as const
  t.equal(describeDegraded(describe(invalid, 'fallen-back')).status, 'True', 'and what else is wrong still counts')
})

t.test('what prevents the agent from following the assignment', async (t) => {
  const requests = (hold: 'paused' | 'local') => ({ requests: { hold, rollback: undefined, retry: false } })
  t.equal(
    format(describe(behind(requests('paused')), 'paused')),
    'False Paused: config not activated: paused by an operator of the node; desired: kube-system/my-node-config:kubelet@200',
  )
  const next200 = { kind: 'known', held: { source: next, content: 'content-200' } } as const
  const between = (activity: UnitActivity) => ({ ...requests('paused'), running: { kind: 'none' }, unit: unit({ activity }) }) as const
  for (const activity of ['auto-restart', 'queued', 'starting'] as const) {
    const starts = { ...between(activity), nextStart: next200 }
    t.equal(describe(behind(starts), 'paused').reason, 'Restarting', `systemd starts what is wanted: ${activity}`)
    const other = { ...starts, nextStart: { kind: 'known', held: { source: good, content: 'content-200' } } } as const
    t.equal(describe(behind(other), 'paused').reason, 'Restarting', 'or another version of it')
  }
  for (const activity of ['stopped', 'not-found'] as const)
    t.equal(describe(behind({ ...between(activity), nextStart: next200 }), 'paused').reason, 'Paused', `nothing starts it: ${activity}`)
  t.equal(describe(behind(between('auto-restart')), 'paused').reason, 'Paused', 'something else is in place')
  t.equal(describe(behind(requests('local')), 'settled').reason, 'HeldLocal')
  t.equal(format(describe(behind({ desired: { kind: 'invalid', detail: 'a tie' } }), 'settled')), 'False Invalid: failed to sync: a tie')
  t.equal(
    format(describe(behind({ desired: { kind: 'invalid', detail: 'a tie' }, ...requests('paused') }), 'paused')),
    'False Invalid: failed to sync: a tie; paused on the node',
  )
  const unavailable = { kind: 'unavailable', reason: 'forbidden', detail: 'SECRET' } as const
  t.equal(
    format(describe(following(good, { proven, desired: { kind: 'config-map', ref: next, object: unavailable } }), 'settled')),
    'False DownloadFailed: kube-system/my-node-config:kubelet cannot be read: the API server forbids it (deploy/rbac/node-configmaps.yaml grants it)',
  )
  const stranger = { ...unavailable, reason: 'unauthenticated' } as const
  const stale = { what: 'ConfigMap', reason: 'unauthenticated', sinceUs: 0 } as const
  t.match(
    describe(following(good, { proven, desired: { kind: 'config-map', ref: next, object: stranger, stale } }), 'settled').message,
    /cannot be read: the API server does not accept the identity of the agent$/,
    'no file of deploy/rbac helps',
  )
  const wiring = { kind: 'broken', reason: 'flag-wins', detail: '/etc/secret' } as const
  t.equal(describe(behind({ unit: unit({ wiring }) }), 'blocked').reason, 'Wiring')
  t.match(describe(behind({ unit: unit({ wiring }) }), 'blocked').message, /a command-line flag of kubelet wins over it: \/etc\/secret$/)
  const masked = { kind: 'broken', reason: 'masked', detail: 'kubelet.service is masked' } as const
  t.match(describe(behind({ unit: unit({ wiring: masked }) }), 'blocked').message, /kubelet's unit is masked: kubelet.service is masked$/)
  t.match(
    describe(snapshot({ unit: unit({ wiring: masked }) }), 'blocked').message,
    /^kubelet.service is masked; desired: /,
    'with no fault either',
  )
  t.equal(
    describe(following(good, { proven, unit: unit({ wiring }) }), 'settled').reason,
    'Promoted',
    'not reported while the desired config runs',
  )
  const trouble = { troubles: [{ step: 'activate' as const, about: '', detail: 'ENOSPC', retryAtUs: 0 }] }
  t.equal(describe(following(good, { proven, ...trouble }), 'settled').reason, 'InternalError')
  for (const step of ['prune', 'record-channel'] as const) {
    const troubles = [{ step, about: '', detail: 'ENOSPC', retryAtUs: 0 }]
    t.equal(describe(following(good, { proven, troubles }), 'settled').reason, 'Promoted', 'it does not affect what kubelet runs')
  }
})

t.test('the condition names the cause, and sends nobody to a log', async (t) => {
  const message = (fields: Partial<Snapshot>, phase: Phase = 'settled') => describe(behind(fields), phase).message
  const overlay = "this node's overlay cannot be used, see kubelet-cfg-agent log for details"
  t.equal(
    message({ desired: { kind: 'invalid', detail: overlay, cause: 'a.yaml: duplicate key at line 3, column 1' } }),
    "failed to sync: this node's overlay cannot be used: a.yaml: duplicate key at line 3, column 1",
  )
  t.equal(
    message({ troubles: [{ step: 'assign', about: '', detail: 'ENOSPC: no space left', retryAtUs: 0 }] }),
    'kube-system/my-node-config:kubelet@200: failed to sync: internal failure: assign: ENOSPC: no space left',
  )
  t.equal(
    message({ assignedContent: undefined }),
    'kube-system/my-node-config:kubelet@200: failed to load config: its checkpoint is missing or damaged',
  )
  const wiring = { kind: 'broken', reason: 'flag-wins', detail: 'ExecStart holds --config=/y' } as const
  t.match(message({ unit: unit({ wiring }) }, 'blocked'), /a command-line flag of kubelet wins over it: ExecStart holds --config=\/y$/)
})

t.test('an assignment that has not been read is not known, and the records hold the last one', async (t) => {
  const unread = following(good, { proven, desired: { kind: 'unknown', detail: 'SECRET' } })
  t.equal(
    format(describe(unread, 'settled')),
    'Unknown AssignmentUnknown: the assignment of this node is not known: it has not been read yet',
  )
  for (const silence of ['missing', 'forbidden', 'unreachable', 'kubeconfig', 'too-long'] as const) {
    const { reason, message } = describe(following(good, { proven, desired: { kind: 'unknown', detail: 'SECRET', silence } }), 'settled')
    t.equal(reason, 'AssignmentUnknown')
    t.notMatch(message, /SECRET|not been read yet/)
  }
  t.notOk(isAssignmentKnown(unread))
  const pending = following(good, { proven, desired: { kind: 'config-map', ref: good, object: { kind: 'pending' } } })
  t.equal(describe(pending, 'settled').reason, 'AssignmentUnknown')
  t.notOk(isAssignmentKnown(pending))
  t.ok(isAssignmentKnown(following(good)))
})

t.test('an assignment that was last read long ago may be outdated', async (t) => {
  const stale = (what: Stale['what'], reason: Stale['reason'], forSeconds: number) => {
    const at = snapshot().now.monotonicUs - forSeconds * 1e6
    return describe(following(good, { proven, desired: { ...wanted, stale: { what, reason, sinceUs: at } } }), 'settled')
  }
  const wanted = { kind: 'config-map', ref: good, object: { kind: 'found', uid: 'uid-1', resourceVersion: '100', data: {} } } as const
  t.equal(stale('ConfigMap', 'forbidden', 59).reason, 'Promoted')
  t.equal(
    format(stale('ConfigMap', 'forbidden', 60)),
    'False DownloadFailed: kube-system/my-node-config:kubelet can no longer be read: the API server forbids it (deploy/rbac/node-configmaps.yaml grants it); the version read last stays in effect',
  )
  t.equal(
    format(stale('Node', 'forbidden', 60)),
    'Unknown AssignmentUnknown: the Node can no longer be read: the API server forbids it (deploy/rbac/serviceaccount.yaml grants it to a ServiceAccount); the previous assignment stays in effect',
  )
  t.equal(stale('ConfigMap', 'unreachable', 60).reason, 'AssignmentUnknown')
  t.match(stale('Node', 'kubeconfig', 60).message, /^the Node can no longer be read: there is no usable kubeconfig; the previous/)
  t.equal(stale('fleet', 'unreachable', 60).reason, 'AssignmentUnknown')
  t.equal(
    format(stale('fleet', 'too-long', 60)),
    'Unknown AssignmentUnknown: the ConfigMaps with node selectors can no longer be read: the answer of the API server is too long; the previous assignment stays in effect',
  )
  const local: Desired = { kind: 'local', stale: { what: 'Node', reason: 'unreachable', sinceUs: 40e6 } }
  t.equal(describe(snapshot({ desired: local }), 'settled').reason, 'AssignmentUnknown')
})

t.test('a ConfigMap whose first read had no answer has not been read yet, for a minute', async (t) => {
  for (const reason of ['unreachable', 'unauthenticated'] as const) {
    const after = (seconds: number, fields: Partial<Snapshot> = {}) => {
      const stale = { what: 'ConfigMap', reason, sinceUs: snapshot().now.monotonicUs - seconds * 1e6 } as const
      const desired = { kind: 'config-map', ref: next, object: { kind: 'unavailable', reason, detail: '' }, stale } as const
      return following(good, { proven, desired, ...fields })
    }
    const early = describe(after(59), 'settled')
    t.equal(format(early), 'Unknown AssignmentUnknown: ConfigMap kube-system/my-node-config has not been read yet')
    t.notOk(early.cutOff, 'nobody is to take an older True for the new assignment')
    t.notOk(isAssignmentKnown(after(59)))
    t.equal(describe(after(59, { verdicts: verdictOn('content-100') }), 'fallen-back').reason, 'RolledBack', 'as before it was asked for')
    t.match(describe(after(60), 'settled'), { reason: 'DownloadFailed', cutOff: true })
    t.ok(isAssignmentKnown(after(60)))
  }
})

t.test('a ConfigMap that has never been read: whether it could be asked for, and whether there was an answer', (t) => {
  const after = (reason: Stale['reason'], seconds: number, what: Stale['what'] = 'ConfigMap') => {
    const stale = { what, reason, sinceUs: snapshot().now.monotonicUs - seconds * 1e6 } as const
    const desired = { kind: 'config-map', ref: next, object: { kind: 'unavailable', reason: 'unreachable', detail: '' }, stale } as const
    return describe(following(good, { proven, desired }), 'settled')
  }
  const failed = (why: string) => `False DownloadFailed: kube-system/my-node-config:kubelet cannot be read: ${why}`
  t.equal(after('kubeconfig', 59).reason, 'AssignmentUnknown')
  t.equal(format(after('kubeconfig', 60)), failed('there is no usable kubeconfig'))
  t.ok(after('kubeconfig', 60).cutOff)
  t.equal(format(after('too-long', 0)), failed('the answer of the API server is too long'))
  t.notOk(after('too-long', 60).cutOff, 'a server that answers takes the condition')
  t.equal(format(after('too-long', 60, 'Node')), failed('the API server does not answer'), 'what is said of another object')
  t.end()
})

t.test('what keeps the agent from reading keeps it from writing too, unless the server forbids one object', (t) => {
  const isCutOff = (desired: Desired) => describe(following(good, { proven, desired }), 'settled').cutOff === true
  const stale = (reason: Stale['reason'], sinceUs = 0) => ({ stale: { what: 'Node', reason, sinceUs } }) as const
  const { now } = snapshot()
  for (const reason of ['unreachable', 'unauthenticated'] as const) {
    t.ok(isCutOff({ ...found(good), ...stale(reason) }))
    t.ok(isCutOff({ kind: 'local', ...stale(reason) }))
    t.ok(isCutOff({ kind: 'unknown', detail: '', silence: reason }))
  }
  t.ok(isCutOff({ kind: 'unknown', detail: '', silence: 'kubeconfig' }))
  for (const reason of ['forbidden', 'too-long'] as const) t.notOk(isCutOff({ ...found(good), ...stale(reason) }))
  t.notOk(isCutOff({ kind: 'unknown', detail: '', silence: 'missing' }))
  t.notOk(isCutOff({ ...found(good), ...stale('unreachable', now.monotonicUs) }), 'it counts as current')
  t.notOk(isCutOff(found(good)))
  t.end()
})

t.test('a kubelet that never stays up is never ready', async (t) => {
  const invocationId = 'i9'
  const at = (startedSecondsAgo: number, health: Snapshot['health'], of = following(good, { proven })) => {
    const { running } = of
    if (running.kind !== 'known') throw new Error('it runs')
    const startedAtUs = of.now.monotonicUs - startedSecondsAgo * 1e6
    return describe({ ...of, running: { ...running, startedAtUs, invocationId }, health }, 'settled')
  }
  for (const of of [following(good, { proven }), snapshot()]) {
    const young = at(2, undefined, of)
    t.equal(young.reason, 'Restarting')
    t.same(describe({ ...of, running: { kind: 'none' } }, 'settled'), young, 'the same for starting and stopping')
    t.equal(at(10, undefined, of).status, 'True')
  }
  const { now, policy } = snapshot()
  const sample = { at: now, unit: unit({ invocationId }), running: { ...runningContent('content-100'), invocationId }, runtimeUp: true }
  const record = (ok: boolean) => recordSample(undefined, { ...sample, healthz: { ok, detail: '' } }, proven, policy)
  t.equal(at(50, record(true)).reason, 'Promoted')
  t.equal(at(2, record(false)).reason, 'Restarting')
  t.equal(format(at(50, record(false))), 'False Unhealthy: kubelet runs kube-system/my-node-config:kubelet@100 and is not healthy')
  t.equal(at(50, { ...required(record(false)), invocationId: 'before' }).reason, 'Promoted', 'another process')
  const unknown = recordSample(undefined, { ...sample, healthz: PORT_NOT_KNOWN }, proven, policy)
  const unread = following(good, { proven, healthz: PORT_NOT_KNOWN })
  t.equal(at(50, unknown, unread).reason, 'Promoted', 'a health port that is not known says nothing')
  t.equal(at(2, unknown, unread).reason, 'Restarting')
  const detail = 'a process of uid 65534, which is not kubelet, has port 10248 of 127.0.0.1'
  const strangers = following(good, { proven, healthz: { ok: 'unknown', detail } })
  t.equal(
    format(at(50, unknown, strangers)),
    `Unknown KubeletUnknown: kubelet runs kube-system/my-node-config:kubelet@100, and it is not known whether it is healthy: ${detail}`,
  )
  t.ok(format(at(50, unknown, following(good, { healthz: { ok: 'unknown', detail } }))).endsWith(`; ${detail}`), 'so does a trial')
  const brief = { ...policy, trialUs: 5e6 }
  t.equal(at(5, record(true), following(good, { proven, policy: brief })).reason, 'Promoted', 'right after a trial that was shorter')
})

t.test('a reset, or a pause of the config, hides no kubelet that is not well', async (t) => {
  const recordedChannelState = { channel: 'label', paused: { on: 'ConfigMap', by: 'an annotation' }, problem: undefined } as const
  const reset = { requests: { hold: 'local', rollback: undefined, retry: false } } as const
  const { now, policy } = snapshot()
  const sample = { at: now, unit: unit(), running: runningContent('content-100'), runtimeUp: true, healthz: { ok: false, detail: '' } }
  const health = required(recordSample(undefined, sample, proven, policy))
  const ends = /; reset on the node: what the cluster assigns is ignored until kubelet-cfg-agent resume$/
  for (const [facts, reason, end] of [
    [reset, 'HeldLocal', ends],
    [{ recordedChannelState }, 'Paused', /@100( and is not healthy)?$/],
  ] as const) {
    t.equal(describe(behind(facts), 'settled').reason, reason)
    const loop = describe(behind({ ...facts, health: { ...health, exits: policy.crashLimit } }), 'settled')
    t.match(loop, { reason: 'Unhealthy', message: /^kubelet exits again and again with / })
    t.match(loop.message, end)
    t.equal(describeDegraded(loop).status, 'True')
    const later = { ...now, monotonicUs: now.monotonicUs + policy.startDeadlineUs }
    const hangs = describe(behind({ ...facts, health, now: later }), 'settled')
    t.match(hangs, { reason: 'Unhealthy', message: /^kubelet runs .*@100 and is not healthy/ })
  }
})

t.test('a pause names itself wherever it keeps a kubelet that is not well from being rolled back', async (t) => {
  const by = 'annotation kubelet-cfg-agent.io/paused of Node node-1'
  const recordedChannelState = { channel: 'label', paused: { on: 'Node', by }, problem: undefined } as const
  const byNode = { requests: { hold: 'paused', rollback: undefined, retry: false } } as const
  const byCluster = { recordedChannelState } as const
  const { now, policy } = snapshot()
  const record = (running: Snapshot['running'], ok: boolean) => {
    const sample = { at: now, unit: unit(), running, runtimeUp: true, healthz: { ok, detail: '' } }
    return required(recordSample(undefined, sample, proven, policy))
  }
  const runs = runningContent('content-100')
  for (const paused of [byNode, byCluster]) {
    const rest =
      paused === byNode
        ? /paused on the node: nothing is rolled back.* until kubelet-cfg-agent resume$/
        : new RegExp(`paused by ${by}: nothing is rolled back.* until the annotation is removed from the Node$`)
    const down = { running: { kind: 'none' }, unit: unit({ activity: 'auto-restart' }) } as const
    t.match(describe(following(good, { ...paused, ...down }), 'paused'), { reason: 'Restarting', message: rest })
    t.match(describe(following(good, { ...paused, ...down }), 'restarting'), { reason: 'Restarting', message: rest })
    const young = { ...runs, startedAtUs: now.monotonicUs - 2e6 }
    t.match(describe(following(good, { ...paused, proven, running: young }), 'settled'), { reason: 'Restarting', message: rest })
    const ill = { health: record(runs, false), proven }
    t.match(describe(following(good, { ...paused, ...ill }), 'settled'), { reason: 'Unhealthy', message: rest })
    const loop = { ...record(runs, true), pausedExits: policy.crashLimit }
    const looping = following(good, { ...paused, health: loop })
    const between = { ...looping, ...down }
    const [first, second] = [describe(looping, 'in-trial'), describe(between, 'paused')]
    t.match(first, { reason: 'Unhealthy', message: rest }, 'in a trial too')
    t.same(second, first, 'the same between two starts')
    t.equal(describeDegraded(first).status, 'True')
    t.equal(describe({ ...looping, health: { ...loop, pausedExits: 2 } }, 'in-trial').reason, 'InTrial')
    const later = { ...now, monotonicUs: now.monotonicUs + policy.toleranceUs + 1e6 }
    for (const [phase, reason, facts] of [
      ['in-trial', 'InTrial', {}],
      ['settled', 'Promoted', { proven }],
    ] as const)
      t.equal(describe({ ...looping, ...facts, now: later }, phase).reason, reason, 'once kubelet has been well for a while')
    t.match(
      describe(behind({ ...paused, health: loop }), 'paused'),
      { reason: 'Unhealthy', message: rest },
      'once the config was corrected',
    )
    const gaveUp = behind({ ...paused, running: { kind: 'none' }, unit: unit({ activity: 'failed' }) })
    t.match(describe(gaveUp, 'paused'), { reason: 'Unhealthy', message: rest }, 'where systemd gave kubelet up')
    const late = following(good, { ...paused, health: record(runs, false), now: { ...now, monotonicUs: policy.startDeadlineUs + 2e6 } })
    t.match(describe(late, 'in-trial'), { reason: 'Unhealthy', message: rest }, 'past its start deadline')
    t.equal(describe({ ...late, now }, 'in-trial').reason, 'InTrial', 'and before it')
  }
  t.equal(describe(following(good, { health: { ...record(runs, true), pausedExits: 9 } }), 'in-trial').reason, 'InTrial', 'without a pause')
  const ofConfigMap = { channel: 'label', paused: { on: 'ConfigMap', by }, problem: undefined } as const
  const ill = describe(following(good, { recordedChannelState: ofConfigMap, health: record(runs, false), proven }), 'settled')
  t.notMatch(ill.message, 'nothing is rolled back', 'a pause of the ConfigMap rolls back what fails')
})

t.test('a kubelet in a crash loop is unhealthy between its starts too', async (t) => {
  const { now, policy } = snapshot()
  const sample = { at: now, unit: unit(), runtimeUp: true, healthz: { ok: true, detail: '' } }
  const nodes = [
    { of: snapshot(), running: runningContent('local') },
    { of: following(good, { proven }), running: runningContent('content-100') },
  ] as const
  for (const { of, running } of nodes) {
    if (running.kind !== 'known') throw new Error('it runs')
    const { key } = running
    const record = required(recordSample(undefined, { ...sample, running }, key, policy))
    const exits = (count: number) => ({
      ...record,
      recentExits: Array.from({ length: count }, (_, index) => ({ key, invocationId: `i${index}`, atUs: now.monotonicUs })),
    })
    const runs = describe({ ...of, running, health: exits(5) }, 'settled')
    const down: Snapshot = { ...of, running: { kind: 'none' }, health: exits(5) }
    t.match(format(runs), /^False Unhealthy: kubelet exited 5 times within 24 hours with (local|kube-system.*@100)$/)
    t.same(describe(down, 'settled'), runs, 'the same text, so that it is written once')
    t.equal(isTransient(runs, { phase: 'settled' }, down), false, 'no True about a kubelet that is down')
    const starting = { running: { kind: 'unknown', detail: 'it has no command line yet' } } as const
    t.same(describe({ ...down, ...starting }, 'restarting'), runs, 'nor does a start that is seen early change it')
    t.equal(describe({ ...down, health: exits(4) }, 'settled').reason, 'Restarting')
    const other = { ...exits(5), subject: 'another' }
    t.equal(describe({ ...down, health: other }, 'settled').reason, 'Restarting', 'of something else')
    const loop = { ...exits(3), exits: 3, started: true, healthySinceUs: undefined }
    const again = describe({ ...down, health: loop }, 'settled')
    t.match(format(again), /^False Unhealthy: kubelet exits again and again with (local|kube-system.*@100)$/)
    t.same(describe({ ...of, running, health: loop }, 'settled'), again, 'also while it runs')
    t.same(describe({ ...down, health: { ...loop, ...exits(7), exits: 7 } }, 'settled'), again, 'one text for all of it')
  }
  const onTrial = following(good, { running: { kind: 'none' } })
  t.equal(describe(onTrial, 'in-trial').reason, 'Restarting')
})

t.test('what kubelet does otherwise is said of what it runs alone', async (t) => {
  const tell = (of: Snapshot, phase: Phase) => describeCondition(of, { phase, detail: 'DETAIL' }, NO_DEADLINES, 'a warning: x').message
  t.match(tell(following(good, { proven }), 'settled'), /has passed its trial; a warning: x$/)
  t.match(tell(following(good), 'in-trial'), /^trial of .*; a warning: x$/)
  t.notMatch(tell(behind(), 'rollout'), 'a warning')
  t.notMatch(tell(snapshot(), 'settled'), 'a warning', 'the local config')
})

t.test('that looks come late is said, whatever else there is to say', async (t) => {
  const { now, policy } = snapshot()
  const sample = { at: now, unit: unit(), running: runningContent('local'), runtimeUp: true, healthz: { ok: true, detail: '' } }
  const record = required(recordSample(undefined, sample, proven, policy))
  const late = (lateLooks: number | undefined) => describe(snapshot({ health: { ...record, lateLooks } }), 'settled')
  t.match(late(2).message, /; the agent looks at kubelet too rarely to judge it in time: see whether the node is short of CPU or memory$/)
  for (const count of [undefined, 1]) t.notMatch(late(count).message, 'too rarely', 'a restart of the agent is no reason')
})

t.test('a kubelet that systemd gave up is not starting, where nothing starts it again', async (t) => {
  const gaveUp = { running: { kind: 'none' }, unit: unit({ activity: 'failed' }) } as const
  const local = describe(snapshot(gaveUp), 'settled')
  t.equal(format(local), 'False Unhealthy: systemd gave kubelet up; nothing is assigned, so the agent does not start it')
  t.equal(describeDegraded(local).status, 'True')
  t.equal(describe(snapshot({ ...gaveUp, unit: unit({ activity: 'auto-restart' }) }), 'settled').reason, 'Restarting')
  t.equal(describe(snapshot(gaveUp), 'restarting').reason, 'Restarting', 'not while the agent starts it')
  t.equal(describe(following(good, gaveUp), 'in-trial').reason, 'Restarting', 'nor where a config is assigned: it does then')
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

/** Every snapshot in every phase, including combinations that cannot occur. */
const cases = fc.record({
  of: anySnapshot,
  phase: fc.constantFrom(...(Object.keys(PHASES) as Phase[])),
  detail: fc.constantFrom('waits', 'a\nb\u0000'.repeat(2000)),
})

t.test('in any state: one reason, one line, and True only for a proven config', async () => {
  const property = fc.property(cases, ({ of, phase, detail }) => {
    const { status, reason, message } = describe(of, phase, detail, UNTIL)
    const { error } = describeStatus(of, phase)
    if (/see (Kubelet|kubelet-cfg-agent) log/.test(message)) return false
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

t.test('a wait is described by its own detail', async () => {
  const property = fc.property(anySnapshot, (of) => {
    const step = nextStep(of)
    if (step.kind !== 'wait') return true
    const { status } = describeCondition(of, step, NO_DEADLINES)
    return status !== 'True' || step.phase === 'settled' || step.phase === 'in-trial'
  })
  fc.assert(property, { numRuns: 2000 })
})
