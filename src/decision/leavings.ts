/**
 * Whether kubelet died of what another config left behind. Its CPU and memory managers keep their
 * state in files below --root-dir, with the policy that wrote them. Kubelet exits where the policy
 * of its config is another, until somebody deletes the file (kubernetes issue 95041). Rule:
 * `restoreState`, pkg/kubelet/cm/cpumanager/state/state_checkpoint.go and
 * memorymanager/state/state_checkpoint.go. Pure.
 */
import type { Verdict } from './verdict.ts'

const OTHER_POLICY = /\bconfigured policy "[^"]*" differs from state checkpoint policy\b/

export function diedOfLeavings({ detail }: Pick<Verdict, 'detail'>): boolean {
  return OTHER_POLICY.test(detail)
}
