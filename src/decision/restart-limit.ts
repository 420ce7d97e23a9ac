// SPDX-License-Identifier: Apache-2.0
/**
 * The hourly limit of restarts. It is for ever new configs on a kubelet that is well: such a
 * kubelet is not to be restarted all the time. A restart that leaves an ill kubelet, that falls
 * back, or that an operator requested is neither held up by it nor counted. A reset requests one
 * restart into local, and none for what kubelet has failed with since. Pure.
 */
import { HOUR_US } from '../values/durations.ts'
import type { RestartRecord } from './records.ts'
import type { Snapshot } from './snapshot.ts'
import type { Target } from './target.ts'
import { findSuspended } from './verdict.ts'
import { isWorthKeeping } from './worth-keeping.ts'

/** Whether a restart into the target is exempt although it is no fallback. */
export function isExempt(snapshot: Snapshot, target: Pick<Target, 'source' | 'key'>): boolean {
  const isReset = snapshot.requests.hold === 'local' && target.source === 'local'
  // A local config that is tried again since it has changed is like any new config.
  return (isReset && findSuspended(snapshot, target.key) === undefined) || !isWorthKeeping(snapshot)
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
