/** An assignment source with this node's overlay laid over what it says. Pure: both sides keep their views in memory. */
import type { Desired } from '../decision/desired.ts'
import type { AssignmentSource } from '../ports/assignment-source.ts'
import type { Log } from '../ports/log.ts'
import { layOver } from './lay-over.ts'
import type { OverlayView } from './view.ts'

export interface OverlaySource {
  /** The latest view, from memory. */
  view(): OverlayView
  start(onChange: () => void): void
  stop(): Promise<void>
}

export class OverlaidSource implements AssignmentSource {
  readonly #inner: AssignmentSource
  readonly #overlay: OverlaySource
  readonly #log: Log
  #said = ''

  constructor(inner: AssignmentSource, overlay: OverlaySource, log: Log) {
    this.#inner = inner
    this.#overlay = overlay
    this.#log = log
  }

  desired(): Desired {
    let fault = ''
    const desired = layOver(this.#inner.desired(), this.#overlay.view(), (detail) => {
      fault = detail
    })
    this.#say(fault)
    return desired
  }

  /** At each look it is the same again. @param detail empty: it can be laid over */
  #say(detail: string): void {
    if (detail !== '' && detail !== this.#said)
      this.#log.error(`this node's overlay cannot be laid over what is assigned, so nothing is changed: ${detail}`)
    this.#said = detail
  }

  start(onChange: () => void): void {
    this.#overlay.start(onChange)
    this.#inner.start(onChange)
  }

  async stop(): Promise<void> {
    await Promise.all([this.#overlay.stop(), this.#inner.stop()])
  }
}
