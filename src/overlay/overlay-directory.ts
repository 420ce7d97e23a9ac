/**
 * This node's overlay, kept in memory and followed as its directory changes. What is there counts once it has been the same for a moment: the first half of a
 * YAML file is often valid YAML, and a file that is replaced may be missing. Until then what was there before stands, and at the start nothing is known. Nothing loads a YAML parser while there are no files.
 */

import { hashFiles } from '../checkpoint/content.ts'
import { SettlingDirectory, type SettlingDirectoryDeps, type Unsettled } from '../directory/settling-directory.ts'
import type { Log } from '../ports/log.ts'
import type { OverlaySource } from './overlaid-source.ts'
import type { PatchParser } from './patch-file.ts'
import { type OverlayFiles, readOverlay } from './read-overlay.ts'
import type { OverlayView } from './view.ts'

export interface OverlayDirectoryDeps extends Omit<SettlingDirectoryDeps, 'path'> {
  readonly directory: string
  readonly read: (directory: string) => OverlayFiles
  readonly loadParser: () => Promise<PatchParser>
  readonly log: Log
}

export class OverlayDirectory implements OverlaySource {
  readonly #deps: OverlayDirectoryDeps
  readonly #directory: SettlingDirectory
  #view: OverlayView = { kind: 'pending' }
  /** What `#view` was made of. */
  #seen: string | undefined
  /** Something else, seen since then. */
  #settling: Unsettled<string> | undefined
  #onChange: () => void = () => {}
  #reading: Promise<void> | undefined

  constructor(deps: OverlayDirectoryDeps) {
    this.#deps = deps
    this.#directory = new SettlingDirectory({ ...deps, path: deps.directory }, () => this.#look())
  }

  view(): OverlayView {
    return this.#view
  }

  start(onChange: () => void): void {
    this.#onChange = onChange
    this.#directory.start()
  }

  async stop(): Promise<void> {
    await this.#directory.stop()
    await this.#reading
  }

  #look(): void {
    if (this.#reading !== undefined) return
    const { directory, read } = this.#deps
    const found = read(directory)
    const seen = identify(found)
    if (seen === this.#seen) {
      this.#settling = undefined
      return
    }
    this.#settling = this.#directory.settle(this.#settling, seen, (a, b) => a === b)
    if (this.#settling === undefined) this.#take(found, seen)
    else this.#directory.lookAgain()
  }

  #take(found: OverlayFiles, seen: string): void {
    if (found.kind === 'faulty') this.#conclude(found, seen)
    else if (found.files.size === 0) this.#conclude({ kind: 'none' }, seen)
    else {
      this.#reading = this.#parse(found.files, seen).then((done) => {
        this.#reading = undefined
        // Whatever has changed meanwhile.
        if (done) this.#directory.look()
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
