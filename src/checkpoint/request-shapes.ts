/** The shapes of the request files, which the command line writes and the agent reads. Pure. */
import type { ContentHash } from '../decision/config-source.ts'
import type { Check } from '../values/json-shape.ts'
import { isFlag, isText, oneOf, optional, shape } from '../values/json-shape.ts'

export interface HoldRequest {
  readonly hold: 'paused' | 'local'
  readonly force?: boolean | undefined
}
export interface RollbackRequest {
  readonly content: ContentHash
}
export interface RetryRequest {
  readonly retry: 'all'
}

export interface PromoteRequest {
  readonly content: ContentHash
}

export const isHoldRequest: Check<HoldRequest> = shape<HoldRequest>({ hold: oneOf('paused', 'local'), force: optional(isFlag) })
export const isRollbackRequest: Check<RollbackRequest> = shape<RollbackRequest>({ content: isText })
export const isPromoteRequest: Check<PromoteRequest> = shape<PromoteRequest>({ content: isText })
export const isRetryRequest: Check<RetryRequest> = shape<RetryRequest>({ retry: oneOf('all') })
