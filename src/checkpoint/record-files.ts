// SPDX-License-Identifier: Apache-2.0
/**
 * The files under `meta/`, each replaced as a whole. A damaged one is set aside as
 * `NAME.damaged-N`: what is missing since then is no record that was never written.
 */
import { basename, join } from 'node:path'
import type { Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import { errorMessage } from '../values/errors.ts'
import { type Check, parseJson } from '../values/json-shape.ts'
import { FileError, isDamagedPath } from './file-error.ts'
import type { LastingFaults } from './lasting-faults.ts'
import type { Layout } from './layout.ts'
import type { OnSetAside } from './set-aside.ts'
import { numbersAfter, planSetAside } from './set-aside.ts'

export interface RecordFilesOptions {
  readonly files: Files
  readonly layout: Pick<Layout, 'meta'>
  readonly log: Log
  readonly onSetAside: OnSetAside
  readonly faults: LastingFaults
}

interface Damaged {
  readonly ok: false
  readonly detail: string
}

export class RecordFiles {
  readonly #options: RecordFilesOptions
  /** Nobody else sets a record aside, and listing the directory takes time. */
  readonly #neverWritten = new Set<string>()
  /**
   * The last parsed value of each record, with the bytes it came from: few records change between
   * two looks.
   */
  readonly #parsed = new Map<string, { readonly bytes: Buffer; readonly found: unknown }>()
  readonly #logged = new Set<string>()

  constructor(options: RecordFilesOptions) {
    this.#options = options
  }

  /**
   * undefined: the file does not exist.
   * @param parse always the same one for a path
   */
  load<T>(path: string, parse: (bytes: Buffer) => T): T | Damaged | undefined {
    const { files, faults } = this.#options
    try {
      const bytes = files.read(path)
      faults.worked(path)
      return bytes && this.#parseOnce(path, bytes, parse)
    } catch (cause) {
      if (isDamagedPath(cause) || faults.hasLasted(path, cause)) return { ok: false, detail: errorMessage(cause) }
      throw cause
    }
  }

  /** undefined: the file does not exist. Sets a damaged one aside. */
  loadJson<T>(path: string, check: Check<T>): { readonly ok: true; readonly value: T } | Damaged | undefined {
    const loaded = this.load(path, (bytes) => {
      const value = parseJson(bytes, check)
      return value === undefined ? ({ ok: false, detail: 'not the expected JSON' } as const) : ({ ok: true, value } as const)
    })
    if (loaded?.ok === false) this.setAside(path, loaded.detail)
    return loaded
  }

  #parseOnce<T>(path: string, bytes: Buffer, parse: (bytes: Buffer) => T): T {
    const last = this.#parsed.get(path)
    if (last?.bytes.equals(bytes) === true) return last.found as T
    const found = parse(bytes)
    this.#parsed.set(path, { bytes, found })
    return found
  }

  /** Writes only on change. */
  replace(path: string, text: string): void {
    const { files, layout } = this.#options
    if (files.read(path)?.equals(Buffer.from(text))) return
    files.makeDirectory(layout.meta)
    files.replace(path, text)
  }

  /** Logs each error once, by the fact where the text may contain other figures each time. */
  logOnce(text: string, fact: string = text): void {
    if (this.#logged.has(fact)) return
    this.#logged.add(fact)
    this.#options.log.error(text)
  }

  /**
   * Says how a record came to be missing.
   *
   * @returns undefined: it was never written, and not set aside
   */
  explainAbsence(path: string): string | undefined {
    if (this.#neverWritten.has(path)) return undefined
    const { files, layout, faults } = this.#options
    try {
      const setAside = numbersAfter(prefixOf(path), files.list(layout.meta) ?? []).at(-1)
      faults.worked(layout.meta)
      if (setAside !== undefined) return `${path} was damaged and is now ${prefixOf(path)}${setAside}`
      this.#neverWritten.add(path)
      return undefined
    } catch (cause) {
      if (!faults.hasLasted(layout.meta, cause)) throw cause
      return `${path} is missing, and may have been damaged before: ${errorMessage(cause)}`
    }
  }

  setAside(path: string, why: string): void {
    this.#moveAside(path, why, (to) => this.#options.files.rename(path, to))
  }

  /** @param keep writes the part that stays in force, so that the file is never missing */
  copyAside(path: string, why: string, keep: () => void): void {
    const { files } = this.#options
    this.#moveAside(path, why, (to) => {
      files.replace(to, files.read(path) ?? '')
      keep()
    })
  }

  #moveAside(path: string, why: string, move: (to: string) => void): void {
    const { files, layout, onSetAside } = this.#options
    try {
      const { name, surplus } = planSetAside(prefixOf(path), files.list(layout.meta) ?? [])
      for (const older of surplus) files.removeTree(join(layout.meta, older))
      const to = join(layout.meta, name)
      this.#neverWritten.delete(path)
      move(to)
      onSetAside({ path, to, why })
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      this.logOnce(`${path} is damaged (${why}) and cannot be set aside: ${cause.message}`)
    }
  }
}

function prefixOf(path: string): string {
  return `${basename(path)}.damaged-`
}
