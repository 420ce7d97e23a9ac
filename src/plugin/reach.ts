/** Which nodes a change of a config gets to, and how. Pure. */
import { PROGRAM } from './command.ts'
import type { ConfigName } from './config-index.ts'
import type { FoundConfig } from './config-maps.ts'
import { recordOf } from './rollout-state.ts'
import { countNodes, type PartOver, type Users } from './users.ts'

/** In a sentence. */
const MOST_NAMED = 5
const SPREAD = `spread over some minutes: ${PROGRAM} get --watch`

/**
 * Sentences on the uses that the assignments of the nodes do not show, and on what is not known.
 */
export function describeUses(config: ConfigName, { parts, layered, gap }: Users): readonly string[] {
  const own = `${config.namespace}/${config.name}`
  const sum = countOf(parts)
  return [
    parts.length === 0 ? undefined : `${own} is the base of ${nameParts(parts)}, which ${countNodes(sum)} ${sum === 1 ? 'uses' : 'use'}.`,
    layered.length === 0 ? undefined : `${own} is a layer on ${countNodes(layered.length)}.`,
    describeGap(config, gap),
  ].filter((sentence) => sentence !== undefined)
}

export function describeGap({ namespace, name }: ConfigName, gap: Users['gap']): string | undefined {
  return gap === undefined ? undefined : `It is not known whether more nodes use ${namespace}/${name} as the base of a part: ${gap}`
}

/** One sentence a line. */
export function describeReach({ namespace, name }: ConfigName, config: FoundConfig | undefined, users: Users): string {
  const { assigned, parts, layered, gap } = users
  if (users.nodes.length === 0) return gap === undefined ? 'No node uses it yet: assign it.' : 'No node is known to use it.'
  const spread = parts.filter((part) => !part.isStaged)
  const staged = parts.filter((part) => part.isStaged)
  const statusOf = (of: ConfigName) =>
    `in stages: ${PROGRAM} rollout status ${of.name}${of.namespace === namespace ? '' : ` -n ${of.namespace}`}`
  return [
    assigned.length === 0
      ? undefined
      : `It goes to ${countNodes(assigned.length)}${isStaged(config) ? ` ${statusOf({ namespace, name })}` : `, ${SPREAD}`}`,
    spread.length === 0 ? undefined : `It goes to ${countNodes(countOf(spread))} as the base of ${nameParts(spread)}, ${SPREAD}`,
    ...staged.map((part) => `It goes to ${countNodes(part.nodes.length)} as the base of ${nameParts([part])} ${statusOf(part)}`),
    layered.length === 0 ? undefined : `It goes to ${countNodes(layered.length)} as a layer, ${SPREAD}`,
  ]
    .filter((sentence) => sentence !== undefined)
    .join('\n')
}

function isStaged(config: FoundConfig | undefined): boolean {
  return config !== undefined && recordOf(config) !== undefined
}

function countOf(parts: readonly PartOver[]): number {
  return parts.reduce((sum, { nodes }) => sum + nodes.length, 0)
}

export function nameParts(parts: readonly PartOver[]): string {
  return nameSome(parts.map(({ namespace, name }) => `${namespace}/${name}`).sort())
}

export function nameSome(names: readonly string[]): string {
  const rest = names.length - MOST_NAMED
  return rest > 0 ? `${names.slice(0, MOST_NAMED).join(', ')} and ${rest} more` : names.join(', ')
}
