// SPDX-License-Identifier: Apache-2.0
/**
 * The corpus: candidates for comparing preflight with real kubelets. What 1.20.2 says of them is in
 * `verdicts.json`.
 */
import type { Candidate } from './candidate.ts'
import { listFieldCandidates } from './of-fields.ts'
import { listNewFieldCandidates } from './of-new-fields.ts'
import { listPeoplesCandidates } from './of-people.ts'
import { listServingCandidates } from './of-serving.ts'
import { listTextCandidates } from './of-texts.ts'
import { listValueCandidates } from './of-values.ts'

export function listCandidates(): Candidate[] {
  const all = [
    ...listFieldCandidates(),
    ...listValueCandidates(),
    ...listNewFieldCandidates(),
    ...listServingCandidates(),
    ...listPeoplesCandidates(),
    ...listTextCandidates(),
  ]
  return [...new Map(all.map((candidate) => [candidate.name, candidate])).values()]
}
