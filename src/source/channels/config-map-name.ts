/**
 * Reads `namespace/name` or `namespace/name:key`. The parts of a valid name are safe in a request
 * path. Pure.
 */
import { isConfigMapKey, isNamespace, isObjectName, quote } from '../../values/kubernetes-names.ts'

export type ConfigMapReading =
  | { readonly ok: true; readonly namespace: string; readonly name: string; readonly key: string | undefined }
  | { readonly ok: false; readonly detail: string }

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
