// SPDX-License-Identifier: Apache-2.0
/**
 * The messages between the agent and its helper, as JSON, one message a line. Pure. The helper's
 * answers are checked, since it works on texts that others wrote.
 */
import type { PreflightResult } from '../decision/verdict.ts'
import type { MachineFacts, MachineFactsResult } from '../kubelet/node-facts.ts'
import { isMaybePosition } from '../kubelet/yaml-document.ts'
import type { ConfigzAnswer } from '../ports/preflight.ts'
import type { Comparison, Difference } from '../preflight/change/check-same.ts'
import type { Finding, PartResult, Report } from '../preflight/finding.ts'
import type { ZoneAnswer } from '../rollout/view.ts'
import { isZoneOffsets } from '../rollout/windows.ts'
import { isObject } from '../values/is-object.ts'
import { anyOf, type Check, isFlag, isNumber, isText, isThere, listOf, oneOf, optional, shape, shapeOf } from '../values/json-shape.ts'

/**
 * `context`: what all methods may need, and `memory`: what an earlier helper wants the next one to
 * know.
 */
export interface HelperRequest {
  readonly id: number
  readonly method: string
  readonly args: readonly unknown[]
  readonly context: unknown
  readonly memory: unknown
}

/** The answer to this request is no longer wanted. */
export interface HelperCancel {
  readonly cancel: number
}

export type HelperReply =
  | { readonly id: number; readonly ok: true; readonly result: unknown; readonly memory: unknown }
  | { readonly id: number; readonly ok: false; readonly detail: string }

export const isReply: Check<HelperReply> = anyOf(
  shape({ id: isNumber, ok: oneOf(true), result: isThere, memory: isThere }),
  shape({ id: isNumber, ok: oneOf(false), detail: isText }),
)

const isStep: Check<string | number> = (value) => typeof value === 'string' || typeof value === 'number'
const isPath = listOf(isStep)

const isFinding = shapeOf<Finding>({
  rule: isText,
  severity: oneOf('refuse', 'warn', 'info'),
  reason: oneOf('load', 'validate'),
  path: isPath,
  position: isMaybePosition,
  problem: isText,
  advice: optional(isText),
  layer: optional(isText),
  isUnsettled: optional(isFlag),
  isAtStart: optional(isFlag),
})
export const isReport = shapeOf<Report>({
  outcome: oneOf('accepted', 'refused', 'unjudged'),
  findings: listOf(isFinding),
  parts: listOf(
    shapeOf<PartResult>({
      part: isText,
      outcome: oneOf('accepted', 'refused', 'cannot-start', 'unjudged'),
      detail: isText,
      changed: optional(listOf(isText)),
    }),
  ),
})

type Settled = Exclude<PreflightResult, { kind: 'pending' }>
export const isPreflightResult: Check<Settled> = anyOf(
  shape({
    kind: oneOf('accepted'),
    remarks: listOf(isText),
    drain: listOf(isText),
    managers: optional(listOf(isText)),
    changed: optional(listOf(isText)),
  }),
  shape({ kind: oneOf('refused'), reason: oneOf('load', 'validate'), detail: isText }),
)

export const isConfigzAnswer: Check<ConfigzAnswer> = anyOf(
  shape({ kind: oneOf('ok'), object: isThere }),
  shape({ kind: oneOf('refused'), by: oneOf('kubelet', 'api-server'), status: isNumber, detail: isText }),
  shape({ kind: oneOf('unproven', 'unreachable'), detail: isText }),
)

/** A value of null stays one; one that is not there is not there. */
const isSide: Check<Difference['meant']> = (value): value is Difference['meant'] =>
  value === undefined || (isObject(value) && isFlag(value.isDefault))
export const isComparison: Check<Comparison> = anyOf(
  shape({
    ok: oneOf(true),
    differences: listOf(shapeOf<Difference>({ path: isPath, meant: isSide, running: isSide, because: optional(isText) })),
  }),
  shape({ ok: oneOf(false), detail: isText }),
)

export const isFactsResult: Check<MachineFactsResult> = anyOf(
  shape({
    ok: oneOf(true),
    facts: shapeOf<MachineFacts>({
      memoryBytes: isNumber,
      memoryAvailableBytes: isNumber,
      swapBytes: isNumber,
      cpus: isNumber,
      architecture: isText,
      os: isText,
      kernel: isText,
    }),
  }),
  shape({ ok: oneOf(false), detail: isText }),
)

export const isZoneAnswer: Check<ZoneAnswer> = anyOf(
  shape({ ok: oneOf(true), offsets: isZoneOffsets }),
  shape({ ok: oneOf(false), timeZone: isText, detail: isText }),
)

export const isNothing = oneOf(null)
