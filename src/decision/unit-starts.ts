/**
 * Who started kubelet's process, told by the unit's InvocationID and NRestarts: systemd by itself,
 * the agent, or somebody else. Pure.
 */
import type { HealthRecord } from './health.ts'
import type { Policy } from './policy.ts'
import type { KnownUnit } from './unit-state.ts'

/**
 * The unit's state is still the one of before the restart that was requested. Systemd may refuse
 * the request for long, and until the unit has another invocation, that start has not begun.
 */
export function isStartAwaited({ restartedFrom }: HealthRecord, { invocationId }: KnownUnit): boolean {
  return restartedFrom !== undefined && restartedFrom === invocationId
}

export function isNewInvocation(known: HealthRecord, { invocationId }: KnownUnit): boolean {
  return invocationId !== '' && invocationId !== known.invocationId
}

/**
 * Systemd refused a start, and kubelet is not known to have exited by itself within the time of a
 * trial: somebody has started it again and again. Each of those processes was stopped for the next
 * one.
 */
export function isStartRefused(
  { exits, recentExits = [], subject }: CountedExits,
  { activity, startLimitHit }: KnownUnit,
  nowUs: number,
  { trialUs }: Policy,
): boolean {
  const hasExited = exits > 0 || recentExits.some(({ key, atUs }) => key === subject && nowUs - atUs < trialUs)
  return activity === 'failed' && startLimitHit === true && !hasExited
}

type CountedExits = Pick<HealthRecord, 'exits' | 'recentExits' | 'subject'>

/** Systemd counts the restarts that it does by itself. */
export function isStartedBySystemd(known: HealthRecord, { nRestarts }: KnownUnit): boolean {
  return nRestarts > (known.firstNRestarts ?? known.lastNRestarts)
}

/**
 * Neither systemd nor the agent has started this process. Where the agent left another try to
 * systemd, it has requested nothing.
 */
export function isStartedByOthers(same: HealthRecord, unit: KnownUnit, nowUs: number): boolean {
  const { restartDueUntilUs: dueUntilUs, restartedFrom, invocationId } = same
  const isAgents = dueUntilUs !== undefined && (nowUs < dueUntilUs || restartedFrom === invocationId)
  return isNewInvocation(same, unit) && !isStartedBySystemd(same, unit) && !isAgents
}

/**
 * Systemd counts a restart of its own a moment before the unit has another invocation
 * (service_enter_restart): a look between the two must not take that start for somebody's.
 */
export function countAtStart(known: HealthRecord | undefined, { invocationId, nRestarts }: KnownUnit): number {
  const isSame = known !== undefined && (invocationId === '' || invocationId === known.invocationId)
  // reset-failed puts it back to 0.
  return isSame ? Math.min(known.firstNRestarts ?? known.lastNRestarts, nRestarts) : nRestarts
}

/**
 * A manual restart or reset-failed puts NRestarts back to 0 (systemd.unit(5), "NRestarts"): what it
 * then shows came after.
 */
export function countExits(before: number, now: number): number {
  return now >= before ? now - before : now
}
