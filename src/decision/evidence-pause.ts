/**
 * What a pause does to the evidence. The operator answers for what happens then: it is neither
 * charged to the config nor counted as its proof. What is still wrong after the pause is wrong from
 * its end on. Pure.
 */
import type { Baseline, EvidenceRecord, PausedTime, ProcessEvidence } from './evidence-state.ts'
import type { Instant } from './instant.ts'

/** The node is paused at this look. Where nobody looked when that began, the last answer tells. */
export function followPause(known: Pick<EvidenceRecord, 'paused' | 'process'> | undefined, { monotonicUs }: Instant): PausedTime {
  const before = known?.paused
  const answeredUs = Math.max(Number.NEGATIVE_INFINITY, ...Object.values(known?.process?.answeredUs ?? {}))
  const isSameTime = before !== undefined && answeredUs <= before.untilUs
  const sinceUs = isSameTime ? before.sinceUs : Number.isFinite(answeredUs) ? answeredUs : undefined
  return { sinceUs, untilUs: monotonicUs }
}

/** The latest look before an answer. */
interface EarlierLook {
  readonly lastUs: number
  readonly problem: string
}

/**
 * Whether the node was paused since the look before this answer, or since the baseline: what is new
 * in the answer may have come in the pause.
 */
export function wasPausedSince(
  look: EarlierLook | undefined,
  baseline: Pick<Baseline, 'sinceUs'> | undefined,
  paused: PausedTime | undefined,
): boolean {
  if (paused === undefined) return false
  const sinceUs = look?.problem === '' ? look.lastUs : baseline?.sinceUs
  return sinceUs === undefined || sinceUs <= paused.untilUs
}

/**
 * What may pass by itself has the time for that after a pause. What is lost stays lost. A Lease is
 * missed only from a healthy kubelet, while the agent reaches the API server on the same way.
 */
export function countFrom(process: ProcessEvidence, paused: PausedTime | undefined): ProcessEvidence {
  if (paused === undefined) return process
  const { node, runtime, serving, staticPods } = process
  const later = (sinceUs: number) => Math.max(sinceUs, paused.untilUs)
  return {
    ...process,
    node: node && { ...node, readySinceUs: later(node.readySinceUs) },
    runtime: runtime && { ...runtime, sinceUs: later(runtime.sinceUs) },
    serving: serving && { ...serving, sinceUs: later(serving.sinceUs) },
    staticPods: staticPods && {
      ...staticPods,
      missing: staticPods.missing.map(({ name, sinceUs }) => ({ name, sinceUs: later(sinceUs) })),
    },
  }
}
