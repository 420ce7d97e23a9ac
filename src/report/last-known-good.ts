/**
 * Last-known-good as it is reported: what the node falls back to. The record keeps a config that
 * was given up after its promotion (a rollback that an operator requested, or a failure that was
 * confirmed) until another one is promoted, since a retry may bring it back. But nothing falls back
 * to it meanwhile. Pure.
 */
import { type HeldSource, LOCAL } from '../decision/config-source.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import { findPresentVerdict } from '../decision/verdict.ts'

type Fallbacks = Pick<Snapshot, 'lastKnownGood' | 'previous' | 'verdicts' | 'proven' | 'unit'>

export function findLastKnownGood(snapshot: Fallbacks): HeldSource {
  const isGivenUp = ({ source, content }: HeldSource) =>
    source !== 'local' && content !== undefined && findPresentVerdict(snapshot, content)?.state === 'confirmed'
  return [snapshot.lastKnownGood, snapshot.previous].find((held) => !isGivenUp(held)) ?? LOCAL
}
