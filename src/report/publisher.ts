/**
 * Publishes to the API server what the agent reports: the Node's status and events, each in a lane of its own, so that one that waits
 * does not hold up the other and neither holds up the loop. Without an API server (a directory of manifests) nobody makes one.
 */
import { EventWork, type EventWorkOptions } from './event-work.ts'
import { Lane, type Sleep } from './lane.ts'
import type { ConfigStatus } from './status.ts'
import { StatusWork } from './status-work.ts'

export interface PublisherOptions extends EventWorkOptions {
  readonly sleep: Sleep
}

export class Publisher {
  readonly #sleep: Sleep
  readonly #statusWork: StatusWork
  readonly #eventWork: EventWork
  readonly #statusLane: Lane
  readonly #eventLane: Lane
  #appended = false

  constructor(options: PublisherOptions) {
    this.#sleep = options.sleep
    this.#statusWork = new StatusWork(options)
    this.#eventWork = new EventWork(options)
    this.#statusLane = new Lane(this.#statusWork, options.sleep, options.log)
    this.#eventLane = new Lane(this.#eventWork, options.sleep, options.log)
  }

  start(): void {
    this.#statusLane.start()
    this.#eventLane.start()
  }

  /** Whenever the loop comes to rest; what has not changed costs nothing. */
  publish(status: ConfigStatus): void {
    this.#statusWork.want(status)
    this.#statusLane.ring()
    if (this.#appended) this.#eventLane.ring()
    this.#appended = false
  }

  /** For the source of assignments, with each Node it sees: corrects drift without a request of its own. */
  nodeObserved(uid: string, status: { readonly config: unknown } | undefined): void {
    this.#statusWork.observe(uid, status)
    this.#statusLane.ring()
  }

  /** For the history's `onAppend`. Its event goes out when the loop comes to rest, and not between two steps: kubelet comes first. */
  historyAppended(): void {
    this.#eventWork.refresh()
    this.#appended = true
  }

  /** Sends what is due, for at most so long; the rest is on disk and goes out after the next start. */
  async stop(limitMs = 1000): Promise<void> {
    const limit = new AbortController()
    await Promise.race([Promise.all([this.#statusLane.stop(), this.#eventLane.stop()]), this.#sleep(limitMs, limit.signal)])
    limit.abort()
  }
}
