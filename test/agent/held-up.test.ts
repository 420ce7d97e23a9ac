// SPDX-License-Identifier: Apache-2.0
/**
 * The config that runs while another one is assigned and cannot come yet: it waits for a drained
 * node, for pods, for its time in a spread, or for the hourly limit of restarts.
 */
import t from 'tap'
import { A, A_EDITED, GOOD, HOUR_US, MINUTE_US, textOf } from '../decision/snapshots.ts'
import { promoted } from './promoted-world.ts'
import type { SmallWorld } from './small-world.ts'

/** A is on trial after a config that has passed one. */
async function onTrial(): Promise<SmallWorld> {
  const world = await promoted(GOOD)
  world.want(A)
  await world.run(2 * MINUTE_US)
  return world
}

/** How an edit of A is held up. */
const OBSTACLES: Readonly<Record<string, (world: SmallWorld) => void>> = {
  'a drain': (world) => {
    world.drained = false
    world.preflight = ({ kubelet }) => ({ kind: 'accepted', remarks: [], drain: kubelet === textOf(A_EDITED) ? ['cgroupDriver'] : [] })
  },
  'a spread': (world) => {
    world.policy = { ...world.policy, spreadUs: 100 * HOUR_US }
  },
}

for (const [what, holdUp] of Object.entries(OBSTACLES)) {
  t.test(`what an operator rolls back is left although what replaces it waits for ${what}`, async (t) => {
    const world = await onTrial()
    holdUp(world)
    world.want(A_EDITED)
    await world.run(MINUTE_US)
    const { nextStart } = world.snapshots.at(-1) ?? {}
    const content = nextStart?.kind === 'known' ? nextStart.held.content : undefined
    t.equal(await world.running(), textOf(A))
    world.requests = { ...world.requests, rollback: { content: content ?? '' } }
    await world.run(MINUTE_US)
    t.not(await world.running(), textOf(A))
    t.match([...world.records.verdicts().values()], [{ source: A, state: 'confirmed', reason: 'requested' }])
  })
}
