// SPDX-License-Identifier: Apache-2.0
/**
 * Text for a terminal: aligned columns, colours, and no control characters; and JSON for programs.
 * Much of the text comes from elsewhere (a ConfigMap, kubelet's output), and must not control the
 * terminal. Pure.
 *
 * Colours: https://no-color.org.
 */
import { UNSAFE } from '../values/cut.ts'

/** Where a command writes. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
  readonly color: boolean
  /** Columns; undefined: unknown, or not a terminal. */
  readonly width: number | undefined
  /** Aborts when nobody reads the output any more. A command that watches ends then. */
  readonly unread?: AbortSignal
}

export type Tone = 'plain' | 'strong' | 'faint' | 'good' | 'warning' | 'bad'

/** A cell of a table. A bare string is plain. */
export type Cell = string | { readonly text: string; readonly tone: Tone }

export function toned(text: string, tone: Tone): Cell {
  return { text, tone }
}

/** The first row of a table. */
export function headOf(...titles: readonly string[]): readonly Cell[] {
  return titles.map((title) => toned(title, 'strong'))
}

const CODES: Readonly<Record<Tone, string>> = { plain: '', strong: '1', faint: '2', good: '32', warning: '33', bad: '31' }

/** A column is as wide as its widest cell, not counting last cells of rows. */
export function measureColumns(rows: readonly (readonly Cell[])[], least: readonly number[] = []): number[] {
  const widths = [...least]
  for (const row of rows) {
    for (const [column, cell] of row.slice(0, -1).entries()) widths[column] = Math.max(widths[column] ?? 0, plainText(cell).length)
  }
  return widths
}

/**
 * Formats rows as lines, which do not end in white space.
 *
 * @param widths of the columns, where they are not those of these rows alone
 */
export function alignColumns(rows: readonly (readonly Cell[])[], color: boolean, widths = measureColumns(rows)): string[] {
  return rows.map((row) => {
    const last = row.findLastIndex((cell) => plainText(cell) !== '')
    const cells = row.slice(0, last + 1).map((cell, column) => {
      const padding = column === last ? '' : ' '.repeat((widths[column] ?? 0) - plainText(cell).length + 2)
      return paint(cell, color) + padding
    })
    return cells.join('')
  })
}

export function paint(cell: Cell, color: boolean): string {
  const code = typeof cell === 'string' ? '' : CODES[cell.tone]
  return color && code !== '' ? `\u001b[${code}m${plainText(cell)}\u001b[0m` : plainText(cell)
}

/** One line without control characters. */
export function plainText(cell: Cell): string {
  return (typeof cell === 'string' ? cell : cell.text).replace(/\s*[\r\n]+\s*/g, ' ').replace(UNSAFE, '?')
}

export function wantsColor(isTty: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  return isTty && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb'
}

/** Breaks a text between its words into lines. A word that is longer has a line of its own. */
export function foldText(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

/**
 * A document for programs: indented JSON that ends its last line. Characters that could control a
 * terminal or disguise a text are escaped, which changes no value.
 */
export function formatJson(document: unknown): string {
  return `${JSON.stringify(document, null, 2).replace(UNSAFE, (character) => (character === '\n' ? character : escapeCharacter(character)))}\n`
}

/** One escape for each unit of UTF-16, as JSON has them. */
function escapeCharacter(character: string): string {
  return character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
