/** When local is tried again after kubelet failed with it, and when a return to local is over. */
import t from 'tap'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import {
  A,
  accepts,
  assignedTo,
  B,
  decide,
  fallenBack,
  health,
  hold,
  judged,
  keyOf,
  LOCAL_EVERYWHERE,
  MINUTE_US,
  NOW_US,
  READY,
  runs,
  SECOND_US,
  startsWith,
  unit,
  verdict,
  wants,
} from './snapshots.ts'

type Facts = Partial<Snapshot>

const FAILED = verdict('local', 'provisional', { localConfig: 'old' })
/** Local is assigned and failed, and kubelet runs what had run before. */
const BACK: Facts = { ...assignedTo('local'), ...wants('local'), lastKnownGood: hold('local'), left: [hold(A)], localConfig: 'new' }

t.test('local is tried again where its config has changed since kubelet failed with it', async (t) => {
  const next = (facts: Facts = {}) => decide({ ...BACK, ...judged(FAILED), ...facts })
  const again = { kind: 'forgive', drop: [], suspend: [FAILED], requested: false, why: /^the local config has changed/ }
  t.match(next(), again)
  const not: [when: string, facts: Facts][] = [
    ['it is the same', { localConfig: 'old' }],
    ['it cannot be read', { localConfig: undefined }],
    ['what runs instead has not been well for long', { health: health(A, { healthySinceUs: NOW_US - SECOND_US }) }],
    ['the node is paused', { requests: { hold: 'paused', rollback: undefined, retry: false } }],
    ['preflight refused it', judged(verdict('local', 'refused', { localConfig: 'old' }))],
    ['it is known to have failed', judged(verdict('local', 'confirmed', { localConfig: 'old' }))],
    ['everything has failed', judged(FAILED, verdict(A, 'provisional'))],
  ]
  for (const [when, facts] of not) t.notMatch(next(facts), again, when)
  const other = fallenBack({ localConfig: 'new', ...judged(verdict(B, 'confirmed'), FAILED) })
  t.notMatch(nextStep(other), again, 'local is not assigned')
})

t.test('a return is over when kubelet has been healthy with local for a whole trial', async (t) => {
  const returned: Facts = { ...LOCAL_EVERYWHERE, ...wants('local'), left: [hold(A)] }
  const over = { kind: 'forget-left', key: keyOf('local'), wiring: READY }
  t.match(decide(returned), over)
  t.match(decide({ ...returned, left: undefined, leftDamaged: true }), over, 'also where nobody can read what was left')
  const not: [when: string, facts: Facts][] = [
    ['it has not been healthy for so long', { health: health('local', { healthySinceUs: NOW_US - MINUTE_US }) }],
    ['nothing is left', { left: [] }],
    ['nothing was ever left', { left: undefined }],
    ['the unit does not take its config from the agent', { unit: unit({ wiring: { kind: 'broken', reason: 'overridden', detail: '' } }) }],
    ['kubelet runs what was left', { ...startsWith(A), ...runs(A), health: health(A), ...judged(verdict('local', 'refused')) }],
    [
      'local stands in for what failed',
      { ...assignedTo(B), ...wants(B), ...accepts(B), ...judged(verdict(B, 'confirmed'), verdict(A, 'confirmed')) },
    ],
  ]
  for (const [when, facts] of not) t.not(decide({ ...returned, ...facts }).kind, 'forget-left', when)
})

t.test('a refusal of local is forgotten once kubelet is well with it', async (t) => {
  const returned: Facts = { ...LOCAL_EVERYWHERE, ...wants('local'), ...judged(verdict('local', 'refused')) }
  t.match(decide(returned), {
    kind: 'forgive',
    drop: [keyOf('local')],
    requested: false,
    why: /healthy with the local config that was refused/,
  })
  t.not(decide({ ...returned, health: health('local', { healthySinceUs: NOW_US - SECOND_US }) }).kind, 'forgive', 'not before')
})
