/**
 * The text that `status` prints for people: the document of `status -o json` as aligned lines,
 * without what does not apply. Pure.
 */

import { describeChannel } from '../../decision/channels.ts'
import { describeVersion } from '../../decision/config-source.ts'
import { formatDuration, SECOND_US } from '../../values/durations.ts'
import type { AgentDocument, SourceDocument } from './document-parts.ts'
import { renderMerged, renderMisread } from '../merged-text.ts'
import { describeReported } from './reported.ts'
import { TURN_WORDS } from './rollout-document.ts'
import type { StatusDocument } from './status-document.ts'
import { alignColumns, type Cell, type Tone } from '../terminal.ts'

export function renderStatus(status: StatusDocument, color: boolean): string {
  const lines = [...alignColumns(listFacts(status), color), '', ...alignColumns(listSources(status), color)]
  if (status.layers.length > 0) lines.push('', ...renderMerged(status, color))
  const misread = renderMisread(status.misread ?? undefined)
  if (misread.length > 0) lines.push('', ...misread)
  if (status.evidence.length > 0) lines.push('', ...alignColumns(listEvidence(status), color))
  if (status.verdicts.length > 0) lines.push('', ...alignColumns(listVerdicts(status), color))
  return `${lines.join('\n')}\n`
}

function listFacts(status: StatusDocument): Cell[][] {
  const { unit, wiring, agent, restarts, trial, waitRemainingSeconds } = status
  const rows: Cell[][] = [
    ['Node', status.node],
    ['Agent', describeAgent(agent)],
    ['Kubelet', tone(`${unit.activity}: ${unit.detail}`, unit.activity === 'running' ? 'plain' : 'warning')],
    ['State', tone(`${status.phase}: ${status.detail}`, toneOfPhase(status.phase))],
  ]
  rows.push(['Reported', describeReported(status.reported, agent)])
  if (trial !== null) rows.push(['Trial', `${duration(trial.remainingSeconds)} left of ${duration(trial.durationSeconds)}`])
  if (waitRemainingSeconds !== null) rows.push(['Waits', `${duration(waitRemainingSeconds)} more`])
  if (status.channel !== null) rows.push(['Assigned by', describeChannel(status.channel)])
  if (status.rollout !== null) rows.push(['Rollout', describeRollout(status.rollout)])
  const { overlay } = status
  if (overlay?.state === 'usable') rows.push(['Overlay', overlay.files.join(', ')])
  if (overlay?.state === 'unusable') rows.push(['Overlay', tone(overlay.detail, 'bad')])
  if (status.paused?.by === 'cluster') rows.push(['Paused', tone(status.paused.detail, 'warning')])
  if (status.hold !== 'none') rows.push(['Hold', tone(describeHold(status.hold), 'warning')])
  if (status.requests.length > 0) rows.push(['Requested', tone(status.requests.join(', '), 'warning')])
  if (wiring.state !== 'ready') {
    rows.push(['Wiring', tone(wiring.state === 'broken' ? `${wiring.reason}: ${wiring.detail}` : wiring.detail, 'bad')])
  }
  const fallbacks = restarts.fallbacksLastHour === 0 ? '' : `, plus ${restarts.fallbacksLastHour} to fall back`
  rows.push(['Restarts', `${restarts.lastHour} of at most ${restarts.limitPerHour} in the last hour${fallbacks}`])
  rows.push(['Error', status.error === null ? tone('none known on this node', 'faint') : tone(status.error, 'bad')])
  return rows
}

function describeRollout({ record, turn }: NonNullable<StatusDocument['rollout']>): Cell {
  return tone(
    `${TURN_WORDS[turn.kind]}: ${turn.detail} (record ${record})`,
    turn.kind === 'halted' || turn.kind === 'failed' ? 'bad' : 'plain',
  )
}

function listSources(status: StatusDocument): Cell[][] {
  const header: Cell[] = ['', 'SOURCE', 'VERSION', 'UID'].map((text) => tone(text, 'strong'))
  return [
    header,
    ['Assigned', ...describeDocument(status.assigned)],
    ['Active', ...describeDocument(status.active)],
    ['Next start', ...describeDocument(status.nextStart)],
    ['Last known good', ...describeDocument(status.lastKnownGood)],
    ['Previous', ...describeDocument(status.previous)],
  ]
}

function listEvidence({ evidence }: StatusDocument): Cell[][] {
  const header: Cell[] = ['EVIDENCE', 'ANSWER', 'WHAT WAS SEEN'].map((text) => tone(text, 'strong'))
  const tones = { yes: 'good', no: 'bad', unknown: 'plain' } as const
  const rows = evidence.map(({ kind, answer, level, detail }): Cell[] => {
    return [kind, tone(answer, tones[answer]), level === 'watched' ? `${detail} (only watched)` : detail]
  })
  return [header, ...rows]
}

function listVerdicts({ verdicts }: StatusDocument): Cell[][] {
  const header: Cell[] = ['VERDICT', 'SOURCE', 'VERSION', 'SINCE', 'WHY'].map((text) => tone(text, 'strong'))
  const rows = verdicts.map(({ state, source, at, reason, detail, superseded }): Cell[] => {
    const [name = '', version = ''] = describeDocument(source)
    const verdict = superseded ? tone(`${state} (superseded)`, 'faint') : tone(state, state === 'provisional' ? 'warning' : 'bad')
    return [verdict, name, version, `${at.slice(0, 19)}Z`, `${reason}: ${detail}`]
  })
  return [header, ...rows]
}

/** Source, version, uid. */
export function describeDocument(source: SourceDocument): Cell[] {
  switch (source.kind) {
    case 'local':
      return ['local']
    case 'none':
      return [tone('none: no kubelet process', 'faint')]
    case 'unknown':
      return [tone(`unknown: ${source.detail}`, 'warning')]
    case 'configMap': {
      const name = `${source.namespace}/${source.name}:${source.kubeletConfigKey}`
      const missing = source.checkpoint === 'missing' ? [tone('checkpoint missing', 'bad')] : []
      return [name, describeVersion(source), source.uid, ...missing]
    }
  }
}

/** The agent does so by itself, but not twice within 10 minutes. */
const RESTART = 'systemctl restart kubelet-cfg-agent'

export function describeAgent({ running, pid, directory }: AgentDocument): Cell {
  if (running === null) return tone('unknown', 'warning')
  if (!running) return tone('not running', 'warning')
  const process = pid === undefined ? 'running' : `running (pid ${pid})`
  return directory === undefined ? process : tone(`${process}, and its directory was removed: ${RESTART}`, 'bad')
}

function describeHold(hold: 'paused' | 'local'): string {
  return hold === 'paused'
    ? 'paused: activates, restarts and rolls back nothing until resume'
    : 'local: held on the local config until resume'
}

export function toneOfPhase(phase: StatusDocument['phase']): Tone {
  switch (phase) {
    case 'settled':
      return 'good'
    case 'due':
    case 'in-trial':
    case 'restarting':
    case 'preflight':
    case 'spread':
    case 'rollout':
      return 'plain'
    case 'fallen-back':
    case 'refused':
    case 'drain':
    case 'paused':
    case 'kubelet-stopped':
    case 'runtime-down':
    case 'restart-limit':
    case 'unknown':
      return 'warning'
    case 'ineffective':
    case 'blocked':
    case 'node-at-fault':
      return 'bad'
  }
}

function tone(text: string, tone: Tone): Cell {
  return { text, tone }
}

function duration(seconds: number): string {
  return formatDuration(seconds * SECOND_US)
}
