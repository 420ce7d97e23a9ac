/** The limits of the decision, as data. The settings set them. Durations are microseconds. */

import type { EvidencePolicy } from '../evidence/kinds.ts'
import type { HealthPolicy } from '../health/looks.ts'

export interface Policy extends HealthPolicy {
  readonly whenRefused: WhenRefused
  readonly spreadUs: number
  readonly restartsPerHour: number
  readonly keepCheckpoints: number
  readonly evidence: EvidencePolicy
}

/**
 * The reaction where preflight refuses the assigned config while another one runs. `stay`: the
 * running config and its trial go on. `last-known-good`: the node returns to last-known-good at
 * once, as kubelet's own Dynamic Kubelet Configuration did.
 */
export const WHEN_REFUSED = ['stay', 'last-known-good'] as const
export type WhenRefused = (typeof WHEN_REFUSED)[number]
