/**
 * What a Node object wants of its kubelet: `spec.configSource`, read as the API server validates it (`ValidateNodeSpecConfigSource`,
 * pkg/apis/core/validation of 1.20) and refused in upstream's words (`NewRemoteConfigSource`, pkg/kubelet/kubeletconfig/checkpoint/
 * download.go). Names that pass here are safe as path segments. Pure.
 */
import { isObject } from '../agent/is-object.ts'
import type { ConfigMapRef } from '../agent/model.ts'
import { ALL_NIL_SUBFIELDS_ERROR } from '../report/texts.ts'

export type Assignment =
  | { readonly kind: 'local' }
  | { readonly kind: 'invalid'; readonly detail: string }
  | { readonly kind: 'config-map'; readonly ref: ConfigMapRef }

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const CONFIG_MAP_KEY = /^[-._a-zA-Z0-9]+$/

export function readAssignment(node: unknown): Assignment {
  const spec = isObject(node) ? (node.spec ?? {}) : undefined
  if (!isObject(spec)) return invalid('the Node has a spec that is no object')
  const { configSource } = spec
  if (configSource === undefined || configSource === null) return { kind: 'local' }
  if (!isObject(configSource)) return invalid('configSource is no object')
  const { configMap } = configSource
  if (configMap === undefined || configMap === null) return { kind: 'invalid', detail: ALL_NIL_SUBFIELDS_ERROR }
  if (!isObject(configMap)) return invalid('configMap is no object')
  const { namespace, name, kubeletConfigKey } = configMap
  if (!isNamespace(namespace)) return invalid(`configMap.namespace ${quote(namespace)} is no DNS label`)
  if (!isObjectName(name)) return invalid(`configMap.name ${quote(name)} is no DNS subdomain`)
  if (!isConfigMapKey(kubeletConfigKey)) return invalid(`configMap.kubeletConfigKey ${quote(kubeletConfigKey)} is no ConfigMap key`)
  for (const field of ['uid', 'resourceVersion'])
    if (configMap[field] !== undefined && configMap[field] !== null && configMap[field] !== '')
      return invalid(`configMap.${field} must not be set in spec`)
  return { kind: 'config-map', ref: { namespace, name, kubeletConfigKey } }
}

export function isNamespace(value: unknown): value is string {
  return typeof value === 'string' && DNS_LABEL.test(value)
}

export function isObjectName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 253 && DNS_SUBDOMAIN.test(value)
}

/** `validation.IsConfigMapKey`: no path that means another directory, either. */
export function isConfigMapKey(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 253 && CONFIG_MAP_KEY.test(value) && value !== '.' && !value.startsWith('..')
}

function invalid(what: string): Assignment {
  return { kind: 'invalid', detail: `invalid NodeConfigSource, ${what}` }
}

function quote(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').slice(0, 80)
}
