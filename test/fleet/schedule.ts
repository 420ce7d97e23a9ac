// SPDX-License-Identifier: Apache-2.0
/**
 * The schedule of a simulated fleet, as data: the nodes, the faults, and the events with their
 * times.
 */
import type { Content } from './content.ts'
import type { ApiFaults } from './fleet-api.ts'
import type { Traits } from './fleet-node.ts'
import type { Clock } from './windows.ts'

export type Lie = 'false-proof' | 'claim-and-hang' | 'claim-as-control-plane' | 'veto' | 'false-begin' | 'garbage'

export type FleetEvent =
  | { readonly kind: 'edit'; readonly config: string; readonly content: Content }
  | { readonly kind: 'plan'; readonly config: string; readonly text: string | undefined }
  | { readonly kind: 'retry'; readonly config: string }
  /** The windows do not count for the content with this hash. */
  | { readonly kind: 'now'; readonly config: string; readonly hash: string }
  | { readonly kind: 'pause' | 'resume'; readonly config: string }
  | { readonly kind: 'delete-record' | 'make-record' | 'garble-record'; readonly config: string }
  | { readonly kind: 'annotation'; readonly config: string; readonly value: 'name' | 'off' | 'none' }
  | { readonly kind: 'api-down'; readonly forSeconds: number }
  | { readonly kind: 'backup' | 'restore' }
  | { readonly kind: 'die' | 'reboot' | 'leave' | 'reimage'; readonly node: number }
  | { readonly kind: 'sleep' | 'partition' | 'agent-down' | 'not-ready' | 'blind'; readonly node: number; readonly forSeconds: number }
  | { readonly kind: 'join'; readonly node: PlacedNode }
  | { readonly kind: 'assign'; readonly nodes: readonly number[]; readonly config: string }
  | { readonly kind: 'lie'; readonly node: number; readonly lie: Lie }
  /** An administrator excludes a node from the rollouts of a config. */
  | { readonly kind: 'exclude' | 'include'; readonly config: string; readonly name: string }
  /** An administrator excludes all nodes of a config that are gone for good, as the docs advise. */
  | { readonly kind: 'exclude-gone'; readonly config: string }
  | Vanish
  | Guard
  /** The API server answers this share of the requests with 429 and Retry-After. */
  | { readonly kind: 'overload'; readonly forSeconds: number; readonly share: number; readonly retryAfterSeconds: number }

/** So many nodes of a config are gone for good, drawn from its `seed` when it happens. */
export interface Vanish {
  readonly kind: 'vanish'
  readonly config: string
  /** Those that have started what the config holds, those that have not, or all. */
  readonly of: 'started' | 'waiting' | 'any'
  readonly count: number
  /** The machine is off, somebody deletes the Node too, or an autoscaler cordons and deletes it. */
  readonly how: 'dead' | 'deleted' | 'scaled-down'
  readonly seed: number
}

/** An administrator watches the Nodes beside the rollouts of a config, and halts one that hurts. */
export interface Guard {
  readonly kind: 'guard'
  readonly config: string
  /** As `--halt-if-not-ready` takes it. */
  readonly limit: string
  readonly everySeconds: number
  readonly forSeconds: number
}

export interface PlacedNode {
  readonly traits: Traits
  /** undefined: nothing is assigned to it. */
  readonly config: string | undefined
}

export interface Schedule {
  readonly seed: number
  readonly nodes: readonly PlacedNode[]
  readonly configs: readonly { readonly name: string; readonly content: Content; readonly planText: string | undefined }[]
  /** Nodes run the first content when it begins. */
  readonly settled: boolean
  readonly faults: ApiFaults
  /** Of the starts that fail whatever they start. */
  readonly backgroundFailures: number
  /** The API server has the admission policy. */
  readonly policy: boolean
  readonly events: readonly { readonly atSeconds: number; readonly event: FleetEvent }[]
  /** undefined: no plan has windows. */
  readonly clock?: Clock | undefined
  /** How long the world runs on after the last event, when all that can be healed is. */
  readonly restSeconds: number
}

const CALM: readonly FleetEvent['kind'][] = ['edit', 'exclude', 'include', 'exclude-gone', 'vanish', 'guard', 'now']

/** Requests are quick and get through, and nothing but a death keeps an agent from its work. */
export function isCalm({ events, faults }: Schedule): boolean {
  return faults.lost === 0 && faults.latencyUs[1] <= 150_000 && events.every(({ event }) => CALM.includes(event.kind))
}

export function recordName(config: string): string {
  return `${config}-rollout`
}
