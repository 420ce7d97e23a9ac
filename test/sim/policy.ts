// SPDX-License-Identifier: Apache-2.0
/** The limits by which simulated agents decide. */

import type { Policy } from '../../src/decision/snapshot.ts'
import { ALL_REQUIRED, type EvidencePolicy } from '../../src/evidence/kinds.ts'

/** An operator may switch it off: then /healthz alone decides. */
const NO_EVIDENCE: EvidencePolicy = { runtime: 'off', lease: 'off', ready: 'off', serving: 'off', 'static-pods': 'off', pods: 'off' }

/**
 * Shorter than the defaults, in proportion: a shorter trial needs fewer looks, so it takes less
 * time to simulate.
 */
export const POLICY: Policy = {
  trialUs: 100e6,
  startDeadlineUs: 40e6,
  toleranceUs: 15e6,
  crashLimit: 3,
  spreadUs: 30e6,
  restartsPerHour: 6,
  whenRefused: 'stay',
  keepCheckpoints: 3,
  evidence: NO_EVIDENCE,
}

/** Evidence takes as long as it does, whatever a trial takes. */
export const EVIDENCE_POLICY: Policy = { ...POLICY, trialUs: 300e6, evidence: ALL_REQUIRED }
