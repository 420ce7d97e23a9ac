// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Phase } from '../../src/decision/phases.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { spreadDelayUs } from '../../src/decision/wait.ts'
import { NO_COUNTERS } from '../../src/report/counters.ts'
import type { NodeSummary } from '../../src/report/publisher.ts'
import type { Condition } from '../../src/report/reasons.ts'
import { Reporter } from '../../src/report/reporter.ts'
import { following, found, IDENTITY, snapshot, source } from './build.ts'
import { FakeLog, FakeTime } from './fakes.ts'

const good = source('100')
const proven = `content-100@${IDENTITY}`
const recordedChannelState = { channel: 'label', paused: undefined, problem: undefined } as const

function fresh() {
  const standings: (NodeSummary | undefined)[] = []
  const blind: Condition[] = []
  const seen: string[] = []
  const time = new FakeTime()
  let warned: readonly string[] = []
  const reporter = new Reporter({
    clock: time.clock,
    log: new FakeLog(),
    counters: NO_COUNTERS,
    agentVersion: '1.2.3',
    warnings: {
      see: ({ accepted }) => {
        warned = [...accepted.values()].flatMap(({ remarks }) => remarks ?? [])
        return warned
      },
      otherwise: () => warned.find((remark) => remark.includes('kubelet starts, and')),
    },
    syncFaults: { see: (_snapshot, { reason }) => void seen.push(reason) },
    publish: (_status, _seconds, standing) => void standings.push(standing),
    publishCondition: (condition) => void blind.push(condition),
  })
  const look = (fields: Partial<Snapshot>, atSeconds: number, phase: Phase = 'settled', detail = '') => {
    const of = following(good, { proven, recordedChannelState, ...fields })
    const now = { ...of.now, monotonicUs: atSeconds * 1e6, wallMs: of.now.wallMs + atSeconds * 1000 }
    reporter.decided({ ...of, now }, { kind: 'wait', phase, detail, untilUs: 0 })
    return standings.at(-1)
  }
  const turnBlind = () => reporter.turned({ kind: 'wait', phase: 'unknown', detail: '', untilUs: 0 }, undefined)
  return { look, turnBlind, time, blind, seen, isAlive: () => reporter.isAlive() }
}

t.test('an agent that has just started reports nothing until it has read the assignment', async (t) => {
  const { look } = fresh()
  t.equal(look({ desired: { kind: 'unknown', detail: 'not read yet' } }, 100), undefined)
  t.equal(look({ desired: { kind: 'config-map', ref: good, object: { kind: 'pending' } } }, 101), undefined)
  t.equal(look({}, 102)?.condition.reason, 'Promoted')
})

t.test('an agent that has just started tells of no download that had no answer at first', async (t) => {
  const { look } = fresh()
  const object = { kind: 'unavailable', reason: 'unreachable', detail: '429' } as const
  const stale = { what: 'ConfigMap', reason: 'unreachable', sinceUs: 100e6 } as const
  t.equal(look({ desired: { kind: 'config-map', ref: good, object, stale } }, 101), undefined)
  t.equal(look({}, 102)?.condition.reason, 'Promoted')
})

t.test('once it has read an assignment, it reports at once when the assignment is unknown', async (t) => {
  const { look } = fresh()
  t.equal(look({}, 100)?.condition.status, 'True')
  t.match(look({ desired: { kind: 'config-map', ref: { ...good, name: 'other' }, object: { kind: 'pending' } } }, 101)?.condition, {
    reason: 'AssignmentUnknown',
  })
  t.equal(look({}, 102)?.condition.status, 'True')
  t.equal(look({ desired: { kind: 'unknown', detail: 'the Node was deleted' } }, 103)?.condition.status, 'Unknown')
})

t.test('one missing answer of systemd changes nothing, many do', async (t) => {
  const unknown = { unit: { kind: 'unknown', detail: 'timed out' }, running: { kind: 'unknown', detail: 'timed out' } } as const
  const { look } = fresh()
  const before = look({}, 100)
  t.equal(look(unknown, 101, 'unknown'), before)
  t.equal(look({}, 102)?.condition.reason, 'Promoted')
  for (const second of [110, 120, 139]) t.same(look(unknown, second, 'unknown'), before)
  t.equal(look(unknown, 140, 'unknown')?.condition.reason, 'KubeletUnknown')
  t.equal(look({}, 141)?.condition.reason, 'Promoted')
  const next = { ...unknown, desired: found(source('200')), desiredContent: 'content-200' }
  t.not(look(next, 142, 'unknown')?.condition.status, 'True', 'not for a config that is no longer desired')
  const restarted = fresh()
  t.equal(restarted.look(unknown, 100, 'unknown'), undefined, 'nor for the report of the agent before its restart')
  t.equal(restarted.look(unknown, 130, 'unknown')?.condition.reason, 'KubeletUnknown')
})

t.test('the progress of a rollout is told by each node at a time of its own, and what happens on the node at once', async (t) => {
  const { look } = fresh()
  const next = { desired: found(source('200')), desiredContent: 'content-200' }
  const slotSeconds = spreadDelayUs('node-1', 'local', snapshot().policy.spreadUs) / 1e6
  t.match(look(next, 100, 'rollout', '1 of 5 proofs')?.condition, { reason: 'Waiting', message: '1 of 5 proofs' }, 'that it waits: at once')
  t.match(look(next, 101, 'rollout', '2 of 5 proofs')?.condition, { message: '1 of 5 proofs' })
  t.match(look(next, 101 + slotSeconds - 1, 'rollout', '3 of 5 proofs')?.condition, { message: '1 of 5 proofs' })
  t.match(look(next, 101 + slotSeconds + 1, 'rollout', '3 of 5 proofs')?.condition, { message: '3 of 5 proofs' }, 'the latest, in its time')
  look(next, 101 + slotSeconds + 2, 'rollout', '4 of 5 proofs')
  t.match(look(next, 101 + slotSeconds + 3, 'preflight', 'is checked')?.condition, { reason: 'Preflight' })
})

t.test('an agent that cannot read the node for long reports that, whatever it reported before', async (t) => {
  const { look, turnBlind, time, blind } = fresh()
  look({}, 0)
  for (let second = 0; second < 30; second += 5) {
    turnBlind()
    await time.advance(5000)
  }
  t.same(blind, [])
  turnBlind()
  t.match(blind, [{ status: 'Unknown', reason: 'KubeletUnknown' }])
})

t.test('a loop that turns is alive, also while it cannot read the node', async (t) => {
  const { turnBlind, time, isAlive } = fresh()
  for (let second = 0; second < 200; second += 5) {
    turnBlind()
    await time.advance(5000)
    t.ok(isAlive().ok)
  }
  turnBlind()
  await time.advance(119_000)
  t.ok(isAlive().ok)
  await time.advance(2000)
  t.match(isAlive(), { ok: false, detail: 'the loop has been stuck for 121 s' })
})

t.test('an agent that cannot read the assignment for long reports that', async (t) => {
  const { look } = fresh()
  const desired = { kind: 'unknown', detail: 'forbidden' } as const
  t.equal(look({ desired }, 100), undefined)
  t.match(look({ desired }, 161)?.condition, { status: 'Unknown', reason: 'AssignmentUnknown' })
})

t.test('an unchanged state gives the same report at every look', async (t) => {
  const { look } = fresh()
  const first = look({}, 100)
  for (let second = 101; second < 110; second += 1) t.same(look({}, second), first)
  t.same(JSON.parse(first?.annotation ?? '').channel, 'label')
})

t.test('each condition is told on, also one that is kept back for a while', async (t) => {
  const { look, seen } = fresh()
  look({}, 100)
  look({ unit: { kind: 'unknown', detail: '' }, running: { kind: 'unknown', detail: '' } }, 101, 'unknown')
  const object = { kind: 'unavailable', reason: 'not-found', detail: '' } as const
  look({ desired: { kind: 'config-map', ref: source('200'), object } }, 102)
  t.same(seen, ['Promoted', 'KubeletUnknown', 'DownloadFailed'])
})

t.test('what preflight warned of is in the annotation', async (t) => {
  const { look } = fresh()
  const accepted = new Map([['key', { drain: [], remarks: ['unknown field "x": kubelet ignores it'] }]])
  t.same(JSON.parse(look({ accepted }, 100)?.annotation ?? '').warnings, ['unknown field "x": kubelet ignores it'])
  t.notOk('warnings' in JSON.parse(look({}, 101)?.annotation ?? ''))
  t.notMatch(look({ accepted }, 102)?.condition.message, /unknown field/, 'the condition stays short')
  const otherwise = new Map([...accepted].map(([key]) => [key, { drain: [], remarks: ['kubelet starts, and drops it'] }] as const))
  t.match(look({ accepted: otherwise }, 103)?.condition.message, /has passed its trial; kubelet starts, and drops it$/)
})
