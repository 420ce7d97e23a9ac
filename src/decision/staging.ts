// SPDX-License-Identifier: Apache-2.0
/**
 * This node's memory of configs that have a rollout. It is kept on disk, so a config keeps its
 * rollout while the annotation is missing or the record cannot be read. Only the value `off` ends
 * it. Pure.
 */

import { keepOrder, type Plan, parsePlan, zoneOrderOf } from '../rollout/plan.ts'
import type { ConfigMapRef, ConfigMapSource, ConfigSource, ContentHash } from '../subject/config-source.ts'
import type { FoundConfigMap } from './desired.ts'
import { hashObject } from './rollout-hash.ts'
import type { Snapshot } from './snapshot.ts'
import type { StagedContent, Staging } from './staging-state.ts'
import { findPresentVerdict, findVerdict, isOfFailure } from './verdict.ts'

/** The value of the annotation that ends it. */
export const ROLLOUT_OFF = 'off'
const CONTENTS_KEPT = 20

/** A failure of a content ends its proof and its request in the rollout. */
export const CONDEMNED = { proved: false, requested: false } as const

export function configOf({ namespace, name }: Pick<ConfigMapRef, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`
}

/** undefined: this source has no rollout. */
export function findStaging({ stagings }: Pick<Snapshot, 'stagings'>, source: ConfigSource): Staging | undefined {
  return source === 'local' ? undefined : stagings.find(({ config }) => config === configOf(source))
}

/** The content of this source that was assigned last. undefined: the source has no rollout. */
export function findLatest(
  snapshot: Pick<Snapshot, 'stagings'>,
  source: ConfigSource,
): { staging: Staging; staged: StagedContent } | undefined {
  const staging = findStaging(snapshot, source)
  const staged = staging && latestContent(staging)
  return staging && staged && { staging, staged }
}

export function latestContent({ contents }: Staging): StagedContent | undefined {
  return contents.at(-1)
}

/**
 * The memory of rollouts once this version is assigned.
 *
 * @returns undefined: nothing changes
 */
export function stageAssigned(snapshot: Snapshot, source: ConfigMapSource, object: FoundConfigMap): readonly Staging[] | undefined {
  const { stagings, desiredContent, running } = snapshot
  const before = findStaging(snapshot, source)
  const record = object.rollout?.record ?? before?.record
  if (record === undefined || desiredContent === undefined) return undefined
  const others = stagings.filter((staging) => staging !== before)
  if (record === ROLLOUT_OFF) return before === undefined ? undefined : others
  const hash = hashObject(object, source.kubeletConfigKey)
  const known = before?.contents.find((one) => one.hash === hash && one.content === desiredContent)
  const earlier = (before?.contents ?? []).filter((one) => one !== known).slice(1 - CONTENTS_KEPT)
  const isNew = known !== (before && latestContent(before))
  const content = assignAnew(known ?? { hash, content: desiredContent }, readRetry(object) ?? 0, isNew)
  const marked = markFailed(snapshot, source, markCondemned(snapshot, content))
  const runsIt = running.kind === 'known' && running.content === desiredContent
  const arrival = findArrival(snapshot, source, before, hash)
  const assignment = isAssignedAlready(snapshot, source) ? before?.assignment : (before?.assignment ?? 0) + 1
  const staging: Staging = {
    config: configOf(source),
    record,
    arrival,
    ...(assignment !== undefined && { assignment }),
    ...(arrival === 'switched' && hasSeenUnfinished(snapshot, source, before, hash) && { sawUnfinished: true }),
    ...findOrder(snapshot, source, object, before, hash),
    contents: [...earlier, runsIt ? { ...marked, started: true } : marked],
  }
  return [...others, staging]
}

/**
 * A retry that is raised asks for a whole trial. A request of an operator was for the assignment
 * before.
 */
function assignAnew(known: StagedContent, planned: number, isNew: boolean): StagedContent {
  const isRaised = planned > retryOf(known)
  return {
    ...known,
    ...(isRaised && { retry: planned }),
    ...(isRaised && known.proved === true && { proved: false }),
    ...(isRaised && known.promotedOn !== undefined && { promotedOn: undefined, broughtIn: undefined }),
    ...((isRaised || isNew) && known.requested === true && { requested: false }),
  }
}

/** The `retry` of the plan that the verdicts on this content are of. */
export function retryOf({ retry = 0 }: StagedContent): number {
  return retry
}

/** undefined: the plan cannot be used. */
function readRetry(object: FoundConfigMap): number | undefined {
  return readPlan(object)?.retry
}

/** undefined: it cannot be used. */
export function readPlan({ rollout }: FoundConfigMap): Plan | undefined {
  const parsed = parsePlan(rollout?.plan, rollout?.excluded)
  return parsed.ok ? parsed.plan : undefined
}

/**
 * Whether the config has worked here before this node's own overlay or local config was edited.
 * Then a failure is the fault of what this node alone has, and says nothing to the others. But
 * where the config itself was new, other nodes may have the same overlay.
 */
export function hasWorkedOtherwise({ contents }: Staging, { hash, content, ownEdit }: StagedContent): boolean {
  if (ownEdit !== true) return false
  return contents.some((one) => one.hash === hash && one.content !== content && (one.proved === true || one.promoted === true))
}

/**
 * Whether this content is what this node made of the hash, with any overlay or local config, and of
 * no other hash: an overlay can hide what the cluster has edited, which never ran here then.
 */
export function isOfHash({ contents }: Staging, content: ContentHash | undefined, hash: string): boolean {
  const made = contents.filter((one) => one.content === content)
  return made.length > 0 && made.every((one) => one.hash === hash)
}

/** Whether another overlay is all that tells it from what kubelet starts with. */
export function hasSameHash(snapshot: Snapshot, { source, content }: { source: ConfigSource; content: ContentHash }): boolean {
  const { nextStart } = snapshot
  const contents = findStaging(snapshot, source)?.contents ?? []
  const hashOf = (wanted: ContentHash | undefined) => contents.findLast((one) => one.content === wanted)?.hash
  const before = nextStart.kind === 'known' ? hashOf(nextStart.held.content) : undefined
  return before !== undefined && before === hashOf(content)
}

/** Changes one content of one config, by what this node makes of it. */
export function markContent(
  stagings: readonly Staging[],
  content: ContentHash,
  mark: Partial<StagedContent>,
): readonly Staging[] | undefined {
  const isMarked = (one: StagedContent) =>
    Object.entries(mark).every(([name, value]) => (one[name as keyof StagedContent] ?? false) === (value ?? false))
  const isConcerned = (one: StagedContent) => one.content === content && !isMarked(one)
  if (!stagings.some(({ contents }) => contents.some(isConcerned))) return undefined
  return stagings.map((staging) => ({
    ...staging,
    contents: staging.contents.map((one) => (isConcerned(one) ? { ...one, ...mark } : one)),
  }))
}

/** As when the verdict was given: the disk may have refused the mark then. */
function markCondemned(snapshot: Snapshot, content: StagedContent): StagedContent {
  const { unit } = snapshot
  if (unit.kind === 'unknown' || (content.proved !== true && content.requested !== true)) return content
  const isCondemned = isOfFailure(findVerdict(snapshot, content.content, unit))
  return isCondemned ? { ...content, ...CONDEMNED } : content
}

/**
 * The answer stands until the verdict is dropped, as when `retry` is raised. But a failure may be
 * late at last, since its rollout went on, and a veto may halt it at last.
 */
function markFailed(snapshot: Snapshot, source: ConfigMapSource, content: StagedContent): StagedContent {
  const { rollout } = snapshot
  const isKnown = findPresentVerdict(snapshot, content.content) !== undefined
  const told = isAbout(snapshot, source, content.hash) ? rollout?.failed : undefined
  const failed = !isKnown ? undefined : told === 'late' ? told : (content.failed ?? told)
  const isHalted = told === 'in-rollout' && rollout?.progress?.halted === true
  const halted = failed === 'in-rollout' && (content.halted === true || isHalted) ? true : undefined
  return failed === content.failed && halted === content.halted ? content : { ...content, failed, halted }
}

function isAbout({ rollout }: Snapshot, source: ConfigMapSource, hash: string): boolean {
  return rollout?.config === configOf(source) && rollout.hash === hash
}

/** Since the config was assigned with this hash. */
function hasSeenUnfinished(snapshot: Snapshot, source: ConfigMapSource, before: Staging | undefined, hash: string): boolean {
  const { rollout } = snapshot
  if (before === undefined || !isAssignedAlready(snapshot, source) || latestContent(before)?.hash !== hash) return false
  return before.sawUnfinished === true || (isAbout(snapshot, source, hash) && rollout?.progress?.finished === false)
}

/**
 * The waves and zones that the rollout goes by. Those that a rollout under way began with stay,
 * however the plan is edited.
 */
function findOrder(
  snapshot: Snapshot,
  source: ConfigMapSource,
  object: FoundConfigMap,
  before: Staging | undefined,
  hash: string,
): Pick<Staging, 'waves' | 'zones'> {
  const plan = readPlan(object)
  const latest = before && latestContent(before)
  const isSame = isAssignedAlready(snapshot, source) && latest?.hash === hash
  const isRaised = latest !== undefined && plan !== undefined && plan.retry > retryOf(latest)
  if (before?.waves !== undefined && isSame && !isRaised) return orderOf(before.waves, before.zones)
  return plan === undefined ? {} : orderOf(plan.waves, zoneOrderOf(plan))
}

/** The plan as this node goes by it in the rollout of the content with this hash. */
export function planHere(plan: Plan, { stagings }: Pick<Snapshot, 'stagings'>, ref: ConfigMapRef, hash: string): Plan {
  const staging = stagings.find(({ config }) => config === configOf(ref))
  const kept = staging !== undefined && latestContent(staging)?.hash === hash ? staging : undefined
  return keepOrder(plan, kept?.waves, kept?.zones)
}

function orderOf(waves: readonly number[], zones: Staging['zones']): Pick<Staging, 'waves' | 'zones'> {
  return zones === undefined ? { waves } : { waves, zones }
}

function isAssignedAlready({ assigned }: Snapshot, source: ConfigMapSource): boolean {
  return assigned.kind === 'source' && assigned.source !== 'local' && configOf(assigned.source) === configOf(source)
}

function findArrival(snapshot: Snapshot, source: ConfigMapSource, before: Staging | undefined, hash: string): Staging['arrival'] {
  const { assigned, nextStart, recordedChannelState } = snapshot
  const isOfConfig = (other: ConfigSource) => other !== 'local' && configOf(other) === configOf(source)
  const isAssigned = isAssignedAlready(snapshot, source)
  if (isAssigned && before !== undefined && latestContent(before)?.hash === hash) return before.arrival
  // Kubelet starts with an earlier content of it.
  if (nextStart.kind === 'known' && isOfConfig(nextStart.held.source)) return 'there'
  if (isAssigned) return before?.arrival ?? 'there'
  // The channel state of the Node is recorded once it is followed. Without a record, nothing has
  // been followed yet.
  const isFirst = assigned.kind === 'source' && assigned.source === 'local' && recordedChannelState?.nodeHash === undefined
  return isFirst ? 'joined' : 'switched'
}
