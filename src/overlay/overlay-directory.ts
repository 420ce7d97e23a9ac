// SPDX-License-Identifier: Apache-2.0
/**
 * Keeps this node's overlay in memory and follows changes of its directory. The directory must
 * settle before its content counts; until then the previous overlay stays in effect, and at the
 * start the overlay is pending. The YAML parser runs only if there are files.
 */

import { hashFiles } from '../checkpoint/content.ts'
import { SettlingDirectory, type SettlingDirectoryDeps, type Unsettled } from '../directory/settling-directory.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { Log } from '../ports/log.ts'
import type { OverlaySource } from './part-source.ts'
import type { PatchSet } from './patch-set.ts'
import { type OverlayFiles, type OverlayView, type ParseConfig, readOverlay } from './read-overlay.ts'

export interface OverlayDirectoryDeps extends Omit<SettlingDirectoryDeps, 'path'> {
  readonly directory: string
  readonly read: (directory: string) => OverlayFiles
  readonly yaml: YamlReader
  /** For the configs that the overlay is applied to. */
  readonly parseConfig: ParseConfig
  readonly patches: PatchSet
  readonly log: Log
}

export class OverlayDirectory implements OverlaySource {
  readonly #deps: OverlayDirectoryDeps
  readonly #directory: SettlingDirectory
  #view: OverlayView = { kind: 'pending' }
  /** Identifies the content that `#view` was made from. */
  #seen: string | undefined
  /** Newer content that has not settled yet. */
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
        // The directory may have changed meanwhile.
        if (done) this.#directory.look()
      })
    }
  }

  async #parse(files: ReadonlyMap<string, Buffer>, seen: string): Promise<boolean> {
    const { directory, yaml, parseConfig, log } = this.#deps
    try {
      const view = await readOverlay(files, yaml, parseConfig)
      this.#conclude(view.kind === 'faulty' ? { kind: 'faulty', detail: `${directory}/${view.detail}` } : view, seen)
      return true
    } catch (error) {
      // A later try may work: the agent's package may be in the middle of an upgrade.
      log.error(`this node's ${this.#deps.patches.name} could not be read; it is read again at the next poll`, { error })
      return false
    }
  }

  #conclude(view: OverlayView, seen: string): void {
    const before = this.#view
    this.#view = view
    this.#seen = seen
    this.#logView(before, view)
    this.#onChange()
  }

  #logView(before: OverlayView, view: OverlayView): void {
    const { directory, patches, log } = this.#deps
    switch (view.kind) {
      case 'faulty':
        log.error(`this node's ${patches.name} cannot be used; ${patches.whenFaulty}: ${view.detail}`)
        return
      case 'present':
        this.#announce(patches.announce(view.files), view.files)
        return
      default:
        if (before.kind !== 'pending') log.info(`this node no longer has an ${patches.name}`, { directory })
    }
  }

  #announce(text: string | undefined, files: readonly string[]): void {
    const { directory, log } = this.#deps
    if (text !== undefined) log.info(text, { directory, files })
  }
}

function identify(found: OverlayFiles): string {
  return found.kind === 'faulty' ? `faulty ${found.detail}` : `files ${hashFiles(found.files, '')}`
}
