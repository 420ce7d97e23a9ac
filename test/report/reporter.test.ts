import t from 'tap'
import type { Snapshot } from '../../src/agent/model.ts'
import type { Phase } from '../../src/agent/step.ts'
import { NO_COUNTERS } from '../../src/report/counters.ts'
import type { Standing } from '../../src/report/publisher.ts'
import { Reporter } from '../../src/report/reporter.ts'
import { following, IDENTITY, source } from './build.ts'
import { FakeLog, FakeTime } from './fakes.ts'

const good = source('100')
const proven = `content-100@${IDENTITY}`
const heard = { channel: 'label', paused: undefined, problem: undefined } as const

function fresh() {
  const standings: (Standing | undefined)[] = []
  const reporter = new Reporter({
    clock: new FakeTime().clock,
    log: new FakeLog(),
    counters: NO_COUNTERS,
    agentVersion: '1.2.3',
    publish: (_status, _seconds, standing) => void standings.push(standing),
  })
  const look = (fields: Partial<Snapshot>, atSeconds: number, phase: Phase = 'settled') => {
    const of = following(good, { proven, heard, ...fields })
    const now = { ...of.now, monotonicUs: atSeconds * 1e6, wallMs: of.now.wallMs + atSeconds * 1000 }
    reporter.decided({ ...of, now }, { kind: 'wait', phase, detail: '', untilUs: 0 })
    return standings.at(-1)
  }
  return { look }
}

t.test('an agent that has just started says nothing until it has heard what is assigned', async (t) => {
  const { look } = fresh()
  t.equal(look({ desired: { kind: 'unknown', detail: 'not asked yet' } }, 100), undefined)
  t.equal(look({ desired: { kind: 'config-map', ref: good, object: { kind: 'pending' } } }, 101), undefined)
  t.equal(look({}, 102)?.condition.reason, 'Promoted')
  t.equal(look({ desired: { kind: 'unknown', detail: 'the Node was deleted' } }, 103), undefined)
})

t.test('and says so where it does not hear for long', async (t) => {
  const { look } = fresh()
  const desired = { kind: 'unknown', detail: 'forbidden' } as const
  t.equal(look({ desired }, 100), undefined)
  t.match(look({ desired }, 161)?.condition, { status: 'Unknown', reason: 'AssignmentUnknown' })
})

t.test('what stays as it is says the same at every look', async (t) => {
  const { look } = fresh()
  const first = look({}, 100)
  for (let second = 101; second < 110; second += 1) t.same(look({}, second), first)
  t.same(JSON.parse(first?.annotation ?? '').channel, 'label')
})
