/**
 * The sources that records and kubelet's next start name. Whoever looks for a source by its
 * content, or must not lose a checkpoint, starts from these lists. Pure.
 */
import type { CheckpointInfo, ConfigMapSource, ConfigSource, ContentHash, HeldSource } from './config-source.ts'
import { LOCAL, LOCAL_CONTENT, sameSource, sameVersion } from './config-source.ts'
import { resolveDesired } from './desired.ts'
import type { Snapshot } from './snapshot.ts'

type Records = Pick<Snapshot, 'assigned' | 'assignedContent' | 'lastKnownGood' | 'previous' | 'nextStart' | 'left'>

/**
 * What kubelet starts with next, assigned, last-known-good, previous, and what a return to local
 * left, each with the content it has on disk.
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
 * What runs, as a source that kubelet can be started with again. undefined: nothing known runs, or
 * it has no checkpoint any more.
 */
export function findRunning(snapshot: Snapshot): HeldSource | undefined {
  const { running } = snapshot
  if (running.kind !== 'known') return undefined
  return [...heldSources(snapshot), LOCAL].find(({ content }) => content === running.content) ?? findStartedFrom(snapshot)
}

/**
 * The source that the running process was started from, if no record names it any more. A
 * checkpoint that no record names is never replaced by other content.
 */
export function findStartedFrom(snapshot: Snapshot): HeldSource | undefined {
  const { running, health, checkpoints } = snapshot
  const last = health?.lastProcess
  if (running.kind !== 'known' || running.lost || last?.source === undefined || last.content !== running.content) return undefined
  const { source, content } = last
  const isThere = checkpoints.some((checkpoint) => isVersion(source, checkpoint))
  const isNamed = heldSources(snapshot).some((each) => sameVersion(each.source, source))
  return isThere && !isNamed ? { source, content } : undefined
}

function isVersion(source: ConfigSource, { uid, resourceVersion, overlay }: CheckpointInfo): boolean {
  return source !== 'local' && source.uid === uid && source.resourceVersion === resourceVersion && source.overlay === overlay
}
