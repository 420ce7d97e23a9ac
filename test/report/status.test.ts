// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import * as texts from '../../src/decision/status-texts.ts'
import { CONFIG } from '../../src/report/node-config.ts'
import { type ConfigStatus, describeStatus } from '../../src/report/status.ts'
import { LOCAL } from '../../src/subject/config-source.ts'
import type { WiringProblem } from '../../src/subject/unit-state.ts'
import { following, found, held, runningContent, snapshot, source, unit, verdictOn } from './build.ts'

const good = source('100')
const next = source('200')

/** `next` is assigned; the last-known-good `good` runs. */
function onLastKnownGood(fields: Partial<Snapshot> = {}): Snapshot {
  return following(next, {
    lastKnownGood: held(good),
    nextStart: { kind: 'known', held: held(good) },
    running: runningContent('content-100'),
    ...fields,
  })
}

t.test('a node that follows its assignment', async (t) => {
  t.same(describeStatus(snapshot(), 'settled'), { active: 'local', assigned: 'local', lastKnownGood: 'local', error: '' })
  t.same(describeStatus(following(good), 'in-trial'), { active: good, assigned: good, lastKnownGood: 'local', error: '' })
  const waiting = describeStatus(onLastKnownGood({ assigned: { kind: 'source', source: good }, assignedContent: 'content-100' }), 'spread')
  t.same(waiting, { active: good, assigned: good, lastKnownGood: good, error: '' }, 'waiting is not an error')
})

t.test('active', async (t) => {
  const active = (of: Snapshot) => describeStatus(of, undefined).active
  const sameBytes = following(next, { running: runningContent('content-200') })
  t.same(active(sameBytes), next, 'becomes the version of the next start if the content is the same')
  t.same(
    active(onLastKnownGood({ nextStart: { kind: 'known', held: held(next) } })),
    good,
    'is the running one until kubelet has been restarted',
  )
  t.equal(active(following(good, { running: { kind: 'unknown', detail: 'pre-exec' } })), undefined, 'unknown is not local')
  t.equal(active(following(good, { running: { kind: 'none' } })), undefined, 'nothing runs: what was published stays')

  const process = { kind: 'checkpoint', pid: 1, uid: 'uid-1', resourceVersion: '7', key: 'old-key' } as const
  const old = following(next, { running: runningContent('content-7'), unit: unit({ process }) })
  t.same(
    active(old),
    source('7', { kubeletConfigKey: 'old-key' }),
    'the process names a version that no record holds any more; its uid gives the name',
  )
  const desiredOnly = snapshot({ desired: found(next), running: runningContent('content-7'), unit: unit({ process }) })
  t.same(active(desiredOnly), source('7', { kubeletConfigKey: 'old-key' }), 'the name is known from the desired config too')
  const foreign = following(next, { running: runningContent('content-7'), unit: unit({ process: { ...process, uid: 'uid-9' } }) })
  t.equal(active(foreign), undefined, 'a uid without a known name stays unknown')
})

t.test('failures to follow the cluster', async (t) => {
  const error = (fields: Partial<Snapshot>) => describeStatus(following(good, fields), 'settled').error
  t.equal(
    error({ desired: { kind: 'invalid', detail: texts.ALL_NIL_SUBFIELDS_ERROR } }),
    'failed to sync: invalid NodeConfigSource, exactly one subfield must be non-nil, but all were nil',
  )
  for (const reason of ['not-found', 'forbidden', 'unreachable', 'malformed'] as const) {
    const desired = { kind: 'config-map', ref: good, object: { kind: 'unavailable', reason, detail: '' } } as const
    t.equal(error({ desired }), 'failed to sync: failed to download config, see Kubelet log for details', reason)
  }
  t.equal(error({ desired: { kind: 'config-map', ref: good, object: { kind: 'pending' } } }), '', 'not requested yet is not an error')
  t.equal(error({ desired: { kind: 'unknown', detail: 'no Node' } }), '')
  t.equal(
    error({ troubles: [{ step: 'assign', about: '', detail: 'ENOSPC', retryAtUs: 0 }] }),
    'failed to sync: internal failure, see Kubelet log for details',
  )
  t.equal(
    error({ troubles: [{ step: 'activate', about: 'x', detail: 'ENOSPC', retryAtUs: 0 }] }),
    'internal failure, see Kubelet log for details',
  )
  t.equal(error({ assigned: { kind: 'damaged', detail: '' } }), 'internal failure, see Kubelet log for details')
  const both = { desired: { kind: 'invalid', detail: '' }, verdicts: verdictOn('content-100', { reason: 'load' }) } as const
  t.match(error(both), /^failed to sync/, 'comes before faults of the config')
})

t.test('what was given up no longer stands as last-known-good', async (t) => {
  const on = (fields: Partial<Snapshot>) =>
    describeStatus(onLastKnownGood({ previous: held(source('50')), ...fields }), 'settled').lastKnownGood
  t.same(on({}), good)
  t.same(on({ verdicts: verdictOn('content-100', { reason: 'requested' }) }), source('50'), 'an operator rolled it back')
  t.same(on({ verdicts: verdictOn('content-100', { reason: 'ill-health' }) }), source('50'), 'its failure is confirmed')
  const both = new Map([...verdictOn('content-100'), ...verdictOn('content-50')])
  t.equal(on({ verdicts: both }), 'local')
  t.same(on({ verdicts: verdictOn('content-100', { state: 'provisional' }) }), good, 'a retry may bring it back')
  t.same(on({ verdicts: verdictOn('content-100'), unit: unit({ kubeletIdentity: 'kubelet-2' }) }), good, 'a verdict of another kubelet')
  const away = { verdicts: verdictOn('content-100'), unit: { kind: 'unknown', detail: '' } } as const
  t.same(on(away), source('50'), 'it does not come back while systemd is silent')
  const local = { verdicts: verdictOn('content-100'), previous: LOCAL }
  t.equal(on(local), 'local')
})

t.test('faults of the assigned config', async (t) => {
  const error = (fields: Partial<Snapshot>, phase: Parameters<typeof describeStatus>[1] = 'fallen-back') =>
    describeStatus(onLastKnownGood(fields), phase).error
  t.equal(
    error({ verdicts: verdictOn('content-200', { reason: 'load', state: 'refused' }) }),
    'failed to load config, see Kubelet log for details',
  )
  t.equal(
    error({ verdicts: verdictOn('content-200', { reason: 'validate', state: 'refused' }) }),
    'failed to validate config, see Kubelet log for details',
  )
  t.equal(error({ assignedContent: undefined }), 'failed to load config, see Kubelet log for details', 'its checkpoint is gone')
  t.equal(
    error({ verdicts: verdictOn('content-200') }),
    'failed to run config: kubelet crash-looped; rolled back to last-known-good, see kubelet-cfg-agent log for details',
  )
  t.match(error({ verdicts: verdictOn('content-200'), running: runningContent('content-200') }), 'rolling back', 'not there yet')
  t.match(error({ verdicts: verdictOn('content-200'), running: { kind: 'none' } }), 'rolling back')
  const local = { nextStart: { kind: 'known', held: LOCAL }, running: runningContent('local') } as const
  t.match(error({ ...local, verdicts: verdictOn('content-200') }), 'rolled back to local config')
  const previous = { previous: held(source('50')), running: runningContent('content-50') } as const
  t.match(error({ ...previous, verdicts: verdictOn('content-200') }), 'last-known-good before the current one')
  t.match(error({ verdicts: verdictOn('content-200', { state: 'provisional' }) }), 'crash-looped')
  t.equal(error({ verdicts: verdictOn('content-200', { state: 'provisional' }) }, 'node-at-fault'), texts.NODE_AT_FAULT_ERROR)
  t.match(error({ verdicts: verdictOn('content-200', { state: 'confirmed' }) }, 'node-at-fault'), 'crash-looped')
  t.equal(error({ verdicts: verdictOn('content-200', { reason: 'requested' }) }, 'node-at-fault'), texts.NODE_AT_FAULT_ERROR)
  t.equal(error({ verdicts: verdictOn('content-100') }), '', 'a verdict on another config does not count')
  const refused = { verdicts: verdictOn('new bytes', { reason: 'load', state: 'refused' }), desiredContent: 'new bytes' } as const
  t.match(error({ ...refused, desired: found(next) }), 'failed to load config', 'the assigned version, after a restored etcd')
  t.equal(error({ ...refused, desired: found(good) }, 'settled'), '', 'but not another version about to be applied')
  t.equal(error({ verdicts: verdictOn('content-200'), unit: unit({ kubeletIdentity: 'kubelet-2' }) }), '', 'nor is one of another kubelet')
  t.match(
    error({ verdicts: verdictOn('content-200'), unit: { kind: 'unknown', detail: '' } }),
    'crash-looped',
    'but an error does not go when systemd is silent',
  )
})

t.test('what prevents a good config from running', async (t) => {
  const error = (fields: Partial<Snapshot>, phase: Parameters<typeof describeStatus>[1] = 'blocked') =>
    describeStatus(onLastKnownGood(fields), phase).error
  const requests = (hold: 'paused' | 'local') => ({ hold, rollback: undefined, retry: false })
  t.equal(error({ requests: requests('paused') }), texts.PAUSED_ERROR)
  const recordedChannelState = { channel: 'label', paused: { on: 'Node', by: 'annotation x of Node n' }, problem: undefined } as const
  const unknown = { kind: 'unknown', detail: 'away' } as const
  t.equal(error({ desired: unknown, recordedChannelState }), 'config not activated: paused by annotation x of Node n')
  t.equal(
    error({ desired: unknown, recordedChannelState: { ...recordedChannelState, paused: undefined, problem: 'a tie' } }),
    'failed to sync: a tie',
    'the problem recorded last',
  )
  t.equal(error({ requests: requests('local') }), texts.HELD_LOCAL_ERROR)
  t.equal(error({}, 'ineffective'), texts.INEFFECTIVE_ERROR)
  t.equal(error({}, 'restart-limit'), texts.RESTART_LIMIT_ERROR)
  t.equal(error({}, 'node-at-fault'), texts.NODE_AT_FAULT_ERROR)
  t.equal(error({}, 'spread'), '')
  const broken = (reason: WiringProblem) => ({ unit: unit({ wiring: { kind: 'broken', reason, detail: '/etc/secret' } }) })
  for (const reason of [
    'masked',
    'drop-in-missing',
    'daemon-reload-needed',
    'overridden',
    'flag-wins',
    'no-config-argument',
    'owned-by-operator',
  ] as const) {
    t.match(error(broken(reason)), /^failed to activate config: .*, see kubelet-cfg-agent log for details$/, reason)
    t.equal(describeStatus(following(good, broken(reason)), 'settled').error, '', 'not reported while the desired config runs')
    t.equal(describeStatus(snapshot({ ...broken(reason), running: { kind: 'none' } }), 'blocked').error, '', 'nor if nothing is desired')
  }
  t.equal(describeStatus(following(good, { requests: requests('paused') }), 'paused').error, '')
})

t.test("with kubelet's own controller, only that is reported, and its fields are left alone", async (t) => {
  const wiring = { kind: 'broken', reason: 'dynamic-config-dir', detail: '' } as const
  const status = describeStatus(following(good, { unit: unit({ wiring }) }), 'blocked')
  const error = texts.wiringError('dynamic-config-dir')
  t.same(status, { active: undefined, assigned: undefined, lastKnownGood: undefined, error, cause: texts.withoutLogHint(error) })
})

t.test('in any state, Node.status.config contains no content, no path of the node and no detail', async (t) => {
  const details = fc.constant('SECRET DETAIL /etc/kubernetes')
  const arbitrary = fc.record({
    hold: fc.constantFrom('none' as const, 'paused' as const, 'local' as const),
    reason: fc.constantFrom(
      'load' as const,
      'validate' as const,
      'crash-loop' as const,
      'start-deadline' as const,
      'ill-health' as const,
      'requested' as const,
    ),
    running: fc.constantFrom('content-100', 'content-200', 'content-7', 'local'),
    judged: fc.constantFrom('content-100', 'content-200'),
    trouble: fc.option(fc.constantFrom('assign' as const, 'restart' as const), { nil: undefined }),
    phase: fc.constantFrom('settled' as const, 'blocked' as const, 'node-at-fault' as const, undefined),
    detail: details,
  })
  const holds = fc.property(arbitrary, ({ hold, reason, running, judged, trouble, phase, detail }) => {
    const status: ConfigStatus = describeStatus(
      onLastKnownGood({
        requests: { hold, rollback: undefined, retry: false },
        verdicts: verdictOn(judged, { reason, detail }),
        running: runningContent(running),
        troubles: trouble === undefined ? [] : [{ step: trouble, about: '', detail, retryAtUs: 0 }],
      }),
      phase,
    )
    const isTrue = status.active === undefined || status.active === 'local' || `content-${status.active.resourceVersion}` === running
    return isTrue && !JSON.stringify(CONFIG.write('node-1', status, undefined, 0)).includes('SECRET') && status.error.length < 200
  })
  t.doesNotThrow(() => fc.assert(holds))
})
