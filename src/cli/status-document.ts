/**
 * The document that `status -o json` prints: the state of the node. Fields are added, never renamed
 * or removed; a consumer ignores unknown fields. Durations are whole seconds, times RFC 3339. Pure.
 */

import type { ConfigSource, HeldSource } from '../decision/config-source.ts'
import { describeVersion, sameSource } from '../decision/config-source.ts'
import type { Channel } from '../decision/desired.ts'
import { describePause, findPause, latestChannelState } from '../decision/find-pause.ts'
import { countsForLimit } from '../decision/restarts.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { ActivationKind, UnitActivity, Wiring, WiringProblem } from '../decision/unit-state.ts'
import type { FailureReason, Verdict } from '../decision/verdict.ts'
import type { OverlayView } from '../overlay/view.ts'
import { describeStatus } from '../report/status.ts'
import { CONFIG_API_VERSION } from '../settings/resolve-settings.ts'
import { HOUR_US, SECOND_US } from '../values/durations.ts'
import type { AgentPresence } from './command.ts'
import type { Explanation } from './explain.ts'

export interface StatusDocument {
  readonly apiVersion: typeof CONFIG_API_VERSION
  readonly kind: 'AgentStatus'
  readonly node: string
  /** `running`: null if unknown. */
  readonly agent: { readonly running: boolean | null; readonly pid?: number }
  readonly unit: { readonly activity: UnitActivity | 'unknown'; readonly detail: string }
  readonly wiring: WiringDocument
  readonly hold: 'none' | 'paused' | 'local'
  /** Who paused this node: an operator on the node, or the cluster, as last read. null: nobody. */
  readonly paused: { readonly by: 'node' | 'cluster'; readonly detail: string } | null
  /** The channel of the assignment, as last read from the cluster. null: none, or never read. */
  readonly channel: Channel | null
  /** Requests that the agent has not carried out yet. */
  readonly requests: readonly ('rollback' | 'retry')[]
  /** The phase of the agent; `due`: it has a step to do. */
  readonly phase: Explanation['phase']
  readonly detail: string
  readonly assigned: SourceDocument
  readonly active: SourceDocument
  readonly nextStart: SourceDocument
  readonly lastKnownGood: SourceDocument
  readonly previous: SourceDocument
  /** What should be active: `assigned`, unless that failed. */
  readonly target: SourceDocument
  readonly trial: { readonly remainingSeconds: number; readonly durationSeconds: number } | null
  /** Of a wait that ends by itself (phases `spread` and `restart-limit`). */
  readonly waitRemainingSeconds: number | null
  readonly restarts: { readonly lastHour: number; readonly fallbacksLastHour: number; readonly limitPerHour: number }
  readonly verdicts: readonly VerdictDocument[]
  /**
   * The overlay files as they are now, which the agent may not have applied yet. null: there are
   * none. Absent: not read.
   */
  readonly overlay?: OverlayDocument | null
  /**
   * As in `Node.status.config.error`; null: none. It lacks what only the running agent knows (an
   * API outage).
   */
  readonly error: string | null
}

export type SourceDocument =
  | { readonly kind: 'local' }
  | {
      readonly kind: 'configMap'
      readonly namespace: string
      readonly name: string
      readonly kubeletConfigKey: string
      readonly uid: string
      readonly resourceVersion: string
      /** The hash of this node's overlay that is applied to it. Absent: no overlay. */
      readonly overlay?: string
      /** `missing`: no complete checkpoint of it is on disk. Absent: not read. */
      readonly checkpoint?: 'present' | 'missing'
    }
  /** No kubelet process. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown'; readonly detail: string }

export type OverlayDocument =
  | { readonly state: 'usable'; readonly files: readonly string[] }
  | { readonly state: 'unusable'; readonly detail: string }

export type WiringDocument =
  | { readonly state: 'ready'; readonly activation: ActivationKind }
  | { readonly state: 'broken'; readonly reason: WiringProblem; readonly detail: string }
  | { readonly state: 'unknown'; readonly detail: string }

export interface VerdictDocument {
  readonly source: SourceDocument
  readonly state: Verdict['state']
  readonly reason: FailureReason
  readonly detail: string
  readonly at: string
}

export function documentStatus(snapshot: Snapshot, explanation: Explanation, agent: AgentPresence): StatusDocument {
  const { unit, assigned, nextStart, requests, policy } = snapshot
  const { target, phase, trialRemainingUs, waitRemainingUs } = explanation
  const pause = findPause(snapshot)
  const status = describeStatus(snapshot, phase === 'due' ? undefined : phase)
  return {
    apiVersion: CONFIG_API_VERSION,
    kind: 'AgentStatus',
    node: snapshot.nodeName,
    agent: documentAgent(agent),
    unit: unit.kind === 'known' ? { activity: unit.activity, detail: unit.summary } : { activity: 'unknown', detail: unit.detail },
    wiring: unit.kind === 'known' ? documentWiring(unit.wiring) : { state: 'unknown', detail: unit.detail },
    hold: requests.hold,
    paused: pause === undefined ? null : { by: pause.by, detail: describePause(pause) },
    channel: latestChannelState(snapshot.desired, snapshot.recordedChannelState)?.channel ?? null,
    requests: [...(requests.rollback === undefined ? [] : ['rollback' as const]), ...(requests.retry ? ['retry' as const] : [])],
    phase,
    detail: explanation.detail,
    assigned:
      assigned.kind === 'source' ? documentHeld({ source: assigned.source, content: snapshot.assignedContent }) : unknown(assigned.detail),
    active: documentActive(snapshot, status.active),
    nextStart: nextStart.kind === 'known' ? documentHeld(nextStart.held) : unknown(nextStart.detail),
    lastKnownGood: documentHeld(snapshot.lastKnownGood),
    previous: documentHeld(snapshot.previous),
    target: target === undefined ? unknown(explanation.detail) : documentHeld(target),
    trial:
      trialRemainingUs === undefined ? null : { remainingSeconds: seconds(trialRemainingUs), durationSeconds: seconds(policy.trialUs) },
    waitRemainingSeconds: waitRemainingUs === undefined ? null : seconds(waitRemainingUs),
    restarts: countRestarts(snapshot),
    verdicts: [...snapshot.verdicts.values()].sort((a, b) => a.atWallMs - b.atWallMs).map(documentVerdict),
    error: status.error === '' ? null : status.error,
  }
}

export function documentSource(source: ConfigSource): SourceDocument {
  if (source === 'local') return { kind: 'local' }
  const { namespace, name, kubeletConfigKey, uid, resourceVersion, overlay } = source
  return { kind: 'configMap', namespace, name, kubeletConfigKey, uid, resourceVersion, ...(overlay !== undefined && { overlay }) }
}

export function documentHeld({ source, content }: HeldSource): SourceDocument {
  const document = documentSource(source)
  return document.kind === 'configMap' ? { ...document, checkpoint: content === undefined ? 'missing' : 'present' } : document
}

export function documentActive(snapshot: Snapshot, active: ConfigSource | undefined): SourceDocument {
  const { running, nextStart, unit } = snapshot
  if (running.kind === 'none') return { kind: 'none' }
  if (running.kind === 'unknown') return unknown(running.detail)
  if (active !== undefined) {
    return nextStart.kind === 'known' && sameSource(nextStart.held.source, active) ? documentHeld(nextStart.held) : documentSource(active)
  }
  const process = unit.kind === 'known' ? unit.process : undefined
  if (process?.kind === 'checkpoint') return unknown(`a checkpoint that no record names: ${process.uid}/${describeVersion(process)}`)
  if (process?.kind === 'other' && process.configPath !== undefined) return unknown(process.configPath)
  return unknown('neither the local config nor a checkpoint')
}

export function documentOverlay(view: OverlayView): OverlayDocument | null {
  switch (view.kind) {
    case 'none':
    case 'pending':
      return null
    case 'faulty':
      return { state: 'unusable', detail: view.detail }
    case 'present':
      return { state: 'usable', files: view.files }
  }
}

export function documentAgent(agent: AgentPresence): StatusDocument['agent'] {
  switch (agent.kind) {
    case 'running':
      return agent.pid === undefined ? { running: true } : { running: true, pid: agent.pid }
    case 'absent':
      return { running: false }
    case 'unknown':
      return { running: null }
  }
}

function documentWiring(wiring: Wiring): WiringDocument {
  if (wiring.kind === 'ready') return { state: 'ready', activation: wiring.activation }
  return { state: 'broken', reason: wiring.reason, detail: wiring.detail }
}

function documentVerdict({ source, state, reason, detail, atWallMs }: Verdict): VerdictDocument {
  return { source: documentSource(source), state, reason, detail, at: new Date(atWallMs).toISOString() }
}

function countRestarts({ restarts, now, policy }: Snapshot): StatusDocument['restarts'] {
  const lastHour = restarts.filter((record) => record.bootId === now.bootId && now.monotonicUs - record.atUs < HOUR_US)
  const fallbacks = lastHour.filter((record) => record.fallback)
  return { lastHour: lastHour.filter(countsForLimit).length, fallbacksLastHour: fallbacks.length, limitPerHour: policy.restartsPerHour }
}

function unknown(detail: string): SourceDocument {
  return { kind: 'unknown', detail }
}

/** Rounded up, so a remaining time is never 0. */
export function seconds(us: number): number {
  return Math.ceil(us / SECOND_US)
}
