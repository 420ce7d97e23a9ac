// SPDX-License-Identifier: Apache-2.0
/**
 * A crash loop with nothing assigned: the agent restarts nothing, and the Node says so soon and
 * without a break.
 */
import t from 'tap'
import { describeCondition } from '../../src/report/condition.ts'
import { describeDegraded } from '../../src/report/reasons.ts'
import { MINUTE_US, SECOND_US } from '../decision/snapshots.ts'
import type { KubeletBehaviour } from '../systemd/fake-unit.ts'
import { SmallWorld } from './small-world.ts'

const DEADLINES = { trial: undefined, waitUntilMs: undefined }

/** The condition Degraded of the Node, second by second. */
async function shown(behaviour: KubeletBehaviour, seconds: number): Promise<readonly string[]> {
  const world = new SmallWorld({ restartUs: 10 * SECOND_US })
  await world.run(MINUTE_US)
  world.behave('local', behaviour)
  world.unit.restartByHand()
  const texts: string[] = []
  for (let second = 0; second < seconds; second += 1) {
    const wait = await world.run(SECOND_US)
    const last = world.snapshots.at(-1)
    if (last === undefined) throw new Error('the agent has not looked')
    const { status, message } = describeDegraded(describeCondition(last, wait, DEADLINES))
    texts.push(`${status} ${message}`)
  }
  return texts
}

for (const [what, behaviour, within] of [
  ['that exits at its start', { exitsAfterUs: 0.4 * SECOND_US }, 25],
  ['that is healthy for some seconds each time', { healthyAfterUs: 2 * SECOND_US, exitsAfterUs: 12 * SECOND_US }, 60],
] as const) {
  t.test(`a kubelet ${what}`, async (t) => {
    const texts = await shown(behaviour, 300)
    const first = texts.findIndex((text) => text.startsWith('True'))
    t.ok(first >= 0 && first < within, `said after ${first} s`)
    t.same([...new Set(texts.slice(first))], ['True kubelet exits again and again with local'])
  })
}
