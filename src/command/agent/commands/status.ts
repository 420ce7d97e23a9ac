// SPDX-License-Identifier: Apache-2.0
/**
 * `status`: what is assigned, active, last-known-good and previous, from the agent's directory and
 * systemd. Works without API server and without agent; changes nothing.
 */
import { describeChannel } from '../../../decision/channels.ts'
import type { ChannelState } from '../../../decision/desired.ts'
import type { Snapshot } from '../../../decision/snapshot.ts'
import { decodeText } from '../../../kubelet/decode.ts'
import { nameConfigMap } from '../../../overlay/find-bases.ts'
import { INSTANCE_CONFIG, INSTANCE_FILE } from '../../../overlay/patch-set.ts'
import { RESOLVED } from '../../../overlay/read-overlay.ts'
import type { ConfigMapSource, ConfigSource } from '../../../subject/config-source.ts'
import { type CommandLine, EXIT, type ExitCode, OUTPUT } from '../../command.ts'
import {
  documentField,
  documentMerged,
  listComputed,
  type MergedDocument,
  NOT_MERGED,
  renderComputed,
  renderMerged,
  renderMisread,
} from '../../merged.ts'
import { alignColumns, type Cell, formatJson, headOf, toned } from '../../terminal.ts'
import type { CommandContext, NodeCommand } from '../command.ts'
import { type ConfigText, readConfigOf } from '../config-text.ts'
import { describeAgent, describeDocument, showSeconds, TURN_WORDS, toneOfPhase } from '../document-parts.ts'
import { describeReported, documentStatus, type StatusDocument, type StatusFacts } from '../status-document.ts'

export const statusCommand: NodeCommand = {
  name: 'status',
  takes: 'node',
  group: 'Inspect',
  summary: 'show what this node runs, what it should run, and the trial',
  description:
    'Shows what is assigned, active, last-known-good and previous, the remaining time of a trial, verdicts and the error. For a config ' +
    'that this node merges, it shows where each field comes from. Reads the ' +
    "agent's directory and systemd, and shows what the agent reported last. Needs neither the API server nor a running agent, and " +
    'changes nothing.',
  options: [OUTPUT],
  examples: [
    ['status', 'print a table'],
    ["status -o json | jq -r '.assigned.name'", 'get one field in a script'],
  ],
  execute: showStatus,
}

async function showStatus(context: CommandContext, { options }: CommandLine): Promise<ExitCode> {
  const { terminal } = context
  const status = await gatherStatus(context)
  terminal.out(options.output === 'json' ? formatJson(status) : renderStatus(status, terminal.color))
  return EXIT.fine
}

type StatusSources = Pick<CommandContext, 'observe' | 'agent' | 'lastReport' | 'readOverlay' | 'readMisread'> & LayerReaders

export async function gatherStatus(context: StatusSources): Promise<StatusDocument> {
  const snapshot = await context.observe()
  return documentStatus(snapshot, {
    agent: context.agent(),
    lastReport: context.lastReport(snapshot.now.bootId),
    overlay: await context.readOverlay(),
    ...(await findMerged(snapshot, context)),
    misread: await context.readMisread(),
  })
}

type LayerReaders = Pick<CommandContext, 'checkpoints' | 'files' | 'yaml' | 'mergeHere'>

/**
 * The layers as the agent wrote them down. `fields` undefined: an earlier agent wrote none, or
 * there are too many.
 */
type Recorded = Pick<ChannelState, 'fields'> & { readonly names: readonly string[] }

type Found = Pick<StatusFacts, 'merged' | 'computed'>

async function findMerged(snapshot: Snapshot, readers: LayerReaders): Promise<Found> {
  const { assigned, recordedChannelState } = snapshot
  if (assigned.kind !== 'source') return { merged: NOT_MERGED, computed: [] }
  const { source } = assigned
  const recorded = source === 'local' ? undefined : readRecord(recordedChannelState, source)
  const merged = await mergeAssigned(snapshot, source, recorded, readers)
  return { merged, computed: recorded === undefined ? [] : listComputed(recordedChannelState?.computed, merged.fields) }
}

async function mergeAssigned(
  snapshot: Snapshot,
  source: ConfigSource,
  recorded: Recorded | undefined,
  readers: LayerReaders,
): Promise<MergedDocument> {
  const { unit } = snapshot
  const text: ConfigText = unit.kind === 'known' ? readConfigOf(source, snapshot, unit, readers) : { ok: false, detail: unit.detail }
  const decoded = text.ok ? await decodeText(text.text, readers.yaml) : text
  if (!text.ok || !decoded.ok) return recorded === undefined ? NOT_MERGED : documentRecord(recorded)
  const { config } = decoded
  const merged = await readers.mergeHere(config, source === 'local' ? 'local' : 'assigned')
  const { names, fields }: Recorded = recorded ?? { names: [source === 'local' ? text.name : nameConfigMap(source)], fields: [] }
  return documentMerged({ names, fields, lowest: config }, merged)
}

function documentRecord({ names, fields }: Recorded): MergedDocument {
  return { layers: names, fields: fields?.map(documentField) ?? null }
}

/** @returns undefined: the config is not merged, or the record is about another one */
function readRecord(state: ChannelState | undefined, source: ConfigMapSource): Recorded | undefined {
  const own = nameConfigMap(source)
  const { layers = [own], fields } = state ?? {}
  if (!layers.includes(own) || (state?.layers === undefined && fields === undefined)) return undefined
  return { names: withOverlay(layers, fields), fields }
}

/** The record does not list files of the overlay, over which only what kubeadm adds comes. */
function withOverlay(layers: readonly string[], fields: ChannelState['fields'] = []): readonly string[] {
  const overlay = new Set(fields.map(({ layer }) => layer).filter((layer) => !layers.includes(layer)))
  const isKubeadms = (layer: string) => [RESOLVED, INSTANCE_FILE].map(INSTANCE_CONFIG.nameFile).includes(layer)
  return [...layers.filter((layer) => !isKubeadms(layer)), ...overlay, ...layers.filter(isKubeadms)]
}

export function renderStatus(status: StatusDocument, color: boolean): string {
  const lines = [...alignColumns(listFacts(status), color), '', ...alignColumns(listSources(status), color)]
  if (status.layers.length > 0) lines.push('', ...renderMerged(status, color))
  if (status.computed.length > 0) lines.push('', ...renderComputed(status.computed, color))
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
    ['Kubelet', toned(`${unit.activity}: ${unit.detail}`, unit.activity === 'running' ? 'plain' : 'warning')],
    ['State', toned(`${status.phase}: ${status.detail}`, toneOfPhase(status.phase))],
  ]
  rows.push(['Reported', describeReported(status.reported, agent)])
  if (trial !== null) rows.push(['Trial', `${showSeconds(trial.remainingSeconds)} left of ${showSeconds(trial.durationSeconds)}`])
  if (waitRemainingSeconds !== null) rows.push(['Waits', `${showSeconds(waitRemainingSeconds)} more`])
  if (status.channel !== null) rows.push(['Assigned by', describeChannel(status.channel)])
  if (status.rollout !== null) rows.push(['Rollout', describeRollout(status.rollout)])
  const { overlay } = status
  if (overlay?.state === 'usable') rows.push(['Overlay', overlay.files.join(', ')])
  if (overlay?.state === 'unusable') rows.push(['Overlay', toned(overlay.detail, 'bad')])
  if (status.paused?.by === 'cluster') rows.push(['Paused', toned(status.paused.detail, 'warning')])
  if (status.hold !== 'none') rows.push(['Hold', toned(describeHold(status.hold), 'warning')])
  if (status.requests.length > 0) rows.push(['Requested', toned(status.requests.join(', '), 'warning')])
  if (wiring.state !== 'ready') {
    rows.push(['Wiring', toned(wiring.state === 'broken' ? `${wiring.reason}: ${wiring.detail}` : wiring.detail, 'bad')])
  }
  const fallbacks = restarts.fallbacksLastHour === 0 ? '' : `, plus ${restarts.fallbacksLastHour} to fall back`
  rows.push(['Restarts', `${restarts.lastHour} of at most ${restarts.limitPerHour} in the last hour${fallbacks}`])
  rows.push(['Error', status.error === null ? toned('none known on this node', 'faint') : toned(status.error, 'bad')])
  return rows
}

function describeRollout({ record, turn }: NonNullable<StatusDocument['rollout']>): Cell {
  return toned(
    `${TURN_WORDS[turn.kind]}: ${turn.detail} (record ${record})`,
    turn.kind === 'halted' || turn.kind === 'failed' ? 'bad' : 'plain',
  )
}

function listSources(status: StatusDocument): (readonly Cell[])[] {
  const header = headOf('', 'SOURCE', 'VERSION', 'UID')
  return [
    header,
    ['Assigned', ...describeDocument(status.assigned)],
    ['Active', ...describeDocument(status.active)],
    ['Next start', ...describeDocument(status.nextStart)],
    ['Last known good', ...describeDocument(status.lastKnownGood)],
    ['Previous', ...describeDocument(status.previous)],
  ]
}

function listEvidence({ evidence }: StatusDocument): (readonly Cell[])[] {
  const header = headOf('EVIDENCE', 'ANSWER', 'WHAT WAS SEEN')
  const tones = { yes: 'good', no: 'bad', unknown: 'plain' } as const
  const rows = evidence.map(({ kind, answer, level, detail }): Cell[] => {
    return [kind, toned(answer, tones[answer]), level === 'watched' ? `${detail} (only watched)` : detail]
  })
  return [header, ...rows]
}

function listVerdicts({ verdicts }: StatusDocument): (readonly Cell[])[] {
  const header = headOf('VERDICT', 'SOURCE', 'VERSION', 'SINCE', 'WHY')
  const rows = verdicts.map(({ state, source, at, reason, detail, superseded }): Cell[] => {
    const [name = '', version = ''] = describeDocument(source)
    const verdict = superseded ? toned(`${state} (superseded)`, 'faint') : toned(state, state === 'provisional' ? 'warning' : 'bad')
    return [verdict, name, version, `${at.slice(0, 19)}Z`, `${reason}: ${detail}`]
  })
  return [header, ...rows]
}

function describeHold(hold: 'paused' | 'local'): string {
  return hold === 'paused'
    ? 'paused: activates, restarts and rolls back nothing until resume'
    : 'local: held on the local config until resume'
}
