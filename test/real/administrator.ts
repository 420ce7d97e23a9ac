// SPDX-License-Identifier: Apache-2.0
/**
 * The administrator of the cluster, who has kubectl and nothing else: changes ConfigMaps and
 * assignments, and reads what the node says of itself. Each change is one real kubectl command;
 * what the node says is read from the API at once, since tests wait for it. ConfigMaps are in
 * kube-system, as the documentation has them, under names that begin with the node's, so that one
 * cluster does for all tests.
 */
import { strict as assert } from 'node:assert'
import { isObject } from '../../src/values/is-object.ts'
import type { ControlPlane } from './lab/control-plane.ts'
import { eventually } from './lab/eventually.ts'
import { CONFIG_SOURCE_ANNOTATION, STATUS_ANNOTATION } from './node-words.ts'
import type { Source } from './records.ts'

/** `status.config` with what is local left out, as the API shows it. */
interface ExpectedStatus {
  readonly assigned?: Source
  readonly active?: Source
  readonly lastKnownGood?: Source
  readonly error?: string
}

interface NodeEvent {
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly involvedObject: { readonly kind: string; readonly name: string; readonly uid: string }
  readonly type: string
  readonly reason: string
  readonly message: string
  readonly source: { readonly component: string; readonly host: string }
  readonly count: number
}

export interface ConfigMapMetadata {
  readonly name: string
  readonly namespace: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** The agent's report on the node by the condition `KubeletConfigReady`. */
export interface Condition {
  readonly status: string
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime: string
  readonly lastHeartbeatTime: string
}
const CONDITION_FIELDS = ['status', 'reason', 'message', 'lastTransitionTime'] as const

const NAMESPACE = 'kube-system'
const inNamespace = ['-n', NAMESPACE]

export class Administrator {
  readonly #plane: ControlPlane
  readonly #node: string

  constructor(plane: ControlPlane, node: string) {
    this.#plane = plane
    this.#node = node
  }

  /** Creates a ConfigMap, whose key is `kubelet` where `data` is a text. */
  async createConfigMap(name: string, data: string | Readonly<Record<string, string>>): Promise<Source> {
    const files = typeof data === 'string' ? { kubelet: data } : data
    const literals = Object.entries(files).map(([key, text]) => `--from-literal=${key}=${text}`)
    return sourceOf(await this.kubectl(...inNamespace, 'create', 'configmap', this.nameOf(name), ...literals, '-o', 'json'))
  }

  /** Any object, from a manifest on standard input. */
  async create(object: object): Promise<void> {
    await this.#plane.kubectl(['create', '-f', '-'], { input: JSON.stringify(object) })
  }

  /** Makes or edits one as a manifest says it, all of it at once; returns its version then. */
  async applyConfigMap(metadata: ConfigMapMetadata, kubelet: string): Promise<string> {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { kubelet } }
    const applied = await this.#plane.kubectl(['apply', '-o', 'json', '-f', '-'], { input: JSON.stringify(object) })
    return JSON.parse(applied).metadata.resourceVersion
  }

  /** In place. */
  async editConfigMap(name: string, text: string): Promise<Source> {
    const patched = await this.kubectl(
      ...inNamespace,
      'patch',
      'configmap',
      this.nameOf(name),
      '--type=merge',
      '-p',
      JSON.stringify({ data: { kubelet: text } }),
      '-o',
      'json',
    )
    return sourceOf(patched)
  }

  async labelConfigMap(name: string, label: string): Promise<Source> {
    await this.kubectl(...inNamespace, 'label', 'configmap', this.nameOf(name), label)
    // `kubectl label -o json` prints the object as it was.
    return this.source(name)
  }

  async deleteConfigMap(name: string): Promise<void> {
    await this.kubectl(...inNamespace, 'delete', 'configmap', this.nameOf(name))
  }

  /** As it is now. */
  async source(name: string, kubeletConfigKey = 'kubelet'): Promise<Source> {
    return sourceOf(await this.#plane.read(`/api/v1/namespaces/${NAMESPACE}/configmaps/${this.nameOf(name)}`), kubeletConfigKey)
  }

  async assign(name: string, kubeletConfigKey = 'kubelet'): Promise<void> {
    await this.assignSource({ name: this.nameOf(name), namespace: NAMESPACE, kubeletConfigKey })
  }

  /** By `configSource`, or by the annotation where the API server drops that. */
  async assignSource({ name, namespace, kubeletConfigKey }: Omit<Source, 'uid' | 'resourceVersion'>): Promise<void> {
    if (this.#plane.hasConfigSource) await this.patchSpec({ configSource: { configMap: { name, namespace, kubeletConfigKey } } })
    else await this.#annotate(`${CONFIG_SOURCE_ANNOTATION}=${namespace}/${name}:${kubeletConfigKey}`)
  }

  async unassign(): Promise<void> {
    if (this.#plane.hasConfigSource) await this.patchSpec({ configSource: null })
    else await this.#annotate(`${CONFIG_SOURCE_ANNOTATION}-`)
  }

  async #annotate(change: string): Promise<void> {
    await this.kubectl('annotate', '--overwrite', 'node', this.#node, change)
  }

  async patchSpec(spec: object): Promise<void> {
    await this.kubectl('patch', 'node', this.#node, '-p', JSON.stringify({ spec }))
  }

  /** `status.config`, or what the annotation has of it where the API server drops that. */
  async status(): Promise<unknown> {
    if (this.#plane.hasConfigSource) return this.statusConfig()
    const { assigned, active, lastKnownGood, error } = await this.annotation()
    return { ...(assigned && { assigned }), ...(active && { active }), ...(lastKnownGood && { lastKnownGood }), ...(error && { error }) }
  }

  /** `status.config` of the Node; undefined: there is none. */
  async statusConfig(): Promise<unknown> {
    return JSON.parse(await this.#read()).status.config
  }

  /** Waits until the Node says just this of itself. */
  async untilStatus({ assigned, active, lastKnownGood, error }: ExpectedStatus, timeoutMs = 60_000): Promise<void> {
    const expected = {
      ...(assigned && { assigned: { configMap: assigned } }),
      ...(active && { active: { configMap: active } }),
      ...(lastKnownGood && { lastKnownGood: { configMap: lastKnownGood } }),
      ...(error !== undefined && { error }),
    }
    const probe = async (): Promise<true> => {
      assert.deepEqual(pointToLog(await this.status(), error), expected)
      return true
    }
    await eventually(probe, { what: 'the Node shows this status', timeoutMs })
  }

  /** The annotation in which the agent says all that it says; undefined: there is none. */
  async statusText(): Promise<string | undefined> {
    const { metadata } = JSON.parse(await this.#read())
    return metadata.annotations?.[STATUS_ANNOTATION]
  }

  /** The same, read. Without one it is empty. */
  async annotation() {
    return JSON.parse((await this.statusText()) ?? '{}')
  }

  /**
   * Waits until it says so: it is written on its own, sooner or later than the condition. `isSo`
   * may throw.
   */
  untilAnnotation(what: string, isSo: (annotation: Awaited<ReturnType<Administrator['annotation']>>) => boolean) {
    const probe = async () => {
      const annotation = await this.annotation()
      return isSo(annotation) ? annotation : undefined
    }
    return eventually(probe, { what: `the annotation has ${what}`, timeoutMs: 60_000 })
  }

  async condition(): Promise<Condition | undefined> {
    return (await this.conditions()).find(({ type }) => type === 'KubeletConfigReady')
  }

  /** All of the Node. Kubelet's own have no reason. */
  async conditions(): Promise<readonly (Condition & { readonly type: string })[]> {
    return JSON.parse(await this.#read()).status.conditions ?? []
  }

  /** Waits until it says all of that; what is not named may be anything. */
  async untilCondition(
    expected: { readonly [field in (typeof CONDITION_FIELDS)[number]]?: string | RegExp },
    timeoutMs = 60_000,
  ): Promise<Condition> {
    const probe = async (): Promise<Condition> => {
      const found = await this.condition()
      assert(found !== undefined, 'the Node has no condition KubeletConfigReady')
      for (const field of CONDITION_FIELDS) {
        const value = expected[field]
        if (value instanceof RegExp) assert.match(found[field], value)
        else if (value !== undefined) assert.equal(found[field], value)
      }
      return found
    }
    return eventually(probe, { what: `the condition says ${expected.status} ${expected.reason}`, timeoutMs })
  }

  /**
   * The agent's about the Node, in the order of their names, which is that of time. A real kubelet
   * has its own.
   */
  async events(): Promise<NodeEvent[]> {
    const about = encodeURIComponent(`involvedObject.kind=Node,involvedObject.name=${this.#node}`)
    const { items } = JSON.parse(await this.#plane.read(`/api/v1/namespaces/default/events?fieldSelector=${about}`))
    const events: NodeEvent[] = items
    const ours = events.filter(({ source }) => source.component === 'kubelet-cfg-agent')
    return ours.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  }

  /** Waits until there are just these, as `Reason: message`. */
  async untilEvents(...expected: readonly string[]): Promise<NodeEvent[]> {
    return eventually(
      async () => {
        const events = await this.events()
        assert.deepEqual(
          events.map(({ reason, message }) => `${reason}: ${message}`),
          expected,
        )
        return events
      },
      { what: 'these events are there', timeoutMs: 60_000 },
    )
  }

  /** The Node. */
  #read(): Promise<string> {
    return this.#plane.read(`/api/v1/nodes/${this.#node}`)
  }

  nameOf(configMap: string): string {
    return `${this.#node}-${configMap}`
  }

  kubectl(...args: readonly string[]): Promise<string> {
    return this.#plane.kubectl(args)
  }
}

/** @param configMap the object, as JSON */
function sourceOf(configMap: string, kubeletConfigKey = 'kubelet'): Source {
  const { name, namespace, resourceVersion, uid } = JSON.parse(configMap).metadata
  return { kubeletConfigKey, name, namespace, resourceVersion, uid }
}

/**
 * The annotation has the cause itself where `status.config` points to a log: that one is held
 * against what is expected of the other.
 */
export function pointToLog<T>(status: T, expectedError: string | undefined): T {
  const [, what] = /^(.+), see \S+ log for details$/.exec(expectedError ?? '') ?? []
  if (what === undefined || !isObject(status) || typeof status.error !== 'string') return status
  const hasCause = status.error.startsWith(`${what}: `) && status.error.length > `${what}: `.length
  return hasCause ? { ...status, error: expectedError } : status
}
