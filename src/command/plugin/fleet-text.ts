// SPDX-License-Identifier: Apache-2.0
/**
 * The table of a fleet, and its sum: a line with a bar for each config. Fits the terminal. Pure.
 */
import { CONDITION_REASONS } from '../../report/reasons.ts'
import { describeRef } from '../../subject/config-source.ts'
import { alignColumns, type Cell, foldText, headOf, measureColumns, paint, plainText, type Tone } from '../terminal.ts'
import {
  configWord,
  describe,
  isDegraded,
  isFollowed,
  isWithoutAgent,
  type NodeState,
  showAge,
  stageOf,
  stateWord,
  versionOf,
} from './node-state.ts'

export interface FleetLook {
  readonly color: boolean
  /** undefined: lines are neither cut nor folded. */
  readonly width: number | undefined
  readonly wide: boolean
  readonly wallMs: number
}

const MESSAGE = 'MESSAGE'
const HEAD = ['NODE', 'CONFIG', 'VERSION', 'STATE', 'SINCE', 'STAGE', MESSAGE]
const WIDE_HEAD = ['NODE', 'CONFIG', 'VERSION', 'STATE', 'SINCE', 'STAGE', 'RUNS', 'CHANNEL', 'AGENT', MESSAGE]
const BAR = 20
/** Columns of a line of the sum that are no name: the bar and two counts. */
const SUM_REST = BAR + 28
/** A longer name of a config is cut where this line would not fit. */
const LONGEST_NAME = 24
/** A message in fewer columns than these goes below its row. */
const LEAST_MESSAGE = 24
const BELOW = 4
/** While somebody watches, states of this length come and go. */
const WATCHED_STATE = 'Restarting'

/** One table, whose columns stay where they are while nodes are shown again. */
export class FleetTable {
  readonly #look: () => FleetLook
  #widths: number[]

  /** @param isWatched more rows follow */
  constructor(look: () => FleetLook, isWatched = false) {
    this.#look = look
    this.#widths = isWatched ? ['', '', '', WATCHED_STATE].map(({ length }) => length) : []
  }

  renderAll(nodes: readonly NodeState[]): string[] {
    const look = this.#look()
    return this.#render([headOf(...(look.wide ? WIDE_HEAD : HEAD)), ...nodes.map((node) => rowOf(node, look))], look)
  }

  /** Without a head, for a node that changed. */
  renderOne(node: NodeState): string[] {
    const look = this.#look()
    return this.#render([rowOf(node, look)], look)
  }

  /** No name is ever cut. A message that does not fit goes on below. */
  #render(rows: readonly (readonly Cell[])[], { color, width, wide }: FleetLook): string[] {
    this.#widths = measureColumns(rows, this.#widths)
    const lines = (shown: readonly (readonly Cell[])[]) => alignColumns(shown, color, this.#widths)
    if (wide || width === undefined) return lines(rows)
    const start = this.#widths.reduce((sum, each) => sum + each + 2, 0)
    const room = width - start
    return rows.flatMap((row, index) => {
      const own = row.slice(0, -1)
      const message = plainText(row.at(-1) ?? '')
      if (message === '' || message.length <= room) return lines([row])
      // The head, where its column has no room.
      if (index === 0 && message === MESSAGE) return lines([[...own, '']])
      if (room < LEAST_MESSAGE)
        return [...lines([[...own, '']]), ...foldText(message, width - BELOW).map((text) => ' '.repeat(BELOW) + text)]
      const [first = '', ...rest] = foldText(message, room)
      return [...lines([[...own, first]]), ...rest.map((text) => ' '.repeat(start) + text)]
    })
  }
}

function rowOf(node: NodeState, { wide, wallMs }: FleetLook): Cell[] {
  const { name, ready, active, channel, agentVersion } = node
  const runs = active === undefined ? '-' : active === 'local' ? 'local' : `${active.name}@${active.resourceVersion}`
  return [
    name,
    configWord(node),
    versionOf(node),
    { text: stateWord(node), tone: toneOf(node) },
    ready === undefined ? '-' : showAge(ready.since, wallMs),
    stageOf(node),
    ...(wide ? [runs, channel || '-', agentVersion || '-'] : []),
    wide ? messageOf(node) : briefly(node, wallMs),
  ]
}

function messageOf({ ready, kubelet, asked }: NodeState): string {
  if (ready === undefined) return asked === undefined ? '' : 'no agent has reported on this node'
  const silence = kubelet === 'Unknown' ? 'node does not answer; last: ' : ''
  return `${silence}${ready.message}`
}

function briefly(node: NodeState, wallMs: number): string {
  const { ready, kubelet } = node
  if (ready === undefined) return messageOf(node)
  const own = nameInMessage(node)
  const cause = shortenMessage(ready.message, own, wallMs)
  if (kubelet !== 'Unknown') return cause
  return `node does not answer${cause === '' ? '' : `; last: ${cause}`}`
}

/** As the agent names the config that the columns show. */
function nameInMessage(node: NodeState): string | undefined {
  const { asked, assigned } = node
  if (asked !== undefined && 'ref' in asked && !isFollowed(node)) return describeRef(asked.ref)
  return assigned === undefined || assigned === 'local' ? undefined : describe(assigned)
}

function lengthOf(cell: Cell): number {
  return typeof cell === 'string' ? cell.length : cell.text.length
}

function cut(cell: Cell, limit: number): Cell {
  const { text, tone }: { text: string; tone: Tone } = typeof cell === 'string' ? { text: cell, tone: 'plain' } : cell
  return text.length <= limit ? cell : { text: `${text.slice(0, limit - 1)}…`, tone }
}

/** As in `kubelet-config  ██████████▒  1,870 Promoted  12 InTrial  1 RolledBack`. */
export function renderSum(
  nodes: readonly NodeState[],
  { color, width = Number.POSITIVE_INFINITY }: Pick<FleetLook, 'color' | 'width'>,
): string[] {
  const groups = new Map<string, NodeState[]>()
  for (const node of nodes) {
    const group = groups.get(configWord(node))
    if (group === undefined) groups.set(configWord(node), [node])
    else group.push(node)
  }
  const sorted = [...groups].sort(([a, left], [b, right]) => right.length - left.length || (a < b ? -1 : 1))
  const named = sorted.map(
    ([config, members]) => [cut(config === '-' ? 'nothing assigned' : config, Math.max(LONGEST_NAME, width - SUM_REST)), members] as const,
  )
  const longest = Math.max(0, ...named.map(([name]) => lengthOf(name)))
  return named.flatMap(([name, members]) => {
    const start = `${paint(name, color)}${' '.repeat(Math.max(0, longest - lengthOf(name)))}  ${bar(members, color)}  `
    const indent = longest + BAR + 4
    return wrap(countStates(members), { start, indent, width, color })
  })
}

type Count = readonly [state: string, count: number, tone: Tone]

function countStates(nodes: readonly NodeState[]): Count[] {
  const counts = new Map<string, { count: number; tone: Tone }>()
  for (const node of nodes) {
    const known = counts.get(stateWord(node))
    counts.set(stateWord(node), { count: (known?.count ?? 0) + 1, tone: known?.tone === 'bad' ? 'bad' : toneOf(node) })
  }
  return [...counts].map(([state, { count, tone }]): Count => [state, count, tone]).sort(([, a], [, b]) => b - a)
}

function wrap(
  counts: readonly Count[],
  { start, indent, width, color }: { readonly start: string; readonly indent: number; readonly width: number; readonly color: boolean },
): string[] {
  const lines: string[] = [start]
  let used = indent
  let isFirst = true
  for (const [state, count, tone] of counts) {
    const text = `${formatCount(count)} ${state}`
    if (!isFirst && used + 2 + text.length > width) {
      lines.push(' '.repeat(indent))
      used = indent
      isFirst = true
    }
    lines[lines.length - 1] += `${isFirst ? '' : '  '}${paint({ text, tone }, color)}`
    used += text.length + (isFirst ? 0 : 2)
    isFirst = false
  }
  return lines
}

/** Proven, on its way, without an agent, and in need of somebody. */
const SIGNS: readonly (readonly [Tone, string])[] = [
  ['good', '█'],
  ['warning', '▒'],
  ['faint', '·'],
  ['bad', '!'],
]

/** Each kind that exists has at least one cell, and the largest has what the others leave. */
function bar(nodes: readonly NodeState[], color: boolean): string {
  const counts = SIGNS.map(([tone]) => nodes.filter((node) => toneOf(node) === tone).length)
  const cells = counts.map((count) => (count === 0 ? 0 : Math.max(1, Math.round((count / nodes.length) * BAR))))
  const largest = counts.indexOf(Math.max(...counts))
  const left = BAR - cells.reduce((sum, each, index) => (index === largest ? sum : sum + each), 0)
  return SIGNS.map(([tone, sign], index) => paint({ text: sign.repeat(index === largest ? left : (cells[index] ?? 0)), tone }, color)).join(
    '',
  )
}

const PROVEN: readonly string[] = CONDITION_REASONS.True

function toneOf(node: NodeState): Tone {
  if (isWithoutAgent(node)) return 'faint'
  if (isDegraded(node)) return 'bad'
  return PROVEN.includes(node.ready?.reason ?? '') ? 'good' : 'warning'
}

/** As in `1,870`. */
function formatCount(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

/**
 * The words before the cause, with the config in place of `NAME`, as `report/condition.ts` writes
 * them.
 */
const INTRODUCTIONS: readonly string[] = [
  '^NAME (?:was refused before a restart|was rolled back|failed), (?:falling back|\\S+ runs): ',
  '^NAME has passed its trial(?:; )?',
  '^trial of NAME ',
  '^waits (?:for )?its turn to use NAME: ',
  '^NAME waits for its rollout: ',
  '^the rollout of NAME is halted: ',
  '^NAME(?:: | )',
  ' NAME(?= )',
  '; desired: NAME$',
  '^nothing is assigned: kubelet runs its local config(?:; )?',
]

/** @param config as in `kube-system/pods:kubelet@212`. undefined: it has no name */
export function shortenMessage(message: string, config: string | undefined, wallMs: number): string {
  const name = config === undefined ? undefined : `${config.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?:\\+[\\w-]+)?`
  const known = INTRODUCTIONS.filter((text) => name !== undefined || !text.includes('NAME'))
  const cause = known.reduce((text, introduction) => text.replace(new RegExp(introduction.replace('NAME', name ?? '')), ''), message)
  return cause.replace(/\buntil (\d{4}-\d\d-\d\dT[\d:.]+Z)/g, (text, time: string) => {
    const leftMs = Date.parse(time) - wallMs
    return leftMs > 0 ? `${showAge(new Date(0).toISOString(), leftMs)} left` : text
  })
}
