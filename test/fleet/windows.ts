// SPDX-License-Identifier: Apache-2.0
/**
 * The time in a simulated fleet, and plans with zones, a rest and windows. Weeks in which the clocks
 * of a time zone change are among them.
 */

import type { Plan } from '../../src/rollout/plan.ts'
import { readTimeZone } from '../../src/rollout/time-zone.ts'
import type { RolloutTime } from '../../src/rollout/view.ts'
import { DAY_MS, utcOffsets, windowAt, type ZoneOffsets } from '../../src/rollout/windows.ts'
import type { Random } from '../sim/random.ts'
import type { FleetEvent, Schedule } from './schedule.ts'
import { Violation } from './violation.ts'
import { putIntoZones, randomZones } from './zones.ts'

const TIME_ZONE = 'Europe/Berlin'
/** On the days before clocks change, and at noon of a Monday. */
const BEGINNINGS = [Date.UTC(2027, 2, 27, 12), Date.UTC(2026, 9, 24, 12), Date.UTC(2026, 10, 30, 11)] as const
const WINDOWS = [
  'Mon-Sun 22:00-05:00',
  'Mon-Fri 22:00-05:00, Sat-Sun 00:00-24:00',
  'Mon-Sun 02:00-03:00',
  'Mon-Sun 01:30-02:30, Mon-Sun 12:00-14:00',
  'Mon-Sun 23:30-01:00',
] as const
/** A short window every day lets a rollout come to its end, whatever happened before. */
const NIGHTS_SECONDS = 9 * 24 * 3600

export interface Clock {
  /** When the schedule begins. */
  readonly startMs: number
}

const OFFSETS = new Map<number, ZoneOffsets>()

function offsetsOf({ startMs }: Clock): ZoneOffsets {
  const known = OFFSETS.get(startMs) ?? readTimeZone(TIME_ZONE, startMs - 10 * DAY_MS, startMs + 60 * DAY_MS)
  if (known === undefined) throw new Error(`there is no time zone ${TIME_ZONE}`)
  OFFSETS.set(startMs, known)
  return known
}

export function timeAt(clock: Clock, nowUs: number): RolloutTime {
  return { nowMs: clock.startMs + nowUs / 1000, zone: { ok: true, offsets: offsetsOf(clock) } }
}

/**
 * Some schedules have zones, a rest or windows, also in the plans that come later. Has random
 * numbers of its own, so all else in a seed stays as it was.
 */
export function withZonesAndWindows(schedule: Schedule, random: Random): Schedule {
  if (random.chance(0.6)) return schedule
  const [hasZones, hasRest, hasWindows] = [random.chance(0.6), random.chance(0.3), random.chance(0.5)]
  const more = () => [
    hasZones && random.chance(0.8) ? randomZones(random) : '',
    hasRest && random.chance(0.8) ? `rest: ${random.pick(['1m', '10m', '30m'])}` : '',
    hasWindows && random.chance(0.8) ? `windows: [${random.pick(WINDOWS)}]\ntimeZone: ${random.pick(['UTC', TIME_ZONE])}` : '',
    hasWindows && random.chance(0.2) ? `spread: ${random.pick(['1h', '6h'])}` : '',
  ]
  const extend = (text: string | undefined): string => {
    const lines = (text ?? '').split('\n')
    const added = more().filter((line) => line !== '' && !(line.startsWith('spread') && lines.some((one) => one.startsWith('spread'))))
    return [...lines, ...added].filter((line) => line !== '').join('\n')
  }
  const change = (event: FleetEvent): FleetEvent => {
    if (event.kind === 'plan') return { ...event, text: extend(event.text) }
    return event.kind === 'join' ? { ...event, node: putIntoZones([event.node], random)[0] ?? event.node } : event
  }
  return {
    ...schedule,
    clock: { startMs: random.pick(BEGINNINGS) },
    nodes: hasZones ? putIntoZones(schedule.nodes, random) : schedule.nodes,
    configs: schedule.configs.map((config) => ({ ...config, planText: extend(config.planText) })),
    events: schedule.events.map(({ atSeconds, event }) => ({ atSeconds, event: change(event) })),
    restSeconds: schedule.restSeconds + (hasWindows ? NIGHTS_SECONDS : 0),
  }
}

/** @param leewayUs how long ago what starts or claims may have read the time */
export function checkWindow({ windows, timeZone }: Plan, clock: Clock, nowUs: number, leewayUs: number, who: string): void {
  const isOpenAt = (atUs: number) => {
    const { nowMs } = timeAt(clock, atUs)
    return windowAt(windows, timeZone === TIME_ZONE ? offsetsOf(clock) : utcOffsets(nowMs), nowMs).kind === 'open'
  }
  if (windows.length === 0 || isOpenAt(nowUs) || isOpenAt(nowUs - leewayUs)) return
  throw new Violation(
    'nobody starts and nobody claims while the windows are closed',
    `${who} at ${new Date(timeAt(clock, nowUs).nowMs).toISOString()}`,
  )
}
