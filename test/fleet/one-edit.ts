// SPDX-License-Identifier: Apache-2.0
/**
 * One edit on a fleet in which nothing else happens, and what comes of it: for the figures in the
 * docs.
 */
import { MINUTE_US, SECOND_US } from '../../src/values/durations.ts'
import { contentOf, type Nature } from './content.ts'
import { checkEnd } from './end-invariants.ts'
import type { Traits } from './fleet-node.ts'
import { FleetWorld, type Trace } from './fleet-world.ts'
import type { Started } from './ledger.ts'
import type { FleetEvent, PlacedNode, Schedule } from './schedule.ts'

export interface OneEdit {
  readonly seed: number
  readonly nodes: number
  readonly controlPlanes?: number
  /** Whether all nodes have the label of canaries. */
  readonly canaries?: boolean
  /** The share of the nodes that is dead all the time. */
  readonly dead?: number
  readonly nature: Nature
  /** Of the content, as nodes find it. Default: any. */
  readonly hash?: string
  readonly planText?: string
  readonly backgroundFailures?: number
  readonly lost?: number
  /** By the number of the node. */
  readonly zoneOf?: (index: number) => string | undefined
  /** When the schedule begins, which is a minute before the edit. */
  readonly startMs?: number
  readonly restHours?: number
  /** More that happens. */
  readonly events?: Schedule['events']
}

export interface Outcome {
  readonly started: number
  readonly failed: number
  /** Nodes that run the content in the end. */
  readonly reached: number
  /** From the edit to the last start. */
  readonly minutes: number
  readonly writes: number
  readonly conflicts: number
  /** Requests that were answered with 429. */
  readonly tooMany: number
  readonly reads: number
  readonly watchBytes: number
  readonly recordBytes: number
  readonly isHalted: boolean
  /** In their order. */
  readonly starts: readonly { readonly node: string; readonly minutes: number; readonly by: Started['by'] }[]
}

const EDIT_SECONDS = 60
const CONFIG = 'node-config'

export function runOneEdit(edit: OneEdit, trace?: Trace): Outcome {
  const made = contentOf(`${edit.seed} edited`, edit.nature)
  const content = { ...made, hash: edit.hash ?? made.hash }
  const nodes = Array.from({ length: edit.nodes }, (_, index) => place(edit, index))
  const deadCount = Math.round((edit.dead ?? 0) * edit.nodes)
  const deaths = Array.from({ length: deadCount }, (_, index): { atSeconds: number; event: FleetEvent } => ({
    atSeconds: 1,
    event: { kind: 'die', node: edit.nodes - 1 - index },
  }))
  const schedule: Schedule = {
    seed: edit.seed,
    nodes,
    configs: [{ name: CONFIG, content: contentOf(`${edit.seed} first`, { kind: 'good' }), planText: edit.planText }],
    settled: true,
    faults: { lost: edit.lost ?? 0, latencyUs: [10_000, 150_000] },
    backgroundFailures: edit.backgroundFailures ?? 0,
    policy: true,
    events: [...deaths, { atSeconds: EDIT_SECONDS, event: { kind: 'edit', config: CONFIG, content } }, ...(edit.events ?? [])],
    ...(edit.startMs !== undefined && { clock: { startMs: edit.startMs } }),
    restSeconds: (edit.restHours ?? 16) * 3600,
  }
  const world = new FleetWorld(schedule, trace)
  checkEnd(world.run())
  return outcomeOf(world, content.hash)
}

function place({ seed, controlPlanes = 0, canaries = false, zoneOf }: OneEdit, index: number): PlacedNode {
  return {
    traits: { ...plainTraits(index, seed), canary: canaries, controlPlane: index < controlPlanes, zone: zoneOf?.(index) },
    config: CONFIG,
  }
}

export function plainTraits(index: number, seed = 1): Traits {
  return {
    name: `node-${String(index).padStart(5, '0')}.eu-central-1.example`,
    uid: `uid-${seed}-${index}`,
    canary: false,
    controlPlane: false,
    old: false,
    slowness: 1,
    liar: false,
    joined: false,
  }
}

function outcomeOf(world: FleetWorld, hash: string): Outcome {
  const { counts } = world.api
  const starts = world.ledger.starts.get(hash) ?? []
  const state = world.record(CONFIG).data
  const dead = new Set(world.agents.filter(({ node }) => !node.isUp).map(({ name }) => name))
  return {
    started: starts.length,
    failed: world.agents.filter(({ node }) => node.verdicts.has(hash)).length + starts.filter(({ node }) => dead.has(node)).length,
    reached: world.agents.filter(({ node }) => node.isUp && node.runs.hash === hash).length,
    minutes: (Math.max(0, ...starts.map(({ atUs }) => atUs)) - EDIT_SECONDS * SECOND_US) / MINUTE_US,
    writes: counts.writes,
    conflicts: counts.conflicts,
    tooMany: counts.tooMany,
    reads: counts.reads,
    watchBytes: counts.watchBytes,
    recordBytes: counts.largest,
    starts: starts.map(({ node, atUs, by }) => ({ node, by, minutes: (atUs - EDIT_SECONDS * SECOND_US) / MINUTE_US })),
    isHalted: Object.values(state).some((value) => value.split(' ')[2] === 'veto') && isLeftOut(world, starts),
  }
}

/** A node that could start it has not. */
function isLeftOut(world: FleetWorld, starts: readonly Started[]): boolean {
  const started = new Set(starts.map(({ node }) => node))
  return world.agents.some(({ name, node }) => node.isUp && !started.has(name))
}
