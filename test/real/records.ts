// SPDX-License-Identifier: Apache-2.0
/**
 * The records that the agent has to leave on disk and in the cluster, written down from the
 * reference and not from the agent's own code: the bytes of `meta/assigned`, the wire form of a
 * source, an event's name and message.
 */

/** A ConfigMap key in one version, in the order in which the API shows it. */
export interface Source {
  readonly kubeletConfigKey: string
  readonly name: string
  readonly namespace: string
  readonly resourceVersion: string
  readonly uid: string
}

/** `SerializedNodeConfigSource`, as kubelet 1.20 wrote it. */
export function assignedBytes(source: Source): string {
  return `apiVersion: kubelet.config.k8s.io/v1beta1
kind: SerializedNodeConfigSource
source:
  configMap:
    kubeletConfigKey: ${source.kubeletConfigKey}
    name: ${source.name}
    namespace: ${source.namespace}
    resourceVersion: "${source.resourceVersion}"
    uid: ${source.uid}
`
}

export function apiPath({ namespace, name }: Source): string {
  return `/api/v1/namespaces/${namespace}/configmaps/${name}`
}

/** As an event names it. */
export function labels(source: Source): string {
  return `${apiPath(source)}, UID: ${source.uid}, ResourceVersion: ${source.resourceVersion}, KubeletConfigKey: ${source.kubeletConfigKey}`
}

export interface HistoryLine {
  readonly atNs: string
  readonly kind: string
  readonly from?: Source | 'local'
  readonly to?: Source | 'local'
  readonly why: string
}

export function readHistory(text = ''): HistoryLine[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** `NODE.<unix nanoseconds in hex>` */
export function eventName(node: string, { atNs }: HistoryLine): string {
  return `${node}.${BigInt(atNs).toString(16)}`
}
