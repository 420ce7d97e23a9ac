// SPDX-License-Identifier: Apache-2.0
/**
 * A recording of a terminal as asciinema keeps it, version 2
 * (https://docs.asciinema.org/manual/asciicast/v2/): one JSON text a line, first the header, then
 * what was printed and when. Pure.
 */

export interface Output {
  /** Since the start. */
  readonly seconds: number
  /** With colours, and a line feed at the end of each line. */
  readonly text: string
}

export interface Cast {
  readonly title: string
  readonly columns: number
  readonly rows: number
  readonly output: readonly Output[]
}

/** A piece of a line in one look; 0: without any. */
export interface Span {
  readonly text: string
  /** The SGR code (ECMA-48), as `demo/timeline.ts` uses them. */
  readonly look: number
}

export interface Line {
  readonly seconds: number
  readonly spans: readonly Span[]
}

/** Of the demo's lines that say when something happened: `  4.2s  record   node-1 starts it`. */
interface Event {
  readonly seconds: number
  readonly speaker: string
  readonly text: string
}

export interface Act {
  readonly title: string
  readonly events: readonly Event[]
}

const SGR = new RegExp(`${String.fromCharCode(27)}\\[(\\d+)m`)

export function writeCast({ title, columns, rows, output }: Cast): string {
  const header = { version: 2, width: columns, height: rows, title }
  const events = output.map(({ seconds, text }) => [Number(seconds.toFixed(3)), 'o', text.replaceAll('\n', '\r\n')])
  return [header, ...events].map((line) => `${JSON.stringify(line)}\n`).join('')
}

export function readCast(text: string): Cast {
  const [first = '', ...rest] = text.trimEnd().split('\n')
  const { width: columns, height: rows, title } = JSON.parse(first) as { width: number; height: number; title: string }
  const output = rest.map((line) => {
    const [seconds, , printed] = JSON.parse(line) as [number, string, string]
    return { seconds, text: printed.replaceAll('\r\n', '\n') }
  })
  return { title, columns, rows, output }
}

export function listLines({ output }: Cast): readonly Line[] {
  return output.flatMap(({ seconds, text }) =>
    text
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => ({ seconds, spans: readSpans(line) })),
  )
}

function readSpans(line: string): readonly Span[] {
  const [first = '', ...coded] = line.split(SGR)
  const spans = [{ text: first, look: 0 }]
  for (let index = 0; index < coded.length; index += 2) spans.push({ text: coded[index + 1] ?? '', look: Number(coded[index]) })
  return spans.filter(({ text }) => text !== '')
}

/** As a terminal of so many columns breaks it. */
export function wrapLine({ seconds, spans }: Line, columns: number): readonly Line[] {
  const lines: Span[][] = [[]]
  let used = 0
  for (const { text, look } of spans)
    for (let from = 0; from < text.length; ) {
      if (used === columns) {
        lines.push([])
        used = 0
      }
      const piece = text.slice(from, from + columns - used)
      lines.at(-1)?.push({ text: piece, look })
      from += piece.length
      used += piece.length
    }
  return lines.map((pieces) => ({ seconds, spans: pieces }))
}

/** The numbered acts of the demo, from plain text or from lines with colours. */
export function listActs(lines: readonly string[]): readonly Act[] {
  const acts: { title: string; events: Event[] }[] = []
  for (const line of lines) {
    const [, title] = /^(\d+\. .*)$/.exec(line) ?? []
    if (title !== undefined) acts.push({ title, events: [] })
    const [, seconds, speaker = '', text = ''] = /^ *(\d+\.\d)s {2}(\w+) +(.*)$/.exec(line) ?? []
    if (seconds !== undefined) acts.at(-1)?.events.push({ seconds: Number(seconds), speaker, text })
  }
  return acts
}

export function actsOf(cast: Cast): readonly Act[] {
  return listActs(listLines(cast).map(({ spans }) => spans.map(({ text }) => text).join('')))
}
