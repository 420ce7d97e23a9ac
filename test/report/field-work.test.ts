// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { ANNOTATION, STATUS_ANNOTATION } from '../../src/report/annotation.ts'
import { showTime } from '../../src/report/deadlines.ts'
import { FieldWork } from '../../src/report/field-work.ts'
import { CONDITIONS } from '../../src/report/node-conditions.ts'
import type { WantedWhen } from '../../src/report/node-field.ts'
import { CONDITION_TYPE, type Condition, DEGRADED_TYPE, describeDegraded } from '../../src/report/reasons.ts'
import { ReportWorker } from '../../src/report/report-worker.ts'
import { alone, FakeApi, FakeLog, FakeTime, refusal } from './fakes.ts'

const LOCAL: Condition = { status: 'True', reason: 'Local', message: 'local' }
const PROMOTED: Condition = { status: 'True', reason: 'Promoted', message: 'one' }
const IN_TRIAL: Condition = { status: 'Unknown', reason: 'InTrial', message: 'one' }
const REFUSED: Condition = { status: 'False', reason: 'Refused', message: 'why' }
const UNKNOWN: Condition = { status: 'Unknown', reason: 'AssignmentUnknown', message: 'the API server does not answer' }
const AWAY = { kind: 'unreachable', detail: '' } as const
const HOUR_MS = 3600_000

interface Written {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime: string
  readonly lastHeartbeatTime: string
}

/** The wall clock follows the monotonic time. */
function world() {
  const time = new FakeTime()
  const startMs = time.wallMs
  const clock = { now: () => ({ ...time.clock.now(), wallMs: startMs + time.nowMs }) }
  const api = new FakeApi(() => time.nowMs)
  return { time, api, log: new FakeLog(), clock, wall: (ms: number) => showTime(startMs + ms) }
}

function runs<Wanted, Seen>(
  { time, log, api }: Pick<ReturnType<typeof world>, 'time' | 'log' | 'api'>,
  work: FieldWork<Wanted, Seen>,
  read: (node: unknown) => Seen | 'absent',
) {
  const lane = new ReportWorker(alone(work, api), time.sleep, log)
  lane.start()
  return {
    stop: () => lane.stop(),
    want: (wanted: Wanted, when?: WantedWhen) => {
      work.want(wanted, when)
      lane.wake()
    },
    /** The Node in a watch of the whole Node; undefined: in a watch of its metadata. */
    observe: (uid: string, node: unknown) => {
      work.observe(uid, node === undefined ? undefined : read(node))
      lane.wake()
    },
  }
}

function freshCondition(parts = world(), isOn = () => true) {
  const { api, clock, log } = parts
  const work = new FieldWork({ api, nodeName: 'node-1', clock, log, random: () => 1 }, CONDITIONS, isOn)
  const shown = () => api.conditions.find(({ type }) => type === CONDITION_TYPE)
  const degraded = () => api.conditions.find(({ type }) => type === DEGRADED_TYPE)
  const writes = () => api.requests.filter(({ method }) => method === 'PATCH')
  return { ...parts, ...runs(parts, work, CONDITIONS.read), shown, degraded, writes }
}

function freshAnnotation(parts = world(), isOn = () => true) {
  const { api, clock, log } = parts
  const work = new FieldWork({ api, nodeName: 'node-1', clock, log, random: () => 1 }, ANNOTATION, isOn)
  return { ...parts, ...runs(parts, work, ANNOTATION.read), shown: () => api.annotations[STATUS_ANNOTATION] }
}

t.test('a condition is merged by its type, with the times of its transition and of its write', async (t) => {
  const { time, api, want, shown, wall } = freshCondition()
  want(LOCAL)
  await time.advance(1000)
  t.match(api.requests, [
    { method: 'GET', path: '/api/v1/nodes/node-1' },
    { method: 'PATCH', path: '/api/v1/nodes/node-1/status', contentType: 'application/strategic-merge-patch+json' },
  ])
  t.same(api.conditions[0], { type: 'Ready', status: 'True' }, "kubelet's own is as it was")
  t.same(shown(), { type: CONDITION_TYPE, ...LOCAL, lastHeartbeatTime: wall(1000), lastTransitionTime: wall(1000) })
  await time.advance(9000)
  want(PROMOTED)
  await time.advance(0)
  t.match(
    shown(),
    { reason: 'Promoted', lastHeartbeatTime: wall(10_000), lastTransitionTime: wall(1000) },
    'another reason is not a transition',
  )
  await time.advance(10_000)
  want(IN_TRIAL)
  await time.advance(10_000)
  t.match(shown(), { status: 'Unknown', lastTransitionTime: wall(20_000) })
})

t.test('KubeletConfigDegraded is written in the same patch, with a transition time of its own', async (t) => {
  const { time, want, degraded, writes, wall } = freshCondition()
  const asExpected = {
    type: DEGRADED_TYPE,
    status: 'False',
    reason: 'AsExpected',
    message: 'nothing about the config of this node needs attention',
  }
  want(LOCAL)
  await time.advance(1000)
  t.same(degraded(), { ...asExpected, lastHeartbeatTime: wall(1000), lastTransitionTime: wall(1000) })
  await time.advance(9000)
  want(IN_TRIAL)
  await time.advance(10_000)
  t.same(degraded(), { ...asExpected, lastHeartbeatTime: wall(10_000), lastTransitionTime: wall(1000) }, 'a trial is no fault')
  want(REFUSED)
  await time.advance(10_000)
  t.match(degraded(), { status: 'True', reason: 'Refused', message: 'why', lastTransitionTime: wall(20_000) })
  t.equal(writes().length, 3)
})

t.test('a node whose agent knew KubeletConfigReady alone gets the other one', async (t) => {
  const { time, api, want, observe, shown, degraded, writes } = freshCondition()
  api.conditions = [{ type: CONDITION_TYPE, ...LOCAL, lastTransitionTime: 'before' }]
  observe('u1', api.node())
  want(LOCAL)
  await time.advance(1000)
  t.match(shown(), { ...LOCAL, lastTransitionTime: 'before' })
  t.match(degraded(), { status: 'False' })
  observe('u1', api.node())
  await time.advance(HOUR_MS)
  t.equal(writes().length, 1)
})

t.test('an API server that is back does not hear that it does not answer', async (t) => {
  for (const backAfterMs of [0, 120_000]) {
    const { time, api, want, shown, writes } = freshCondition()
    want(PROMOTED)
    await time.advance(60_000)
    t.equal(writes().length, 1)
    api.fault = () => AWAY
    await time.advance(60_000)
    if (backAfterMs === 0) api.fault = () => undefined
    want(UNKNOWN, { cutOff: true })
    await time.advance(backAfterMs)
    api.fault = () => undefined
    await time.advance(20_000)
    want(PROMOTED)
    await time.advance(HOUR_MS)
    t.equal(writes().length, 1, 'it is not even sent')
    t.match(shown(), PROMOTED)
  }
})

t.test('what still cannot be read after a server has answered for a while is told', async (t) => {
  const { time, api, want, shown } = freshCondition()
  want(PROMOTED)
  await time.advance(5000)
  api.fault = () => AWAY
  want(UNKNOWN, { cutOff: true })
  await time.advance(60_000)
  api.fault = () => undefined
  await time.advance(60_000)
  t.match(shown(), PROMOTED)
  await time.advance(75_000)
  t.match(shown(), UNKNOWN)
  want({ ...UNKNOWN, message: 'another object' }, { cutOff: true })
  await time.advance(1000)
  t.match(shown(), { message: 'another object' }, 'the server has answered since')
  want(PROMOTED)
  await time.advance(1000)
  t.match(shown(), PROMOTED, 'and its end at once')
})

t.test('what has a slot is written in it, as it is by then, and what has none at once', async (t) => {
  const { time, want, shown, writes } = freshCondition()
  want(PROMOTED)
  await time.advance(5000)
  const slot = { slotUs: (time.nowMs + 20_000) * 1000 }
  want({ status: 'False', reason: 'Preflight', message: 'one' }, slot)
  await time.advance(2000)
  want({ status: 'False', reason: 'Waiting', message: 'one' }, slot)
  await time.advance(17_999)
  t.match(shown(), PROMOTED)
  await time.advance(1)
  t.match(shown(), { reason: 'Waiting' })
  t.equal(writes().length, 2)
  await time.advance(5000)
  want(PROMOTED, { slotUs: (time.nowMs + 20_000) * 1000 })
  want(REFUSED)
  await time.advance(0)
  t.match(shown(), REFUSED)
})

t.test('a write that shows whether the agent can write waits for no slot and no busy server', async (t) => {
  const parts = world()
  const { api, clock, log, time } = parts
  const work = new FieldWork({ api, nodeName: 'node-1', clock, log, random: () => 1 }, CONDITIONS)
  const { want, observe, stop } = runs(parts, work, CONDITIONS.read)
  want(PROMOTED)
  await time.advance(5000)
  const slot = () => want({ ...REFUSED, message: 'shared' }, { slotUs: 600e6 })
  slot()
  work.putOff(900_000)
  work.again()
  slot()
  await time.advance(2000)
  t.equal(work.writtenAtUs, 5_000_000)
  work.again()
  observe('node-uid', api.node())
  await time.advance(2000)
  t.equal(work.writtenAtUs, 7_000_000, 'also where the Node shows the value')
  want(PROMOTED, { slotUs: 600e6 })
  await time.advance(300_000)
  t.equal(work.writtenAtUs, 7_000_000, 'what comes after it has its slot')
  await stop()
})

t.test('a busy server keeps a True that misleads for a minute at most', async (t) => {
  for (const [wanted, longestMs] of [
    [REFUSED, 60_000],
    [{ ...PROMOTED, message: 'two' }, 570_000],
  ] as const) {
    const parts = world()
    const { api, clock, log, time } = parts
    const work = new FieldWork({ api, nodeName: 'node-1', clock, log, random: () => 1 }, CONDITIONS)
    const { want, stop } = runs(parts, work, CONDITIONS.read)
    want(PROMOTED)
    await time.advance(5000)
    want(wanted, { slotUs: time.nowMs * 1000 + 1 })
    work.putOff(570_000)
    await time.advance(longestMs - 30_001)
    t.equal(work.writtenAtUs, 1_000_000, 'put off')
    await time.advance(30_002)
    t.equal(work.writtenAtUs, longestMs === 60_000 ? 35_000_000 : 575_000_000)
    await stop()
  }
})

t.test('what a node did in an outage is told as soon as the server answers', async (t) => {
  const { time, api, want, shown } = freshCondition()
  want(PROMOTED)
  await time.advance(5000)
  api.fault = () => AWAY
  want(UNKNOWN, { cutOff: true })
  await time.advance(120_000)
  want(IN_TRIAL)
  api.fault = () => undefined
  await time.advance(61_000)
  t.match(shown(), IN_TRIAL)
})

t.test('a starting agent continues from the condition on the server', async (t) => {
  const first = freshCondition()
  first.want(LOCAL)
  await first.time.advance(5000)
  const before = first.shown()
  const seeing = freshCondition(first)
  seeing.observe('u1', seeing.api.node())
  seeing.want(LOCAL)
  await seeing.time.advance(HOUR_MS)
  t.equal(seeing.writes().length, 1, 'nothing to write')
  seeing.want(PROMOTED)
  await seeing.time.advance(5000)
  t.equal(seeing.shown()?.lastTransitionTime, before?.lastTransitionTime)
  const blind = freshCondition(first)
  blind.observe('u1', undefined)
  blind.want(LOCAL)
  await blind.time.advance(5000)
  t.match(blind.shown(), { ...LOCAL, lastTransitionTime: before?.lastTransitionTime }, 'from metadata alone, it reads the Node first')
})

t.test('a lagging watch does not change lastTransitionTime', async (t) => {
  const { time, api, want, observe, shown, wall } = freshCondition()
  observe('u1', api.node())
  want(LOCAL)
  await time.advance(5000)
  const old = api.node()
  want(IN_TRIAL)
  await time.advance(5000)
  observe('u1', old)
  want({ ...IN_TRIAL, message: 'two' })
  await time.advance(5000)
  t.match(shown(), { message: 'two', lastTransitionTime: wall(5000) })
})

t.test('a write whose answer was lost may have been applied', async (t) => {
  const { time, api, want, shown, wall } = freshCondition()
  want(LOCAL)
  await time.advance(5000)
  let lost = 0
  const { request } = api
  api.request = async (sent) => {
    const answer = await request.call(api, sent)
    if (sent.method !== 'PATCH' || lost > 0) return answer
    lost += 1
    return { kind: 'unreachable', detail: 'reset' }
  }
  want(IN_TRIAL)
  await time.advance(60_000)
  t.match(shown(), { status: 'Unknown', lastTransitionTime: wall(5000) }, 'it was applied, and is not written again')
})

t.test('a Node that was created again gets its condition, with a new transition time', async (t) => {
  for (const isWhole of [true, false]) {
    const { time, api, want, observe, shown, wall } = freshCondition()
    observe('u1', isWhole ? api.node() : undefined)
    want(LOCAL)
    await time.advance(60_000)
    api.conditions = []
    observe('u2', isWhole ? api.node() : undefined)
    await time.advance(5000)
    t.match(shown(), LOCAL)
    t.ok(String(shown()?.lastTransitionTime) >= wall(60_000))
  }
})

t.test('a change by another client is corrected, with the time from before', async (t) => {
  const { time, api, want, observe, shown, wall, writes } = freshCondition()
  observe('u1', api.node())
  want(LOCAL)
  await time.advance(120_000)
  api.conditions = [{ type: CONDITION_TYPE, status: 'False', reason: 'Mischief', message: '', lastTransitionTime: wall(120_000) }]
  observe('u1', api.node())
  await time.advance(5000)
  t.match(shown(), { ...LOCAL, lastTransitionTime: wall(0) })
  for (let second = 0; second < 300; second += 1) {
    api.conditions = []
    observe('u1', api.node())
    await time.advance(1000)
  }
  t.ok(writes().length >= 5 && writes().length <= 8, `${writes().length}`)
})

t.test('a missing right is logged once, retried more and more slowly, and used once granted', async (t) => {
  const { time, api, log, want, shown } = freshCondition()
  const refused = { ...refusal(403, 'Forbidden'), detail: '403: User "u" cannot patch resource "nodes/status"' }
  api.fault = ({ method }) => (method === 'PATCH' ? refused : undefined)
  want(LOCAL)
  await time.advance(60_000)
  const soon = api.requests.length
  t.ok(soon <= 6, `${soon}`)
  await time.advance(24 * HOUR_MS)
  want(PROMOTED)
  await time.advance(HOUR_MS)
  t.ok(api.requests.length - soon <= 25 * 6, `${api.requests.length}`)
  t.match(log.said('warn'), [/^condition KubeletConfigReady could not be updated; retrying$/])
  t.match(log.lines.find(({ level }) => level === 'warn')?.fields.detail, /; deploy\/rbac\/status\.yaml grants it$/)
  t.equal(log.said('warn').length, 1)
  api.fault = () => undefined
  await time.advance(721_000)
  t.match(shown(), PROMOTED)
})

t.test('a Node that may not be read is not written', async (t) => {
  const { time, api, want, writes } = freshCondition()
  api.fault = ({ method }) => (method === 'GET' ? refusal(403, 'Forbidden') : undefined)
  want(LOCAL)
  await time.advance(HOUR_MS)
  t.equal(writes().length, 0)
})

t.test('a state that keeps changing is written a few times a minute, and correct in the end', async (t) => {
  const { time, want, shown, writes } = freshCondition()
  for (let second = 0; second < 3600; second += 1) {
    want(second % 2 === 0 ? IN_TRIAL : LOCAL)
    await time.advance(1000)
  }
  t.ok(writes().length <= 60 + 361, `${writes().length}`)
  want(PROMOTED)
  await time.advance(21_000)
  t.match(shown(), PROMOTED)
})

t.test('many changes in a row are written as they come, and an outdated True is corrected at once', async (t) => {
  const { time, want, shown } = freshCondition()
  for (let change = 0; change < 50; change += 1) {
    want({ ...IN_TRIAL, message: `${change}` })
    await time.advance(1000)
    t.match(shown(), { message: `${change}` })
  }
  for (let change = 0; change < 40; change += 1) {
    want(change % 2 === 0 ? LOCAL : IN_TRIAL)
    await time.advance(1000)
  }
  want(LOCAL)
  await time.advance(60_000)
  t.match(shown(), LOCAL)
  want(IN_TRIAL)
  await time.advance(0)
  t.match(shown(), IN_TRIAL, 'although the budget is spent')
})

t.test('a new value ends neither Retry-After nor the budget', async (t) => {
  const { time, api, want, writes } = freshCondition()
  want(LOCAL)
  await time.advance(5000)
  api.fault = ({ method }) => (method === 'PATCH' ? refusal(422, 'Invalid') : undefined)
  for (let second = 0; second < 3600; second += 1) {
    want(second % 2 === 0 ? IN_TRIAL : PROMOTED)
    await time.advance(1000)
  }
  t.ok(writes().length <= 60 + 361, `each value is refused separately, ${writes().length} times`)
  api.fault = ({ method }) => (method === 'PATCH' ? refusal(429, 'TooManyRequests', 50_000) : undefined)
  await time.advance(HOUR_MS + 60_000)
  api.fault = ({ method }) => (method === 'PATCH' ? refusal(422, 'Invalid', 50_000) : undefined)
  want({ ...IN_TRIAL, message: 'a' })
  await time.advance(60_000)
  const before = writes().length
  want({ ...IN_TRIAL, message: 'b' })
  await time.advance(1000)
  want({ ...IN_TRIAL, message: 'c' })
  await time.advance(20_000)
  t.equal(writes().length, before + 1, 'Retry-After holds for the next value, too')
})

t.test('a missing right is logged once, whatever happens in between', async (t) => {
  const { time, api, log, want } = freshAnnotation()
  want('{}')
  for (let round = 0; round < 4; round += 1) {
    api.fault = () => refusal(403, 'Forbidden')
    await time.advance(HOUR_MS)
    api.fault = () => refusal(503, 'ServiceUnavailable')
    await time.advance(HOUR_MS)
  }
  t.equal(log.said('warn').length, 2)
  api.fault = () => refusal(403, 'Forbidden')
  await time.advance(HOUR_MS)
  const before = api.requests.length
  await time.advance(HOUR_MS)
  t.ok(api.requests.length - before <= 6, `${api.requests.length - before}`)
})

/**
 * The server applies requests at once and holds its answers back until released. `letPass`: later
 * answers come at once.
 */
function holdAnswers(api: FakeApi) {
  const { request } = api
  let release = () => {}
  api.request = async (sent) => {
    const answer = await request.call(api, sent)
    await new Promise<void>((resolve) => {
      release = resolve
    })
    return answer
  }
  const letPass = () => {
    api.request = request
  }
  return { answerNow: () => release(), letPass }
}

t.test('the answer about a deleted Node says nothing about the next one', async (t) => {
  const { time, api, want, observe, writes } = freshCondition()
  observe('u1', api.node())
  const { answerNow, letPass } = holdAnswers(api)
  want(LOCAL)
  await time.advance(0)
  t.equal(writes().length, 1)
  letPass()
  api.conditions = []
  observe('u2', api.node())
  answerNow()
  await time.advance(5000)
  t.equal(writes().length, 2)
  t.match(CONDITIONS.read(api.node()), { ready: LOCAL })
})

t.test('a deletion before the answer arrives is corrected too', async (t) => {
  const { time, api, want, observe, shown } = freshAnnotation()
  observe('u1', api.node())
  const { answerNow, letPass } = holdAnswers(api)
  want('{}')
  await time.advance(0)
  observe('u1', api.node())
  letPass()
  api.annotations = {}
  observe('u1', api.node())
  answerNow()
  await time.advance(61_000)
  t.equal(shown(), '{}')
})

t.test('a lagging watch does not prevent a write', async (t) => {
  const { time, api, want, observe, shown } = freshCondition()
  observe('u1', api.node())
  want(LOCAL)
  await time.advance(5000)
  const old = api.node()
  want(IN_TRIAL)
  await time.advance(100)
  observe('u1', old)
  want(LOCAL)
  await time.advance(5000)
  t.match(shown(), LOCAL)
})

t.test('switched off at run time, it writes the final value; switched on, the current one', async (t) => {
  let isOn = true
  const condition = freshCondition(world(), () => isOn)
  const annotation = freshAnnotation(world(), () => isOn)
  condition.want(LOCAL)
  annotation.want('{}')
  for (const { time } of [condition, annotation]) await time.advance(5000)
  isOn = false
  condition.want(PROMOTED)
  annotation.want('{"a":1}')
  for (const { time } of [condition, annotation]) await time.advance(5000)
  t.match(condition.shown(), { status: 'Unknown', reason: 'NotPublished' })
  t.equal(annotation.shown(), undefined)
  const sent = [condition.api.requests.length, annotation.api.requests.length]
  condition.want(LOCAL)
  annotation.want('{"a":2}')
  for (const { time } of [condition, annotation]) await time.advance(HOUR_MS)
  t.same([condition.api.requests.length, annotation.api.requests.length], sent, 'once')
  isOn = true
  condition.want(PROMOTED)
  annotation.want('{"a":3}')
  for (const { time } of [condition, annotation]) await time.advance(5000)
  t.match(condition.shown(), PROMOTED)
  t.equal(annotation.shown(), '{"a":3}')
})

t.test('an agent that starts switched off writes the final value; a refusal is logged', async (t) => {
  const first = freshCondition()
  first.want(LOCAL)
  await first.time.advance(5000)
  first.api.fault = ({ method }) => (method === 'PATCH' ? refusal(403, 'Forbidden') : undefined)
  const next = freshCondition(first, () => false)
  next.observe('u1', next.api.node())
  next.want(LOCAL)
  await next.time.advance(5000)
  t.match(next.log.said('warn'), [/^condition KubeletConfigReady could not be updated/])
  next.api.fault = () => undefined
  await next.time.advance(60_000)
  t.match(next.shown(), { reason: 'NotPublished' })
})

t.test('switched off, it neither reads nor writes; switched on, it continues', async (t) => {
  let isOn = false
  const { time, api, want, shown } = freshCondition(world(), () => isOn)
  want(LOCAL)
  await time.advance(HOUR_MS)
  t.equal(api.requests.length, 0)
  isOn = true
  want(PROMOTED)
  await time.advance(2000)
  t.match(shown(), PROMOTED)
})

t.test('the annotation is one key of the metadata, and its own write causes no other', async (t) => {
  const { time, api, want, observe, shown } = freshAnnotation()
  api.annotations = { other: 'kept' }
  observe('u1', api.node())
  want('{"a":1}')
  await time.advance(0)
  t.match(api.requests, [
    {
      method: 'PATCH',
      path: '/api/v1/nodes/node-1',
      contentType: 'application/merge-patch+json',
      as: 'PartialObjectMetadata',
      body: { metadata: { annotations: { [STATUS_ANNOTATION]: '{"a":1}' } } },
    },
  ])
  observe('u1', api.node())
  want('{"a":1}')
  await time.advance(HOUR_MS)
  t.equal(api.requests.length, 1)
  t.same(api.annotations, { other: 'kept', [STATUS_ANNOTATION]: '{"a":1}' })
  api.annotations = {}
  observe('u1', api.node())
  await time.advance(2000)
  t.equal(shown(), '{"a":1}', 'deleted, and written again')
})

t.test('for any faults: the latest condition in the end, one request a second, and a transition time only with the status', async (t) => {
  const conditions = fc.constantFrom(LOCAL, PROMOTED, IN_TRIAL, REFUSED)
  const faults = fc.constantFrom(undefined, { kind: 'unreachable', detail: '' } as const, refusal(500), refusal(403), refusal(409))
  const move = fc.oneof(
    fc.record({ kind: fc.constant('want' as const), condition: conditions }),
    fc.record({ kind: fc.constant('fault' as const), fault: faults }),
    fc.record({ kind: fc.constant('restart' as const) }),
    fc.record({ kind: fc.constant('see' as const), whole: fc.boolean() }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 20_000 }) }),
  )
  const property = fc.asyncProperty(fc.array(move, { maxLength: 25 }), conditions, async (moves, last) => {
    const parts = world()
    let agent = freshCondition(parts)
    for (const step of moves) {
      if (step.kind === 'want') agent.want(step.condition)
      if (step.kind === 'fault') parts.api.fault = () => step.fault
      if (step.kind === 'pass') await parts.time.advance(step.ms)
      if (step.kind === 'see') agent.observe('u1', step.whole ? parts.api.node() : undefined)
      if (step.kind === 'restart') {
        await agent.stop()
        agent = freshCondition(parts)
      }
    }
    parts.api.fault = () => undefined
    agent.want(last)
    await parts.time.advance(HOUR_MS)
    t.match(agent.shown(), last)
    t.match(agent.degraded(), describeDegraded(last))
    const { requests } = parts.api
    const isCalm = !moves.some(({ kind }) => kind === 'restart')
    t.ok(!isCalm || requests.every(({ atMs }, index) => index === 0 || atMs - (requests[index - 1]?.atMs ?? 0) >= 1000))
    const written = requests.flatMap(({ body }) => (body as { status: { conditions: Written[] } } | undefined)?.status.conditions ?? [])
    // A transition that could not be written because of a fault was never visible.
    if (moves.some(({ kind }) => kind === 'fault')) return
    for (const type of [CONDITION_TYPE, DEGRADED_TYPE]) {
      const ofType = written.filter((condition) => condition.type === type)
      for (const [index, { status, lastTransitionTime, lastHeartbeatTime }] of ofType.entries()) {
        const before = ofType[index - 1]
        t.equal(lastTransitionTime, before?.status === status ? before.lastTransitionTime : lastHeartbeatTime)
      }
    }
  })
  await fc.assert(property, { numRuns: 60 })
})
