// SPDX-License-Identifier: Apache-2.0
/**
 * The trial: uninterrupted healthy running time of one content on one kubelet, and the boots that
 * cut it short. How far it is, with the evidence: see `trialOf`. Pure; CLOCK_MONOTONIC microseconds
 * of one boot.
 */

import { healthOfRunning } from '../health/process.ts'
import { type ContentHash, describeSource } from '../subject/config-source.ts'
import { contentOfKey, hasPassed, type TrialKey } from '../subject/trial-key.ts'
import { HOUR_US } from '../values/durations.ts'
import { findNodePause } from './find-pause.ts'
import type { TrialBoots } from './records.ts'
import type { Policy, Snapshot } from './snapshot.ts'
import type { JudgedConfig } from './target.ts'
import { type ConfigFailure, findByKey, findSuspended, isOfResets } from './verdict.ts'

const UNSETTLED_AFTER_US = 3600e6
const UNSETTLED_STARTS = 5

interface Trial {
  readonly elapsedUs: number
  /** 0: passed. */
  readonly remainingUs: number
  readonly endsAtUs: number
}

/**
 * The trial of `key`, while a healthy process runs it. undefined: another config runs, or kubelet
 * is not healthy.
 *
 * Rule 32: time runs from the later of the process's start and the beginning of its health. A
 * process that ran before an activation counts only if it runs the same content, which makes the
 * activation no change.
 */
export function measureTrial(snapshot: Snapshot, key: TrialKey): Trial | undefined {
  const { running, health } = snapshot
  return running.kind === 'known' && running.key === key && health?.subject === key ? measureHealth(snapshot, key) : undefined
}

/**
 * The same for what works, as a fallback does: also where kubelet's binary, flags or drop-ins have
 * changed since the process started. Each start may change them, so that the one that runs is never
 * the one that is installed. While nobody knows which one is installed, nothing is concluded.
 */
export function measureHealth(snapshot: Snapshot, key: TrialKey): Trial | undefined {
  const { running, health, unit, now, policy } = snapshot
  if (running.kind !== 'known' || running.content !== contentOfKey(key) || health === undefined) return undefined
  const isInstalled = running.key === health.subject
  if (unit.kind === 'unknown' || (unit.isKubeletUnread === true && !isInstalled)) return undefined
  const healthySinceUs = isInstalled ? health.healthySinceUs : healthOfRunning(snapshot)?.healthySinceUs
  // A record without recent samples says nothing about the present.
  if (healthySinceUs === undefined || health.bootId !== now.bootId || now.monotonicUs - health.lastSampleUs > policy.toleranceUs)
    return undefined
  const sinceUs = Math.max(running.startedAtUs, healthySinceUs)
  const endsAtUs = sinceUs + policy.trialUs
  return { elapsedUs: now.monotonicUs - sinceUs, remainingUs: Math.max(0, endsAtUs - now.monotonicUs), endsAtUs }
}

/**
 * Healthy without a break for as long as an illness would be tolerated. That is enough to say that
 * a fallback works where a config did not.
 */
export function isSteady(snapshot: Snapshot, key: TrialKey): boolean {
  const trial = measureHealth(snapshot, key)
  return trial !== undefined && trial.elapsedUs >= Math.min(snapshot.policy.toleranceUs, snapshot.policy.trialUs)
}

/**
 * A trial that does not end for long is not a failure of the config, but an operator should look.
 */
export function describeTrial(snapshot: Snapshot, target: JudgedConfig): string {
  const { health, running, now } = snapshot
  const what = describeSource(target.source)
  if (running.kind === 'known' && running.content === target.content && running.key !== target.key) {
    return `${what} runs, but kubelet's binary, flags or drop-ins have changed since it started: trial at its next start`
  }
  // The restart into it may have waited for hours, and a person may have kept it down.
  const sinceUs = Math.max(health?.subjectSinceUs ?? 0, health?.startedSinceUs ?? 0)
  const triedUs = health?.subject === target.key ? now.monotonicUs - sinceUs : 0
  const unsettled = triedUs > Math.max(UNSETTLED_AFTER_US, 2 * snapshot.policy.trialUs) || (health?.starts ?? 0) > UNSETTLED_STARTS
  if (unsettled) return `trial of ${what} does not come to an end: kubelet is not healthy for long enough`
  return `trial of ${what}${describeReboots(snapshot, target.key)}`
}

/**
 * The boots in which a config was on trial. A config with which the node resets, or for which
 * something reboots the node because it is not Ready, neither passes its trial nor fails within one
 * boot. Each boot after the one in which the trial began has cut the trial short, so they are
 * counted.
 */

/** Fewer may be the work of a person, or of a program that sets up the node. */
const TOO_MANY_REBOOTS = 3
/**
 * The reboots that end the trial of a config which was given up for reboots, and is tried again.
 * One may be planned.
 */
const TOO_MANY_IN_RETRIAL = 2
/** Reboots further apart have other causes. A longer trial has room for longer pauses. */
const windowUs = ({ trialUs, startDeadlineUs }: Policy) => Math.max(HOUR_US, 4 * (trialUs + startDeadlineUs))
/** After the first. */
const LATER_BOOTS_KEPT = 10

/**
 * The record as it should be. Where another config is assigned by now, or is on trial, the former
 * one's is dropped: its next trial begins anew. A config that runs for a moment in the place of the
 * assigned one drops nothing, such as a file that is written at each boot.
 *
 * @param next what kubelet starts with next
 */
export function updateTrialBoots(snapshot: Snapshot, { source, content, key }: JudgedConfig): TrialBoots | undefined {
  const { now } = snapshot
  // The restart into it comes first.
  if (!hasStarted(snapshot, content)) return snapshot.trialBoots
  const before = snapshot.trialBoots?.content === content ? snapshot.trialBoots : undefined
  if (source === 'local' || !countsBoots(snapshot, key)) return before ?? keepOfAssigned(snapshot)
  const boots = before?.boots ?? []
  if (boots.some(({ bootId }) => bootId === now.bootId)) return before
  // How the node fares in a pause does not count.
  const isPaused = findNodePause(snapshot) !== undefined
  const all = [...boots, { bootId: now.bootId, atWallMs: now.wallMs, ...(isPaused && { paused: true }) }]
  return { content, boots: all.filter((_, index) => index === 0 || index >= all.length - LATER_BOOTS_KEPT) }
}

/** The boots of the assigned config, also while it is not known which config is assigned. */
function keepOfAssigned({ trialBoots, assignedContent }: Snapshot): TrialBoots | undefined {
  return assignedContent === undefined || assignedContent === trialBoots?.content ? trialBoots : undefined
}

/** Too many reboots have cut the trial short. Something else may have rebooted the node. */
function findRebootFailure(snapshot: Snapshot, key: TrialKey): ConfigFailure | undefined {
  const suspended = findSuspended(snapshot, key)
  const isRetrial = suspended !== undefined && isOfResets(suspended)
  const count = countReboots(snapshot, key)
  if (count < (isRetrial ? TOO_MANY_IN_RETRIAL : TOO_MANY_REBOOTS)) return undefined
  return { reason: 'reboots', detail: `the node was rebooted ${count} times in its trial`, damage: 'transient', doubtful: true }
}

/** By which a trial fails although neither the health of kubelet nor the evidence says so. */
const TRIAL_RULES: readonly ((snapshot: Snapshot, key: TrialKey) => ConfigFailure | undefined)[] = [findRebootFailure]

/** Of the first rule that applies. */
export function findTrialFailure(snapshot: Snapshot, key: TrialKey): ConfigFailure | undefined {
  if (!countsBoots(snapshot, key)) return undefined
  for (const rule of TRIAL_RULES) {
    const failure = rule(snapshot, key)
    if (failure !== undefined) return failure
  }
  return undefined
}

/** For messages. A single reboot is not worth one. */
function describeReboots(snapshot: Snapshot, key: TrialKey): string {
  const count = countsBoots(snapshot, key) ? countReboots(snapshot, key) : 0
  return count > 1 ? ` (the node was rebooted ${count} times in it)` : ''
}

/** The first boot is the one in which the trial began. */
function countReboots({ trialBoots, now, policy }: Snapshot, key: TrialKey): number {
  const later = trialBoots?.content === contentOfKey(key) ? trialBoots.boots.slice(1) : []
  const isRecent = (atWallMs: number) => Math.abs(now.wallMs - atWallMs) * 1000 < windowUs(policy)
  return later.filter(({ atWallMs, paused }) => paused !== true && isRecent(atWallMs)).length
}

/**
 * A config on trial, and one that the node rests on since every other one has failed, too. Not what
 * is last-known-good or previous, on whatever kubelet it passed its trial: it has run without
 * reboots before.
 */
function countsBoots(snapshot: Snapshot, key: TrialKey): boolean {
  const { lastKnownGood, previous, verdicts } = snapshot
  const wasPromoted = [lastKnownGood, previous].some(({ content }) => content === contentOfKey(key))
  const verdict = findByKey(verdicts, key)
  const mayRest = verdict === undefined || (verdict.state === 'provisional' && !isOfResets(verdict))
  return !hasPassed(snapshot, key) && !wasPromoted && mayRest
}

/** A restart that was requested is no start while the process of before runs. */
function hasStarted({ running, health, now }: Snapshot, content: ContentHash): boolean {
  if (running.kind === 'known') return running.content === content
  return health?.bootId === now.bootId && contentOfKey(health.subject) === content && health.started
}
