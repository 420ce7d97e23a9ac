/** Steps that failed lately are left alone for a while. Pure. */
import type { Snapshot } from './snapshot.ts'
import { aboutOf, type Step } from './step.ts'

export function failedLately({ troubles, now }: Snapshot, step: Step): boolean {
  return troubles.some(({ step: kind, about, retryAtUs }) => kind === step.kind && about === aboutOf(step) && now.monotonicUs < retryAtUs)
}
