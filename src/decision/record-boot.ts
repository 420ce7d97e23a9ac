/** The rule for a boot that began in the trial of a config: it is written down. Pure. */
import type { TargetSituation } from './situation.ts'
import type { Step } from './step.ts'
import { findNewTrialBoots } from './trial-boots.ts'

export function recordBoot({ snapshot, unit }: TargetSituation): Step | undefined {
  const { nextStart } = snapshot
  const trialBoots = nextStart.kind === 'known' ? findNewTrialBoots(snapshot, nextStart.held, unit.kubeletIdentity) : undefined
  return trialBoots && { kind: 'record-boot', trialBoots }
}
