/**
 * A candidate out of its text: what kubelet decodes it to, and where everything stands. It takes exactly what `kubelet/decode.ts` takes, whose rules it uses.
 * Pure; the YAML library is loaded only for a text that is no JSON.
 */

import { findProblem, type KubeletConfig, looksLikeJson } from '../kubelet/decode.ts'
import { findOffset, layOut, parseJson } from '../kubelet/json.ts'
import { isObject } from '../values/is-object.ts'
import type { ConfigDocument } from './document.ts'
import type { Position } from './finding.ts'

export type DocumentResult =
  | { readonly ok: true; readonly document: ConfigDocument }
  | { readonly ok: false; readonly detail: string; readonly position: Position | undefined }

export async function readDocument(text: string): Promise<DocumentResult> {
  if (text.trim() === '') return { ok: false, detail: 'it is empty', position: undefined }
  return looksLikeJson(text) ? readJson(text) : readYaml(text)
}

async function readYaml(text: string): Promise<DocumentResult> {
  const { parseLocated } = await import('../kubelet/yaml.ts')
  const parsed = parseLocated(text)
  if (!parsed.ok) return { ok: false, detail: parsed.detail, position: parsed.position }
  const { value, locate, repeated } = parsed
  const problem = findProblem(value, undefined)
  if (problem !== undefined) return { ok: false, detail: problem.detail, position: locate(problem.path) }
  return { ok: true, document: { text, config: asConfig(value), locate, repeated } }
}

function readJson(text: string): DocumentResult {
  const parsed = parseJson(text)
  if (!parsed.ok) {
    const position = parsed.offset === undefined ? undefined : placesIn(text)(parsed.offset)
    return { ok: false, detail: parsed.detail, position }
  }
  const problem = findProblem(parsed.value, text)
  const layout = layOut(text)
  const placeOf = placesIn(text)
  const locate: ConfigDocument['locate'] = (path) => {
    const offset = path.length === 0 ? undefined : findOffset(layout, path)
    return offset === undefined ? undefined : placeOf(offset)
  }
  if (problem !== undefined) return { ok: false, detail: problem.detail, position: locate(problem.path) }
  const repeated = layout.repeated.map(({ path, offset }) => ({ path, position: placeOf(offset) }))
  return { ok: true, document: { text, config: asConfig(parsed.value), locate, repeated } }
}

/** Where an offset stands. The text is searched for line ends once, at the first question: a long text can hold thousands of repeated keys. */
function placesIn(text: string): (offset: number) => Position {
  let lineStarts: number[] | undefined
  return (offset) => {
    lineStarts ??= [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)]
    const line = countUpTo(lineStarts, offset)
    return { line, column: offset - (lineStarts[line - 1] ?? 0) + 1 }
  }
}

/** How many of the ascending numbers are at most `limit`. */
function countUpTo(ascending: readonly number[], limit: number): number {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((ascending[middle] ?? limit) <= limit) low = middle + 1
    else high = middle
  }
  return low
}

function asConfig(value: unknown): KubeletConfig {
  return isObject(value) ? value : {}
}
