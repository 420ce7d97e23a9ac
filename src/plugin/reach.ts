/** Which nodes a change of a config gets to, and how. Pure. */
import { PROGRAM } from './command.ts'
import type { ConfigName } from './config-index.ts'
import type { FoundConfig } from './config-maps.ts'
import { USUAL_NAMESPACE } from './global-options.ts'
import { isPaused } from './is-paused.ts'
import { recordOf } from './rollout-state.ts'
import type { Beginning } from './staged-parts.ts'
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

/** Nodes that a pause of the config leaves alone: it counts on the ConfigMap that is assigned. */
export function describeUnpaused({ namespace, name }: ConfigName, { parts, layered }: Users): readonly string[] {
  const own = `${namespace}/${name}`
  return [
    ...parts
      .filter((part) => !part.isPaused)
      .map((part) => `nodes with ${nameParts([part])} over ${own} are not paused: ${commandOn('rollout pause', part)}`),
    layered.length === 0 ? undefined : `nodes that ${own} is a layer on are not paused: pause the config that is chosen for them`,
  ].filter((sentence) => sentence !== undefined)
}

/**
 * One sentence a line.
 *
 * @param beginnings of the parts with a rollout, after the change
 */
export function describeReach(
  name: ConfigName,
  config: FoundConfig | undefined,
  users: Users,
  beginnings: ReadonlyMap<PartOver, Beginning>,
): string {
  const { assigned, parts, layered, gap } = users
  if (users.nodes.length === 0) return gap === undefined ? 'No node uses it yet: assign it.' : 'No node is known to use it.'
  const spread = parts.filter((part) => !part.isStaged && !part.isPaused)
  return [
    assigned.length === 0 ? undefined : describeOwn(name, config, assigned.length),
    spread.length === 0 ? undefined : `It goes to ${countNodes(countOf(spread))} as the base of ${nameParts(spread)}, ${SPREAD}`,
    ...parts.filter((part) => !spread.includes(part)).map((part) => describeOver(part, beginnings.get(part))),
    layered.length === 0 ? undefined : `It goes to ${countNodes(layered.length)} as a layer, ${SPREAD}`,
  ]
    .filter((sentence) => sentence !== undefined)
    .join('\n')
}

function describeOwn(name: ConfigName, config: FoundConfig | undefined, count: number): string {
  const nodes = countNodes(count)
  const inStages = config !== undefined && recordOf(config) !== undefined
  if (config !== undefined && isPaused(config.annotations))
    return `It is paused: it goes to ${nodes}${inStages ? ' in stages' : ''} after ${commandOn('rollout resume', name)}`
  return `It goes to ${nodes}${inStages ? ` in stages: ${commandOn('rollout status', name)}` : `, ${SPREAD}`}`
}

/** @param beginning undefined: the part has no rollout, and is paused */
function describeOver(part: PartOver, beginning: Beginning | undefined): string {
  const own = nameParts([part])
  const nodes = countNodes(part.nodes.length)
  const touches = `when the part itself becomes another version: ${touch(part)}`
  if (part.isPaused) {
    const paused = `${own} is paused: this base goes to its ${nodes}`
    const resume = `after ${commandOn('rollout resume', part)}`
    if (beginning === undefined) return `${paused} ${resume}`
    return `${paused} in stages ${resume}${beginning === 'touch' ? `\nThese stages begin ${touches}` : ''}`
  }
  const status = commandOn('rollout status', part)
  const what = `It goes to ${nodes} as the base of ${own} in stages`
  switch (beginning) {
    case undefined:
    case 'begins':
      return `${what}: ${status}`
    case 'touch':
      return `${what}, which begin ${touches}`
    case 'unknown':
      return `${what}, once its rollout begins: ${status}`
  }
}

function commandOn(command: string, { namespace, name }: ConfigName): string {
  return `${PROGRAM} ${command} ${name}${namespace === USUAL_NAMESPACE ? '' : ` -n ${namespace}`}`
}

function touch({ namespace, name }: ConfigName): string {
  return `kubectl -n ${namespace} annotate configmap ${name} edited="$(date)" --overwrite`
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
