// SPDX-License-Identifier: Apache-2.0
/** Looks at kubelet that come late, each after more than the tolerance, and waits of systemd. */
import t from 'tap'
import { A, B, HOUR_US, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import type { KubeletBehaviour } from '../systemd/fake-unit.ts'
import { CRASHES, NEVER_HEALTHY, SmallWorld, WELL } from './small-world.ts'

/** Until kubelet has been started with B, from A, which has passed its trial. */
async function changed(behaviour: KubeletBehaviour, world = new SmallWorld()): Promise<SmallWorld> {
  world.want(A)
  await world.run(15 * MINUTE_US)
  world.behave(B, behaviour)
  world.want(B)
  while (world.startedWith !== textOf(B)) await world.run(SECOND_US)
  return world
}

const isLeft = (world: SmallWorld) => world.history.some(({ kind }) => kind === 'rolled-back')

async function lookEach(world: SmallWorld, everyUs: number, forUs: number): Promise<void> {
  for (let us = 0; us < forUs && !isLeft(world); us += everyUs) {
    world.advance(everyUs)
    await world.settle()
  }
}

const FAILING: Readonly<Record<string, KubeletBehaviour>> = {
  'is never healthy': NEVER_HEALTHY,
  'hangs after half a minute': { healthyAfterUs: 2 * SECOND_US, unhealthyAfterUs: 30 * SECOND_US },
  'exits at its start': CRASHES,
  'exits after 20 s': { exitsAfterUs: 20 * SECOND_US },
}

for (const [what, behaviour] of Object.entries(FAILING)) {
  t.test(`a kubelet that ${what} is left, however late the agent looks`, async (t) => {
    for (const seconds of [61, 65, 120]) {
      const world = await changed(behaviour)
      await lookEach(world, seconds * SECOND_US, 8 * seconds * SECOND_US)
      t.ok(isLeft(world), `each ${seconds} s`)
    }
  })
}

for (const [what, behaviour] of Object.entries(FAILING)) {
  t.test(`a kubelet that ${what} is left where a few looks in between are not late`, async (t) => {
    for (const gaps of [
      [61, 1],
      [61, 5],
      [120, 5, 5],
    ]) {
      const world = await changed(behaviour)
      const fromUs = world.nowUs
      for (let look = 0; world.nowUs - fromUs < 10 * MINUTE_US && !isLeft(world); look += 1) {
        const us = (gaps[look % gaps.length] ?? 0) * SECOND_US
        await lookEach(world, us, us)
      }
      t.ok(isLeft(world), `after ${gaps.join(' and ')} s in turn`)
    }
  })
}

t.test('and where systemd answers so rarely', async (t) => {
  const world = await changed(NEVER_HEALTHY)
  const observe = world.unit.observe.bind(world.unit)
  let nextUs = world.nowUs
  world.unit.observe = async () => {
    if (world.nowUs < nextUs) return { kind: 'unknown', detail: 'systemctl show: took longer than 10 s' }
    nextUs = world.nowUs + 65 * SECOND_US
    return observe()
  }
  await lookEach(world, 5 * SECOND_US, 10 * MINUTE_US)
  t.ok(isLeft(world))
})

t.test('a good config is not left for late looks, however often kubelet exits once', async (t) => {
  const world = await changed(WELL)
  for (let hour = 0; hour < 6; hour += 1) {
    world.unit.kill()
    await lookEach(world, 65 * SECOND_US, HOUR_US)
  }
  t.notOk(isLeft(world))
})

t.test('a machine that is paused once condemns nothing', async (t) => {
  for (const beforeUs of [0, 59 * SECOND_US, 100 * SECOND_US]) {
    const world = await changed({ healthyAfterUs: 110 * SECOND_US + HOUR_US })
    await world.run(beforeUs)
    world.advance(HOUR_US)
    await world.run(15 * SECOND_US)
    t.notOk(isLeft(world), `${beforeUs / SECOND_US} s after the start`)
  }
})

t.test('one exit condemns nothing, however long systemd waits before it restarts kubelet', async (t) => {
  for (const seconds of [10, 90, 180]) {
    const world = await changed(WELL, new SmallWorld({ restartUs: seconds * SECOND_US }))
    await world.run(3 * MINUTE_US)
    world.unit.kill()
    await world.run(HOUR_US)
    t.match([isLeft(world), world.record('last-known-good')], [false, { name: B.name }], `RestartSec=${seconds}`)
  }
})
