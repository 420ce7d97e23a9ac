/** The limits of the decision, as data. The settings set them. Durations are microseconds. */
import type { EvidencePolicy } from './evidence.ts'

export interface Policy {
  readonly trialUs: number
  readonly startDeadlineUs: number
  readonly toleranceUs: number
  readonly crashLimit: number
  readonly spreadUs: number
  readonly restartsPerHour: number
  readonly keepCheckpoints: number
  readonly evidence: EvidencePolicy
}
