// SPDX-License-Identifier: Apache-2.0
/**
 * Chooses the baseline that the running process is compared with, and keeps it for as long as it is
 * of use. It belongs to the content of a config, on whatever kubelet, and outlives the boot and
 * what is lost in /run: a reboot is what people do first with a node that is not Ready. Pure.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Snapshot } from '../decision/snapshot.ts'
import type { Running } from '../health/sample.ts'
import { type ContentHash, LOCAL_CONTENT } from '../subject/config-source.ts'
import { contentOfKey, hasPassed, identityOfKey } from '../subject/trial-key.ts'
import {
  ALL_CONTRACTS,
  type Baseline,
  contractOf,
  type EarlierState,
  type EvidenceKind,
  type EvidenceRecord,
  type KeptBaseline,
  type Taken,
} from './kinds.ts'

export type KnownRunning = Extract<Running, { kind: 'known' }>
export type BaselineFacts = Pick<Snapshot, 'running' | 'verdicts' | 'proven' | 'lastKnownGood' | 'previous'>

/**
 * A baseline concerns the config it was taken before, and the fallbacks from it: they have to bring
 * back what was there. After a trial that passed, or a boot, it is too old for that.
 */
function concernsRunning({ candidate, invocationId, beforeBoot, earlier }: Baseline, facts: BaselineFacts): boolean {
  const { running, verdicts } = facts
  if (running.kind !== 'known' || invocationId === running.invocationId) return false
  const content = contentOfKey(candidate)
  if (content === running.content) return !isProven(facts, content) || hasPassed(facts, running.key)
  if (beforeBoot === true || (earlier?.beforeBoot === true && earlier.ofTry === undefined)) return false
  return [...verdicts].some(([key, { state }]) => state === 'provisional' && contentOfKey(key) === content && !hasPassed(facts, key))
}

/** Whether the content passed its trial last, on whatever kubelet. */
function isProven({ proven }: BaselineFacts, content: ContentHash): boolean {
  return proven !== undefined && contentOfKey(proven) === content
}

/**
 * Whether local runs, or a config that has been promoted here. A fault of the node is not its doing
 * then.
 */
export function runsPromoted({ running, proven, lastKnownGood, previous }: BaselineFacts): boolean {
  if (running.kind !== 'known') return false
  const { content } = running
  return content === LOCAL_CONTENT || proven === running.key || [lastKnownGood, previous].some((each) => each.content === content)
}

/**
 * Whether a baseline is still of use: for what runs, or for what is assigned, before its trial is
 * over.
 */
function isBaselineNeeded(baseline: Baseline, facts: BaselineFacts & Pick<Snapshot, 'assignedContent'>): boolean {
  const content = contentOfKey(baseline.candidate)
  return !isProven(facts, content) && (content === facts.assignedContent || concernsRunning(baseline, facts))
}

/** undefined: there is none. */
export function findBaseline({ baseline, displaced }: EvidenceRecord, facts: BaselineFacts): Baseline | undefined {
  return [baseline, displaced].find((each) => each !== undefined && concernsRunning(each, facts))
}

/**
 * The baseline that concerns what runs, where another one has taken its place: for a config that
 * may be withdrawn before it is started. It is for a trial that is not over.
 *
 * @param baseline that the record will have
 */
export function findDisplaced(
  record: EvidenceRecord | undefined,
  baseline: Baseline | undefined,
  facts: BaselineFacts,
): Baseline | undefined {
  if (facts.running.kind !== 'known') return record?.displaced
  if (baseline !== undefined && concernsRunning(baseline, facts)) return undefined
  const isNeeded = (each: Baseline) => !isProven(facts, contentOfKey(each.candidate)) && concernsRunning(each, facts)
  return [record?.baseline, record?.displaced].find((each) => each !== undefined && isNeeded(each))
}

/**
 * The state that a config which replaces one on trial has to bring back: how the node was before
 * that one.
 *
 * @returns undefined: what runs is not on trial, or has no baseline
 */
export function findEarlier(record: Pick<EvidenceRecord, 'baseline' | 'displaced'>, facts: BaselineFacts): EarlierState | undefined {
  const { running } = facts
  if (running.kind !== 'known' || runsPromoted(facts)) return undefined
  const found = findOfContent(record, running.content, running)
  if (found === undefined) return undefined
  const before = withEarlier(found)
  const isSameKubelet = isOfSameKubelet(found, running)
  const { ready, serving, endpoint, staticPods, ...others } = joinAll(({ carry }) => carry?.(before, isSameKubelet))
  const { ofPromoted, beforeBoot } = before
  // In the order of earlier agents, so that the record on disk is the same.
  return { ...{ ready, serving, endpoint, ...others }, ofPromoted, beforeBoot, staticPods }
}

/**
 * The state that a config which failed by evidence has to bring back when it is tried again: that
 * kind, as it was before the first try. What the config broke may not have mended by now.
 */
export function findBeforeFirstTry(
  record: Pick<EvidenceRecord, 'baseline' | 'displaced'>,
  { content, kind }: { readonly content: ContentHash; readonly kind: EvidenceKind },
  running: KnownRunning,
): EarlierState | undefined {
  const found = findOfContent(record, content, running)
  const carry = contractOf(kind)?.carry
  if (found === undefined || carry === undefined) return undefined
  const wasBoot = found.beforeBoot === true || found.earlier?.beforeBoot === true
  return { ...carry(withEarlier(found), isOfSameKubelet(found, running)), ofTry: kind, ...(wasBoot && { beforeBoot: true }) }
}

function findOfContent(
  { baseline, displaced }: Pick<EvidenceRecord, 'baseline' | 'displaced'>,
  content: ContentHash,
  { invocationId }: KnownRunning,
): Baseline | undefined {
  const isOther = (each: Baseline) => contentOfKey(each.candidate) === content && each.invocationId !== invocationId
  return [baseline, displaced].find((each) => each !== undefined && isOther(each))
}

function isOfSameKubelet({ kubelet }: Baseline, { key }: KnownRunning): boolean {
  return kubelet === undefined || kubelet === identityOfKey(key)
}

/** The baseline, with what has to be brought back in place of what was broken by then. */
export function withEarlier(baseline: Baseline): Baseline {
  const { earlier } = baseline
  if (earlier === undefined) return baseline
  if (earlier.ofTry !== undefined) {
    const joined = contractOf(earlier.ofTry)?.join?.(earlier, baseline, false)
    // The fallback may have brought it back.
    return isDeepStrictEqual({ ...baseline, ...joined }, baseline) ? { ...baseline, earlier: undefined } : { ...baseline, ...joined }
  }
  // Under a config on trial, only what was well is known.
  const isPromoted = earlier.ofPromoted === true
  return {
    ...baseline,
    ...(isPromoted && { ofPromoted: true }),
    ...(earlier.beforeBoot === true && { beforeBoot: true }),
    ...joinAll(({ join }) => join?.(earlier, baseline, isPromoted)),
  }
}

function joinAll(ofKind: (contract: (typeof ALL_CONTRACTS)[number]) => Partial<Taken> | undefined): Taken {
  return Object.assign({}, ...ALL_CONTRACTS.map(ofKind))
}

/**
 * The baseline is to be taken again. Of the old one, only how the node was before an earlier try
 * counts. The running config keeps the one that concerns it.
 */
export function dropBaseline(record: EvidenceRecord, facts: BaselineFacts & Pick<Snapshot, 'now'>): EvidenceRecord {
  const { baseline: before } = record
  // One of another process is not taken again: another takes its place.
  if (before === undefined || (facts.running.kind === 'known' && facts.running.invocationId !== before.invocationId)) return record
  const { candidate, invocationId, kubelet, changed, earlier, ofPromoted } = before
  const kept = { ...(changed && { changed }), ...(earlier && { earlier }), ...(ofPromoted && { ofPromoted }) }
  const baseline = { candidate, invocationId, sinceUs: facts.now.monotonicUs, kubelet, answered: [], ...kept }
  return { ...record, baseline, displaced: findDisplaced(record, baseline, facts) }
}

/**
 * Has the baseline asked for again. A question that is not answered then keeps its earlier answer.
 */
export function renewBaseline(record: EvidenceRecord, { monotonicUs }: Snapshot['now']): EvidenceRecord {
  return changeBaseline(record, { sinceUs: monotonicUs, awaitedSinceUs: undefined, answered: [], unread: undefined })
}

/** The restart waits anew for what is still missing in it. */
export function awaitBaseline(record: EvidenceRecord, { monotonicUs }: Snapshot['now']): EvidenceRecord {
  return changeBaseline(record, { awaitedSinceUs: monotonicUs })
}

function changeBaseline(record: EvidenceRecord, changes: Partial<Baseline>): EvidenceRecord {
  const { baseline } = record
  return baseline === undefined ? record : { ...record, baseline: { ...baseline, ...changes } }
}

/** The record of this boot, with the baseline that it lacks. */
export function recallBaseline(
  record: EvidenceRecord | undefined,
  kept: () => KeptBaseline | undefined,
  { bootId }: { readonly bootId: string },
): EvidenceRecord | undefined {
  const ofThisBoot = record?.bootId === bootId ? record : undefined
  if (ofThisBoot?.baseline !== undefined) return ofThisBoot
  const { bootId: before, baseline, displaced } = kept() ?? {}
  if (baseline === undefined) return record
  const recall = (each: Baseline) => (before === bootId ? each : acrossBoot(each))
  return { ...ofThisBoot, bootId, baseline: recall(baseline), ...(displaced && { displaced: recall(displaced) }) }
}

/** Begins CLOCK_MONOTONIC anew, and ends pods and pressure. */
function acrossBoot(baseline: Baseline): Baseline {
  const outlives = { ...baseline, sinceUs: 0, beforeBoot: true }
  for (const name of OF_BOOT) delete outlives[name]
  return outlives
}

const OF_BOOT: readonly ('awaitedSinceUs' | 'unread' | keyof Taken)[] = [
  'awaitedSinceUs',
  'unread',
  ...ALL_CONTRACTS.flatMap(({ ofBoot = [] }) => ofBoot),
]

/**
 * The baseline that `meta/` has to hold by now. undefined: none.
 *
 * @param candidate what kubelet is about to be restarted into
 * @param kept what it holds
 */
export function keepBaseline(
  record: EvidenceRecord | undefined,
  facts: BaselineFacts & Pick<Snapshot, 'assignedContent'>,
  candidate: string | undefined,
  kept: KeptBaseline | undefined,
): KeptBaseline | undefined {
  const { bootId, baseline, displaced } = record ?? {}
  // The running config and the assigned one may not be known for a moment.
  if (bootId === undefined || facts.running.kind !== 'known' || facts.assignedContent === undefined) return kept
  const needed = [baseline, displaced].filter((each) => each !== undefined && isBaselineNeeded(each, facts))
  if (baseline === undefined || (candidate === undefined && needed.length === 0)) return undefined
  return { bootId, baseline, ...(displaced && { displaced }) }
}
