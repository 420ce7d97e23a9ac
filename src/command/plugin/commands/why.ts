/** `why`: what a node runs, what it should, what stands in the way, and what to do. */
import { EXIT, type ExitCode } from '../../command.ts'
import { plainText } from '../../terminal.ts'
import { EVENT_NAMESPACE } from '../../../report/events.ts'
import { itemsOf } from '../../../source/kube-object.ts'
import { isObject } from '../../../values/is-object.ts'
import type { PluginCommand, PluginContext, PluginLine } from '../command.ts'
import { describeRefused } from '../failure.ts'
import { getNode } from '../nodes.ts'
import { renderWhy, type ShownEvent } from '../why-text.ts'

const MOST_EVENTS = 5

export const whyCommand: PluginCommand = {
  name: 'why',
  group: 'Look',
  summary: 'say why a node runs what it runs, and what to do',
  description:
    'Says in sentences what the node runs, what it should run, what stands in the way and what to do. It takes that from the ' +
    "Node's conditions and annotation and from its events, and asks neither the node nor its agent.",
  arguments: [{ placeholder: 'NODE', required: true, completes: 'node' }],
  options: [],
  examples: [['why worker-1', 'find out why a node does not run what is assigned']],
  execute: why,
}

async function why(context: PluginContext, { args: [name = ''] }: PluginLine): Promise<ExitCode> {
  const { terminal, wallMs } = context
  const { state } = await getNode(context, name)
  terminal.out(renderWhy(state, await readEvents(context, name), { color: terminal.color, wallMs: wallMs() }))
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
