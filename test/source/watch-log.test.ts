import t from 'tap'
import type { Log } from '../../src/ports/log.ts'
import { afterRead, afterWatch, INITIAL, type RequestFailure } from '../../src/source/reflect.ts'
import { WatchTrouble } from '../../src/source/watch-trouble.ts'

const RESET: RequestFailure = { kind: 'unreachable', detail: 'reset' }
const REFUSED: RequestFailure = { kind: 'unreachable', detail: 'refused' }
const FORBIDDEN: RequestFailure = { kind: 'refused', status: 403, reason: '', detail: '403', retryAfterMs: undefined }

/** Steps of one object's watch, and what is said of them. */
function follow() {
  const lines: string[] = []
  const say = (message: string) => void lines.push(message)
  const log: Log = { debug: () => {}, info: say, warn: say, error: say }
  const trouble = new WatchTrouble(log, 'X')
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

t.test('one failure is everyday, the second in a row is said, and each cause once', async (t) => {
  const { lines, read } = follow()
  read(RESET)
  t.same(lines, [])
  for (let i = 0; i < 5; i++) read(RESET)
  t.same(lines, ['X cannot be followed: reset; trying again, at least once a minute'])
  for (let i = 0; i < 3; i++) {
    read(REFUSED)
    read(RESET)
  }
  t.same(lines.slice(1), ['X cannot be followed: refused; trying again, at least once a minute'])
  read('read')
  read('read')
  t.same(lines.slice(2), ['X can be read again'])
  for (let i = 0; i < 2; i++) read(RESET)
  t.same(lines.slice(3), ['X cannot be followed: reset; trying again, at least once a minute'], 'and anew once it worked')
})

t.test('lists that work before watches that fail are no news', async (t) => {
  const { lines, read, watch, trouble } = follow()
  for (let i = 0; i < 5; i++) {
    read('read')
    watch(RESET)
  }
  t.same(lines, ['X cannot be followed: reset; trying again, at least once a minute'])
  read('read')
  trouble.received(500)
  t.equal(lines.length, 1, 'what fails at once could yet fail')
  trouble.received(20_000)
  trouble.received(60_000)
  watch('ended', 300_000)
  t.same(lines.slice(1), ['X is watched again'])
})

t.test('that watching is forbidden is said once, though it is tried again and again', async (t) => {
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
