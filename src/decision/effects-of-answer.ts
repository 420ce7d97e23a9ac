// SPDX-License-Identifier: Apache-2.0
/**
 * The effects that follow from the answer to a command: preflight's result, and whether systemd
 * took the restart. Pure.
 */

import { describeSource } from '../subject/config-source.ts'
import type { TrialKey } from '../subject/trial-key.ts'
import type { Instant } from '../values/durations.ts'
import { type CommandEffect, history, log, putRestarts, type StateEffect } from './effects.ts'
import { put } from './record-table.ts'
import type { Snapshot } from './snapshot.ts'
import type { StepOf } from './step.ts'
import { type Acceptance, findFormer, type PreflightResult, type Verdict } from './verdict.ts'

export interface PreflightAnswer {
  readonly result: PreflightResult
  /**
   * `Snapshot.basis` when preflight began: a result that was overtaken meanwhile is asked for
   * again.
   */
  readonly basis: string | undefined
  /** Of local: what was checked (`Snapshot.localConfig`). */
  readonly localConfig?: string | undefined
  readonly at: Instant
}

export function effectsOfPreflight(
  { source, key }: StepOf<'preflight'>,
  { result, basis, localConfig, at }: PreflightAnswer,
  snapshot: Snapshot,
): readonly StateEffect[] {
  const { verdicts, accepted, running } = snapshot
  const before = verdicts.get(key)
  const former = findFormer(snapshot, key)
  const restsOn = { basis, ...(localConfig !== undefined && { localConfig }) }
  switch (result.kind) {
    case 'pending':
      return []
    case 'accepted': {
      const why = 'preflight accepts what it had refused'
      return [
        // A repeated result is not logged again.
        ...(accepted.has(key) ? [] : result.remarks.map((remark) => log('warn', remark, { source }))),
        {
          kind: 'remember-acceptance',
          key,
          acceptance: {
            drain: result.drain,
            ...(result.managers && { managers: result.managers }),
            ...restsOn,
            ...noteRemarks(result),
            ...noteChanges(result, running),
          },
        },
        ...(before?.state === 'refused'
          ? [history('retrying', undefined, source, why), log('info', why, { source }), lift(key, former)]
          : []),
      ]
    }
    case 'refused': {
      const { reason, detail } = result
      const isRepeated = before?.state === 'refused' && before.detail === detail
      const rendered = source === 'local' || source.overlay === undefined ? '' : ', as this node merges it'
      return [
        { kind: 'forget-acceptance', key },
        ...(isRepeated
          ? []
          : [
              history('rejected', source, undefined, detail),
              log('error', `failed to ${reason} ${source === 'local' ? 'local ' : ''}config${rendered}: ${detail}`, { source }),
            ]),
        {
          kind: 'write-verdict',
          verdict: { key, state: 'refused', reason, detail, source, atWallMs: at.wallMs, ...restsOn, ...(former && { former }) },
        },
      ]
    }
  }
}

function lift(key: TrialKey, former: Verdict | undefined): StateEffect {
  return former === undefined ? { kind: 'remove-verdict', key } : { kind: 'write-verdict', verdict: { ...former, suspended: true } }
}

function noteRemarks({ remarks }: Extract<PreflightResult, { kind: 'accepted' }>): Pick<Acceptance, 'remarks'> {
  return remarks.length === 0 ? {} : { remarks }
}

/** Preflight compares with what runs, and begins anew where that has changed meanwhile. */
function noteChanges(
  { changed }: Extract<PreflightResult, { kind: 'accepted' }>,
  running: Snapshot['running'],
): Pick<Acceptance, 'changes'> {
  return changed === undefined || running.kind !== 'known' ? {} : { changes: { from: running.content, fields: changed } }
}

/** `mayBeTaken`: no answer came in time, and systemd may do it all the same. */
export type RestartOutcome = { readonly ok: true } | { readonly ok: false; readonly detail: string; readonly mayBeTaken?: boolean }

export function effectsOfRestart(
  { record, earlier, health }: Extract<CommandEffect, { kind: 'restart-kubelet' }>,
  outcome: RestartOutcome,
): readonly StateEffect[] {
  const written = putRestarts([...earlier, { ...record, outcome: outcome.ok ? { ok: true, detail: '' } : outcome }])
  if (outcome.ok) return written
  return [
    ...written,
    // The next start is not the agent's.
    ...(health === undefined || outcome.mayBeTaken === true ? [] : [put('health', { ...health, restartDueUntilUs: undefined })]),
    log('error', 'systemd refused to restart kubelet', { detail: outcome.detail }),
  ]
}

/** The error of a preflight that has nothing to check. */
export function missingCheckpoint({ source }: StepOf<'preflight'>): Error {
  return new Error(`the checkpoint of ${describeSource(source)} cannot be read; it is downloaded again if the cluster has it`)
}
