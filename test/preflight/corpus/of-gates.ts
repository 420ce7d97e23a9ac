// SPDX-License-Identifier: Apache-2.0
/**
 * Every feature gate of the table alone, for kubelet 1.`minor`: with the value that is not its
 * default where this kubelet knows the gate, and on where it does not.
 */
import { listGates, stateOf } from '../../../src/kubelet/gates.ts'
import { below, type Candidate } from './candidate.ts'

export function listGateCandidates(minor: number): Candidate[] {
  return listGates().map((name) => below(`featureGates: {${name}: ${!(stateOf(name, minor)?.on ?? false)}}`))
}
