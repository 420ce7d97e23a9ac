// SPDX-License-Identifier: Apache-2.0
/**
 * The agent's source of assignments over real HTTPS against the test API server, on a clock that
 * only the agent's own pauses advance: a pause of a minute passes at once, and what happens on the
 * wire takes no time, however busy the machine is.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { nodeIdentity } from '../../demo/api-server/request.ts'
import { type ApiServer, type ApiServerOptions, startApiServer } from '../../demo/api-server/server.ts'
import { type KubeApiSetup, openKubeApi } from '../../src/compose/kube-api.ts'
import type { Desired } from '../../src/decision/desired.ts'
import { readKubeconfig } from '../../src/kube/credentials.ts'
import type { HttpsKubeApi } from '../../src/kube/kube-api.ts'
import { KubeconfigFile } from '../../src/kube/kubeconfig.ts'
import type { KubeApi } from '../../src/ports/kube-api.ts'
import type { Log } from '../../src/ports/log.ts'
import type { ChannelSettings } from '../../src/source/channels/resolve.ts'
import { ClusterSource, type ClusterSourceDeps } from '../../src/source/cluster-source.ts'
import type { WatchLimits, WatchTiming } from '../../src/source/watch-loop.ts'

export const NODE = 'n1'
export const NAMESPACE = 'kube-system'
/** Longer than a test file may take. */
const NEVER_MS = 24 * 3600_000
/** Nothing times out, however slow the machine is. */
export const PATIENT: WatchLimits = { inactivityMs: NEVER_MS, requestTimeoutMs: NEVER_MS }
/** Less what rounding takes off sums of fractions. */
const SECOND_MS = 999.999

/** A request at the moment when the agent starts it. */
interface Call {
  readonly atMs: number
  readonly object: string
  readonly verb: 'list' | 'get' | 'watch'
  readonly query: Readonly<Record<string, string>>
  readonly form: 'whole' | 'metadata'
}

export interface World {
  readonly server: ApiServer
  readonly source: ClusterSource
  readonly api: HttpsKubeApi
  readonly calls: Call[]
  readonly lines: string[]
  readonly counts: { reconnects: number; synced: number }
  readonly kubeconfigPath: string
  readonly nowMs: () => number
  readonly sleep: WatchTiming['sleep']
  /** In milliseconds. */
  readonly sleeps: readonly number[]
  readonly log: Log
  /** The resourceVersion of the ConfigMap, or the kind of the result without one. */
  seen(): string
}

export interface WorldOptions {
  readonly server?: ApiServerOptions
  /** Default: the kubeconfig of the node, with embedded certificates. */
  readonly kubeconfig?: (server: ApiServer) => string | undefined
  /**
   * Used as it is at each request, so a test can change it. By default no request ever times out.
   */
  readonly limits?: WatchLimits
  readonly client?: Partial<KubeApiSetup>
  readonly channels?: ChannelSettings
  readonly onNode?: ClusterSourceDeps['onNode']
  readonly random?: () => number
}

export async function startWorld(t: Test, options: WorldOptions = {}): Promise<World> {
  let sleptMs = 0
  const sleeps: number[] = []
  const nowMs = (): number => sleptMs
  const sleep: WatchTiming['sleep'] = async (ms, signal) => {
    sleeps.push(ms)
    await new Promise((resolve) => setTimeout(resolve, 1))
    if (!signal.aborted) sleptMs += ms
  }
  const pace: WatchTiming = { nowMs, random: options.random ?? Math.random, sleep }
  const server = await startApiServer({ now: nowMs, ...options.server })
  const kubeconfigPath = join(t.testdir({}), 'kubelet.conf')
  const text = options.kubeconfig === undefined ? server.kubeconfig(nodeIdentity(NODE)) : options.kubeconfig(server)
  if (text !== undefined) writeFileSync(kubeconfigPath, text, { mode: 0o600 })

  const lines: string[] = []
  const record = (message: string, fields?: object): void => void lines.push(`${message} ${JSON.stringify(fields ?? {})}`)
  const log: Log = { debug: record, info: record, warn: record, error: record }
  const kubeconfig = new KubeconfigFile(kubeconfigPath, (path) => readKubeconfig(path, () => performance.now()), log)
  const api = openKubeApi(kubeconfig, { userAgent: 'test', ...options.client })
  const calls: Call[] = []
  const counts = { reconnects: 0, synced: 0 }
  const source = new ClusterSource({
    nodeName: NODE,
    api: recorded(api, calls, nowMs),
    pace,
    log,
    counters: {
      watchReconnected: () => void counts.reconnects++,
      synced: () => void counts.synced++,
    },
    ...(options.channels && { channels: options.channels }),
    ...(options.onNode && { onNode: options.onNode }),
    ready: (signal) => kubeconfig.ready(sleep, signal),
    obstacle: () => kubeconfig.problem(),
    limits: options.limits ?? PATIENT,
  })
  t.teardown(async () => {
    await source.stop()
    await server.stop().catch(() => {})
  })
  return { server, source, api, calls, lines, counts, kubeconfigPath, nowMs, sleep, sleeps, log, seen: () => describe(source.desired()) }
}

function recorded(api: KubeApi, calls: Call[], nowMs: () => number): KubeApi {
  return {
    request(request) {
      const single = request.path.endsWith(`/${NODE}`) || /\/configmaps\/[^/]+$/.test(request.path)
      const { query = {} } = request
      const form = request.as === undefined ? 'whole' : 'metadata'
      if (request.method === 'GET') {
        calls.push({ atMs: nowMs(), object: objectOf(request.path, query), verb: single ? 'get' : 'list', query, form })
      }
      return api.request(request)
    },
    watch(request) {
      calls.push({
        atMs: nowMs(),
        object: objectOf(request.path, request.query),
        verb: 'watch',
        query: request.query,
        form: request.as === undefined ? 'whole' : 'metadata',
      })
      return api.watch(request)
    },
  }
}

function objectOf(path: string, query: Readonly<Record<string, string>>): string {
  const selected = query.fieldSelector?.replace('metadata.name=', '/') ?? ''
  return `${path}${selected}`
}

function describe(desired: Desired): string {
  if (desired.kind !== 'config-map') return desired.kind
  return desired.object.kind === 'found' ? `${desired.ref.name}=${desired.object.data.kubelet}` : JSON.stringify(desired.object)
}

export function putNode(server: ApiServer, configMapName: string | undefined): void {
  const configMap = { namespace: NAMESPACE, name: configMapName, kubeletConfigKey: 'kubelet' }
  server.objects.put({ kind: 'Node', metadata: { name: NODE }, spec: configMapName === undefined ? {} : { configSource: { configMap } } })
}

export function putConfigMap(server: ApiServer, name: string, text: string): void {
  server.objects.put({ kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE }, data: { kubelet: text } })
}

/**
 * For what must not take longer than a limit, such as the pause between two bytes. A busy machine
 * can stop this process itself for that long, so an attempt that fails is repeated with ten times
 * the limit.
 */
export async function withGrowingLimit(t: Test, attempt: (limitMs: number) => Promise<boolean>): Promise<void> {
  for (const limitMs of [250, 2500, 25_000, 250_000]) {
    if (await attempt(limitMs)) return
  }
  t.fail('it exceeds every limit')
}

/**
 * No two requests about one object start within a second, save a read and its watch, and those only
 * while all is well.
 */
export function assertPaced(t: Test, world: World): void {
  for (const object of new Set(world.calls.map((call) => call.object))) {
    const calls = world.calls.filter((call) => call.object === object)
    calls.forEach((call, i) => {
      const [before, previous] = [calls[i - 2], calls[i - 1]]
      if (previous === undefined || call.atMs - previous.atMs >= SECOND_MS) return
      const pair = previous.verb !== 'watch' && call.verb === 'watch' && (before === undefined || previous.atMs - before.atMs >= 10_000)
      if (!pair) t.fail(`${object}: ${call.verb} ${Math.round(call.atMs - previous.atMs)} ms after ${previous.verb}`)
    })
    const arrived = world.server.requests.filter(({ path, query }) => objectOf(path, Object.fromEntries(query)) === object).length
    t.ok(arrived <= calls.length, `nothing else repeats requests about ${object}`)
  }
}

export function assertNoSecrets(t: Test, world: World, secrets: readonly string[]): void {
  const output = `${world.lines.join('\n')}\n${JSON.stringify(world.source.desired())}`
  for (const secret of ['PRIVATE KEY', 'BEGIN CERTIFICATE', 'Bearer', ...secrets]) t.notOk(output.includes(secret), 'no secret is logged')
}
