// SPDX-License-Identifier: Apache-2.0
/** `why`: what a node runs, what it should, what stands in the way, and what to do. */
import { describeChannel } from '../../../decision/channels.ts'
import { EVENT_NAMESPACE } from '../../../report/events.ts'
import { CONDITION_REASONS, type ConditionReason } from '../../../report/reasons.ts'
import { CONFIG_API_VERSION } from '../../../settings/resolve-settings.ts'
import { itemsOf } from '../../../source/kube-object.ts'
import { type ConfigSource, describeRef, sameRef, sameSource } from '../../../subject/config-source.ts'
import { isObject } from '../../../values/is-object.ts'
import { type CommandLine, EXIT, type ExitCode } from '../../command.ts'
import { describeRefused } from '../../failure.ts'
import { type Cell, paint, plainText } from '../../terminal.ts'
import type { PluginCommand, PluginContext } from '../command.ts'
import { documentNode } from '../node-document.ts'
import { describe, getNode, isDegraded, type NodeState, showAge, stateWord } from '../node-state.ts'
import { OUTPUT_WITH_YAML, print } from '../options.ts'

const MOST_EVENTS = 5

export const whyCommand: PluginCommand = {
  name: 'why',
  group: 'Look',
  summary: 'say why a node runs what it runs, and what to do',
  description:
    'Says in sentences what the node runs, what it should run, why it does not, and what to do. It takes that from the ' +
    "Node's conditions and annotation and from its events, and asks neither the node nor its agent.",
  arguments: [{ placeholder: 'NODE', required: true, completes: 'node' }],
  options: [OUTPUT_WITH_YAML],
  examples: [['why worker-1', 'find out why a node does not run what is assigned']],
  execute: why,
}

async function why(context: PluginContext, { options, args: [name = ''] }: CommandLine): Promise<ExitCode> {
  const { terminal, wallMs } = context
  const { state } = await getNode(context, name)
  const events = await readEvents(context, name)
  const advice = adviceOn(state.ready?.reason ?? '')
  const document = {
    apiVersion: CONFIG_API_VERSION,
    kind: 'NodeExplanation',
    ...documentNode(state),
    means: advice?.means ?? null,
    todo: todoOf(state, advice?.todo),
    /** The latest first. null: they cannot be read. */
    events: typeof events === 'string' ? null : events,
  }
  await print(context, options, document, () => renderWhy(state, events, { color: terminal.color, wallMs: wallMs() }))
  return EXIT.fine
}

/** The latest first. @returns a text: why they cannot be read */
async function readEvents({ api }: PluginContext, name: string): Promise<readonly ShownEvent[] | string> {
  const fieldSelector = `involvedObject.kind=Node,involvedObject.name=${name}`
  const answer = await api.request({
    method: 'GET',
    path: `/api/v1/namespaces/${EVENT_NAMESPACE}/events`,
    query: { fieldSelector, limit: '500' },
  })
  if (answer.kind !== 'ok') return describeRefused({ verb: 'list', resource: 'events', namespace: EVENT_NAMESPACE }, answer)
  const events = (itemsOf(answer.object) ?? []).flatMap((event) => readEvent(event) ?? [])
  return events.sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, MOST_EVENTS)
}

function readEvent(event: unknown): ShownEvent | undefined {
  if (!isObject(event) || !isObject(event.source) || event.source.component !== 'kubelet-cfg-agent') return undefined
  const { reason, message, lastTimestamp } = event
  if (typeof reason !== 'string' || typeof message !== 'string' || typeof lastTimestamp !== 'string') return undefined
  return { at: plainText(lastTimestamp), reason: plainText(reason), message: plainText(message) }
}

interface ShownEvent {
  /** RFC 3339. */
  readonly at: string
  readonly reason: string
  readonly message: string
}

interface WhyLook {
  readonly color: boolean
  readonly wallMs: number
}

/** @param events a text: why there are none to show */
function renderWhy(node: NodeState, events: readonly ShownEvent[] | string, { color, wallMs }: WhyLook): string {
  const { name, ready } = node
  const state: Cell = {
    text: stateWord(node),
    tone: isDegraded(node) ? 'bad' : CONDITION_REASONS.True.some((r) => r === ready?.reason) ? 'good' : 'warning',
  }
  // The reason may be younger than the status.
  const age = ready === undefined ? '' : `; KubeletConfigReady has been ${ready.status} for ${showAge(ready.since, wallMs)}`
  const head = `${paint({ text: name, tone: 'strong' }, color)}: ${paint(state, color)}${age}`
  const advice = adviceOn(ready?.reason ?? '')
  const paragraphs = [
    head,
    [...describeSilence(node), ...describeConfigs(node)].join('\n'),
    [
      ...(ready === undefined ? [] : [`The agent says: ${ready.message}`]),
      ...(advice === undefined ? [] : [advice.means]),
      ...describeRest(node, wallMs),
    ].join('\n'),
    `${paint({ text: 'What to do:', tone: 'strong' }, color)} ${todoOf(node, advice?.todo)}`,
    ...describeEvents(events, wallMs),
  ]
  return `${paragraphs.filter((paragraph) => paragraph !== '').join('\n\n')}\n`
}

function describeSilence({ kubelet, ready }: NodeState): string[] {
  if (ready === undefined) return []
  if (kubelet === 'Unknown') return ['The node does not answer the API server: what follows was true last.']
  return kubelet === 'False' ? ['kubelet says that the node is not ready.'] : []
}

function describeConfigs(node: NodeState): string[] {
  const { active, assigned, asked, channel, lastKnownGood } = node
  const isWithdrawn = asked === undefined && isWithdrawnFrom(node)
  const isSuperseded =
    isWithdrawn ||
    (asked !== undefined && (!('ref' in asked) || assigned === undefined || assigned === 'local' || !sameRef(assigned, asked.ref)))
  const sentences = [active === undefined ? 'What kubelet runs is not known.' : `It runs ${nameSource(active)}.`]
  if (assigned !== undefined && (active === undefined || !sameSource(assigned, active))) {
    const by = assigned === 'local' ? 'since nothing is assigned' : `assigned by ${sayChannel(channel)}`
    sentences.push(isSuperseded ? `The agent last followed ${nameSource(assigned)}.` : `It should run ${nameSource(assigned)}, ${by}.`)
  } else if (assigned !== undefined) {
    const present = assigned === 'local' ? 'Nothing is assigned.' : `That is what ${sayChannel(channel)} assigns.`
    sentences.push(isSuperseded ? 'That is what the agent followed before.' : present)
  }
  if (isWithdrawn) sentences.push(`The Node asks for nothing by ${sayChannel(channel)} any more, which the agent has not taken up.`)
  if (asked !== undefined && 'problem' in asked) sentences.push(`What ${sayChannel(asked.channel)} says cannot be used: ${asked.problem}.`)
  else if (asked !== undefined && isSuperseded)
    sentences.push(
      `The Node asks for ${plainText(describeRef(asked.ref))} (${sayChannel(asked.channel)}), which the agent has not taken up.`,
    )
  const isApart = lastKnownGood !== undefined && active !== undefined && !sameSource(lastKnownGood, active)
  if (isApart) sentences.push(`If that fails, it goes back to ${nameSource(lastKnownGood)}.`)
  return sentences
}

/** Where the Node asks for nothing: whether the agent still follows what was asked for on it. */
function isWithdrawnFrom({ assigned, channel }: NodeState): boolean {
  return assigned !== undefined && assigned !== 'local' && ['config-source', 'label', 'annotation'].includes(channel)
}

function describeRest(
  { assigned, trial, waitUntil, paused, rollout, verdict, error, ready, agentVersion }: NodeState,
  wallMs: number,
): string[] {
  return [
    ...(trial === undefined ? [] : [`Its trial began at ${trial.since} and ends at ${trial.until}${remaining(trial.until, wallMs)}.`]),
    ...(waitUntil === '' ? [] : [`The wait ends at ${waitUntil}${remaining(waitUntil, wallMs)}.`]),
    ...(paused === '' ? [] : [`It is paused: ${paused}.`]),
    ...(rollout === undefined ? [] : [sayRollout(rollout)]),
    ...(verdict === undefined ? [] : [`The verdict on ${nameSource(assigned)}: ${verdict.state}, ${verdict.reason}.`]),
    ...(error === '' || ready?.message.includes(error) === true ? [] : [`The error: ${error}.`]),
    ...(agentVersion === '' ? [] : [`The agent has the version ${agentVersion}.`]),
  ]
}

const OWN_TURNS: ReadonlyMap<string, string> = new Map([
  ['go', 'this node has its turn'],
  ['wait', 'this node waits for its turn'],
  ['failed', 'the config failed on this node'],
])

function sayRollout({ stage, lastStage, turn }: NonNullable<NodeState['rollout']>): string {
  const place = stage === undefined || lastStage === undefined ? 'has not begun' : `is in stage ${stage} of ${lastStage}`
  const own = OWN_TURNS.get(turn) ?? 'it is halted'
  return `The rollout of the config ${place}, and ${own}.`
}

function remaining(until: string, wallMs: number): string {
  const seconds = Math.round((Date.parse(until) - wallMs) / 1000)
  if (!Number.isFinite(seconds)) return ''
  return seconds <= 0 ? ', which has passed' : `, in ${showAge(new Date(wallMs).toISOString(), wallMs + seconds * 1000)}`
}

function todoOf({ ready, asked }: NodeState, todo: string | undefined): string {
  if (ready === undefined) {
    const agent = 'No agent has written its condition on this Node. Check that kubelet-cfg-agent is installed and runs there'
    return asked === undefined ? `Nothing, if no config is meant for it. ${agent}.` : `${agent} ("systemctl status kubelet-cfg-agent").`
  }
  return todo ?? `This program does not know the reason ${ready.reason}: it is older than the agent. Read the message.`
}

function describeEvents(events: readonly ShownEvent[] | string, wallMs: number): string[] {
  if (typeof events === 'string') return [`Events are not shown: ${plainText(events)}`]
  if (events.length === 0) return []
  return [
    `Latest events:\n${events.map(({ at, reason, message }) => `  ${showAge(at, wallMs).padEnd(4)} ${reason}: ${shortenNames(message)}`).join('\n')}`,
  ]
}

/** Events name a config by its path, UID, version and key, as kubelet did. */
const LONG_NAME =
  /\/api\/v1\/namespaces\/([\w.-]+)\/configmaps\/([\w.-]+), UID: [\w-]+, ResourceVersion: (\w+), KubeletConfigKey: ([\w.-]+)/g

function shortenNames(message: string): string {
  return message.replace(LONG_NAME, '$1/$2:$4@$3')
}

function nameSource(source: ConfigSource | undefined): string {
  if (source === undefined) return 'an unknown config'
  return source === 'local' ? 'its local config' : describe(source)
}

function sayChannel(channel: string): string {
  switch (channel) {
    case 'config-source':
    case 'label':
    case 'annotation':
    case 'selector':
    case 'default':
      return sayWithArticle(describeChannel(channel))
    default:
      return 'the cluster'
  }
}

/** A label and an annotation have an article; a field has none. */
export function sayWithArticle(channel: string): string {
  return /^(label|annotation) /.test(channel) ? `the ${channel}` : channel
}

interface Advice {
  readonly means: string
  readonly todo: string
}

const JOURNAL = 'On the node, "journalctl -u kubelet-cfg-agent" says more.'
const WIRING = 'Run "kubelet-cfg-agent check" on the node: it says what is wrong and what to do.'
/** The check finds nothing here: kubelet's unit looks right. */
const INEFFECTIVE =
  'On the node, compare /proc/PID/cmdline of kubelet with what "systemctl cat kubelet" starts: a wrapper, or a --config that comes later, decides. Correct it, then run "systemctl daemon-reload" and "systemctl restart kubelet": the agent does not restart it again.'
const DISK = `The agent tries again. If it stays, check the disk of the node for space and errors. ${JOURNAL}`

export const ADVICE: Readonly<Record<ConditionReason, Advice>> = {
  Promoted: { means: 'kubelet runs the assigned config, which has passed its trial on this node.', todo: 'Nothing.' },
  Local: {
    means: 'Nothing is assigned: kubelet runs its local config.',
    todo: 'Nothing. If you did assign a config, check the name of the label, and which channels the agent has on (--channels).',
  },
  InTrial: {
    means: 'kubelet runs the assigned config, which has not passed its trial yet.',
    todo: 'Wait. If the message says that the trial does not come to an end, find out why kubelet is not healthy for long enough.',
  },
  AssignmentUnknown: {
    means: 'The agent cannot read the assignment. What it read last stands.',
    todo: 'Check that the node reaches the API server, its kubeconfig, and the rights of its identity.',
  },
  KubeletUnknown: {
    means: 'The agent cannot tell what kubelet does.',
    todo: 'Run "kubelet-cfg-agent check" on the node. Check systemd and the disk. If the message names a process that has a port of kubelet, end that process.',
  },
  NotPublished: {
    means: 'The agent is set not to publish this condition.',
    todo: 'Add condition to the setting publish of the agent if you want it.',
  },
  Waiting: {
    means: 'The node waits for its turn, in the spread or in a rollout.',
    todo: 'Wait. In a rollout, "kubectl kubelet-config rollout status NAME" shows how far it has come.',
  },
  Preflight: { means: 'The config is being checked on the node.', todo: 'Wait.' },
  Draining: {
    means: 'The config changes fields that may change only on a drained node.',
    todo: 'Run "kubectl drain NODE --ignore-daemonsets", and "kubectl uncordon NODE" when the state is InTrial, Promoted, RolledBack or Refused. While it is Draining, Waiting or Restarting, the change is still to come.',
  },
  Restarting: {
    means: 'kubelet is starting or stopping, or started some seconds ago.',
    todo: "Wait. If the node itself is paused, resume: that keeps what fails from being rolled back. Where nothing is assigned, kubelet and its config are the administrator's, and the agent does not restart it, except to complete a return to local that it began.",
  },
  Unhealthy: {
    means: 'kubelet runs the assigned config, or its local one where nothing is assigned, and is not healthy or has exited several times.',
    todo: 'Look at kubelet\'s log: "journalctl -u kubelet" on the node. Where kubelet is not healthy for a minute with an assigned config, the agent restarts it once with that, then goes back to another. Where nothing is assigned, kubelet and its config are the administrator\'s, and the agent restarts nothing. A kubelet that exits now and then stays with its config: nothing changes by itself. If the message names a pause, nothing is rolled back until you resume the node.',
  },
  KubeletStopped: { means: 'kubelet was stopped with systemd, and stays stopped.', todo: 'Start kubelet. It then uses what is assigned.' },
  RuntimeDown: {
    means: 'The container runtime does not answer, so kubelet would not come back from a restart.',
    todo: 'Start the container runtime on the node. The agent waits for it for at most 10 minutes; then kubelet is restarted all the same.',
  },
  Invalid: {
    means: 'What assigns a config cannot be used. The node stays as it is.',
    todo: 'Correct what the message names: the label, annotation or selector, the part, or the overlay on the node.',
  },
  DownloadFailed: {
    means: 'The ConfigMap cannot be read. The node stays as it is.',
    todo: 'Create the ConfigMap, or grant the node the right to get it by name (deploy/rbac/node-configmaps.yaml).',
  },
  InternalError: { means: 'The agent cannot write its state, or a record was damaged.', todo: DISK },
  CheckpointMissing: { means: 'The saved copy of the assigned config is not whole on the disk of the node.', todo: DISK },
  Refused: {
    means: 'Preflight refused the config before a restart. What ran before goes on.',
    todo: 'Correct the ConfigMap: the new content is checked at once. Or correct the node, and run "kubelet-cfg-agent retry" on it.',
  },
  RolledBack: {
    means: 'kubelet failed with the config, or an operator rolled it back.',
    todo: 'Find the cause in kubelet\'s log, from the time of the trial. If it is the config, correct the ConfigMap: the new content gets a trial of its own. If it was elsewhere, correct that and run "kubelet-cfg-agent retry" on the node.',
  },
  NodeAtFault: {
    means: 'kubelet fails with every config, so the agent blames the node and condemns no config.',
    todo: "Repair the node: the container runtime, certificates, disk, memory, kubelet's binary and flags. The agent tries again by itself.",
  },
  Paused: {
    means: 'An operator paused the node or the config.',
    todo: 'Remove the annotation kubelet-cfg-agent.io/paused, or run "kubelet-cfg-agent resume" on the node: the message says which. A pause of the node keeps a failing config from being rolled back.',
  },
  HeldLocal: { means: 'An operator ran "kubelet-cfg-agent reset" on the node.', todo: 'Run "kubelet-cfg-agent resume" on the node.' },
  Wiring: { means: "kubelet's unit does not take its config from the agent.", todo: WIRING },
  Ineffective: { means: 'kubelet was restarted and still runs another config.', todo: INEFFECTIVE },
  RestartLimit: {
    means: 'kubelet was restarted too often within an hour.',
    todo: 'Find out what changes the config so often. The wait ends by itself.',
  },
}

/** undefined: an agent of another version wrote this reason. */
function adviceOn(reason: string): Advice | undefined {
  return Object.entries(ADVICE).find(([known]) => known === reason)?.[1]
}
