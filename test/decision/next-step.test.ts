// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Step } from '../../src/decision/step.ts'
import { isWorthKeeping } from '../../src/decision/worth-keeping.ts'
import { sameSource } from '../../src/subject/config-source.ts'
import { anySnapshot, look } from './any-snapshot.ts'
import {
  A,
  accepts,
  assignedTo,
  dataOf,
  decide,
  health,
  INVOCATION,
  judged,
  keyOf,
  LOCAL_EVERYWHERE,
  NOW_US,
  POLICY,
  restartTo,
  SECOND_US,
  startsWith,
  verdict,
  wants,
} from './snapshots.ts'

t.test('a settled node waits', async (t) => {
  t.match(decide(), { kind: 'wait', phase: 'settled', untilUs: NOW_US + 20 * SECOND_US })
  t.match(decide({ ...wants('local'), ...LOCAL_EVERYWHERE }), { kind: 'wait', phase: 'settled' })
})

t.test('from a new assignment to the restart, one step at a time', async (t) => {
  const fresh = { ...LOCAL_EVERYWHERE, ...wants(A), accepted: new Map() }
  t.same(decide(fresh), { kind: 'assign', source: A, data: dataOf(A), shared: false })
  const assigned = { ...fresh, ...assignedTo(A) }
  t.same(decide(assigned), { kind: 'preflight', source: A, key: keyOf(A), data: undefined, fallback: false })
  const accepted = { ...assigned, ...accepts(A) }
  t.match(decide(accepted), { kind: 'activate', target: A, fallback: 'local' })
  const activated = { ...accepted, ...startsWith(A), health: health(A, { started: false, healthySinceUs: undefined }) }
  t.match(decide(activated), { kind: 'restart', from: 'local', to: A, record: { target: keyOf(A), fallback: false, failed: false } })
  const asked = restartTo(A, { atUs: NOW_US, invocationBefore: INVOCATION })
  t.match(decide({ ...activated, health: health(A, { subjectSinceUs: NOW_US }), restarts: [asked] }), { kind: 'wait', phase: 'restarting' })
})

t.test('what kubelet starts with next already is activated no more, whatever its verdict', async (t) => {
  const undrained = { accepted: new Map([[keyOf(A), { drain: ['cgroupDriver'], basis: 'now' }]]), drained: false }
  const local = { ...LOCAL_EVERYWHERE, ...judged(verdict('local', 'refused')) }
  t.match(decide({ ...local, ...wants(A), ...assignedTo(A), ...undrained }), { kind: 'wait', phase: 'drain' })
})

/** More than any node needs from one wait to the next. */
const MOST_STEPS = 25

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
      // The same content on a kubelet that was upgraded on disk, and only where what runs has
      // failed.
      const isUpgrade = seen.running.kind === 'known' && seen.running.key !== step.record.target && !isWorthKeeping(seen)
      return seen.running.kind !== 'known' || seen.running.content !== seen.nextStart.held.content || isUpgrade
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
        for (let count = 0; count < MOST_STEPS; count += 1) {
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
        for (let count = 0; step.kind !== 'wait'; count += 1, step = nextStep(seen)) {
          if (count === MOST_STEPS) throw new Error(`no end of steps: ${step.kind}`)
          seen = look(seen, step, () => false)
        }
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
