/** The rule that writes down each boot in which a config is on trial. Pure. */
import { asCandidate, isBeingReplaced } from './condemn-failure.ts'
import type { TargetSituation } from './situation.ts'
import type { Step } from './step.ts'
import { updateTrialBoots } from './trial-boots.ts'

export function recordBoot({ snapshot, unit, target }: TargetSituation): Step | undefined {
  const { nextStart, trialBoots: before } = snapshot
  // Nothing is known of a checkpoint that cannot be read.
  if (nextStart.kind !== 'known' || nextStart.held.content === undefined) return undefined
  const next = asCandidate(nextStart.held, unit)
  if (isBeingReplaced(snapshot, target, next)) return undefined
  const trialBoots = updateTrialBoots(snapshot, next)
  return trialBoots === before ? undefined : { kind: 'record-boot', trialBoots }
}
