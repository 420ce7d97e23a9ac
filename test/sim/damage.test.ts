/** A record of the assignment that is damaged while nobody can be asked changes nothing of where the node settles (invariants 4, 6 and 7). */
import t from 'tap'
import { runSchedule } from './run.ts'
import type { Timed, WorldEvent } from './schedule.ts'

function after(afterSeconds: number, event: WorldEvent): Timed {
  return { afterSeconds, event }
}

const edit = (afterSeconds: number, behaviour: 'good' | 'never-healthy') => after(afterSeconds, { kind: 'edit', name: 'red', behaviour })
const assign = [edit(0, 'good'), after(1, { kind: 'assign', name: 'red' })]
/** The agent comes back without the API server, and so knows of the assignment only what is on disk. */
const alone = (afterSeconds: number) => [
  after(afterSeconds, { kind: 'api-down', seconds: 5000 }),
  after(1, { kind: 'restart-agent', afterSeconds: 5 }),
]
const fault = (afterSeconds: number, seconds: number) => after(afterSeconds, { kind: 'node-fault', seconds })

/** What happens before the damage, and after it. */
const STORIES: Readonly<Record<string, readonly [readonly Timed[], readonly Timed[]]>> = {
  'then the node fails for a while': [[...assign, edit(1000, 'good'), ...alone(300)], [fault(8, 100)]],
  'then it fails for long, and every config with it': [[...assign, edit(1000, 'good'), ...alone(300)], [fault(8, 1500)]],
  'while every config has failed': [[...assign, edit(1000, 'good'), fault(60, 600), ...alone(300)], []],
  'while a config fails and the hour’s restarts are spent': [
    [...assign, ...Array.from({ length: 4 }, () => edit(60, 'good')), edit(60, 'never-healthy'), ...alone(36)],
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
