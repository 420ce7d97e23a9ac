// SPDX-License-Identifier: Apache-2.0
/**
 * The API server of a simulated fleet: ConfigMaps with a resourceVersion, reads at the newest,
 * merge patches that are compared and swapped, and watches. Requests take time, get lost before or
 * after they took effect, are refused while it is overloaded, and fail while it is down. Restoring
 * a backup takes objects and resourceVersions back, as a restore of etcd does.
 */
import type { Random } from '../sim/random.ts'
import type { Content } from './content.ts'
import type { EventQueue } from './event-queue.ts'

export interface ConfigObject {
  readonly kind: 'config'
  readonly uid: string
  readonly resourceVersion: string
  readonly content: Content
  /** The annotation: the record's name, `off`, or none. */
  readonly rollout: string | undefined
  readonly planText: string | undefined
  /** The names in the annotation: an administrator trusts these nodes with no rollout any more. */
  readonly excluded: readonly string[]
  readonly paused: boolean
}

export interface RecordObject {
  readonly kind: 'record'
  readonly uid: string
  readonly resourceVersion: string
  readonly data: Readonly<Record<string, string>>
}

type Stored = ConfigObject | RecordObject
/** `retryAfterUs`: 0 where the API server did not ask for a pause. */
interface Failed {
  readonly kind: 'failed'
  readonly retryAfterUs: number
}
export type Answer = { readonly kind: 'found'; readonly object: Stored } | { readonly kind: 'missing' } | Failed
type PatchAnswer = { readonly kind: 'done' | 'conflict' | 'refused' | 'missing' } | Failed

const LOST: Failed = { kind: 'failed', retryAfterUs: 0 }

/** Who asks: answers come only while it is connected, and to the run of the agent that asked. */
export interface Client {
  readonly name: string
  connected(): boolean
}

export interface ApiFaults {
  /** Of requests and answers. */
  readonly lost: number
  readonly latencyUs: readonly [least: number, most: number]
}

/** The share of the requests that the API server refuses with 429, and for how long it says. */
interface Overload {
  readonly share: number
  readonly retryAfterUs: number
}

interface ApiCounts {
  reads: number
  writes: number
  conflicts: number
  refused: number
  tooMany: number
  watchBytes: number
  deliveries: number
  largest: number
}

type WriteObserver = (
  name: string,
  before: RecordObject,
  after: RecordObject,
  writer: string,
  data: Readonly<Record<string, string | null>>,
) => void

export class FleetApi {
  readonly #queue: EventQueue
  readonly #random: Random
  readonly #faults: ApiFaults
  readonly #objects = new Map<string, Stored>()
  readonly #watchers = new Map<string, Map<Client, () => void>>()
  #version = 100
  up = true
  overload: Overload | undefined
  /** Of its own, so that a world without an overload draws what it always drew. */
  readonly #overloadRandom: Random
  /** Refuses a write as an admission policy does. */
  admit: (name: string, before: RecordObject, after: RecordObject, writer: string) => string | undefined = () => undefined
  onWrite: WriteObserver = () => undefined
  readonly counts: ApiCounts = { reads: 0, writes: 0, conflicts: 0, refused: 0, tooMany: 0, watchBytes: 0, deliveries: 0, largest: 0 }

  constructor(queue: EventQueue, random: Random, faults: ApiFaults, overloadRandom: Random) {
    this.#queue = queue
    this.#random = random
    this.#faults = faults
    this.#overloadRandom = overloadRandom
  }

  /** As it is, for those that look at the world from outside. */
  peek(name: string): Stored | undefined {
    return this.#objects.get(name)
  }

  /** By an administrator. */
  put(name: string, make: (resourceVersion: string, before: Stored | undefined) => Stored): void {
    this.#version += 1
    this.#objects.set(name, make(String(this.#version), this.#objects.get(name)))
    this.#notify(name)
  }

  delete(name: string): void {
    this.#version += 1
    this.#objects.delete(name)
    this.#notify(name)
  }

  backup(): () => void {
    const objects = new Map(this.#objects)
    const version = this.#version
    return () => {
      this.#objects.clear()
      for (const [name, object] of objects) this.#objects.set(name, { ...object })
      this.#version = version
      for (const name of this.#watchers.keys()) this.#notify(name)
    }
  }

  get(client: Client, name: string, answer: (answer: Answer) => void): void {
    this.#request(
      client,
      (lost) => {
        this.counts.reads += 1
        const object = this.#objects.get(name)
        const found: Answer = object === undefined ? { kind: 'missing' } : { kind: 'found', object }
        return () => answer(lost ? LOST : found)
      },
      answer,
    )
  }

  patch(
    client: Client,
    name: string,
    resourceVersion: string,
    data: Readonly<Record<string, string | null>>,
    answer: (answer: PatchAnswer) => void,
  ): void {
    this.#request(
      client,
      (lost) => {
        const outcome = this.#apply(client.name, name, resourceVersion, data)
        return () => answer(lost ? LOST : { kind: outcome })
      },
      answer,
    )
  }

  #apply(
    writer: string,
    name: string,
    resourceVersion: string,
    data: Readonly<Record<string, string | null>>,
  ): Exclude<PatchAnswer['kind'], 'failed'> {
    const before = this.#objects.get(name)
    if (before?.kind !== 'record') return 'missing'
    if (before.resourceVersion !== resourceVersion) {
      this.counts.conflicts += 1
      return 'conflict'
    }
    const merged = new Map(Object.entries(before.data))
    for (const [key, value] of Object.entries(data)) {
      if (value === null) merged.delete(key)
      else merged.set(key, value)
    }
    const after: RecordObject = { ...before, resourceVersion: String(this.#version + 1), data: Object.fromEntries(merged) }
    if (this.admit(name, before, after, writer) !== undefined) {
      this.counts.refused += 1
      return 'refused'
    }
    this.onWrite(name, before, after, writer, data)
    this.#version += 1
    this.counts.writes += 1
    this.counts.largest = Math.max(this.counts.largest, sizeOf(after))
    this.#objects.set(name, after)
    this.#notify(name)
    return 'done'
  }

  /** @param resourceVersion from which on: what has changed since is told at once */
  watch(client: Client, name: string, resourceVersion: string | undefined, changed: () => void): void {
    const watchers = this.#watchers.get(name) ?? new Map<Client, () => void>()
    this.#watchers.set(name, watchers.set(client, changed))
    if (this.#objects.get(name)?.resourceVersion === resourceVersion) return
    this.#queue.after(this.latencyUs(), () => {
      if (this.up && client.connected()) changed()
    })
  }

  unwatch(client: Client, name: string): void {
    this.#watchers.get(name)?.delete(client)
  }

  watchersOf(name: string): number {
    return this.#watchers.get(name)?.size ?? 0
  }

  latencyUs(): number {
    const [least, most] = this.#faults.latencyUs
    return this.#random.between(least, most)
  }

  #request(client: Client, serve: (lost: boolean) => () => void, failed: (answer: Failed) => void): void {
    const lostBefore = this.#random.chance(this.#faults.lost)
    const lostAfter = this.#random.chance(this.#faults.lost)
    const giveUp = () => this.#queue.after(5_000_000, () => failed(LOST))
    this.#queue.after(this.latencyUs(), () => {
      if (!this.up || lostBefore || !client.connected()) return giveUp()
      const refused = this.#refusedBy(this.overload)
      if (refused !== undefined) return this.#queue.after(this.latencyUs(), () => failed(refused))
      const answer = serve(lostAfter)
      this.#queue.after(this.latencyUs() + (lostAfter ? 5_000_000 : 0), () => (client.connected() ? answer() : giveUp()))
    })
  }

  #refusedBy(overload: Overload | undefined): Failed | undefined {
    if (overload === undefined || !this.#overloadRandom.chance(overload.share)) return undefined
    this.counts.tooMany += 1
    return { kind: 'failed', retryAfterUs: overload.retryAfterUs }
  }

  #notify(name: string): void {
    const watchers = this.#watchers.get(name)
    if (watchers === undefined) return
    const object = this.#objects.get(name)
    const bytes = object?.kind === 'record' ? sizeOf(object) : 0
    for (const [client, changed] of watchers) {
      this.counts.watchBytes += bytes
      this.counts.deliveries += 1
      this.#queue.after(this.latencyUs(), () => {
        if (this.up && client.connected()) changed()
      })
    }
  }
}

/** About 600 bytes of metadata, and the data. */
function sizeOf({ data }: RecordObject): number {
  let bytes = 600
  for (const [key, value] of Object.entries(data)) bytes += key.length + value.length
  return bytes
}
