/**
 * Reads the operator's requests from the files under `requests/`, for the agent. Write permission
 * there is permission to make requests, so there are only three of them; any other file is ignored,
 * and logged once.
 */
import { join } from 'node:path'
import type { Requests } from '../decision/records.ts'
import type { FileFacts, Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import type { OperatorRequests } from '../ports/store.ts'
import type { Check } from '../values/json-shape.ts'
import { parseJson } from '../values/json-shape.ts'
import { FileError } from './file-error.ts'
import type { Layout } from './layout.ts'
import { isHoldRequest, isRetryRequest, isRollbackRequest } from './request-shapes.ts'

/** A request is one line; a longer file is not a request. */
const LONGEST = 4096

type RequestName = 'hold' | 'rollback' | 'retry'

interface Seen {
  readonly identity: string
  /** undefined: no request. */
  readonly value: unknown
}

export class FileRequests implements OperatorRequests {
  readonly #files: Files
  readonly #directory: string
  readonly #log: Log
  /**
   * Each file as last read: `done` removes just that one, and it stays in force while the disk
   * cannot be read.
   */
  readonly #seen = new Map<RequestName, Seen>()
  readonly #logged = new Set<string>()

  constructor(files: Files, layout: Layout, log: Log) {
    this.#files = files
    this.#directory = layout.requests
    this.#log = log
  }

  read(): Requests {
    return {
      hold: this.#readOne('hold', isHoldRequest)?.hold ?? 'none',
      rollback: this.#readOne('rollback', isRollbackRequest),
      retry: this.#readOne('retry', isRetryRequest) !== undefined,
    }
  }

  done(request: 'rollback' | 'retry'): void {
    const path = join(this.#directory, request)
    // A request that arrived after the last read has not been carried out.
    if (this.#files.stat(path)?.identity === this.#seen.get(request)?.identity) this.#files.remove(path)
    this.#seen.delete(request)
  }

  #readOne<T>(name: RequestName, check: Check<T>): T | undefined {
    const seen = this.#inspect(name, check)
    if (seen === undefined) this.#seen.delete(name)
    else this.#seen.set(name, seen)
    return check(seen?.value) ? seen?.value : undefined
  }

  #inspect(name: RequestName, check: Check<unknown>): Seen | undefined {
    const path = join(this.#directory, name)
    const before = this.#seen.get(name)
    try {
      const facts = this.#files.stat(path)
      if (facts === undefined || facts.identity === before?.identity) return facts && before
      const value = this.#parse(path, facts, check)
      if (value === undefined) this.#logOnce(`${path} is not a valid request and is ignored; remove it`)
      return { identity: facts.identity, value }
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      this.#logOnce(`a request cannot be read and stays as it was: ${cause.message}`)
      return before
    }
  }

  #parse(path: string, facts: FileFacts, check: Check<unknown>): unknown {
    // Reading a pipe might never end.
    if (facts.kind !== 'file' || facts.size > LONGEST) return undefined
    const bytes = this.#files.read(path)
    return bytes && parseJson(bytes, check)
  }

  #logOnce(text: string): void {
    if (this.#logged.has(text)) return
    this.#logged.add(text)
    this.#log.warn(text)
  }
}
