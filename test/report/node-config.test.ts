// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { FieldWork } from '../../src/report/field-work.ts'
import { CONFIG, readConfig } from '../../src/report/node-config.ts'
import { ReportWorker } from '../../src/report/report-worker.ts'
import type { ConfigStatus } from '../../src/report/status.ts'
import { source } from './build.ts'
import { alone, FakeApi, FakeLog, FakeTime, refusal } from './fakes.ts'

const LOCAL: ConfigStatus = { active: 'local', assigned: 'local', lastKnownGood: 'local', error: '' }
const ASSIGNED: ConfigStatus = { active: source('1'), assigned: source('1'), lastKnownGood: 'local', error: '' }
const FAILED: ConfigStatus = { active: source('1'), assigned: source('2'), lastKnownGood: source('1'), error: 'failed to load config' }
const HOUR_MS = 3600_000

function fresh() {
  const time = new FakeTime()
  const api = new FakeApi(() => time.nowMs)
  const log = new FakeLog()
  const work = new FieldWork({ api, nodeName: 'node-1', clock: time.clock, log, random: () => 1 }, CONFIG)
  const lane = new ReportWorker(alone(work, api), time.sleep, log)
  lane.start()
  const want = (status: ConfigStatus) => {
    work.want(status)
    lane.wake()
  }
  const observe = (uid: string, config: unknown) => {
    work.observe(uid, readConfig(config))
    lane.wake()
  }
  return { time, api, log, lane, want, observe }
}
const wire = (resourceVersion: string) => ({ configMap: source(resourceVersion) })

t.test('the patch sets known fields, removes local ones, and reaches {}', async (t) => {
  const { time, api, log, want } = fresh()
  want(FAILED)
  await time.advance(0)
  t.match(api.requests, [{ method: 'PATCH', path: '/api/v1/nodes/node-1/status', contentType: 'application/merge-patch+json' }])
  t.same(api.config, { assigned: wire('2'), active: wire('1'), lastKnownGood: wire('1'), error: 'failed to load config' })
  want({ ...ASSIGNED, active: undefined })
  await time.advance(5000)
  t.same(api.config, { assigned: wire('1'), active: wire('1') }, 'an unknown field stays as it was')
  want(LOCAL)
  await time.advance(5000)
  t.same(api.config, {})
  t.equal(api.requests.length, 3)
  t.same(log.said('info'), Array(3).fill('updating Node.Status.Config'))
})

t.test('written only when the server shows another status', async (t) => {
  const { time, api, want, observe } = fresh()
  observe('u1', { assigned: wire('1'), active: wire('1') })
  want(ASSIGNED)
  want({ ...ASSIGNED })
  await time.advance(HOUR_MS)
  t.equal(api.requests.length, 0)
  want(FAILED)
  want(ASSIGNED)
  await time.advance(HOUR_MS)
  t.equal(api.requests.length, 0, 'there and back again before anything was sent')
})

t.test('latest wins: a status that became outdated during an outage is never sent', async (t) => {
  const { time, api, want } = fresh()
  api.fault = () => ({ kind: 'unreachable', detail: 'ECONNREFUSED' })
  want(FAILED)
  await time.advance(HOUR_MS)
  const spacings = api.requests.slice(1).map(({ atMs }, index) => atMs - (api.requests[index]?.atMs ?? 0))
  t.same(spacings.slice(0, 8), [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000], 'with full jitter below this')
  api.fault = () => undefined
  want(ASSIGNED)
  await time.advance(61_000)
  t.same(api.config, { assigned: wire('1'), active: wire('1') })
})

t.test('an outage is logged once, and the next one again', async (t) => {
  const { time, api, log, want } = fresh()
  api.fault = () => refusal(404, 'NotFound')
  want(FAILED)
  await time.advance(HOUR_MS)
  t.equal(log.said('warn').length, 1)
  api.fault = () => refusal(403, 'Forbidden')
  await time.advance(HOUR_MS)
  t.equal(log.said('warn').length, 2, 'another reason')
  t.equal(log.said('info').length, 1)
})

t.test('Retry-After is honoured, and a conflict is retried', async (t) => {
  const { time, api, want } = fresh()
  const answers = [refusal(429, 'TooManyRequests', 300_000), refusal(409, 'Conflict')]
  api.fault = () => answers.shift()
  want(ASSIGNED)
  await time.advance(299_000)
  t.equal(api.requests.length, 1)
  await time.advance(70_000)
  t.equal(api.requests.length, 3)
  t.ok(api.config)
})

t.test('a server that drops the status is logged once, and retried once an hour', async (t) => {
  const { time, api, log, want, observe } = fresh()
  api.dropsConfig = true
  want(ASSIGNED)
  await time.advance(1000)
  const told = () => log.said('info').filter((line) => /drops Node.Status.Config/.test(line)).length
  t.equal(told(), 1, 'every server of today does so: it is no warning')
  want(FAILED)
  observe('u1', undefined)
  await time.advance(5 * HOUR_MS)
  t.equal(api.requests.length, 6)
  t.equal(told(), 1)
  t.same(log.said('warn'), [])
  api.dropsConfig = false
  observe('u1', { error: 'x' })
  await time.advance(1000)
  t.match(api.config, { assigned: wire('2') }, 'a server that shows the field stores it')
})

t.test('a status that is refused waits for the next one, or an hour', async (t) => {
  const { time, api, want } = fresh()
  api.fault = () => refusal(422, 'Invalid')
  want(ASSIGNED)
  await time.advance(HOUR_MS - 60_000)
  t.equal(api.requests.length, 1)
  api.fault = () => undefined
  want(FAILED)
  await time.advance(1000)
  t.match(api.config, { assigned: wire('2') })
})

t.test('a server that stores another status is not fought', async (t) => {
  const { time, api, log, want, observe } = fresh()
  const altered = { error: 'altered' }
  api.fault = () => ({ kind: 'ok', object: { status: { config: altered } } })
  want(ASSIGNED)
  for (let second = 0; second < 600; second += 1) {
    await time.advance(1000)
    observe('u1', altered)
  }
  t.equal(api.requests.length, 1)
  t.match(log.said('warn'), [/stored another/])
})

t.test('a change by another client is corrected at most once a minute, and a lagging watch is ignored', async (t) => {
  const { time, api, want, observe } = fresh()
  want(ASSIGNED)
  await time.advance(1000)
  observe('u1', {})
  await time.advance(1000)
  observe('u1', api.config)
  await time.advance(HOUR_MS)
  t.equal(api.requests.length, 1, 'the event was older than the patch')
  observe('u1', {})
  await time.advance(1000)
  observe('u1', api.config)
  await time.advance(HOUR_MS)
  t.equal(api.requests.length, 1, 'a change that is undone is ignored')
  for (let second = 0; second < 600; second += 1) {
    observe('u1', {})
    await time.advance(1000)
  }
  t.ok(api.requests.length > 5 && api.requests.length <= 12, `${api.requests.length}`)
  observe('u1', {})
  want(FAILED)
  await time.advance(1000)
  t.match(api.config, { assigned: wire('2') }, 'a new status does not wait for that')
})

t.test('a Node that was created again gets its status at once', async (t) => {
  const { time, api, want, observe } = fresh()
  observe('u1', undefined)
  want(ASSIGNED)
  await time.advance(10_000)
  observe('u1', api.config)
  api.fault = () => refusal(404, 'NotFound')
  want(FAILED)
  await time.advance(HOUR_MS)
  api.fault = () => undefined
  api.config = undefined
  observe('u2', undefined)
  await time.advance(60_000)
  t.match(api.config, { assigned: wire('2') })
})

t.test('a Node that was created again right after a write does not wait for the correction interval', async (t) => {
  const { time, api, want, observe } = fresh()
  observe('u1', undefined)
  want(ASSIGNED)
  await time.advance(2000)
  api.config = undefined
  observe('u2', undefined)
  await time.advance(2000)
  t.match(api.config, { assigned: wire('1') })
})

t.test('for any faults: at most one request a second, and the latest status in the end', async (t) => {
  const statuses = fc.constantFrom(LOCAL, ASSIGNED, FAILED, { ...FAILED, active: undefined })
  const faults = fc.constantFrom(
    undefined,
    { kind: 'unreachable', detail: '' } as const,
    refusal(500),
    refusal(429, '', 5000),
    refusal(404),
    refusal(409),
  )
  const move = fc.oneof(
    fc.record({ kind: fc.constant('want' as const), status: statuses }),
    fc.record({ kind: fc.constant('fault' as const), fault: faults }),
    fc.record({ kind: fc.constant('meddle' as const), config: fc.constantFrom(undefined, {}, { error: 'x' }) }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 20_000 }) }),
  )
  const property = fc.asyncProperty(fc.array(move, { maxLength: 30 }), statuses, async (moves, last) => {
    const { time, api, want, observe } = fresh()
    for (const step of moves) {
      if (step.kind === 'want') want(step.status)
      if (step.kind === 'fault') api.fault = () => step.fault
      if (step.kind === 'pass') await time.advance(step.ms)
      if (step.kind === 'meddle') {
        api.config = step.config
        observe('u1', step.config)
      }
    }
    api.fault = () => undefined
    want(last)
    observe('u1', api.config)
    await time.advance(HOUR_MS)
    const config = api.config as { assigned?: unknown } | undefined
    const spaced = api.requests.every(({ atMs }, index) => index === 0 || atMs - (api.requests[index - 1]?.atMs ?? 0) >= 1000)
    const wanted = last.assigned === 'local' ? undefined : { configMap: last.assigned }
    t.same(config?.assigned, wanted)
    t.ok(spaced)
  })
  await fc.assert(property, { numRuns: 60 })
})

t.test('an overlay is not sent, and is ignored in comparisons with the server', async (t) => {
  const source = { namespace: 'kube-system', name: 'a', kubeletConfigKey: 'kubelet', uid: 'u', resourceVersion: '1' }
  const overlaid = { ...source, overlay: '0123456789abcdef' }
  const status = { assigned: overlaid, active: overlaid, lastKnownGood: source, error: '' }
  t.notMatch(JSON.stringify(CONFIG.write('node-1', status, undefined, 0)), 'overlay')
  t.ok(CONFIG.shows({ assigned: source, active: source, lastKnownGood: source, error: '' }, status))
  t.ok(CONFIG.same(status, { ...status, active: source }))
})
