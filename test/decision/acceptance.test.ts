// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { listUndrained } from '../../src/decision/acceptance.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { assess } from '../../src/decision/target.ts'
import { type ConfigSource, nameOther } from '../../src/subject/config-source.ts'
import {
  A,
  accepts,
  assignedTo,
  B,
  C,
  crashing,
  decide,
  health,
  hold,
  judged,
  keyOf,
  LOCAL_EVERYWHERE,
  POLICY,
  READY_FOR_B,
  runs,
  runsNothing,
  snapshot,
  startsWith,
  verdict,
  wants,
} from './snapshots.ts'

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

t.test('what has passed its trial and is what kubelet starts with needs no judge, as at boot', async (t) => {
  const booting = { ...runsNothing('stopped'), accepted: new Map(), basis: 'now' }
  t.not(decide(booting).kind, 'preflight')
  t.match(decide({ ...booting, proven: undefined }), { kind: 'preflight', source: A })
})

/** Local is assigned anew, and what runs is left. */
const RETURNS = { ...wants('local'), ...assignedTo('local'), lastKnownGood: hold('local'), left: [hold(A)], accepted: new Map() }

t.test('an acceptance of yesterday is asked for again before it counts', async (t) => {
  const wanted = { ...LOCAL_EVERYWHERE, ...wants(A), ...assignedTo(A), basis: 'now' }
  const accepted = (basis: string) => ({ accepted: new Map([[keyOf(A), { drain: [], basis }]]) })
  t.match(decide({ ...wanted, ...accepted('then') }), { kind: 'preflight', source: A })
  t.match(decide({ ...wanted, ...accepted('now') }), { kind: 'activate', target: A })
  t.match(decide({ ...wanted, ...accepted('then'), ...startsWith(A) }), { kind: 'restart', to: A }, 'but not once it is activated')
  t.match(decide({ ...wanted, ...accepted('then'), basis: undefined }), { kind: 'activate', target: A }, 'nor where nobody can judge')
  t.match(
    decide({ ...wanted, ...accepted('now'), localConfig: 'changed' }),
    { kind: 'activate', target: A },
    'the local config is another one',
  )
  const returns = { ...RETURNS, basis: 'now', localConfig: 'now' }
  const accepts = (localConfig: string) => ({ accepted: new Map([[keyOf('local'), { drain: [], basis: 'now', localConfig }]]) })
  t.match(decide({ ...returns, ...accepts('then') }), { kind: 'preflight', source: 'local' }, 'local has changed since')
  t.match(decide({ ...returns, ...accepts('now') }), { kind: 'activate', target: 'local' })
})

t.test('a return to local is judged, unless nothing is lost by it', async (t) => {
  const returns = (facts: Partial<Snapshot> = {}) => decide({ ...RETURNS, ...facts })
  const unjudged = { kind: 'activate', target: 'local' }
  t.match(returns(), { kind: 'preflight', source: 'local' })
  t.match(returns({ requests: { hold: 'local', rollback: undefined, retry: false, force: true } }), unjudged, 'an operator forces it')
  t.match(returns(judged(verdict(A, 'provisional'))), unjudged, 'what runs has failed')
  t.match(returns(runsNothing('failed')), unjudged, 'kubelet is down')
  for (const activity of ['stopped', 'queued', 'auto-restart'] as const)
    t.match(returns(runsNothing(activity)), { kind: 'preflight', source: 'local' }, `${activity}: it may be well at its next start`)
  const { running, unit } = runs(A)
  const ofOthers = { unit, running: { ...running, content: nameOther('/etc/kubelet.yaml'), key: 'other@kubelet' } } as Partial<Snapshot>
  t.match(returns(ofOthers), unjudged, 'an administrator started kubelet with a config of no record')
})

t.test('what may change on a drained node only is waited for, unless nobody has to be asked', async (t) => {
  const drain = ['cgroupDriver']
  const lists = (source: ConfigSource, facts: Partial<Snapshot>) => {
    const seen = snapshot({
      ...wants(source),
      ...assignedTo(source),
      accepted: new Map([[keyOf(source), { drain }]]),
      drained: false,
      ...facts,
    })
    const { target } = assess(seen)
    return target && listUndrained(seen, target)
  }
  const { requests } = snapshot()
  const reset = { requests: { ...requests, hold: 'local' } } as const
  t.strictSame(lists(B, {}), drain)
  t.strictSame(lists('local', {}), drain)
  t.strictSame(lists('local', reset), [], 'an operator resets the node, and knows what runs there')
  t.strictSame(lists(B, reset), drain, 'unless something else takes its place')
  const fallback = { accepted: new Map([[keyOf(A), { drain }]]), ...judged(verdict(B, 'provisional')) }
  t.strictSame(lists(B, fallback), [], 'a fallback does not wait')
})

t.test('a refusal is judged anew when what it rests on has changed', async (t) => {
  const refused = { ...wants(B), ...assignedTo(B), ...judged(verdict(B, 'refused', { basis: 'then' })) }
  t.match(decide({ ...refused, basis: 'then' }), { kind: 'wait', phase: 'refused' })
  t.match(decide({ ...refused, basis: 'now' }), { kind: 'preflight', source: B, fallback: false })
  t.match(decide({ ...refused, basis: 'now', preflightPending: new Set([keyOf(B)]) }), { kind: 'wait', phase: 'refused' })
  t.match(decide({ ...refused, basis: undefined }), { kind: 'wait' }, 'whoever cannot judge does not')
  const failed = { ...wants(B), ...assignedTo(B), ...judged(verdict(B, 'confirmed')), basis: 'now' }
  t.match(decide(failed), { kind: 'wait' }, 'but not what kubelet failed on')
})

t.test('a refusal restarts nothing, unless kubelet is to go back to last-known-good', async (t) => {
  const refused = { ...READY_FOR_B, ...judged(verdict(B, 'refused')) }
  t.match(decide(refused), { kind: 'wait', phase: 'refused' }, 'no restart where last-known-good runs')
  const running = { ...refused, ...startsWith(C), ...runs(C), health: health(C) }
  t.match(decide(running), { kind: 'prove', key: keyOf(C) }, 'nor where something else does: its trial goes on')
  const policy = { ...POLICY, whenRefused: 'last-known-good' } as const
  t.match(decide({ ...running, policy }), { kind: 'activate', target: A, fallback: undefined }, "back to it in kubelet's old way")
})
