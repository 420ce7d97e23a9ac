/**
 * An assignment source with this node's overlay applied. Pure: source and overlay keep their views
 * in memory.
 */
import type { Desired } from '../decision/desired.ts'
import type { AssignmentSource, ReadLocalConfig } from '../ports/assignment-source.ts'
import type { Log } from '../ports/log.ts'
import { applyOverlay, whileWaiting } from './apply.ts'
import { OVERLAY, type PatchSet } from './patch-set.ts'
import type { OverlayView } from './read-overlay.ts'

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
  readonly #patches: PatchSet
  #onChange: () => void = () => {}
  /** The latest result that was rendered, with each pause that was heard since. */
  #applied: Desired | undefined
  #loggedFault = ''

  constructor(inner: AssignmentSource, overlay: OverlaySource, log: Log, patches: PatchSet = OVERLAY) {
    this.#inner = inner
    this.#overlay = overlay
    this.#log = log
    this.#patches = patches
  }

  /** While a config is being parsed, the answer is as if it had not arrived yet. */
  desired(readLocal: ReadLocalConfig): Desired {
    let fault = ''
    let isRendered = true
    const onApply = {
      onFault: (detail: string) => {
        fault = detail
      },
      onWait: () => {
        isRendered = false
      },
      onRendered: () => this.#onChange(),
    }
    const desired = applyOverlay(this.#inner.desired(readLocal), this.#overlay.view(), onApply, this.#patches)
    this.#applied = isRendered ? desired : whileWaiting(desired, this.#applied)
    if (isRendered) this.#logFault(fault)
    return this.#applied
  }

  /**
   * Logs each fault once, although it is met again at every look.
   * @param detail empty: no fault
   */
  #logFault(detail: string): void {
    if (detail !== '' && detail !== this.#loggedFault)
      this.#log.error(`this node's ${this.#patches.name} cannot be applied to the assigned config; nothing is changed: ${detail}`)
    this.#loggedFault = detail
  }

  start(onChange: () => void): void {
    this.#onChange = onChange
    this.#overlay.start(onChange)
    this.#inner.start(onChange)
  }

  async stop(): Promise<void> {
    await Promise.all([this.#overlay.stop(), this.#inner.stop()])
  }
}
