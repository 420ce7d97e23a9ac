/** What `why` says of a node: plain sentences, from what its agent has written. Pure. */
import { type Cell, paint, plainText } from '../cli/terminal.ts'
import { describeChannel } from '../decision/channels.ts'
import { type ConfigSource, describeRef, sameRef, sameSource } from '../decision/config-source.ts'
import { CONDITION_REASONS } from '../report/node-conditions.ts'
import { adviceOn } from './advice.ts'
import { describe, isDegraded, type NodeState, stateOf } from './node-state.ts'
import { showAge } from './show-age.ts'

export interface ShownEvent {
  /** RFC 3339. */
  readonly at: string
  readonly reason: string
  readonly message: string
}

export interface WhyLook {
  readonly color: boolean
  readonly wallMs: number
}

/** @param events a text: why there are none to show */
export function renderWhy(node: NodeState, events: readonly ShownEvent[] | string, { color, wallMs }: WhyLook): string {
  const { name, ready } = node
  const state: Cell = {
    text: stateOf(node),
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

function describeRest({ trial, waitUntil, paused, rollout, verdict, error, ready, agentVersion }: NodeState, wallMs: number): string[] {
  return [
    ...(trial === undefined ? [] : [`Its trial began at ${trial.since} and ends at ${trial.until}${remaining(trial.until, wallMs)}.`]),
    ...(waitUntil === '' ? [] : [`The wait ends at ${waitUntil}${remaining(waitUntil, wallMs)}.`]),
    ...(paused === '' ? [] : [`It is paused: ${paused}.`]),
    ...(rollout === undefined ? [] : [sayRollout(rollout)]),
    ...(verdict === undefined ? [] : [`The verdict on what is assigned: ${verdict.state}, ${verdict.reason}.`]),
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

function nameSource(source: ConfigSource): string {
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
