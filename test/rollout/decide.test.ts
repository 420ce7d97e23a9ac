// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { decideRollout } from '../../src/rollout/decide.ts'
import type { RolloutNode } from '../../src/rollout/view.ts'
import { MINUTE_US } from '../../src/values/durations.ts'
import { CONFIG_UID, OTHER_HASH, type Scene, START_US, sceneView, state, uidWithShare } from './views.ts'

const decide = (scene: Scene) => decideRollout(sceneView(scene))
const turnOf = (scene: Scene) => decide(scene).turn.kind
const writeOf = (scene: Scene) => decide(scene).write?.data
const FAILED = { reason: 'kubelet exited 5 times', retry: 0 }
const FIVE_PROOFS = { 'node.a': '3 1 proof', 'node.b': '3 1 proof', 'node.c': '3 1 proof', 'node.d': '3 1 proof', 'node.e': '3 1 proof' }

t.test('R1: whoever is first becomes the only witness of stage 0', async (t) => {
  t.same(writeOf({ data: { state: state(3, 0) } }), { 'node.me': '3 0 claim 900' })
  t.equal(turnOf({ data: { state: state(3, 0), 'node.a': '3 0 claim 900' }, forMinutes: 2 }), 'wait-until')
  t.equal(writeOf({ data: { state: state(3, 0), 'node.a': '3 0 claim 900' }, forMinutes: 2 }), undefined)
})

t.test('R1: canaries claim first, then nodes that were there, then those that joined', async (t) => {
  const at = (node: Scene['node']) => {
    const { turn } = decide({ data: { state: state(3, 0) }, forMinutes: 0, ...(node && { node }) })
    return turn.kind === 'wait-until' ? Math.floor((turn.atUs - START_US) / 1e6 / 30) : turn.kind
  }
  t.same([at({ canary: true }), at({}), at({ arrival: 'joined' })], [0, 1, 2])
})

t.test('R1: the last proof that is needed raises the stage in the same write', async (t) => {
  const runs = { node: { runs: true, proven: true } }
  t.same(writeOf({ data: { state: state(3, 0), 'node.me': '3 0 claim 900' }, ...runs }), { state: state(3, 1), 'node.me': '3 0 proof' })
  const one = { state: state(3, 1), 'node.a': '3 1 proof', 'node.me': '3 1 claim 900' }
  t.same(writeOf({ data: one, ...runs }), { 'node.me': '3 1 proof' })
  const { 'node.e': _, ...four } = FIVE_PROOFS
  t.same(writeOf({ data: { state: state(3, 1), ...four, 'node.me': '3 1 claim 900' }, ...runs }), {
    state: state(3, 2),
    'node.me': '3 1 proof',
  })
})

t.test('R1: a proof of a stage that is over opens none', async (t) => {
  const data = { state: state(3, 1), 'node.me': '3 0 claim 900' }
  t.same(writeOf({ data, node: { runs: true, proven: true } }), { 'node.me': '3 0 proof' })
})

t.test('R1: a trial that has not passed proves nothing', async (t) => {
  t.match(decide({ data: { state: state(3, 0), 'node.me': '3 0 claim 900' }, node: { runs: true } }), {
    turn: { kind: 'go', asks: 'proof' },
    write: undefined,
    follow: true,
  })
})

t.test('R1: a node below the share goes without a word, spread over the time of the plan', async (t) => {
  const early = { uid: uidWithShare(0, 0.01) }
  t.match(decide({ data: { state: state(3, 2) }, node: early }), { turn: { kind: 'go' }, write: undefined })
  t.equal(turnOf({ data: { state: state(3, 2) }, node: early, forMinutes: 0 }), 'wait-until')
  t.equal(turnOf({ data: { state: state(3, 2) }, node: early, forMinutes: 0, plan: 'spread: 0s' }), 'go')
  t.not(turnOf({ data: { state: state(3, 1) }, node: early }), 'go')
  t.not(turnOf({ data: { state: state(3, 2) }, node: { uid: uidWithShare(0.01, 0.02) } }), 'go')
})

t.test('R1: nodes that were kept, as by a pause, are spread once they are let go', async (t) => {
  const early = { data: { state: state(3, 2) }, node: { uid: uidWithShare(0, 0.01) } }
  t.match(decide(early), { turn: { kind: 'go' }, letGo: true })
  t.match(decide({ ...early, isHeldUntilNow: true }), { turn: { kind: 'wait-until' }, letGo: true })
  for (const kept of [
    { paused: 'it' },
    { data: { ...early.data, 'node.a': '3 2 veto no' } },
    { data: { state: state(3, 1) } },
    { data: { state: state(3, 2), 'node.a': '3 2 claim 60', 'node.b': '3 2 claim 60', 'node.c': '3 2 claim 60' } },
  ])
    t.notOk(decide({ ...early, ...kept }).letGo)
})

t.test('R1: nobody claims who waits for something else', async (t) => {
  const { turn, write } = decide({ data: { state: state(3, 1) }, node: { ready: { ok: false, detail: 'a drain is waited for' } } })
  t.match(turn, { kind: 'wait', detail: /a drain is waited for/ })
  t.equal(write, undefined)
})

t.test('R1: who could not prove it does not claim, and asks for its evidence only when its turn has come', async (t) => {
  const scenes: readonly Scene[] = [
    { data: {} },
    { data: { state: state(3, 1) } },
    { data: { state: state(3, 5) }, node: { controlPlane: true } },
  ]
  for (const scene of scenes) {
    const withEvidence = (evidence: RolloutNode['evidence'], forMinutes = 60) =>
      decide({ ...scene, forMinutes, node: { ...scene.node, evidence } })
    t.match(withEvidence({ kind: 'unread' }), { turn: { kind: 'wait', asks: 'evidence' }, write: undefined, follow: true })
    t.notMatch(withEvidence({ kind: 'unread' }, 0).turn, { asks: 'evidence' })
    const unreadable = withEvidence({ kind: 'unreadable', detail: 'pods: forbidden' })
    t.match(unreadable, { turn: { kind: 'wait', detail: /could not prove it: pods: forbidden/, asks: 'evidence' }, write: undefined })
    t.ok(withEvidence({ kind: 'readable' }).write)
  }
  const free = { uid: uidWithShare(0, 0.01), evidence: { kind: 'unreadable', detail: 'pods: forbidden' } } as const
  t.equal(turnOf({ data: { state: state(3, 2) }, node: free }), 'go', 'a free node proves nothing')
})

t.test('R1: proofs that have become enough by a change of the plan open the stage', async (t) => {
  const data = { state: state(3, 1), 'node.a': '3 1 proof', 'node.b': '3 1 proof' }
  t.same(writeOf({ data, plan: 'witnesses: 2' }), { state: state(3, 2) })
})

t.test('R1: an edit of the waves in mid-rollout opens a stage to the smaller share, and so finishes nothing', async (t) => {
  const scene = (stage: number, plan: string, waves: RolloutNode['waves'] = [1, 10, 50, 100]) => ({
    data: { state: state(3, stage) },
    node: { uid: uidWithShare(0.2, 0.24), waves },
    plan,
  })
  const faster = 'waves: [25%, 100%]'
  const vetoed = { ...scene(3, faster), data: { state: state(3, 3), 'node.a': '3 3 veto no' } }
  t.equal(turnOf(vetoed), 'halted')
  t.not(turnOf(scene(3, faster)), 'go')
  t.equal(turnOf(scene(4, faster)), 'go')
  t.match(decide(scene(3, faster)).turn, { detail: /^stage 3 of 5 \(open to 10 % of the nodes\)/ })
  t.not(turnOf(scene(3, 'waves: [1%, 2%, 50%]', [1, 100])), 'go', 'slower waves hold at once')
  t.equal(turnOf({ ...vetoed, node: { ...vetoed.node, waves: [25, 100] } }), 'go', 'the waves that it began with')
})

t.test('R2: a node witnesses once in a generation, and a key of another counts for nothing', async (t) => {
  t.equal(writeOf({ data: { state: state(3, 1), 'node.me': '3 0 veto no' }, plan: 'maxVetoes: 2' }), undefined)
  t.same(writeOf({ data: { state: state(3, 1), 'node.me': '2 1 claim 900' } }), { 'node.me': '3 1 claim 900' })
})

t.test('R2: a claim in the record is a turn, also after a crash', async (t) => {
  t.match(decide({ data: { state: state(3, 0), 'node.me': '3 0 claim 900' } }), { turn: { kind: 'go' }, write: undefined, follow: true })
})

t.test('R3: a config that has changed meanwhile is prepared first', async (t) => {
  t.match(decide({ data: { state: state(3, 0), 'node.me': '3 0 claim 900' }, configHash: OTHER_HASH }), {
    turn: { kind: 'wait' },
    write: undefined,
  })
})

t.test('R4: another content begins the next generation, with a claim, and removes the keys of the last', async (t) => {
  t.same(writeOf({ data: { state: state(3, 4, OTHER_HASH), 'node.a': '3 0 proof', 'node.me': '3 1 proof' } }), {
    state: state(4, 0, undefined, 0, '600'),
    'node.a': null,
    'node.me': '4 0 claim 900',
  })
  t.same(writeOf({ data: {} }), { state: state(1, 0, undefined, 0, '600'), 'node.me': '1 0 claim 900' })
})

t.test('R4: a node on which it failed begins with its veto, and writes a veto that is missing', async (t) => {
  const node = { verdict: FAILED }
  t.same(writeOf({ data: {}, node, forMinutes: 0 }), {
    state: state(1, 0, undefined, 0, '600'),
    'node.me': '1 0 veto kubelet exited 5 times',
  })
  t.same(writeOf({ data: { state: state(3, 2), 'node.me': '3 1 proof' }, node }), { 'node.me': '3 2 veto kubelet exited 5 times' })
  t.equal(writeOf({ data: { state: state(3, 2), 'node.me': '3 1 veto no' }, node }), undefined)
  const five = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [`node.${name}`, '3 1 veto no']))
  t.equal(writeOf({ data: { state: state(3, 2), ...five }, node }), undefined)
})

t.test('R4: what was last-known-good here begins no rollout with a veto, however late it fails', async (t) => {
  const node = { verdict: FAILED, promoted: true, workedBefore: true }
  for (const controlPlane of [false, true])
    for (const data of [{}, { state: state(3, 5, OTHER_HASH) }]) {
      const { turn, write } = decide({ data, node: { ...node, controlPlane } })
      t.match(turn, { kind: 'failed', detail: /^it failed on this node: kubelet exited 5 times; fix the config/ })
      t.equal(write, undefined)
    }
})

t.test('R4: what was last-known-good here before its rollout began halts that for nobody', async (t) => {
  const before = { verdict: FAILED, promoted: true, workedBefore: true, broughtIn: 2 }
  const data = { state: state(3, 2) }
  const claim = { 'node.me': '3 0 claim 900' }
  for (const node of [before, { ...before, controlPlane: true }]) t.match(decide({ data, node }), { write: undefined, failed: 'late' })
  t.equal(writeOf({ data: { ...data, ...claim }, node: before }), undefined, 'nor where this node began it')
  const veto = { 'node.me': '3 2 veto kubelet exited 5 times' }
  t.same(writeOf({ data: { ...data, ...claim }, node: { ...before, controlPlane: true } }), veto, 'but a control plane answers its claim')
  t.same(writeOf({ data, node: { ...before, broughtIn: 3 } }), veto, 'and what this rollout brought is told, also after its trial')
  t.same(writeOf({ data, node: { ...before, broughtIn: undefined } }), veto, 'and of what that is not known')
  t.same(writeOf({ data, node: { ...before, promoted: false } }), veto, 'and what fails with another kubelet')
})

t.test('R4: a veto that halted its rollout halts the next one of the content, and no other veto does', async (t) => {
  const told = { ...FAILED, late: false }
  const node = { verdict: told, broughtIn: 2 }
  const halted = { verdict: { ...told, halted: true }, broughtIn: 2 }
  for (const data of [{ state: state(2, 3, OTHER_HASH) }, { state: state(3, 0) }]) {
    t.match(decide({ data, node }), { write: undefined, failed: 'late' })
    for (const workedBefore of [false, true])
      t.match(writeOf({ data, node: { ...halted, promoted: workedBefore, workedBefore } }), { 'node.me': /^3 0 veto / })
  }
  t.match(writeOf({ data: {}, node }), { 'node.me': /^1 0 veto / }, 'a record that was lost learns of it')
  t.match(writeOf({ data: { state: state(1, 2) }, node: halted }), { 'node.me': /^1 2 veto / }, 'also by another number')
  t.equal(decide({ data: { state: state(3, 2) }, node: { verdict: FAILED } }).failed, undefined, 'nobody knows it before it is written')
})

t.test('R4: nobody begins anew what a record says falsely of the very version of the config', async (t) => {
  const { turn, write } = decide({ data: { state: state(3, 0, OTHER_HASH, 0, '600') }, forMinutes: 600 })
  t.match(turn, {
    kind: 'wait',
    detail: /^the record says that version 600 of the config has other content \(hash cdcdcdcdcdcd\): .*edit the config$/,
  })
  t.equal(write, undefined)
})

t.test('R4: a record of another config is begun anew only after a rest', async (t) => {
  const other = { data: { state: state(3, 0, OTHER_HASH).replace(CONFIG_UID, 'ffff') } }
  t.equal(turnOf({ ...other, forMinutes: 5 }), 'wait-until')
  t.ok(writeOf({ ...other, forMinutes: 11 }))
})

t.test('R4: a record that was made again or restored is told of vetoes before anybody starts', async (t) => {
  const was = { state: state(3, 0), 'node.a': '3 0 veto no' }
  const canary = { canary: true, uid: uidWithShare(0, 0.01) }
  for (const data of [{}, { state: state(2, 5, OTHER_HASH) }, { state: state(3, 0, OTHER_HASH) }]) {
    const isRestored = 'state' in data && data.state.startsWith('1 2')
    const scene = { data, was, ...(isRestored ? {} : { recordUidBefore: 'deleted' }), node: canary }
    t.match(decide({ ...scene, forMinutes: 1.4 }).turn, {
      kind: 'wait-until',
      atUs: START_US + 90e6,
      detail: /^the record was recreated or restored from a backup; this node first gives nodes/,
    })
    t.equal(writeOf({ ...scene, forMinutes: 1.4 }), undefined)
    t.ok(writeOf({ ...scene, forMinutes: 1.6 })?.['node.me']?.includes(' claim '), 'then one of them begins')
    t.ok(writeOf({ ...scene, forMinutes: 0, node: { verdict: FAILED } })?.['node.me']?.includes(' veto '))
  }
})

t.test('R4: so it is also with what a restored record allows', async (t) => {
  const scene = { data: { state: state(3, 2) }, was: { state: state(3, 3), 'node.a': '3 3 veto no' }, node: { promoted: true } }
  t.equal(turnOf({ ...scene, forMinutes: 1.4, plan: 'spread: 0s' }), 'wait-until')
  t.equal(turnOf({ ...scene, forMinutes: 2, plan: 'spread: 0s' }), 'go')
})

t.test('R4: of nodes that waited for vetoes, one begins, and the others come in their order', async (t) => {
  const scene = { data: {}, was: { state: state(3, 0) }, recordUidBefore: 'deleted' }
  const at = (node: Scene['node']) => {
    const { turn } = decide({ ...scene, forMinutes: 1.6, ...(node && { node }) })
    return turn.kind === 'wait-until' ? Math.floor((turn.atUs - START_US) / 1e6) : turn.kind
  }
  t.same([at({ uid: uidWithShare(0, 0.01) }), at({ uid: uidWithShare(0.5, 0.51) })], [120, 135])
  t.equal(turnOf({ ...scene, forMinutes: 9, node: { controlPlane: true } }), 'wait-until')
})

t.test('R4: what another record of another config said delays nothing', async (t) => {
  const scene = { data: {}, was: { state: state(3, 0) }, recordUidBefore: 'of another', configUidBefore: 'of another' }
  t.ok(writeOf({ ...scene, forMinutes: 0.6, node: { canary: true } }))
})

t.test('R5: what was promoted here once needs no turn, unless it is halted', async (t) => {
  t.equal(turnOf({ data: { state: state(3, 0), 'node.a': '3 0 claim 900' }, node: { promoted: true } }), 'go')
  t.equal(turnOf({ data: { state: state(3, 0), 'node.a': '3 0 veto no' }, node: { promoted: true } }), 'halted')
})

t.test('R5: retry begins a generation and lifts the verdicts', async (t) => {
  const data = { state: state(3, 0), 'node.me': '3 0 veto no' }
  t.same(writeOf({ data, node: { verdict: FAILED }, plan: 'retry: 1' }), {
    state: state(4, 0, undefined, 1, '600'),
    'node.me': '4 0 claim 900',
  })
})

t.test('R5: after retry was raised, nodes come in their order again', async (t) => {
  const data = { state: state(3, 0), 'node.a': '3 0 veto no' }
  const scene = { data, was: data, retryBefore: 0, plan: 'retry: 1' }
  t.equal(turnOf({ ...scene, forMinutes: 0 }), 'wait-until')
  t.equal(turnOf({ ...scene, forMinutes: 9, node: { controlPlane: true } }), 'wait-until')
})

t.test('R6: who switches to a config whose rollout was over begins it anew, and once', async (t) => {
  const finished = { state: state(3, 5), ...FIVE_PROOFS }
  t.match(writeOf({ data: finished, node: { arrival: 'switched' } }), {
    state: state(4, 0, undefined, 0, '600'),
    'node.me': '4 0 claim 900',
  })
  t.match(decide({ data: finished, was: { state: state(3, 4) }, node: { arrival: 'switched' } }), {
    turn: { kind: 'go' },
    write: undefined,
  })
  t.match(decide({ data: finished, node: { arrival: 'there' } }), { turn: { kind: 'go' }, write: undefined })
  t.match(decide({ data: finished, node: { arrival: 'joined', young: true }, forMinutes: 0 }), { turn: { kind: 'go' }, write: undefined })
})

t.test('R6: who waited for a rollout does not begin it anew after a reboot, which forgets what was observed', async (t) => {
  const node = { arrival: 'switched', sawUnfinished: true } as const
  t.match(decide({ data: { state: state(3, 5), ...FIVE_PROOFS }, node }), { turn: { kind: 'go' }, write: undefined })
})

t.test('R6: who was moved away from a config and back comes anew, whatever it had seen before', async (t) => {
  const scene = { was: { state: state(3, 2) }, data: { state: state(3, 5), ...FIVE_PROOFS }, node: { arrival: 'switched' } } as const
  t.equal(turnOf(scene), 'go', 'it stayed')
  t.match(writeOf({ ...scene, assignmentBefore: 0 }), { state: state(4, 0, undefined, 0, '600') })
})

t.test('R6: nodes that join a finished rollout are spread, but for new nodes', async (t) => {
  const joined = { data: { state: state(3, 5), ...FIVE_PROOFS }, node: { arrival: 'joined' }, forMinutes: 0 } as const
  t.equal(turnOf(joined), 'wait-until')
  t.equal(turnOf({ ...joined, node: { ...joined.node, young: true } }), 'go')
  t.equal(turnOf({ ...joined, forMinutes: 3 }), 'go')
})

t.test('R7: what cannot be read means wait', async (t) => {
  const view = sceneView({ data: { state: state(3, 5) } })
  t.match(decideRollout({ ...view, record: { kind: 'unavailable', detail: 'forbidden' } }).turn, { kind: 'wait', detail: 'forbidden' })
  t.match(decide({ data: { state: state(3, 5) }, plan: 'witnesses: many' }).turn, { kind: 'wait', detail: /witnesses is "many"/ })
  for (const resourceVersion of ['', '0']) {
    const record = { ...view.record, resourceVersion } as typeof view.record
    t.equal(decideRollout({ ...view, record }).turn.kind, 'wait')
  }
})

t.test('R8: a control plane claims in every stage, after a rest, one unproven at a time', async (t) => {
  const node = { controlPlane: true }
  t.same(writeOf({ data: { state: state(3, 5) }, node }), { 'node.me': '3 5 claim 900 control-plane' })
  t.equal(turnOf({ data: { state: state(3, 5) }, node, forMinutes: 9 }), 'wait-until')
  t.equal(writeOf({ data: { state: state(3, 5), 'node.a': '3 1 claim 900 control-plane' }, node, forMinutes: 12 }), undefined)
  t.match(decide({ data: { state: state(3, 5), 'node.a': '3 1 claim 900 control-plane' }, node }).turn, {
    detail: /; a claimed it and has not reported in time: check that node; if it is gone for good, raise retry in the plan$/,
  })
  t.equal(writeOf({ data: {}, node, forMinutes: 9 }), undefined)
})

t.test('R8: a control plane that was rebuilt under its name says how its veto is lifted', async (t) => {
  const data = { state: state(3, 5), 'node.me': '3 1 veto no' }
  t.match(decide({ data, node: { controlPlane: true }, plan: 'maxVetoes: 2' }).turn, {
    kind: 'wait',
    detail: /the record has a veto of me, and this node knows of no failure: if it was rebuilt since, raise retry in the plan$/,
  })
})

t.test('R8: in stage 0 control planes are counted with the others', async (t) => {
  const data = { state: state(3, 0), 'node.a': '3 0 claim 900', 'node.b': '3 0 claim 900', 'node.c': '3 0 claim 900' }
  t.equal(writeOf({ data, node: { controlPlane: true }, plan: 'maxSilent: 3' })?.['node.me'], '3 0 claim 900 control-plane')
  t.equal(writeOf({ data, node: { controlPlane: true } }), undefined)
})

t.test('R8: what failed on one control plane, the next does not start, also where others may', async (t) => {
  const data = { state: state(3, 5), 'node.a': '3 5 veto no' }
  t.match(decide({ data, node: { controlPlane: true } }).turn, { kind: 'halted', detail: /a \(no\)/ })
  t.equal(turnOf({ data }), 'go')
})

t.test('R4: once finished, only a control plane vetoes, since the others start it no longer in stages', async (t) => {
  const data = { state: state(3, 5), ...FIVE_PROOFS, 'node.me': '3 1 proof' }
  const { turn, write } = decide({ data, node: { verdict: FAILED } })
  t.match(turn, { kind: 'failed', detail: /^it failed on this node: kubelet exited 5 times; fix the config/ })
  t.equal(write, undefined)
  t.same(writeOf({ data, node: { verdict: FAILED, controlPlane: true } }), { 'node.me': '3 5 veto kubelet exited 5 times' })
  t.same(writeOf({ data: { ...data, state: state(3, 4) }, node: { verdict: FAILED } }), { 'node.me': '3 4 veto kubelet exited 5 times' })
})

t.test('R4: what failed when its rollout was over halts no later rollout of the same content', async (t) => {
  const finished = { state: state(3, 5), ...FIVE_PROOFS, 'node.me': '3 1 proof' }
  t.equal(decide({ data: finished, node: { verdict: FAILED } }).failed, 'late')
  t.equal(decide({ data: { state: state(3, 5, OTHER_HASH) }, node: { verdict: FAILED, workedBefore: true } }).failed, 'late')
  t.equal(decide({ data: {}, node: { verdict: FAILED, workedBefore: true } }).failed, undefined, 'the record may have lost it')
  t.equal(decide({ data: { state: state(3, 2), 'node.me': '3 1 veto no' }, node: { verdict: FAILED } }).failed, 'in-rollout')
  for (const controlPlane of [false, true])
    t.equal(decide({ data: { ...finished, 'node.me': '3 1 veto no' }, node: { verdict: FAILED, controlPlane } }).failed, 'late')
  const late = { verdict: { ...FAILED, late: true } }
  for (const controlPlane of [false, true])
    for (const data of [{}, { state: state(4, 0) }, { state: state(4, 3) }]) {
      const { turn, write } = decide({ data, node: { ...late, controlPlane } })
      t.match(turn, { kind: 'failed', detail: /^it failed on this node/ })
      t.equal(write, undefined)
    }
  const isOver = { state: state(4, 5), ...FIVE_PROOFS }
  t.match(writeOf({ data: isOver, node: { ...late, controlPlane: true } }), { 'node.me': /veto/ }, 'but the control planes that come')
  t.equal(writeOf({ data: isOver, node: { ...late, controlPlane: true, broughtIn: 3 } }), undefined, 'in its own rollout')
  t.ok(writeOf({ data: { state: state(4, 0) }, node: late, plan: 'retry: 1' })?.['node.me']?.includes('claim'))
})

t.test('R4: a rollout is halted for the node on which it failed where it is for the others', async (t) => {
  const node = { verdict: FAILED }
  t.equal(turnOf({ data: {}, node }), 'halted', 'with the veto that it begins with')
  t.equal(turnOf({ data: { state: state(3, 2), 'node.me': '3 2 veto no' }, node }), 'halted')
  t.equal(turnOf({ data: { state: state(3, 2), 'node.me': '3 2 veto no' }, node, plan: 'maxVetoes: 2' }), 'failed')
})

t.test('R8: shorter trials make shorter delays', async (t) => {
  const node = { controlPlane: true, trialUs: MINUTE_US }
  t.ok(writeOf({ data: { state: state(3, 5) }, node, forMinutes: 2 }))
})

t.test('R9: a claim is silent after its own deadline, in time with contact', async (t) => {
  const data = { state: state(3, 0), 'node.a': '3 0 claim 900' }
  t.equal(writeOf({ data, forMinutes: 14 }), undefined)
  t.same(writeOf({ data, forMinutes: 17 }), { 'node.me': '3 0 claim 900' })
  t.equal(writeOf({ data, forMinutes: 300, contactMinutes: 10 }), undefined)
})

t.test('R9: more silent claims than the plan allows stop the stage, until a proof comes', async (t) => {
  const silent = { 'node.a': '3 2 claim 900', 'node.b': '3 2 claim 900', 'node.c': '3 2 claim 900' }
  const free = { uid: uidWithShare(0, 0.01) }
  t.match(decide({ data: { state: state(3, 2), ...silent }, node: free }).turn, {
    kind: 'wait',
    detail: /^no more nodes start it: a, b, c claimed it and did not report in time \(3 silent, maxSilent is 2\); check these nodes/,
  })
  t.equal(turnOf({ data: { state: state(3, 2), ...silent, 'node.c': '3 2 proof' }, node: free }), 'go')
})

t.test('Halt: the first veto in stage 0, then maxVetoes; those who run it go on', async (t) => {
  const data = { state: state(3, 0), 'node.a': '3 0 veto kubelet exited' }
  t.match(decide({ data, plan: 'maxVetoes: 3' }).turn, { kind: 'halted', detail: /a \(kubelet exited\)/ })
  t.equal(turnOf({ data: { ...data, state: state(3, 1) }, plan: 'maxVetoes: 2', node: { promoted: true } }), 'go')
  t.equal(turnOf({ data: { state: state(3, 1), 'node.a': '3 1 veto no', 'node.me': '3 1 claim 900' } }), 'halted')
  t.equal(turnOf({ data: { state: state(3, 1), 'node.a': '3 1 veto no', 'node.me': '3 1 claim 900' }, node: { runs: true } }), 'go')
})

t.test('Halt: once finished, vetoes halt nothing', async (t) => {
  t.equal(turnOf({ data: { state: state(3, 5), 'node.a': '3 5 veto no' } }), 'go')
})

t.test('what an excluded node says does not count, and its places are free', async (t) => {
  const excluded = 'a, b , bad'
  const vetoed = { state: state(3, 1), 'node.bad': '3 1 veto no' }
  t.equal(turnOf({ data: vetoed }), 'halted')
  t.match(writeOf({ data: vetoed, excluded }), { 'node.me': '3 1 claim 900' })
  t.equal(turnOf({ data: vetoed, excluded: 'BAD,ba,bad.example' }), 'halted', 'names are compared exactly')
  const silent = { state: state(3, 1), 'node.a': '3 1 claim 60', 'node.bad': '3 1 claim 60', 'node.c': '3 1 claim 60' }
  t.equal(writeOf({ data: silent }), undefined)
  t.match(writeOf({ data: silent, excluded }), { 'node.me': '3 1 claim 900' })
  const { 'node.e': _, ...four } = FIVE_PROOFS
  const proven = { data: { state: state(3, 1), ...four, 'node.me': '3 1 claim 900' }, node: { runs: true, proven: true } }
  t.match(writeOf(proven), { state: state(3, 2) })
  t.strictSame(writeOf({ ...proven, excluded }), { 'node.me': '3 1 proof' }, 'a proof opens no stage')
  const control = { state: state(3, 2), 'node.bad': '3 2 claim 900 control-plane' }
  const me = { node: { controlPlane: true } }
  t.equal(writeOf({ data: control, ...me }), undefined)
  t.match(writeOf({ data: control, ...me, excluded }), { 'node.me': '3 2 claim 900 control-plane' })
})

t.test('an excluded node writes nothing, and starts what others have proved to the end', async (t) => {
  const excluded = 'a,me'
  for (const data of [{}, { state: state(3, 0) }, { state: state(3, 4) }, { state: state(3, 1), 'node.me': '3 1 claim 900' }])
    t.match(decide({ data, excluded }), { turn: { kind: 'wait', detail: /rollout-exclude .*excludes this node/ }, write: undefined })
  t.match(decide({ data: { state: state(3, 5) }, excluded }), { turn: { kind: 'go' }, write: undefined })
  t.equal(turnOf({ data: { state: state(3, 5) }, excluded, forMinutes: 0 }), 'wait-until', 'spread as others are')
  const controlPlane = { controlPlane: true }
  t.match(decide({ data: { state: state(3, 5) }, excluded, node: controlPlane }), { turn: { kind: 'go' }, write: undefined })
  t.equal(turnOf({ data: { state: state(3, 5), 'node.c': '3 5 veto no' }, excluded, node: controlPlane }), 'halted')
  t.match(decide({ data: { state: state(3, 1) }, excluded, node: { runs: true, proven: true } }), {
    turn: { kind: 'go' },
    write: undefined,
  })
  for (const data of [{}, { state: state(3, 1) }]) {
    const { turn, write } = decide({ data, excluded, node: { verdict: FAILED } })
    t.match(turn.kind, /^(failed|halted)$/)
    t.equal(write, undefined, 'nor a veto')
  }
  t.equal(turnOf({ data: { state: state(3, 5) }, excluded, paused: 'it' }), 'wait')
})

t.test('a veto of a control plane in a finished rollout keeps no excluded worker, as it keeps no other', async (t) => {
  const data = { state: state(3, 5), 'node.c': '3 5 veto no' }
  t.equal(turnOf({ data, excluded: 'me' }), turnOf({ data }))
})

t.test('what does not fit is not written', async (t) => {
  t.match(decide({ data: { state: state(3, 1), note: 'x'.repeat(4900) } }).turn, { kind: 'wait', detail: /the record is full/ })
  t.match(decide({ data: { state: state(3, 1) }, node: { name: 'n'.repeat(250) } }).turn, { kind: 'wait', detail: /cannot hold/ })
  const veto = { verdict: { reason: 'x'.repeat(5000), retry: 0 } }
  t.equal(writeOf({ data: { state: state(3, 1) }, node: veto })?.['node.me']?.length, '3 1 veto '.length + 160)
})

t.test('a halt says what to do', async (t) => {
  const data = { state: state(3, 1, undefined, 4), 'node.a': '3 1 veto kubelet exited' }
  const remedy = 'fix the config, or set "retry: 5" in its annotation kubelet-cfg-agent.io/rollout-plan to try it again'
  t.same(decide({ data }).turn, { kind: 'halted', detail: `it failed on a (kubelet exited); ${remedy}` })
  t.same(decide({ data, node: { verdict: { ...FAILED, retry: 4 } } }).turn, {
    kind: 'halted',
    detail: `it failed on this node: kubelet exited 5 times; ${remedy}`,
  })
})

t.test('a control plane that waits says for what', async (t) => {
  const node = { controlPlane: true }
  const stage = 'stage 3 of 5 (open to 10 % of the nodes): 0 of 5 proofs; control planes start it one at a time'
  const rest = decide({ data: { state: state(3, 3) }, node, forMinutes: 9 }).turn
  t.equal(rest.detail, `${stage}; this one waits until the record has not changed for 10m`)
  const claims = { 'node.a': '3 3 claim 14400 control-plane', 'node.b': '3 3 claim 60 control-plane' }
  t.equal(
    decide({ data: { state: state(3, 3), 'node.a': '3 3 claim 14400 control-plane' }, node }).turn.detail,
    `${stage}; a claimed it and is still on trial`,
  )
  t.equal(
    decide({ data: { state: state(3, 3), ...claims }, node }).turn.detail,
    `${stage}; b claimed it and has not reported in time: check that node; if it is gone for good, raise retry in the plan`,
    'of two claims, the silent one',
  )
})

t.test('a node on which it failed says why its veto is not written', async (t) => {
  const { turn, write } = decide({ data: { state: state(3, 0, OTHER_HASH, 0, '600') }, node: { verdict: FAILED } })
  t.match(turn, { kind: 'halted', detail: /^it failed on this node: kubelet exited 5 times; .*; the record says that version 600/ })
  t.equal(write, undefined)
})

t.test('a wait says what it is for', async (t) => {
  const { turn } = decide({ data: { state: state(3, 3), 'node.a': '3 3 claim 900' }, forMinutes: 0 })
  t.match(turn, {
    kind: 'wait-until',
    detail:
      'stage 3 of 5 (open to 10 % of the nodes): 0 of 5 proofs; this node starts in stage 5 (all nodes); it becomes a witness earlier if a place is free at its turn',
  })
  t.ok(turn.kind === 'wait-until' && turn.atUs < START_US + MINUTE_US)
})

t.test('R1: a node that has its turn, and cannot start now, says why', async (t) => {
  const data = { state: state(3, 0), 'node.me': '3 0 claim 900' }
  t.match(decide({ data, node: { ready: { ok: false, detail: 'kubelet is stopped' } } }).turn, {
    kind: 'go',
    unready: 'kubelet is stopped',
  })
  t.notOk('unready' in decide({ data }).turn)
  t.notOk('unready' in decide({ data, node: { runs: true, ready: { ok: false, detail: 'kubelet runs it' } } }).turn)
})
