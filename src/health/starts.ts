// SPDX-License-Identifier: Apache-2.0
/**
 * Who started kubelet, with what, and what is still expected of a restart that was requested. Told
 * by the unit's InvocationID and NRestarts: systemd by itself, the agent, or somebody else. Pure.
 */
import { isMissing } from '../subject/config-source.ts'
import { contentOfKey, isTrialKey } from '../subject/trial-key.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { isFlag, isNumber, isText, optional, shape, type TypeOf } from '../values/json-shape.ts'
import type { Fold } from './looks.ts'
import { needsStart } from './sample.ts'

export const isStarts = shape({
  /** The subject of this record: the content that kubelet starts with next, on this kubelet. */
  subject: isTrialKey,
  subjectSinceUs: isNumber,
  /**
   * Since when the record has been about this content, on whatever kubelet. undefined: an agent
   * wrote the record that did not write this.
   */
  contentSinceUs: optional(isNumber),
  /** Processes started since then. */
  starts: isNumber,
  /**
   * A process with the subject's content has been seen, or a restart into it was requested. Earlier
   * exits are not charged to the subject.
   */
  started: isFlag,
  /**
   * When kubelet was first started with this content, on whatever kubelet, since the content came,
   * or since somebody stopped kubelet. undefined: it was not.
   */
  startedSinceUs: optional(isNumber),
  /**
   * Somebody else started kubelet since the subject changed: a boot, or an operator. That alone may
   * have cured what another config failed with.
   */
  startedByOthers: optional(isFlag),
  invocationId: isText,
  lastNRestarts: isNumber,
  /** NRestarts when the invocation was first seen. */
  firstNRestarts: optional(isNumber),
  /**
   * The invocation that systemd ended for a unit that it was bound to. Only as long as that unit
   * does nothing more do its own times tell.
   */
  takenDownOf: optional(isText),
  /**
   * The invocation that ran, or had run last, when a restart was requested. While the unit shows no
   * other, its state is still that of before.
   */
  restartedFrom: optional(isText),
  /**
   * Until then, a process that systemd has not started by itself is taken for the one of the
   * restart that was requested. Systemd may restart a kubelet that exited a moment before it takes
   * the request. undefined: it has been seen, systemd refused it, or none was requested.
   */
  restartDueUntilUs: optional(isNumber),
  /**
   * When kubelet was restarted once more with the subject, which had failed but had proved itself.
   */
  triedAgainUs: optional(isNumber),
})
export type Starts = TypeOf<typeof isStarts>

interface Started extends Starts {
  /** False also where the unit still shows what was before the restart that was requested. */
  readonly hasBegun: boolean
}

/** Whether, how often and by whom kubelet was started with the subject. */
export function foldStarts(fold: Fold<Starts>): Started {
  const { known, ofContent, same, ofProcess, unit, nowUs, subject, sample, runsSubject, isByOthers } = fold
  // Rule 3: an upgrade on disk makes the same content another subject. An invocation that began
  // since the last look was started as that one, even if it died before a look.
  const startedSinceUpgrade = ofContent !== undefined && ofContent.invocationId !== unit.invocationId
  // Rule 4: a record about what the disk did not return has followed nothing yet.
  const isFirst = known === undefined || isMissing(contentOfKey(known.subject))
  const isNew = ofProcess === undefined
  // Rule 8: in the first record of a boot, every process since then was started with what is
  // activated, since only the agent changes that. But one that systemd gave up before may have
  // failed with what was there before: it is charged from its next start on. And where the record
  // in /run was lost, what runs may have been started before the activation.
  const { running } = sample
  const runsOther = running.kind === 'known' && contentOfKey(running.key) !== contentOfKey(subject)
  const isStartedAtFirst = isFirst && !needsStart(unit.activity) && !runsOther
  const startedBefore = same === undefined ? isStartedAtFirst || startedSinceUpgrade : same.started || isNew
  // Rule 9: whoever stops kubelet takes the subject out of judgement until the next start.
  const isStopped = unit.activity === 'stopped'
  const started = runsSubject || (startedBefore && !isStopped)
  return {
    subject,
    subjectSinceUs: same?.subjectSinceUs ?? nowUs,
    contentSinceUs: ofContent === undefined ? nowUs : (ofContent.contentSinceUs ?? ofContent.subjectSinceUs),
    starts: same === undefined ? Number(runsSubject || startedSinceUpgrade) : same.starts + Number(isNew),
    started,
    startedSinceUs: isStopped ? undefined : (ofContent?.startedSinceUs ?? (started ? nowUs : undefined)),
    // Whoever starts kubelet may make another one of it by that, such as with an upgrade.
    startedByOthers: ofContent === undefined ? isFirst : ofContent.startedByOthers === true || isByOthers,
    invocationId: unit.invocationId,
    lastNRestarts: unit.nRestarts,
    firstNRestarts: countAtStart(known, unit),
    takenDownOf: unit.down?.endedWith === undefined ? known?.takenDownOf : unit.invocationId,
    ...followRequest(fold),
    triedAgainUs: same?.triedAgainUs,
    hasBegun: started && (runsSubject || same === undefined || !isStartAwaited(same, unit)),
  }
}

/**
 * The state of the restart that was requested. Rule 45: the request stays due through the restarts
 * that systemd does by itself, until the first other start.
 */
function followRequest({ same, unit, isAutomatic }: Fold<Starts>): Pick<Starts, 'restartedFrom' | 'restartDueUntilUs'> {
  if (same === undefined) return {}
  // A process that makes way for the next one was there before: systemd has started it a moment
  // before the request, and `reset-failed` has put back the count that tells so.
  const makesWay = unit.activity === 'stopping' || unit.activity === 'queued'
  // A start that came to nothing for another unit is over. And whoever stops what was started since
  // then stops what was requested, too.
  const isOver = unit.activity === 'left-down' || (unit.activity === 'stopped' && !isStartAwaited(same, unit))
  const isStillDue = !isOver && (isAutomatic || makesWay || !isNewInvocation(same, unit))
  return {
    restartedFrom: isStartAwaited(same, unit) ? same.restartedFrom : undefined,
    restartDueUntilUs: isStillDue ? same.restartDueUntilUs : undefined,
  }
}

/**
 * Rule 10: the unit's state is still the one of before the restart that was requested. Systemd may
 * refuse the request for long, and until the unit has another invocation, that start has not begun.
 */
export function isStartAwaited({ restartedFrom }: Pick<Starts, 'restartedFrom'>, { invocationId }: KnownUnit): boolean {
  return restartedFrom === invocationId
}

function isNewInvocation(known: Starts, { invocationId }: KnownUnit): boolean {
  return invocationId !== '' && invocationId !== known.invocationId
}

/**
 * Rule 43: systemd counts the restarts that it does by itself, from the invocation's first look on.
 */
export function isStartedBySystemd(known: Starts, { nRestarts }: KnownUnit): boolean {
  return nRestarts > (known.firstNRestarts ?? known.lastNRestarts)
}

/**
 * Rule 44: neither systemd nor the agent has started this process. Where the agent left another try
 * to systemd, it has requested nothing. Nobody knows who started what runs at the first look.
 */
export function isStartedByOthers(known: Starts | undefined, unit: KnownUnit, nowUs: number): boolean {
  if (known === undefined) return true
  const { restartDueUntilUs: dueUntilUs, restartedFrom, invocationId } = known
  const isAgents = dueUntilUs !== undefined && (nowUs < dueUntilUs || restartedFrom === invocationId)
  return isNewInvocation(known, unit) && !isStartedBySystemd(known, unit) && !isAgents
}

/**
 * Systemd counts a restart of its own a moment before the unit has another invocation
 * (service_enter_restart): a look between the two must not take that start for somebody's.
 */
function countAtStart(known: Starts | undefined, { invocationId, nRestarts }: KnownUnit): number {
  const isSame = known !== undefined && (invocationId === '' || invocationId === known.invocationId)
  // reset-failed puts it back to 0.
  return isSame ? Math.min(known.firstNRestarts ?? known.lastNRestarts, nRestarts) : nRestarts
}
