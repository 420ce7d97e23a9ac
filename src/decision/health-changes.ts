/** What the agent's own steps, and an operator's, change in the health record. Pure. */
import type { ContentHash } from './config-source.ts'
import type { HealthRecord } from './health.ts'
import type { Policy } from './policy.ts'
import { contentOfKey } from './trial-key.ts'

/**
 * A restart was requested: kubelet's exits and silence after that start are charged to the subject.
 */
export function expectStart(record: HealthRecord | undefined, nowUs: number, { startDeadlineUs }: Policy): HealthRecord | undefined {
  if (record === undefined) return undefined
  const startedSinceUs = record.started ? record.startedSinceUs : nowUs
  return {
    ...record,
    started: true,
    startedSinceUs,
    everHealthy: false,
    unhealthySinceUs: undefined,
    restartedFrom: record.invocationId,
    restartDueUntilUs: nowUs + startDeadlineUs,
  }
}

/**
 * What failed is tried once more.
 *
 * @param isRequested false: systemd is about to restart kubelet anyway
 */
export function expectAnotherTry(record: HealthRecord, nowUs: number, { startDeadlineUs }: Policy, isRequested: boolean): HealthRecord {
  const process = record.process && { ...record.process, exits: 0, unhealthySinceUs: undefined }
  return {
    ...record,
    started: true,
    exits: 0,
    excusedExits: undefined,
    unhealthySinceUs: undefined,
    process,
    restartedFrom: record.invocationId,
    restartDueUntilUs: isRequested ? nowUs + startDeadlineUs : undefined,
    triedAgainUs: nowUs,
  }
}

/**
 * While an operator has paused the agent, the operator answers for what happens to kubelet. The
 * exits are only counted, so that a crash loop that nothing ends is reported.
 */
export function forgetIllness(record: HealthRecord): HealthRecord {
  const process = record.process && { ...record.process, exits: 0, unhealthySinceUs: undefined }
  const pausedExits = (record.pausedExits ?? 0) + record.exits || undefined
  return { ...record, exits: 0, pausedExits, excusedExits: undefined, unhealthySinceUs: undefined, process, recentExits: [] }
}

/**
 * What was charged before is not charged again.
 *
 * @param of on whatever kubelet. undefined: to any config
 */
export function forgetExits(record: HealthRecord, of?: ContentHash): HealthRecord {
  const recentExits = of === undefined ? [] : record.recentExits?.filter(({ key }) => contentOfKey(key) !== of)
  return { ...record, exits: 0, excusedExits: undefined, recentExits }
}
