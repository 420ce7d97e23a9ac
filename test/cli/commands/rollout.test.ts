import t from 'tap'
import { rolloutCommand } from '../../../src/cli/commands/rollout.ts'
import type { Snapshot } from '../../../src/decision/snapshot.ts'
import type { KubeAnswer } from '../../../src/ports/kube-api.ts'
import { hashConfig } from '../../../src/rollout/config-hash.ts'
import { following, held, runningContent, source } from '../../report/build.ts'
import { execute, fakeNode } from '../fake-node.ts'

const good = source('100')
const next = source('200')
const data = { kubelet: 'next' }
const hash = hashConfig(data, 'kubelet')
const staging = {
  config: 'kube-system/my-node-config',
  record: 'rollouts',
  arrival: 'there',
  contents: [{ hash, content: 'content-200' }],
} as const
const object = { kind: 'found', uid: next.uid, resourceVersion: '200', data, rollout: { record: 'rollouts', plan: undefined } } as const

const waiting: Snapshot = following(next, {
  desired: { kind: 'config-map', ref: next, object },
  lastKnownGood: held(good),
  nextStart: { kind: 'known', held: held(good) },
  running: runningContent('content-100'),
  stagings: [staging],
  rollout: {
    config: staging.config,
    hash,
    turn: { kind: 'wait-until', atUs: 112e6, detail: 'stage 3 of 6 (10 %): 3 of 5 witnesses have proved it; this node goes at 50 %' },
    confirmedAtUs: undefined,
    progress: undefined,
  },
})

const RECORD = {
  state: `1 7 3 ${hash} 5274a9bd-00f5 200 0`,
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
  const node = nodeWith(waiting, found(RECORD))
  t.equal(await execute(rolloutCommand, node), 0)
  t.matchSnapshot(node.out())
  const other = nodeWith(waiting, found(RECORD))
  await execute(rolloutCommand, other, { output: 'json' })
  t.match(JSON.parse(other.out()), {
    config: 'kube-system/my-node-config',
    record: 'rollouts',
    turn: { kind: 'wait', waitSeconds: 12 },
    progress: { generation: 7, stage: 3, stages: 6, proofs: 1, needed: 5, claimed: ['n2'], vetoes: [{ node: 'n3' }], halted: true },
  })
})

t.test('a rollout that has not begun, and one that the agent has not taken over', async (t) => {
  const node = nodeWith({ ...waiting, stagings: [] }, found({}))
  t.equal(await execute(rolloutCommand, node), 0)
  t.match(node.out(), /has not begun/)
  t.match(node.out(), /the agent has not taken this config over yet/)
})

t.test('where there is none, or it cannot be read, it says so and fails', async (t) => {
  const without = { ...object, rollout: undefined }
  const cases: [Snapshot, KubeAnswer, RegExp][] = [
    [following(next, { desired: { kind: 'config-map', ref: next, object: without } }), found({}), /has no rollout/],
    [{ ...waiting, desired: { kind: 'local' } }, found({}), /no ConfigMap is assigned/],
    [
      waiting,
      { kind: 'refused', status: 404, reason: 'NotFound', detail: '', retryAfterMs: undefined },
      /rollouts does not exist: create it, empty/,
    ],
    [waiting, found({ state: '2 x' }), /cannot be used: "state" is/],
    [{ ...waiting, desired: { kind: 'config-map', ref: next, object: without } }, found({}), /its annotation is missing/],
  ]
  for (const [snapshot, answer, expected] of cases) {
    const node = nodeWith(snapshot, answer)
    t.equal(await execute(rolloutCommand, node), 1)
    t.match(node.err(), expected)
  }
})
