import t from 'tap'
import { countConfigMapRenewals, countNodeRenewals } from '../../../bench/fleet/renewals.ts'
import { seededRandom } from '../../sim/random.ts'

const HOURS = 500

t.test('a ConfigMap is watched anew every few minutes, and read again two to four times an hour', async (t) => {
  const { watches, reads, wholeReads, questions } = await countConfigMapRenewals(HOURS, true, seededRandom(1).next)
  t.ok(watches / HOURS > 6 && watches / HOURS < 12, `${watches / HOURS} watches an hour`)
  t.ok(reads / HOURS > 2 && reads / HOURS < 4.1, `${reads / HOURS} reads an hour`)
  t.equal(wholeReads, reads)
  t.equal(questions, 0)
})

t.test('a server that stores configSource is asked for whole Nodes, and once in a while whether it does', async (t) => {
  const { reads, wholeReads, questions } = await countNodeRenewals(HOURS, true, seededRandom(1).next)
  t.equal(wholeReads, reads)
  t.ok(questions > 0 && questions <= 2 * 4.3 * HOURS, `${questions / HOURS} questions an hour`)
})

t.test('where it drops the field, too, the Node is read whole two to four times an hour', async (t) => {
  const { reads, wholeReads } = await countNodeRenewals(HOURS, false, seededRandom(1).next)
  t.equal(wholeReads, reads)
  t.ok(reads / HOURS > 2 && reads / HOURS < 4.1, `${reads / HOURS} reads an hour`)
})

t.test('without bookmarks a ConfigMap is watched anew each 150 s, and read no more often', async (t) => {
  const { watches, reads } = await countConfigMapRenewals(HOURS, false, seededRandom(1).next)
  t.ok(watches / HOURS > 24 && watches / HOURS < 28, `${watches / HOURS} watches an hour`)
  t.ok(reads / HOURS > 2 && reads / HOURS < 4.1, `${reads / HOURS} reads an hour`)
})
