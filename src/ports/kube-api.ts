// SPDX-License-Identifier: Apache-2.0
/** The port for requests to the API server. Adapter: `src/kube/kube-api.ts`. */

/** Never throws. The adapter takes care of authentication, TLS and timeouts. */
export interface KubeApi {
  /** One HTTP exchange. */
  request(request: KubeRequest): Promise<KubeAnswer>
  /**
   * Streams until the server ends it, the signal aborts, or nothing arrives for the inactivity
   * limit. The result is `ended` if the server had accepted the watch.
   */
  watch(request: KubeWatchRequest): Promise<KubeWatchEnd>
}

export interface KubeRequest {
  readonly method: 'GET' | 'POST' | 'PATCH'
  /** Absolute, without query: `/api/v1/nodes/x`. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly contentType?: 'application/json' | 'application/merge-patch+json' | 'application/strategic-merge-patch+json'
  readonly timeoutMs?: number
  readonly as?: PartialForm
}

/**
 * Requests only the metadata (meta.k8s.io/v1) of one object, a watch or a list. Absent: whole
 * objects.
 */
export type PartialForm = 'PartialObjectMetadata' | 'PartialObjectMetadataList'

export type KubeAnswer =
  /** `serverMs`: the time of the answer by the server's clock (Date), in whole seconds. */
  { readonly kind: 'ok'; readonly object: unknown; readonly serverMs?: number | undefined } | KubeRefusal | KubeSilence

/**
 * There is no answer that can be used. `too-long`: there is one, with more than the adapter reads.
 * `kubeconfig`: nothing was asked, since there are no address and credentials.
 */
export interface KubeSilence {
  readonly kind: 'unreachable'
  readonly reason?: 'too-long' | 'kubeconfig'
  readonly detail: string
}

/**
 * `reason` is that of the Status object (`NotFound`, `Expired`, ...); empty if the response has
 * none.
 */
export interface KubeRefusal {
  readonly kind: 'refused'
  readonly status: number
  readonly reason: string
  readonly detail: string
  readonly retryAfterMs: number | undefined
}

export interface KubeWatchRequest {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly inactivityMs: number
  readonly signal: AbortSignal
  readonly as?: 'PartialObjectMetadata'
  /**
   * Called once, when the server has accepted the watch: it may queue or refuse it before that.
   *
   * @param serverMs as that of a KubeAnswer
   */
  onOpen?(serverMs?: number | undefined): void
  onEvent(event: { readonly type: string; readonly object: unknown }): void
}

export type KubeWatchEnd = { readonly kind: 'ended'; readonly detail: string } | KubeRefusal | KubeSilence
