/** The rule that writes down each boot in which a config is on trial. Pure. */
import type { TargetSituation } from './situation.ts'
import type { Step } from './step.ts'
import { findNewTrialBoots } from './trial-boots.ts'

export function recordBoot({ snapshot, unit }: TargetSituation): Step | undefined {
  const { nextStart } = snapshot
  const trialBoots = nextStart.kind === 'known' ? findNewTrialBoots(snapshot, nextStart.held, unit.kubeletIdentity) : undefined
  return trialBoots && { kind: 'record-boot', trialBoots }
}
