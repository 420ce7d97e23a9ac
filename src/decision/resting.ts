// SPDX-License-Identifier: Apache-2.0
/**
 * The waits of a node that runs its target (on trial, settled, or fallen back), or that keeps what
 * runs although its next start uses another config. Pure.
 */
import { countRecurringExits, describeRecurringExits } from '../health/recurring-exits.ts'
import { isFailing } from '../health/sample.ts'
import { describeSource } from '../subject/config-source.ts'
import { hasPassed } from '../subject/trial-key.ts'
import { formatDuration } from '../values/durations.ts'
import { findRetrial, findRetrialUs } from './fallback-rules.ts'
import { isLocalAssigned } from './left.ts'
import { describeOwedProof, trialOf } from './promote.ts'
import type { Snapshot } from './snapshot.ts'
import type { Wait } from './step.ts'
import { type Candidate, findUnavailable, type Target, type TargetSituation } from './target.ts'
import { describeTrial } from './trial.ts'
import { isOfFailure } from './verdict.ts'
import { ASSIGNED_DAMAGED, wait } from './wait.ts'
import { failsNow, isCondemned } from './worth-keeping.ts'

export const NOTHING_LEFT = 'it failed, and so did everything else that can be started now'

/** The target runs, or is what systemd keeps starting. */
export function restOn(situation: TargetSituation): Wait {
  const { snapshot, target } = situation
  const isDamaged = snapshot.assigned.kind === 'damaged'
  if (isDamaged && !target.atFault) return wait(snapshot, 'unknown', ASSIGNED_DAMAGED)
  const phase = restingPhase(situation)
  const what = describeSource(target.source)
  switch (phase) {
    case 'in-trial': {
      const trial = trialOf(snapshot, target.key)
      const text = describeTrial(snapshot, target)
      if (trial.kind === 'over') return wait(snapshot, phase, `${text} ${trial.but}`)
      return wait(snapshot, phase, text, trial.kind === 'running' ? trial.endsAtUs : undefined)
    }
    case 'fallen-back':
    case 'refused':
      return waitFallenBack(situation, phase, what)
    case 'node-at-fault':
      return wait(
        snapshot,
        phase,
        `every config failed, so the node is at fault; resting on ${what}${isDamaged ? `; ${ASSIGNED_DAMAGED}` : ''}`,
      )
    case 'settled': {
      const owed = describeOwedProof(snapshot)
      return wait(snapshot, phase, `${what}${owed === undefined ? '' : `; ${owed}`}${warnOfExits(snapshot)}`)
    }
  }
}

/** A crash loop that is slower than the trial. */
function warnOfExits({ health, now }: Snapshot): string {
  const recurring = health && countRecurringExits(health, now.monotonicUs)
  return recurring === undefined ? '' : `; ${describeRecurringExits(recurring)}`
}

function waitFallenBack({ snapshot, candidates, target }: TargetSituation, phase: 'fallen-back' | 'refused', what: string): Wait {
  const retrial = findRetrial(snapshot, candidates, target)
  // The assigned config waits for a drained node, or for its turn in a rollout.
  const failed = isOfFailure(target.verdict) ? `; ${NOTHING_LEFT}` : ''
  const text = `${what} runs in place of what is assigned${failed}`
  if (retrial === undefined) return wait(snapshot, phase, text)
  const { verdict, pauseUs, number, of } = retrial
  const again = `${describeSource(verdict.source)} is tried again (${number} of ${of}) when kubelet has been healthy for ${formatDuration(pauseUs)}`
  return wait(snapshot, phase, `${text}; ${again}`, findRetrialUs(snapshot, retrial, target))
}

type RestingPhase = 'node-at-fault' | 'fallen-back' | 'refused' | 'settled' | 'in-trial'

export function restingPhase({ snapshot, target, candidates }: TargetSituation): RestingPhase {
  if (target.atFault) return 'node-at-fault'
  const isOnTrial = target.goesOn && target.source !== 'local' && !isLocalAssigned(snapshot) && !hasPassed(snapshot, target.key)
  if (target.fallback && !isOnTrial) return isRefusedAlone(candidates, target) ? 'refused' : 'fallen-back'
  if (target.source === 'local') return 'settled'
  return hasPassed(snapshot, target.key) ? 'settled' : 'in-trial'
}

/** Whether every config that the target stands in for was refused, and none has failed. */
function isRefusedAlone(candidates: readonly Candidate[], target: Target): boolean {
  const before = candidates.slice(
    0,
    candidates.findIndex(({ content }) => content === target.content),
  )
  return before.length > 0 && before.every(({ verdict }) => verdict?.state === 'refused')
}

/**
 * A kubelet that keeps running although its next start uses another config. A healthy kubelet is
 * restarted for a new assignment, for an operator's request or for a verdict. It is never restarted
 * because a file was lost, since that may come back, or because a config was refused. In these
 * cases only the next start changes, so that a kubelet that exits starts with something that
 * exists.
 *
 * @returns undefined: kubelet is to run the target
 */
export function findRunOn({ snapshot, unit, target }: TargetSituation): Wait | undefined {
  const { running, assigned } = snapshot
  if (unit.activity !== 'running' || running.kind !== 'known' || running.content === target.content) return undefined
  if (isCondemned(snapshot, unit) || failsNow(snapshot)) return undefined
  if (assigned.kind === 'damaged') return wait(snapshot, 'unknown', ASSIGNED_DAMAGED)
  if (!target.fallback && target.source !== 'local') return undefined
  const runsOn = `kubelet runs on, and its next start uses ${describeSource(target.source)}`
  const unavailable = findUnavailable(snapshot, unit)
  if (unavailable === 'refused') return wait(snapshot, 'refused', `the assigned config was refused: ${runsOn}`)
  if (!target.fallback) return undefined
  if (unavailable === 'gone') return wait(snapshot, 'unknown', `the checkpoint of the assigned config is gone: ${runsOn}`)
  if (running.lost === true) return wait(snapshot, 'unknown', `the checkpoint of the running config is gone: ${runsOn}`)
  return undefined
}

/**
 * Kubelet runs and is not known to fail, and neither the disk nor its command line identifies the
 * running config. It may be the one in place: if that were replaced, the running config could no
 * longer be identified, and kubelet would be restarted once the assigned checkpoint is back.
 *
 * @returns undefined: the target may be activated
 */
export function findLeftInPlace({ snapshot, unit, target }: TargetSituation): Wait | undefined {
  const { nextStart, running, healthz } = snapshot
  if (nextStart.kind !== 'unknown' || nextStart.absent === true || running.kind !== 'unknown') return undefined
  if (unit.activity !== 'running' || isFailing(healthz)) return undefined
  if (!target.fallback || findUnavailable(snapshot, unit) !== 'gone') return undefined
  return wait(snapshot, 'unknown', `kubelet runs on with what is in place: ${nextStart.detail}`)
}
