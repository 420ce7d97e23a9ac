/**
 * Whether kubelet has to be restarted: only when its next start would use other content than it
 * runs, once per target, and at most so many times an hour. A unit that systemd gave up is started
 * again, at growing intervals. The result of a restart is observed, never assumed. Pure.
 */
import { HOUR_US } from '../values/durations.ts'
import { type ConfigMapSource, type ConfigSource, type ContentHash, LOCAL_CONTENT } from './config-source.ts'
import { resolveDesired } from './desired.ts'
import { findPause } from './find-pause.ts'
import { heldSources, namedSources } from './held-sources.ts'
import { isLongIll } from './process-health.ts'
import type { RestartRecord } from './records.ts'
import { findLimitEndUs, isExempt, isWorthKeeping } from './restart-limit.ts'
import { RUNTIME_EXCUSE_US } from './runtime-excuse.ts'
import type { Snapshot } from './snapshot.ts'
import type { Target } from './target.ts'
import type { KnownUnit } from './unit-state.ts'

export type RestartDecision =
  | { readonly kind: 'not-due' }
  | { readonly kind: 'restart'; readonly record: RestartRecord }
  | { readonly kind: 'stopped-by-operator' }
  /** Kubelet runs, and would exit at its start, since the container runtime does not answer. */
  | { readonly kind: 'runtime-down' }
  /** Requested, and not observed yet. */
  | { readonly kind: 'under-way'; readonly untilUs: number; readonly detail: string }
  /** A process started after the restart runs another config. */
  | { readonly kind: 'ineffective'; readonly detail: string }
  | { readonly kind: 'limit'; readonly untilUs: number }

/**
 * The first interval between starts of a unit that systemd keeps giving up. Doubled each time
 * within the hour.
 */
const START_AGAIN_US = 15e6
const START_AGAIN_AT_MOST_US = 300e6
/** A restart that systemd did not accept is requested again after this time. */
const RETRY_US = 60e6
/**
 * A restart without an answer is requested again after this time: the agent died before the answer
 * came, perhaps before it made the request. If the first request is still pending, systemd merges
 * the two.
 */
const LOST_US = 10e6

export function decideRestart(snapshot: Snapshot, unit: KnownUnit, target: Target): RestartDecision {
  const { running, now, policy } = snapshot
  if (running.kind === 'known' && running.content === target.content && !isOutdated(snapshot, target)) return { kind: 'not-due' }
  const thisBoot = snapshot.restarts.filter((record) => record.bootId === now.bootId)
  const last = thisBoot.at(-1)
  // A restart requested before the target was last activated does not count.
  const { health } = snapshot
  const sinceUs = health?.subject === target.key ? health.subjectSinceUs : Number.POSITIVE_INFINITY
  // Nor does a restart long before the present process started.
  const answered = running.kind === 'known' && last !== undefined && running.startedAtUs - last.atUs > policy.startDeadlineUs
  const requested = last !== undefined && last.target === target.key && last.atUs >= sinceUs && !answered ? last : undefined
  // An agent that died between `reset-failed` and `start` leaves a unit that looks stopped, and
  // that nothing starts.
  const halfStarted =
    unit.activity === 'stopped' &&
    requested?.failed === true &&
    requested.outcome === undefined &&
    requested.invocationBefore === unit.invocationId
  if ((unit.activity === 'stopped' && !halfStarted) || unit.activity === 'not-found') return { kind: 'stopped-by-operator' }
  // A start that does not come to an end is replaced by the restart.
  const hangs = unit.activity === 'starting' && isLongIll(health, now.monotonicUs, policy)
  if (unit.activity === 'stopping' || (unit.activity === 'starting' && !hangs))
    return underWay(now.monotonicUs, `kubelet is ${unit.summary}`)
  if (unit.activity === 'running' && running.kind !== 'known') return underWay(now.monotonicUs, 'kubelet has just been started')

  const failed = unit.activity === 'failed' || halfStarted
  if (isAdministrators(snapshot, unit, target)) return { kind: 'not-due' }
  // No process runs, and the last one ran this content: systemd restarts it, unless it gave up.
  if (running.kind === 'none' && !failed && health?.lastProcess?.content === target.content) return { kind: 'not-due' }
  if (requested !== undefined && !halfStarted) {
    const startedSince = unit.invocationId !== requested.invocationBefore
    if (startedSince && running.kind === 'known') {
      return {
        kind: 'ineffective',
        detail: `kubelet was restarted and still runs ${running.content === LOCAL_CONTENT ? 'its local config' : 'another config'}`,
      }
    }
    if (startedSince && !failed) return { kind: 'not-due' }
    const retryAtUs =
      requested.atUs + (requested.outcome === undefined ? LOST_US : requested.outcome.ok ? policy.startDeadlineUs : RETRY_US)
    if (!startedSince && now.monotonicUs < retryAtUs)
      return {
        kind: 'under-way',
        untilUs: retryAtUs,
        detail: requested.outcome?.ok === false ? requested.outcome.detail : 'kubelet is being restarted',
      }
  }
  if (waitsForRuntime(snapshot)) return { kind: 'runtime-down' }
  // Falling back is exempt from the limit, also when systemd refused it at first. Starting a unit
  // that systemd gave up, again and again, is not.
  const isRepeatedStart = failed && requested?.outcome?.ok === true
  const fallback = target.fallback && !target.atFault && !isRepeatedStart
  const exempt = !fallback && isExempt(snapshot, target)
  if (!fallback && failed) {
    // A start that was cut short is completed and does not count again.
    const untilUs = halfStarted ? 0 : startAgainUs(thisBoot, now.monotonicUs)
    if (now.monotonicUs < untilUs) return { kind: 'under-way', untilUs, detail: 'systemd gave kubelet up: it is started again in a while' }
  } else if (!fallback && !exempt) {
    const untilUs = findLimitEndUs(snapshot, thisBoot)
    if (untilUs !== undefined) return { kind: 'limit', untilUs }
  }
  const record: RestartRecord = {
    bootId: now.bootId,
    atUs: now.monotonicUs,
    target: target.key,
    fallback,
    ...(exempt && { exempt }),
    invocationBefore: unit.invocationId,
    failed,
    outcome: undefined,
  }
  return { kind: 'restart', record }
}

/**
 * What runs is the target's content on another kubelet, and hangs: the installed kubelet may not.
 * While it is well, an upgrade on disk restarts nothing.
 */
function isOutdated(snapshot: Snapshot, target: Target): boolean {
  const { running } = snapshot
  if (running.kind !== 'known' || running.key === target.key || findPause(snapshot) !== undefined) return false
  // The local config is the administrator's, unless the agent fell back to it.
  return (target.source !== 'local' || target.fallback) && !isWorthKeeping(snapshot)
}

/**
 * A kubelet that runs would not come back from a restart without its runtime. But the runtime may
 * be down because of what runs, so that only a restart brings it back.
 */
function waitsForRuntime(snapshot: Snapshot): boolean {
  const { running, health, now } = snapshot
  if (running.kind === 'none' || !isWorthKeeping(snapshot)) return false
  const ownRuntime = snapshot.changesRuntime === true
  const isUp = ownRuntime ? snapshot.targetRuntimeUp : snapshot.runtimeUp
  const sinceUs = (ownRuntime ? health?.subjectSinceUs : health?.runtimeDownSinceUs) ?? now.monotonicUs
  return isUp === false && now.monotonicUs - sinceUs < RUNTIME_EXCUSE_US
}

function startAgainUs(thisBoot: readonly RestartRecord[], nowUs: number): number {
  const starts = thisBoot.filter((record) => record.failed && !record.fallback && nowUs - record.atUs < HOUR_US)
  const last = starts.at(-1)
  return last === undefined ? 0 : last.atUs + Math.min(START_AGAIN_AT_MOST_US, START_AGAIN_US * 2 ** (starts.length - 1))
}

/**
 * Where nothing is assigned and kubelet runs, or last ran, no checkpoint, the administrator owns
 * it. But the agent completes a return to local that it began: until kubelet has been healthy
 * there, or one more start of it was in vain.
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

/** The records worth keeping: those of this boot's last hour, and always the last one. */
export function keepRestarts(records: readonly RestartRecord[], now: { bootId: string; monotonicUs: number }): readonly RestartRecord[] {
  const thisBoot = records.filter((record) => record.bootId === now.bootId)
  return thisBoot.filter((record, index) => index === thisBoot.length - 1 || now.monotonicUs - record.atUs < HOUR_US)
}

/**
 * What runs, as a source. Where the records have moved on, the process still names its checkpoint,
 * and the uid belongs to one ConfigMap.
 */
export function runningSource(snapshot: Snapshot): ConfigSource | undefined {
  if (snapshot.running.kind !== 'known') return undefined
  const recorded = findSource(snapshot, snapshot.running.content)
  if (recorded !== undefined || snapshot.unit.kind !== 'known' || snapshot.unit.process.kind !== 'checkpoint') return recorded
  const { uid, resourceVersion, key, overlay } = snapshot.unit.process
  const named = listKnownSources(snapshot).find((known) => known.uid === uid)
  const version = { uid, resourceVersion, ...(overlay !== undefined && { overlay }) }
  return named && { namespace: named.namespace, name: named.name, kubeletConfigKey: key, ...version }
}

/** The ConfigMaps that a record, the cluster or a verdict names. They give a uid its name. */
function listKnownSources(snapshot: Snapshot): readonly ConfigMapSource[] {
  const others = [resolveDesired(snapshot.desired) ?? 'local', ...[...snapshot.verdicts.values()].map(({ source }) => source)]
  return [...namedSources(snapshot), ...others.filter((source) => source !== 'local')]
}

/** What runs, or what ran last where nothing runs. */
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
