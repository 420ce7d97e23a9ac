import t from 'tap'
import { CONDITION_REASONS } from '../../src/report/condition.ts'
import { stateLabel } from '../../src/report/state-label.ts'

const ALL = [...CONDITION_REASONS.True, ...CONDITION_REASONS.Unknown, ...CONDITION_REASONS.False]

t.test('the states that do not change by themselves, and no other', async (t) => {
  t.same(ALL.filter((reason) => stateLabel(reason) !== undefined).sort(), [
    'HeldLocal',
    'Ineffective',
    'Invalid',
    'Local',
    'NodeAtFault',
    'Promoted',
    'Refused',
    'RolledBack',
    'Wiring',
  ])
})

t.test('each is a label value', async (t) => {
  for (const reason of ALL) t.match(stateLabel(reason) ?? reason, /^[A-Za-z0-9]{1,63}$/)
})
