// SPDX-License-Identifier: Apache-2.0
/** The log of exits: ten of each config, however they alternate. */
import t from 'tap'
import { ageExits, countRecurringExits, type KubeletExit, logExits } from '../../src/health/exits.ts'
import { forgetExits } from '../../src/health/fold.ts'
import { trialKey } from '../../src/subject/trial-key.ts'
import { HOUR_US, health, KUBELET, MINUTE_US, NOW_US, A as SUBJECT, unit } from '../decision/snapshots.ts'

const keyOf = (content: string) => trialKey(content, KUBELET)

/** A process of each content exits after another. */
function exitInTurn(...contents: readonly string[]): readonly KubeletExit[] {
  let log: readonly KubeletExit[] = []
  for (const [index, content] of contents.entries()) {
    const look = { unit: unit({ invocationId: `i-${index}` }), nowUs: NOW_US + index * MINUTE_US }
    log = logExits({ recentExits: log, invocationId: `i-${index}`, process: undefined }, look, keyOf(content), { unseen: 0, seen: true })
  }
  return log
}

function countOf(content: string, log: readonly KubeletExit[], healthySinceUs?: number) {
  const record = { ...health(SUBJECT), subject: keyOf(content), recentExits: log, healthySinceUs }
  return countRecurringExits(record, NOW_US + 60 * MINUTE_US)
}

t.test('two configs that alternate in a slow crash loop both reach the limit', async (t) => {
  const log = exitInTurn(...Array.from({ length: 10 }, () => ['a', 'b']).flat())
  t.strictSame(countOf('a', log), { exits: 10, failed: true, isOver: false })
  t.strictSame(countOf('b', log), { exits: 10, failed: true, isOver: false })
})

t.test('the window is 24 hours in which kubelet starts with that config (rule 24)', async (t) => {
  const log = exitInTurn(...Array.from({ length: 10 }, () => 'a'))
  const countAfter = (exits: readonly KubeletExit[], us: number) =>
    countRecurringExits({ ...health(SUBJECT), subject: keyOf('a'), recentExits: exits }, NOW_US + us)
  t.equal(countAfter(log, 30 * HOUR_US), undefined)
  t.match(countAfter(ageExits({ recentExits: log, subject: keyOf('b') }, 20 * HOUR_US), 30 * HOUR_US), { exits: 10, failed: true })
  t.equal(countAfter(ageExits({ recentExits: log, subject: keyOf('a') }, 20 * HOUR_US), 30 * HOUR_US), undefined)
})

t.test('a kubelet that became healthy after the last exit is not condemned for the exits any more', async (t) => {
  const log = exitInTurn(...Array.from({ length: 10 }, () => 'a'))
  const lastUs = NOW_US + 9 * MINUTE_US
  t.match(countOf('a', log, lastUs), { failed: true, isOver: false }, 'one look shows the exit and the process after it')
  t.match(countOf('a', log, lastUs + 1), { failed: true, isOver: true })
})

t.test('the log is bounded: ten exits of each config, of the latest eight', async (t) => {
  const log = exitInTurn(...Array.from({ length: 20 }, (_, config) => Array.from({ length: 30 }, () => `c-${config}`)).flat())
  t.equal(log.length, 80)
  t.strictSame(new Set(log.map(({ key }) => key)), new Set([12, 13, 14, 15, 16, 17, 18, 19].map((config) => keyOf(`c-${config}`))))
  const atUs = log.map((exit) => exit.atUs)
  t.strictSame(
    atUs,
    atUs.toSorted((a, b) => a - b),
    'the latest comes last',
  )
})

t.test('a config that is tried again leaves its exits behind, on whatever kubelet they were (rule 49)', async (t) => {
  const exitOf = (key: string): KubeletExit => ({ key, invocationId: 'i-1', atUs: NOW_US })
  const others = exitOf(keyOf('b'))
  const record = { ...health(SUBJECT), recentExits: [exitOf(keyOf('a')), exitOf(trialKey('a', 'another-kubelet')), others] }
  t.strictSame(forgetExits(record, 'a').recentExits, [others])
})
