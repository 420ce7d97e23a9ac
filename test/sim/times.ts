// SPDX-License-Identifier: Apache-2.0
/**
 * The table of times of docs/concepts.md, "How soon a failing config is left", by the settings of a
 * node. test/docs compares the two.
 */
import type { Policy } from '../../src/decision/snapshot.ts'
import type { NodeKind } from './node-kind.ts'

/**
 * An exit this near to its start counts as one of a crash loop by its words, and the next start
 * too.
 */
const ALIKE_WITHIN_US = 60e6
const ALIKE_EXITS = 2
/** `RestartSec=` of a plain node: it is a part of the times for several configs. */
const PLAIN_WAIT_SECONDS = 10
/** A crash loop however healthy kubelet is in between, and while it starts with the config. */
export const RECURRING_EXITS = 10
export const RECURRING_WITHIN_US = 24 * 3600e6
/** In a row they are a crash loop of kubelets that differ at each start. */
export const DIFFERENT_KUBELETS = 3
/** The agent waits for the journal and for the container runtime in a look. */
const LOOK_TAKES_US = 5e6

/** The rows of the table, in its order and with its words. */
export const FAILING = [
  { failing: 'exits', docs: 'exits for the third time, or the tenth within 24 hours' },
  { failing: 'same words', docs: 'exits for the second time, with the same last words' },
  { failing: 'given up', docs: 'is given up by systemd' },
  { failing: 'never healthy', docs: 'does not get healthy' },
  { failing: 'no more healthy', docs: 'was healthy, and is no more' },
] as const

export type Failing = (typeof FAILING)[number]['failing']

/** One exit of kubelet, as the world knows it. */
export interface SimExit {
  readonly startedAtUs: number
  readonly atUs: number
  readonly said: string | undefined
  /** `RestartSec=` from then on. */
  readonly restartSeconds: number
}

/**
 * Whether the latest exits have the same words, each near to its start. Numbers and addresses
 * differ from start to start, and systemd waits before a start.
 *
 * @param noticedUs how long after an exit the agent may have noticed it
 */
export function areAlike(exits: readonly SimExit[], noticedUs = 0): boolean {
  const [before, after] = exits.slice(-ALIKE_EXITS)
  if (before?.said === undefined || after?.said === undefined) return false
  const isAtStart = ({ startedAtUs, atUs }: SimExit) => atUs - startedAtUs < ALIKE_WITHIN_US
  const isNext = after.startedAtUs - before.atUs - before.restartSeconds * 1e6 < ALIKE_WITHIN_US + noticedUs
  const plain = (said: string) => said.replace(/0x[0-9a-f]+|[0-9.]+/g, '#')
  return isNext && isAtStart(before) && isAtStart(after) && plain(before.said) === plain(after.said)
}

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

/** How much longer than on a plain node systemd waits until a config has exited often enough. */
export function moreWaitUs({ restartSeconds }: Pick<NodeKind, 'restartSeconds'>, { crashLimit }: Policy): number {
  return (crashLimit - 1) * Math.max(0, restartSeconds - PLAIN_WAIT_SECONDS) * 1e6
}
