/**
 * Takes from the Node what the agent said there: its conditions, its annotation and its label. Once
 * the agent is gone, they would look current and never change. `status.config` stays, as with
 * kubelet.
 */

import type { KubeAnswer, KubeRequest } from '../../ports/kube-api.ts'
import { STATUS_ANNOTATION } from '../../report/annotation.ts'
import { readStatusAnnotation } from '../../report/annotation-work.ts'
import { CONDITION_TYPE } from '../../report/condition.ts'
import { readConditions } from '../../report/condition-work.ts'
import { DEGRADED_TYPE } from '../../report/degraded.ts'
import { readStateLabel } from '../../report/label-work.ts'
import { STATE_LABEL } from '../../report/state-label.ts'
import { isObjectName } from '../../values/kubernetes-names.ts'
import type { CommandContext } from '../command.ts'

export type Clearing =
  /** The Node shows nothing of the agent, or there is no Node or API server. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'cleared' }
  /** `advice`: commands that do it by hand. */
  | { readonly kind: 'failed'; readonly detail: string; readonly advice: readonly string[] }

/** A package is not removed faster while the API server is away. */
const TIMEOUT_MS = 5000

/** Kubelet's own conditions stay. */
const WITHOUT_CONDITIONS = {
  contentType: 'application/strategic-merge-patch+json',
  body: { status: { conditions: [CONDITION_TYPE, DEGRADED_TYPE].map((type) => ({ $patch: 'delete', type })) } },
} as const
const WITHOUT_METADATA = {
  contentType: 'application/merge-patch+json',
  body: { metadata: { annotations: { [STATUS_ANNOTATION]: null }, labels: { [STATE_LABEL]: null } } },
} as const

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
  const patches: Pick<KubeRequest, 'path' | 'contentType' | 'body'>[] = []
  if (readConditions(node.object) !== 'absent') patches.push({ path: `${path}/status`, ...WITHOUT_CONDITIONS })
  const hasMetadata = [readStatusAnnotation, readStateLabel].some((read) => read(node.object) !== 'absent')
  if (hasMetadata) patches.push({ path, ...WITHOUT_METADATA })
  const answers: KubeAnswer[] = []
  for (const patch of patches) answers.push(await api.request({ method: 'PATCH', ...patch, timeoutMs: TIMEOUT_MS }))
  for (const answer of answers) if (answer.kind !== 'ok') return failed(name, answer)
  return answers.length === 0 ? { kind: 'nothing' } : { kind: 'cleared' }
}

function failed(name: string, { detail }: Exclude<KubeAnswer, { kind: 'ok' }>): Clearing {
  const advice = [
    `kubectl annotate node ${name} ${STATUS_ANNOTATION}-`,
    `kubectl label node ${name} ${STATE_LABEL}-`,
    `kubectl patch node ${name} --subresource=status --type=strategic -p '${JSON.stringify(WITHOUT_CONDITIONS.body)}'`,
  ]
  return { kind: 'failed', detail, advice }
}
