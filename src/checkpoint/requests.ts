// SPDX-License-Identifier: Apache-2.0
/**
 * The operator's requests as files under `requests/`: the command line writes them, and the agent
 * reads them. Write permission there is permission to make requests, so there are only four of
 * them. Any other file is ignored, and logged once. But a `hold` that is damaged or cannot be read
 * counts as a pause: a person may be working on the node.
 */
import { join } from 'node:path'
import type { RequestName, Requests } from '../decision/records.ts'
import type { FileFacts, Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import type { OperatorRequests } from '../ports/store.ts'
import { type ContentHash, isContentHash } from '../subject/config-source.ts'
import { type Check, isFlag, oneOf, optional, parseJson, shape, type TypeOf } from '../values/json-shape.ts'
import { FileError, isDamagedPath, isOfDisk } from './file-error.ts'
import type { LastingFaults } from './lasting-faults.ts'
import type { Layout } from './layout.ts'

const isHoldRequest = shape({ hold: oneOf('paused', 'local'), force: optional(isFlag) })
type HoldRequest = TypeOf<typeof isHoldRequest>
const isRollbackRequest = shape({ content: isContentHash })
type RollbackRequest = TypeOf<typeof isRollbackRequest>
const isPromoteRequest = shape({ content: isContentHash })
type PromoteRequest = TypeOf<typeof isPromoteRequest>
const isRetryRequest = shape({ retry: oneOf('all') })
type RetryRequest = TypeOf<typeof isRetryRequest>

/** A request is one line; a longer file is not a request. */
const LONGEST = 4096
/** A directory that the agent may not search says nothing of a hold. */
const countsForHold = (cause: FileError): boolean => isOfDisk(cause) || cause.code === 'EACCES' || cause.code === 'EPERM'
const COUNTS_AS_PAUSE = '; this node counts as paused, until you end that: kubelet-cfg-agent resume'

type FileName = 'hold' | RequestName

interface Seen {
  /** undefined: it could not be read. */
  readonly identity: string | undefined
  /** undefined: no request that is valid. */
  readonly value: unknown
}

interface RequestsOptions {
  readonly files: Files
  readonly layout: Layout
  readonly log: Log
  readonly faults: LastingFaults
}

export class FileRequests implements OperatorRequests {
  readonly #files: Files
  readonly #directory: string
  readonly #log: Log
  readonly #faults: LastingFaults
  /**
   * Each file as last read: `done` removes just that one, and it stays in force while the disk
   * cannot be read.
   */
  readonly #seen = new Map<FileName, Seen>()
  readonly #logged = new Set<string>()

  constructor({ files, layout, log, faults }: RequestsOptions) {
    this.#files = files
    this.#directory = layout.requests
    this.#log = log
    this.#faults = faults
  }

  /** Throws while it is not known whether there is a `hold`. */
  read(): Requests {
    const rollback = this.#look('rollback', isRollbackRequest)?.value
    const promote = this.#look('promote', isPromoteRequest)?.value
    const hold = this.#readHold()
    return {
      rollback: isRollbackRequest(rollback) ? rollback : undefined,
      retry: this.#look('retry', isRetryRequest)?.value !== undefined,
      ...hold,
      ...(isPromoteRequest(promote) && { promote }),
    }
  }

  done(request: RequestName): void {
    const path = join(this.#directory, request)
    // A request that arrived after the last read has not been carried out.
    if (this.#files.stat(path)?.identity === this.#seen.get(request)?.identity) this.#files.remove(path)
    this.#seen.delete(request)
  }

  #readHold(): Pick<Requests, 'hold' | 'force'> {
    const seen = this.#look('hold', isHoldRequest)
    if (seen === undefined) return { hold: 'none' }
    if (!isHoldRequest(seen.value)) return { hold: 'paused' }
    const { hold, force } = seen.value
    return { hold, ...(hold === 'local' && force === true && { force }) }
  }

  /** undefined: there is no such file. */
  #look(name: FileName, check: Check<unknown>): Seen | undefined {
    const facts = this.#inspect(name)
    if (facts === 'unknown') return this.#seen.get(name)
    const seen = facts && this.#readOnce(name, facts, check)
    if (seen === undefined) this.#seen.delete(name)
    else this.#seen.set(name, seen)
    return seen
  }

  #inspect(name: FileName): FileFacts | 'unknown' | undefined {
    const path = `${this.#directory}/${name}`
    try {
      const facts = this.#files.stat(path)
      this.#faults.worked(path)
      return facts
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      const isKnown = name !== 'hold' || this.#seen.has(name) || isDamagedPath(cause) || this.#faults.hasLasted(path, cause, countsForHold)
      if (!isKnown) throw cause
      if (name !== 'hold' || this.#seen.has(name)) this.#logUnread(cause)
      else this.#logOnce(`whether this node is paused is not known; it counts as not paused: ${cause.message}`)
      return 'unknown'
    }
  }

  #readOnce(name: FileName, facts: FileFacts, check: Check<unknown>): Seen {
    const path = `${this.#directory}/${name}`
    const before = this.#seen.get(name)
    if (before?.identity === facts.identity) return before
    try {
      const value = this.#parse(path, facts, check)
      if (value === undefined)
        this.#logOnce(`${path} is not a valid request${name === 'hold' ? COUNTS_AS_PAUSE : ' and is ignored; remove it'}`)
      return { identity: facts.identity, value }
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      if (name === 'hold' && before === undefined) this.#logOnce(`${cause.message}${COUNTS_AS_PAUSE}`)
      else this.#logUnread(cause)
      return before ?? { identity: undefined, value: undefined }
    }
  }

  #parse(path: string, facts: FileFacts, check: Check<unknown>): unknown {
    // Reading a pipe might never end.
    if (facts.kind !== 'file' || facts.size > LONGEST) return undefined
    const bytes = this.#files.read(path)
    return bytes && parseJson(bytes, check)
  }

  #logUnread(cause: FileError): void {
    this.#logOnce(`a request cannot be read and stays as it was: ${cause.message}`)
  }

  #logOnce(text: string): void {
    if (this.#logged.has(text)) return
    this.#logged.add(text)
    this.#log.warn(text)
  }
}

/** Each method is durable when it returns. */
export class RequestWriter {
  readonly #files: Files
  readonly #directory: string

  constructor(files: Files, layout: Layout) {
    this.#files = files
    this.#directory = layout.requests
  }

  requestHold(hold: HoldRequest['hold'], force = false): void {
    this.#write('hold', { hold, ...(force && { force }) } satisfies HoldRequest)
  }

  clearHold(): void {
    this.#files.remove(join(this.#directory, 'hold'))
    // An earlier command may have removed it, and failed to make that durable.
    this.#files.syncDirectory(this.#directory)
  }

  requestRollback(content: ContentHash): void {
    this.#write('rollback', { content } satisfies RollbackRequest)
  }

  requestPromote(content: ContentHash): void {
    this.#write('promote', { content } satisfies PromoteRequest)
  }

  /** The agent carries a retry out first, so that a rollback of before would undo it. */
  requestRetry(): void {
    this.#files.remove(join(this.#directory, 'rollback'))
    this.#write('retry', { retry: 'all' } satisfies RetryRequest)
  }

  #write(name: string, request: HoldRequest | RollbackRequest | PromoteRequest | RetryRequest): void {
    this.#files.makeDirectory(this.#directory)
    this.#files.replace(join(this.#directory, name), JSON.stringify(request))
  }
}
