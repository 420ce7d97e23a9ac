/**
 * The text that `validate` prints for people: findings in the format of compilers
 * (`file:line:column: severity: ...`, which editors understand), then a line for each part, then
 * the outcome. Pure.
 */
import { describeProblem, type Finding, type PartResult, type Report, type Severity } from '../preflight/finding.ts'
import { NOT_MERGED } from './merged-layers.ts'
import { renderMerged } from './merged-text.ts'
import { readSource, type Source, showSource } from './source-line.ts'
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
