/** What a verdict says of a failure, and which failures are followed by one more start. */
import t from 'tap'
import { makeVerdict, mayTryAgain } from '../../src/decision/condemn-failure.ts'
import type { HealthFailure } from '../../src/decision/find-failure.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import {
  B,
  contentOf,
  HOUR_US,
  health,
  hold,
  INVOCATION,
  inTrial,
  keyOf,
  NOW_US,
  restartTo,
  SECOND_US,
  unit,
  verdict,
} from './snapshots.ts'

const LOOPS: HealthFailure = { reason: 'crash-loop', detail: 'kubelet exited 3 times', damage: 'transient' }
const FAILED = { source: B, content: contentOf(B), key: keyOf(B) } as const
const LOCAL = { source: 'local', content: 'local', key: keyOf('local') } as const

const tried = (facts: object) => ({ suspendedVerdicts: new Map([[keyOf(B), verdict(B, 'provisional', { suspended: true, ...facts })]]) })
const judge = (facts: Partial<Snapshot> = {}, failure: Partial<HealthFailure> = {}, failed: typeof FAILED | typeof LOCAL = FAILED) =>
  makeVerdict(inTrial(facts), failed, { ...LOOPS, ...failure })

t.test('a verdict is doubtful where the config had worked, or something else may be the cause', async (t) => {
  const doubtful: [why: string, facts: Partial<Snapshot>, failure?: Partial<HealthFailure>][] = [
    ['it passed its trial', { proven: keyOf(B) }],
    ['it is last-known-good', { lastKnownGood: hold(B) }],
    ['it was last-known-good', { previous: hold(B) }],
    ['the runtime does not answer', { health: health(B, { runtimeDownSinceUs: NOW_US - SECOND_US }) }],
    ['it was doubtful before', tried({ doubtful: true })],
    ['the node may be the cause', {}, { doubtful: true }],
    ['the node was rebooted', {}, { reason: 'reboots' }],
  ]
  for (const [why, facts, failure] of doubtful) t.match(judge(facts, failure), { doubtful: true }, why)
  t.equal(judge().doubtful, undefined)
  t.equal(judge({ health: undefined }).doubtful, undefined, 'nothing is known of its health')
  t.equal(judge({ proven: keyOf(B), lastKnownGood: hold(B), ...tried({}) }).doubtful, undefined, 'it has been tried again since it worked')
  t.equal(judge({ lastKnownGood: hold('local') }, {}, LOCAL).doubtful, undefined, 'local is never promoted')
})

t.test('a verdict keeps what an earlier try has shown', async (t) => {
  const known = { acquitted: true, recurring: true, anyKubelet: true, retrials: 2 } as const
  t.match(judge(tried(known)), known)
  const none = { acquitted: undefined, recurring: undefined, anyKubelet: undefined, retrials: undefined, evidence: undefined }
  t.match(judge(), none)
  t.match(judge(tried({})), none)
  for (const facts of [{ recurring: true }, { anyKubelet: true }, { evidence: 'lease' }] as const) t.match(judge({}, facts), facts)
})

t.test('a verdict on local names the local config that kubelet was started with', async (t) => {
  const returned = { left: [hold(B)], localConfig: 'now', triedLocalConfig: 'then' }
  t.match(judge(returned, {}, LOCAL), { localConfig: 'then' })
  t.match(judge({ ...returned, triedLocalConfig: undefined }, {}, LOCAL), { localConfig: 'now' })
  t.equal(judge({ ...returned, left: [] }, {}, LOCAL).localConfig, undefined, 'no return is under way')
  t.notOk('localConfig' in judge({ ...returned, localConfig: undefined, triedLocalConfig: undefined }, {}, LOCAL), 'nobody could read it')
  t.equal(judge(returned).localConfig, undefined, 'of another config')
})

t.test('what has proved itself is started once more, once a day', async (t) => {
  const may = (triedAgoUs: number | undefined, failure: Partial<HealthFailure> = {}, facts: Partial<Snapshot> = {}) => {
    const record = health(B, { triedAgainUs: triedAgoUs === undefined ? undefined : NOW_US - triedAgoUs })
    const situation = { snapshot: inTrial({ proven: keyOf(B), ...facts }), unit: unit() }
    return mayTryAgain(situation, record, { key: keyOf(B) }, { ...LOOPS, ...failure })
  }
  t.equal(may(undefined), true)
  t.equal(may(undefined, {}, { proven: undefined }), false, 'it has not')
  t.equal(may(undefined, { recurring: true }), false, 'it failed over many starts')
  t.equal(may(23 * HOUR_US), false)
  t.equal(may(25 * HOUR_US), true)
  const refused = restartTo(B, { invocationBefore: INVOCATION, outcome: { ok: false, detail: '' } })
  const others = [restartTo(B), restartTo(B), restartTo(B)]
  t.equal(may(HOUR_US, {}, { restarts: [...others, refused] }), true, 'only requests that systemd refused count')
})
