/** The corpus: candidates on which preflight and a real kubelet 1.20.2 are compared. `verdicts.json` is what that kubelet said of each. */
import type { Candidate } from './candidate.ts'
import { listFieldCandidates } from './of-fields.ts'
import { listTextCandidates } from './of-texts.ts'
import { listValueCandidates } from './of-values.ts'

export function listCandidates(): Candidate[] {
  const all = [...listFieldCandidates(), ...listValueCandidates(), ...listTextCandidates()]
  return [...new Map(all.map((candidate) => [candidate.name, candidate])).values()]
}
