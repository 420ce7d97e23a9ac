// SPDX-License-Identifier: Apache-2.0
/**
 * A recording of a terminal as an SVG that plays it. The lines are text, one below the other, and
 * move up behind a window as they were printed. Where nothing moves, as on paper or for who prefers
 * that, it shows the last of them. Pure.
 */
import { type Cast, type Line, listLines, type Span, wrapLine } from './cast.ts'
import { drawDocument, element, escapeText, type Look, rect, round, text } from './svg.ts'

const [CHARACTER, HEIGHT, SIZE] = [8.43, 18, 14]
const [MARGIN, TOP] = [14, 34]
/** Nobody likes to wait: what takes longer in the recording takes this long, in seconds. */
const LONGEST_PAUSE = 1
/** Seconds in which the end can be read before it begins anew. */
const REST = 8

/** The looks of `demo/timeline.ts`. */
const LOOKS: readonly Look[] = [
  { selector: '.s31', property: 'fill', light: '#b3261e', dark: '#ff8a80' },
  { selector: '.s32', property: 'fill', light: '#116329', dark: '#56d364' },
  { selector: '.s33', property: 'fill', light: '#7a5200', dark: '#e3b341' },
  { selector: '.s34', property: 'fill', light: '#0550ae', dark: '#79c0ff' },
  { selector: '.s35', property: 'fill', light: '#8250df', dark: '#d2a8ff' },
  { selector: '.s36', property: 'fill', light: '#0e6b75', dark: '#56d4dd' },
  { selector: '.s90', property: 'fill', light: '#57606a', dark: '#9da7b3' },
]

export function drawTerminal(cast: Cast): string {
  const { columns, rows, title } = cast
  const lines = listLines(cast).flatMap((line) => wrapLine(line, columns))
  const [width, height] = [columns * CHARACTER + 2 * MARGIN, TOP + rows * HEIGHT + MARGIN]
  const duration = lastPlayed(lines) + REST
  const last = offsetOf(lines.length, rows)
  const style = [
    '.lines text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;white-space:pre}',
    '.s1{font-weight:bold}',
    `.lines{animation:play ${round(duration)}s step-end infinite}`,
    `@keyframes play{${keyframes(lines, rows, duration)}}`,
    '@media print,(prefers-reduced-motion:reduce){.lines{animation:none}}',
  ].join('')
  return drawDocument({
    ...{ width, height, title: `A recording of ${title}`, looks: LOOKS, style },
    description: `The output of ${title} in a terminal, as it was printed, with pauses cut to ${LONGEST_PAUSE} s.`,
    body: [
      rect(0.5, 0.5, width - 1, height - 1, { class: 'card', rx: 8 }),
      text(width / 2, 21, title, { class: 'muted', 'text-anchor': 'middle' }),
      // The window: what is above or below it is not seen.
      element(
        'svg',
        { x: MARGIN, y: TOP, width: columns * CHARACTER, height: rows * HEIGHT },
        element('g', { class: 'lines', transform: `translate(0 ${last})` }, ...lines.map(drawLine)),
      ),
    ],
  })
}

function drawLine({ spans }: Line, index: number): string {
  if (spans.length === 0) return ''
  return element('text', { y: index * HEIGHT + SIZE, 'xml:space': 'preserve' }, ...spans.map(drawSpan))
}

function drawSpan({ text: content, look }: Span): string {
  return look === 0 ? escapeText(content) : element('tspan', { class: `s${look}` }, escapeText(content))
}

/** So that the last of the lines printed so far is at the bottom of the window. */
function offsetOf(printed: number, rows: number): number {
  return (rows - printed) * HEIGHT
}

/** When each line is played, with short pauses. */
function playedAt(lines: readonly Line[]): readonly number[] {
  let [played, before] = [0, 0]
  return lines.map(({ seconds }) => {
    played += Math.min(LONGEST_PAUSE, seconds - before)
    before = seconds
    return played
  })
}

function lastPlayed(lines: readonly Line[]): number {
  return playedAt(lines).at(-1) ?? 0
}

function keyframes(lines: readonly Line[], rows: number, duration: number): string {
  const byMoment = new Map([['0.0', offsetOf(0, rows)]])
  for (const [index, seconds] of playedAt(lines).entries()) byMoment.set(((seconds / duration) * 100).toFixed(1), offsetOf(index + 1, rows))
  return [...byMoment].map(([percent, offset]) => `${percent}%{transform:translateY(${offset}px)}`).join('')
}
