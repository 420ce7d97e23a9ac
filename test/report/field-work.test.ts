import fc from 'fast-check'
import t from 'tap'
import { STATUS_ANNOTATION } from '../../src/report/annotation.ts'
import { annotationWork, readStatusAnnotation } from '../../src/report/annotation-work.ts'
import { CONDITION_TYPE, type Condition } from '../../src/report/condition.ts'
import { conditionWork, readCondition } from '../../src/report/condition-work.ts'
import { showTime } from '../../src/report/deadlines.ts'
import type { FieldWork } from '../../src/report/field-work.ts'
import { Lane } from '../../src/report/lane.ts'
import { FakeApi, FakeLog, FakeTime, refusal } from './fakes.ts'

const LOCAL: Condition = { status: 'True', reason: 'Local', message: 'local' }
const PROMOTED: Condition = { status: 'True', reason: 'Promoted', message: 'one' }
const IN_TRIAL: Condition = { status: 'Unknown', reason: 'InTrial', message: 'one' }
const HOUR_MS = 3600_000

interface Written {
  readonly status: string
  readonly lastTransitionTime: string
  readonly lastHeartbeatTime: string
}

/** The clock on the wall goes with the time that passes. */
function world() {
  const time = new FakeTime()
  const startMs = time.wallMs
  const clock = { now: () => ({ ...time.clock.now(), wallMs: startMs + time.nowMs }) }
  const api = new FakeApi(() => time.nowMs)
  return { time, api, log: new FakeLog(), clock, wall: (ms: number) => showTime(startMs + ms) }
}

function runs<Wanted, Seen>(
  { time, log }: Pick<ReturnType<typeof world>, 'time' | 'log'>,
  work: FieldWork<Wanted, Seen>,
  read: (node: unknown) => Seen | 'absent',
) {
  const lane = new Lane(work, time.sleep, log)
  lane.start()
  return {
    stop: () => lane.stop(),
    want: (wanted: Wanted) => {
      work.want(wanted)
      lane.ring()
    },
    /** As a watch of the whole Node shows it; undefined: of its metadata. */
    observe: (uid: string, node: unknown) => {
      work.observe(uid, node === undefined ? undefined : read(node))
      lane.ring()
    },
  }
}

function freshCondition(parts = world(), isOn = () => true) {
  const { api, clock, log } = parts
  const work = conditionWork({ api, nodeName: 'node-1', clock, log, random: () => 1 }, isOn)
  const shown = () => api.conditions.find(({ type }) => type === CONDITION_TYPE)
  const writes = () => api.requests.filter(({ method }) => method === 'PATCH')
  return { ...parts, ...runs(parts, work, readCondition), shown, writes }
}

function freshAnnotation(parts = world(), isOn = () => true) {
  const { api, clock, log } = parts
  const work = annotationWork({ api, nodeName: 'node-1', clock, log, random: () => 1 }, isOn)
  return { ...parts, ...runs(parts, work, readStatusAnnotation), shown: () => api.annotations[STATUS_ANNOTATION] }
}

t.test('a condition is merged by its type, and has the time of its status and that of its writing', async (t) => {
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
    'another reason is no transition',
  )
  await time.advance(10_000)
  want(IN_TRIAL)
  await time.advance(10_000)
  t.match(shown(), { status: 'Unknown', lastTransitionTime: wall(20_000) })
})

t.test('an agent that starts goes on from what the server has', async (t) => {
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
  t.match(blind.shown(), { ...LOCAL, lastTransitionTime: before?.lastTransitionTime }, 'of metadata alone it reads the Node first')
})

t.test('a watch that lags moves no time', async (t) => {
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

t.test('a write whose answer was lost may have been made', async (t) => {
  const { time, api, want, shown, wall } = freshCondition()
  want(LOCAL)
  await time.advance(5000)
  let lost = 0
  const { request } = api
  api.request = async (asked) => {
    const answer = await request.call(api, asked)
    if (asked.method !== 'PATCH' || lost > 0) return answer
    lost += 1
    return { kind: 'unreachable', detail: 'reset' }
  }
  want(IN_TRIAL)
  await time.advance(60_000)
  t.match(shown(), { status: 'Unknown', lastTransitionTime: wall(5000) }, 'it was, and is left alone')
})

t.test('a Node that was created anew gets its condition, from then on', async (t) => {
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

t.test('what somebody else wrote is mended, with the time it had', async (t) => {
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

t.test('a right that is missing is said once, asked for ever more slowly, and taken up', async (t) => {
  const { time, api, log, want, shown } = freshCondition()
  api.fault = ({ method }) => (method === 'PATCH' ? refusal(403, 'Forbidden') : undefined)
  want(LOCAL)
  await time.advance(60_000)
  const soon = api.requests.length
  t.ok(soon <= 6, `${soon}`)
  await time.advance(24 * HOUR_MS)
  want(PROMOTED)
  await time.advance(HOUR_MS)
  t.ok(api.requests.length - soon <= 25 * 6, `${api.requests.length}`)
  t.match(log.said('warn'), [/^condition KubeletConfigReady could not be updated; it is tried again$/])
  t.equal(log.said('warn').length, 1)
  api.fault = () => undefined
  await time.advance(721_000)
  t.match(shown(), PROMOTED)
})

t.test('a Node that may not be read is not written to blindly', async (t) => {
  const { time, api, want, writes } = freshCondition()
  api.fault = ({ method }) => (method === 'GET' ? refusal(403, 'Forbidden') : undefined)
  want(LOCAL)
  await time.advance(HOUR_MS)
  t.equal(writes().length, 0)
})

t.test('a state that goes back and forth for ever is written some times a minute, and right in the end', async (t) => {
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

t.test('many changes in a row are written as they come, and what is no longer true at once', async (t) => {
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
  t.match(shown(), IN_TRIAL, 'though the budget is spent')
})

t.test('a new value ends neither what the server asked for nor the budget', async (t) => {
  const { time, api, want, writes } = freshCondition()
  want(LOCAL)
  await time.advance(5000)
  api.fault = ({ method }) => (method === 'PATCH' ? refusal(422, 'Invalid') : undefined)
  for (let second = 0; second < 3600; second += 1) {
    want(second % 2 === 0 ? IN_TRIAL : PROMOTED)
    await time.advance(1000)
  }
  t.ok(writes().length <= 60 + 361, `each value is refused for itself, ${writes().length} times`)
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

t.test('a right that is missing is said once, whatever comes between', async (t) => {
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

/** The server carries out what it is asked; its answer is on the way until it is told. `letPass`: from then on answers come at once. */
function holdAnswers(api: FakeApi) {
  const { request } = api
  let release = () => {}
  api.request = async (asked) => {
    const answer = await request.call(api, asked)
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

t.test('the answer about a Node that was deleted meanwhile says nothing of the next', async (t) => {
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
  t.match(readCondition(api.node()), LOCAL)
})

t.test('what is deleted before the answer has come is mended, too', async (t) => {
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

t.test('what a watch that lags shows is no reason not to write', async (t) => {
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

t.test('switched off while it runs, it takes back what it said, and says it again once it is on', async (t) => {
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

t.test('an agent that starts switched off takes back what the one before it said; refused, it says so', async (t) => {
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

t.test('switched off, nothing is read or written; on again, it goes on', async (t) => {
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

t.test('the annotation is one key of the metadata, and its own write is no news', async (t) => {
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

t.test('the newest condition in the end, one request a second, and a transition only with the status, whatever happens', async (t) => {
  const conditions = fc.constantFrom(LOCAL, PROMOTED, IN_TRIAL)
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
    const { requests } = parts.api
    const isCalm = !moves.some(({ kind }) => kind === 'restart')
    t.ok(!isCalm || requests.every(({ atMs }, index) => index === 0 || atMs - (requests[index - 1]?.atMs ?? 0) >= 1000))
    const written = requests.flatMap(({ body }) => (body as { status: { conditions: Written[] } } | undefined)?.status.conditions ?? [])
    // What a fault kept from being written was a transition that nobody saw.
    if (moves.some(({ kind }) => kind === 'fault')) return
    for (const [index, { status, lastTransitionTime, lastHeartbeatTime }] of written.entries()) {
      const before = written[index - 1]
      t.equal(lastTransitionTime, before?.status === status ? before.lastTransitionTime : lastHeartbeatTime)
    }
  })
  await fc.assert(property, { numRuns: 60 })
})
