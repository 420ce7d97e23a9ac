// SPDX-License-Identifier: Apache-2.0
/**
 * The facts of a node that its Node object shows, from which values of its config may be computed.
 * Pure.
 */
import { isObject, type JsonObject } from '../values/is-object.ts'
import { isText } from '../values/json-shape.ts'

/**
 * Facts that the Node does not show are left out. So is kubelet's version: the Node shows that of
 * the last kubelet that registered, and a config would start another one.
 */
export interface NodeShown {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** Quantities as text. */
  readonly capacity: Readonly<Record<string, string>>
  readonly podCIDRs: readonly string[]
  readonly architecture?: string
}

/**
 * Pods are made by the config itself: what is computed from them would change with its own result.
 * A resource of a device plugin, which has a domain, is 0 after each start of kubelet until the
 * plugin has registered again: what is computed from it could restart kubelet for ever.
 */
function isSteady([resource]: readonly [resource: string, text: string]): boolean {
  return resource !== 'pods' && !resource.includes('/')
}

/** @returns undefined: it is no Kubernetes object */
export function readNodeShown(node: unknown): NodeShown | undefined {
  if (!isObject(node) || !isObject(node.metadata)) return undefined
  const [metadata, spec, status] = [node.metadata, toObject(node.spec), toObject(node.status)]
  const info = toObject(status.nodeInfo)
  const capacity = toTexts(status.capacity).filter(isSteady)
  const cidrs = Array.isArray(spec.podCIDRs) ? spec.podCIDRs.filter(isText) : []
  return {
    name: isText(metadata.name) ? metadata.name : '',
    labels: Object.fromEntries(toTexts(metadata.labels)),
    capacity: Object.fromEntries(capacity),
    podCIDRs: cidrs.length === 0 && isText(spec.podCIDR) && spec.podCIDR !== '' ? [spec.podCIDR] : cidrs,
    ...(isText(info.architecture) && { architecture: info.architecture }),
  }
}

function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

function toTexts(value: unknown): readonly (readonly [name: string, text: string])[] {
  return Object.entries(toObject(value)).flatMap(([name, text]) => (isText(text) ? [[name, text] as const] : []))
}
