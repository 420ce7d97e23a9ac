// SPDX-License-Identifier: Apache-2.0
/**
 * A step does on paper what it does to the node: the Snapshot that `carryOut` folds out of a step's
 * effects shows the records that the next observation reads. So `plan` and the property tests run
 * the machine that ships.
 */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { carryOut } from '../../src/decision/carry-out.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { PreflightResult } from '../../src/decision/verdict.ts'
import { A, A_EDITED, B, MINUTE_US, SECOND_US } from '../decision/snapshots.ts'
import { CRASHES, NEVER_HEALTHY, SmallWorld, WELL } from './small-world.ts'

const source = fc.constantFrom(A, A_EDITED, B)

const event = fc.oneof(
  fc.record({ kind: fc.constant('want' as const), source }),
  fc.record({ kind: fc.constant('want-other-bytes' as const), source }),
  fc.record({ kind: fc.constant('want-overlaid' as const), source, rendered: fc.constantFrom('x', 'y') }),
  fc.constant({ kind: 'want-local' as const }),
  fc.record({ kind: fc.constant('behave' as const), source, how: fc.constantFrom(WELL, CRASHES, NEVER_HEALTHY) }),
  fc.record({ kind: fc.constant('refuse' as const), on: fc.boolean() }),
  fc.record({ kind: fc.constant('lose-checkpoint' as const), record: fc.constantFrom('last-known-good' as const, 'assigned' as const) }),
  fc.record({ kind: fc.constant('request' as const), request: fc.constantFrom('retry' as const, 'rollback' as const) }),
  fc.record({ kind: fc.constant('wait' as const), us: fc.constantFrom(5 * SECOND_US, 3 * MINUTE_US, 12 * MINUTE_US) }),
)

type WorldEvent = typeof event extends fc.Arbitrary<infer T> ? T : never

function happen(world: SmallWorld, one: WorldEvent): void {
  switch (one.kind) {
    case 'want':
      world.want(one.source)
      return
    case 'want-other-bytes':
      world.want(one.source, { [one.source.kubeletConfigKey]: 'other bytes' })
      return
    case 'want-overlaid': {
      world.want(one.source)
      const { desired } = world
      if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return
      const rendered = { overlay: one.rendered.repeat(16), data: { [one.source.kubeletConfigKey]: one.rendered } }
      world.desired = { ...desired, object: { ...desired.object, rendered } }
      return
    }
    case 'want-local':
      world.want('local')
      return
    case 'behave':
      world.behave(one.source, one.how)
      return
    case 'refuse':
      world.preflight = () =>
        one.on ? { kind: 'refused', reason: 'validate', detail: 'no' } : { kind: 'accepted', remarks: [], drain: [] }
      return
    case 'lose-checkpoint': {
      const lost = world.record(one.record)
      if (lost !== undefined && lost !== 'local') world.checkpoints.remove(lost.uid, lost.resourceVersion, lost.overlay)
      return
    }
    case 'request': {
      const content = world.snapshots.at(-1)?.assignedContent
      world.requests =
        one.request === 'retry' ? { ...world.requests, retry: true } : { ...world.requests, rollback: content ? { content } : undefined }
      return
    }
    case 'wait':
      return
  }
}

/** The records that the agent alone changes; the rest of a Snapshot changes by itself. */
function recordsOf(seen: Snapshot) {
  const { assigned, assignedContent, lastKnownGood, previous, proven, nextStart, recordedChannelState, requests, spread } = seen
  return {
    ...{ assigned, assignedContent, lastKnownGood, previous, proven, nextStart, recordedChannelState, requests, spread },
    storedContent: seen.storedContent,
    storedUnrendered: seen.storedUnrendered,
    verdicts: [...seen.verdicts.values()].map(({ key, state, reason }) => `${key} ${state} ${reason}`).sort(),
    accepted: [...seen.accepted.keys()].sort(),
    restarts: seen.restarts.map(({ target, outcome }) => `${target} ${outcome?.ok}`),
    checkpoints: seen.checkpoints.map(({ uid, resourceVersion, overlay }) => `${uid}/${resourceVersion}/${overlay ?? ''}`).sort(),
  }
}

const trial = { kind: 'wait', us: 12 * MINUTE_US } as const
/** Reaches every kind of step that is asserted below, whatever chance does. */
const STORY: WorldEvent[] = [
  { kind: 'want', source: A },
  trial,
  { kind: 'want', source: B },
  trial,
  { kind: 'behave', source: A_EDITED, how: CRASHES },
  { kind: 'want', source: A_EDITED },
  { kind: 'lose-checkpoint', record: 'last-known-good' },
  trial,
  { kind: 'request', request: 'retry' },
  { kind: 'want-local' },
]

/** No record names any more what runs, and kubelet is to start with it again. */
const UNNAMED: WorldEvent[] = [
  { kind: 'want-other-bytes', source: A },
  { kind: 'refuse', on: true },
  { kind: 'want-other-bytes', source: A_EDITED },
  { kind: 'want', source: A_EDITED },
  { kind: 'lose-checkpoint', record: 'assigned' },
  { kind: 'want', source: A },
  { kind: 'want-other-bytes', source: A },
]

t.test('each step leaves what its effects say', async (t) => {
  const kinds = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.array(event, { minLength: 4, maxLength: 16 }), async (events) => {
      const world = new SmallWorld()
      for (const one of events) {
        happen(world, one)
        const from = world.steps.length
        await world.run(one.kind === 'wait' ? one.us : SECOND_US)
        compareSteps(t, world, from, kinds)
      }
    }),
    { numRuns: 60, examples: [[STORY], [UNNAMED]] },
  )
  const common = [
    'assign',
    'preflight',
    'activate',
    'restart',
    'prove',
    'promote',
    'condemn',
    'reset-to-local',
    'forget-fallback',
    'forgive',
  ]
  for (const kind of common) t.ok(kinds.has(kind), `${kind} was compared`)
})

/** After a step the loop observes again at once: between the two only the agent acts. */
function compareSteps(t: Test, world: SmallWorld, from: number, kinds: Set<string>): void {
  for (let at = from; at + 1 < world.steps.length; at += 1) {
    const [step, before, after] = [world.steps[at], world.snapshots[at], world.snapshots[at + 1]]
    if (step === undefined || before === undefined || after === undefined || step.kind === 'wait') continue
    if (after.troubles.length > 0) continue
    kinds.add(step.kind)
    const result: PreflightResult = world.preflight({})
    const foretold = carryOut(before, step, {
      preflight: () => ({ result, basis: world.basis, at: before.now }),
      restart: (seen) => ({ outcome: { ok: true }, after: seen }),
    })
    t.same(recordsOf(after), recordsOf(foretold), step.kind)
  }
}
