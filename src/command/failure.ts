// SPDX-License-Identifier: Apache-2.0
/**
 * Explains a refusal by the API server to the person who asked: which right is missing, or which
 * object does not exist. Pure.
 */

import type { KubeAnswer } from '../ports/kube-api.ts'
import { Failure } from './command.ts'

/** The object or collection of a request, in the words of RBAC. */
export interface Asked {
  /** As in `list nodes`. */
  readonly verb: string
  readonly resource: string
  /** undefined: the whole collection, or a new object. */
  readonly name?: string | undefined
  /** undefined: the resource has no namespace. */
  readonly namespace?: string | undefined
}

/** The API server does not answer, or not now. */
export class Outage extends Failure {
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs = 0) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

type Refused = Exclude<KubeAnswer, { kind: 'ok' }>

/** As people call one of them; what is not here has the name that RBAC gives it. */
const SINGULAR: Readonly<Record<string, string>> = { configmaps: 'ConfigMap', nodes: 'Node' }

export function describeRefused(asked: Asked, refused: Refused): string {
  const { verb, resource, name, namespace } = asked
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace ${namespace}`
  const what = `${resource}${name === undefined ? '' : ` ${name}`}`
  if (refused.kind === 'unreachable') return `cannot ${verb} ${what}: ${refused.detail}`
  switch (refused.status) {
    case 401:
      return `cannot ${verb} ${what}: the API server does not accept the credentials of this context (${refused.detail})`
    case 403:
      return `the right to ${verb} ${resource} ${where} is missing: ${refused.detail}`
    case 404:
      return `${name === undefined ? what : `${SINGULAR[resource] ?? resource} ${name}`}${namespace === undefined ? '' : ` ${where}`} does not exist`
    case 409:
      return `cannot ${verb} ${what}: somebody else has changed it since it was read; run the command again (${refused.detail})`
    default:
      return `cannot ${verb} ${what}: ${refused.detail}`
  }
}

/** @throws Failure where the request was refused */
export function objectOf(asked: Asked, answer: KubeAnswer): unknown {
  if (answer.kind === 'ok') return answer.object
  const message = describeRefused(asked, answer)
  if (answer.kind === 'unreachable') throw new Outage(message)
  throw isPassing(answer.status) ? new Outage(message, answer.retryAfterMs) : new Failure(message)
}

/** As while an API server restarts, or has too much to do. */
export function isPassing(status: number): boolean {
  return status === 429 || status >= 500
}
