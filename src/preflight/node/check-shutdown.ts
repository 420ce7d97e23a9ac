// SPDX-License-Identifier: Apache-2.0
/**
 * Whether kubelet's shutdown manager can delay a shutdown for as long as the config wants. Pure.
 * Kubelet writes that time to a drop-in of logind, 99-kubelet.conf, and has logind read it. Where
 * the time that logind takes is still shorter, as a drop-in sets it that counts later, kubelet logs
 * an error and runs on without the manager (`start`, pkg/kubelet/nodeshutdown, 1.20 to 1.37;
 * kubernetes issues 102818 and 107043).
 */
import { posix } from 'node:path'
import { NEWEST_MINOR } from '../../kubelet/fields.ts'
import { isGateOn, stateOf } from '../../kubelet/gates.ts'
import { formatDuration, parseDuration, SECOND_US } from '../../values/durations.ts'
import { isObject } from '../../values/is-object.ts'
import type { NodeProblem, NodeView } from './node-view.ts'
import type { LogindFacts, Surroundings } from './surroundings.ts'

const OWN_DROP_IN = '99-kubelet.conf'

type PeriodField = 'shutdownGracePeriod' | 'shutdownGracePeriodByPodPriority'

/** undefined: no pod is waited for. */
export function shutdownPeriod(view: NodeView): { readonly at: PeriodField; readonly us: number } | undefined {
  if (!isOn(view, 'GracefulNodeShutdown')) return undefined
  const listed = view.value('shutdownGracePeriodByPodPriority')
  if (isOn(view, 'GracefulNodeShutdownBasedOnPodPriority') && Array.isArray(listed) && listed.length > 0) {
    const seconds = listed.filter(isObject).map((each) => Number(each.shutdownGracePeriodSeconds ?? 0))
    return toPeriod('shutdownGracePeriodByPodPriority', seconds.reduce((sum, each) => sum + each, 0) * SECOND_US)
  }
  const whole = parseDuration(view.text('shutdownGracePeriod') ?? '')
  return whole.ok ? toPeriod('shutdownGracePeriod', whole.us) : undefined
}

function toPeriod(at: PeriodField, us: number): ReturnType<typeof shutdownPeriod> {
  return us > 0 ? { at, us } : undefined
}

function isOn(view: NodeView, gate: string): boolean {
  const state = stateOf(gate, view.minor ?? NEWEST_MINOR)
  return state !== undefined && isGateOn(gate, state, view.map('featureGates'))
}

export function checkShutdown(view: NodeView, { logind }: Surroundings): NodeProblem[] {
  const period = shutdownPeriod(view)
  const cap = period === undefined || logind === undefined ? undefined : findCap(logind, period.us)
  if (period === undefined || cap === undefined) return []
  const { at, us } = period
  const problem = `kubelet would run without its shutdown manager: ${at} is ${formatDuration(us)}, and ${describeCap(cap)}`
  return [{ rule: 'node/shutdown', severity: 'warn', at, problem, advice: `${remedyFor(cap)}, or set at most ${formatDuration(cap.us)}` }]
}

/**
 * Why no shutdown waits for pods, on a kubelet that runs with this config. undefined: its manager
 * runs, or is not wanted.
 */
export function describeShutdown(view: NodeView, { logind }: Surroundings): string | undefined {
  const period = shutdownPeriod(view)
  if (period === undefined || logind === undefined || logind.locks.some(isKubelets)) return undefined
  const { at, us } = period
  const cap = findCap(logind, us)
  const what = `kubelet holds no lock of logind, so no shutdown waits for pods, although ${at} is ${formatDuration(us)}`
  if (cap === undefined)
    return `${what}: kubelet's log says why ("Failed to start node shutdown manager"); a restart of kubelet tries again`
  return `${what}: ${describeCap(cap)}; ${remedyFor(cap)}, and restart kubelet`
}

/**
 * Whether a lock is kubelet's. Its fields are as in `WHO=kubelet`; values have escapes of C where
 * they need them.
 */
function isKubelets(lock: string): boolean {
  return /^WHO=kubelet$/m.test(lock) && /^MODE=delay$/m.test(lock) && /^WHAT=.*\bshutdown\b/m.test(lock)
}

interface Cap {
  readonly path: string
  readonly us: number
}

/** The last file that sets the time. undefined: it is kubelet's own, or sets enough. */
function findCap({ dropIns }: LogindFacts, wantedUs: number): Cap | undefined {
  const [path, us] = [...dropIns].map(([path, text]) => [path, readDelay(text)] as const).findLast(([, us]) => us !== undefined) ?? []
  if (path === undefined || us === undefined || posix.basename(path) <= OWN_DROP_IN) return undefined
  return us < wantedUs ? { path, us } : undefined
}

function describeCap({ path, us }: Cap): string {
  return `${path} has logind wait for ${formatDuration(us)} (InhibitDelayMaxSec), and counts after kubelet's own ${OWN_DROP_IN}`
}

function remedyFor({ path }: Cap): string {
  const own = `/etc/systemd/logind.conf.d/${posix.basename(path)}`
  return path === own ? `remove InhibitDelayMaxSec from ${path}` : `mask that file (ln -s /dev/null ${own})`
}

/** The units of systemd.time(7), without years to weeks, which nobody waits for. */
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  s: 1,
  sec: 1,
  second: 1,
  seconds: 1,
  m: 60,
  min: 60,
  minute: 60,
  minutes: 60,
  h: 3600,
  hr: 3600,
  hour: 3600,
  hours: 3600,
}

/**
 * The value of InhibitDelayMaxSec, in microseconds. undefined: it is not set, or not understood.
 */
function readDelay(text: string): number | undefined {
  const value = [...text.matchAll(/^\s*InhibitDelayMaxSec\s*=\s*(.*?)\s*$/gm)].at(-1)?.[1]
  if (value === undefined || value === '') return undefined
  if (value === 'infinity') return Number.POSITIVE_INFINITY
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]*)\s*/g)]
  const seconds = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? Number.NaN), 0)
  const isWhole = parts.map(([part]) => part).join('') === value
  return isWhole && Number.isFinite(seconds) ? seconds * SECOND_US : undefined
}
