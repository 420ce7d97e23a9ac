import t from 'tap'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { describeInAnnotation } from '../../src/report/annotation.ts'
import { describeCondition } from '../../src/report/condition.ts'
import { NO_DEADLINES } from '../../src/report/deadlines.ts'
import { knownRollout, turnKind } from '../../src/report/known-rollout.ts'
import { describeStatus } from '../../src/report/status.ts'
import type { Progress } from '../../src/rollout/progress.ts'
import { WAITING, WHY } from './waiting-node.ts'

const progress: Progress = {
  ...{ generation: 7, stage: 3, lastStage: 5, openPercent: 10, proofs: 3, needed: 5 },
  ...{ claimed: [], silent: [], vetoes: [], finished: false, halted: false },
}
const known = WAITING.rollout && { ...WAITING.rollout, progress }
const annotation = (of: Snapshot) =>
  JSON.parse(describeInAnnotation(of, describeStatus(of, 'rollout'), NO_DEADLINES, '1.2.3')) as { rollout?: object }

t.test('the condition says how far it has come, and when this node goes', async (t) => {
  const { status, reason, message } = describeCondition(WAITING, { phase: 'rollout', detail: WHY }, NO_DEADLINES)
  t.same({ status, reason, message }, { status: 'False', reason: 'Waiting', message: WHY })
})

t.test('the annotation has the stage and the turn, without counts', async (t) => {
  t.same(annotation({ ...WAITING, rollout: known }).rollout, { generation: 7, stage: 3, lastStage: 5, turn: 'wait' })
  t.same(annotation(WAITING).rollout, { turn: 'wait' }, 'it has not begun')
  t.equal(annotation({ ...WAITING, rollout: undefined }).rollout, undefined)
  t.equal(annotation({ ...WAITING, stagings: [] }).rollout, undefined, 'no rollout')
})

t.test('what is known of another config is not shown', async (t) => {
  const other = known && { ...known, config: 'kube-system/other' }
  t.equal(knownRollout({ ...WAITING, rollout: other }), undefined)
  t.equal(annotation({ ...WAITING, rollout: other }).rollout, undefined)
})

t.test('a wait that ends by itself is a wait', async (t) => {
  const kinds = (['go', 'failed', 'halted', 'wait'] as const).map((kind) => known && turnKind({ ...known, turn: { kind, detail: '' } }))
  t.same(kinds, ['go', 'failed', 'halted', 'wait'])
  t.equal(known && turnKind(known), 'wait')
})
