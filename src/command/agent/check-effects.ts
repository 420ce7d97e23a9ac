// SPDX-License-Identifier: Apache-2.0
/**
 * The findings of `check` about the config that kubelet runs: which parts of it have no effect on
 * this node, and the request for a serving certificate that waits for somebody. Changes nothing.
 *
 * Kubelet asks in its own name (`newGetTemplateFn`, pkg/kubelet/certificate), and any node may list
 * the requests (`NodeRules`, plugin/pkg/auth/authorizer/rbac/bootstrappolicy). After 15 minutes
 * without an answer it makes another one, so the newest counts.
 */
import type { KubeApi } from '../../ports/kube-api.ts'
import { isObject, type JsonObject } from '../../values/is-object.ts'
import { orElse } from '../command.ts'
import { listPages } from '../list-pages.ts'
import type { CommandContext } from './command.ts'
import type { SelfCheckResult } from './self-check.ts'

/** A CommandContext satisfies it. */
type EffectSources = Pick<CommandContext, 'readEffects' | 'api' | 'nodeName' | 'settings'>

export async function checkEffects({ readEffects, api, nodeName, settings }: EffectSources): Promise<readonly SelfCheckResult[]> {
  const effects = await readEffects()
  if (effects === undefined) return []
  const asks = effects.asksForCertificate && settings.manifestDir === undefined
  const request = asks ? await findRequest(api, await nodeName()) : undefined
  return [
    ...(effects.shutdown === undefined ? [] : [{ topic: 'shutdown', level: 'warn', text: effects.shutdown } as const]),
    ...effects.skipped.map((text) => ({ topic: 'config-dir', level: 'warn', text }) as const),
    ...(request === undefined ? [] : describeRequest(request)),
  ]
}

const SIGNER = 'kubernetes.io/kubelet-serving'
const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const ASKED = { verb: 'list', resource: 'certificatesigningrequests' }

/**
 * The newest of this node. Where nobody approves, each node has some hundred, since those that wait
 * are kept for a day. undefined: there is none, or it cannot be read.
 */
async function findRequest(api: Pick<KubeApi, 'request'>, nodeName: string): Promise<JsonObject | undefined> {
  const isOwn = ({ spec }: JsonObject) => isObject(spec) && spec.username === `system:node:${nodeName}`
  const listing = { path: PATH, query: { fieldSelector: `spec.signerName=${SIGNER}` }, asked: ASKED }
  const own = await orElse(
    listPages(api, listing, (item) => (isObject(item) && isOwn(item) ? item : undefined)),
    () => undefined,
  )
  return [...(own?.items ?? [])].sort((a, b) => (createdAt(a) < createdAt(b) ? -1 : 1)).at(-1)
}

function metadataOf({ metadata }: JsonObject): JsonObject {
  return isObject(metadata) ? metadata : {}
}

/** RFC 3339 in UTC, to the second: sorts as text. */
function createdAt(request: JsonObject): string {
  return String(metadataOf(request).creationTimestamp)
}

const UNTIL = 'until then kubelet serves with its former certificate, or with none: then logs, exec, port forwarding and metrics fail'

function describeRequest(request: JsonObject): SelfCheckResult[] {
  const { status } = request
  const name = String(metadataOf(request).name)
  const conditions = isObject(status) && Array.isArray(status.conditions) ? status.conditions.filter(isObject) : []
  const warn = (text: string): SelfCheckResult[] => [{ topic: 'certificate', level: 'warn', text }]
  if (conditions.length === 0)
    return warn(`request ${name} of the serving certificate waits for approval: kubectl certificate approve ${name}; ${UNTIL}`)
  const no = conditions.find(({ type }) => type === 'Denied' || type === 'Failed')
  return no === undefined ? [] : warn(`request ${name} of the serving certificate has ${no.type}: ${no.message || no.reason}; ${UNTIL}`)
}
