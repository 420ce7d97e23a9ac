/**
 * Damaged records under `meta/`: they are set aside as `NAME.damaged-N`. A record that is missing
 * since then is no record that was never written.
 */
import { basename, join } from 'node:path'
import type { Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import { errorMessage } from '../values/errors.ts'
import { FileError } from './file-error.ts'
import type { LastingFaults } from './lasting-faults.ts'
import { type LogOnce, logErrorsOnce } from './log-once.ts'
import type { OnSetAside } from './set-aside.ts'
import { numbersAfter, planSetAside } from './set-aside.ts'

export interface DamagedRecordsOptions {
  readonly files: Files
  readonly meta: string
  readonly log: Log
  readonly onSetAside: OnSetAside
  readonly faults: LastingFaults
}

export class DamagedRecords {
  readonly #options: DamagedRecordsOptions
  /** Nobody else sets a record aside, and listing the directory takes time. */
  readonly #neverWritten = new Set<string>()
  readonly #logOnce: LogOnce

  constructor(options: DamagedRecordsOptions) {
    this.#options = options
    this.#logOnce = logErrorsOnce(options.log)
  }

  /**
   * Of a missing record.
   *
   * @returns undefined: it was never written, and not set aside
   */
  explainAbsence(path: string): string | undefined {
    if (this.#neverWritten.has(path)) return undefined
    const { files, meta, faults } = this.#options
    try {
      const setAside = numbersAfter(prefixOf(path), files.list(meta) ?? []).at(-1)
      faults.worked(meta)
      if (setAside !== undefined) return `${path} was damaged and is now ${prefixOf(path)}${setAside}`
      this.#neverWritten.add(path)
      return undefined
    } catch (cause) {
      if (!faults.hasLasted(meta, cause)) throw cause
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
    const { files, meta, onSetAside } = this.#options
    try {
      const { name, surplus } = planSetAside(prefixOf(path), files.list(meta) ?? [])
      for (const older of surplus) files.removeTree(join(meta, older))
      const to = join(meta, name)
      this.#neverWritten.delete(path)
      move(to)
      onSetAside({ path, to, why })
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      this.#logOnce(`${path} is damaged (${why}) and cannot be set aside: ${cause.message}`)
    }
  }
}

function prefixOf(path: string): string {
  return `${basename(path)}.damaged-`
}
