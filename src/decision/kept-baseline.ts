/**
 * The baseline outlives the boot, and what is lost in /run: a reboot is what people do first with a
 * node that is not Ready. It lies in `meta/` until the trial that it is for is over. Pure.
 */
import { type BaselineFacts, isBaselineNeeded } from './evidence-baseline.ts'
import type { Baseline, EvidenceRecord, KeptBaseline } from './evidence-state.ts'
import type { Snapshot } from './snapshot.ts'

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

/** A boot ends pods and pressure, and begins CLOCK_MONOTONIC anew. */
function acrossBoot({
  awaitedSinceUs: _awaited,
  unread: _unread,
  pressure: _pressure,
  podsAtMs: _atMs,
  podsAtWallMs: _atWallMs,
  failedPods: _pods,
  ...baseline
}: Baseline): Baseline {
  return { ...baseline, sinceUs: 0, beforeBoot: true }
}

/**
 * What `meta/` has to hold by now. undefined: nothing.
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
  // What runs, and what is assigned, may not be known for a moment.
  if (bootId === undefined || facts.running.kind !== 'known' || facts.assignedContent === undefined) return kept
  const needed = [baseline, displaced].filter((each) => each !== undefined && isBaselineNeeded(each, facts))
  if (baseline === undefined || (candidate === undefined && needed.length === 0)) return undefined
  return { bootId, baseline, ...(displaced && { displaced }) }
}
