// SPDX-License-Identifier: Apache-2.0
/** The rollout of the demo as a timeline: its stages, and a lane for each node. Pure. */
import type { Act } from './cast.ts'
import { type Lane, type RolloutStory, readRollout, type Segment, type Stage, type State } from './rollout-story.ts'
import { drawDocument, element, type Look, line, rect, round, text, widthOf, wrapWords } from './svg.ts'

interface Style {
  readonly light: string
  readonly dark: string
  /** In the bar, the longest that has room. */
  readonly labels: readonly string[]
  /** Beside the lane, if it ends so. */
  readonly end: string
  readonly legend: string
}

const STYLES: Readonly<Record<State, Style>> = {
  old: { light: '#d0d7de', dark: '#3d444d', labels: ['60'], end: 'maxPods 60', legend: 'runs the config of before, maxPods 60' },
  waits: {
    light: '#eaeef2',
    dark: '#262c34',
    labels: ['waits with maxPods 60', 'waits'],
    end: 'waits',
    legend: 'waits for its turn, kubelet is not restarted',
  },
  claim: {
    light: '#c8e1ff',
    dark: '#173252',
    labels: ['claims it', 'claim'],
    end: 'claims it',
    legend: 'says in the record that it starts the edit',
  },
  bad: {
    light: '#ffb3ab',
    dark: '#7d1f17',
    labels: ['kubelet exits', 'exits'],
    end: 'kubelet exits',
    legend: 'kubelet exits with it (each × is one exit)',
  },
  back: {
    light: '#ffd8a8',
    dark: '#6b4410',
    labels: ['rolled back to 60', 'rolled back', 'back'],
    end: 'rolled back',
    legend: 'is rolled back to maxPods 60',
  },
  veto: {
    light: '#ffc069',
    dark: '#8a5a12',
    labels: ['tells it: veto', 'veto'],
    end: 'has told it',
    legend: 'says in the record that it failed (a veto)',
  },
  trial: {
    light: '#8ec5ff',
    dark: '#1f4f8b',
    labels: ['on trial', 'trial'],
    end: 'on trial with maxPods 70',
    legend: 'is on trial with maxPods 70',
  },
  proved: {
    light: '#8fdca4',
    dark: '#1c5b32',
    labels: ['✓ proved: maxPods 70', '✓ proved', '✓'],
    end: '✓ proved: maxPods 70',
    legend: '✓ has proved it: its trial has passed',
  },
}
const STATES = Object.keys(STYLES) as State[]
const LOOKS: readonly Look[] = [
  ...STATES.map((state) => ({ selector: `.${state}`, property: 'fill' as const, light: STYLES[state].light, dark: STYLES[state].dark })),
  { selector: '.bar', property: 'stroke', light: '#57606a', dark: '#9da7b3' },
  { selector: '.exit', property: 'stroke', light: '#82071e', dark: '#ffd7d5' },
  { selector: '.stage', property: 'fill', light: '#f6f8fa', dark: '#161b22' },
]

const [WIDTH, LEFT, RIGHT] = [1000, 64, 166]
const [TITLE_TOP, STAGE_TOP, STAGE_HEIGHT] = [24, 58, 40]
const [LANES_TOP, LANE, BAR] = [116, 34, 26]
const [LEGEND_ROW, LEGEND_COLUMNS] = [22, 3]

export function drawRollout(acts: readonly Act[]): string {
  const story = readRollout(acts)
  const { from, to, lanes, stages } = story
  const scale = (WIDTH - LEFT - RIGHT) / (to - from)
  const x = (seconds: number) => LEFT + (seconds - from) * scale
  const bottom = LANES_TOP + lanes.length * LANE
  const legendTop = bottom + 52
  return drawDocument({
    ...{
      width: WIDTH,
      height: legendTop + Math.ceil(STATES.length / LEGEND_COLUMNS) * LEGEND_ROW,
      title: 'A rollout over five nodes',
      looks: LOOKS,
    },
    description: describe(story),
    style: '.bar{stroke-width:1}.name{font-weight:bold}.exit{stroke-width:2;fill:none}.mark{stroke-dasharray:3 3}',
    body: [
      ...drawActs(story, x, bottom),
      ...stages.map((stage) => drawStage(stage, x, bottom)),
      ...lanes.flatMap((lane, index) => drawLane(lane, LANES_TOP + index * LANE, x)),
      ...drawAxis(story, x, bottom),
      ...drawLegend(legendTop),
    ],
  })
}

function drawActs({ acts, to }: RolloutStory, x: (seconds: number) => number, bottom: number): readonly string[] {
  return acts.flatMap(({ title, from }, index) => {
    const width = x(acts[index + 1]?.from ?? to) - x(from) - 8
    const lines = wrapWords(title, width).map((words, row) => text(x(from) + 4, TITLE_TOP + row * 16, words, { class: 'name' }))
    return [...lines, line([x(from), TITLE_TOP - 14], [x(from), bottom + 4], { class: 'mark' })]
  })
}

function drawStage({ from, to, name, opensTo }: Stage, x: (seconds: number) => number, bottom: number): string {
  const [at, width] = [(x(from) + x(to)) / 2, x(to) - x(from)]
  const named = widthOf(name, 13) < width - 4 ? name : name.replace('stage ', '')
  const opened = widthOf(opensTo) < width - 4 ? opensTo : opensTo.replace(/ of the nodes| nodes?$/, '')
  return element(
    'g',
    {},
    rect(x(from), STAGE_TOP, width, STAGE_HEIGHT, { class: 'stage bar' }),
    text(at, STAGE_TOP + 17, named, { class: 'name', 'text-anchor': 'middle' }),
    text(at, STAGE_TOP + 32, opened, { class: 'muted', 'text-anchor': 'middle' }),
    line([x(from), STAGE_TOP + STAGE_HEIGHT], [x(from), bottom + 4], { class: 'grid' }),
  )
}

function drawLane({ node, segments, exits }: Lane, top: number, x: (seconds: number) => number): readonly string[] {
  const last = segments.at(-1)
  return [
    text(8, top + 17, node, { class: 'name' }),
    ...segments.map((segment) => drawSegment(segment, top, x)),
    ...exits.map((seconds) => element('path', { class: 'exit', d: cross(x(seconds), top + BAR - 6) })),
    text(WIDTH - RIGHT + 8, top + 17, last === undefined ? '' : STYLES[last.state].end),
  ]
}

function drawSegment({ from, to, state }: Segment, top: number, x: (seconds: number) => number): string {
  const [left, width] = [x(from), x(to) - x(from)]
  const label = STYLES[state].labels.find((one) => widthOf(one, 11) < width - 4)
  const bar = rect(left, top, width, BAR, { class: `bar ${state}`, rx: 2 })
  if (label === undefined) return bar
  // The crosses are below it.
  const y = state === 'bad' ? top + 11 : top + 17
  return element('g', {}, bar, text(left + width / 2, y, label, { 'text-anchor': 'middle', 'font-size': 11 }))
}

function cross(x: number, y: number): string {
  const [left, right, over, under] = [round(x - 3.5), round(x + 3.5), round(y - 3.5), round(y + 3.5)]
  return `M${left} ${over}L${right} ${under}M${left} ${under}L${right} ${over}`
}

function drawAxis({ from, to }: RolloutStory, x: (seconds: number) => number, bottom: number): readonly string[] {
  const ticks = Array.from({ length: Math.floor(to / 2) + 1 }, (_, index) => index * 2).filter((seconds) => seconds >= from)
  return [
    line([LEFT, bottom + 4], [x(to), bottom + 4], { class: 'bar' }),
    ...ticks.map((seconds) => text(x(seconds), bottom + 20, `${seconds} s`, { class: 'muted', 'text-anchor': 'middle' })),
    text(WIDTH - RIGHT + 24, bottom + 20, `since the start`, { class: 'muted', 'font-size': 11 }),
  ]
}

function drawLegend(top: number): readonly string[] {
  const column = (WIDTH - 16) / LEGEND_COLUMNS
  return STATES.flatMap((state, index) => {
    const [x, y] = [8 + (index % LEGEND_COLUMNS) * column, top + Math.floor(index / LEGEND_COLUMNS) * LEGEND_ROW]
    return [rect(x, y - 11, 22, 14, { class: `bar ${state}`, rx: 2 }), text(x + 30, y, STYLES[state].legend, { class: 'muted' })]
  })
}

/** The same in words. */
function describe({ acts, stages, lanes }: RolloutStory): string {
  const each = stages.map(({ from, name, opensTo }) => `At ${from} s: ${name}, open to ${opensTo}.`)
  const nodes = lanes.map(({ node, segments }) => {
    const steps = segments.map(({ from, state }) => `from ${from} s ${STYLES[state].legend}`)
    return `${node}: ${steps.join(', ')}.`
  })
  return [...acts.map(({ title }) => `${title}.`), ...each, ...nodes].join(' ')
}
