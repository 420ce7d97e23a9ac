// SPDX-License-Identifier: Apache-2.0
/**
 * The annotation `kubelet-cfg-agent.io/status`: the state of the node as JSON, for API servers that
 * no longer have `Node.status.config`. The first four fields have that shape (`NodeConfigStatus`):
 * an absent source is local, and `{}` is an unknown source, since the whole text is written each
 * time. Pure; the order of keys is fixed, so the same state gives the same text. Fields are added,
 * never renamed or removed.
 */

import { describePause, findPause, latestChannelState } from '../decision/find-pause.ts'
import { lastRunSource } from '../decision/held-sources.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { ConfigSource } from '../subject/config-source.ts'
import { cutToBytes, onOneLine } from '../values/cut.ts'
import { metadataChannel } from './channel.ts'
import { type Deadlines, showTime } from './deadlines.ts'
import { wireSource } from './node-config.ts'
import { type ConfigStatus, findAssignedVerdict, findDynamicConfigDirFault } from './status.ts'
import { type EvidenceAnswers, knownRollout, turnKind } from './trial-report.ts'

export const STATUS_ANNOTATION = 'kubelet-cfg-agent.io/status'
/**
 * The annotation stays within 4 KiB: three sources with names of maximum length take some 2 KB, and
 * texts of errors and pauses are cut.
 */
const TEXT_BYTES = 512

export const ANNOTATION = {
  ...metadataChannel('annotation', STATUS_ANNOTATION, ({ annotation }) => annotation),
  mayBeCutOff: true,
} as const

/** @param warnings about the assigned config; bounded, and without control characters */
export function describeInAnnotation(
  snapshot: Snapshot,
  status: ConfigStatus,
  deadlines: Deadlines,
  agentVersion: string,
  evidence?: EvidenceAnswers,
  warnings: readonly string[] = [],
): string {
  const { running, desired, recordedChannelState } = snapshot
  const { trial, waitUntilMs } = deadlines
  const pause = findPause(snapshot)
  const verdict = findAssignedVerdict(snapshot)
  const error = status.cause ?? status.error
  return JSON.stringify({
    assigned: showSource(status.assigned),
    // The source that ran last, also while kubelet is down: otherwise a kubelet that keeps exiting
    // would change the text every few seconds.
    active: showSource(findDynamicConfigDirFault(snapshot) === undefined ? lastRunSource(snapshot) : undefined),
    lastKnownGood: showSource(status.lastKnownGood),
    error: error === '' ? undefined : plain(error),
    channel: latestChannelState(desired, recordedChannelState)?.channel,
    paused: pause && plain(describePause(pause)),
    trial: trial && { since: showTime(trial.sinceMs), until: showTime(trial.untilMs), evidence },
    rollout: showRollout(snapshot),
    waitUntil: waitUntilMs === undefined ? undefined : showTime(waitUntilMs),
    verdict: verdict && { state: verdict.state, reason: verdict.reason },
    warnings: warnings.length === 0 ? undefined : warnings,
    // Content that is neither local nor a checkpoint is identified by a path, which is left out.
    contentHash: running.kind === 'known' && !running.content.includes(':') ? running.content : undefined,
    agentVersion,
  })
}

/** Without counts: those change often, and on all nodes at once. */
function showRollout(snapshot: Snapshot): object | undefined {
  const known = knownRollout(snapshot)
  if (known === undefined) return undefined
  const { progress } = known
  const stage = progress && { generation: progress.generation, stage: progress.stage, lastStage: progress.lastStage }
  return { ...stage, turn: turnKind(known) }
}

function showSource(source: ConfigSource | undefined): object | undefined {
  return source === undefined ? {} : (wireSource(source) ?? undefined)
}

/** Without control characters, JSON escapes at most double the length. */
function plain(text: string): string {
  return cutToBytes(onOneLine(text), TEXT_BYTES)
}
