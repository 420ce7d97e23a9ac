/**
 * Takes from the Node what the agent said there: its conditions, its annotation and its label. Once
 * the agent is gone, they would look current and never change. `status.config` stays, as with
 * kubelet.
 */
import type { KubeAnswer, KubeRequest } from '../ports/kube-api.ts'
import { CHANNELS } from '../report/channels.ts'
import { isObject } from '../values/is-object.ts'
import { isObjectName } from '../values/kubernetes-names.ts'
import type { CommandContext } from './command.ts'

export type Clearing =
  /** The Node shows nothing of the agent, or there is no Node or API server. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'cleared' }
  /** `advice`: commands that do it by hand. */
  | { readonly kind: 'failed'; readonly detail: string; readonly advice: readonly string[] }

/** A package is not removed faster while the API server is away. */
const TIMEOUT_MS = 5000

type ClearingSources = Pick<CommandContext, 'api' | 'settings' | 'nodeName' | 'rights'>

export async function clearNode({ api, settings, nodeName, rights }: ClearingSources): Promise<Clearing> {
  const [kubeconfig] = rights([{ path: settings.kubeconfig, need: 'read' }])
  if (settings.manifestDir !== undefined || kubeconfig?.state === 'missing') return { kind: 'nothing' }
  const name = nodeName()
  if (!isObjectName(name)) return { kind: 'nothing' }
  const path = `/api/v1/nodes/${name}`
  const node = await api.request({ method: 'GET', path, timeoutMs: TIMEOUT_MS })
  if (node.kind === 'refused' && node.status === 404) return { kind: 'nothing' }
  if (node.kind !== 'ok') return failed(name, node)
  const patches = listPatches(name).filter(({ channels }) => channels.some(({ isShown }) => isShown(node.object)))
  const answers: KubeAnswer[] = []
  for (const { request } of patches) answers.push(await api.request({ method: 'PATCH', ...request, timeoutMs: TIMEOUT_MS }))
  for (const answer of answers) if (answer.kind !== 'ok') return failed(name, answer)
  return answers.length === 0 ? { kind: 'nothing' } : { kind: 'cleared' }
}

/** One for each part of the Node. */
function listPatches(name: string) {
  const path = `/api/v1/nodes/${name}`
  return (['status', 'metadata'] as const).flatMap((part) => {
    const channels = Object.values(CHANNELS).filter((channel) => channel.part === part && channel.withdraw !== undefined)
    const withdrawals = channels.flatMap(({ withdraw }) => withdraw?.(name) ?? [])
    const [first] = withdrawals
    if (first === undefined) return []
    const body = withdrawals.map((withdrawal): unknown => withdrawal.body).reduce(merge)
    const request: Omit<KubeRequest, 'method'> = { path: part === 'status' ? `${path}/status` : path, contentType: first.contentType, body }
    return [{ channels, request, advice: withdrawals.map(({ byHand }) => byHand) }]
  })
}

function merge(a: unknown, b: unknown): unknown {
  if (!isObject(a) || !isObject(b)) return b
  return { ...a, ...Object.fromEntries(Object.entries(b).map(([key, value]) => [key, merge(a[key], value)])) }
}

function failed(name: string, { detail }: Exclude<KubeAnswer, { kind: 'ok' }>): Clearing {
  return { kind: 'failed', detail, advice: listPatches(name).flatMap(({ advice }) => advice) }
}
