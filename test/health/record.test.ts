// SPDX-License-Identifier: Apache-2.0
/** The record as a file: whatever else a field holds, the record is not read. */
import t from 'tap'
import { type HealthRecord, isHealthRecord } from '../../src/health/fold.ts'
import { A, contentOf, health, KUBELET, keyOf, NOW_US } from '../decision/snapshots.ts'

const SEEN = {
  invocationId: 'i-1',
  content: contentOf(A),
  kubeletIdentity: KUBELET,
  source: A,
  healthPort: { host: '127.0.0.1', port: 10248 },
}

/** Each field has a value. */
const FULL: Required<HealthRecord> = {
  ...health(A, { unhealthySinceUs: NOW_US }),
  contentSinceUs: 1,
  startedSinceUs: 1,
  startedByOthers: true,
  firstNRestarts: 1,
  takenDownOf: 'i-1',
  restartedFrom: 'i-1',
  restartDueUntilUs: 1,
  triedAgainUs: 1,
  lateLooks: 1,
  lastLateUs: 1,
  unseenUs: 1,
  restartsAtUs: 1,
  strangerHadPort: true,
  lackedRuntimeUs: 1,
  unexecutedSinceUs: 1,
  beganExcused: true,
  runtimeDownSinceUs: 1,
  excusedExits: { count: 1, sinceUs: 1 },
  pausedExits: 1,
  exitSeenOf: 'i-1',
  recentExits: [
    { key: keyOf(A), invocationId: 'i-1', startedAtUs: 1, atUs: 2, awayUs: 3, words: 'panic', killedBy: 'SIGKILL', lackedRuntime: true },
  ],
  lastProcess: SEEN,
  process: {
    ...{ key: keyOf(A), invocationId: 'i-1', startedAtUs: 1, exits: 1, startedByOthers: true },
    ...{ wasHealthy: true, healthySinceUs: 1, unhealthySinceUs: 1 },
  },
}

/** The value with one of its leaves replaced by what no field may hold, for each leaf. */
function spoilEach(value: unknown): readonly (readonly [path: string, spoiled: unknown])[] {
  if (typeof value !== 'object' || value === null) return [['', Number.NaN]]
  const isList = Array.isArray(value)
  return Object.entries(value).flatMap(([name, each]) =>
    spoilEach(each).map(([path, spoiled]): readonly [string, unknown] => [
      `.${name}${path}`,
      isList ? value.with(Number(name), spoiled) : { ...value, [name]: spoiled },
    ]),
  )
}

t.test('each field is checked', (t) => {
  t.ok(isHealthRecord(FULL))
  t.ok(isHealthRecord(health(A)), 'without what may be missing')
  const spoiled = spoilEach(FULL)
  t.ok(spoiled.length > 50)
  for (const [path, record] of spoiled) t.notOk(isHealthRecord(record), path)
  t.end()
})

t.test('the health port is an address, or the word for none', (t) => {
  const hasPort = (healthPort: unknown) => isHealthRecord({ ...FULL, lastProcess: { ...SEEN, healthPort } })
  t.same([hasPort('none'), hasPort(undefined), hasPort(''), hasPort('all')], [true, true, false, false])
  t.end()
})
