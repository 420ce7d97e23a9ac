// SPDX-License-Identifier: Apache-2.0
/**
 * Records that name this kubelet as an earlier agent did. Their verdicts stay true: a verdict that
 * was forgotten would have its config tried again on every node at once. Pure.
 */
import type { HealthRecord } from '../health/fold.ts'
import { contentOfKey, type TrialKey, trialKey } from '../subject/trial-key.ts'
import type { UnitState } from '../subject/unit-state.ts'
import type { Step } from './step.ts'
import type { Situation } from './target.ts'

type Names = Extract<UnitState, { kind: 'known' }>

/** The rule that renames it in what is proven and condemned. */
export function renameKubelet({ snapshot, unit }: Situation): Step | undefined {
  if (unit === undefined || !isRenamed(unit)) return undefined
  const { proven, verdicts, suspendedVerdicts } = snapshot
  const judged = [...verdicts.values(), ...suspendedVerdicts.values()].filter(({ key }) => rename(key, unit) !== key)
  const isProven = proven !== undefined && rename(proven, unit) !== proven
  if (judged.length === 0 && !isProven) return undefined
  return {
    kind: 'rename-kubelet',
    verdicts: judged.map((verdict) => ({ former: verdict.key, verdict: { ...verdict, key: rename(verdict.key, unit) } })),
    ...(isProven && { proven: rename(proven, unit) }),
  }
}

/** The running config must be known by its new name from the first look on. */
export function renameInHealth(record: HealthRecord | undefined, unit: UnitState): HealthRecord | undefined {
  if (record === undefined || unit.kind === 'unknown' || !isRenamed(unit)) return record
  const { subject, lastProcess, process, recentExits } = record
  const isFormer = lastProcess?.kubeletIdentity === unit.formerIdentity
  return {
    ...record,
    subject: rename(subject, unit),
    lastProcess: lastProcess && (isFormer ? { ...lastProcess, kubeletIdentity: unit.kubeletIdentity } : lastProcess),
    process: process && { ...process, key: rename(process.key, unit) },
    recentExits: recentExits?.map((exit) => ({ ...exit, key: rename(exit.key, unit) })),
  }
}

function isRenamed({ formerIdentity, kubeletIdentity }: Names): boolean {
  return formerIdentity !== undefined && formerIdentity !== kubeletIdentity
}

function rename(key: TrialKey, { formerIdentity, kubeletIdentity }: Names): TrialKey {
  const content = contentOfKey(key)
  return formerIdentity !== undefined && key === trialKey(content, formerIdentity) ? trialKey(content, kubeletIdentity) : key
}
