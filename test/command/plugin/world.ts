// SPDX-License-Identifier: Apache-2.0
/**
 * The plugin against the test API server, over HTTPS with a kubeconfig, at a fixed time of the
 * wall clock. Nothing waits: a pause passes at once.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type ApiServer, type ApiServerOptions, startApiServer } from '../../../demo/api-server/server.ts'
import type { Consent } from '../../../src/command/consent.ts'
import type { PluginContext } from '../../../src/command/plugin/command.ts'
import { PLUGIN_PROGRAM, preparePlugin } from '../../../src/command/plugin/program.ts'
import type { InputReading } from '../../../src/command/read-input.ts'
import { runProgram } from '../../../src/command/run-program.ts'
import { openKubeApi } from '../../../src/compose/kube-api.ts'
import { readUserKubeconfig } from '../../../src/kube/credentials.ts'
import { formatDocument } from '../../../src/kubelet/yaml.ts'
import { inspectConfig, listConfigChanges } from '../../../src/preflight/parts.ts'
import { helperInPlace } from '../../helper/in-place-helper.ts'
import { IN_PLACE } from '../../kubelet/in-place-yaml.ts'

export const NAMESPACE = 'kube-system'
export const NOW_MS = Date.parse('2026-11-23T12:00:00Z')

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface PluginWorld {
  readonly server: ApiServer
  readonly context: { -readonly [K in keyof PluginContext]: PluginContext[K] }
  /** Standard input and files, by path. */
  readonly files: Map<string, string>
  /** The answer of the person at the terminal. */
  consent: Consent
  readonly questions: string[]
  /** Called at each pause of the command, with how long it would be. */
  onSleep: (ms: number) => void
  run(...args: string[]): Promise<Ran>
}

/**
 * The API with a kubelet that reports this config at /configz.
 * @param asked the paths that were asked for
 */
export function withConfigz(api: PluginContext['api'], kubeletconfig: object, asked: string[]): PluginContext['api'] {
  return {
    watch: (request) => api.watch(request),
    request: async (request) => {
      if (!request.path.endsWith('/configz')) return api.request(request)
      asked.push(request.path)
      return { kind: 'ok', object: { kubeletconfig } }
    },
  }
}

export interface PluginWorldOptions {
  readonly server?: ApiServerOptions
  readonly color?: boolean
  readonly width?: number
  readonly isWatched?: boolean
}

export async function startPluginWorld(t: Test, options: PluginWorldOptions = {}): Promise<PluginWorld> {
  const server = await startApiServer({ storesConfigSource: false, ...options.server })
  t.teardown(() => server.stop().catch(() => {}))
  const path = join(t.testdir({}), 'config')
  writeFileSync(path, server.kubeconfig(), { mode: 0o600 })
  const reading = readUserKubeconfig({ files: [path], context: undefined }, () => 0)
  const kubeconfig = { current: () => reading, forget: () => {} }
  const written = { out: '', err: '' }
  const stopper = new AbortController()
  const files = new Map<string, string>()
  let passedMs = 0
  const context: PluginWorld['context'] = {
    helper: helperInPlace(),
    api: openKubeApi(kubeconfig, { userAgent: 'test', wallMs: () => NOW_MS }),
    terminal: {
      out: (text) => {
        written.out += text
      },
      err: (text) => {
        written.err += text
      },
      color: options.color ?? false,
      width: options.width ?? 80,
    },
    isWatched: options.isWatched ?? false,
    namespace: NAMESPACE,
    yaml: IN_PLACE,
    version: '1.2.3',
    signal: stopper.signal,
    wallMs: () => NOW_MS,
    monotonicUs: () => passedMs * 1000,
    sleep: async (ms) => {
      passedMs += ms
      world.onSleep(ms)
    },
    readInput: async (name): Promise<InputReading> => {
      const text = files.get(name ?? '-')
      return text === undefined ? { kind: 'unreadable', code: 'ENOENT' } : { kind: 'read', bytes: Buffer.from(text) }
    },
    formatYaml: async (value) => formatDocument(value),
    ask: async (question) => {
      world.questions.push(question)
      return world.consent
    },
    inspect: (config, version, from) => inspectConfig(config, version, IN_PLACE, from),
    compare: async (before, after, version) => listConfigChanges(before, after, version),
  }
  const world: PluginWorld = {
    server,
    context,
    files,
    consent: 'nobody',
    questions: [],
    onSleep: () => {},
    run: async (...args) => {
      written.out = ''
      written.err = ''
      const build = { terminal: context.terminal, version: '1.2.3', platform: 'node 24.0.0, linux/x64' }
      const code = await runProgram(args, PLUGIN_PROGRAM, {
        ...build,
        prepare: (command, line) => preparePlugin(({ namespace = NAMESPACE }) => ({ ...context, namespace }), build, command, line),
      })
      return { code, ...written }
    },
  }
  return world
}

export interface NodeFields {
  /** The name of the ConfigMap that is assigned by label, and of its version. */
  readonly config?: string
  readonly version?: string
  readonly active?: object
  readonly ready?: readonly [status: string, reason: string, message: string]
  readonly degraded?: boolean
  readonly since?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  /** More fields of the agent's annotation. */
  readonly said?: object
  readonly kubelet?: string
  readonly spec?: object
  readonly kubeletVersion?: string
}

export function sourceOf(name: string, resourceVersion = '212'): object {
  return { configMap: { namespace: NAMESPACE, name, kubeletConfigKey: 'kubelet', uid: `uid-of-${name}`, resourceVersion } }
}

/** A Node as its agent leaves it. */
export function nodeObject(name: string, fields: NodeFields = {}) {
  const { config, version = '212', ready, since = '2026-11-23T11:00:00Z', said, kubelet = 'True', degraded = false } = fields
  const assigned = config === undefined ? undefined : sourceOf(config, version)
  const status = {
    assigned,
    active: fields.active ?? assigned,
    lastKnownGood: assigned,
    channel: config && 'label',
    agentVersion: '0.1.0',
    ...said,
  }
  const label = config === undefined ? {} : { 'kubelet-cfg-agent.node-restriction.kubernetes.io/config': config }
  const [readyStatus, reason, message] = ready ?? ['True', 'Promoted', `kube-system/${config}:kubelet@${version} has passed its trial`]
  const condition = (type: string, rest: object) => ({ type, lastTransitionTime: since, lastHeartbeatTime: since, ...rest })
  return {
    kind: 'Node',
    metadata: {
      name,
      labels: { ...label, ...fields.labels },
      annotations: { 'kubelet-cfg-agent.io/status': JSON.stringify(status), ...fields.annotations },
    },
    spec: fields.spec ?? {},
    status: {
      nodeInfo: { kubeletVersion: fields.kubeletVersion ?? 'v1.34.1' },
      conditions: [
        condition('Ready', { status: kubelet, reason: 'KubeletReady', message: '' }),
        condition('KubeletConfigReady', { status: readyStatus, reason, message }),
        condition('KubeletConfigDegraded', { status: degraded ? 'True' : 'False', reason: degraded ? reason : 'AsExpected', message: '' }),
      ],
    },
  }
}

/** A node whose config failed: it runs the good one. */
export function rolledBack(name: string, bad: string, good: string) {
  const message = `kube-system/${bad}:kubelet@226 failed, kube-system/${good}:kubelet@212 runs: kubelet exited 2 times: invalid MaxFiles 1, must be > 1`
  return nodeObject(name, {
    config: bad,
    version: '226',
    active: sourceOf(good),
    ready: ['False', 'RolledBack', message],
    degraded: true,
    said: { lastKnownGood: sourceOf(good), verdict: { state: 'confirmed', reason: 'crash-loop' }, error: 'kubelet exited 2 times' },
  })
}

export function putConfigMap(
  { server }: PluginWorld,
  name: string,
  text: string | undefined,
  annotations: Readonly<Record<string, string>> = {},
): void {
  server.objects.put({
    kind: 'ConfigMap',
    metadata: { name, namespace: NAMESPACE, annotations },
    data: text === undefined ? {} : { kubelet: text },
  })
}

/** As kubectl edit does: what is not edited stays. */
export function editConfigMap({ server }: PluginWorld, name: string, text: string): void {
  const object = server.objects.get('ConfigMap', name, NAMESPACE)
  if (object === undefined) throw new Error(`there is no ConfigMap ${name}`)
  server.objects.put({ ...object, data: { kubelet: text } })
}
