/**
 * Asks kubelet about a config before the other parts of preflight have read it. The parts then ask
 * the same, and share the probe. Pure except for the judge.
 */
import type { DropInsHere } from './drop-ins/drop-ins.ts'
import type { InspectOptions } from './inspection.ts'
import type { Judge, JudgeRequest } from './kubelet/judgement.ts'
import { findsMoreAtStart } from './kubelet/runtime-first.ts'
import type { KubeletVersion } from './kubelet-version.ts'

export interface EarlyQuestion {
  readonly deep: InspectOptions['deep']
  readonly version: KubeletVersion | undefined
  readonly dropIns: DropInsHere | undefined
}

/** Resolves when the probes have ended. Never rejects. */
export async function askEarly(
  judge: Judge,
  request: Omit<JudgeRequest, 'stage' | 'others' | 'signal'>,
  { deep, version, dropIns }: EarlyQuestion,
  signal: AbortSignal,
): Promise<void> {
  // A config that becomes a drop-in is probed as what is merged of it, which is not known yet.
  if (dropIns?.kind === 'usable' && dropIns.order.base !== undefined) return
  const { binary, flags, incomplete, ownEnvironment, files, key } = request
  const stages = isStartAsked(deep, version) ? (['load', 'deep'] as const) : (['load'] as const)
  await Promise.all(
    stages.map((stage) => judge.judge({ binary, flags, incomplete, ownEnvironment, files, key, stage, others: dropIns, signal })),
  )
}

/** Whether the part `kubelet-start` asks. A person who demands it gets it from every kubelet. */
export function isStartAsked(deep: InspectOptions['deep'], version: KubeletVersion | undefined): boolean {
  return deep === 'demanded' || (deep === 'if-possible' && findsMoreAtStart(version))
}
