/**
 * What a namespace, an object and a key of a ConfigMap may be called (`IsDNS1123Label`, `IsDNS1123Subdomain` and `IsConfigMapKey` of
 * k8s.io/apimachinery `pkg/util/validation`). What passes here is safe as a segment of a request path. Pure.
 */
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const CONFIG_MAP_KEY = /^[-._a-zA-Z0-9]+$/

export function isNamespace(value: unknown): value is string {
  return typeof value === 'string' && DNS_LABEL.test(value)
}

export function isObjectName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 253 && DNS_SUBDOMAIN.test(value)
}

/** No path that means another directory, either. */
export function isConfigMapKey(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 253 && CONFIG_MAP_KEY.test(value) && value !== '.' && !value.startsWith('..')
}

/** For a message: cut and escaped. */
export function quote(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').slice(0, 80)
}
