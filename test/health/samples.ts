// SPDX-License-Identifier: Apache-2.0
/** Looks at kubelet, and the record that they fold into. */
import { findFailure } from '../../src/health/failure.ts'
import { type HealthRecord, recordSample } from '../../src/health/fold.ts'
import type { HealthSample } from '../../src/health/sample.ts'
import type { UnitActivity } from '../../src/subject/unit-state.ts'
import { A, BOOT, keyOf, NOW_US, POLICY, runs, runsNothing, SECOND_US, unit } from '../decision/snapshots.ts'

export const SUBJECT = keyOf(A)

export type Look = Partial<Pick<HealthSample, 'unit' | 'running' | 'healthz' | 'runtimeUp' | 'changesRuntime' | 'portTaken'>>

/** One look, `afterUs` from NOW_US. */
export function look(afterUs: number, facts: Look): HealthSample {
  return {
    at: { bootId: BOOT, monotonicUs: NOW_US + afterUs, wallMs: 0 },
    unit: unit(),
    running: { kind: 'none' },
    healthz: undefined,
    runtimeUp: undefined,
    ...facts,
  }
}

export const OK = { healthz: { ok: true, detail: 'ok' } }
export const REFUSED = { healthz: { ok: false, detail: 'connection refused' } }

export function healthy(source: typeof A | 'local' = A, invocationId = 'i-1', nRestarts = 0): Look {
  return { ...(runs(source, { invocationId, unit: { nRestarts } }) as Look), ...OK }
}

export function ill(source: typeof A | 'local' = A, invocationId = 'i-1', nRestarts = 0): Look {
  return { ...healthy(source, invocationId, nRestarts), ...REFUSED }
}

export function down(activity: UnitActivity, invocationId = 'i-1', nRestarts = 0): Look {
  return runsNothing(activity, { invocationId, nRestarts }) as Look
}

/** A start in which systemd has not executed kubelet: `ExecStartPre=` comes before it. */
export function pre(activity: UnitActivity, invocationId = 'i-1', nRestarts = 0): Look {
  return runsNothing(activity, { invocationId, nRestarts, startedAtUs: 0 }) as Look
}

/** Without a health port. */
export function runsSince(startedAtUs: number): Look {
  return runs(A, { invocationId: 'i-1', unit: { startedAtUs } }) as Look
}

/** Folds looks that are a second apart. */
export function follow(looks: readonly Look[], from?: HealthRecord, subject = SUBJECT, everyUs = SECOND_US): HealthRecord {
  let record = from
  const startUs = from === undefined ? 0 : from.lastSampleUs - NOW_US + everyUs
  for (const [index, facts] of looks.entries()) record = recordSample(record, look(startUs + index * everyUs, facts), subject, POLICY)
  if (record === undefined) throw new Error('no record: systemd never answered')
  return record
}

/** The name of the failure right after the last of these looks, or `afterUs` later. */
export function verdictOn(record: HealthRecord, last: Look, afterUs = 0): string | undefined {
  const at = { bootId: BOOT, monotonicUs: record.lastSampleUs + afterUs, wallMs: 0 }
  return findFailure(record, { unit: last.unit ?? unit(), at, runtimeUp: last.runtimeUp }, POLICY)?.reason
}

export const times = (count: number, facts: Look): Look[] => Array.from({ length: count }, () => facts)

/** A crash loop from the restart on: each start is seen running, and then waiting for the next. */
export function loop(exits: number, firstInvocation = 1): Look[] {
  return Array.from({ length: exits }, (_, index) => [
    ill(A, `i-${firstInvocation + index}`, index),
    down('auto-restart', `i-${firstInvocation + index}`, index),
  ]).flat()
}
