/** A ConfigMap as people write it: `namespace/name` or `namespace/name:key`. What is read here is safe in a request path. Pure. */
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
  if (!isNamespace(namespace)) return refuse(`namespace ${quote(namespace)} is no DNS label`)
  if (!isObjectName(name)) return refuse(`name ${quote(name)} is no DNS subdomain`)
  if (key !== undefined && !isConfigMapKey(key)) return refuse(`key ${quote(key)} is no ConfigMap key`)
  return { ok: true, namespace, name, key }
}

function refuse(detail: string): ConfigMapReading {
  return { ok: false, detail }
}
