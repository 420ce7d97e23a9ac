// SPDX-License-Identifier: Apache-2.0
/**
 * A report of preflight: as text for people, with findings in the format of compilers
 * (`file:line:column: severity: ...`, which editors understand), and as the document that
 * `validate -o json` prints. Of that, fields are added, never renamed or removed. Pure.
 */
import { formatPath } from '../kubelet/field-path.ts'
import type { Position } from '../kubelet/yaml-document.ts'
import { describeProblem, type Finding, type PartResult, type Report, type Severity } from '../preflight/finding.ts'
import { CONFIG_API_VERSION } from '../settings/resolve-settings.ts'
import { type MergedDocument, NOT_MERGED, renderMerged } from './merged.ts'
import { alignColumns, type Cell, paint, plainText, type Tone } from './terminal.ts'

export interface ReportLook {
  readonly color: boolean
  readonly width: number
}

/** @param text the checked text; undefined: it could not be read, and no line of it is shown */
export function renderReport(name: string, text: string | undefined, report: Report, look: ReportLook, merged = NOT_MERGED): string {
  const findings = renderFindings(name, text, report.findings, look)
  const layers = renderMerged(merged, look.color)
  return `${[...findings, ...layers, ...(layers.length === 0 ? [] : ['']), ...renderParts(report.parts, look.color), renderOutcome(name, report, look.color)].join('\n')}\n`
}

/** A terminal gets no more; -o json lists all. */
const MOST_FINDINGS = 100

const LABELS: Readonly<Record<Severity, { readonly text: string; readonly tone: Tone }>> = {
  refuse: { text: 'error', tone: 'bad' },
  warn: { text: 'warning', tone: 'warning' },
  info: { text: 'note', tone: 'faint' },
}

/** An empty line follows each finding. */
export function renderFindings(name: string, text: string | undefined, findings: readonly Finding[], look: ReportLook): string[] {
  const source = text === undefined ? undefined : readSource(text)
  const shown = findings.slice(0, MOST_FINDINGS).flatMap((finding) => [...renderFinding(name, source, finding, look), ''])
  return findings.length > MOST_FINDINGS ? [...shown, `and ${findings.length - MOST_FINDINGS} more, which -o json lists`, ''] : shown
}

function renderFinding(name: string, text: Source | undefined, finding: Finding, { color, width }: ReportLook): string[] {
  const { position, advice, layer, rule, severity } = finding
  const place = position === undefined ? name : `${name}:${position.line}:${position.column}`
  const head = [
    paint({ text: `${place}:`, tone: 'strong' }, color),
    paint({ ...LABELS[severity], text: `${LABELS[severity].text}:` }, color),
    plainText(describeProblem(finding)),
    paint({ text: `[${rule}]`, tone: 'faint' }, color),
  ].join(' ')
  const source = position === undefined || text === undefined ? [] : showSource(text, position, width, color)
  const notes = [...(layer === undefined ? [] : [`from ${layer}`]), ...(advice === undefined ? [] : [advice])]
  return [head, ...source, ...notes.map((note) => `     = ${plainText(note)}`)]
}

const OUTCOMES: Readonly<Record<PartResult['outcome'], { readonly text: string; readonly tone: Tone }>> = {
  accepted: { text: 'accepted', tone: 'good' },
  refused: { text: 'refused', tone: 'bad' },
  'cannot-start': { text: 'cannot start', tone: 'bad' },
  unjudged: { text: 'not checked', tone: 'warning' },
}

export function renderParts(parts: readonly PartResult[], color: boolean): string[] {
  return alignColumns(
    parts.map(({ part, outcome, detail }): Cell[] => [part, OUTCOMES[outcome], detail]),
    color,
  )
}

/** A config can be accepted by one part where another could not check it. */
function renderOutcome(name: string, { outcome, findings, parts }: Report, color: boolean): string {
  const unchecked = outcome === 'accepted' ? parts.filter((part) => part.outcome === 'unjudged').map(({ part }) => part) : []
  const without = unchecked.length === 0 ? '' : `, not checked by ${unchecked.join(' and ')}`
  const counts = (['refuse', 'warn', 'info'] as const).flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length
    return count === 0 ? [] : [`${count} ${LABELS[severity].text}${count === 1 ? '' : 's'}`]
  })
  const summary = counts.length === 0 ? '' : `: ${counts.join(', ')}`
  return `${plainText(name)}: ${paint(OUTCOMES[outcome], color)}${without}${summary}`
}

/**
 * @param candidate the name that the user gave, or its full form
 * @param merged what the config is merged from, as in `status`. undefined: not asked for
 */
export function documentReport(candidate: string, { outcome, parts, findings }: Report, merged?: MergedDocument) {
  return {
    apiVersion: CONFIG_API_VERSION,
    kind: 'ValidationReport',
    candidate,
    outcome,
    parts: parts.map(({ part, outcome, detail }) => ({ part, outcome, detail })),
    findings: findings.map(documentFinding),
    ...merged,
  }
}

export function documentFinding({ rule, severity, reason, path, position, problem, advice, layer }: Finding) {
  return {
    rule,
    severity,
    reason,
    /** Empty: the document as a whole. */
    path: formatPath(path),
    steps: path,
    position: position ?? null,
    problem,
    advice: advice ?? null,
    /** The layer that sets or removes the field. Absent: this node does not merge the config. */
    ...(layer !== undefined && { layer }),
  }
}

/** Fewer columns would show too little. */
const NARROWEST = 40
const WITHHELD = '(the line may contain a secret and is not shown)'

/** A text whose lines are shown; it is read once for all of them. */
interface Source {
  readonly lines: readonly string[]
  isSecret(line: number): boolean
}

export function readSource(text: string): Source {
  const lines = text.split(/\r\n|\n|\r/)
  return { lines, isSecret: findSecretLines(lines) }
}

export function showSource({ lines, isSecret }: Source, position: Position, width: number, color: boolean): string[] {
  const line = lines[position.line - 1]
  if (line === undefined) return []
  const number = String(position.line)
  const gutter = (label: string) => paint({ text: `${label.padStart(Math.max(4, number.length + 1))} | `, tone: 'faint' }, color)
  if (isSecret(position.line)) return [`${gutter(number)}${paint({ text: WITHHELD, tone: 'faint' }, color)}`]
  const room = Math.max(NARROWEST, width - gutterWidth(number))
  const start = position.column - 1
  const length = measureToken(line.slice(start, start + 2 * room))
  const { shown, offset } = cut(line, start, length, room)
  const underline = `${' '.repeat(offset)}^${'~'.repeat(Math.max(0, Math.min(length, shown.length - offset) - 1))}`
  return [`${gutter(number)}${plainColumns(shown)}`.trimEnd(), `${gutter('')}${paint(emphasis(underline), color)}`]
}

const emphasis = (text: string): Cell => ({ text, tone: 'strong' })

function gutterWidth(number: string): number {
  return Math.max(4, number.length + 1) + 3
}

/** Cuts a long line around the place, and returns where the place begins in the result. */
function cut(line: string, start: number, length: number, room: number): { shown: string; offset: number } {
  if (line.length <= room) return { shown: line, offset: Math.min(start, line.length) }
  const from = start + length <= room - 1 ? 0 : Math.max(0, Math.min(start - 8, line.length - room))
  const head = from > 0 ? '…' : ''
  const tail = from + room < line.length ? '…' : ''
  const shown = `${head}${line.slice(from + head.length, from + room - tail.length)}${tail}`
  return { shown, offset: start - from }
}

/** The length of a quoted text, or of a key or plain value. */
function measureToken(rest: string): number {
  const quoted = /^"(?:[^"\\]|\\.)*"|^'(?:[^']|'')*'/.exec(rest)
  if (quoted !== null) return quoted[0].length
  const plain = /^[^\s,[\]{}#]+?(?=:(?:\s|$)|[\s,[\]{}#]|$)/.exec(rest)
  return plain?.[0].length ?? 1
}

/** One column for each UTF-16 unit, so the underline fits. */
function plainColumns(text: string): string {
  return text
    .replace(/\t/g, ' ')
    .replace(/[\r\n]/g, '?')
    .replace(/\p{Cs}/gu, '?')
    .split('')
    .map((unit) => (/[\ud800-\udfff]/.test(unit) ? unit : plainText(unit)))
    .join('')
}

/**
 * Which lines are not shown: the only field that carries credentials (`staticPodURLHeader`, HTTP
 * headers) with its content, and anything that looks like an HTTP credential. If the end of that
 * field is unclear (flow style), all lines after it; if it uses an alias, all lines.
 */
function findSecretLines(lines: readonly string[]): (line: number) => boolean {
  const credential = (line: string) => /\b(bearer|basic)\s+[\w.~+/=-]{6,}/i.test(line)
  const first = lines.findIndex((line) => FIELD.test(line))
  if (first < 0) return (line) => credential(lines[line - 1] ?? '')
  const opening = lines[first] ?? ''
  if (/[*&]\w/.test(opening)) return () => true
  const isBlock = /^['"]?staticPodURLHeader['"]?\s*:/i.test(opening)
  const length = isBlock ? lines.slice(first + 1).findIndex((line) => /^[^\s#-]/.test(line)) : -1
  const end = length < 0 ? lines.length : first + length
  return (line) => (line - 1 >= first && line - 1 <= end) || credential(lines[line - 1] ?? '')
}

const FIELD = /staticPodURLHeader/i
