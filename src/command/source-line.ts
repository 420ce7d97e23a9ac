/**
 * Shows a line of a config with the place of a finding underlined, as compilers do. The author of a
 * config controls the text: it must not control the terminal, and its lines may be long. A line
 * that may contain a secret is not shown. Pure.
 */
import type { Position } from '../preflight/finding.ts'
import { type Cell, paint, plainText } from './terminal.ts'

/** Fewer columns would show too little. */
const NARROWEST = 40
const WITHHELD = '(the line may contain a secret and is not shown)'

/** A text whose lines are shown; it is read once for all of them. */
export interface Source {
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
