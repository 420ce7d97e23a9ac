/**
 * Changes between two configs with their risk and the policy's decision, for the command line.
 * Pure.
 */
import type { KubeletConfig } from '../kubelet/decode.ts'
import { compareConfigs } from './change/compare.ts'
import { RISKS } from './change/risk-classes.ts'
import type { ConfigChange } from './inspection.ts'
import type { KubeletVersion } from './kubelet-version.ts'
import { type ChangePolicy, decideChange, underPolicy } from './policy/check-policy.ts'

export function describeChanges(
  before: KubeletConfig,
  after: KubeletConfig,
  version: KubeletVersion | undefined,
  policy: ChangePolicy,
): readonly ConfigChange[] {
  return compareConfigs(before, after, version).map((each) => {
    const change = underPolicy(each, policy)
    const { path, risk } = change
    const { outcome, rule } = decideChange(change, policy)
    return { path, before: change.before?.value, after: change.after?.value, risk, meaning: RISKS[risk], policy: { outcome, rule } }
  })
}
