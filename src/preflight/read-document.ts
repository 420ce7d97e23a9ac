/**
 * Parses the text of a candidate into the config that kubelet decodes, with positions. It accepts
 * exactly what `kubelet/decode.ts` accepts, and uses its rules. Pure; what parses YAML is passed
 * in.
 */

import { EMPTY_CONFIG, findProblem, type KubeletConfig, looksLikeJson } from '../kubelet/decode.ts'
import { findOffset, layOut, parseJson } from '../kubelet/json.ts'
import { positionsIn } from '../kubelet/text-position.ts'
import type { YamlFailure, YamlReader } from '../kubelet/yaml-document.ts'
import { isObject } from '../values/is-object.ts'
import type { ConfigDocument } from './document.ts'

export type DocumentResult = { readonly ok: true; readonly document: ConfigDocument } | YamlFailure

export async function readDocument(text: string, yaml: Pick<YamlReader, 'first'>, signal?: AbortSignal): Promise<DocumentResult> {
  if (text.trim() === '') return { ok: false, detail: EMPTY_CONFIG, position: undefined }
  return looksLikeJson(text) ? readJson(text) : readYaml(text, yaml, signal)
}

async function readYaml(text: string, yaml: Pick<YamlReader, 'first'>, signal: AbortSignal | undefined): Promise<DocumentResult> {
  const parsed = await yaml.first(text, signal)
  if (!parsed.ok) return parsed
  const { value, locate, repeated } = parsed
  const problem = findProblem(value, undefined)
  if (problem !== undefined) return { ok: false, detail: problem.detail, position: locate(problem.path) }
  return { ok: true, document: { text, config: asConfig(value), locate, repeated } }
}

function readJson(text: string): DocumentResult {
  const parsed = parseJson(text)
  if (!parsed.ok) {
    const position = parsed.offset === undefined ? undefined : positionsIn(text)(parsed.offset)
    return { ok: false, detail: parsed.detail, position, unjudged: parsed.unjudged }
  }
  const problem = findProblem(parsed.value, text)
  const layout = layOut(text)
  const positionOf = positionsIn(text)
  const locate: ConfigDocument['locate'] = (path) => {
    const offset = path.length === 0 ? undefined : findOffset(layout, path)
    return offset === undefined ? undefined : positionOf(offset)
  }
  if (problem !== undefined) return { ok: false, detail: problem.detail, position: locate(problem.path) }
  return { ok: true, document: { text, config: asConfig(parsed.value), locate, repeated: [] } }
}

function asConfig(value: unknown): KubeletConfig {
  return isObject(value) ? value : {}
}
