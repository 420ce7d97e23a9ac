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
import type { CommandContext } from './command.ts'
import type { SelfCheckResult } from './self-check.ts'

/** A CommandContext satisfies it. */
type EffectSources = Pick<CommandContext, 'readEffects' | 'api' | 'nodeName' | 'settings'>

export async function checkEffects({ readEffects, api, nodeName, settings }: EffectSources): Promise<readonly SelfCheckResult[]> {
  const effects = await readEffects()
  if (effects === undefined) return []
  const asks = effects.asksForCertificate && settings.manifestDir === undefined
  const request = asks ? await findRequest(api, nodeName()) : undefined
  return [
    ...(effects.shutdown === undefined ? [] : [{ topic: 'shutdown', level: 'warn', text: effects.shutdown } as const]),
    ...effects.skipped.map((text) => ({ topic: 'config-dir', level: 'warn', text }) as const),
    ...(request === undefined ? [] : describeRequest(request)),
  ]
}

const SIGNER = 'kubernetes.io/kubelet-serving'
/** Requests that wait are kept for a day, and others for an hour. */
const MOST = 1000

/** The newest of this node. undefined: there is none, or it cannot be read. */
async function findRequest(api: Pick<KubeApi, 'request'>, nodeName: string): Promise<JsonObject | undefined> {
  const query = `fieldSelector=${encodeURIComponent(`spec.signerName=${SIGNER}`)}&limit=${MOST}`
  const answer = await api.request({ method: 'GET', path: `/apis/certificates.k8s.io/v1/certificatesigningrequests?${query}` })
  const items = answer.kind === 'ok' && isObject(answer.object) && Array.isArray(answer.object.items) ? answer.object.items : []
  const own = items.filter(isObject).filter(({ spec }) => isObject(spec) && spec.username === `system:node:${nodeName}`)
  return own.sort((a, b) => (createdAt(a) < createdAt(b) ? -1 : 1)).at(-1)
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
