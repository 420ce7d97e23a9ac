/**
 * Writes the operator's requests as files under `requests/`, for the command line. Each method is
 * durable when it returns.
 */
import { join } from 'node:path'
import type { ContentHash } from '../decision/config-source.ts'
import type { Files } from '../ports/files.ts'
import type { Layout } from './layout.ts'
import type { HoldRequest, PromoteRequest, RetryRequest, RollbackRequest } from './request-shapes.ts'

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

  requestRetry(): void {
    this.#write('retry', { retry: 'all' } satisfies RetryRequest)
  }

  #write(name: string, request: HoldRequest | RollbackRequest | PromoteRequest | RetryRequest): void {
    this.#files.makeDirectory(this.#directory)
    this.#files.replace(join(this.#directory, name), JSON.stringify(request))
  }
}
