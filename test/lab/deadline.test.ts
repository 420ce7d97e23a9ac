// SPDX-License-Identifier: Apache-2.0
/** The end of a play on real components that is out of time. */
import t from 'tap'
import { playWithin } from '../real/lab/deadline.ts'
import { eventually } from '../real/lab/eventually.ts'
import { run } from '../real/lab/processes.ts'

const FOREVER_MS = 3_600_000
const TOO_LONG = /^the scenario took longer than 50 ms$/

for (const [what, hang] of [
  ['a condition that never holds', () => eventually(() => false, { what: 'never', timeoutMs: FOREVER_MS })],
  ['a command that never ends', () => run('sleep', ['infinity'], { timeoutMs: FOREVER_MS })],
  [
    'a condition that asks a command that never ends',
    () => eventually(() => run('sleep', ['infinity'], { timeoutMs: FOREVER_MS }), { what: 'never', timeoutMs: FOREVER_MS }),
  ],
] as const) {
  t.test(`it waits for ${what}: that ends, and it cleans up before the next play`, async (t) => {
    const ended: string[] = []
    const play = async () => {
      try {
        await hang()
      } finally {
        await run('true', [])
        let looks = 0
        await eventually(() => ++looks > 2, { what: 'all is gone', intervalMs: 1 })
        ended.push('cleaned up')
      }
    }
    await t.rejects(playWithin(50, play), { message: TOO_LONG })
    t.strictSame(ended, ['cleaned up'])
  })
}

t.test('one that does not end by itself is left behind', async (t) => {
  await t.rejects(
    playWithin(50, () => new Promise(() => {}), 50),
    { message: TOO_LONG },
  )
})

t.test('within its time, what it throws is thrown, and nothing is ended', async (t) => {
  await playWithin(FOREVER_MS, async () => void (await run('true', [])))
  await t.rejects(
    playWithin(FOREVER_MS, async () => {
      throw new Error('it fails')
    }),
    { message: 'it fails' },
  )
})
