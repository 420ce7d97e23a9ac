/**
 * For how long a container runtime that does not answer excuses kubelet. Kubelet exits without a
 * runtime, every 15 s where the runtime accepts connections and never answers (measured on 1.28.15
 * and 1.36.3), and no config is to blame for that. But a config can kill the runtime, too, so the
 * excuse ends. Pure.
 */
import type { HealthRecord, HealthSample } from './health.ts'

/**
 * Longer than a runtime takes to be upgraded or restarted, and than kubelet's pod eviction takes.
 */
export const RUNTIME_EXCUSE_US = 600e6

/** More than the exits of a kubelet whose runtime is silent for that long: 40, every 15 s. */
const MOST_EXCUSED_EXITS = 60

/** @param gap nothing is known of the time since the last sample */
export function followRuntime(
  beforeUs: number | undefined,
  sample: Pick<HealthSample, 'at' | 'runtimeUp'>,
  gap: boolean,
): number | undefined {
  if (sample.runtimeUp !== false) return undefined
  return gap || beforeUs === undefined ? sample.at.monotonicUs : beforeUs
}

/**
 * Whether the runtime excuses the subject of the record. What replaces a config that may have
 * killed the runtime has the whole excuse, from its first start. But where the runtime keeps
 * answering for a moment, and kubelet keeps exiting, the excuse ends as well.
 *
 * @param downSinceUs of the runtime. undefined: it answered at the last sample
 */
export function isSubjectExcused(
  downSinceUs: number | undefined,
  { startedSinceUs, subjectSinceUs, excusedExits }: Pick<HealthRecord, 'startedSinceUs' | 'subjectSinceUs' | 'excusedExits'>,
  sample: Pick<HealthSample, 'at' | 'runtimeUp' | 'changesRuntime'>,
): boolean {
  if (isExcuseUsedUp({ excusedExits })) return false
  return isRuntimeExcuse(downSinceUs && Math.max(downSinceUs, startedSinceUs ?? subjectSinceUs), sample)
}

export function isExcuseUsedUp({ excusedExits = 0 }: Pick<HealthRecord, 'excusedExits'>): boolean {
  return excusedExits >= MOST_EXCUSED_EXITS
}

/**
 * @param downSinceUs of the runtime, or of what it is to excuse, whichever is later. undefined: the
 * runtime answered at the last sample
 */
export function isRuntimeExcuse(
  downSinceUs: number | undefined,
  sample: Pick<HealthSample, 'at' | 'runtimeUp' | 'changesRuntime'>,
): boolean {
  if (sample.runtimeUp !== false || sample.changesRuntime === true) return false
  return downSinceUs === undefined || sample.at.monotonicUs - downSinceUs < RUNTIME_EXCUSE_US
}
