// SPDX-License-Identifier: Apache-2.0
/**
 * Why kubelet's unit is down. Systemd shows the same of a unit that a person stopped and of one
 * whose start came to nothing, so each cause but a person needs proof of its own. A stop without
 * such a proof counts as a person's doing. Measured with systemd 252 and 257. Pure.
 */

import type { HealthRecord } from '../health/fold.ts'
import { isStartedBySystemd } from '../health/starts.ts'
import { identityOfKey, type TrialKey } from '../subject/trial-key.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import type { Instant } from '../values/durations.ts'
import { listOfBoot, type RestartRecord } from './records.ts'
import type { Snapshot } from './snapshot.ts'

interface Past {
  readonly health: HealthRecord | undefined
  readonly restarts: readonly RestartRecord[]
  readonly now: Pick<Instant, 'bootId'>
}

/** Whether it matters how the latest start of the unit ended. */
export function asksForJobs(unit: KnownUnit, past: Past): boolean {
  return isOpen(unit) && (findOwn(unit, past) !== undefined || (unit.down?.barred === undefined && hasSystemdStarted(unit, past)))
}

/** The unit, with what it does in the light of what was before. */
export function explainDown(unit: KnownUnit, past: Past): KnownUnit {
  if (unit.activity === 'left-down' && unit.down?.barred === 'masked') return { ...unit, activity: 'stopped' }
  return isOpen(unit) ? { ...unit, activity: findActivity(unit, past) } : unit
}

/**
 * A start that the agent requested came to nothing, since a unit that kubelet's requires failed:
 * what the agent began is half done.
 */
export function hasOwnStartFailed(unit: KnownUnit, past: Past): boolean {
  const own = findOwn(unit, past)
  const failedUs = unit.down?.dependencyFailedUs
  return unit.activity === 'left-down' && own !== undefined && failedUs !== undefined && failedUs >= own.atUs
}

function findActivity(unit: KnownUnit, past: Past): 'stopped' | 'exited' | 'left-down' {
  const { down, invocationId } = unit
  if (down === undefined) return 'stopped'
  const { activeExitUs, inactiveEnterUs, mainExitUs, dependencyFailedUs = Number.NEGATIVE_INFINITY, endedWith } = down
  const own = findOwn(unit, past)
  if (own !== undefined && dependencyFailedUs >= own.atUs) return 'left-down'
  // Something else may start such a unit, and `disabled` says nothing of one that the agent's job
  // has taken down.
  if (down.barred !== undefined) return 'stopped'
  // Never started in this boot, or forgotten by systemd.
  if (invocationId === '') return 'stopped'
  // Whoever ended a start that was under way wants the unit down. A restart of a unit that was down
  // by then started nothing.
  if (own?.failed === true && own.outcome?.ok === true && own.atUs >= inactiveEnterUs) return 'stopped'
  // A stop takes time: the unit is inactive some time after it has ceased to be active, or to wait
  // for its restart.
  if (inactiveEnterUs > 0 && activeExitUs === inactiveEnterUs && activeExitUs >= mainExitUs) return 'exited'
  // A stop while systemd itself starts the unit again shows the same but for the failed dependency.
  if (hasSystemdStarted(unit, past) && dependencyFailedUs >= inactiveEnterUs) return 'left-down'
  return endedWith !== undefined || past.health?.takenDownOf === invocationId ? 'left-down' : 'stopped'
}

/** Nothing in the state of the unit itself tells why it is down, or whether it is to stay so. */
function isOpen({ activity, down }: KnownUnit): boolean {
  if (down === undefined || down.barred === 'masked') return false
  return activity === 'stopped' || (activity === 'left-down' && down.barred === 'disabled')
}

/**
 * The last restart that the agent requested, if the unit has not been started since. One that
 * systemd refused is no start of the agent's: what comes to nothing after it is somebody else's.
 */
function findOwn({ invocationId }: KnownUnit, { health, restarts, now }: Past): RestartRecord | undefined {
  const last = listOfBoot(restarts, now).at(-1)
  if (last?.outcome?.ok === false && last.outcome.mayBeTaken !== true) return undefined
  // Systemd forgets a unit that is down and that no other needs.
  const isForgotten = invocationId === '' && health?.lastProcess?.invocationId === last?.invocationBefore
  return last?.invocationBefore === invocationId || isForgotten ? last : undefined
}

/** Systemd counted a restart of its own, and the unit still has the invocation of before. */
function hasSystemdStarted(unit: KnownUnit, { health }: Past): boolean {
  return health !== undefined && health.invocationId === unit.invocationId && isStartedBySystemd(health, unit)
}

/** Why the unit is down, where the agent starts it again. */
export function describeDown({ activity, down }: KnownUnit): string {
  switch (activity) {
    case 'exited':
      return `kubelet ended without an error, and systemd does not start it again${KEEP_DOWN}`
    case 'left-down':
      return `${down?.endedWith ?? 'a unit that kubelet requires'} failed, and systemd does not start kubelet again${KEEP_DOWN}`
    default:
      return 'systemd gave kubelet up'
  }
}

/** A stop of a unit that is down leaves no trace. */
const KEEP_DOWN = ' (kubelet-cfg-agent pause keeps it down)'

/**
 * Why the unit is down, where the agent leaves it so, with the command that starts it.
 *
 * @param what the config that it then starts with
 */
export function describeStay(unit: KnownUnit, what: string): string {
  const name = unit.down?.name
  if (name === undefined) return `kubelet is stopped; its next start uses ${what}`
  const unmask = unit.down?.barred === 'masked' ? `systemctl unmask ${name} && ` : ''
  return `${describeRest(unit, name)}; ${unmask}systemctl start ${name} starts it with ${what}`
}

function describeRest({ activity, down, invocationId }: KnownUnit, name: string): string {
  if (activity === 'exited') return 'kubelet ended without an error, and nothing starts it again'
  if (activity === 'left-down') return 'kubelet is down since a unit that it requires failed'
  if (down?.barred === 'masked') return `${name} is masked`
  if (down?.barred === 'disabled') return `kubelet is stopped, and ${name} is disabled`
  return invocationId === '' ? 'kubelet has not been started since the boot' : 'kubelet is stopped'
}

/**
 * Whether this kubelet has been healthy here: that refutes what preflight found of it, which is
 * that it starts with no config.
 */
export function hasStarted(
  kubeletIdentity: string,
  { proven, health }: { readonly proven: TrialKey | undefined; readonly health: Pick<HealthRecord, 'subject' | 'everHealthy'> | undefined },
): boolean {
  const healthy = [proven, health?.everHealthy === true ? health.subject : undefined]
  return healthy.some((key) => key !== undefined && identityOfKey(key) === kubeletIdentity)
}

/**
 * Why no kubelet runs, and none will: it starts with no config, since its file is damaged or it
 * does not take its flags. Its exits are no config's doing. undefined also: one from before an
 * upgrade still runs.
 */
export function findStartObstacle({ cannotStart, running, unit }: Snapshot): string | undefined {
  const isEarlier = running.kind === 'known' && unit.kind === 'known' && identityOfKey(running.key) !== unit.kubeletIdentity
  return isEarlier ? undefined : cannotStart
}
