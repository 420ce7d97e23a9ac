// SPDX-License-Identifier: Apache-2.0
/**
 * Records that name this kubelet as an earlier agent did. Their verdicts stay true: a verdict that
 * was forgotten would have its config tried again on every node at once. Pure.
 */
import type { HealthRecord } from '../health/fold.ts'
import { contentOfKey, identityOfKey, type TrialKey, trialKey } from '../subject/trial-key.ts'
import type { UnitState } from '../subject/unit-state.ts'
import type { Step } from './step.ts'
import type { Situation } from './target.ts'

type Names = Extract<UnitState, { kind: 'known' }>

/** The rule that renames it in what is proven and condemned. */
export function renameKubelet({ snapshot, unit }: Situation): Step | undefined {
  if (unit?.formerIdentity === undefined) return undefined
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
  if (record === undefined || unit.kind === 'unknown' || unit.formerIdentity === undefined) return record
  const { subject, lastProcess, process, recentExits } = record
  return {
    ...record,
    subject: rename(subject, unit),
    lastProcess: lastProcess && { ...lastProcess, kubeletIdentity: renameIdentity(lastProcess.kubeletIdentity, unit) },
    process: process && { ...process, key: rename(process.key, unit) },
    recentExits: recentExits?.map((exit) => ({ ...exit, key: rename(exit.key, unit) })),
  }
}

function rename(key: TrialKey, unit: Names): TrialKey {
  return trialKey(contentOfKey(key), renameIdentity(identityOfKey(key), unit))
}

function renameIdentity(identity: string, { formerIdentity, kubeletIdentity }: Names): string {
  return identity === formerIdentity ? kubeletIdentity : identity
}
