// SPDX-License-Identifier: Apache-2.0
/**
 * The sources that records and kubelet's next start name, and what runs, or ran last, as a source.
 * Whoever looks for a source by its content, or must not lose a checkpoint, starts from these
 * lists. Pure.
 */
import {
  type ConfigMapSource,
  type ConfigSource,
  type ContentHash,
  type HeldSource,
  LOCAL,
  LOCAL_CONTENT,
  sameSource,
  sameVersion,
} from '../subject/config-source.ts'
import { contentOfKey, hasPassed } from '../subject/trial-key.ts'
import type { KubeletProcess } from '../subject/unit-state.ts'
import { resolveDesired } from './desired.ts'
import type { FallbackName } from './records.ts'
import type { Ground, Snapshot } from './snapshot.ts'

type Records = Pick<Snapshot, 'assigned' | 'assignedContent' | 'lastKnownGood' | 'previous' | 'nextStart' | 'left'>

/**
 * The config that kubelet starts with next, assigned, last-known-good, previous, and those that a
 * return to local left, each with the content it has on disk.
 */
export function heldSources({ assigned, assignedContent, lastKnownGood, previous, nextStart, left = [] }: Records): readonly HeldSource[] {
  return [
    ...(nextStart.kind === 'known' ? [nextStart.held] : []),
    ...(assigned.kind === 'source' ? [{ source: assigned.source, content: assignedContent }] : []),
    lastKnownGood,
    previous,
    ...left,
  ]
}

/** The same without what is assigned. */
export function fallbackSources({
  nextStart,
  lastKnownGood,
  previous,
  left = [],
}: Omit<Records, 'assigned' | 'assignedContent'>): readonly HeldSource[] {
  return [...(nextStart.kind === 'known' ? [nextStart.held] : []), lastKnownGood, previous, ...left]
}

/** The ConfigMap sources among them. Their checkpoints are in use. */
export function namedSources(records: Records): readonly ConfigMapSource[] {
  return heldSources(records).flatMap(({ source }) => (source === 'local' ? [] : [source]))
}

/**
 * The content that a source has on disk. undefined: it has no whole checkpoint, or nothing here
 * names it.
 */
export function findContent(snapshot: Snapshot, source: ConfigSource): ContentHash | undefined {
  if (source === 'local') return LOCAL_CONTENT
  const held = heldSources(snapshot).find((each) => sameSource(each.source, source))
  if (held !== undefined) return held.content
  const desired = resolveDesired(snapshot.desired)
  if (desired !== undefined && sameSource(desired, source)) return snapshot.storedContent
  const running = findRunning(snapshot)
  return running !== undefined && sameSource(running.source, source) ? running.content : undefined
}

/**
 * The running config, as a source that kubelet can be started with again. undefined: nothing known
 * runs, or it has no checkpoint any more.
 */
export function findRunning(snapshot: Ground): HeldSource | undefined {
  const { running } = snapshot
  if (running.kind !== 'known') return undefined
  return [...heldSources(snapshot), LOCAL].find(({ content }) => content === running.content) ?? findStartedFrom(snapshot)
}

/**
 * The source that the running process was started from, if no record names it any more. A
 * checkpoint that no record names is never replaced by other content.
 */
export function findStartedFrom(snapshot: Ground): HeldSource | undefined {
  const { running, health, checkpoints } = snapshot
  const last = health?.lastProcess
  if (running.kind !== 'known' || running.lost || last?.source === undefined || last.content !== running.content) return undefined
  const { source, content } = last
  const isThere = checkpoints.some((checkpoint) => sameVersion(source, checkpoint))
  const isNamed = heldSources(snapshot).some((each) => sameVersion(each.source, source))
  return isThere && !isNamed ? { source, content } : undefined
}

type CheckpointProcess = Extract<KubeletProcess, { kind: 'checkpoint' }>

/**
 * The source of the running config. Where the records have moved on, the process still names its
 * checkpoint, and the uid belongs to one ConfigMap.
 */
export function runningSource(snapshot: Snapshot): ConfigSource | undefined {
  if (snapshot.running.kind !== 'known') return undefined
  const recorded = findSource(snapshot, snapshot.running.content)
  if (recorded !== undefined || snapshot.unit.kind !== 'known' || snapshot.unit.process.kind !== 'checkpoint') return recorded
  const { process } = snapshot.unit
  const named = listKnownSources(snapshot).find((known) => known.uid === process.uid)
  return named && startedSource(process, named)
}

/** @param known any version of the ConfigMap that the process was started from */
export function startedSource(process: CheckpointProcess, { namespace, name }: ConfigMapSource): ConfigMapSource {
  const { uid, resourceVersion, key, overlay } = process
  return { namespace, name, kubeletConfigKey: key, uid, resourceVersion, ...(overlay !== undefined && { overlay }) }
}

/** The ConfigMaps that a record, the cluster or a verdict names. They give a uid its name. */
function listKnownSources(snapshot: Snapshot): readonly ConfigMapSource[] {
  const others = [resolveDesired(snapshot.desired) ?? 'local', ...[...snapshot.verdicts.values()].map(({ source }) => source)]
  return [...namedSources(snapshot), ...others.filter((source) => source !== 'local')]
}

/** The source that runs, or that ran last where nothing runs. */
export function lastRunSource(snapshot: Snapshot): ConfigSource | undefined {
  const last = snapshot.running.kind === 'none' ? snapshot.health?.lastProcess : undefined
  return last === undefined ? runningSource(snapshot) : findSource(snapshot, last.content)
}

function findSource(snapshot: Snapshot, content: ContentHash): ConfigSource | undefined {
  if (content === LOCAL_CONTENT) return 'local'
  const held = heldSources(snapshot).find((each) => each.content === content)
  const last = snapshot.health?.lastProcess
  return held?.source ?? (last?.content === content ? last.source : undefined)
}

export function isDamaged({ damagedFallbacks = [] }: Pick<Snapshot, 'damagedFallbacks'>, name: FallbackName): boolean {
  return damagedFallbacks.includes(name)
}

/**
 * The config that this record names. Where nobody knows that: what runs, and then what is in place,
 * since a healthy kubelet is not restarted because a record was lost. Nothing that has no
 * checkpoint: it could not be put back.
 */
export function listFallback(snapshot: Ground, name: FallbackName): readonly HeldSource[] {
  const { nextStart } = snapshot
  if (!isDamaged(snapshot, name)) return [name === 'previous' ? snapshot.previous : snapshot.lastKnownGood]
  const next = nextStart.kind === 'known' && nextStart.held.source !== 'local' ? [nextStart.held] : []
  const isFallback = (held: HeldSource) => held.onlyInPlace !== true && !isOnOwnTrial(snapshot, held)
  return [findRunning(snapshot) ?? [], next].flat().filter(isFallback)
}

/** Whether it was started in this boot as the wanted config, and has not passed its trial. */
function isOnOwnTrial(snapshot: Ground, { content }: HeldSource): boolean {
  const last = snapshot.restarts.at(-1)
  if (last === undefined || last.fallback || last.bootId !== snapshot.now.bootId) return false
  return contentOfKey(last.target) === content && !hasPassed(snapshot, last.target)
}
