import t from 'tap'
import type { Log } from '../../src/ports/log.ts'
import { afterRead, afterWatch, INITIAL, type RequestFailure } from '../../src/source/reflect.ts'
import { WatchLog } from '../../src/source/watch-log.ts'

const RESET: RequestFailure = { kind: 'unreachable', detail: 'reset' }
const REFUSED: RequestFailure = { kind: 'unreachable', detail: 'refused' }
const FORBIDDEN: RequestFailure = { kind: 'refused', status: 403, reason: '', detail: '403', retryAfterMs: undefined }

/** Steps of one object's watch, and what is logged. */
function follow() {
  const lines: string[] = []
  const record = (message: string) => void lines.push(message)
  const log: Log = { debug: () => {}, info: record, warn: record, error: record }
  const trouble = new WatchLog(log, 'X')
  const dice = { nowMs: 0, random: () => 0.5 }
  let state = INITIAL
  return {
    lines,
    trouble,
    read(end: RequestFailure | 'read', nowMs = 0) {
      const ended = end === 'read' ? ({ kind: 'read', resourceVersion: '1' } as const) : end
      const next = afterRead(state, ended, { ...dice, nowMs })
      trouble.readEnded(ended, next)
      state = next.state
    },
    watch(end: RequestFailure | 'ended', livedMs = 0) {
      const ended = { end: end === 'ended' ? ({ kind: 'ended' } as const) : end, resourceVersion: '1', livedMs }
      const next = afterWatch(state, ended, dice)
      trouble.watchEnded(ended, next)
      state = next.state
    },
  }
}

t.test('one failure is not logged, the second in a row is, and each cause once', async (t) => {
  const { lines, read } = follow()
  read(RESET)
  t.same(lines, [])
  for (let i = 0; i < 5; i++) read(RESET)
  t.same(lines, ['X cannot be followed: reset; retrying at least once a minute'])
  for (let i = 0; i < 3; i++) {
    read(REFUSED)
    read(RESET)
  }
  t.same(lines.slice(1), ['X cannot be followed: refused; retrying at least once a minute'])
  read('read')
  read('read')
  t.same(lines.slice(2), ['X can be read again'])
  for (let i = 0; i < 2; i++) read(RESET)
  t.same(lines.slice(3), ['X cannot be followed: reset; retrying at least once a minute'], 'and again after a success')
})

t.test('a malformed answer is logged at once, and only once', async (t) => {
  const { lines, read, watch } = follow()
  const malformed: RequestFailure = { kind: 'malformed', detail: 'expected Node n1, got Pod "n1"' }
  for (let i = 0; i < 3; i++) read(malformed)
  const line = 'X cannot be followed: expected Node n1, got Pod "n1"; retrying at least once a minute'
  t.same(lines, [line])
  read('read')
  for (let i = 0; i < 3; i++) watch(malformed)
  t.same(lines.slice(1), ['X can be read again', line])
})

t.test('lists that work before watches that fail are not logged', async (t) => {
  const { lines, read, watch, trouble } = follow()
  for (let i = 0; i < 5; i++) {
    read('read')
    watch(RESET)
  }
  t.same(lines, ['X cannot be followed: reset; retrying at least once a minute'])
  read('read')
  trouble.received(500)
  t.equal(lines.length, 1, 'a watch that has just started could still fail')
  trouble.received(20_000)
  trouble.received(60_000)
  watch('ended', 300_000)
  t.same(lines.slice(1), ['X is watched again'])
})

t.test('a forbidden watch is logged once, although it is retried', async (t) => {
  const { lines, read, watch } = follow()
  read('read')
  for (let i = 0; i < 3; i++) watch(FORBIDDEN)
  for (let minute = 1; minute < 120; minute++) {
    read('read', minute * 60_000)
    watch(FORBIDDEN)
  }
  t.same(lines, ['watching X is forbidden: reading it every minute instead'])
  read('read')
  watch('ended', 300_000)
  t.same(lines.slice(1), ['X is watched again'])
})
