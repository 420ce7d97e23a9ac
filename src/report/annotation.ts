/**
 * The annotation `kubelet-cfg-agent.io/status`: the state of the node as one JSON text, for API servers that no longer have `Node.status.config`. Its
 * first four fields have that shape (`NodeConfigStatus`): an absent source is local, and `{}` one that nobody knows, since all of the text is
 * written each time. Pure; the order of its keys is fixed, so that the same state is the same text. Fields are added, never renamed or removed.
 */
import type { ConfigSource } from '../decision/config-source.ts'
import { describePause, findPause, latestChannelState } from '../decision/find-pause.ts'
import { lastRunSource } from '../decision/restarts.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import { cutToBytes, onOneLine } from '../values/cut.ts'
import { type Deadlines, showTime } from './deadlines.ts'
import { findAssignedVerdict, findForeign } from './fault.ts'
import { wireSource } from './node-config.ts'
import type { ConfigStatus } from './status.ts'

export const STATUS_ANNOTATION = 'kubelet-cfg-agent.io/status'
/** Three sources take some 2 KB where every name is as long as names may be; what others wrote into a text is cut. */
export const ANNOTATION_BYTES = 4096
const TEXT_BYTES = 512

export function describeInAnnotation(snapshot: Snapshot, status: ConfigStatus, deadlines: Deadlines, agentVersion: string): string {
  const { running, desired, recordedChannelState } = snapshot
  const { trial, waitUntilMs } = deadlines
  const pause = findPause(snapshot)
  const verdict = findAssignedVerdict(snapshot)
  return JSON.stringify({
    assigned: showSource(status.assigned),
    // What ran last, while nothing does: a kubelet that keeps exiting would be another text every few seconds.
    active: showSource(findForeign(snapshot) === undefined ? lastRunSource(snapshot) : undefined),
    lastKnownGood: showSource(status.lastKnownGood),
    error: status.error === '' ? undefined : plain(status.error),
    channel: latestChannelState(desired, recordedChannelState)?.channel,
    paused: pause && plain(describePause(pause)),
    trial: trial && { since: showTime(trial.sinceMs), until: showTime(trial.untilMs) },
    waitUntil: waitUntilMs === undefined ? undefined : showTime(waitUntilMs),
    verdict: verdict && { state: verdict.state, reason: verdict.reason },
    // What is neither local nor one of ours is named by a path.
    contentHash: running.kind === 'known' && !running.content.includes(':') ? running.content : undefined,
    agentVersion,
  })
}

function showSource(source: ConfigSource | undefined): object | undefined {
  return source === undefined ? {} : (wireSource(source) ?? undefined)
}

/** What JSON would have to escape takes twice its place at most. */
function plain(text: string): string {
  return cutToBytes(onOneLine(text), TEXT_BYTES)
}
