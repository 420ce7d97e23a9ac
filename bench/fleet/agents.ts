// SPDX-License-Identifier: Apache-2.0
/**
 * Many agents in one process, as the API server sees them: each is a ClusterSource that lists and
 * watches its Node and its ConfigMap, with its own HttpsKubeApi, connections and identity, as in
 * src/compose/agent-parts.ts. Started by agents-client.ts; answers its calls one by one.
 */
import { setTimeout as after } from 'node:timers/promises'
import { openKubeApi } from '../../src/compose/kube-api.ts'
import type { KubeAnswer, KubeApi, KubeRequest, KubeWatchEnd, KubeWatchRequest } from '../../src/ports/kube-api.ts'
import type { Log } from '../../src/ports/log.ts'
import { SETTINGS } from '../../src/settings/settings.ts'
import type { ChannelSettings } from '../../src/source/channels/resolve.ts'
import { ClusterSource } from '../../src/source/cluster-source.ts'
import { answerCalls, startAll } from '../agent-processes.ts'
import type { CountsCall, RequestCounts } from './agents-client.ts'
import { viewOf } from './cluster.ts'

/** The agent's own defaults. */
const CHANNELS: ChannelSettings = {
  channels: SETTINGS.channels.initial,
  namespace: SETTINGS.configNamespace.initial,
  key: SETTINGS.configKey.initial,
  defaultConfigMap: undefined,
}

const counts = { requests: 0, watches: 0, events: 0, metadataWatches: 0 }
const open = { watches: 0 }
const complaints: string[] = []
const sources: ClusterSource[] = []

/** The agent's port, with each call counted. */
class CountedApi implements KubeApi {
  readonly #api: KubeApi

  constructor(api: KubeApi) {
    this.#api = api
  }

  request(request: KubeRequest): Promise<KubeAnswer> {
    counts.requests += 1
    return this.#api.request(request)
  }

  async watch(request: KubeWatchRequest): Promise<KubeWatchEnd> {
    counts.watches += 1
    if (request.as !== undefined) counts.metadataWatches += 1
    open.watches += 1
    const onEvent: KubeWatchRequest['onEvent'] = (event) => {
      counts.events += 1
      request.onEvent(event)
    }
    return this.#api.watch({ ...request, onEvent }).finally(() => {
      open.watches -= 1
    })
  }
}

const complain = (message: string): void => void complaints.push(message)
const log: Log = { debug() {}, info() {}, warn: complain, error: complain }
const sleep = async (ms: number, signal: AbortSignal): Promise<void> => {
  await after(ms, undefined, { signal }).catch(() => {})
}
const pace = { nowMs: () => performance.now(), random: Math.random, sleep }

/** Resolves when the agent has read its ConfigMap. */
function startAgent(nodeName: string, kubeconfig: string): Promise<void> {
  const api = new CountedApi(openKubeApi(viewOf(kubeconfig), { userAgent: 'kubelet-cfg-agent/bench' }))
  const counters = { watchReconnected() {}, synced() {} }
  const source = new ClusterSource({ nodeName, api, pace, log, counters, channels: CHANNELS })
  sources.push(source)
  return new Promise((resolve) => {
    source.start(() => {
      const desired = source.desired()
      if (desired.kind === 'config-map' && desired.object.kind === 'found') resolve()
    })
  })
}

function currentCounts(): RequestCounts {
  return { ...counts, openWatches: open.watches, complaints: [...complaints] }
}

answerCalls<CountsCall, RequestCounts>(async (call) => {
  if (call.method === 'start') {
    await startAll(call, startAgent)
    while (open.watches < 2 * call.names.length) await after(50)
  }
  return currentCounts()
})
