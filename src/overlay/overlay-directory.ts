/**
 * This node's overlay, kept in memory and followed as its directory changes. What is there counts once it has been the same for a moment: the first half of a
 * YAML file is often valid YAML, and a file that is replaced may be missing. Until then what was there before stands, and at the start nothing is known. Nothing loads a YAML parser while there are no files.
 */

import { hashFiles } from '../checkpoint/content.ts'
import type { Log } from '../ports/log.ts'
import type { OverlaySource } from './overlaid-source.ts'
import type { PatchParser } from './patch-file.ts'
import { type OverlayFiles, readOverlay } from './read-overlay.ts'
import type { OverlayView } from './view.ts'

export interface OverlayDirectoryDeps {
  readonly directory: string
  readonly read: (directory: string) => OverlayFiles
  readonly loadParser: () => Promise<PatchParser>
  /** Calls back whenever something may have changed, and every so often. */
  readonly watch: (path: string, onChange: () => void) => { close(): Promise<void> }
  readonly pace: { nowMs(): number; sleep(ms: number, signal: AbortSignal): Promise<void> }
  readonly log: Log
  readonly settleMs?: number
}

const SETTLE_MS = 300
/** A timer may fire a little early. */
const SETTLE_SLACK_MS = 20

export class OverlayDirectory implements OverlaySource {
  readonly #deps: OverlayDirectoryDeps
  readonly #stopper = new AbortController()
  #view: OverlayView = { kind: 'pending' }
  /** What `#view` was made of. */
  #seen: string | undefined
  /** Something else, seen since then. */
  #settling: { readonly seen: string; readonly sinceMs: number } | undefined
  #onChange: () => void = () => {}
  #watch: { close(): Promise<void> } | undefined
  #resting: Promise<void> | undefined
  #reading: Promise<void> | undefined

  constructor(deps: OverlayDirectoryDeps) {
    this.#deps = deps
  }

  view(): OverlayView {
    return this.#view
  }

  start(onChange: () => void): void {
    this.#onChange = onChange
    this.#watch = this.#deps.watch(this.#deps.directory, () => this.#look())
    this.#look()
  }

  async stop(): Promise<void> {
    this.#stopper.abort()
    await this.#watch?.close()
    await this.#resting
    await this.#reading
  }

  #look(): void {
    if (this.#stopper.signal.aborted || this.#reading !== undefined) return
    const { directory, read, pace, settleMs = SETTLE_MS } = this.#deps
    const found = read(directory)
    const seen = identify(found)
    if (seen === this.#seen) {
      this.#settling = undefined
      return
    }
    if (this.#settling?.seen !== seen) this.#settling = { seen, sinceMs: pace.nowMs() }
    if (pace.nowMs() - this.#settling.sinceMs < settleMs) {
      this.#lookAgain()
      return
    }
    this.#settling = undefined
    this.#take(found, seen)
  }

  #lookAgain(): void {
    const { pace, settleMs = SETTLE_MS } = this.#deps
    this.#resting ??= pace.sleep(settleMs + SETTLE_SLACK_MS, this.#stopper.signal).then(() => {
      this.#resting = undefined
      this.#look()
    })
  }

  #take(found: OverlayFiles, seen: string): void {
    if (found.kind === 'faulty') this.#conclude(found, seen)
    else if (found.files.size === 0) this.#conclude({ kind: 'none' }, seen)
    else {
      this.#reading = this.#parse(found.files, seen).then((done) => {
        this.#reading = undefined
        // Whatever has changed meanwhile.
        if (done) this.#look()
      })
    }
  }

  async #parse(files: ReadonlyMap<string, Buffer>, seen: string): Promise<boolean> {
    const { directory, loadParser, log } = this.#deps
    try {
      const view = readOverlay(files, await loadParser())
      this.#conclude(view.kind === 'faulty' ? { kind: 'faulty', detail: `${directory}/${view.detail}` } : view, seen)
      return true
    } catch (error) {
      // Another time it may work: a package that is being replaced is whole again.
      log.error('the overlay could not be read, trying again in a while', { error })
      return false
    }
  }

  #conclude(view: OverlayView, seen: string): void {
    const before = this.#view
    this.#view = view
    this.#seen = seen
    this.#say(before, view)
    this.#onChange()
  }

  #say(before: OverlayView, view: OverlayView): void {
    const { directory, log } = this.#deps
    switch (view.kind) {
      case 'faulty':
        log.error(`this node's overlay cannot be used, so nothing is changed: ${view.detail}`)
        return
      case 'present':
        log.info(`the overlay of ${view.files.join(', ')} is laid over what is assigned`, { directory, files: view.files })
        return
      default:
        if (before.kind !== 'pending') log.info('this node has no overlay any more', { directory })
    }
  }
}

function identify(found: OverlayFiles): string {
  return found.kind === 'faulty' ? `faulty ${found.detail}` : `files ${hashFiles(found.files, '')}`
}
