/**
 * What a pause does to the evidence. The operator answers for what happens then: it is neither
 * charged to the config nor counted as its proof. What is still wrong after the pause is wrong from
 * its end on. Pure.
 */
import type { Baseline, ProcessEvidence } from './evidence-state.ts'

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
  pausedUntilUs: number | undefined,
): boolean {
  if (pausedUntilUs === undefined) return false
  const sinceUs = look?.problem === '' ? look.lastUs : baseline?.sinceUs
  return sinceUs === undefined || sinceUs <= pausedUntilUs
}

/**
 * What may pass by itself has the time for that after a pause. What is lost stays lost. A Lease is
 * missed only from a healthy kubelet, while the agent reaches the API server on the same way.
 */
export function countFrom(process: ProcessEvidence, pausedUntilUs: number | undefined): ProcessEvidence {
  if (pausedUntilUs === undefined) return process
  const { node, runtime, serving, staticPods } = process
  const later = (sinceUs: number) => Math.max(sinceUs, pausedUntilUs)
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
