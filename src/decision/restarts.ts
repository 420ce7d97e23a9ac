/**
 * Whether kubelet has to be restarted: only when what it would start with next differs in content from what it runs, once per target,
 * at most so often an hour; and started, ever more slowly, where systemd gave it up. What a restart led to is observed, never assumed. Pure.
 */
import { HOUR_US } from '../values/durations.ts'
import { type ConfigMapSource, type ConfigSource, type ContentHash, LOCAL_CONTENT } from './config-source.ts'
import { resolveDesired } from './desired.ts'
import { heldSources, namedSources } from './held-sources.ts'
import type { RestartRecord } from './records.ts'
import type { Snapshot } from './snapshot.ts'
import type { Target } from './target.ts'
import type { KnownUnit } from './unit-state.ts'

export type RestartDecision =
  | { readonly kind: 'not-due' }
  | { readonly kind: 'restart'; readonly record: RestartRecord }
  | { readonly kind: 'stopped-by-person' }
  /** kubelet runs, and exits at its start without a container runtime: restarting it now would take it down. */
  | { readonly kind: 'runtime-down' }
  /** Asked for, not observed yet. */
  | { readonly kind: 'under-way'; readonly untilUs: number; readonly detail: string }
  /** A process started after the restart runs something else. */
  | { readonly kind: 'ineffective'; readonly detail: string }
  | { readonly kind: 'limit'; readonly untilUs: number }

/** Between starts of a unit that systemd keeps giving up: doubled each time within the hour. */
const START_AGAIN_US = 15e6
const START_AGAIN_AT_MOST_US = 300e6
/** A restart that systemd would not take is asked for again after this. */
const ASK_AGAIN_US = 60e6
/**
 * One without an answer, after this: the agent died before it had it, and perhaps before it asked. Were it still on its way, systemd would merge
 * the two.
 */
const LOST_US = 10e6

export function decideRestart(snapshot: Snapshot, unit: KnownUnit, target: Target): RestartDecision {
  const { running, now, policy } = snapshot
  if (running.kind === 'known' && running.content === target.content) return { kind: 'not-due' }
  const thisBoot = snapshot.restarts.filter((record) => record.bootId === now.bootId)
  const last = thisBoot.at(-1)
  // What was asked for before this target was (again) what kubelet starts with is another story.
  const { health } = snapshot
  const sinceUs = health?.subject === target.key ? health.subjectSinceUs : Number.POSITIVE_INFINITY
  // Nor is it what a process that began long after was started for.
  const answered = running.kind === 'known' && last !== undefined && running.startedAtUs - last.atUs > policy.startDeadlineUs
  const asked = last !== undefined && last.target === target.key && last.atUs >= sinceUs && !answered ? last : undefined
  // An agent that died between `reset-failed` and `start` leaves a unit that nobody stopped, and nobody will start.
  const halfStarted =
    unit.activity === 'stopped' && asked?.failed === true && asked.outcome === undefined && asked.invocationBefore === unit.invocationId
  if ((unit.activity === 'stopped' && !halfStarted) || unit.activity === 'not-found') return { kind: 'stopped-by-person' }
  if (unit.activity === 'stopping' || unit.activity === 'starting') return underWay(now.monotonicUs, `kubelet is ${unit.summary}`)
  if (unit.activity === 'running' && running.kind !== 'known') return underWay(now.monotonicUs, 'kubelet has just been started')

  const failed = unit.activity === 'failed' || halfStarted
  if (isAdministrators(snapshot, unit, target)) return { kind: 'not-due' }
  // No process, and the last one already ran this: systemd's own restarts are enough, unless it gave up.
  if (running.kind === 'none' && !failed && health?.lastProcess?.content === target.content) return { kind: 'not-due' }
  if (asked !== undefined && !halfStarted) {
    const startedSince = unit.invocationId !== asked.invocationBefore
    if (startedSince && running.kind === 'known') {
      return {
        kind: 'ineffective',
        detail: `kubelet was restarted and still runs ${running.content === LOCAL_CONTENT ? 'its local config' : 'another config'}`,
      }
    }
    if (startedSince && !failed) return { kind: 'not-due' }
    const askAgainUs = asked.atUs + (asked.outcome === undefined ? LOST_US : asked.outcome.ok ? policy.startDeadlineUs : ASK_AGAIN_US)
    if (!startedSince && now.monotonicUs < askAgainUs)
      return {
        kind: 'under-way',
        untilUs: askAgainUs,
        detail: asked.outcome?.ok === false ? asked.outcome.detail : 'restart of kubelet asked for',
      }
  }
  if ((running.kind === 'known' || failed) && snapshot.runtimeUp === false) return { kind: 'runtime-down' }
  // Falling back is exempt; starting what systemd gave up, again and again, is no falling back.
  const exempt = target.fallback && !target.atFault && asked?.outcome === undefined
  if (!exempt && failed) {
    // A start that was cut short is finished, and is no other one.
    const untilUs = halfStarted ? 0 : startAgainUs(thisBoot, now.monotonicUs)
    if (now.monotonicUs < untilUs) return { kind: 'under-way', untilUs, detail: 'systemd gave kubelet up: it is started again in a while' }
  } else if (!exempt) {
    const spent = thisBoot.filter((record) => countsForLimit(record) && now.monotonicUs - record.atUs < HOUR_US)
    const oldest = spent[0]
    if (oldest !== undefined && spent.length >= policy.restartsPerHour) return { kind: 'limit', untilUs: oldest.atUs + HOUR_US }
  }
  const record: RestartRecord = {
    bootId: now.bootId,
    atUs: now.monotonicUs,
    target: target.key,
    fallback: exempt,
    invocationBefore: unit.invocationId,
    failed,
    outcome: undefined,
  }
  return { kind: 'restart', record }
}

/** The hourly limit spares a kubelet that runs. Where none does, waiting for an hour would be the harm: starts of it only get slower. */
export function countsForLimit({ fallback, failed, outcome }: RestartRecord): boolean {
  return !fallback && !failed && outcome?.ok !== false
}

function startAgainUs(thisBoot: readonly RestartRecord[], nowUs: number): number {
  const starts = thisBoot.filter((record) => record.failed && !record.fallback && nowUs - record.atUs < HOUR_US)
  const last = starts.at(-1)
  return last === undefined ? 0 : last.atUs + Math.min(START_AGAIN_AT_MOST_US, START_AGAIN_US * 2 ** (starts.length - 1))
}

/**
 * Where nothing is assigned, and kubelet runs or ran nothing of ours, what it does is none of our business. But a way back to local that
 * the agent asked for is its own to see through: once kubelet has been healthy there, or has been started there once more in vain, it is
 * the administrator's again.
 */
function isAdministrators({ running, health, restarts, now }: Snapshot, unit: KnownUnit, target: Target): boolean {
  if (target.source !== 'local' || target.fallback) return false
  if (running.kind === 'known') return running.content.startsWith('other:')
  const last = health?.lastProcess?.content
  if (health === undefined || last === undefined) return restarts.length === 0
  const own = restarts.at(-1)
  const isOwn = own?.bootId === now.bootId && own.target === target.key && !(own.failed && own.invocationBefore !== unit.invocationId)
  const underWay = isOwn && health.subject === target.key && !health.everHealthy
  return last === LOCAL_CONTENT && !underWay
}

/** Records worth keeping: this boot's, of the last hour, and always the last one. */
export function keepRestarts(records: readonly RestartRecord[], now: { bootId: string; monotonicUs: number }): readonly RestartRecord[] {
  const thisBoot = records.filter((record) => record.bootId === now.bootId)
  return thisBoot.filter((record, index) => index === thisBoot.length - 1 || now.monotonicUs - record.atUs < HOUR_US)
}

/** What runs, as a source. Where the records have moved on, the process still names its checkpoint, whose uid belongs to one ConfigMap. */
export function runningSource(snapshot: Snapshot): ConfigSource | undefined {
  if (snapshot.running.kind !== 'known') return undefined
  const recorded = findSource(snapshot, snapshot.running.content)
  if (recorded !== undefined || snapshot.unit.kind !== 'known' || snapshot.unit.process.kind !== 'checkpoint') return recorded
  const { uid, resourceVersion, key, overlay } = snapshot.unit.process
  const named = listKnownSources(snapshot).find((known) => known.uid === uid)
  const version = { uid, resourceVersion, ...(overlay !== undefined && { overlay }) }
  return named && { namespace: named.namespace, name: named.name, kubeletConfigKey: key, ...version }
}

/** ConfigMaps that a record, the cluster or a verdict names: enough to tell the name of a uid. */
function listKnownSources(snapshot: Snapshot): readonly ConfigMapSource[] {
  const others = [resolveDesired(snapshot.desired) ?? 'local', ...[...snapshot.verdicts.values()].map(({ source }) => source)]
  return [...namedSources(snapshot), ...others.filter((source) => source !== 'local')]
}

/** The same, and what ran last where nothing does. */
export function lastRunSource(snapshot: Snapshot): ConfigSource | undefined {
  const last = snapshot.running.kind === 'none' ? snapshot.health?.lastProcess : undefined
  return last === undefined ? runningSource(snapshot) : findSource(snapshot, last.content)
}

function findSource(snapshot: Snapshot, content: ContentHash): ConfigSource | undefined {
  if (content === LOCAL_CONTENT) return 'local'
  const held = heldSources(snapshot).find((each) => each.content === content)
  const last = snapshot.health?.lastProcess
  return held?.source ?? (last?.content === content ? last.source : undefined)
}

function underWay(nowUs: number, detail: string): RestartDecision {
  return { kind: 'under-way', untilUs: nowUs + 1e6, detail }
}
