/** Which baseline what runs is compared with. Pure. */
import type { Baseline, EvidenceRecord } from './evidence-state.ts'
import type { Snapshot } from './snapshot.ts'

export type BaselineFacts = Pick<Snapshot, 'running' | 'verdicts' | 'proven'>

/**
 * A baseline concerns the config it was taken before, and the fallbacks from it: they have to bring
 * back what was there. After a trial that passed, it is too old for that.
 */
function concernsRunning({ candidate, invocationId }: Baseline, { running, verdicts, proven }: BaselineFacts): boolean {
  if (running.kind !== 'known' || invocationId === running.invocationId) return false
  const isFallback = verdicts.get(candidate)?.state === 'provisional' && proven !== candidate
  return candidate === running.key || isFallback
}

/** undefined: there is none. */
export function findBaseline(evidence: EvidenceRecord | undefined, facts: BaselineFacts): Baseline | undefined {
  return [evidence?.baseline, evidence?.displaced].find((each) => each !== undefined && concernsRunning(each, facts))
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
  const isNeeded = (each: Baseline) => each.candidate !== facts.proven && concernsRunning(each, facts)
  return [record?.baseline, record?.displaced].find((each) => each !== undefined && isNeeded(each))
}
