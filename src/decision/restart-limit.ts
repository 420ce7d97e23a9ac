/**
 * The hourly limit of restarts. It is for ever new configs on a kubelet that is well: such a
 * kubelet is not to be restarted all the time. A restart that leaves an ill kubelet, that falls
 * back, or that an operator requested is neither held up by it nor counted. Pure.
 */
import { HOUR_US } from '../values/durations.ts'
import { isIllNow, isLongIll } from './process-health.ts'
import type { RestartRecord } from './records.ts'
import type { Snapshot } from './snapshot.ts'
import type { Target } from './target.ts'
import { isSeenByHealth } from './verdict.ts'

/** Whether a restart into the target is exempt although it is no fallback. */
export function isExempt(snapshot: Snapshot, target: Pick<Target, 'source'>): boolean {
  const isReset = snapshot.requests.hold === 'local' && target.source === 'local'
  return isReset || !isWorthKeeping(snapshot)
}

/**
 * Whether a restart would end a kubelet that may be well. Nothing is lost where no kubelet runs, or
 * one that has failed.
 */
export function isWorthKeeping(snapshot: Snapshot): boolean {
  return snapshot.running.kind !== 'none' && !hasFailed(snapshot)
}

/**
 * Whether a process whose config failed by its health has kept running for a while and is healthy
 * again. False where its health says nothing of what the config was condemned for.
 */
export function isWellAgain({ running, health, verdicts, now, policy }: Snapshot): boolean {
  if (running.kind !== 'known' || health?.process?.invocationId !== running.invocationId) return false
  const verdict = verdicts.get(running.key)
  const runsOn = now.monotonicUs - running.startedAtUs > policy.toleranceUs
  return runsOn && health.process.healthySinceUs !== undefined && (verdict === undefined || isSeenByHealth(verdict.reason))
}

/**
 * Whether what runs has a verdict against it, or has been ill for long. Leaving it costs nothing.
 */
export function hasFailed(snapshot: Snapshot): boolean {
  return hasVerdict(snapshot) || isLongIll(snapshot.health, snapshot.now.monotonicUs, snapshot.policy)
}

/** The same, but a process that is well now, or of which nothing is known, does not fail. */
export function failsNow(snapshot: Snapshot): boolean {
  return hasVerdict(snapshot) || isIllNow(snapshot.health, snapshot.now.monotonicUs, snapshot.policy)
}

/** On the kubelet that it was started as. */
function hasVerdict({ running, verdicts }: Snapshot): boolean {
  const verdict = running.kind === 'known' ? verdicts.get(running.key) : undefined
  return verdict !== undefined && verdict.state !== 'refused'
}

/** undefined: the limit is not reached. */
export function findLimitEndUs({ unit, now, policy }: Snapshot, thisBoot: readonly RestartRecord[]): number | undefined {
  const spent = listCounted(thisBoot, unit).filter((record) => now.monotonicUs - record.atUs < HOUR_US)
  const [oldest] = spent
  return oldest !== undefined && spent.length >= policy.restartsPerHour ? oldest.atUs + HOUR_US : undefined
}

/**
 * The restarts that count. The limit protects a kubelet that runs: where systemd gave kubelet up,
 * waiting for an hour would do harm, so its starts only get slower. A restart that systemd refused
 * ended nothing.
 */
export function listCounted(thisBoot: readonly RestartRecord[], unit: Snapshot['unit']): readonly RestartRecord[] {
  return listTaken(thisBoot, unit).filter(({ fallback, exempt, failed }) => !fallback && exempt !== true && !failed)
}

/**
 * The restarts that systemd did not refuse. `systemctl` may also fail after systemd took the job,
 * as it does when it times out. Then kubelet is another process afterwards.
 *
 * @param thisBoot the restarts of this boot, in the order of their requests
 */
export function listTaken(thisBoot: readonly RestartRecord[], unit: Snapshot['unit']): readonly RestartRecord[] {
  const present = unit.kind === 'known' ? unit.invocationId : undefined
  return thisBoot.filter(({ outcome, invocationBefore }, index) => {
    const after = thisBoot[index + 1]?.invocationBefore ?? present ?? invocationBefore
    return outcome?.ok !== false || after !== invocationBefore
  })
}

/** An operator who requests a retry has the whole limit for it. */
export function excuseRestarts(restarts: readonly RestartRecord[]): readonly RestartRecord[] {
  return restarts.map((record) => ({ ...record, exempt: true }))
}
