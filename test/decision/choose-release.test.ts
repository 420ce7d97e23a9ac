// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { chooseRelease } from '../../src/decision/choose-release.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { describeSource, LOCAL } from '../../src/subject/config-source.ts'
import { dropInWiring, fileWiring } from '../../src/systemd/wiring-kinds.ts'
import { following, held, snapshot, source, unit, verdictOn } from '../report/build.ts'

const A = source('1')
const B = source('2')
const OLD = source('0')
const CONFIG = '/etc/kubernetes/kubelet-config.json'
const fileUnit = unit({ wiring: fileWiring(CONFIG) })

function release(of: Snapshot): string {
  const decision = chooseRelease(of)
  if (decision.kind !== 'activate') return decision.kind
  return `${decision.wiring.activation} ${decision.target === 'local' ? 'local' : decision.target.resourceVersion}`
}

t.test('a next start that is proven, or local, stays', async (t) => {
  t.equal(release(snapshot()), 'keep')
  t.equal(release(following(A, { lastKnownGood: held(A) })), 'keep')
  const otherVersion = held(source('9'), held(A).content)
  t.equal(release(following(A, { lastKnownGood: otherVersion })), 'keep', 'another version of the same content')
  t.equal(
    release(snapshot({ assigned: { kind: 'source', source: B }, lastKnownGood: held(A) })),
    'keep',
    'local is what kubelet starts with',
  )
})

t.test('what is on trial, or only activated, gives way to last-known-good', async (t) => {
  t.equal(release(following(B, { lastKnownGood: held(A) })), 'env 1', 'it runs')
  t.equal(release(following(B, { lastKnownGood: held(A), running: { kind: 'none' } })), 'env 1', 'kubelet is stopped')
  t.equal(release(following(B)), 'env local', 'last-known-good is local')
})

t.test('last-known-good is skipped where it has failed or is gone', async (t) => {
  const failed = verdictOn(held(A).content ?? '')
  t.equal(release(following(B, { lastKnownGood: held(A), previous: held(OLD), verdicts: failed })), 'env 0')
  t.equal(release(following(B, { lastKnownGood: held(A), verdicts: failed })), 'env local')
  t.equal(release(following(A, { lastKnownGood: held(A), verdicts: failed })), 'env local', 'also where it is what kubelet starts with')
  t.equal(release(following(B, { lastKnownGood: { source: A, content: undefined } })), 'env local')
  const gone = { kind: 'known', held: { source: A, content: undefined } } as const
  t.equal(release(following(A, { lastKnownGood: { source: A, content: undefined }, nextStart: gone })), 'env local')
  t.equal(release(following(A, { lastKnownGood: held(A), nextStart: gone })), 'env 1', 'and comes back where it is not')
})

t.test('a file that was replaced gets its original back, proven or not', async (t) => {
  t.equal(release(following(A, { unit: fileUnit, lastKnownGood: held(A) })), 'file local')
  t.equal(release(following(B, { unit: fileUnit, lastKnownGood: held(A) })), 'file local')
  t.equal(release(snapshot({ unit: fileUnit })), 'keep')
})

t.test('where the next start cannot be read, the own file is written anew, and that of somebody else is left', async (t) => {
  const nextStart = { kind: 'unknown', detail: 'kubelet.env is not ours' } as const
  t.equal(release(following(B, { nextStart, lastKnownGood: held(A) })), 'env 1', 'our own file is written anew')
  t.equal(release(following(B, { nextStart, lastKnownGood: LOCAL })), 'env local')
  t.same(chooseRelease(snapshot({ unit: fileUnit, nextStart })), nextStart, "somebody else's is not")
  t.same(chooseRelease(snapshot({ unit: { kind: 'unknown', detail: 'no systemd' } })), { kind: 'unknown', detail: 'no systemd' })
})

t.test('a drop-in is taken away, proven or not', async (t) => {
  const dropInUnit = unit({ wiring: dropInWiring('/etc/kubelet.d') })
  t.equal(release(following(A, { unit: dropInUnit, lastKnownGood: held(A) })), 'drop-in local')
  t.match(chooseRelease(following(A, { unit: dropInUnit })), { why: /is in a directory that belongs to this machine$/ })
  t.equal(release(snapshot({ unit: dropInUnit })), 'keep')
})

t.test('where the unit is not wired, no file of ours is left that could come to be used', async (t) => {
  const wiring = { kind: 'broken', reason: 'daemon-reload-needed', detail: 'run systemctl daemon-reload' } as const
  const nextStart = { kind: 'unknown', detail: wiring.detail } as const
  t.equal(release(following(B, { unit: unit({ wiring }), nextStart, lastKnownGood: held(A) })), 'withdraw')
})

t.test('the log says why', async (t) => {
  const why = (of: Snapshot) => {
    const decision = chooseRelease(of)
    return decision.kind === 'unknown' ? decision.detail : decision.why
  }
  t.equal(why(snapshot()), 'kubelet starts with its local config next')
  t.equal(why(snapshot({ unit: fileUnit })), 'kubelet starts with its local config next')
  t.equal(why(following(A, { lastKnownGood: held(A) })), `kubelet starts with last-known-good next, ${describeSource(A)}`)
  const returning = { assigned: { kind: 'source', source: 'local' }, lastKnownGood: LOCAL, left: [held(A), held(B)] } as const
  const localFailed = verdictOn('local')
  t.equal(
    why(following(A, { ...returning, verdicts: localFailed })),
    `kubelet starts with what it runs, since its local config is not usable next, ${describeSource(A)}`,
  )
  t.equal(why(following(B, { lastKnownGood: held(A) })), `${describeSource(B)} is not proven`)
  t.equal(why(following(A, { unit: fileUnit })), `${describeSource(A)} is in the place of a file that belongs to this machine`)
  const wiring = { kind: 'broken', reason: 'daemon-reload-needed', detail: 'run systemctl daemon-reload' } as const
  t.equal(
    why(snapshot({ unit: unit({ wiring }) })),
    'the unit does not take its config from the agent as it should (run systemctl daemon-reload)',
  )
})
