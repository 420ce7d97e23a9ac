// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { CONDITION_REASONS, type ConditionReason, type ConditionStatus, describeDegraded, stateLabel } from '../../src/report/reasons.ts'

function statusFor(status: ConditionStatus, reason: ConditionReason): ConditionStatus {
  return describeDegraded({ status, reason, message: 'why' }).status
}

t.test('True only where somebody should look', async (t) => {
  const degraded = CONDITION_REASONS.False.filter((reason) => statusFor('False', reason) === 'True')
  t.same(degraded, [
    'Unhealthy',
    'Invalid',
    'DownloadFailed',
    'InternalError',
    'CheckpointMissing',
    'Refused',
    'RolledBack',
    'NodeAtFault',
    'Wiring',
    'Ineffective',
  ])
})

t.test('never True where the config is ready, in a trial, or where it is not known', async (t) => {
  for (const reason of CONDITION_REASONS.True) t.equal(statusFor('True', reason), 'False')
  const unknown = CONDITION_REASONS.Unknown.map((reason) => [reason, statusFor('Unknown', reason)])
  t.same(Object.fromEntries(unknown), {
    InTrial: 'False',
    AssignmentUnknown: 'Unknown',
    KubeletUnknown: 'Unknown',
    NotPublished: 'Unknown',
  })
})

t.test('never True for what an operator did on purpose', async (t) => {
  t.equal(describeDegraded({ status: 'False', reason: 'RolledBack', message: 'why', deliberate: true }).status, 'False')
  for (const reason of ['Paused', 'HeldLocal', 'KubeletStopped'] as const) t.equal(statusFor('False', reason), 'False')
})

t.test('what is wrong is said in the same words; what is not, in words that never change', async (t) => {
  t.same(describeDegraded({ status: 'False', reason: 'RolledBack', message: 'why' }), {
    status: 'True',
    reason: 'RolledBack',
    message: 'why',
  })
  const fine = describeDegraded({ status: 'True', reason: 'Promoted', message: 'one' })
  t.same(fine, describeDegraded({ status: 'Unknown', reason: 'InTrial', message: 'two' }))
  t.match(fine, { status: 'False', reason: 'AsExpected' })
})
const ALL = [...CONDITION_REASONS.True, ...CONDITION_REASONS.Unknown, ...CONDITION_REASONS.False]

t.test('the label has the states that do not change by themselves, and no other', async (t) => {
  t.same(ALL.filter((reason) => stateLabel(reason) !== undefined).sort(), [
    'HeldLocal',
    'Ineffective',
    'Invalid',
    'Local',
    'NodeAtFault',
    'Promoted',
    'Refused',
    'RolledBack',
    'Wiring',
  ])
})

t.test('each is a label value', async (t) => {
  for (const reason of ALL) t.match(stateLabel(reason) ?? reason, /^[A-Za-z0-9]{1,63}$/)
})
