/** The shapes of the request files, which the command line writes and the agent reads. Pure. */
import { isContentHash } from '../decision/config-source.ts'
import { isFlag, oneOf, optional, shape, type TypeOf } from '../values/json-shape.ts'

export const isHoldRequest = shape({ hold: oneOf('paused', 'local'), force: optional(isFlag) })
export type HoldRequest = TypeOf<typeof isHoldRequest>
export const isRollbackRequest = shape({ content: isContentHash })
export type RollbackRequest = TypeOf<typeof isRollbackRequest>
export const isPromoteRequest = shape({ content: isContentHash })
export type PromoteRequest = TypeOf<typeof isPromoteRequest>
export const isRetryRequest = shape({ retry: oneOf('all') })
export type RetryRequest = TypeOf<typeof isRetryRequest>
