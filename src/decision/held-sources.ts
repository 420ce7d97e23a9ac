/**
 * The sources that records and kubelet's next start name. Whoever looks for a source by its
 * content, or must not lose a checkpoint, starts from these lists. Pure.
 */
import type { ConfigMapSource, ConfigSource, ContentHash, HeldSource } from './config-source.ts'
import { LOCAL_CONTENT, sameSource } from './config-source.ts'
import { resolveDesired } from './desired.ts'
import type { Snapshot } from './snapshot.ts'

type Records = Pick<Snapshot, 'assigned' | 'assignedContent' | 'lastKnownGood' | 'previous' | 'nextStart'>

/**
 * What kubelet starts with next, assigned, last-known-good and previous, each with the content it
 * has on disk.
 */
export function heldSources({ assigned, assignedContent, lastKnownGood, previous, nextStart }: Records): readonly HeldSource[] {
  return [
    ...(nextStart.kind === 'known' ? [nextStart.held] : []),
    ...(assigned.kind === 'source' ? [{ source: assigned.source, content: assignedContent }] : []),
    lastKnownGood,
    previous,
  ]
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
  return desired !== undefined && sameSource(desired, source) ? snapshot.storedContent : undefined
}
