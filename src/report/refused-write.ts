/** What helps where the API server refuses a write of the agent. Pure. */
import type { KubeAnswer, KubeRefusal } from '../ports/kube-api.ts'

/**
 * To be added to the detail of the answer. An admission plugin answers 403 too, and says why: then
 * no right is missing.
 * @param grantedBy the file that grants the right
 */
export function adviseOnRefusal(answer: Exclude<KubeAnswer, { kind: 'ok' }>, grantedBy: string): string {
  if (answer.kind !== 'refused') return ''
  if (answer.status === 401) return '; the API server does not accept the identity of the kubeconfig'
  return answer.status === 403 && LACKS_A_RIGHT.test(answer.detail) ? `; ${grantedBy} grants it` : ''
}

/**
 * Whether an admission plugin denied this one object. A 403 without a reason is no Status object: a
 * proxy sent it, which may forbid everything.
 */
export function isDeniedByPolicy({ status, reason, detail }: KubeRefusal): boolean {
  return status === 403 && reason !== '' && !LACKS_A_RIGHT.test(detail)
}

/** A newly granted right may not have reached every server yet. */
export const FORBIDDEN_TRIES = 3
/** How long to wait after repeated 403 answers: rights are granted by hand. */
export const FORBIDDEN_MS = 600_000

/** `forbiddenMessage` of k8s.io/apiserver, `pkg/endpoints/handlers/responsewriters/errors.go`. */
const LACKS_A_RIGHT = / cannot [a-z]+ resource /
