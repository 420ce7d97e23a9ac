// SPDX-License-Identifier: Apache-2.0
/**
 * A kubelet on disk that starts with no config, such as one that an upgrade left truncated: it says
 * nothing about any config.
 */
import t from 'tap'
import { findFault } from '../../src/report/status.ts'
import { A, B, MINUTE_US, textOf } from '../decision/snapshots.ts'
import { SmallWorld } from './small-world.ts'

const OBSTACLE = 'the kubelet on disk would not start with any config: /usr/bin/kubelet cannot run on this machine: SIGSEGV'
const DAMAGED = 'damaged kubelet'

/** A has passed its trial. B is on trial where that is wanted. Then kubelet's file is damaged. */
async function damaged({ onTrial = false } = {}): Promise<SmallWorld> {
  const world = new SmallWorld()
  world.want(A)
  await world.run(11 * MINUTE_US)
  if (onTrial) {
    world.want(B)
    await world.run(MINUTE_US)
  }
  world.kubeletIdentity = DAMAGED
  world.nodeFault = true
  world.obstacle = (kubelet) => (kubelet === DAMAGED ? OBSTACLE : undefined)
  world.checks = {
    check: async ({ key }) => {
      if (key.endsWith(DAMAGED)) throw new Error(OBSTACLE)
      return { kind: 'accepted', remarks: [], drain: [] }
    },
    pending: () => new Set(),
  }
  world.lastWords = () => 'the same line at each start'
  return world
}

for (const onTrial of [false, true]) {
  t.test(`no config is blamed for a kubelet that starts with none, ${onTrial ? 'on trial' : 'promoted'}`, async (t) => {
    const world = await damaged({ onTrial })
    world.unit.restartByHand()
    const wait = await world.run(3 * MINUTE_US)
    t.equal(world.records.verdicts().size, 0)
    t.notOk(world.history.some(({ kind }) => kind === 'rolled-back'))
    t.match(wait, { phase: 'node-at-fault', detail: OBSTACLE })
    const last = world.snapshots.at(-1)
    t.match(last && findFault(last, undefined, wait.phase), { reason: 'NodeAtFault', cause: new RegExp(OBSTACLE) })

    world.kubeletIdentity = 'repaired kubelet'
    world.nodeFault = false
    await world.run(12 * MINUTE_US)
    t.equal(world.records.verdicts().size, 0)
    t.equal(await world.running(), textOf(onTrial ? B : A))
    t.same(world.record('last-known-good'), onTrial ? B : A)
  })
}

t.test('its exits are charged to no config once the same kubelet starts, as when its library is back', async (t) => {
  const world = await damaged({ onTrial: true })
  world.unit.restartByHand()
  await world.run(3 * MINUTE_US)
  world.checks = undefined
  world.obstacle = () => undefined
  await world.settle()
  world.nodeFault = false
  await world.run(12 * MINUTE_US)
  t.equal(world.records.verdicts().size, 0)
  t.same(world.record('last-known-good'), B)
})

t.test('a kubelet from before the damage runs on, and is not left for one that cannot start', async (t) => {
  const world = await damaged()
  await world.run(2 * MINUTE_US)
  const last = world.snapshots.at(-1)
  t.equal(last && findFault(last, A, 'settled')?.reason, undefined)
  world.want(B)
  await world.run(2 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
  t.equal(world.records.verdicts().size, 0)
})

t.test('a kubelet that has been healthy refutes what preflight found of it', async (t) => {
  const world = await damaged()
  world.nodeFault = false
  world.unit.restartByHand()
  await world.run(2 * MINUTE_US)
  world.nodeFault = true
  world.unit.kill()
  await world.run(MINUTE_US)
  t.ok(world.records.verdicts().size > 0)
})
