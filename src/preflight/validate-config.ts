/**
 * The rules of kubelet's own validation that hold in every version from 1.20 on, whatever its feature gates, so that nothing is refused here that a kubelet would
 * take. Pure. The rules are preflight's; this is what is left of them for one who has only the config, and neither a version nor a text.
 */

import type { KubeletConfig } from '../kubelet/decode.ts'
import { listRules } from './check-fields.ts'
import { weigh } from './fields/complaint.ts'
import { findGateState } from './fields/gate-stages.ts'

/** What kubelet would not start with. */
export function validateConfig(config: KubeletConfig): string[] {
  const complaints = listRules({ config, version: undefined, gate: (name) => findGateState(name, config, undefined) })
  return complaints.filter((complaint) => weigh(complaint, undefined) === 'refuse').map(({ problem }) => problem)
}
