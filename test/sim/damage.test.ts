// SPDX-License-Identifier: Apache-2.0
/**
 * The record of the assignment is damaged while the API server is down. The node must settle where
 * it settles without the damage (invariants 4, 6 and 7).
 */
import t from 'tap'
import { runSchedule } from './run.ts'
import type { Timed, WorldEvent } from './schedule.ts'

function after(afterSeconds: number, event: WorldEvent): Timed {
  return { afterSeconds, event }
}

const edit = (afterSeconds: number, behaviour: 'good' | 'never-healthy') => after(afterSeconds, { kind: 'edit', name: 'red', behaviour })
const assign = [edit(0, 'good'), after(1, { kind: 'assign', name: 'red' })]
/** The agent restarts while the API server is down: it knows the assignment only from the disk. */
const restartOffline = (afterSeconds: number) => [
  after(afterSeconds, { kind: 'api-down', seconds: 5000 }),
  after(1, { kind: 'restart-agent', afterSeconds: 5 }),
]
const fault = (afterSeconds: number, seconds: number) => after(afterSeconds, { kind: 'node-fault', seconds })

/** The events before the damage and after it. */
const STORIES: Readonly<Record<string, readonly [readonly Timed[], readonly Timed[]]>> = {
  'then the node fails for a short time': [[...assign, edit(1000, 'good'), ...restartOffline(300)], [fault(8, 100)]],
  'then the node fails for so long that every config fails': [[...assign, edit(1000, 'good'), ...restartOffline(300)], [fault(8, 1500)]],
  'after every config has failed': [[...assign, edit(1000, 'good'), fault(60, 600), ...restartOffline(300)], []],
  'while a config fails and the restarts of this hour are used up': [
    [...assign, ...Array.from({ length: 4 }, () => edit(60, 'good')), edit(60, 'never-healthy'), ...restartOffline(36)],
    [],
  ],
}

for (const [story, [before, later]] of Object.entries(STORIES)) {
  t.test(story, async (t) => {
    const settle = async (...damage: readonly Timed[]) => {
      const { operations: _count, ...settled } = await runSchedule({ seed: 5, events: [...before, ...damage, ...later] })
      return settled
    }
    t.same(await settle(after(1, { kind: 'damage-assigned' })), await settle())
  })
}
