// SPDX-License-Identifier: Apache-2.0
/**
 * The watches that a simulated agent holds open: of its config, and of the record while it follows
 * that.
 */
import type { Client, FleetApi } from './fleet-api.ts'
import type { Seen } from './sightings.ts'

export class Watches {
  readonly #client: Client
  readonly #api: FleetApi
  readonly #changed: () => void
  #watched: { readonly config: string; readonly record: string | undefined } | undefined

  constructor(client: Client, api: FleetApi, changed: () => void) {
    this.#client = client
    this.#api = api
    this.#changed = changed
  }

  /** @param seen what was read: a watch goes on from its version */
  open(config: string, record: string | undefined, seen: Seen | undefined): void {
    const before = this.#watched
    if (before?.config === config && before.record === record) return
    if (before?.record !== undefined && before.record !== record) this.#api.unwatch(this.#client, before.record)
    if (before?.config !== config) this.#api.watch(this.#client, config, seen?.config.resourceVersion, this.#changed)
    if (record !== undefined && before?.record !== record)
      this.#api.watch(this.#client, record, seen?.record?.resourceVersion, this.#changed)
    this.#watched = { config, record }
  }

  close(): void {
    if (this.#watched === undefined) return
    this.#api.unwatch(this.#client, this.#watched.config)
    if (this.#watched.record !== undefined) this.#api.unwatch(this.#client, this.#watched.record)
    this.#watched = undefined
  }
}
