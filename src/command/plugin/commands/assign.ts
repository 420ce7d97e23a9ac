// SPDX-License-Identifier: Apache-2.0
/** `assign` and `unassign`: which config Nodes ask for. */
import { CONFIG_LABEL, CONFIG_SOURCE_ANNOTATION, describeChannel } from '../../../decision/channels.ts'
import { choiceKind } from '../../../settings/setting-kinds.ts'
import type { JsonObject } from '../../../values/is-object.ts'
import { type CommandLine, type CommandOption, EXIT, type ExitCode, Failure, Misuse, orElse } from '../../command.ts'
import { demandConsent, YES } from '../../consent.ts'
import { objectOf } from '../../failure.ts'
import { plainText } from '../../terminal.ts'
import type { PluginCommand, PluginContext } from '../command.ts'
import { checkConfigName, findConfig } from '../config-maps.ts'
import { KEY } from '../merged-text.ts'
import { type AskedConfig, checkNodeName, getNode, listNodes, type NodeState, nameOf, readNodeState } from '../node-state.ts'
import { CONFIG_NAME, SELECTOR } from '../options.ts'
import { countNodes } from '../users.ts'
import { sayWithArticle } from './why.ts'

const CHANNELS = ['label', 'annotation', 'config-source'] as const
type AskingChannel = (typeof CHANNELS)[number]
/** The first of them that a Node has decides. */
const PRECEDENCE: readonly AskingChannel[] = ['config-source', 'label', 'annotation']

const BY: CommandOption = {
  name: 'by',
  kind: choiceKind(...CHANNELS),
  initial: 'label',
  help: 'where on the Node to write the name of the config; config-source needs an API server that stores it',
}
const NODES = { placeholder: 'NODE', required: false, many: true, completes: 'node' } as const

export const assignCommand: PluginCommand = {
  name: 'assign',
  group: 'Change',
  summary: 'have nodes use a config',
  description:
    'Names the config on each Node. It takes effect at once on all of them: an assignment is not spread. For more than one ' +
    'Node it asks first, unless you add --yes.',
  arguments: [CONFIG_NAME, NODES],
  options: [SELECTOR, BY, YES],
  examples: [
    ['assign more-pods worker-1', 'try a config on one node'],
    ['assign more-pods -l role=worker --yes', 'assign it to all workers'],
    ['assign -n configs more-pods worker-1 --by annotation', 'assign a config of another namespace'],
  ],
  execute: assign,
}

export const unassignCommand: PluginCommand = {
  name: 'unassign',
  group: 'Change',
  summary: 'take nodes back to their local config',
  description:
    'Removes the assignment from each Node: label, annotation and spec.configSource. A selector or the default of the agents ' +
    'may then choose another config. It takes effect at once on every Node.',
  arguments: [{ ...NODES, required: false }],
  options: [SELECTOR, YES],
  examples: [
    ['unassign worker-1', 'take one node back to its local config'],
    ['unassign -l role=worker', 'take all workers back'],
  ],
  execute: unassign,
}

async function assign(context: PluginContext, line: CommandLine): Promise<ExitCode> {
  const { terminal, namespace } = context
  const { options, args } = line
  const [name = '', ...names] = args
  const channel = CHANNELS.find((each) => each === options.by) ?? 'label'
  await checkConfig(context, name)
  const nodes = await chooseNodes(context, names, options.selector ?? '')
  refuseLosing(context, nodes, channel, name)
  const note = channel === 'label' && namespace !== 'kube-system' ? ` Agents look for the label's ConfigMap in --config-namespace.` : ''
  if (nodes.length > 1)
    await demandConsent(context, line, `Assign ${namespace}/${name} to ${countNodes(nodes.length)}, all at once?${note}`)
  const body = assignment(channel, namespace, name)
  const done = await changeNodes(context, nodes, () => ({ body, describe: (after) => describeAssigned(after, channel, name) }))
  if (note !== '') terminal.err(`Note:${note} Give --by annotation if theirs is another than ${namespace}.\n`)
  return summarize(done, nodes.length, `ask for ${name} now`)
}

/**
 * Refuses an assignment that a stronger channel hides: it would have no effect until somebody
 * removes the stronger one, perhaps weeks later.
 */
function refuseLosing({ terminal }: PluginContext, nodes: readonly NodeState[], channel: AskingChannel, name: string): void {
  let losing = 0
  for (const { name: node, asked } of nodes) {
    if (asked === undefined || PRECEDENCE.indexOf(asked.channel) >= PRECEDENCE.indexOf(channel)) continue
    terminal.err(`${node}: ${describePrecedence(asked.channel, channel)} and would still decide: ${remedyFor(name)}\n`)
    losing++
  }
  if (losing > 0) throw new Failure(`nothing was changed: it would have no effect on ${losing} of ${countNodes(nodes.length)}`)
}

/** A config that cannot be read may still be there for the nodes. */
async function checkConfig(context: PluginContext, name: string): Promise<void> {
  checkConfigName(name)
  const { terminal, namespace } = context
  const found = await orElse(findConfig(context, name), ({ message }) => message)
  if (typeof found === 'string') {
    terminal.err(`Note: whether ConfigMap ${namespace}/${name} exists is not known: ${plainText(found)}\n`)
    return
  }
  if (found === undefined) throw new Failure(`ConfigMap ${namespace}/${name} does not exist: create it first, for example with apply`)
  if (!Object.hasOwn(found.data, KEY)) throw new Failure(`ConfigMap ${namespace}/${name} has no key ${KEY}`)
}

function assignment(channel: AskingChannel, namespace: string, name: string): JsonObject {
  switch (channel) {
    case 'label':
      return { metadata: { labels: { [CONFIG_LABEL]: name } } }
    case 'annotation':
      return { metadata: { annotations: { [CONFIG_SOURCE_ANNOTATION]: `${namespace}/${name}:${KEY}` } } }
    case 'config-source':
      return { spec: { configSource: { configMap: { namespace, name, kubeletConfigKey: KEY } } } }
  }
}

/** @throws Failure, where the lines of the Nodes do not say it all */
function summarize(done: number, total: number, what: string): ExitCode {
  if (done === total) return EXIT.fine
  if (total > 1) throw new Failure(`${done} of ${total} Nodes ${what}; see to the others, then run the command again`)
  return EXIT.failed
}

function describeAssigned(node: NodeState, channel: AskingChannel, name: string): Described {
  const obstacle = describeObstacle(node, channel, name)
  return { text: obstacle ?? `asks for ${name}, by ${sayWithArticle(describeChannel(channel))}`, isDone: obstacle === undefined }
}

/**
 * The reason why the Node does not ask for the config that was just written, such as an earlier
 * channel that wins.
 */
function describeObstacle({ asked }: NodeState, channel: AskingChannel, name: string): string | undefined {
  if (asked?.channel === channel) return undefined
  if (asked === undefined || channel === 'config-source')
    return `the API server has dropped ${describeChannel(channel)}: assign by label or by annotation`
  return `${describePrecedence(asked.channel, channel)} and still decides: ${remedyFor(name)}`
}

function describePrecedence(stronger: AskingChannel, channel: AskingChannel): string {
  return `${describeChannel(stronger)} comes before ${describeChannel(channel)}`
}

function remedyFor(name: string): string {
  return `unassign the node, then assign ${name} again`
}

async function unassign(context: PluginContext, line: CommandLine): Promise<ExitCode> {
  const nodes = await chooseNodes(context, line.args, line.options.selector ?? '')
  if (nodes.length > 1) await demandConsent(context, line, `Remove the assignment of ${countNodes(nodes.length)}, all at once?`)
  const nothing = {
    metadata: { labels: { [CONFIG_LABEL]: null }, annotations: { [CONFIG_SOURCE_ANNOTATION]: null } },
  }
  const done = await changeNodes(context, nodes, ({ asked }) => {
    const isOld = asked?.channel === 'config-source'
    const body = { ...nothing, ...(isOld && { spec: { configSource: null } }) }
    return { body, describe: (after) => describeUnassigned(asked, after.asked) }
  })
  return summarize(done, nodes.length, 'have no assignment now')
}

function describeUnassigned(before: AskedConfig | undefined, after: AskedConfig | undefined): Described {
  if (after === undefined) return { text: before === undefined ? 'had no assignment' : 'has no assignment now', isDone: true }
  const what = 'ref' in after ? nameOf(after.ref) : 'a config that cannot be used'
  const channel = sayWithArticle(describeChannel(after.channel))
  return { text: `is still assigned ${what} by ${channel}, which was set meanwhile: run the command again`, isDone: false }
}

async function chooseNodes(context: PluginContext, names: readonly string[], selector: string): Promise<readonly NodeState[]> {
  if (names.length > 0 && selector !== '') throw new Misuse('give names of Nodes or -l, not both')
  if (names.length === 0 && selector === '') throw new Misuse('name a Node, or give -l')
  if (selector !== '') {
    const { items } = await listNodes(context, selector)
    if (items.length === 0) throw new Failure(`no Node matches ${selector}`)
    return items
  }
  for (const name of names) checkNodeName(name)
  return Promise.all([...new Set(names)].map(async (name) => (await getNode(context, name)).state))
}

interface NodeChange {
  readonly body: JsonObject
  /** The text about the Node as the API server answers with it. */
  describe(after: NodeState): Described
}

interface Described {
  readonly text: string
  /** The Node is as wanted. */
  readonly isDone: boolean
}

/**
 * Says of each Node what has become of it. Ends early at a signal.
 *
 * @returns how many are changed as wanted
 * @throws Failure: the only Node cannot be changed
 */
async function changeNodes(
  context: PluginContext,
  nodes: readonly NodeState[],
  changeOf: (node: NodeState) => NodeChange,
): Promise<number> {
  const { terminal, signal } = context
  let done = 0
  for (const node of nodes) {
    const { body, describe } = changeOf(node)
    try {
      const { text, isDone } = describe(await patchNode(context, node.name, body))
      terminal.out(`${node.name}: ${text}\n`)
      if (isDone) done++
    } catch (error) {
      if (!(error instanceof Failure) || nodes.length === 1) throw error
      terminal.err(`${node.name}: ${plainText(error.message)}\n`)
      if (signal.aborted) break
    }
  }
  return done
}

async function patchNode(context: PluginContext, name: string, body: JsonObject): Promise<NodeState> {
  const { api, namespace } = context
  const answer = await api.request({ method: 'PATCH', path: `/api/v1/nodes/${name}`, body, contentType: 'application/merge-patch+json' })
  const state = readNodeState(objectOf({ verb: 'patch', resource: 'nodes', name }, answer), namespace)
  if (state === undefined)
    throw new Failure(`the API server did not answer with Node ${name}: check the context and the address of the API server`)
  return state
}
