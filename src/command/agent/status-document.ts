// SPDX-License-Identifier: Apache-2.0
/**
 * The document that `status -o json` prints: the state of the node. Fields are added, never renamed
 * or removed; a consumer ignores unknown fields. Durations are whole seconds, times RFC 3339. Pure.
 */

import type { ComputedField } from '../../decision/desired.ts'
import { describePause, findPause, latestChannelState } from '../../decision/find-pause.ts'
import { heldSources } from '../../decision/held-sources.ts'
import { isNamed, listOfBoot, listRequested, type RestartRecord } from '../../decision/records.ts'
import { listCounted } from '../../decision/restart-limit.ts'
import type { Snapshot } from '../../decision/snapshot.ts'
import { holdsOnAnyKubelet, type Verdict } from '../../decision/verdict.ts'
import { listObserved } from '../../evidence/judge.ts'
import { type EvidenceFinding, levelOf } from '../../evidence/kinds.ts'
import type { OverlayView } from '../../overlay/read-overlay.ts'
import type { Difference } from '../../preflight/change/check-same.ts'
import type { LastReport } from '../../report/last-report.ts'
import type { ConditionStatus } from '../../report/reasons.ts'
import { describeStatus, findLastKnownGood } from '../../report/status.ts'
import { CONFIG_API_VERSION } from '../../settings/resolve-settings.ts'
import { contentOfKey, identityOfKey } from '../../subject/trial-key.ts'
import type { UnitState } from '../../subject/unit-state.ts'
import { HOUR_US, SECOND_US } from '../../values/durations.ts'
import type { MergedDocument } from '../merged.ts'
import type { Cell, Tone } from '../terminal.ts'
import type { AgentPresence } from './command.ts'
import {
  type AgentDocument,
  documentActive,
  documentAgent,
  documentAssigned,
  documentHeld,
  documentRollout,
  documentSource,
  documentUnit,
  seconds,
  showSeconds,
  unknownDocument,
} from './document-parts.ts'
import { explain } from './explain.ts'

export type StatusDocument = ReturnType<typeof documentStatus>

/** Facts that are read besides the Snapshot. */
export interface StatusFacts {
  readonly agent: AgentPresence
  readonly lastReport: LastReport | undefined
  readonly merged: MergedDocument
  readonly computed: readonly ComputedField[]
  readonly overlay: OverlayView
  readonly misread: readonly Difference[] | undefined
}

export function documentStatus(snapshot: Snapshot, { agent, lastReport, merged, computed, overlay, misread }: StatusFacts) {
  const { unit, nextStart, requests, policy } = snapshot
  const { target, phase, detail, trialRemainingUs, waitRemainingUs } = explain(snapshot)
  const pause = findPause(snapshot)
  const status = describeStatus(snapshot, phase === 'due' ? undefined : phase)
  const reported = documentReported(lastReport, snapshot, agent)
  return {
    apiVersion: CONFIG_API_VERSION,
    kind: 'AgentStatus',
    node: snapshot.nodeName,
    agent: documentAgent(agent),
    unit: documentUnit(snapshot),
    wiring: documentWiring(unit),
    hold: requests.hold,
    /** Who paused this node: an operator on it, or the cluster, as last read. null: nobody. */
    paused: pause === undefined ? null : { by: pause.by, detail: describePause(pause) },
    /** The channel of the assignment, as last read from the cluster. null: none, or never read. */
    channel: latestChannelState(snapshot.desired, snapshot.recordedChannelState)?.channel ?? null,
    /** Requests that the agent has not carried out yet. */
    requests: listRequested(requests),
    /** The rollout of the assigned config, as the running agent knew it last. null: it has none. */
    rollout: documentRollout(snapshot),
    /** The phase of the agent; `due`: it has a step to do. */
    phase,
    detail,
    assigned: documentAssigned(snapshot),
    active: documentActive(snapshot, status.active),
    nextStart: nextStart.kind === 'known' ? documentHeld(nextStart.held) : unknownDocument(nextStart.detail),
    lastKnownGood: documentHeld(findLastKnownGood(snapshot)),
    previous: documentHeld(snapshot.previous),
    /** The config that should be active: `assigned`, unless that failed. */
    target: target === undefined ? unknownDocument(detail) : documentHeld(target),
    /** The evidence about the config on trial. Empty: nothing is on trial. */
    evidence: listObserved(snapshot).map((finding) => documentFinding(finding, snapshot)),
    trial:
      trialRemainingUs === undefined ? null : { remainingSeconds: seconds(trialRemainingUs), durationSeconds: seconds(policy.trialUs) },
    /**
     * The time that is left of a wait that ends by itself (phases `spread` and `restart-limit`).
     */
    waitRemainingSeconds: waitRemainingUs === undefined ? null : seconds(waitRemainingUs),
    restarts: countRestarts(snapshot),
    verdicts: [...snapshot.verdicts.values()].sort((a, b) => a.atWallMs - b.atWallMs).map((verdict) => documentVerdict(verdict, snapshot)),
    /**
     * The layers that the assigned config is merged from on this node, the lowest first. Empty: it
     * is not merged. `fields` null: not known, or a layer sets far more than any config has.
     */
    ...merged,
    /** Fields that were computed from the Node, with their values as JSON, perhaps cut. */
    computed,
    /**
     * The last report of an agent, as the condition of the Node has it. null: none since the node
     * booted.
     */
    reported,
    /**
     * The error that `Node.status.config.error` shows, with the cause itself; null: none. An error
     * that only the agent knows, as a download that fails, comes from the report of the running
     * agent.
     */
    error: status.error === '' || isOfDownload(reported) ? reportedError(reported) : (status.cause ?? status.error),
    /**
     * The overlay files as they are now, which the agent may not have applied yet. null: there are
     * none.
     */
    overlay: documentOverlay(overlay),
    /**
     * Where the effective config that kubelet logged at its start (`running`) differs from what the
     * files and flags make now (`meant`). null: kubelet before 1.37 logs none, or it cannot be
     * read.
     */
    misread: misread ?? null,
  }
}

/** A download that fails: the rest is about the config that was assigned before. */
function isOfDownload(reported: ReportedDocument | null): boolean {
  return reported?.by === 'running-agent' && reported.reason === 'DownloadFailed'
}

/** An error that an agent reported and is gone may have been mended since. */
function reportedError(reported: ReportedDocument | null): string | null {
  return reported?.by === 'running-agent' ? reported.error : null
}

function documentOverlay(view: OverlayView) {
  switch (view.kind) {
    case 'none':
    case 'pending':
      return null
    case 'faulty':
      return { state: 'unusable', detail: view.detail } as const
    case 'present':
      return { state: 'usable', files: view.files } as const
  }
}

function documentWiring(unit: UnitState) {
  if (unit.kind === 'unknown') return { state: 'unknown', detail: unit.detail } as const
  const { wiring } = unit
  if (wiring.kind === 'ready') return { state: 'ready', activation: wiring.activation } as const
  return { state: 'broken', reason: wiring.reason, detail: wiring.detail } as const
}

function documentFinding({ kind, answer, detail, sinceUs }: EvidenceFinding, { policy, now }: Snapshot) {
  // null: not known.
  const sinceSeconds = sinceUs === undefined ? null : seconds(Math.max(0, now.monotonicUs - sinceUs))
  return { kind, answer, level: levelOf(policy.evidence, kind), detail, sinceSeconds }
}

function documentVerdict(verdict: Verdict, snapshot: Snapshot) {
  const { source, state, reason, detail, atWallMs } = verdict
  const superseded = isSuperseded(verdict, snapshot)
  return { source: documentSource(source), state, reason, detail, at: new Date(atWallMs).toISOString(), superseded }
}

/**
 * Whether the verdict concerns no config that this node runs, is assigned or falls back to, or
 * another kubelet than the present one.
 */
function isSuperseded(verdict: Verdict, snapshot: Snapshot): boolean {
  const { assigned, running, unit } = snapshot
  const runs = running.kind === 'known' ? [running.content] : []
  const contents = [...heldSources(snapshot).map(({ content }) => content), ...runs]
  const concerns = isNamed(assigned, verdict.source) || contents.includes(contentOfKey(verdict.key))
  const isOfThisKubelet = unit.kind !== 'known' || holdsOnAnyKubelet(verdict) || identityOfKey(verdict.key) === unit.kubeletIdentity
  return !concerns || !isOfThisKubelet
}

function countRestarts({ restarts, unit, now, policy }: Snapshot) {
  const thisBoot = listOfBoot(restarts, now)
  const isRecent = (record: RestartRecord) => now.monotonicUs - record.atUs < HOUR_US
  const fallbacks = thisBoot.filter((record) => record.fallback && isRecent(record))
  const counted = listCounted(thisBoot, unit).filter(isRecent)
  return { lastHour: counted.length, fallbacksLastHour: fallbacks.length, limitPerHour: policy.restartsPerHour }
}

interface ReportedDocument {
  /** As in the condition `KubeletConfigReady`. */
  readonly status: ConditionStatus
  readonly reason: string
  readonly message: string
  /** null: none. */
  readonly error: string | null
  /** When an agent last stood behind this: a running one does so every minute at least. */
  readonly at: string
  readonly ageSeconds: number
  /** `unknown`: it is not known whether an agent runs, or which. */
  readonly by: 'running-agent' | 'earlier-agent' | 'unknown'
}

/** A running agent writes it every minute. Its loop may wait as long for systemd and kubelet. */
const OLD_SECONDS = 150

/** null: nothing was reported in this boot, or about another Node. */
function documentReported(
  report: LastReport | undefined,
  { nodeName, now }: Pick<Snapshot, 'nodeName' | 'now'>,
  agent: AgentPresence,
): ReportedDocument | null {
  if (report === undefined || report.nodeName !== nodeName) return null
  const { status, reason, message, error, pid, atUs } = report
  const ageUs = Math.max(0, now.monotonicUs - atUs)
  // From the age: the node's clock may have been set since.
  const at = new Date(Math.floor((now.wallMs - ageUs / 1000) / 1000) * 1000).toISOString()
  return { status, reason, message, error: error ?? null, at, ageSeconds: Math.floor(ageUs / SECOND_US), by: whoSaidIt(pid, agent) }
}

function whoSaidIt(pid: number, agent: AgentPresence): ReportedDocument['by'] {
  switch (agent.kind) {
    case 'running':
      return agent.pid === undefined ? 'unknown' : agent.pid === pid ? 'running-agent' : 'earlier-agent'
    case 'absent':
      return 'earlier-agent'
    case 'unknown':
      return 'unknown'
  }
}

export function describeReported(reported: ReportedDocument | null, agent: AgentDocument): Cell {
  if (reported === null) {
    return agent.running === false
      ? { text: 'nothing since the node booted, and no agent is running', tone: 'warning' }
      : { text: 'nothing yet', tone: 'faint' }
  }
  const { status, reason, message, ageSeconds } = reported
  return { text: `${status} ${reason}, ${describeAge(reported)}: ${message}`, tone: ageSeconds > OLD_SECONDS ? 'warning' : TONES[status] }
}

const TONES: Readonly<Record<ConditionStatus, Tone>> = { True: 'good', Unknown: 'plain', False: 'warning' }

function describeAge({ ageSeconds, by }: ReportedDocument): string {
  const ago = `${showSeconds(ageSeconds)} ago`
  switch (by) {
    case 'running-agent':
      return ageSeconds > OLD_SECONDS ? `${ago} (the agent has said nothing since)` : ago
    case 'earlier-agent':
      return `${ago} by an agent that is gone`
    case 'unknown':
      return `${ago} by an agent that may be gone`
  }
}
