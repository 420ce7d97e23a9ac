// SPDX-License-Identifier: Apache-2.0
/**
 * The time in a simulated fleet, and plans with zones, a rest and windows. Weeks in which the
 * clocks of a time zone change are among them.
 */

import { readTimeZone } from '../../src/rollout/time-zone.ts'
import type { RolloutTime } from '../../src/rollout/view.ts'
import { DAY_MS } from '../../src/rollout/windows.ts'
import type { Random } from '../sim/random.ts'
import type { ConfigObject } from './fleet-api.ts'
import type { FleetEvent, Schedule } from './schedule.ts'
import { Violation } from './violation.ts'
import { isOpen, TIME_ZONES } from './wall-clock.ts'
import { putIntoZones, randomZones } from './zones.ts'

/** On the days before the clocks of one of the time zones change, and at noon of a Monday. */
const BEGINNINGS = [
  Date.UTC(2027, 2, 27, 12),
  Date.UTC(2026, 9, 24, 12),
  Date.UTC(2027, 2, 13, 12),
  Date.UTC(2026, 9, 31, 12),
  Date.UTC(2027, 3, 2, 23),
  Date.UTC(2026, 9, 2, 23),
  Date.UTC(2026, 10, 30, 11),
] as const
const WINDOWS = [
  'Mon-Sun 22:00-05:00',
  'Mon-Fri 22:00-05:00, Sat-Sun 00:00-24:00',
  'Mon-Sun 02:00-03:00',
  'Mon-Sun 01:30-02:30, Mon-Sun 12:00-14:00',
  'Mon-Sun 23:30-01:00',
  'Sat-Mon 00:00-24:00, Tue-Fri 00:00-00:30',
] as const
/** A short window every day lets a rollout come to its end, whatever happened before. */
const NIGHTS_SECONDS = 9 * 24 * 3600

export interface Clock {
  /** When the schedule begins. */
  readonly startMs: number
}

const ANSWERS = new Map<string, RolloutTime['zone']>()

/** @param timeZone of the plan, for which the agent asked its helper */
export function timeAt({ startMs }: Clock, timeZone: string, nowUs: number): RolloutTime {
  const key = `${startMs} ${timeZone}`
  if (!ANSWERS.has(key)) {
    const offsets = readTimeZone(timeZone, startMs - 10 * DAY_MS, startMs + 60 * DAY_MS)
    ANSWERS.set(key, offsets === undefined ? { ok: false, timeZone, detail: 'there is no such time zone' } : { ok: true, offsets })
  }
  return { nowMs: startMs + nowUs / 1000, zone: ANSWERS.get(key) }
}

/**
 * Some schedules have zones, a rest or windows, also in the plans that come later. Has random
 * numbers of its own, so all else in a seed stays as it was.
 */
export function withZonesAndWindows(schedule: Schedule, random: Random): Schedule {
  if (random.chance(0.6)) return schedule
  const [hasZones, hasRest, hasWindows] = [random.chance(0.6), random.chance(0.3), random.chance(0.5)]
  // In a small fleet nearly all nodes are witnesses, and few start by their place.
  const isLarge = random.chance(0.4)
  const nodes = isLarge ? [...schedule.nodes, ...moreNodes(schedule, random)] : schedule.nodes
  const more = () => [
    isLarge ? `witnesses: ${random.between(1, 3)}` : '',
    hasZones && random.chance(0.8) ? randomZones(random) : '',
    hasRest && random.chance(0.8) ? `rest: ${random.pick(['1m', '10m', '30m'])}` : '',
    hasWindows && random.chance(0.8) ? `windows: [${random.pick(WINDOWS)}]\ntimeZone: ${random.pick(TIME_ZONES)}` : '',
    hasWindows && random.chance(0.2) ? `spread: ${random.pick(['1h', '6h'])}` : '',
  ]
  const extend = (text: string | undefined): string => {
    const lines = (text ?? '').split('\n')
    const isSet = (line: string): boolean => lines.some((one) => one.split(':')[0] === line.split(':')[0])
    const added = more().filter((line) => !isSet(line))
    return [...lines, ...added].filter((line) => line !== '').join('\n')
  }
  const change = (event: FleetEvent): FleetEvent => {
    if (event.kind === 'plan') return { ...event, text: extend(event.text) }
    return event.kind === 'join' ? { ...event, node: putIntoZones([event.node], random)[0] ?? event.node } : event
  }
  const events = schedule.events.map(({ atSeconds, event }) => ({ atSeconds, event: change(event) }))
  return {
    ...schedule,
    clock: { startMs: random.pick(BEGINNINGS) },
    nodes: hasZones ? putIntoZones(nodes, random) : nodes,
    configs: schedule.configs.map((config) => ({ ...config, planText: extend(config.planText) })),
    events: hasWindows && random.chance(0.3) ? letThrough(events, random) : events,
    restSeconds: schedule.restSeconds + (hasWindows ? NIGHTS_SECONDS : 0),
  }
}

function moreNodes({ seed, configs }: Schedule, random: Random): Schedule['nodes'] {
  const config = random.chance(0.8) ? configs[0]?.name : configs.at(-1)?.name
  return Array.from({ length: random.between(20, 80) }, (_, index) => {
    const traits = { canary: random.chance(0.02), controlPlane: false, old: false, slowness: 1, liar: false, joined: false }
    return { traits: { ...traits, name: `more-${index}`, uid: `uid-${seed}-more-${index}` }, config }
  })
}

/**
 * Somebody does not want to wait for a window with one content, before it is there or afterwards.
 */
function letThrough(events: Schedule['events'], random: Random): Schedule['events'] {
  const edits = events.flatMap(({ atSeconds, event }) => (event.kind === 'edit' ? [{ atSeconds, event }] : []))
  const edit = edits[random.between(0, Math.max(1, edits.length))]
  if (edit === undefined) return events
  const { config, content } = edit.event
  const atSeconds = Math.max(1, edit.atSeconds + random.pick([-1, 1, 600, 3000]))
  const now = { atSeconds, event: { kind: 'now', config, hash: content.hash.slice(0, random.pick([12, 64])) } } as const
  return [...events, now].sort((a, b) => a.atSeconds - b.atSeconds)
}

/** @param leewayUs how long ago what started or claimed may have read the time */
export function checkWindow({ planText, content }: ConfigObject, { startMs }: Clock, nowUs: number, leewayUs: number, who: string): void {
  const now = /now: ([0-9a-f]+)/.exec(planText ?? '')?.[1]
  if (now !== undefined && content.hash.startsWith(now)) return
  const wasOpen = (us: number): boolean => isOpen(planText, startMs + us / 1000)
  if (wasOpen(nowUs) || wasOpen(nowUs - leewayUs)) return
  const at = new Date(startMs + nowUs / 1000).toISOString()
  throw new Violation('nobody starts and nobody claims while the windows are closed', `${who} at ${at}`)
}
