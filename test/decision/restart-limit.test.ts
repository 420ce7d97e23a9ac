// SPDX-License-Identifier: Apache-2.0
/** Which restarts count towards the hourly limit, and what it holds up. */
import t from 'tap'
import type { RestartRecord } from '../../src/decision/records.ts'
import { excuseRestarts, findLimitEndUs, isExempt, listTaken } from '../../src/decision/restart-limit.ts'
import { A, B, HOUR_US, hold, keyOf, MINUTE_US, NOW_US, POLICY, restartTo, snapshot, unit } from './snapshots.ts'

const LOCAL = { source: 'local', key: keyOf('local') } as const
const ago = (us: number, facts: Partial<RestartRecord> = {}) => restartTo(B, { atUs: NOW_US - us, ...facts })
const REFUSED = { outcome: { ok: false, detail: 'systemd does not answer' } } as const

t.test('the restarts of the last hour count, until an operator requests a retry', async (t) => {
  const seen = snapshot({ policy: { ...POLICY, restartsPerHour: 2 } })
  const twice = [ago(50 * MINUTE_US), ago(MINUTE_US)]
  t.equal(findLimitEndUs(seen, twice), NOW_US + 10 * MINUTE_US)
  t.equal(findLimitEndUs(seen, twice.slice(1)), undefined)
  t.equal(findLimitEndUs(seen, [ago(2 * HOUR_US), ago(MINUTE_US)]), undefined, 'not those from before')
  t.equal(findLimitEndUs(seen, excuseRestarts(twice)), undefined)
})

t.test('a restart that systemd refused was taken all the same where kubelet is another process since', async (t) => {
  const refused = ago(2 * MINUTE_US, { ...REFUSED, invocationBefore: 'i-1' })
  const next = ago(MINUTE_US, { ...REFUSED, invocationBefore: 'i-2' })
  const unknown = { kind: 'unknown', detail: 'systemctl failed' } as const
  t.same(listTaken([refused], unit({ invocationId: 'i-1' })), [])
  t.same(listTaken([refused], unit({ invocationId: 'i-2' })), [refused])
  t.same(listTaken([refused], unknown), [], 'nobody knows')
  t.same(listTaken([refused, next], unknown), [refused], 'the next request says so')
})

t.test('a reset is exempt from the limit, and nothing else of a kubelet that is well', async (t) => {
  const reset = snapshot({ lastKnownGood: hold(A), requests: { hold: 'local', rollback: undefined, retry: false } })
  t.equal(isExempt(reset, LOCAL), true)
  t.equal(isExempt(reset, { source: B, key: keyOf(B) }), false, 'what the node goes back to')
  t.equal(isExempt(snapshot(), LOCAL), false)
})
