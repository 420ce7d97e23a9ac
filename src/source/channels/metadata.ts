// SPDX-License-Identifier: Apache-2.0
/**
 * The labels and annotations of Nodes and ConfigMaps, read from JSON or YAML of any shape. Pure.
 */

import { BASE_ANNOTATION, CANARY_LABEL, CONTROL_PLANE_LABEL, PAUSED_ANNOTATION, ROLLOUT_ANNOTATION } from '../../decision/channels.ts'
import type { Base, ClusterPause, NodeTraits, RolloutAnnotations } from '../../decision/desired.ts'
import { ROLLOUT_EXCLUDE_ANNOTATION, ROLLOUT_PLAN_ANNOTATION } from '../../rollout/plan.ts'
import { isObject } from '../../values/is-object.ts'
import { isConfigMapKey, isNamespace, isObjectName, quote } from '../../values/kubernetes-names.ts'

export interface Metadata {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/**
 * undefined: a value is not a string, for example `true` without quotes in a manifest. Both may be
 * missing.
 */
export function metadataOf(object: unknown): Metadata | undefined {
  const metadata = isObject(object) ? object.metadata : undefined
  if (!isObject(metadata)) return undefined
  const labels = readStringMap(metadata.labels)
  const annotations = readStringMap(metadata.annotations)
  return labels === undefined || annotations === undefined ? undefined : { labels, annotations }
}

function readStringMap(value: unknown): Readonly<Record<string, string>> | undefined {
  if (value === undefined || value === null) return {}
  if (!isObject(value)) return undefined
  const entries: [string, string][] = []
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string') return undefined
    entries.push([key, text])
  }
  return Object.fromEntries(entries)
}

/**
 * The pause annotation on the Node or on the assigned ConfigMap. A value other than `true`, `false`
 * and the empty one pauses too, and the message says so: a node that stays as it is does no harm.
 * @param name of the object that has the annotations
 * @returns undefined: not paused
 */
export function readPause({ annotations }: Metadata, on: ClusterPause['on'], name: string): ClusterPause | undefined {
  const value = annotations[PAUSED_ANNOTATION]
  if (value === undefined || value === '' || value === 'false') return undefined
  const by = `annotation ${PAUSED_ANNOTATION} of ${on} ${name}`
  return { on, by: value === 'true' ? by : `${by}, which is ${quote(value)} and neither true nor false` }
}

/** @returns undefined: neither a record nor a plan is there */
export function readRollout(configMap: unknown): RolloutAnnotations | undefined {
  const annotations = metadataOf(configMap)?.annotations ?? {}
  const [record, plan] = [annotations[ROLLOUT_ANNOTATION], annotations[ROLLOUT_PLAN_ANNOTATION]]
  const excluded = annotations[ROLLOUT_EXCLUDE_ANNOTATION]
  return record === undefined && plan === undefined ? undefined : { record, plan, ...(excluded !== undefined && { excluded }) }
}

export function readTraits(node: unknown): NodeTraits {
  const metadata = isObject(node) && isObject(node.metadata) ? node.metadata : {}
  const labels = metadataOf(node)?.labels ?? {}
  const createdMs = typeof metadata.creationTimestamp === 'string' ? Date.parse(metadata.creationTimestamp) : Number.NaN
  return {
    uid: typeof metadata.uid === 'string' ? metadata.uid : '',
    canary: labels[CANARY_LABEL] === 'true',
    controlPlane: labels[CONTROL_PLANE_LABEL] !== undefined,
    labels,
    ...(Number.isFinite(createdMs) && { createdMs }),
  }
}

/**
 * The annotation that makes a ConfigMap a part, and names what the part is merged over.
 * @returns undefined: the ConfigMap holds a whole config
 */
export function readBase(configMap: unknown): Base | undefined {
  const metadata = metadataOf(configMap)
  // A part must never count as a whole config, so what cannot be read is not "no annotation".
  if (metadata === undefined) return { kind: 'invalid', text: '', detail: 'labels or annotations of the ConfigMap are not maps of strings' }
  const text = metadata.annotations[BASE_ANNOTATION]
  if (text === undefined) return undefined
  if (text === 'local') return { kind: 'local', text }
  const reading = readConfigMapName(text)
  if (reading.ok) {
    const { namespace, name, key } = reading
    return { kind: 'config-map', text, ref: { namespace, name, kubeletConfigKey: key } }
  }
  const detail = `annotation ${BASE_ANNOTATION} of the ConfigMap: ${quote(text)} is neither local nor NAMESPACE/NAME[:KEY]`
  return { kind: 'invalid', text, detail }
}

type ConfigMapReading =
  | { readonly ok: true; readonly namespace: string; readonly name: string; readonly key: string | undefined }
  | { readonly ok: false; readonly detail: string }

/**
 * Reads `namespace/name` or `namespace/name:key`. The parts of a valid name are safe in a request
 * path.
 */
export function readConfigMapName(text: string): ConfigMapReading {
  const slash = text.indexOf('/')
  if (slash < 0) return refuse(`${quote(text)} is not of the form namespace/name or namespace/name:key`)
  const namespace = text.slice(0, slash)
  const colon = text.indexOf(':', slash)
  const name = text.slice(slash + 1, colon < 0 ? undefined : colon)
  const key = colon < 0 ? undefined : text.slice(colon + 1)
  if (!isNamespace(namespace)) return refuse(`namespace ${quote(namespace)} is not a DNS label`)
  if (!isObjectName(name)) return refuse(`name ${quote(name)} is not a DNS subdomain`)
  if (key !== undefined && !isConfigMapKey(key)) return refuse(`key ${quote(key)} is not a ConfigMap key`)
  return { ok: true, namespace, name, key }
}

function refuse(detail: string): ConfigMapReading {
  return { ok: false, detail }
}
