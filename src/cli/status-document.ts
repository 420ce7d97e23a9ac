/**
 * The document that `status -o json` prints: the state of the node. Fields are added, never renamed
 * or removed; a consumer ignores unknown fields. Durations are whole seconds, times RFC 3339. Pure.
 */

import type { Channel } from '../decision/desired.ts'
import { describePause, findPause, latestChannelState } from '../decision/find-pause.ts'
import { holdsOnAnyKubelet } from '../decision/find-verdict.ts'
import { heldSources } from '../decision/held-sources.ts'
import { isNamed, listOfBoot, listRequested, type RequestName, type RestartRecord } from '../decision/records.ts'
import { listCounted } from '../decision/restart-limit.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import { contentOfKey, identityOfKey } from '../decision/trial-key.ts'
import type { ActivationKind, Wiring, WiringProblem } from '../decision/unit-state.ts'
import type { FailureReason, Verdict } from '../decision/verdict.ts'
import { listObserved } from '../evidence/judge.ts'
import type { Answer } from '../evidence/kind.ts'
import { type EvidenceFinding, type EvidenceKind, type EvidenceLevel, levelOf } from '../evidence/kinds.ts'
import type { OverlayView } from '../overlay/view.ts'
import type { Difference } from '../preflight/change/check-same.ts'
import { findLastKnownGood } from '../report/last-known-good.ts'
import { describeStatus } from '../report/status.ts'
import { CONFIG_API_VERSION } from '../settings/resolve-settings.ts'
import { HOUR_US } from '../values/durations.ts'
import type { AgentPresence } from './command.ts'
import {
  type AgentDocument,
  documentActive,
  documentAgent,
  documentAssigned,
  documentHeld,
  documentSource,
  documentUnit,
  type SourceDocument,
  seconds,
  type UnitDocument,
  unknown,
} from './document-parts.ts'
import type { Explanation } from './explain.ts'
import type { MergedDocument } from './merged-layers.ts'
import type { ReportedDocument } from './reported.ts'
import { documentRollout, type RolloutDocument } from './rollout-document.ts'

export interface StatusDocument {
  readonly apiVersion: typeof CONFIG_API_VERSION
  readonly kind: 'AgentStatus'
  readonly node: string
  readonly agent: AgentDocument
  readonly unit: UnitDocument
  readonly wiring: WiringDocument
  readonly hold: 'none' | 'paused' | 'local'
  /** Who paused this node: an operator on the node, or the cluster, as last read. null: nobody. */
  readonly paused: { readonly by: 'node' | 'cluster'; readonly detail: string } | null
  /** The channel of the assignment, as last read from the cluster. null: none, or never read. */
  readonly channel: Channel | null
  /** Requests that the agent has not carried out yet. */
  readonly requests: readonly RequestName[]
  /** The rollout of the assigned config, as the running agent knew it last. null: it has none. */
  readonly rollout: RolloutDocument | null
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
  /** What is known of the config on trial. Empty: nothing is on trial. */
  readonly evidence: readonly EvidenceDocument[]
  readonly trial: { readonly remainingSeconds: number; readonly durationSeconds: number } | null
  /** Of a wait that ends by itself (phases `spread` and `restart-limit`). */
  readonly waitRemainingSeconds: number | null
  readonly restarts: { readonly lastHour: number; readonly fallbacksLastHour: number; readonly limitPerHour: number }
  readonly verdicts: readonly VerdictDocument[]
  /**
   * What the assigned config is merged from on this node, the lowest first. Empty: it is not
   * merged. `fields` null: not known, or a layer sets far more than any config has.
   */
  readonly layers: MergedDocument['layers']
  readonly fields: MergedDocument['fields']
  /**
   * The overlay files as they are now, which the agent may not have applied yet. null: there are
   * none. Absent: not read.
   */
  readonly overlay?: OverlayDocument | null
  /**
   * Where the effective config that kubelet logged at its start (`running`) differs from what the
   * files and flags make now (`meant`). null: kubelet before 1.37 logs none, or it cannot be read.
   * Absent: not read.
   */
  readonly misread?: readonly Difference[] | null
  /**
   * What an agent said last, as the condition of the Node has it. null: nothing since the node
   * booted.
   */
  readonly reported: ReportedDocument | null
  /**
   * What `Node.status.config.error` is about, with the cause itself; null: none. What only the
   * agent knows, as a download that fails, is from what the running agent reported.
   */
  readonly error: string | null
}

export type OverlayDocument =
  | { readonly state: 'usable'; readonly files: readonly string[] }
  | { readonly state: 'unusable'; readonly detail: string }

export interface EvidenceDocument {
  readonly kind: EvidenceKind
  readonly answer: Answer
  readonly level: EvidenceLevel
  readonly detail: string
  /** null: not known. */
  readonly sinceSeconds: number | null
}

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
  /**
   * It concerns nothing that this node runs, is assigned or falls back to, or another kubelet than
   * the present one.
   */
  readonly superseded: boolean
}

export function documentStatus(
  snapshot: Snapshot,
  explanation: Explanation,
  agent: AgentPresence,
  reported: ReportedDocument | null,
  merged: MergedDocument,
): StatusDocument {
  const { unit, nextStart, requests, policy } = snapshot
  const { target, phase, trialRemainingUs, waitRemainingUs } = explanation
  const pause = findPause(snapshot)
  const status = describeStatus(snapshot, phase === 'due' ? undefined : phase)
  return {
    apiVersion: CONFIG_API_VERSION,
    kind: 'AgentStatus',
    node: snapshot.nodeName,
    agent: documentAgent(agent),
    unit: documentUnit(snapshot),
    wiring: unit.kind === 'known' ? documentWiring(unit.wiring) : { state: 'unknown', detail: unit.detail },
    hold: requests.hold,
    paused: pause === undefined ? null : { by: pause.by, detail: describePause(pause) },
    channel: latestChannelState(snapshot.desired, snapshot.recordedChannelState)?.channel ?? null,
    requests: listRequested(requests),
    rollout: documentRollout(snapshot),
    phase,
    detail: explanation.detail,
    assigned: documentAssigned(snapshot),
    active: documentActive(snapshot, status.active),
    nextStart: nextStart.kind === 'known' ? documentHeld(nextStart.held) : unknown(nextStart.detail),
    lastKnownGood: documentHeld(findLastKnownGood(snapshot)),
    previous: documentHeld(snapshot.previous),
    target: target === undefined ? unknown(explanation.detail) : documentHeld(target),
    evidence: listObserved(snapshot).map((finding) => documentFinding(finding, snapshot)),
    trial:
      trialRemainingUs === undefined ? null : { remainingSeconds: seconds(trialRemainingUs), durationSeconds: seconds(policy.trialUs) },
    waitRemainingSeconds: waitRemainingUs === undefined ? null : seconds(waitRemainingUs),
    restarts: countRestarts(snapshot),
    verdicts: [...snapshot.verdicts.values()].sort((a, b) => a.atWallMs - b.atWallMs).map((verdict) => documentVerdict(verdict, snapshot)),
    ...merged,
    reported,
    error: status.error === '' ? reportedError(reported) : (status.cause ?? status.error),
  }
}

/** What an agent that is gone said may have been mended since. */
function reportedError(reported: ReportedDocument | null): string | null {
  return reported?.by === 'running-agent' ? reported.error : null
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

function documentWiring(wiring: Wiring): WiringDocument {
  if (wiring.kind === 'ready') return { state: 'ready', activation: wiring.activation }
  return { state: 'broken', reason: wiring.reason, detail: wiring.detail }
}

function documentFinding({ kind, answer, detail, sinceUs }: EvidenceFinding, { policy, now }: Snapshot): EvidenceDocument {
  const sinceSeconds = sinceUs === undefined ? null : seconds(Math.max(0, now.monotonicUs - sinceUs))
  return { kind, answer, level: levelOf(policy.evidence, kind), detail, sinceSeconds }
}

function documentVerdict(verdict: Verdict, snapshot: Snapshot): VerdictDocument {
  const { source, state, reason, detail, atWallMs } = verdict
  const superseded = isSuperseded(verdict, snapshot)
  return { source: documentSource(source), state, reason, detail, at: new Date(atWallMs).toISOString(), superseded }
}

function isSuperseded(verdict: Verdict, snapshot: Snapshot): boolean {
  const { assigned, running, unit } = snapshot
  const runs = running.kind === 'known' ? [running.content] : []
  const contents = [...heldSources(snapshot).map(({ content }) => content), ...runs]
  const concerns = isNamed(assigned, verdict.source) || contents.includes(contentOfKey(verdict.key))
  const isOfThisKubelet = unit.kind !== 'known' || holdsOnAnyKubelet(verdict) || identityOfKey(verdict.key) === unit.kubeletIdentity
  return !concerns || !isOfThisKubelet
}

function countRestarts({ restarts, unit, now, policy }: Snapshot): StatusDocument['restarts'] {
  const thisBoot = listOfBoot(restarts, now)
  const isRecent = (record: RestartRecord) => now.monotonicUs - record.atUs < HOUR_US
  const fallbacks = thisBoot.filter((record) => record.fallback && isRecent(record))
  const counted = listCounted(thisBoot, unit).filter(isRecent)
  return { lastHour: counted.length, fallbacksLastHour: fallbacks.length, limitPerHour: policy.restartsPerHour }
}
