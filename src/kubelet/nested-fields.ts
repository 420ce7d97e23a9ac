/**
 * Nested fields of KubeletConfiguration, one table for each object type. Data only; see
 * `fields.ts`.
 */
import type { Fields } from './field.ts'

export const AUTHENTICATION = {
  x509: { type: 'object', fields: { clientCAFile: { type: 'string' } } },
  webhook: { type: 'object', fields: { enabled: { type: 'boolean' }, cacheTTL: { type: 'duration' } } },
  anonymous: { type: 'object', fields: { enabled: { type: 'boolean' } } },
} as const satisfies Fields

export const AUTHORIZATION = {
  mode: { type: 'string' },
  webhook: { type: 'object', fields: { cacheAuthorizedTTL: { type: 'duration' }, cacheUnauthorizedTTL: { type: 'duration' } } },
} as const satisfies Fields

export const MEMORY_SWAP = { swapBehavior: { type: 'string', since: 22 } } as const satisfies Fields

export const RESERVED_MEMORY = {
  numaNode: { type: 'int32', since: 21 },
  limits: { type: 'quantity-map', since: 21 },
} as const satisfies Fields

export const SHUTDOWN_BY_PRIORITY = {
  priority: { type: 'int32', since: 23 },
  shutdownGracePeriodSeconds: { type: 'int64', since: 23 },
} as const satisfies Fields

export const CRASH_LOOP = { maxContainerRestartPeriod: { type: 'nullable-duration', since: 32 } } as const satisfies Fields

export const USER_NAMESPACES = { idsPerPod: { type: 'int64', since: 33 } } as const satisfies Fields

export const TRACING = {
  endpoint: { type: 'string', since: 25 },
  samplingRatePerMillion: { type: 'int32', since: 25 },
} as const satisfies Fields

/** `Taint` of k8s.io/api/core/v1. */
export const TAINT = {
  key: { type: 'string', since: 23 },
  value: { type: 'string', since: 23 },
  effect: { type: 'string', since: 23 },
  timeAdded: { type: 'time', since: 23 },
} as const satisfies Fields

const OUTPUT = { splitStream: { type: 'boolean', since: 23 }, infoBufferSize: { type: 'quantity', since: 23 } } as const satisfies Fields
const TEXT_OUTPUT = {
  splitStream: { type: 'boolean', since: 30 },
  infoBufferSize: { type: 'quantity', since: 30 },
} as const satisfies Fields

/** `LoggingConfiguration` of k8s.io/component-base, config and later logs/api/v1. */
export const LOGGING = {
  format: { type: 'string' },
  sanitization: { type: 'boolean', gone: 24 },
  flushFrequency: { type: 'nanoseconds', since: 23 },
  verbosity: { type: 'uint32', since: 23 },
  vmodule: {
    type: 'objects',
    since: 23,
    fields: { filePattern: { type: 'string', since: 23 }, verbosity: { type: 'uint32', since: 23 } },
  },
  options: {
    type: 'object',
    since: 23,
    fields: {
      json: { type: 'object', since: 23, fields: OUTPUT },
      text: { type: 'object', since: 30, fields: TEXT_OUTPUT },
    },
  },
} as const satisfies Fields
