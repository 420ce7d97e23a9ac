// SPDX-License-Identifier: Apache-2.0
/**
 * The panels of the dashboard with what Prometheus answered to their expressions. This is no
 * screenshot of Grafana, and says so. Pure.
 */
import type { Act } from './cast.ts'
import { COLOURS, drawChart, tellValue } from './charts.ts'
import { type Answers, type Panel, readDashboard, type Series, type Target } from './metrics-file.ts'
import { cutText, drawDocument, element, type Look, rect, text, wrapWords } from './svg.ts'

interface Named extends Series {
  readonly name: string
}

type Marks = readonly { readonly seconds: number; readonly name: string }[]

const WIDTH = 1000
const COLUMN = WIDTH / 24
const [HEAD, GAP, PADDING] = [28, 8, 12]
const [TITLE, PLOT, AXIS, LEGEND_ROW, TABLE_ROW, STAT, ROW] = [26, 120, 24, 16, 22, 64, 34]
const NO_DATA = 'no data in this run'
const CAPTION =
  'The panels of deploy/monitoring/dashboard.json, drawn by scripts/pictures/dashboard.ts, not a screenshot of Grafana. The data: npm start, scraped by Prometheus once a second. Dashed: its acts 5, 9, 10. Trials take 4 s and 1 s there; the first bucket of their histogram ends at 60 s.'
/** A config that is rolled back on one node, a bad edit that is stopped, and its repair. */
const MARKED = /^(5|9|10)\./
const LOOKS: readonly Look[] = COLOURS.flatMap(({ light, dark }, index) => [
  { selector: `.a.c${index},.k.c${index}`, property: 'fill' as const, light, dark },
  { selector: `.a.c${index},.l.c${index}`, property: 'stroke' as const, light, dark },
])

export function drawDashboard(dashboard: string, answers: Answers, acts: readonly Act[]): string {
  const { title, panels } = readDashboard(dashboard)
  const marks = acts.flatMap(({ title: act, events: [first] }) =>
    MARKED.test(act) && first !== undefined ? [{ seconds: first.seconds, name: act.replace(/\..*/, '') }] : [],
  )
  const body: string[] = [
    text(PADDING, 24, title, { class: 'head' }),
    ...wrapWords(CAPTION, WIDTH - 2 * PADDING).map((words, row) => text(PADDING, 44 + row * 15, words, { class: 'muted' })),
  ]
  let top = HEAD + body.length * 15
  for (const y of [...new Set(panels.map(({ gridPos }) => gridPos.y))].sort((one, other) => one - other)) {
    const beside = panels.filter(({ gridPos }) => gridPos.y === y).map((panel) => ({ panel, series: nameSeries(panel, answers) }))
    const height = Math.max(...beside.map(({ panel, series }) => heightOf(panel, series)))
    for (const { panel, series } of beside) body.push(...drawPanel(panel, series, marks, top, height))
    top += height + GAP
  }
  return drawDocument({
    ...{ width: WIDTH, height: top, title: `${title}: the panels of the dashboard`, looks: LOOKS },
    description: CAPTION,
    style:
      '.head{font-size:18px;font-weight:bold}.name{font-weight:bold}.tight{font-size:11px}.small{font-size:10px}.big{font-size:24px}.a{fill-opacity:.45;stroke-width:1}.l{fill:none;stroke-width:1.8}.mark{stroke-dasharray:2 3}',
    body,
  })
}

/** As Grafana names them: `{{reason}}` is the value of that label. */
function nameSeries({ targets = [] }: Panel, answers: Answers): readonly Named[] {
  const nameOf = ({ legendFormat = '' }: Target, labels: Series['labels']) =>
    legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? '').trim()
  return targets.flatMap((target) => (answers[target.expr] ?? []).map((one) => ({ ...one, name: nameOf(target, one.labels) })))
}

function heightOf({ type }: Panel, series: readonly Named[]): number {
  if (type === 'row') return ROW
  if (type === 'stat') return STAT + TITLE
  if (type === 'table' || series.length === 0) return TITLE + (series.length + 1) * TABLE_ROW + PADDING
  return TITLE + PLOT + AXIS + series.length * LEGEND_ROW + PADDING
}

function drawPanel(panel: Panel, series: readonly Named[], marks: Marks, top: number, height: number): readonly string[] {
  const { type, title, gridPos } = panel
  const [left, width] = [gridPos.x * COLUMN + GAP / 2, gridPos.w * COLUMN - GAP]
  if (type === 'row') return [text(PADDING, top + 24, title, { class: 'head' })]
  const inside = { x: left + PADDING, y: top + TITLE + 6, width: width - 2 * PADDING, height: PLOT }
  const frame = [
    rect(left, top, width, height, { class: 'card', rx: 4 }),
    text(left + PADDING, top + 19, title, { class: type === 'stat' ? 'name tight' : 'name' }),
  ]
  if (series.length === 0) return [...frame, text(left + PADDING, top + TITLE + 24, NO_DATA, { class: 'muted' })]
  switch (type) {
    case 'stat':
      return [...frame, ...drawStat(series, left + PADDING, top + TITLE + 30, width - 2 * PADDING)]
    case 'table':
      return [...frame, ...drawTable(series, inside.x, inside.y + 14)]
    default:
      return [...frame, ...drawGraph(panel, series, marks, inside)]
  }
}

/** The last value, as the panel asks for, and the most that there was. */
function drawStat(series: readonly Named[], x: number, y: number, width: number): readonly string[] {
  const [{ name, values } = { name: '', values: [] }] = series
  const most = Math.max(...values.map((value) => value ?? 0))
  const told = name === 'nodes' ? `now; at most ${most}` : cutText(name, width)
  return [text(x, y, tellValue(values.at(-1) ?? 0, 'short'), { class: 'big' }), text(x, y + 22, told, { class: 'muted' })]
}

/** A row for each series: which labels the panel shows, and when it was there. */
function drawTable(series: readonly Named[], x: number, y: number): readonly string[] {
  const [node, reason, when] = [0, 120, 240]
  const rows = series.map(({ labels, values }) => {
    const seconds = values.flatMap((value, second) => (value === null ? [] : [second]))
    return { node: labels.instance ?? '', reason: labels.reason ?? '', when: `from ${seconds[0]} s to ${seconds.at(-1)} s` }
  })
  const drawRow = (row: (typeof rows)[number], at: number, look: string) => [
    text(x + node, at, row.node, { class: look }),
    text(x + reason, at, row.reason, { class: look }),
    text(x + when, at, row.when, { class: look }),
  ]
  return [{ node: 'instance', reason: 'reason', when: 'when' }, ...rows].flatMap((row, index) =>
    drawRow(row, y + index * TABLE_ROW, index === 0 ? 'muted' : 'plain'),
  )
}

function drawGraph(
  { fieldConfig }: Panel,
  series: readonly Named[],
  marks: Marks,
  box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number },
): readonly string[] {
  const { unit = 'short', custom } = fieldConfig?.defaults ?? {}
  const legendTop = box.y + box.height + AXIS + 6
  return [
    ...drawChart({ series, isStacked: custom?.stacking !== undefined, unit, marks }, box),
    ...series.flatMap(({ name, values }, index) => {
      const y = legendTop + index * LEGEND_ROW
      // What there was before, and is no more, is no news.
      const last = values.at(-1) ?? undefined
      return [
        rect(box.x, y - 9, 12, 10, { class: `k c${index % COLOURS.length}` }),
        element(
          'g',
          {},
          text(box.x + 18, y, cutText(name, box.width - 70)),
          text(box.x + box.width, y, last === undefined ? '–' : tellValue(last, unit), { 'text-anchor': 'end' }),
        ),
      ]
    }),
  ]
}
