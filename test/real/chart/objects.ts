// SPDX-License-Identifier: Apache-2.0
/** Objects of the Helm chart and of kustomize held against those of deploy/. Pure. */
import { parse, parseAllDocuments } from 'yaml'

export interface KubeObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> }
  readonly data?: Readonly<Record<string, string>>
  readonly rules?: readonly { readonly resourceNames?: readonly string[] }[]
  readonly subjects?: readonly object[]
  readonly spec?: {
    readonly selector?: object
    readonly template?: { readonly metadata?: object; readonly spec?: { readonly affinity?: object } }
  }
}

/** Their selectors name labels that Helm has. */
const SELECTING = ['DaemonSet', 'PodMonitor']

/** As Go's YAML reads it: 0400 is octal. */
export function parseObjects(text: string): readonly KubeObject[] {
  return parseAllDocuments(text, { version: '1.1' }).flatMap((document): KubeObject[] => document.toJS() ?? [])
}

export function keyOf({ kind, metadata: { name, namespace } }: KubeObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}

/** Without what is Helm's own: labels, their selectors, a checksum, the order of settings. */
export function withoutHelm(object: KubeObject): KubeObject {
  const { labels, ...metadata } = object.metadata
  const { spec, data } = object
  const settings = data?.['config.yaml']
  const bare = {
    ...object,
    metadata,
    ...(SELECTING.includes(object.kind) && spec && { spec: withoutSelectors(spec) }),
    ...(settings !== undefined && { data: { ...data, 'config.yaml': parse(settings) } }),
  }
  // The chart has them for each config with a rollout.
  return JSON.parse(JSON.stringify(bare).replace(/"(kubelet-cfg-agent:rollout(?:-events)?):node-config"/g, '"$1"'))
}

/** kustomize adds a line break to a folded expression, which is nothing to Prometheus. */
export function withoutFolds(object: KubeObject): KubeObject {
  return JSON.parse(JSON.stringify(object), (key, value) => (key === 'expr' ? value.replace(/\s+/g, ' ') : value))
}

function withoutSelectors(spec: NonNullable<KubeObject['spec']>): object {
  const { template, ...rest } = JSON.parse(JSON.stringify(spec), (key, value) => (key === 'matchLabels' ? {} : value))
  return { ...rest, ...(template && { template: { ...template, metadata: {} } }) }
}

/** The collection of its kind. */
export function pathOf({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): string {
  const api = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const plural = kind.toLowerCase().replace(/y$/, 'ie')
  return `${api}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}s/${encodeURIComponent(name)}`
}
