// SPDX-License-Identifier: Apache-2.0
/**
 * The client of the API server, and the version that it tells. `DISABLE_HTTP2`, set to anything,
 * means HTTP/1.1 alone, as in client-go.
 */
import { Connections } from '../kube/connections.ts'
import { createDialer } from '../kube/dial.ts'
import { Http1Pool } from '../kube/http1-pool.ts'
import { CONNECTION_HEALTH, type ConnectionHealth, Http2Line } from '../kube/http2-line.ts'
import { HttpsKubeApi, type KubeconfigView } from '../kube/kube-api.ts'

declare const KUBELET_CFG_AGENT_VERSION: string | undefined

/**
 * The version of this program, as the build sets it. The placeholder is for a program that runs
 * from source.
 */
export const AGENT_VERSION = typeof KUBELET_CFG_AGENT_VERSION === 'string' ? KUBELET_CFG_AGENT_VERSION : '0.0.0-dev'

export interface KubeApiSetup {
  readonly userAgent: string
  readonly wallMs?: () => number
  readonly http2?: boolean
  readonly health?: ConnectionHealth
}

export function openKubeApi(kubeconfig: KubeconfigView, setup: KubeApiSetup): HttpsKubeApi {
  const { userAgent, wallMs = Date.now, http2 = (process.env.DISABLE_HTTP2 ?? '') === '', health = CONNECTION_HEALTH } = setup
  const transport = new Connections({
    protocols: http2 ? ['h2', 'http/1.1'] : ['http/1.1'],
    dialer: createDialer,
    openHttp2: (dialled, server, onEnd) => new Http2Line(dialled, server, health, onEnd),
    openHttp1: (server, dial) => new Http1Pool(server, dial),
  })
  return new HttpsKubeApi(kubeconfig, { userAgent, wallMs, transport })
}
