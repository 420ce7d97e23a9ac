// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { foldEffects } from '../../src/decision/carry-out.ts'
import { effectsOf } from '../../src/decision/effects-of-step.ts'
import { renameInHealth } from '../../src/decision/rename-kubelet.ts'
import { nextStep } from '../../src/decision/rules.ts'
import { look } from './any-snapshot.ts'
import { A, B, fallenBack, health, judged, KUBELET, keyOf, runs, snapshot, unit, verdict } from './snapshots.ts'

const FORMER = 'inode-and-times'
const EXIT = { atUs: 1, invocationId: 'i' }
const RENAMED = { formerIdentity: FORMER }

t.test('what an earlier agent proved and condemned stays so', async (t) => {
  const left = fallenBack({
    ...runs(A, { unit: RENAMED }),
    proven: keyOf(A, FORMER),
    ...judged(verdict(B, 'confirmed', { key: keyOf(B, FORMER) }), verdict(B, 'provisional', { key: keyOf(B, 'another') })),
  })
  const step = nextStep(left)
  t.equal(step.kind, 'rename-kubelet')
  if (step.kind === 'wait') return
  const after = look(left, step, () => false)
  t.equal(after.proven, keyOf(A))
  t.same([...after.verdicts.keys()].sort(), [keyOf(B), keyOf(B, 'another')].sort())
  t.match(nextStep(after), { kind: 'wait', phase: 'fallen-back' }, 'and nothing is restarted')
})

t.test('a crash in the middle of it loses no verdict', async (t) => {
  const left = fallenBack({ ...runs(A, { unit: RENAMED }), ...judged(verdict(B, 'confirmed', { key: keyOf(B, FORMER) })) })
  const step = nextStep(left)
  if (step.kind === 'wait') return t.fail('there is something to rename')
  const effects = effectsOf(step, left).filter((effect) => effect.kind !== 'run-preflight' && effect.kind !== 'restart-kubelet')
  for (const end of effects.keys()) t.not(foldEffects(left, effects.slice(0, end)).verdicts.size, 0, `after ${end} effects`)
})

t.test('what is proven is renamed without a verdict, and a verdict without what is proven', async (t) => {
  const left = runs(A, { unit: RENAMED })
  const proven = { proven: keyOf(A, FORMER) }
  t.same(nextStep(snapshot({ ...left, ...proven })), { kind: 'rename-kubelet', verdicts: [], proven: keyOf(A) })
  const condemned = judged(verdict(B, 'confirmed', { key: keyOf(B, FORMER) }))
  for (const proof of [{}, { proven: undefined }]) {
    const step = nextStep(snapshot({ ...left, ...condemned, ...proof }))
    t.match(step, { kind: 'rename-kubelet', verdicts: [{ former: keyOf(B, FORMER), verdict: { key: keyOf(B) } }] })
    t.notOk('proven' in step)
  }
  t.match(nextStep(snapshot({ ...left, proven: undefined })), { kind: 'prove' })
})

t.test('nothing to rename, nothing to do', async (t) => {
  t.match(nextStep(snapshot(runs(A, { unit: RENAMED }))), { kind: 'wait', phase: 'settled' })
})

t.test('a trial that was under way goes on', async (t) => {
  const left = health(A, {
    subject: keyOf(A, FORMER),
    lastProcess: { invocationId: 'i', content: 'content', kubeletIdentity: FORMER },
    process: {
      key: keyOf(A, FORMER),
      invocationId: 'i',
      startedAtUs: 0,
      wasHealthy: true,
      healthySinceUs: 1,
      unhealthySinceUs: undefined,
      exits: 0,
    },
  })
  const renamed = { subject: keyOf(A), lastProcess: { kubeletIdentity: KUBELET }, process: { key: keyOf(A), healthySinceUs: 1 } }
  t.match(renameInHealth(left, unit(RENAMED)), renamed)
  const exit = (identity: string) => ({ ...EXIT, key: keyOf(A, identity) })
  const former = { ...left, lastProcess: undefined, recentExits: [exit(FORMER), exit('another')] }
  t.match(renameInHealth(former, unit(RENAMED)), { lastProcess: undefined, recentExits: [exit(KUBELET), exit('another')] })
  const another = { invocationId: 'i', content: 'content', kubeletIdentity: 'another' }
  t.same(renameInHealth({ ...left, lastProcess: another }, unit(RENAMED))?.lastProcess, another)
  t.equal(renameInHealth(left, unit()), left)
  t.equal(renameInHealth(left, { kind: 'unknown', detail: 'systemd does not answer' }), left)
  t.equal(renameInHealth(undefined, unit(RENAMED)), undefined)
})
