/**
 * The records of the present boot, in the runtime directory (`/run/kubelet-cfg-agent`). No failure
 * here stops the agent: a record that cannot be written is kept in memory, and an invalid one
 * counts as absent.
 */
import { join } from 'node:path'
import { entryOf, type GotValue, type PutValue, type RunName } from '../decision/record-table.ts'
import type { Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import type { RecordStore } from '../ports/store.ts'
import { parseJson } from '../values/json-shape.ts'
import { FileError } from './file-error.ts'

export class FileRuntimeRecords implements RecordStore<RunName> {
  readonly #files: Files
  readonly #directory: string
  readonly #log: Log
  /** The records that could not be written; they replace their files until they can. */
  readonly #unwritten = new Map<RunName, string>()

  constructor(files: Files, directory: string, log: Log) {
    this.#files = files
    this.#directory = directory
    this.#log = log
  }

  get<N extends RunName>(name: N): GotValue<N> {
    const unwritten = this.#unwritten.get(name)
    const bytes = unwritten === undefined ? this.#read(this.#pathOf(name)) : Buffer.from(unwritten)
    return (bytes && parseJson(bytes, entryOf(name).shape)) as GotValue<N>
  }

  /**
   * Writes the record, and those that could not be written before: health is written at each look.
   */
  put<N extends RunName>(name: N, value: PutValue<N>): void {
    this.#write(name, JSON.stringify(value))
    for (const [other, text] of [...this.#unwritten]) if (other !== name) this.#write(other, text)
  }

  #write(name: RunName, text: string): void {
    const path = this.#pathOf(name)
    try {
      if (this.#read(path)?.equals(Buffer.from(text)) !== true) {
        this.#files.makeDirectory(this.#directory)
        // Only atomicity matters here; durability costs nothing, because /run is a tmpfs.
        this.#files.replace(path, text)
      }
      this.#unwritten.delete(name)
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      const { file } = entryOf(name)
      if (!this.#unwritten.has(name))
        this.#log.warn(`the record ${file} is only in memory and would be lost if the agent ended: ${cause.message}`)
      this.#unwritten.set(name, text)
    }
  }

  #pathOf(name: RunName): string {
    return join(this.#directory, entryOf(name).file)
  }

  /** undefined: there is none, or it cannot be read. */
  #read(path: string): Buffer | undefined {
    try {
      return this.#files.read(path)
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      return undefined
    }
  }
}
