// SPDX-License-Identifier: Apache-2.0
/**
 * `rollout pause`, `resume`, `retry`, `exclude` and `include`: annotations of the config, which all
 * its nodes follow.
 */
import { PAUSED_ANNOTATION } from '../../../decision/channels.ts'
import { parsePlan, ROLLOUT_EXCLUDE_ANNOTATION, ROLLOUT_PLAN_ANNOTATION, splitNames } from '../../../rollout/plan.ts'
import { type CommandArgument, type CommandLine, EXIT, type ExitCode, Failure } from '../../command.ts'
import { plainText } from '../../terminal.ts'
import type { PluginCommand, PluginContext } from '../command.ts'
import { annotate, getConfig, listNames } from '../config-maps.ts'
import { checkNodeName } from '../node-state.ts'
import { CONFIG_NAME } from '../options.ts'
import { describeGap, describeUnpaused } from '../reach.ts'
import { findRecordedRetry, recordOf } from '../rollout-state.ts'
import { listKnownUsers } from '../users.ts'

export const rolloutPauseCommand: PluginCommand = {
  name: 'rollout pause',
  group: 'Roll out',
  summary: 'keep further nodes from starting a config',
  description:
    'Pauses the config: no further node starts it, and its rollout stands still. If kubelet fails with it, it is still rolled ' +
    'back. To take a bad edit back, use undo, which takes effect after rollout resume. Sets the annotation kubelet-cfg-agent.io/paused of the ConfigMap, so it works without a rollout too. It ' +
    'counts for the nodes that the config is assigned to, and not for those with a part over it. If all known nodes use the ' +
    'config only as a base or a layer, the command sets the pause too, and exits with 1.',
  arguments: [CONFIG_NAME],
  options: [],
  examples: [['rollout pause node-config', 'start it on no further node']],
  execute: pause,
}

export const rolloutResumeCommand: PluginCommand = {
  name: 'rollout resume',
  group: 'Roll out',
  summary: 'end a pause of a config',
  description: 'Removes the annotation kubelet-cfg-agent.io/paused of the ConfigMap. The rollout goes on where it stood.',
  arguments: [CONFIG_NAME],
  options: [],
  examples: [['rollout resume node-config', 'go on']],
  execute: resume,
}

export const rolloutRetryCommand: PluginCommand = {
  name: 'rollout retry',
  group: 'Roll out',
  summary: 'roll the same content out again after it was halted',
  description:
    'Raises retry in the plan: the rollout begins again at stage 0 with the same content, and its nodes drop their verdicts on ' +
    'it. Use it only if the content was not at fault: an edit begins a rollout by itself.',
  arguments: [CONFIG_NAME],
  options: [],
  examples: [['rollout retry node-config', 'try the content again after a node was repaired']],
  execute: retry,
}

const NODE_NAME: CommandArgument = { placeholder: 'NODE', required: true, completes: 'node' }

export const rolloutExcludeCommand: PluginCommand = {
  name: 'rollout exclude',
  group: 'Roll out',
  summary: 'take a node out of the rollouts of a config',
  description:
    'For a node that is compromised, or gone for good. Its claims, proofs and vetoes no longer count, its places are free, ' +
    'and the admission policy of the rollout refuses what it writes. The node starts the content when the rollout is finished. ' +
    'Names it in the annotation kubelet-cfg-agent.io/rollout-exclude of the ConfigMap.',
  arguments: [CONFIG_NAME, NODE_NAME],
  options: [],
  examples: [['rollout exclude node-config node-7', 'do not let node-7 halt or advance it']],
  execute: exclude,
}

export const rolloutIncludeCommand: PluginCommand = {
  name: 'rollout include',
  group: 'Roll out',
  summary: 'let an excluded node take part again',
  description: 'Takes the node out of the annotation kubelet-cfg-agent.io/rollout-exclude of the ConfigMap. What it wrote counts again.',
  arguments: [CONFIG_NAME, NODE_NAME],
  options: [],
  examples: [['rollout include node-config node-7', 'trust node-7 again']],
  execute: include,
}

/**
 * The pause comes first: it is urgent, and a list of all Nodes takes its time. A node that the
 * selector has just assigned the config to may not have told it yet, so a pause that seems to
 * pause no node is set too.
 */
async function pause(context: PluginContext, { args: [name = ''] }: CommandLine): Promise<ExitCode> {
  const { namespace, terminal } = context
  await annotate(context, await getConfig(context, name), { [PAUSED_ANNOTATION]: 'true' })
  const own = { namespace, name }
  terminal.out(`ConfigMap ${namespace}/${name} is paused.\n`)
  const users = await listKnownUsers(context, name)
  const unpaused = describeUnpaused(own, users)
  const isOnlyUnder = users.assigned.length === 0 && users.nodes.length > 0
  for (const sentence of [...(isOnlyUnder ? [] : unpaused), describeGap(own, users.gap)])
    if (sentence !== undefined) terminal.err(`Note: ${plainText(sentence)}\n`)
  if (isOnlyUnder)
    throw new Failure(
      `no Node is known to be assigned ${namespace}/${name}, so the pause may have no effect; ` +
        (unpaused.join('; ') || 'the parts over it are paused'),
    )
  return EXIT.fine
}

async function resume(context: PluginContext, { args: [name = ''] }: CommandLine): Promise<ExitCode> {
  await annotate(context, await getConfig(context, name), { [PAUSED_ANNOTATION]: null })
  context.terminal.out(`ConfigMap ${context.namespace}/${name} is not paused.\n`)
  return EXIT.fine
}

async function retry(context: PluginContext, { args: [name = ''] }: CommandLine): Promise<ExitCode> {
  const config = await getConfig(context, name)
  const record = recordOf(config)
  if (record === undefined) throw new Failure(`ConfigMap ${context.namespace}/${name} has no rollout`)
  const recorded = await findRecordedRetry(context, config, record)
  const raised = raiseRetry(config.annotations[ROLLOUT_PLAN_ANNOTATION], recorded)
  await annotate(context, config, { [ROLLOUT_PLAN_ANNOTATION]: raised.text })
  context.terminal.out(`The rollout of ${context.namespace}/${name} begins again (retry: ${raised.retry}).\n`)
  return EXIT.fine
}

async function exclude(context: PluginContext, { args: [name = '', node = ''] }: CommandLine): Promise<ExitCode> {
  // A veto of `rollout status` is under a name that no Node has: `rollout retry` ends that halt.
  checkNodeName(node)
  const config = await getConfig(context, name)
  if (recordOf(config) === undefined) throw new Failure(`ConfigMap ${context.namespace}/${name} has no rollout`)
  const excluded = splitNames(config.annotations[ROLLOUT_EXCLUDE_ANNOTATION] ?? '')
  const known = await listNames(context, 'node').catch(() => undefined)
  if (!excluded.includes(node)) await annotate(context, config, { [ROLLOUT_EXCLUDE_ANNOTATION]: [...excluded, node].join(',') })
  context.terminal.out(`Node ${plainText(node)} takes no part in the rollouts of ${context.namespace}/${name}.\n`)
  if (known?.includes(node) === false) context.terminal.err(`Note: there is no Node of this name now.\n`)
  return EXIT.fine
}

async function include(context: PluginContext, { args: [name = '', node = ''] }: CommandLine): Promise<ExitCode> {
  const config = await getConfig(context, name)
  const excluded = splitNames(config.annotations[ROLLOUT_EXCLUDE_ANNOTATION] ?? '')
  if (!excluded.includes(node)) throw new Failure(`ConfigMap ${context.namespace}/${name} does not exclude the Node ${node}`)
  const left = excluded.filter((other) => other !== node)
  await annotate(context, config, { [ROLLOUT_EXCLUDE_ANNOTATION]: left.length === 0 ? null : left.join(',') })
  context.terminal.out(`Node ${plainText(node)} takes part in the rollouts of ${context.namespace}/${name} again.\n`)
  return EXIT.fine
}

/**
 * The record may stand at a higher `retry` than the plan, as when GitOps put an earlier plan back.
 * Nodes begin again only above both.
 *
 * @param text undefined: there is no annotation
 * @param recorded `retry` in the state of the record
 * @throws Failure where the plan cannot be used
 */
export function raiseRetry(text: string | undefined, recorded: number): { readonly text: string; readonly retry: number } {
  const parsed = parsePlan(text)
  if (!parsed.ok) throw new Failure(parsed.problem)
  const retry = Math.max(parsed.plan.retry, recorded) + 1
  const raised = write(text ?? '', retry)
  const again = parsePlan(raised)
  if (!again.ok || again.plan.retry !== retry) throw new Failure(`retry: ${retry} does not fit into the plan: set the annotation by hand`)
  return { text: raised, retry }
}

function write(text: string, retry: number): string {
  const setting = `retry: ${retry}`
  if (text.trim() === '') return setting
  if (/retry: *\d+/.test(text)) return text.replace(/retry: *\d+/, setting)
  return text.includes('\n') ? `${text.replace(/\n+$/, '')}\n${setting}` : `${text}, ${setting}`
}
