// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { planCommand } from '../../../../src/command/agent/commands/plan.ts'
import { rolloutCommand } from '../../../../src/command/agent/commands/rollout.ts'
import { statusCommand } from '../../../../src/command/agent/commands/status.ts'
import type { Snapshot } from '../../../../src/decision/snapshot.ts'
import type { KubeAnswer } from '../../../../src/ports/kube-api.ts'
import { HASH, NEXT, OBJECT, WAITING, WHY } from '../../../report/waiting-node.ts'
import { execute, fakeNode } from '../fake-node.ts'

const RECORD = {
  state: `1 7 3 ${HASH} 5274a9bd-00f5 200 0`,
  'node.n1': '7 3 proof',
  'node.n2': '7 3 claim 3600',
  'node.n3': '7 3 veto crash-loop: kubelet exited 3 times',
}

function nodeWith(snapshot: Snapshot, answer: KubeAnswer) {
  return fakeNode({ snapshot, context: { api: { request: async () => answer } } })
}

const found = (record: object): KubeAnswer => ({
  kind: 'ok',
  object: { kind: 'ConfigMap', metadata: { name: 'rollouts', namespace: 'kube-system', uid: 'u', resourceVersion: '9' }, data: record },
})

t.test('prints the stage, the witnesses, the vetoes, and what this node waits for', async (t) => {
  const node = nodeWith(WAITING, found(RECORD))
  t.equal(await execute(rolloutCommand, node), 0)
  t.matchSnapshot(node.out())
  const other = nodeWith(WAITING, found(RECORD))
  await execute(rolloutCommand, other, { output: 'json' })
  t.match(JSON.parse(other.out()), {
    config: 'kube-system/my-node-config',
    record: 'rollouts',
    turn: { kind: 'wait', waitSeconds: 12 },
    progress: {
      generation: 7,
      stage: 3,
      lastStage: 5,
      openPercent: 10,
      proofs: 1,
      needed: 5,
      claimed: ['n2'],
      vetoes: [{ node: 'n3' }],
      halted: true,
    },
  })
})

t.test('an edit of the waves does not make it finished', async (t) => {
  const [staging] = WAITING.stagings ?? []
  if (staging === undefined) throw new Error('nothing is staged')
  const rollout = { record: 'rollouts', plan: 'waves: [25%, 100%]' }
  const desired = { kind: 'config-map', ref: NEXT, object: { ...OBJECT, rollout } } as const
  const shown = async (waves: readonly number[]) => {
    const node = nodeWith({ ...WAITING, desired, stagings: [{ ...staging, waves }] }, found(RECORD))
    await execute(rolloutCommand, node, { output: 'json' })
    return JSON.parse(node.out()).progress
  }
  t.match(await shown([1, 10, 50, 100]), { openPercent: 10, finished: false, halted: true })
  t.match(await shown([25, 100]), { openPercent: 100, finished: true })
})

t.test('shows the zones, the rest and the windows of the plan', async (t) => {
  const show = async (plan: string, command = rolloutCommand) => {
    const desired = { kind: 'config-map', ref: NEXT, object: { ...OBJECT, rollout: { record: 'rollouts', plan } } } as const
    const node = nodeWith({ ...WAITING, stagings: [], desired }, found(RECORD))
    await execute(command, node)
    return node.out()
  }
  const plan = 'zones: [a, b], rest: 30m, windows: [Mon-Sun 00:00-24:00, Sun 02:00-03:00], timeZone: Europe/Berlin'
  const out = await show(plan)
  t.match(out, /^Zones +a, b \(topology\.kubernetes\.io\/zone\)$/m)
  t.match(out, /^Rest +30m in each stage, before nodes claim$/m)
  t.match(
    out,
    /^Windows +Mon-Sun 00:00-24:00, Sun 02:00-03:00 \(Europe\/Berlin\): open until \w{3} \d{4}-\d\d-\d\d \d\d:\d\d \(Europe\/Berlin\)$/m,
  )
  t.match(out, /^Not open +Sun 02:00-03:00 on Sun \d{4}-\d\d-\d\d: the clocks skip it$/m)
  t.match(await show(plan.replace('Berlin', 'Atlantis')), /there is no time zone Europe\/Atlantis: correct timeZone in the plan$/m)
  t.notMatch(await show('spread: 1m'), /Zones|Rest|Windows|Not open/)
  t.match(await show(plan, planCommand), /^Not open +Sun 02:00-03:00 on Sun .*: the clocks skip it$/m)
  t.match(
    await show('rest: no', planCommand),
    /^Rollout +the annotation kubelet-cfg-agent\.io\/rollout-plan of the config cannot be used: rest is "no"/m,
  )
})

t.test('a rollout that has not begun, and one that the agent has not taken over', async (t) => {
  const node = nodeWith({ ...WAITING, stagings: [] }, found({}))
  t.equal(await execute(rolloutCommand, node), 0)
  t.match(node.out(), /has not begun/)
  t.match(node.out(), /the running agent has not seen this assignment yet/)
})

t.test('where there is none, or it cannot be read, it says so and fails', async (t) => {
  const without = { ...OBJECT, rollout: undefined }
  const cases: [Snapshot, KubeAnswer, RegExp][] = [
    [{ ...WAITING, stagings: [], desired: { kind: 'config-map', ref: NEXT, object: without } }, found({}), /has no rollout/],
    [{ ...WAITING, desired: { kind: 'local' } }, found({}), /no ConfigMap is assigned/],
    [
      { ...WAITING, desired: { kind: 'unknown', detail: 'the API server does not answer' } },
      found({}),
      /^what is assigned to this node is not known: the API server does not answer/,
    ],
    [{ ...WAITING, desired: { kind: 'invalid', detail: 'no key' } }, found({}), /^the assignment of this node is invalid: no key/],
    [
      {
        ...WAITING,
        desired: { kind: 'config-map', ref: NEXT, object: { kind: 'unavailable', reason: 'forbidden', detail: 'grant get of it' } },
      },
      found({}),
      /^ConfigMap kube-system\/my-node-config cannot be read: grant get of it/,
    ],
    [
      { ...WAITING, desired: { kind: 'config-map', ref: NEXT, object: { ...OBJECT, rollout: { record: 'rollouts', plan: 'retry' } } } },
      found({}),
      /^ConfigMap kube-system\/my-node-config: the annotation .*rollout-plan of the config cannot be used: "retry"/,
    ],
    [
      WAITING,
      { kind: 'refused', status: 404, reason: 'NotFound', detail: '', retryAfterMs: undefined },
      /rollouts does not exist: create it, empty/,
    ],
    [WAITING, found({ state: '2 x' }), /cannot be used: "state" is/],
    [
      { ...WAITING, desired: { kind: 'config-map', ref: NEXT, object: without } },
      found({}),
      /its annotation kubelet-cfg-agent.io\/rollout is missing/,
    ],
  ]
  for (const [snapshot, answer, expected] of cases) {
    const node = nodeWith(snapshot, answer)
    t.equal(await execute(rolloutCommand, node), 1)
    const [program, ...said] = node.err().split(': ')
    t.equal(program, 'kubelet-cfg-agent rollout')
    t.match(said.join(': '), expected)
  }
})

t.test('what an annotation says cannot control the terminal', async (t) => {
  const plan = 'retry \u009b31m\u202e'
  const desired = { kind: 'config-map', ref: NEXT, object: { ...OBJECT, rollout: { record: 'rollouts', plan } } } as const
  const node = nodeWith({ ...WAITING, desired }, found({}))
  t.equal(await execute(rolloutCommand, node), 1)
  t.notMatch(node.err(), /[\u0080-\u009f\u202e]/)
})

t.test('says once that it is halted', async (t) => {
  const told = async (detail: string) => {
    const turn = { kind: 'halted', detail } as const
    const node = nodeWith({ ...WAITING, rollout: WAITING.rollout && { ...WAITING.rollout, turn } }, found(RECORD))
    await execute(rolloutCommand, node)
    return node.out()
  }
  t.match(await told('it failed on this node'), /This node +halted: it failed on this node/)
})

t.test('`status` and `plan` say why this node waits, and `plan` does not foresee what others will write', async (t) => {
  const status = fakeNode({ snapshot: WAITING })
  t.equal(await execute(statusCommand, status), 0)
  t.ok(status.out().includes(`waits: ${WHY} (record rollouts)`), status.out())
  const context = { fetchDesired: async () => WAITING.desired, observe: async () => WAITING, checkpoints: { data: () => undefined } }
  const plan = fakeNode({ snapshot: WAITING, context })
  t.equal(await execute(planCommand, plan, { output: 'json' }), 0)
  const { steps, rest, restart } = JSON.parse(plan.out())
  t.match(rest, { phase: 'rollout', detail: new RegExp(WHY.replace(/[()]/g, '.')) })
  t.notOk(
    steps.some(({ step }: { step: string }) => step === 'wait'),
    'it is said once',
  )
  t.equal(restart.due, false)
})
