/** The waits of a node that runs its target: on trial, settled, or fallen back. Pure. */
import { formatDuration } from '../values/durations.ts'
import { describeSource } from './config-source.ts'
import { countRecurringExits, describeRecurringExits } from './exit-log.ts'
import { describeOwedProof } from './late-proof.ts'
import { isLocalAssigned } from './left.ts'
import { describeOpenTrial } from './open-trial.ts'
import { findRetrial, findRetrialUs } from './retrial.ts'
import type { TargetSituation } from './situation.ts'
import type { Snapshot } from './snapshot.ts'
import type { Wait } from './step.ts'
import type { Candidate, Target } from './target.ts'
import { describeTrial, measureTrial } from './trial.ts'
import { hasPassed } from './trial-key.ts'
import { isOfFailure } from './verdict.ts'
import { ASSIGNED_DAMAGED, wait } from './wait.ts'

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
      const missing = describeOpenTrial(snapshot, target.key)
      if (missing !== undefined) return wait(snapshot, phase, `${describeTrial(snapshot, target)} ${missing}`)
      return wait(snapshot, phase, describeTrial(snapshot, target), measureTrial(snapshot, target.key)?.endsAtUs)
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
  // What is assigned waits for a drained node, or for its turn in a rollout.
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

/** What the target stands in for was refused, and nothing has failed. */
function isRefusedAlone(candidates: readonly Candidate[], target: Target): boolean {
  const before = candidates.slice(
    0,
    candidates.findIndex(({ content }) => content === target.content),
  )
  return before.length > 0 && before.every(({ verdict }) => verdict?.state === 'refused')
}
