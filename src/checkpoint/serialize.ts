/**
 * `SerializedNodeConfigSource`: renders and parses the bytes of `meta/assigned` and the other
 * records, just as kubelet does. Pure. An empty file means local. Bytes that neither kubelet nor
 * the agent would write are rejected with a reason, never guessed at. So is a source with a field
 * that is not known, which may name another content, as `overlay` does.
 *
 * Upstream: `fsstore.go`, `saveNodeConfigSource` and `readNodeConfigSource` in Kubernetes 1.20
 * `pkg/kubelet/kubeletconfig/checkpoint/store`; upstream reads it leniently
 * (`DecodeRemoteConfigSource`, "non-strict so we don't error out on newer API keys").
 */
import type { ConfigMapSource, ConfigSource } from '../decision/config-source.ts'
import { checkSource } from '../decision/safe-names.ts'
import { decodeScalar, encodeScalar } from './yaml-scalar.ts'

const HEADER = ['apiVersion: kubelet.config.k8s.io/v1beta1', 'kind: SerializedNodeConfigSource', 'source:', '  configMap:']
/**
 * In alphabetical order. Without an overlay only kubelet's own fields are written; kubelet ignores
 * `overlay`.
 */
const FIELDS = ['kubeletConfigKey', 'name', 'namespace', 'overlay', 'resourceVersion', 'uid'] as const

/** The names in the source must have been checked. */
export function serializeSource(source: ConfigSource): string {
  if (source === 'local') return ''
  const lines = FIELDS.flatMap((field) => {
    const value = source[field]
    return value === undefined ? [] : [`    ${field}: ${encodeScalar(value)}`]
  })
  return `${[...HEADER, ...lines].join('\n')}\n`
}

export type ParsedSource =
  | { readonly ok: true; readonly source: ConfigSource }
  /** `isForeign`: a newer agent may have written it, and understands it. */
  | { readonly ok: false; readonly detail: string; readonly isForeign?: true }

export function parseSource(bytes: Uint8Array): ParsedSource {
  if (bytes.length === 0) return { ok: true, source: 'local' }
  const lines = Buffer.from(bytes).toString('latin1').replace(/\n$/, '').split('\n')
  for (const [at, expected] of HEADER.entries()) {
    if (lines[at] !== expected) return damaged(`line ${at + 1} is not \`${expected}\``)
  }
  const found = new Map<string, string>()
  for (const line of lines.slice(HEADER.length)) {
    const [, field, scalar] = /^ {4}(\w+): (.+)$/.exec(line) ?? []
    const value = scalar === undefined ? undefined : decodeScalar(scalar)
    if (field === undefined || value === undefined) return damaged('a line of the source is not a field with a valid name')
    if (found.has(field)) return damaged(`${field} occurs twice`)
    found.set(field, value)
  }
  const { namespace, name, kubeletConfigKey, uid, resourceVersion, overlay } = Object.fromEntries(found)
  if (namespace === undefined || name === undefined || kubeletConfigKey === undefined) return damaged('a field of the source is missing')
  if (uid === undefined || resourceVersion === undefined) return damaged('uid or resourceVersion is missing')
  const source: ConfigMapSource = { namespace, name, kubeletConfigKey, uid, resourceVersion, ...(overlay !== undefined && { overlay }) }
  const check = checkSource(source)
  if (!check.ok) return damaged(check.detail)
  const unknown = [...found.keys()].find((field) => !FIELDS.some((known) => known === field))
  return unknown === undefined ? { ok: true, source } : { ...damaged(`the source has an unknown field, ${unknown}`), isForeign: true }
}

function damaged(what: string): { readonly ok: false; readonly detail: string } {
  return { ok: false, detail: `not a SerializedNodeConfigSource: ${what}` }
}
