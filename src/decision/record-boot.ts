/** The rule that writes down each boot in which a config is on trial. Pure. */
import { isOutOfReach } from './condemn-failure.ts'
import type { TargetSituation } from './situation.ts'
import type { Step } from './step.ts'
import { updateTrialBoots } from './trial-boots.ts'

export function recordBoot({ snapshot, unit, target }: TargetSituation): Step | undefined {
  const { nextStart, trialBoots: before } = snapshot
  if (nextStart.kind !== 'known') return undefined
  const { source, content } = nextStart.held
  // Nothing is known of a checkpoint that cannot be read.
  if (content === undefined) return undefined
  // What is about to be replaced is on trial no more.
  if (content !== target.content && !isOutOfReach(snapshot, target)) return undefined
  const trialBoots = updateTrialBoots(snapshot, { source, content }, unit.kubeletIdentity)
  return trialBoots === before ? undefined : { kind: 'record-boot', trialBoots }
}
