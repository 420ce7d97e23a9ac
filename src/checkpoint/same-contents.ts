// SPDX-License-Identifier: Apache-2.0
/**
 * Contents that differ in bytes and not in what kubelet decodes: `meta/same` names, for the hash of
 * such a text, the content that it is the same as. Whatever is remembered of that content (a
 * verdict, a trial) then holds for the other text as well, and nothing is restarted for it. A text
 * without an entry is its own content. A copy lies under /run, with what was seen of the process:
 * if the file is lost, that process still runs what kubelet starts with next. If both are lost,
 * texts differ again.
 */
import { dirname, join } from 'node:path'
import type { Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import { type ContentHash, isContentHash } from '../subject/config-source.ts'
import { listOf, parseJson, shape, type TypeOf } from '../values/json-shape.ts'
import { FileError, isDamagedPath, isOfDisk } from './file-error.ts'
import type { LastingFaults } from './lasting-faults.ts'
import type { Layout } from './layout.ts'

/** The newest. Only what the records and kubelet's next start name is of use. */
const KEPT = 100

const isEntry = shape({ content: isContentHash, same: isContentHash })
const isEntries = listOf(isEntry)
type Entry = TypeOf<typeof isEntry>

interface SameContentsOptions {
  readonly files: Files
  readonly layout: Layout
  readonly log: Log
  readonly faults: LastingFaults
  /** The directory of files that end with the boot. */
  readonly runtimeDir: string
}

export class SameContents {
  readonly #files: Files
  readonly #layout: Layout
  readonly #log: Log
  readonly #faults: LastingFaults
  readonly #copy: string
  /** undefined: not read yet. */
  #entries: Map<ContentHash, ContentHash> | undefined
  #isWritten = true

  constructor({ files, layout, log, faults, runtimeDir }: SameContentsOptions) {
    this.#files = files
    this.#layout = layout
    this.#log = log
    this.#faults = faults
    this.#copy = join(runtimeDir, 'same')
  }

  /** The content by which this one is known. */
  of(content: ContentHash): ContentHash {
    return this.#read().get(content) ?? content
  }

  /** From now on, `content` is known as `same`. */
  add(content: ContentHash, same: ContentHash): void {
    const entries = this.#read()
    entries.delete(content)
    entries.set(content, this.of(same))
    this.#entries = new Map([...entries].slice(-KEPT))
    this.#isWritten = false
    this.write()
  }

  /** A full disk must not make two contents of one: the entry holds until it can be written. */
  write(): void {
    try {
      this.keep()
      if (!this.#isWritten) this.#writeTo(this.#copy)
      this.#isWritten = true
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      this.#log.debug('contents that are the same are kept in memory until they can be written', { error: cause })
    }
  }

  /** Writes the entries, which are durable when it returns. Throws if they cannot be written. */
  keep(): void {
    if (!this.#isWritten) this.#writeTo(this.#layout.sameContents)
  }

  #writeTo(path: string): void {
    this.#files.makeDirectory(dirname(path))
    this.#files.replace(path, JSON.stringify([...this.#read()].map(([content, same]): Entry => ({ content, same }))))
  }

  #read(): Map<ContentHash, ContentHash> {
    this.#entries ??= new Map((this.#load() ?? this.#loadCopy()).map(({ content, same }) => [content, same]))
    return this.#entries
  }

  #loadCopy(): readonly Entry[] {
    try {
      const bytes = this.#files.read(this.#copy)
      this.#faults.worked(this.#copy)
      const entries = (bytes && parseJson(bytes, isEntries)) ?? []
      this.#isWritten = entries.length === 0
      return entries
    } catch (cause) {
      // A short fault of the disk must not make two contents of one for as long as the agent runs.
      const isShort = cause instanceof FileError && isOfDisk(cause) && !this.#faults.hasLasted(this.#copy, cause)
      if (cause instanceof FileError && !isShort) return []
      throw cause
    }
  }

  /** undefined: it is lost. */
  #load(): readonly Entry[] | undefined {
    const path = this.#layout.sameContents
    try {
      const bytes = this.#files.read(path)
      this.#faults.worked(path)
      const entries = bytes && parseJson(bytes, isEntries)
      if (bytes !== undefined && entries === undefined) this.#log.warn(`${path} is damaged and counts as lost`)
      return entries
    } catch (cause) {
      if (isDamagedPath(cause) || this.#faults.hasLasted(path, cause)) return undefined
      throw cause
    }
  }
}
