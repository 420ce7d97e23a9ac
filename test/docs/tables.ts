// SPDX-License-Identifier: Apache-2.0
/** The tables of a page, by the heading they stand under. Pure. */

/**
 * The first cells of all rows below a heading, down to the next heading of its level or above;
 * without the rows of heads. Code marks are taken off.
 */
export function listFirstCells(text: string, heading: string): readonly string[] {
  return listRows(text, heading).flatMap(([first = '']) => splitCodes(first))
}

/** The cells of all rows below a heading. */
export function listRows(text: string, heading: string): readonly (readonly string[])[] {
  const lines = withoutBlocks(text)
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading)
  if (start < 0) throw new Error(`there is no heading "${heading}"`)
  const level = levelOf(lines[start] ?? '')
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => levelOf(line) > 0 && levelOf(line) <= level)
  const section = end < 0 ? rest : rest.slice(0, end)
  return section.flatMap((line, index) => {
    const isHead = /^\|[-| ]+\|$/.test(section[index + 1] ?? '')
    return line.startsWith('|') && !isHead && !/^\|[-| ]+\|$/.test(line) ? [splitCells(line)] : []
  })
}

/** As in `` `a`, `b` ``. */
export function splitCodes(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

/**
 * The advice in the last cell of a row. undefined: no row has the name in its first cell, or the
 * row has fewer cells than the others, or the last one is empty.
 */
export function adviceOn(text: string, heading: string, name: string): string | undefined {
  const rows = listRows(text, heading)
  const row = rows.find(([first = '']) => splitCodes(first).includes(name))
  const advice = row?.length === 3 || row?.length === 4 ? row.at(-1) : undefined
  return advice === '' ? undefined : advice
}

function splitCells(line: string): readonly string[] {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim())
}

function levelOf(line: string): number {
  return /^(#+) /.exec(line)?.[1]?.length ?? 0
}

function withoutBlocks(text: string): readonly string[] {
  return text.replace(/^```[\s\S]*?^```$/gm, '').split('\n')
}
