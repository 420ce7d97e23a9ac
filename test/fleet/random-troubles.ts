// SPDX-License-Identifier: Apache-2.0
/**
 * Troubles that come over a fleet in some schedules: nodes that vanish in a wave, nodes that turn
 * NotReady although their trials pass, exclusions, an API server that has too much to do, and a
 * guard of the Nodes. Drawn from random numbers of their own, so the other events of a seed do not
 * depend on them.
 */
import type { Random } from '../sim/random.ts'
import type { Content } from './content.ts'
import type { FleetEvent, Schedule } from './schedule.ts'

type Planned = Schedule['events'][number]

export function withTroubles(schedule: Schedule, random: Random): Schedule {
  const { nodes, configs, events } = schedule
  if (random.chance(0.4)) return schedule
  const edits = events.flatMap(({ atSeconds, event }) => (event.kind === 'edit' ? [{ atSeconds, config: event.config }] : []))
  const edit = () => edits[random.between(0, edits.length)] ?? { atSeconds: 60, config: configs[0]?.name ?? '' }
  const inWave = (atSeconds: number) => Math.round(atSeconds + random.pick([20, 300, 700, 1500, 3000, 4500]) * (0.5 + random.next()))
  const more: Planned[] = []
  const add = (atSeconds: number, event: FleetEvent) => more.push({ atSeconds, event })
  for (let left = random.pick([0, 1, 1, 2, 4]); left > 0; left -= 1) {
    const { atSeconds, config } = edit()
    const count = random.pick([1, 1, 2, Math.ceil(nodes.length / 4), nodes.length])
    add(inWave(atSeconds), {
      kind: 'vanish',
      config,
      of: random.pick(['started', 'started', 'waiting', 'any']),
      count,
      how: random.pick(['dead', 'deleted', 'scaled-down']),
      seed: random.between(0, 2 ** 31),
    })
    if (random.chance(0.3)) add(inWave(atSeconds + 3000), { kind: 'exclude-gone', config })
  }
  for (let left = random.pick([0, 0, 1, 2]); left > 0; left -= 1) {
    const forSeconds = random.pick([20, 120, 900])
    add(inWave(edit().atSeconds), {
      kind: 'overload',
      forSeconds,
      share: random.pick([0.3, 0.9, 1]),
      retryAfterSeconds: random.pick([1, 1, 5, 30]),
    })
  }
  for (let left = random.pick([0, 0, 0, 1, 3]); left > 0; left -= 1) {
    const { atSeconds, config } = edit()
    const name = nodes[random.between(0, nodes.length)]?.traits.name ?? ''
    const excludedAt = inWave(atSeconds)
    add(excludedAt, { kind: 'exclude', config, name })
    if (random.chance(0.5)) add(inWave(excludedAt), { kind: 'include', config, name })
  }
  if (random.chance(0.4)) {
    const { atSeconds, config } = edit()
    add(random.chance(0.7) ? 1 : inWave(atSeconds), {
      kind: 'guard',
      config,
      limit: random.pick(['0', '1', '2%', '20%', '60%']),
      everySeconds: random.pick([2, 10, 60, 300]),
      forSeconds: random.pick([3600, 24 * 3600]),
    })
    if (random.chance(0.5)) add(inWave(atSeconds + 2000), { kind: 'retry', config })
  }
  const all = [...events, ...more].sort((a, b) => a.atSeconds - b.atSeconds)
  return { ...schedule, events: random.chance(0.3) ? sicken(all, random) : all }
}

/** One of the contents that were good makes Nodes NotReady, wherever it is edited in. */
function sicken(events: readonly Planned[], random: Random): readonly Planned[] {
  const good = events.flatMap(({ event }) => (event.kind === 'edit' && event.content.nature.kind === 'good' ? [event.content] : []))
  const chosen = good[random.between(0, Math.max(1, good.length))]
  if (chosen === undefined) return events
  const afterUs = random.pick([60, 500, 1200]) * 1_000_000
  const sickening: Content = { ...chosen, nature: { kind: 'sickens', share: random.pick([1, 0.5, 0.1]), afterUs } }
  return events.map((planned) => {
    const { event } = planned
    return event.kind === 'edit' && event.content.hash === chosen.hash ? { ...planned, event: { ...event, content: sickening } } : planned
  })
}
