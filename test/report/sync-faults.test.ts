// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Desired } from '../../src/decision/desired.ts'
import type { Transition } from '../../src/decision/records.ts'
import type { Condition } from '../../src/report/reasons.ts'
import { SyncFaults } from '../../src/report/sync-faults.ts'
import { found, snapshot, source, transition } from './build.ts'

const FINE: Condition = { status: 'True', reason: 'Promoted', message: 'a has passed its trial' }
const failed = (message = 'a cannot be read'): Condition => ({ status: 'False', reason: 'DownloadFailed', message })
const INVALID: Condition = { status: 'False', reason: 'Invalid', message: 'a tie' }

const unavailable = (reason: 'not-found' | 'unauthenticated' | 'unreachable'): Desired => ({
  kind: 'config-map',
  ref: source(),
  object: { kind: 'unavailable', reason, detail: '' },
})
const A_TIE: Desired = { kind: 'invalid', detail: 'a tie' }
const MISSING = unavailable('not-found')

function fresh(history: readonly Transition[] = []) {
  const told: string[] = []
  const faults = new SyncFaults(({ kind, why }) => void told.push(`${kind}: ${why}`), history)
  const see = (condition: Condition, desired: Desired, atSeconds = 0) => {
    faults.see({ desired, now: { ...snapshot().now, monotonicUs: atSeconds * 1e6 } }, condition)
    return told
  }
  return { see, told }
}

t.test('a fault is told once, another one and its end too', (t) => {
  const { see, told } = fresh()
  see(FINE, found(source()))
  see(failed(), MISSING)
  see(failed(), MISSING)
  see(failed('b cannot be read'), MISSING)
  see(INVALID, A_TIE)
  see(FINE, found(source()))
  see(FINE, found(source()))
  see(failed(), MISSING)
  t.same(told, [
    'download-failed: a cannot be read',
    'download-failed: b cannot be read',
    'invalid: a tie',
    'synced: the assignment can be read and used again',
    'download-failed: a cannot be read',
  ])
  t.end()
})

t.test('an API server that does not answer is no fault, and no end of one', (t) => {
  const { see, told } = fresh()
  see(failed(), unavailable('unreachable'))
  see(failed(), unavailable('unauthenticated'))
  t.same(told, [])
  see(failed(), MISSING)
  see(failed('does not answer'), unavailable('unreachable'))
  see({ status: 'Unknown', reason: 'AssignmentUnknown', message: '' }, { kind: 'unknown', detail: '' })
  const stale: Desired = { kind: 'local', stale: { sinceUs: 0, what: 'Node', reason: 'unreachable' } }
  see({ status: 'Unknown', reason: 'AssignmentUnknown', message: '' }, stale)
  see(failed(), MISSING)
  t.equal(told.length, 1)
  t.end()
})

t.test('an agent that starts again tells what it finds only if the one before it did not', (t) => {
  const before = [transition({ kind: 'download-failed', why: 'a cannot be read' }), transition({ kind: 'restarting' })]
  const same = fresh(before)
  same.see(failed(), MISSING)
  t.same(same.told, [])
  const ended = fresh(before)
  ended.see(FINE, found(source()))
  ended.see(failed(), MISSING)
  t.equal(ended.told.length, 2, 'it ended meanwhile, and came again')
  const over = fresh([...before, transition({ kind: 'synced' })])
  over.see(FINE, found(source()))
  t.same(over.told, [])
  t.end()
})

t.test('a fault that comes and goes is told at a limited rate, and what lasts is told in the end', (t) => {
  const { see, told } = fresh()
  for (let second = 0; second < 600; second += 2) {
    see(failed(), MISSING, second)
    see(FINE, found(source()), second + 1)
  }
  const count = () => told.filter((line) => line.startsWith('download')).length
  t.equal(count(), 6)
  see(INVALID, A_TIE, 601)
  see(INVALID, A_TIE, 1300)
  t.equal(told.at(-1), 'invalid: a tie')
  t.end()
})
