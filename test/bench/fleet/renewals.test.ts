// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { countConfigMapRenewals, countNodeRenewals } from '../../../bench/fleet/renewals.ts'
import { seededRandom } from '../../sim/random.ts'

const HOURS = 500

t.test('the watch of a ConfigMap is restarted every few minutes, and the ConfigMap is read 2 to 4 times an hour', async (t) => {
  const { watches, reads, wholeReads, questions } = await countConfigMapRenewals(HOURS, true, seededRandom(1).next)
  t.ok(watches / HOURS > 6 && watches / HOURS < 12, `${watches / HOURS} watches an hour`)
  t.ok(reads / HOURS > 2 && reads / HOURS < 4.1, `${reads / HOURS} reads an hour`)
  t.equal(wholeReads, reads)
  t.equal(questions, 0)
})

t.test('with a server that stores configSource, Nodes are read whole, and the support is tested now and then', async (t) => {
  const { reads, wholeReads, questions } = await countNodeRenewals(HOURS, true, seededRandom(1).next)
  t.equal(wholeReads, reads)
  t.ok(questions > 0 && questions <= 2 * 4.3 * HOURS, `${questions / HOURS} questions an hour`)
})

t.test('with a server that drops the field, the Node is read whole 2 to 4 times an hour, too', async (t) => {
  const { reads, wholeReads } = await countNodeRenewals(HOURS, false, seededRandom(1).next)
  t.equal(wholeReads, reads)
  t.ok(reads / HOURS > 2 && reads / HOURS < 4.1, `${reads / HOURS} reads an hour`)
})

t.test('without bookmarks the watch of a ConfigMap is restarted every 150 s, with no more reads', async (t) => {
  const { watches, reads } = await countConfigMapRenewals(HOURS, false, seededRandom(1).next)
  t.ok(watches / HOURS > 24 && watches / HOURS < 28, `${watches / HOURS} watches an hour`)
  t.ok(reads / HOURS > 2 && reads / HOURS < 4.1, `${reads / HOURS} reads an hour`)
})
