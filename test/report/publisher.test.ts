// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { DEFAULT_PUBLICATIONS, PUBLICATIONS, type Publication } from '../../src/report/publications.ts'
import { Publisher } from '../../src/report/publisher.ts'
import type { ConditionReason } from '../../src/report/reasons.ts'
import { source, transition } from './build.ts'
import { FakeApi, FakeLog, FakeTime } from './fakes.ts'

function fresh(publications?: () => readonly Publication[]) {
  const time = new FakeTime()
  const api = new FakeApi(() => time.nowMs)
  const log = new FakeLog()
  const written = new Map<string, string>()
  const files = {
    read: (path: string) => (written.has(path) ? Buffer.from(written.get(path) ?? '') : undefined),
    makeDirectory: () => {},
    replace: (path: string, text: Uint8Array | string) => written.set(path, String(text)),
  }
  const transitions = [transition()]
  const history = { after: (atNs: string) => transitions.filter((each) => BigInt(each.atNs) > BigInt(atNs)) }
  const options = {
    api,
    nodeName: 'node-1',
    clock: time.clock,
    sleep: time.sleep,
    random: () => 1,
    log,
    files,
    directory: '/d',
    history,
    ...(publications && { publications }),
  }
  return { time, api, log, publisher: new Publisher(options) }
}
const STATUS = { active: source(), assigned: source(), lastKnownGood: 'local', error: '' } as const

const SUMMARY = { condition: { status: 'True', reason: 'Promoted', message: 'one' }, annotation: '{}' } as const

t.test('events from before a restart of the agent wait until it has a report, for a minute at most', async (t) => {
  const { time, api, publisher } = fresh()
  publisher.start()
  publisher.publish(STATUS)
  await time.advance(10_000)
  t.equal(api.events.size, 0)
  publisher.publish(STATUS, { ...SUMMARY, slotUs: 15e6, eventSlotUs: 20e6 })
  await time.advance(9000)
  t.equal(api.events.size, 0, 'the Node first')
  await time.advance(1000)
  t.equal(api.events.size, 1)
  await publisher.stop()
  for (const summary of [SUMMARY, undefined]) {
    const other = fresh()
    other.publisher.start()
    other.publisher.publish(STATUS, summary)
    await other.time.advance(59_000)
    t.equal(other.api.events.size, summary === undefined ? 0 : 1)
    await other.time.advance(1000)
    t.equal(other.api.events.size, 1)
    await other.publisher.stop()
  }
})

t.test('status and events are independent: one that waits does not delay the other', async (t) => {
  const { time, api, publisher } = fresh()
  api.fault = ({ method }) => (method === 'PATCH' ? { kind: 'unreachable', detail: '' } : undefined)
  publisher.start()
  publisher.publish(STATUS, SUMMARY)
  await time.advance(1000)
  t.equal(api.events.size, 1)
  t.equal(api.config, undefined)
  api.fault = () => undefined
  await time.advance(5000)
  t.ok(api.config)
})

t.test('stop sends what is due, waits for no retry, and leaves no timer', async (t) => {
  const { time, api, publisher } = fresh()
  publisher.start()
  publisher.publish(STATUS)
  await publisher.stop()
  t.ok(api.config)
  const told = fresh()
  told.publisher.start()
  told.publisher.publish(STATUS, SUMMARY)
  await told.publisher.stop()
  t.equal(told.api.events.size, 1)
  t.equal(time.sleepers, 0)
  const away = fresh()
  away.api.fault = () => ({ kind: 'unreachable', detail: '' })
  away.publisher.start()
  away.publisher.publish(STATUS)
  await away.time.advance(1000)
  await away.publisher.stop()
  t.equal(away.time.sleepers, 0)
})

t.test('stop does not wait for a server that hangs', async (t) => {
  const { time, api, publisher } = fresh()
  api.request = () => new Promise(() => {})
  publisher.start()
  publisher.publish(STATUS)
  await time.advance(10)
  let stopped = false
  const stopping = publisher.stop(500).then(() => {
    stopped = true
  })
  await time.advance(499)
  t.notOk(stopped)
  await time.advance(1)
  await stopping
  t.ok(stopped)
})

t.test('a bug in reporting is logged, retried slowly, and does not end reporting', async (t) => {
  const { time, api, log, publisher } = fresh()
  const { request } = api
  api.request = async () => {
    throw new TypeError('bug')
  }
  publisher.start()
  publisher.publish(STATUS, SUMMARY)
  await time.advance(59_000)
  t.equal(log.said('error').length, 2, 'one per worker')
  api.request = request
  await time.advance(60_000)
  t.ok(api.config)
})

function summary(reason: ConditionReason) {
  return { condition: { status: 'False', reason, message: 'why' }, annotation: '{}' } as const
}

t.test('the label is written on final states only, where it is asked for', async (t) => {
  const { time, api, publisher } = fresh(() => PUBLICATIONS)
  publisher.start()
  const labelAfter = async (reason: ConditionReason) => {
    publisher.publish(STATUS, summary(reason))
    await time.advance(5000)
    return api.labels['kubelet-cfg-agent.io/state']
  }
  t.equal(await labelAfter('InTrial'), undefined, 'nothing is final yet')
  t.equal(await labelAfter('Promoted'), 'Promoted')
  for (const reason of ['Preflight', 'Restarting', 'InTrial', 'Unhealthy', 'AssignmentUnknown'] as const)
    t.equal(await labelAfter(reason), 'Promoted', reason)
  t.equal(await labelAfter('RolledBack'), 'RolledBack')
  const writes = api.requests.filter(({ body }) => JSON.stringify(body ?? {}).includes('labels'))
  t.equal(writes.length, 2, 'one request a final state')
  await publisher.stop()
})

t.test('the label is not written by default, and is taken away where it is no longer asked for', async (t) => {
  let publications: readonly Publication[] = DEFAULT_PUBLICATIONS
  const { time, api, publisher } = fresh(() => publications)
  publisher.start()
  publisher.publish(STATUS, summary('Promoted'))
  await time.advance(5000)
  t.same(api.labels, {})
  api.labels = { 'kubelet-cfg-agent.io/state': 'Local', zone: 'a' }
  publisher.nodeObserved('node-uid', api.node(), 'whole')
  await time.advance(5000)
  t.same(api.labels, { zone: 'a' }, 'of an agent with other settings')
  publications = PUBLICATIONS
  publisher.publish(STATUS, summary('Promoted'))
  await time.advance(5000)
  t.same(api.labels, { 'kubelet-cfg-agent.io/state': 'Promoted', zone: 'a' })
  await publisher.stop()
})

t.test('a label that has not been written yet is dropped where the condition has moved on', async (t) => {
  const { time, api, publisher } = fresh(() => PUBLICATIONS)
  publisher.start()
  publisher.publish(STATUS, summary('Promoted'))
  await time.advance(5000)
  publisher.publish(STATUS, { ...summary('Refused'), slotUs: 20e6 })
  await time.advance(5000)
  publisher.publish(STATUS, { ...summary('Waiting'), slotUs: 20e6 })
  await time.advance(60_000)
  t.match(api.conditions.at(-2), { reason: 'Waiting' })
  t.equal(api.labels['kubelet-cfg-agent.io/state'], 'Promoted')
  publisher.publish(STATUS, summary('Refused'))
  await time.advance(5000)
  t.equal(api.labels['kubelet-cfg-agent.io/state'], 'Refused')
  publisher.publish(STATUS, summary('Waiting'))
  api.labels = {}
  publisher.nodeObserved('node-uid', api.node(), 'whole')
  await time.advance(120_000)
  t.equal(api.labels['kubelet-cfg-agent.io/state'], 'Refused', 'what was told stays')
  await publisher.stop()
})
