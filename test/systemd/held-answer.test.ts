// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { HeldAnswer } from '../../src/systemd/held-answer.ts'

function world() {
  const world = { nowUs: 10e6, quietSinceUs: 5e6 as number | undefined }
  const clock = { now: () => ({ bootId: 'b', monotonicUs: world.nowUs, wallMs: 0 }) }
  const held = new HeldAnswer<string>({ quietSinceUs: () => world.quietSinceUs }, clock)
  return { world, held }
}

t.test('an answer stands while it is quiet, but not for long', async (t) => {
  const { world: now, held } = world()
  t.equal(held.get(), undefined)
  held.begin().keep('running')
  t.equal(held.get(), 'running')
  now.nowUs += 300e6 - 1
  t.equal(held.get(), 'running')
  now.nowUs += 1
  t.equal(held.get(), undefined)
})

t.test('none stands after a signal, while nothing is heard, or after that', async (t) => {
  for (const quietSinceUs of [10e6, 11e6, undefined]) {
    const { world: now, held } = world()
    held.begin().keep('running')
    now.quietSinceUs = quietSinceUs
    t.equal(held.get(), undefined)
    now.quietSinceUs = 5e6
    t.equal(held.get(), undefined, 'for ever')
  }
})

t.test('a signal that comes while systemd answers may be about what it does not tell yet', async (t) => {
  const { world: now, held } = world()
  const asked = held.begin()
  now.nowUs = 12e6
  now.quietSinceUs = 11e6
  asked.keep('running')
  t.equal(held.get(), undefined)
})

t.test('none stands once it is dropped', async (t) => {
  const { held } = world()
  held.begin().keep('running')
  held.drop()
  t.equal(held.get(), undefined)
})
