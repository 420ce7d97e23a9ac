// SPDX-License-Identifier: Apache-2.0
/** How long the demo waits for what a slow machine does late. */
export interface Pace {
  /** For anything to come true. */
  readonly limitMs: number
  /** For one answer of kubelet. */
  readonly answerMs: number
  /**
   * Settings of the agent: how late a kubelet may become healthy, and for how long it may be
   * unhealthy in its trial.
   */
  readonly startDeadline: string
  readonly healthTolerance: string
  /**
   * Longer than the agent takes between two looks, so that it counts each exit of a crash loop and
   * the story reads alike every time.
   */
  readonly restartSecMs: number
}

/**
 * On a busy machine everything comes later.
 *
 * @param load how many processes want a processor
 */
export function stretch(limitMs: number, load: number, processors: number): number {
  return limitMs * Math.max(1, load / processors)
}

/** The slowest act takes 8 s: the agent finds an API server that was away. */
export const BRISK: Pace = { limitMs: 20_000, answerMs: 1000, startDeadline: '10s', healthTolerance: '3s', restartSecMs: 1000 }

export const PATIENT: Pace = { limitMs: 3600_000, answerMs: 60_000, startDeadline: '30m', healthTolerance: '5m', restartSecMs: 5000 }
