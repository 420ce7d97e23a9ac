/**
 * What an agent reported last, for `status`: the command reads no API server, so only an agent can
 * say that a download fails, or that the assignment is not known. Pure.
 */
import type { Snapshot } from '../decision/snapshot.ts'
import type { LastReport } from '../report/last-report.ts'
import type { ConditionStatus } from '../report/node-conditions.ts'
import { formatDuration, SECOND_US } from '../values/durations.ts'
import type { AgentPresence } from './command.ts'
import type { AgentDocument } from './document-parts.ts'
import type { Cell, Tone } from './terminal.ts'

export interface ReportedDocument {
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
export function documentReported(
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
  const ago = `${formatDuration(ageSeconds * SECOND_US)} ago`
  switch (by) {
    case 'running-agent':
      return ageSeconds > OLD_SECONDS ? `${ago} (the agent has said nothing since)` : ago
    case 'earlier-agent':
      return `${ago} by an agent that is gone`
    case 'unknown':
      return `${ago} by an agent that may be gone`
  }
}
