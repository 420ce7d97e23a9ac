/**
 * The table of a fleet, and its sum: a line with a bar for each config. Fits the terminal. Pure.
 */
import { CONDITION_REASONS } from '../../report/reasons.ts'
import { alignColumns, type Cell, headOf, paint, type Tone } from '../terminal.ts'
import { configWord, describe, isDegraded, type NodeState, showAge, stateWord, versionOf, waveOf } from './node-state.ts'

export interface FleetLook {
  readonly color: boolean
  /** undefined: lines are not cut. */
  readonly width: number | undefined
  readonly wide: boolean
  readonly wallMs: number
}

const HEAD = ['NODE', 'CONFIG', 'VERSION', 'STATE', 'SINCE', 'WAVE', 'MESSAGE']
const WIDE_HEAD = ['NODE', 'CONFIG', 'VERSION', 'STATE', 'SINCE', 'WAVE', 'RUNS', 'CHANNEL', 'AGENT', 'MESSAGE']
const BAR = 20
/** Longer names are cut where lines have to fit. */
const LONGEST_NAME = 24
const LONGEST_CONFIG = 20

export function renderNodes(nodes: readonly NodeState[], look: FleetLook): string[] {
  const head = headOf(...(look.wide ? WIDE_HEAD : HEAD))
  const rows = nodes.map((node) => rowOf(node, look))
  return alignColumns(fit([head, ...rows], look), look.color)
}

/** Without a head, for a node that changed while somebody watches. */
function rowOf(node: NodeState, { wide, wallMs }: FleetLook): Cell[] {
  const { name, ready, active, channel, agentVersion } = node
  const runs = active === undefined ? '-' : active === 'local' ? 'local' : `${active.name}@${active.resourceVersion}`
  return [
    name,
    configWord(node),
    versionOf(node),
    { text: stateWord(node), tone: toneOf(node) },
    ready === undefined ? '-' : showAge(ready.since, wallMs),
    waveOf(node),
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
  const { assigned, ready, kubelet } = node
  if (ready === undefined) return messageOf(node)
  const own = assigned === undefined || assigned === 'local' ? undefined : describe(assigned)
  const cause = shortenMessage(ready.message, own, wallMs)
  if (kubelet !== 'Unknown') return cause
  return `node does not answer${cause === '' ? '' : `; last: ${cause}`}`
}

/** Cuts names, and last the message, so that a line has at most the width. */
function fit(rows: readonly (readonly Cell[])[], { width, wide }: FleetLook): readonly (readonly Cell[])[] {
  if (wide || width === undefined) return rows
  const named = rows.map(([node = '', config = '', ...rest]) => [cut(node, LONGEST_NAME), cut(config, LONGEST_CONFIG), ...rest])
  const columns = HEAD.length - 1
  const used = Array.from({ length: columns }, (_, column) => Math.max(...named.map((row) => lengthOf(row[column] ?? ''))) + 2)
  const left = Math.max(0, width - used.reduce((sum, each) => sum + each, 0))
  return named.map((row) => [...row.slice(0, columns), ...(left < 8 ? [] : [cut(row[columns] ?? '', left)])])
}

function lengthOf(cell: Cell): number {
  return typeof cell === 'string' ? cell.length : cell.text.length
}

function cut(cell: Cell, limit: number): Cell {
  const { text, tone }: { text: string; tone: Tone } = typeof cell === 'string' ? { text: cell, tone: 'plain' } : cell
  return text.length <= limit ? cell : { text: `${text.slice(0, limit - 1)}…`, tone }
}

/** As in `kubelet-config  ██████████▒  1,870 Promoted  12 InTrial  1 RolledBack`. */
export function renderSum(nodes: readonly NodeState[], { color, width = 80 }: Pick<FleetLook, 'color' | 'width'>): string[] {
  const groups = new Map<string, NodeState[]>()
  for (const node of nodes) {
    const group = groups.get(configWord(node))
    if (group === undefined) groups.set(configWord(node), [node])
    else group.push(node)
  }
  const sorted = [...groups].sort(([a, left], [b, right]) => right.length - left.length || (a < b ? -1 : 1))
  const named = sorted.map(([config, members]) => [cut(config === '-' ? 'nothing assigned' : config, LONGEST_NAME), members] as const)
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

/**
 * A bar of the nodes that are well, on their way, and in need of somebody; each group that exists
 * has at least one cell.
 */
function bar(nodes: readonly NodeState[], color: boolean): string {
  const good = nodes.filter((node) => toneOf(node) === 'good').length
  const bad = nodes.filter((node) => toneOf(node) === 'bad').length
  const cells = (count: number) => (count === 0 ? 0 : Math.max(1, Math.round((count / nodes.length) * BAR)))
  const badCells = cells(bad)
  const restCells = cells(nodes.length - good - bad)
  const goodCells = Math.max(0, BAR - badCells - restCells)
  return [
    paint({ text: '█'.repeat(goodCells), tone: 'good' }, color),
    paint({ text: '▒'.repeat(Math.min(restCells, BAR - goodCells)), tone: 'warning' }, color),
    paint({ text: '!'.repeat(BAR - goodCells - Math.min(restCells, BAR - goodCells)), tone: 'bad' }, color),
  ].join('')
}

const PROVEN: readonly string[] = CONDITION_REASONS.True

function toneOf(node: NodeState): Tone {
  if (node.ready === undefined) return 'faint'
  if (isDegraded(node)) return 'bad'
  return PROVEN.includes(node.ready.reason) ? 'good' : 'warning'
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
