// SPDX-License-Identifier: Apache-2.0
/**
 * The values that a config computes on each of many nodes, before they happen: which values how
 * many nodes get, and on which an expression fails. Pure but for what is passed in.
 */
import { evaluateForEach, evaluateIn } from '../../helper/evaluate-in.ts'
import { type ComputedValue, fillIn, isComputedText, mayCompute, readComputed } from '../../overlay/computed.ts'
import { LimitError } from '../../values/errors.ts'
import { Failure } from '../command.ts'
import { foldText, plainText } from '../terminal.ts'
import type { PluginContext } from './command.ts'
import type { NodeState } from './node-state.ts'
import { countNodes } from './users.ts'

/** Nodes that get the same values. */
interface ComputedGroup {
  readonly values: readonly ComputedValue[]
  readonly nodes: readonly [NodeState, ...NodeState[]]
}

export interface ComputedForecast {
  /** The largest first. */
  readonly groups: readonly ComputedGroup[]
  /** The nodes on which it fails, by why. */
  readonly failing: ReadonlyMap<string, readonly NodeState[]>
}

/**
 * @returns undefined: the text computes nothing
 * @throws Failure where the text itself is at fault, or takes too long
 */
export async function forecast(
  { yaml, helper, monotonicUs, signal }: PluginContext,
  name: string,
  text: string,
  nodes: readonly NodeState[],
): Promise<ComputedForecast | undefined> {
  const parsed = mayCompute(text) ? await yaml.firstOfAny(text) : undefined
  if (parsed?.ok !== true || !isComputedText(parsed.value)) return undefined
  const reading = readComputed(parsed)
  if (!reading.ok) throw new Failure(`${name}: ${reading.detail}`)
  const expressions = reading.text.fields.map((field) => field.text)
  const bounds = { nowMs: () => monotonicUs() / 1000, signal }
  const read = fillIn(reading.text, await evaluateIn(helper, undefined, bounds)(expressions))
  if (!read.ok) throw new Failure(`${name}: ${read.detail}`)
  const shown = nodes.map((node) => node.shown)
  const results = await evaluateForEach(helper, expressions, shown, bounds).catch((error: unknown) => {
    throw error instanceof LimitError ? new Failure(`${name}: its expressions take too much: ${error.message}`) : error
  })
  const groups = new Map<string, { readonly values: readonly ComputedValue[]; readonly nodes: [NodeState, ...NodeState[]] }>()
  const failing = new Map<string, NodeState[]>()
  for (const [index, node] of nodes.entries()) {
    const result = results[index]
    if (result === undefined) continue
    const filled = fillIn(reading.text, result)
    if (!filled.ok) {
      const others = failing.get(filled.detail)
      if (others === undefined) failing.set(filled.detail, [node])
      else others.push(node)
    } else {
      const key = JSON.stringify(filled.values)
      const group = groups.get(key)
      if (group === undefined) groups.set(key, { values: filled.values, nodes: [node] })
      else group.nodes.push(node)
    }
  }
  return { groups: [...groups.values()].sort((a, b) => b.nodes.length - a.nodes.length), failing }
}

const MOST_VALUES = 8
const MOST_NAMES = 10
const LONGEST_VALUE = 60

/** A line for each field, as in `maxPods 110 on 280 nodes, 250 on 20`, and the nodes that fail. */
export function renderForecast({ groups, failing }: ComputedForecast, width: number): readonly string[] {
  const fields = [...new Set(groups.flatMap(({ values }) => values.map(({ field }) => field)))]
  const lines = fields.flatMap((field) => foldText(plainText(`${field} ${describeValues(field, groups)}`), width))
  const failures = [...failing].flatMap(([detail, nodes]) =>
    foldText(plainText(`On ${countNodes(nodes.length)} it fails, and they would stay as they are: ${listNames(nodes)}: ${detail}`), width),
  )
  return [...lines, ...failures]
}

function describeValues(field: string, groups: readonly ComputedGroup[]): string {
  const counts = new Map<string, number>()
  for (const { values, nodes } of groups) {
    const text = JSON.stringify(values.find((each) => each.field === field)?.value)
    counts.set(text, (counts.get(text) ?? 0) + nodes.length)
  }
  const [first, ...others] = [...counts].sort(([, a], [, b]) => b - a)
  if (first === undefined) return ''
  const shown = others.slice(0, MOST_VALUES - 1).map(([text, count]) => `${cut(text)} on ${count}`)
  const rest = others.slice(MOST_VALUES - 1)
  const more = rest.length === 0 ? [] : [`${rest.length} other values on ${rest.reduce((sum, [, count]) => sum + count, 0)}`]
  return [`${cut(first[0])} on ${countNodes(first[1])}`, ...shown, ...more].join(', ')
}

function cut(text: string): string {
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text
}

function listNames(nodes: readonly NodeState[]): string {
  const names = nodes.slice(0, MOST_NAMES).map(({ name }) => name)
  return nodes.length > MOST_NAMES ? `${names.join(', ')} and ${nodes.length - MOST_NAMES} more` : names.join(', ')
}
