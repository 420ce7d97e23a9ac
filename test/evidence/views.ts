// SPDX-License-Identifier: Apache-2.0
/** What a single kind is judged by, and the moment of an answer. The process started at 0. */

import type { Baseline, EvidenceMoment, EvidenceView, ProcessEvidence } from '../../src/evidence/kinds.ts'
import { B, KUBELET, keyOf, POLICY, SECOND_US } from '../decision/snapshots.ts'

const PROCESS: ProcessEvidence = { invocationId: 'i', key: keyOf(B), sinceUs: 0, requests: 0, requestsSinceUs: 0, answeredUs: {} }
export const BASELINE: Baseline = { candidate: keyOf(B), invocationId: 'before', sinceUs: 0, answered: [], kubelet: KUBELET }

/** For `match`, which finds a text within another one, as in `unknown`. */
export const NO = /^no$/

/** Microseconds after the start of the process. */
export const s = (seconds: number) => seconds * SECOND_US

export function viewOf(process: Partial<ProcessEvidence>, facts: Partial<EvidenceView> = {}): EvidenceView {
  return {
    process: { ...PROCESS, reachableSinceUs: 0, ...process },
    baseline: BASELINE,
    taken: BASELINE,
    isCandidate: true,
    notReadyByMs: undefined,
    policy: POLICY,
    servesFromUs: 0,
    renewsFromUs: undefined,
    isAtEnd: false,
    ...facts,
  }
}

/** @param baseline undefined: there is none */
export function momentOf(
  atSeconds: number,
  process: Partial<ProcessEvidence>,
  baseline: Partial<Baseline> | undefined,
  facts: Partial<EvidenceMoment> = {},
): EvidenceMoment {
  return {
    atUs: s(atSeconds),
    wallMs: 1000 * atSeconds,
    nodeName: 'node-1',
    startDeadlineUs: POLICY.startDeadlineUs,
    healthyUs: 0,
    isPromoted: false,
    process: { ...PROCESS, ...process },
    baseline: baseline && { ...BASELINE, ...baseline },
    ...facts,
  }
}
