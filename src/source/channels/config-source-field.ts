// SPDX-License-Identifier: Apache-2.0
/**
 * A NodeConfigSource, in `spec.configSource` of a Node or in the annotation of the channel
 * `annotation`. Validates it as the API server does (`ValidateNodeSpecConfigSource`,
 * pkg/apis/core/validation of 1.20); errors have upstream's texts (`NewRemoteConfigSource`,
 * pkg/kubelet/kubeletconfig/checkpoint/download.go). Pure.
 */

import { CONFIG_SOURCE_ANNOTATION } from '../../decision/channels.ts'
import { ALL_NIL_SUBFIELDS_ERROR } from '../../decision/status-texts.ts'
import type { ConfigMapRef } from '../../subject/config-source.ts'
import { isObject } from '../../values/is-object.ts'
import { isConfigMapKey, isNamespace, isObjectName, quote } from '../../values/kubernetes-names.ts'
import { readConfigMapName } from './metadata.ts'

export type Assignment =
  | { readonly kind: 'local' }
  | { readonly kind: 'invalid'; readonly detail: string }
  | { readonly kind: 'config-map'; readonly ref: ConfigMapRef }

export function readAssignment(node: unknown): Assignment {
  const spec = isObject(node) ? (node.spec ?? {}) : undefined
  if (!isObject(spec)) return invalid('spec of the Node is not an object')
  const { configSource } = spec
  return configSource === undefined || configSource === null ? { kind: 'local' } : readConfigSource(configSource)
}

/** Reads a NodeConfigSource: from the Node's spec or from an annotation. */
function readConfigSource(configSource: unknown): Exclude<Assignment, { kind: 'local' }> {
  if (!isObject(configSource)) return invalid('configSource is not an object')
  const { configMap } = configSource
  if (configMap === undefined || configMap === null) return { kind: 'invalid', detail: ALL_NIL_SUBFIELDS_ERROR }
  if (!isObject(configMap)) return invalid('configMap is not an object')
  const { namespace, name, kubeletConfigKey } = configMap
  const missing = ['namespace', 'name', 'kubeletConfigKey'].find((field) => (configMap[field] ?? '') === '')
  if (missing !== undefined) return invalid(`configMap.${missing} is missing`)
  if (!isNamespace(namespace)) return invalid(`configMap.namespace ${quote(namespace)} is not a DNS label`)
  if (!isObjectName(name)) return invalid(`configMap.name ${quote(name)} is not a DNS subdomain`)
  if (!isConfigMapKey(kubeletConfigKey)) return invalid(`configMap.kubeletConfigKey ${quote(kubeletConfigKey)} is not a ConfigMap key`)
  for (const field of ['uid', 'resourceVersion'])
    if (configMap[field] !== undefined && configMap[field] !== null && configMap[field] !== '')
      return invalid(`configMap.${field} must not be set in spec`)
  return { kind: 'config-map', ref: { namespace, name, kubeletConfigKey } }
}

function invalid(what: string): Extract<Assignment, { kind: 'invalid' }> {
  return { kind: 'invalid', detail: `invalid NodeConfigSource, ${what}` }
}

const NO_CONFIG_MAP = 'the key configMap is missing, as in {"configMap":{"namespace":"…","name":"…","kubeletConfigKey":"…"}}'

/**
 * The annotation channel: `namespace/name[:key]`, or a NodeConfigSource as JSON, as in the Node's
 * spec. A node can write its own annotations, so this channel can be switched off in the settings.
 */
export function readSourceAnnotation(text: string, defaultKey: string): Exclude<Assignment, { kind: 'local' }> {
  const trimmed = text.trim()
  const read = trimmed.startsWith('{') ? readJson(trimmed) : readName(trimmed, defaultKey)
  return read.kind === 'invalid' ? { kind: 'invalid', detail: `annotation ${CONFIG_SOURCE_ANNOTATION}: ${read.detail}` } : read
}

function readName(text: string, defaultKey: string): Exclude<Assignment, { kind: 'local' }> {
  const reading = readConfigMapName(text)
  if (!reading.ok) return { kind: 'invalid', detail: reading.detail }
  const { namespace, name, key = defaultKey } = reading
  return { kind: 'config-map', ref: { namespace, name, kubeletConfigKey: key } }
}

function readJson(text: string): Exclude<Assignment, { kind: 'local' }> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { kind: 'invalid', detail: 'it is not valid JSON' }
  }
  // Upstream's text for an empty source speaks of subfields, which says nothing of the key.
  if (isObject(value) && (value.configMap ?? null) === null) return { kind: 'invalid', detail: NO_CONFIG_MAP }
  return readConfigSource(value)
}
