// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { DEFAULT_PLAN, type Plan } from '../../src/rollout/plan.ts'
import { describeOwnStage, describeStage, progressOf } from '../../src/rollout/progress.ts'
import { HASH, sceneView, state } from './views.ts'

const WAVES_7: Plan = { ...DEFAULT_PLAN, waves: [0.25, 7, 100] }

function progressAt(stage: number, plan: Plan) {
  const { record } = sceneView({ data: { state: state(3, stage) } })
  return record.kind === 'read' ? progressOf(plan, record.record, HASH, record.observation) : undefined
}

t.test('percentages are as the plan writes them', async (t) => {
  for (const [stage, openPercent] of [
    [0, 0],
    [1, 0],
    [2, 0.25],
    [3, 7],
    [4, 100],
  ] as const)
    t.equal(progressAt(stage, WAVES_7)?.openPercent, openPercent)
  t.match(describeStage(WAVES_7, 3, { proofs: 3, needed: 5 }), 'stage 3 of 4 (open to 7 % of the nodes): 3 of 5 proofs')
  for (const [share, expected] of [
    [0.001, 'this node starts in stage 2 (0.25 % of the nodes)'],
    [0.05, 'this node starts in stage 3 (7 % of the nodes)'],
    [0.07, 'this node starts in stage 4 (all nodes)'],
  ] as const)
    t.equal(describeOwnStage(WAVES_7, share), expected)
})

t.test('the last stage is the number that a finished rollout has', async (t) => {
  t.match(progressAt(4, WAVES_7), { stage: 4, lastStage: 4, finished: true })
  t.match(progressAt(99, WAVES_7), { stage: 4, lastStage: 4, finished: true }, 'also after waves were taken out of the plan')
  t.equal(describeStage(WAVES_7, 4, { proofs: 0, needed: 5 }), 'stage 4 of 4 (open to all nodes)')
  t.equal(describeStage(WAVES_7, 0, { proofs: 0, needed: 1 }), 'stage 0 of 4 (open to witnesses only): 0 of 1 proofs')
})

t.test('a rollout that is to begin again has not begun', async (t) => {
  t.ok(progressAt(0, WAVES_7))
  t.equal(progressAt(0, { ...WAVES_7, retry: 1 }), undefined)
})
