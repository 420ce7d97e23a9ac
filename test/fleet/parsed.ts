// SPDX-License-Identifier: Apache-2.0
/** The contents of objects that agents read, parsed once: thousands of nodes read the same text. */
import { DEFAULT_PLAN, type ParsedPlan, parsePlan } from '../../src/rollout/plan.ts'
import { parseRecord } from '../../src/rollout/record.ts'
import type { ConfigObject, RecordObject } from './fleet-api.ts'

const RECORDS = new WeakMap<RecordObject, ReturnType<typeof parseRecord>>()
const PLANS = new WeakMap<ConfigObject, ParsedPlan>()

export function parsedRecord(record: RecordObject): ReturnType<typeof parseRecord> {
  const known = RECORDS.get(record)
  if (known !== undefined) return known
  const parsed = parseRecord(record.data)
  RECORDS.set(record, parsed)
  return parsed
}

export function planOf(config: ConfigObject): ParsedPlan {
  const known = PLANS.get(config)
  if (known !== undefined) return known
  const parsed = parsePlan(config.planText, config.excluded.join(', '))
  PLANS.set(config, parsed)
  return parsed
}

export function planTimeZone(config: ConfigObject): string {
  const parsed = planOf(config)
  return parsed.ok ? parsed.plan.timeZone : DEFAULT_PLAN.timeZone
}

/** `retry` of its plan; 0 where the plan cannot be read. */
export function planRetry(config: ConfigObject): number {
  const parsed = planOf(config)
  return parsed.ok ? parsed.plan.retry : 0
}
