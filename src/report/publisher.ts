/**
 * Publishes the agent's reports to the API server: the Node's `status.config`, conditions,
 * annotation and label, and events. Each has a worker of its own, so one that waits or is refused
 * delays neither the others nor the loop. Not created without an API server (directory of
 * manifests).
 */
import { annotationWork, readStatusAnnotation } from './annotation-work.ts'
import type { Condition } from './condition.ts'
import { conditionWork, readConditions, type SeenConditions } from './condition-work.ts'
import { EventWork, type EventWorkOptions } from './events.ts'
import type { FieldWork } from './field-work.ts'
import { labelWork, readStateLabel } from './label-work.ts'
import { readNodeConfig } from './node-config.ts'
import { DEFAULT_PUBLICATIONS, type Publication } from './publications.ts'
import { ReportWorker, type Sleep } from './report-worker.ts'
import { stateLabel } from './state-label.ts'
import type { ConfigStatus } from './status.ts'
import { statusWork } from './status-work.ts'

interface PublisherOptions extends EventWorkOptions {
  readonly sleep: Sleep
  /** What is published; may change at any time. */
  readonly publications?: () => readonly Publication[]
}

/** What is published on the Node besides `status.config`. */
export interface NodeSummary {
  readonly condition: Condition
  readonly annotation: string
  /** CLOCK_MONOTONIC: not to be written before. undefined: at once. */
  readonly slotUs?: number | undefined
}

export class Publisher {
  readonly #sleep: Sleep
  readonly #statusWork: FieldWork<ConfigStatus>
  readonly #conditionWork: FieldWork<Condition, SeenConditions>
  readonly #annotationWork: FieldWork<string | null, string>
  readonly #labelWork: FieldWork<string | null, string>
  readonly #eventWork: EventWork
  readonly #fieldWorkers: readonly ReportWorker[]
  readonly #eventWorker: ReportWorker
  #appended = false

  constructor(options: PublisherOptions) {
    const { sleep, log, publications = () => DEFAULT_PUBLICATIONS } = options
    this.#sleep = sleep
    const isOn = (publication: Publication) => () => publications().includes(publication)
    this.#statusWork = statusWork(options, isOn('config'))
    this.#conditionWork = conditionWork(options, isOn('condition'))
    this.#annotationWork = annotationWork(options, isOn('annotation'))
    this.#labelWork = labelWork(options, isOn('label'))
    this.#eventWork = new EventWork(options)
    const fieldWork = [this.#statusWork, this.#conditionWork, this.#annotationWork, this.#labelWork]
    this.#fieldWorkers = fieldWork.map((work) => new ReportWorker(work, sleep, log))
    this.#eventWorker = new ReportWorker(this.#eventWork, sleep, log)
  }

  start(): void {
    for (const worker of this.#fieldWorkers) worker.start()
    this.#eventWorker.start()
  }

  /**
   * To be called whenever the loop waits; unchanged values cost nothing.
   * @param summary undefined: not known well enough yet
   */
  publish(status: ConfigStatus, summary?: NodeSummary): void {
    this.#statusWork.want(status)
    if (summary !== undefined) {
      const { condition, annotation, slotUs } = summary
      const when = { cutOff: condition.cutOff, slotUs }
      this.#conditionWork.want(condition, when)
      // Its error is that of the condition.
      this.#annotationWork.want(annotation, when)
      const label = stateLabel(condition.reason)
      if (label !== undefined) this.#labelWork.want(label)
    }
    this.#wakeFieldWorkers()
    if (this.#appended) this.#eventWorker.wake()
    this.#appended = false
  }

  /** Publishes the condition alone; the rest stays as published last. */
  publishCondition(condition: Condition): void {
    this.#conditionWork.want(condition)
    this.#wakeFieldWorkers()
  }

  /**
   * Writes the condition again with the present time, which no server takes for a write that
   * changes nothing: to learn whether the agent can write at all.
   */
  writeAgain(): void {
    this.#conditionWork.again()
    this.#wakeFieldWorkers()
  }

  /** CLOCK_MONOTONIC of the last such write that succeeded. */
  writtenAtUs(): number | undefined {
    return this.#conditionWork.writtenAtUs
  }

  /**
   * To be called with each Node that the assignment source sees: finds drift without another
   * request.
   */
  nodeObserved(uid: string, node: unknown, form: 'whole' | 'metadata'): void {
    const isWhole = form === 'whole'
    this.#statusWork.observe(uid, isWhole ? readNodeConfig(node) : undefined)
    this.#conditionWork.observe(uid, isWhole ? readConditions(node) : undefined)
    this.#annotationWork.observe(uid, readStatusAnnotation(node))
    this.#labelWork.observe(uid, readStateLabel(node))
    this.#wakeFieldWorkers()
  }

  /** For the history's `onAppend`. The event is sent when the loop waits, not between two steps. */
  historyAppended(): void {
    this.#eventWork.refresh()
    this.#appended = true
  }

  /**
   * Sends what is due, for at most `limitMs`; the rest is on disk and is sent after the next start.
   */
  async stop(limitMs = 1000): Promise<void> {
    const limit = new AbortController()
    const workers = [...this.#fieldWorkers, this.#eventWorker]
    await Promise.race([Promise.all(workers.map((worker) => worker.stop())), this.#sleep(limitMs, limit.signal)])
    limit.abort()
  }

  #wakeFieldWorkers(): void {
    for (const worker of this.#fieldWorkers) worker.wake()
  }
}
