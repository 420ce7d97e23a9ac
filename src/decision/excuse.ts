/**
 * For how long a container runtime that does not answer excuses kubelet. Kubelet exits without a
 * runtime, every 15 s where the runtime accepts connections and never answers (measured on 1.28.15
 * and 1.36.3), and no config is to blame for that. But a config can kill the runtime, too, for good
 * or for a moment at each start, so the excuse ends.
 *
 * Whoever else has a port of kubelet excuses the same. No config can do that, so this lasts as long
 * as they have the port. Pure.
 */
import type { ExcusedExits, HealthRecord, HealthSample } from './health.ts'

type ExcusingSample = Pick<HealthSample, 'at' | 'runtimeUp' | 'changesRuntime' | 'portTaken'>

/**
 * Longer than a runtime takes to be upgraded or restarted, and than kubelet's pod eviction takes.
 */
export const RUNTIME_EXCUSE_US = 600e6

/**
 * A kubelet exits 40 times in that time where its runtime accepts connections and never answers.
 */
const MOST_EXCUSED_EXITS = 60

export function addExcused(before: ExcusedExits | undefined, count: number, nowUs: number): ExcusedExits | undefined {
  return count === 0 ? before : { count: (before?.count ?? 0) + count, sinceUs: before?.sinceUs ?? nowUs }
}

/** A runtime that answers now and then does not excuse for ever, either. */
export function isExcuseUsedUp(excused: ExcusedExits | undefined, nowUs: number): boolean {
  return excused !== undefined && excused.count >= MOST_EXCUSED_EXITS && nowUs - excused.sinceUs >= RUNTIME_EXCUSE_US
}

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
 * killed the runtime has the whole excuse, from its first start.
 *
 * @param downSinceUs of the runtime. undefined: it answered at the last sample
 */
export function isSubjectExcused(
  downSinceUs: number | undefined,
  { startedSinceUs, subjectSinceUs, excusedExits }: Pick<HealthRecord, 'startedSinceUs' | 'subjectSinceUs' | 'excusedExits'>,
  sample: ExcusingSample,
): boolean {
  if (sample.portTaken !== undefined) return true
  if (isExcuseUsedUp(excusedExits, sample.at.monotonicUs)) return false
  return isExcuse(downSinceUs && Math.max(downSinceUs, startedSinceUs ?? subjectSinceUs), sample)
}

/**
 * @param downSinceUs of the runtime, or of what it is to excuse, whichever is later. undefined: the
 * runtime answered at the last sample
 */
export function isExcuse(downSinceUs: number | undefined, sample: ExcusingSample): boolean {
  if (sample.portTaken !== undefined) return true
  if (sample.runtimeUp !== false || sample.changesRuntime === true) return false
  return downSinceUs === undefined || sample.at.monotonicUs - downSinceUs < RUNTIME_EXCUSE_US
}
