/** The limits that the decision works with, as data. The settings give them. */
/** The agent's limits: see settings for their defaults. Microseconds. */
export interface Policy {
  readonly trialUs: number
  readonly startDeadlineUs: number
  readonly toleranceUs: number
  readonly crashLimit: number
  readonly spreadUs: number
  readonly restartsPerHour: number
  readonly keepCheckpoints: number
}
