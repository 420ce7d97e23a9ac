// SPDX-License-Identifier: Apache-2.0
/** Renders the table of figures. Pure. */
import type { Figure } from './figures/figure.ts'

const HEAD = ['figure', 'agent', 'floor', 'result', 'target', '']

export function renderTable(figures: readonly Figure[]): string {
  const rows = [HEAD, ...figures.map(toCells)]
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lines = rows.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))),
  )
  return lines.map((cells) => `${cells.join('  ').trimEnd()}\n`).join('')
}

function toCells({ name, unit, agent, floor, result, target, met }: Figure): string[] {
  const verdict = met === undefined ? '' : met ? 'met' : 'MISSED'
  return [`${name} (${unit})`, toText(agent), floor === undefined ? '' : toText(floor), result, target, verdict]
}

function toText(value: number): string {
  return value.toFixed(Math.abs(value) < 1 ? 3 : Math.abs(value) < 100 ? 1 : 0)
}
