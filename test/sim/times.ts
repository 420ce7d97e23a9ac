// SPDX-License-Identifier: Apache-2.0
/**
 * The table of times of docs/concepts.md, "How soon a failing config is left", by the settings of a
 * node. test/docs compares the two.
 */
import type { Policy } from '../../src/decision/snapshot.ts'

/**
 * An exit this near to its start counts as one of a crash loop by its words, and the next start
 * too.
 */
export const ALIKE_WITHIN_US = 60e6
export const ALIKE_EXITS = 2
/** In a row they are a crash loop of kubelets that differ at each start. */
export const DIFFERENT_KUBELETS = 3
/** The agent waits for the journal and for the container runtime in a look. */
const LOOK_TAKES_US = 5e6

/** The rows of the table, in its order and with its words. */
export const FAILING = [
  { failing: 'exits', docs: 'exits for the third time' },
  { failing: 'same words', docs: 'exits for the second time, with the same last words' },
  { failing: 'given up', docs: 'is given up by systemd' },
  { failing: 'never healthy', docs: 'does not get healthy' },
  { failing: 'no more healthy', docs: 'was healthy, and is no more' },
] as const

export type Failing = (typeof FAILING)[number]['failing']

/**
 * The time after which a failing kubelet's config is left, counted from when kubelet has failed so.
 */
export function limitUs(failing: Failing, { startDeadlineUs, toleranceUs }: Policy): number {
  switch (failing) {
    case 'exits':
    case 'same words':
    case 'given up':
      return 0
    case 'never healthy':
      return startDeadlineUs
    case 'no more healthy':
      return toleranceUs
  }
}

/**
 * How late the agent may be by its looks: illness begins at the look that sees it first, and has
 * lasted for so long at another. Of a gap that is longer than the tolerance, half the tolerance
 * counts, and one exit, and nothing of the first one.
 *
 * @param lookUs the time between two looks
 */
export function lateUs(failing: Failing, lookUs: number, policy: Policy): number {
  const { toleranceUs, crashLimit } = policy
  const isOfTime = failing === 'never healthy' || failing === 'no more healthy'
  if (lookUs <= toleranceUs) return (isOfTime ? 2 : 1) * lookUs + LOOK_TAKES_US
  const counted = isOfTime ? Math.ceil(limitUs(failing, policy) / (toleranceUs / 2)) : crashLimit
  return (3 + counted) * (lookUs + LOOK_TAKES_US)
}
