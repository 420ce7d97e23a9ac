/**
 * Publishes to the API server what the agent reports: the Node's `status.config`, its condition, its annotation, and events, each in a lane of its own, so
 * that one that waits or is refused does not hold up another and none holds up the loop. Without an API server (a directory of manifests) nobody
 * makes one.
 */
import { annotationWork, readStatusAnnotation } from './annotation-work.ts'
import type { Condition } from './condition.ts'
import { conditionWork, readCondition, type SeenCondition } from './condition-work.ts'
import { EventWork, type EventWorkOptions } from './event-work.ts'
import type { FieldWork } from './field-work.ts'
import { Lane, type Sleep } from './lane.ts'
import { readNodeConfig } from './node-config.ts'
import type { Publication } from './publications.ts'
import type { ConfigStatus } from './status.ts'
import { statusWork } from './status-work.ts'

export interface PublisherOptions extends EventWorkOptions {
  readonly sleep: Sleep
  /** What of the Node is written. It may change at any time. Default: all. */
  readonly publications?: () => readonly Publication[]
}

/** What the Node says of the agent besides `status.config`. */
export interface Standing {
  readonly condition: Condition
  readonly annotation: string
}

export class Publisher {
  readonly #sleep: Sleep
  readonly #statusWork: FieldWork<ConfigStatus>
  readonly #conditionWork: FieldWork<Condition, SeenCondition>
  readonly #annotationWork: FieldWork<string | null, string>
  readonly #eventWork: EventWork
  readonly #fieldLanes: readonly Lane[]
  readonly #eventLane: Lane
  #appended = false

  constructor(options: PublisherOptions) {
    const { sleep, log, publications } = options
    this.#sleep = sleep
    const isOn = (publication: Publication) => () => publications === undefined || publications().includes(publication)
    this.#statusWork = statusWork(options, isOn('config'))
    this.#conditionWork = conditionWork(options, isOn('condition'))
    this.#annotationWork = annotationWork(options, isOn('annotation'))
    this.#eventWork = new EventWork(options)
    this.#fieldLanes = [this.#statusWork, this.#conditionWork, this.#annotationWork].map((work) => new Lane(work, sleep, log))
    this.#eventLane = new Lane(this.#eventWork, sleep, log)
  }

  start(): void {
    for (const lane of this.#fieldLanes) lane.start()
    this.#eventLane.start()
  }

  /** Whenever the loop comes to rest; what has not changed costs nothing. `standing`: undefined where it is not known well enough yet. */
  publish(status: ConfigStatus, standing?: Standing): void {
    this.#statusWork.want(status)
    if (standing !== undefined) {
      this.#conditionWork.want(standing.condition)
      this.#annotationWork.want(standing.annotation)
    }
    this.#ringFields()
    if (this.#appended) this.#eventLane.ring()
    this.#appended = false
  }

  /** Where nothing but this can be said: the rest stands as it was published last. */
  publishCondition(condition: Condition): void {
    this.#conditionWork.want(condition)
    this.#ringFields()
  }

  /** For the source of assignments, with each Node it sees: corrects drift without a request of its own. */
  nodeObserved(uid: string, node: unknown, form: 'whole' | 'metadata'): void {
    const isWhole = form === 'whole'
    this.#statusWork.observe(uid, isWhole ? readNodeConfig(node) : undefined)
    this.#conditionWork.observe(uid, isWhole ? readCondition(node) : undefined)
    this.#annotationWork.observe(uid, readStatusAnnotation(node))
    this.#ringFields()
  }

  /** For the history's `onAppend`. Its event goes out when the loop comes to rest, and not between two steps: kubelet comes first. */
  historyAppended(): void {
    this.#eventWork.refresh()
    this.#appended = true
  }

  /** Sends what is due, for at most so long; the rest is on disk and goes out after the next start. */
  async stop(limitMs = 1000): Promise<void> {
    const limit = new AbortController()
    const lanes = [...this.#fieldLanes, this.#eventLane]
    await Promise.race([Promise.all(lanes.map((lane) => lane.stop())), this.#sleep(limitMs, limit.signal)])
    limit.abort()
  }

  #ringFields(): void {
    for (const lane of this.#fieldLanes) lane.ring()
  }
}
