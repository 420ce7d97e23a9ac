/**
 * A KubeletConfiguration out of a text, as kubelet decodes it: strict about JSON types, lenient about fields it does not know. Pure: the YAML parser is
 * passed in, so that it need not be loaded for JSON. Rules: `DecodeKubeletConfiguration`, pkg/kubelet/kubeletconfig/util/codec; what opens with `{` is JSON
 * and nothing else (`IsJSONBuffer`, k8s.io/apimachinery).
 */

import { misfit } from './field-types.ts'
import { FIELD_TYPES, isFieldName } from './fields.ts'

export const API_VERSION = 'kubelet.config.k8s.io/v1beta1'
export const KIND = 'KubeletConfiguration'

/** Where kubelet's decoder gives up (`maxDepth`, github.com/json-iterator/go). */
const DEEPEST = 10_000

export type Decoded =
  | { readonly ok: true; readonly config: KubeletConfig; readonly remarks: readonly string[] }
  | { readonly ok: false; readonly detail: string }
/** By field name; every known field has the type of its row in FIELD_TYPES, or is null. */
export type KubeletConfig = Readonly<Record<string, unknown>>

export type YamlParser = (
  text: string,
) => { readonly ok: true; readonly value: unknown; readonly remarks: readonly string[] } | { readonly ok: false; readonly detail: string }

export function looksLikeJson(text: string): boolean {
  return text.trimStart().startsWith('{')
}

export function decodeConfig(text: string, parseYaml: YamlParser): Decoded {
  if (text.trim() === '') return { ok: false, detail: 'it is empty' }
  const parsed = looksLikeJson(text) ? parseJson(text) : parseYaml(text)
  if (!parsed.ok) return parsed
  const { value } = parsed
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { ok: false, detail: 'it is no object' }
  const config = value as KubeletConfig
  const problem = checkKind(config) ?? checkTypes(config)
  if (problem !== undefined) return { ok: false, detail: problem }
  const unknown = Object.keys(config).filter((name) => name !== 'apiVersion' && name !== 'kind' && !isFieldName(name))
  return {
    ok: true,
    config,
    remarks: [...parsed.remarks, ...unknown.map((name) => `unknown field ${JSON.stringify(name)}: kubelet ignores it`)],
  }
}

function checkKind({ apiVersion, kind }: KubeletConfig): string | undefined {
  if (kind !== KIND) return `kind is ${describe(kind)}, not ${KIND}`
  return apiVersion === API_VERSION ? undefined : `apiVersion is ${describe(apiVersion)}, not ${API_VERSION}`
}

function checkTypes(config: KubeletConfig): string | undefined {
  for (const [name, value] of Object.entries(config)) {
    const wanted = isFieldName(name) ? misfit(FIELD_TYPES[name], value) : undefined
    if (wanted !== undefined) return `${name} must be ${wanted}`
  }
  return undefined
}

function parseJson(text: string): ReturnType<YamlParser> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The error of the engine quotes the text.
    return { ok: false, detail: 'it opens with { but is not JSON' }
  }
  return isDeep(value) ? { ok: false, detail: `it is nested more than ${DEEPEST} deep` } : { ok: true, value, remarks: [] }
}

/** Level by level: the stack has an end, too. */
function isDeep(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST) return true
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return false
}

function describe(value: unknown): string {
  if (value === undefined) return 'not set'
  return typeof value === 'object' && value !== null ? 'no text' : JSON.stringify(value).slice(0, 80)
}
