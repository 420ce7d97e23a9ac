/**
 * The corpus: candidates for comparing preflight with a real kubelet 1.20.2, whose results are in
 * `verdicts.json`.
 */
import type { Candidate } from './candidate.ts'
import { listFieldCandidates } from './of-fields.ts'
import { listTextCandidates } from './of-texts.ts'
import { listValueCandidates } from './of-values.ts'

export function listCandidates(): Candidate[] {
  const all = [...listFieldCandidates(), ...listValueCandidates(), ...listTextCandidates()]
  return [...new Map(all.map((candidate) => [candidate.name, candidate])).values()]
}
