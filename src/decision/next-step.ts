/**
 * The decision: one Snapshot in, one Step out. Pure, so that every crash, every order of events and
 * every outage ends in the same place: the next pass observes again and goes on from what it sees.
 *
 * Rules run in order; the first that yields a step wins. A step that failed lately is passed over
 * until it is due again, so that a full disk cannot keep a node from falling back.
 */
import { failedLately } from './failed-lately.ts'
import { RULES } from './rules.ts'
import { assess } from './situation.ts'
import type { Snapshot } from './snapshot.ts'
import type { Step } from './step.ts'
import { wait } from './wait.ts'

export function nextStep(snapshot: Snapshot): Step {
  const situation = assess(snapshot)
  for (const rule of RULES) {
    const step = rule(situation)
    if (step !== undefined && !failedLately(snapshot, step)) return step
  }
  return wait(snapshot, 'unknown', 'no rule applies')
}

/**
 * The step to tell people and other nodes of. The boots of a trial are written down in passing:
 * then it is the step after that.
 */
export function nextVisibleStep(snapshot: Snapshot): Step {
  const step = nextStep(snapshot)
  return step.kind === 'record-boot' ? nextStep({ ...snapshot, trialBoots: step.trialBoots }) : step
}
