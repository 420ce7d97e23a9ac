// SPDX-License-Identifier: Apache-2.0
/** Graphs over time: an area for each series, one on the other, or a line for each. Pure. */
import type { Series } from './metrics-file.ts'
import { element, line, round, text } from './svg.ts'

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

interface Chart {
  readonly series: readonly Series[]
  readonly isStacked: boolean
  readonly unit: string
  /** A moment with a name, in seconds. */
  readonly marks: readonly { readonly seconds: number; readonly name: string }[]
}

/** How many classes `c0`, `c1`, ... there are. */
export const COLOURS: readonly { readonly light: string; readonly dark: string }[] = [
  { light: '#0072b2', dark: '#56b4e9' },
  { light: '#d55e00', dark: '#f0834d' },
  { light: '#007a5a', dark: '#3ecf9c' },
  { light: '#aa4499', dark: '#e39ac6' },
  { light: '#7a5d00', dark: '#e0c341' },
  { light: '#5b4bb5', dark: '#a99bff' },
  { light: '#b3261e', dark: '#ff8a80' },
  { light: '#2f7385', dark: '#7fc8d8' },
  { light: '#4d7c0f', dark: '#a3d65c' },
  { light: '#5f6670', dark: '#b0b8c4' },
]
const AXIS = 40
const TICKS_EVERY_S = 20

export function drawChart({ series, isStacked, unit, marks }: Chart, box: Box): readonly string[] {
  const seconds = Math.max(1, ...series.map(({ values }) => values.length))
  const bands = isStacked ? stack(series) : series.map(({ values }) => ({ low: undefined, high: values }))
  const top = niceTop(Math.max(0, ...bands.flatMap(({ high }) => high.flatMap((value) => value ?? []))), unit)
  const x = (second: number) => box.x + AXIS + (second / seconds) * (box.width - AXIS)
  const y = (value: number) => box.y + box.height - (value / top) * box.height
  const ticks = Array.from({ length: Math.floor(seconds / TICKS_EVERY_S) + 1 }, (_, index) => index * TICKS_EVERY_S)
  return [
    ...[0, top / 2, top].flatMap((value) => [
      line([x(0), y(value)], [x(seconds), y(value)], { class: 'grid' }),
      text(x(0) - 5, y(value) + 4, tellValue(value, unit), { class: 'muted small', 'text-anchor': 'end' }),
    ]),
    ...ticks.map((second) => text(x(second), box.y + box.height + 14, `${second} s`, { class: 'muted small', 'text-anchor': 'middle' })),
    ...marks.flatMap(({ seconds: second, name }) => [
      line([x(second), box.y - 4], [x(second), box.y + box.height], { class: 'mark' }),
      text(x(second) + 2, box.y + 3, name, { class: 'muted small' }),
    ]),
    ...bands.map(({ low, high }, index) =>
      element('path', { class: `${low === undefined ? 'l' : 'a'} c${index % COLOURS.length}`, d: drawSteps(high, low, x, y) }),
    ),
  ]
}

/** Each second holds its value until the next. An area goes back along its lower edge. */
function drawSteps(
  high: readonly (number | null)[],
  low: readonly number[] | undefined,
  x: (second: number) => number,
  y: (value: number) => number,
): string {
  return listRuns(high)
    .map(({ from, to }) => {
      const upper = high.slice(from, to).map((value, index) => edge(x, y(value ?? 0), from + index))
      const path = `M${round(x(from))} ${round(y(high[from] ?? 0))}${joinSteps(upper)}`
      if (low === undefined) return path
      const lower = low.slice(from, to).map((value, index) => edge(x, y(value), from + index))
      return `${path}${joinSteps(lower.toReversed().map(({ start, end, level }) => ({ start: end, end: start, level })))}Z`
    })
    .join('')
}

interface Step {
  readonly start: number
  readonly end: number
  readonly level: number
}

function edge(x: (second: number) => number, level: number, second: number): Step {
  return { start: round(x(second)), end: round(x(second + 1)), level: round(level) }
}

/** A new level is a vertical step; a level that stays takes one line. */
function joinSteps(steps: readonly Step[]): string {
  return steps
    .map(({ end, level }, index) => {
      const rises = steps[index - 1]?.level !== level
      const stays = steps[index + 1]?.level === level
      return `${rises ? `V${level}` : ''}${stays ? '' : `H${end}`}`
    })
    .join('')
}

function listRuns(values: readonly (number | null)[]): readonly { readonly from: number; readonly to: number }[] {
  const runs: { from: number; to: number }[] = []
  for (const [second, value] of values.entries()) {
    const last = runs.at(-1)
    if (value === null) continue
    if (last?.to === second) last.to = second + 1
    else runs.push({ from: second, to: second + 1 })
  }
  return runs
}

function stack(series: readonly Series[]): readonly { readonly low: readonly number[]; readonly high: readonly (number | null)[] }[] {
  let below: readonly number[] = []
  return series.map(({ values }) => {
    const low = values.map((_, second) => below[second] ?? 0)
    below = values.map((value, second) => (low[second] ?? 0) + (value ?? 0))
    // Nothing is drawn of a zero, which has no height.
    const high = values.map((value, second) => (value === null || value === 0 ? null : (below[second] ?? 0)))
    return { low, high }
  })
}

/** Of the axis: a round number that is even where only whole ones make sense. */
function niceTop(most: number, unit: string): number {
  if (unit === 'percentunit') return 1
  const least = unit === 's' ? most : Math.max(2, most)
  if (least <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(least))
  return ([1, 2, 4, 6, 8, 10].find((one) => one * power >= least * 0.999) ?? 10) * power
}

/** As Grafana shows the units that the dashboard has. */
export function tellValue(value: number, unit: string): string {
  switch (unit) {
    case 'percentunit':
      return `${Math.round(value * 100)} %`
    case 's':
      return value !== 0 && value < 1 ? `${round(value * 1000)} ms` : `${round(value)} s`
    default:
      return String(round(value))
  }
}
