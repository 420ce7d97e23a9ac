// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import type { KubeAnswer, KubeRequest } from '../../src/ports/kube-api.ts'
import { STATUS_ANNOTATION } from '../../src/report/annotation.ts'
import { STATE_LABEL } from '../../src/report/channels.ts'
import { PUBLICATIONS } from '../../src/report/publications.ts'
import { Publisher } from '../../src/report/publisher.ts'
import { CONDITION_TYPE, conditionOf } from '../../src/report/reasons.ts'
import { source } from './build.ts'
import { FakeApi, FakeLog, FakeTime, refusal } from './fakes.ts'

const STATUS = { active: source(), assigned: source(), lastKnownGood: 'local', error: '' } as const
const STATUS_PATH = '/api/v1/nodes/node-1/status'
const NODE_PATH = '/api/v1/nodes/node-1'
const HOUR_MS = 3600_000

function fresh({ random = () => 0.5 } = {}) {
  const time = new FakeTime()
  const api = new FakeApi(() => time.nowMs)
  api.dropsConfig = true
  const log = new FakeLog()
  const files = { read: () => undefined, makeDirectory: () => {}, replace: () => {} }
  const history = { after: () => [] }
  const { clock, sleep } = time
  const publisher = new Publisher({
    ...{ api, nodeName: 'node-1', clock, sleep, random, log, files, directory: '/d', history },
    publications: () => PUBLICATIONS,
  })
  publisher.start()
  const writes = (path?: string) => api.requests.filter((each) => each.method === 'PATCH' && (path === undefined || each.path === path))
  const say = (n: number, slotUs?: number) =>
    publisher.publish(STATUS, {
      condition: conditionOf(n % 2 === 0 ? 'Refused' : 'Promoted', `text ${n}`),
      annotation: `{"n":${n}}`,
      slotUs,
    })
  const shows = (n: number) => {
    const condition = api.conditions.find(({ type }) => type === CONDITION_TYPE)
    const label = api.labels[STATE_LABEL]
    return { message: condition?.message, label, annotation: api.annotations[STATUS_ANNOTATION], n }
  }
  const wanted = (n: number) => ({
    message: `text ${n}`,
    label: n % 2 === 0 ? 'Refused' : 'Promoted',
    annotation: `{"n":${n}}`,
    n,
  })
  return { time, api, log, publisher, writes, say, shows, wanted }
}

t.test('conditions, annotation and label are one write, which has only what is to be written', async (t) => {
  const { time, api, publisher, writes, say, shows, wanted } = fresh()
  say(1)
  await time.advance(5000)
  t.same(shows(1), wanted(1))
  t.equal(writes().length, 1)
  t.match(writes()[0], { path: STATUS_PATH, contentType: 'application/strategic-merge-patch+json' })
  say(3)
  await time.advance(5000)
  t.same(shows(3), wanted(3))
  t.equal(writes().length, 2)
  t.notMatch(JSON.stringify(writes()[1]?.body), /labels|config"/, 'the label is as it was, and the server drops status.config')
  publisher.publish(STATUS, { condition: conditionOf('Promoted', 'text 3'), annotation: '{"n":4}' })
  await time.advance(5000)
  t.same(writes()[2]?.body, { metadata: { annotations: { [STATUS_ANNOTATION]: '{"n":4}' } } })
  t.match(writes()[2], { path: STATUS_PATH, as: 'PartialObjectMetadata' })
  t.equal(api.requests.filter(({ method }) => method === 'GET').length, 1, 'read once, for the times of the conditions')
  await publisher.stop()
})

t.test('a right to one of the paths alone is enough for what belongs to it', async (t) => {
  for (const [allowed, isWritten] of [
    [STATUS_PATH, { condition: true, metadata: true }],
    [NODE_PATH, { condition: false, metadata: true }],
  ] as const) {
    const { time, api, publisher, writes, say, shows } = fresh()
    api.fault = ({ method, path }) =>
      method === 'PATCH' && path !== allowed ? refusal(403, 'User "u" cannot patch resource "nodes"') : undefined
    say(2)
    await time.advance(60_000)
    t.equal(shows(2).message === 'text 2', isWritten.condition, `condition, with ${allowed}`)
    t.equal(shows(2).annotation === '{"n":2}', isWritten.metadata, `annotation, with ${allowed}`)
    t.equal(shows(2).label === 'Refused', isWritten.metadata, `label, with ${allowed}`)
    const before = writes().length
    await time.advance(HOUR_MS)
    t.ok(writes().length - before <= 16, `${writes().length - before} writes in an hour`)
    await publisher.stop()
  }
})

t.test('a field that is refused holds up no other, and the others come together again', async (t) => {
  const { time, api, publisher, writes, say, shows, wanted } = fresh()
  const isDenied = ({ body }: KubeRequest) => JSON.stringify(body ?? {}).includes('labels')
  api.fault = (request) => (isDenied(request) ? refusal(422, 'Invalid') : undefined)
  say(1)
  await time.advance(60_000)
  t.match(shows(1), { message: 'text 1', annotation: '{"n":1}', label: undefined })
  const before = writes().length
  await time.advance(HOUR_MS / 2)
  t.equal(writes().length, before, 'no loop')
  api.fault = () => undefined
  await time.advance(HOUR_MS)
  say(2)
  await time.advance(5000)
  t.same(shows(2), wanted(2))
  t.match(writes().at(-1)?.body, { status: {}, metadata: { labels: {}, annotations: {} } })
  await publisher.stop()
})

t.test('one 403, as of a server that has just started, keeps the fields apart for a minute, and no other for more', async (t) => {
  const { time, api, publisher, writes, say, shows, wanted } = fresh()
  const forbidden = refusal(403, 'User "u" cannot patch resource "nodes/status"')
  const isJoint = ({ method, body }: KubeRequest) => method === 'PATCH' && Object.keys(body as object).length > 1
  api.fault = (request) => (isJoint(request) && writes().filter(isJoint).length === 1 ? forbidden : undefined)
  say(1)
  await time.advance(90_000)
  t.same(shows(1), wanted(1))
  const before = writes().length
  say(2)
  await time.advance(10_000)
  t.same(shows(2), wanted(2))
  t.equal(writes().length, before + 1, 'together again')
  const sinceMs = time.nowMs
  api.fault = (request) => (isJoint(request) ? forbidden : undefined)
  for (let n = 3; n < 603; n += 1) {
    say(n)
    await time.advance(60_000)
  }
  const joint = writes().filter((request) => request.atMs > sinceMs && isJoint(request))
  t.ok(joint.length >= 10 && joint.length <= 18, `${joint.length} in ten hours`)
  await publisher.stop()
})

t.test('a server that keeps no metadata in a patch of the status gets it by the other path', async (t) => {
  const { time, api, publisher, writes, say, shows, wanted } = fresh()
  const request = api.request.bind(api)
  api.request = async (asked) => {
    if (asked.method !== 'PATCH' || asked.path === NODE_PATH) return request(asked)
    const body: unknown = JSON.parse(JSON.stringify({ ...(asked.body as object), metadata: undefined }))
    return request({ ...asked, body })
  }
  say(1)
  await time.advance(10_000)
  t.same(shows(1), wanted(1))
  t.equal(writes(NODE_PATH).length, 2, 'annotation and label')
  await publisher.stop()
})

t.test('what a lost answer left half-told is told again', async (t) => {
  const seeds = fc.array(fc.constantFrom<'ok' | 'lost' | 'taken' | 'full' | 'gone'>('ok', 'lost', 'taken', 'full', 'gone'), {
    maxLength: 12,
  })
  await fc.assert(
    fc.asyncProperty(seeds, fc.boolean(), async (faults, forbidsJoint) => {
      const { time, api, publisher, writes, say, shows, wanted } = fresh()
      api.dropsConfig = false
      const request = api.request.bind(api)
      const left = [...faults]
      api.request = async (asked): Promise<KubeAnswer> => {
        const isJoint = Object.keys((asked.body as object | undefined) ?? {}).length > 1
        if (forbidsJoint && isJoint) return refusal(403, 'denied by a policy')
        const fault = left.shift()
        if (fault === 'lost') return { kind: 'unreachable', detail: '' }
        if (fault === 'full') return refusal(429, 'TooManyRequests', 1000)
        if (fault === 'gone') return refusal(500, 'InternalError')
        const answer = await request(asked)
        return fault === 'taken' ? { kind: 'unreachable', detail: 'the answer was lost' } : answer
      }
      for (const n of [1, 2, 3]) {
        say(n, (time.nowMs + 500) * 1000)
        await time.advance(3000)
      }
      // Beyond all backoffs, and the longest time over which what is shared is told.
      await time.advance(12 * 900_000)
      t.same(shows(3), wanted(3))
      const before = writes().length
      await time.advance(600_000)
      t.equal(writes().length, before, 'at rest, nothing is written')
      await publisher.stop()
    }),
    { numRuns: 40 },
  )
})

t.test('Retry-After holds for each write, and what nodes share is told over a time that doubles', async (t) => {
  const { time, api, publisher, writes, say, shows, wanted } = fresh()
  api.fault = ({ method }) => (method === 'PATCH' ? refusal(429, 'TooManyRequests', 5000) : undefined)
  say(2, 10e6)
  await time.advance(9999)
  t.equal(writes().length, 0, 'never before the slot')
  await time.advance(600_000)
  const times = writes().map(({ atMs }) => atMs)
  const gaps = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0))
  t.equal(times[0], 11_000, 'a second after the Node was read')
  t.ok(gaps.every((gap) => gap >= 5000))
  t.match(gaps.slice(0, 3), [35_000, 65_000, 125_000], 'half of 60, 120 and 240 s, after Retry-After')
  const atMs = time.nowMs
  say(3)
  await time.advance(120_000)
  const own = writes().filter((each) => each.atMs > atMs)
  t.ok(own.length > 1, 'what is the own of the node goes on with the usual backoff')
  t.ok(own.every((each, index) => index === 0 || each.atMs - (own[index - 1]?.atMs ?? 0) >= 5000))
  api.fault = () => undefined
  await time.advance(60_000)
  t.same(shows(3), wanted(3))
  await publisher.stop()
})

t.test('slow answers are a sign too', async (t) => {
  const { time, api, publisher, writes, say } = fresh()
  const request = api.request.bind(api)
  api.request = async (asked) => {
    if (asked.method === 'PATCH') await time.sleep(3000, new AbortController().signal)
    return request(asked)
  }
  say(1, 1e6)
  await time.advance(20_000)
  t.equal(writes().length, 1)
  say(3, (time.nowMs + 1000) * 1000)
  await time.advance(10_000)
  t.equal(writes().length, 1, 'what nodes share waits')
  say(2)
  await time.advance(5000)
  t.equal(writes().length, 2, 'and what is the own of the node does not')
  await publisher.stop()
})

t.test('where fields are written apart, a 429 on one of them holds back the others', async (t) => {
  const { time, api, publisher, writes, say, shows, wanted } = fresh()
  const forbidden = refusal(403, 'User "u" cannot patch resource "nodes/status"')
  let isFull = false
  api.fault = ({ method, path }) => {
    if (method !== 'PATCH') return undefined
    return path === STATUS_PATH ? forbidden : isFull ? refusal(429, 'TooManyRequests', 20_000) : undefined
  }
  say(1)
  await time.advance(10_000)
  isFull = true
  say(2)
  const sinceMs = time.nowMs
  await time.advance(45_000)
  const times = writes().flatMap(({ atMs }) => (atMs > sinceMs ? [atMs] : []))
  t.ok(times.length > 1)
  t.ok(
    times.slice(1).every((atMs, index) => atMs - (times[index] ?? 0) >= 20_000),
    `${times}`,
  )
  isFull = false
  await time.advance(120_000)
  t.match(shows(2), { ...wanted(2), message: undefined })
  await publisher.stop()
})

t.test('a webhook that always fails for one field keeps the others from being told for a while alone', async (t) => {
  const { time, api, publisher, writes, say, shows } = fresh()
  api.fault = ({ method, body }) =>
    method === 'PATCH' && JSON.stringify(body).includes('labels') ? refusal(500, 'InternalError: failed calling webhook') : undefined
  say(1)
  await time.advance(120_000)
  t.match(shows(1), { message: 'text 1', annotation: '{"n":1}', label: undefined })
  const before = writes().length
  await time.advance(HOUR_MS)
  t.ok(writes().length - before < 150, `${writes().length - before} writes in an hour: a minute between them`)
  await publisher.stop()
})

t.test('a server that fails as a whole gets no more requests for it', async (t) => {
  const { time, api, publisher, writes, say, shows, wanted } = fresh()
  api.fault = () => refusal(503, 'ServiceUnavailable')
  say(1)
  await time.advance(600_000)
  t.ok(writes().every(({ path }) => path === STATUS_PATH))
  api.fault = () => undefined
  await time.advance(90_000)
  t.same(shows(1), wanted(1))
  await publisher.stop()
})
