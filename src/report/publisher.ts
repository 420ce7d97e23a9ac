// SPDX-License-Identifier: Apache-2.0
/**
 * Publishes the agent's reports to the API server: the Node's `status.config`, conditions,
 * annotation and label in one write, and events. Both have a worker of their own, so one that
 * waits or is refused delays neither the other nor the loop. Not created without an API server
 * (directory of manifests).
 */
import type { NodeReport, OpenChannel } from './channel.ts'
import { CHANNEL_NAMES, CHANNELS, type ChannelName } from './channels.ts'
import { Crowd } from './crowd.ts'
import { EventWork, type EventWorkOptions } from './events.ts'
import { NodeWork } from './node-work.ts'
import { DEFAULT_PUBLICATIONS, type Publication } from './publications.ts'
import type { Condition } from './reasons.ts'
import { ReportWorker, type Sleep } from './report-worker.ts'
import type { ConfigStatus } from './status.ts'

interface PublisherOptions extends EventWorkOptions {
  readonly sleep: Sleep
  /** The publications that are switched on; may change at any time. */
  readonly publications?: () => readonly Publication[]
}

/** The publications on the Node besides `status.config`. */
export type NodeSummary = Required<Pick<NodeReport, 'condition' | 'annotation'>> & Pick<NodeReport, 'slotUs' | 'eventSlotUs'>

/** For this long after its start, the agent does not report that the assignment is unknown. */
export const START_GRACE_US = 60e6

export class Publisher {
  readonly #sleep: Sleep
  readonly #channels: readonly OpenChannel[]
  readonly #conditions: OpenChannel
  readonly #eventWork: EventWork
  readonly #nodeWorker: ReportWorker
  readonly #eventWorker: ReportWorker
  #appended = false
  /**
   * The events of the agent before a restart have their slot as well, known from the first summary.
   */
  #eventSlotUs: number | undefined

  constructor(options: PublisherOptions) {
    const { sleep, log, publications = () => DEFAULT_PUBLICATIONS } = options
    this.#sleep = sleep
    this.#eventSlotUs = options.clock.now().monotonicUs + START_GRACE_US
    const open = (name: ChannelName) => [name, CHANNELS[name].open(options, () => publications().includes(name))] as const
    const channels = Object.fromEntries(CHANNEL_NAMES.map(open)) as Readonly<Record<ChannelName, OpenChannel>>
    this.#channels = Object.values(channels)
    this.#conditions = channels.condition
    const crowd = new Crowd(options.random)
    const works = this.#channels.map(({ work }) => work)
    this.#nodeWorker = new ReportWorker(new NodeWork(options, works, crowd), sleep, log)
    this.#eventWork = new EventWork(options, crowd, () => {
      if (this.#eventSlotUs === undefined) return undefined
      const slotInMs = (this.#eventSlotUs - options.clock.now().monotonicUs) / 1000
      return Math.max(slotInMs, ...works.map((work) => work.slotInMs()))
    })
    this.#eventWorker = new ReportWorker(this.#eventWork, sleep, log)
  }

  start(): void {
    this.#nodeWorker.start()
    this.#eventWorker.start()
  }

  /**
   * To be called whenever the loop waits; unchanged values cost nothing.
   * @param summary undefined: not known well enough yet
   */
  publish(status: ConfigStatus, summary?: NodeSummary): void {
    for (const channel of this.#channels) channel.say({ status, ...summary })
    this.#nodeWorker.wake()
    const isSlotNew = summary !== undefined && summary.eventSlotUs !== this.#eventSlotUs
    if (isSlotNew) this.#eventSlotUs = summary.eventSlotUs
    if (this.#appended || isSlotNew) this.#eventWorker.wake()
    this.#appended = false
  }

  /** Publishes the condition alone; the rest stays as published last. */
  publishCondition(condition: Condition): void {
    this.#conditions.say({ condition })
    this.#nodeWorker.wake()
  }

  /**
   * Writes the condition again with the present time, which no server takes for a write that
   * changes nothing: to learn whether the agent can write at all.
   */
  writeAgain(): void {
    this.#conditions.work.again()
    this.#nodeWorker.wake()
  }

  /** CLOCK_MONOTONIC of the last such write that succeeded. */
  writtenAtUs(): number | undefined {
    return this.#conditions.work.writtenAtUs
  }

  /**
   * To be called with each Node that the assignment source sees: finds drift without another
   * request.
   */
  nodeObserved(uid: string, node: unknown, form: 'whole' | 'metadata'): void {
    for (const channel of this.#channels) channel.see(uid, node, form)
    this.#nodeWorker.wake()
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
    const workers = [this.#nodeWorker, this.#eventWorker]
    await Promise.race([Promise.all(workers.map((worker) => worker.stop())), this.#sleep(limitMs, limit.signal)])
    limit.abort()
  }
}
