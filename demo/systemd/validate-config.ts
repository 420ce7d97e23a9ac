// SPDX-License-Identifier: Apache-2.0
/**
 * The rules of kubelet's own validation that hold in every version since 1.20, whatever the feature
 * gates: it never refuses a config that some kubelet would accept. Pure. The rules are preflight's;
 * these are the ones that need neither a version nor the text of the config.
 */

import type { KubeletConfig } from '../../src/kubelet/decode.ts'
import { listRules } from '../../src/preflight/check-fields.ts'
import { findGateState } from '../../src/preflight/fields/check-gates.ts'
import { weigh } from '../../src/preflight/fields/complaint.ts'

/** Problems that keep kubelet from starting. */
export function validateConfig(config: KubeletConfig): string[] {
  const complaints = listRules({ config, version: undefined, gate: (name) => findGateState(name, config, undefined) })
  return complaints.filter((complaint) => weigh(complaint, undefined) === 'refuse').map(({ problem }) => problem)
}
