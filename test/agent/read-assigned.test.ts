import t from 'tap'
import { readAssigned } from '../../src/agent/read-assigned.ts'
import type { ActivationStamp } from '../../src/ports/activation.ts'
import type { Records } from '../../src/ports/store.ts'
import { BOOT, NOW_US, SECOND_US, unit } from '../decision/snapshots.ts'

/** Nothing is recorded. */
const RECORDS = { read: () => ({ kind: 'source', source: 'local', absent: true }), has: () => false } as Partial<Records> as Records
const STARTED_US = NOW_US - 60 * SECOND_US

function readWith(since: ActivationStamp | undefined) {
  return readAssigned(RECORDS, { unit: unit({ startedAtUs: STARTED_US }), activation: { kind: 'local', since }, lastProcess: undefined })
}

t.test('without a record nothing was assigned, unless the file of kubelet held something else when it started', async (t) => {
  t.match(readWith(undefined), { kind: 'source', source: 'local' })
  t.match(readWith({ bootId: BOOT, monotonicUs: STARTED_US - 1 }), { kind: 'source', source: 'local' })
  t.match(readWith({ bootId: BOOT, monotonicUs: STARTED_US + 1 }), { kind: 'damaged', detail: /is lost/ })
})
