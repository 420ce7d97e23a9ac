/**
 * Contents that differ in bytes and not in what kubelet decodes: `meta/same` names, for the hash of
 * such a text, the content that it is the same as. Whatever is remembered of that content (a
 * verdict, a trial) then holds for the other text as well, and nothing is restarted for it. A text
 * without an entry is its own content. If the file is lost, texts differ again.
 */
import type { ContentHash } from '../decision/config-source.ts'
import type { Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import { isText, listOf, parseJson, shape } from '../values/json-shape.ts'
import { FileError, isDamage } from './file-error.ts'
import type { LastingFaults } from './lasting-faults.ts'
import type { Layout } from './layout.ts'

/** The newest. Only what the records and kubelet's next start name is of use. */
const KEPT = 100

interface Entry {
  readonly content: ContentHash
  readonly same: ContentHash
}

const isEntries = listOf(shape<Entry>({ content: isText, same: isText }))

export interface SameContentsOptions {
  readonly files: Files
  readonly layout: Layout
  readonly log: Log
  readonly faults: LastingFaults
}

export class SameContents {
  readonly #files: Files
  readonly #layout: Layout
  readonly #log: Log
  readonly #faults: LastingFaults
  /** undefined: not read yet. */
  #entries: Map<ContentHash, ContentHash> | undefined
  #isWritten = true

  constructor({ files, layout, log, faults }: SameContentsOptions) {
    this.#files = files
    this.#layout = layout
    this.#log = log
    this.#faults = faults
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
    if (this.#isWritten) return
    try {
      const entries = [...this.#read()].map(([content, same]): Entry => ({ content, same }))
      this.#files.makeDirectory(this.#layout.meta)
      this.#files.replace(this.#layout.sameContents, JSON.stringify(entries))
      this.#isWritten = true
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      this.#log.debug('contents that are the same are kept in memory until they can be written', { error: cause })
    }
  }

  #read(): Map<ContentHash, ContentHash> {
    this.#entries ??= new Map(this.#load().map(({ content, same }) => [content, same]))
    return this.#entries
  }

  #load(): readonly Entry[] {
    const path = this.#layout.sameContents
    try {
      const bytes = this.#files.read(path)
      this.#faults.worked(path)
      const entries = bytes === undefined ? [] : parseJson(bytes, isEntries)
      if (entries === undefined) this.#log.warn(`${path} is damaged and counts as empty`)
      return entries ?? []
    } catch (cause) {
      if (isDamage(cause) || this.#faults.hasLasted(path, cause)) return []
      throw cause
    }
  }
}
