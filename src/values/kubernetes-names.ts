// SPDX-License-Identifier: Apache-2.0
/**
 * The rules for names of namespaces, of objects and of keys in a ConfigMap (`IsDNS1123Label`,
 * `IsDNS1123Subdomain` and `IsConfigMapKey` of k8s.io/apimachinery `pkg/util/validation`). A name
 * that passes is safe as a segment of a request path. Pure.
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

/** Refuses `.` and names that begin with `..` as well: as paths they mean other directories. */
export function isConfigMapKey(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 253 && CONFIG_MAP_KEY.test(value) && value !== '.' && !value.startsWith('..')
}

/** A value for a message: escaped, and cut to 80 characters. */
export function quote(value: unknown): string {
  // The cut may leave half of a character.
  return (JSON.stringify(value) ?? 'undefined').slice(0, 80).replace(/\p{Cs}$/u, '')
}
