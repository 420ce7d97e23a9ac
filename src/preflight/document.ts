// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the text of a candidate: into the config that kubelet decodes, with positions, or only to
 * see whether it can be decoded. It accepts exactly what `kubelet/decode.ts` accepts. Pure; what
 * parses YAML is passed in.
 */

import type { PreflightResult } from '../decision/verdict.ts'
import {
  type DecodeProblem,
  decodeText,
  describeEmptyFirst,
  EMPTY_CONFIG,
  findProblem,
  type KubeletConfig,
  listDocuments,
  looksLikeJson,
} from '../kubelet/decode.ts'
import { FIELDS, findMisfits, LAST_IN_TABLES, type Misfit } from '../kubelet/fields.ts'
import { findOffset, layOut, parseJsonText } from '../kubelet/json.ts'
import { explainJson } from '../kubelet/unreadable.ts'
import { type LocatedYaml, type Position, positionsIn, type YamlFailure, type YamlReader } from '../kubelet/yaml-document.ts'
import { keyOf, type PreflightRequest } from '../ports/preflight.ts'
import { isObject } from '../values/is-object.ts'
import { locateNearest } from './finding.ts'

export interface ConfigDocument extends Pick<LocatedYaml, 'locate' | 'repeated'> {
  readonly text: string
  /**
   * Fields that every kubelet since 1.20 has are of the right JSON types, at every depth.
   * `checkFields` checks the types of newer fields.
   */
  readonly config: KubeletConfig
  /** Where another document begins that is not empty: kubelet reads the first one alone. */
  readonly second?: Position | undefined
}

export interface DocumentFailure extends YamlFailure {
  /** All values of a wrong type, each with its place, where that is why. */
  readonly misfits: readonly LocatedMisfit[]
}

interface LocatedMisfit extends Misfit {
  readonly position: Position | undefined
}

type DocumentResult = { readonly ok: true; readonly document: ConfigDocument } | DocumentFailure

export async function readDocument(text: string, yaml: Pick<YamlReader, 'first'>, signal?: AbortSignal): Promise<DocumentResult> {
  if (text.trim() === '') return { ok: false, detail: EMPTY_CONFIG, position: undefined, misfits: [] }
  return looksLikeJson(text) ? readJson(text) : readYaml(text, yaml, signal)
}

async function readYaml(text: string, yaml: Pick<YamlReader, 'first'>, signal: AbortSignal | undefined): Promise<DocumentResult> {
  const parsed = await yaml.first(text, signal)
  if (!parsed.ok) return { ...parsed, misfits: [] }
  const { value, locate, repeated } = parsed
  const empty = describeEmptyFirst(value, text)
  if (empty !== undefined) return { ok: false, detail: empty.detail, position: { line: empty.line, column: 1 }, misfits: [] }
  const [, ...others] = listDocuments(text)
  const line = others.find(({ isEmpty }) => !isEmpty)?.line
  const second = line === undefined ? undefined : { line, column: 1 }
  return judge(value, findProblem(value, undefined), { text, locate, repeated, second })
}

function readJson(text: string): DocumentResult {
  const parsed = parseJsonText(text)
  if (!parsed.ok) return { ...explainJson(text, parsed), misfits: [] }
  const layout = layOut(text)
  const positionOf = positionsIn(text)
  const locate: ConfigDocument['locate'] = (path) => {
    const offset = path.length === 0 ? undefined : findOffset(layout, path)
    return offset === undefined ? undefined : positionOf(offset)
  }
  return judge(parsed.value, findProblem(parsed.value, text), { text, locate, repeated: [] })
}

function judge(value: unknown, problem: DecodeProblem | undefined, document: Omit<ConfigDocument, 'config'>): DocumentResult {
  if (problem === undefined) return { ok: true, document: { ...document, config: asConfig(value) } }
  const { detail, path, misfits } = problem
  // With those of fields that only later kubelets know, so that one look at the file is enough.
  const later = misfits.length === 0 ? [] : findMisfits(asConfig(value), FIELDS, LAST_IN_TABLES.minor)
  const all = [...misfits, ...later.filter(({ since }) => since !== undefined)]
  const located = all.map((misfit) => ({ ...misfit, position: locateNearest(document, misfit.path) }))
  return { ok: false, detail, position: locateNearest(document, path), misfits: located }
}

function asConfig(value: unknown): KubeletConfig {
  return isObject(value) ? value : {}
}

/**
 * Decodes a config alone, without kubelet's flags and drop-ins. It takes little time. The reason of
 * a refusal selects the text of the Node status: `load` means that kubelet cannot read the config.
 * One that kubelet may read differently is not refused: kubelet has run with it.
 */
export async function decodeCandidate(
  { source, data, localPath }: Pick<PreflightRequest, 'source' | 'data' | 'localPath'>,
  yaml: YamlReader,
): Promise<PreflightResult> {
  const key = keyOf({ source, localPath })
  const text = Object.hasOwn(data, key) ? data[key] : undefined
  if (text === undefined)
    return { kind: 'refused', reason: 'load', detail: `the ConfigMap has no key ${key} (its keys: ${listKeys(data)})` }
  const decoded = await decodeText(text, yaml)
  if (!decoded.ok && decoded.unjudged === true) return { kind: 'accepted', remarks: [decoded.detail], drain: [] }
  if (!decoded.ok) return { kind: 'refused', reason: 'load', detail: decoded.detail }
  return { kind: 'accepted', remarks: decoded.remarks, drain: [] }
}

/** The names of the files, cut to fit into a line. */
export function listKeys(data: PreflightRequest['data']): string {
  const keys = Object.keys(data)
  return keys.length === 0 ? 'none' : keys.join(', ').slice(0, 200)
}

/**
 * A config that kubelet falls back to has run before, with kubelet's flags and drop-ins, so no rule
 * judges it anew: its text alone may contradict itself where a flag or a drop-in completes it. The
 * candidate may have left something behind that keeps kubelet from starting with the fallback
 * (kubernetes issue 95041): then the fallback goes on, and a remark says what to do.
 *
 * @param remark takes no time; a fallback goes on without it
 */
export async function checkFallback(
  fallback: PreflightRequest,
  yaml: YamlReader,
  remark: (fallback: PreflightRequest) => Promise<readonly string[]>,
): Promise<PreflightResult> {
  const result = await decodeCandidate(fallback, yaml)
  if (result.kind !== 'accepted') return result
  const remarks = await remark(fallback).catch(() => [])
  return { ...result, remarks: [...result.remarks, ...remarks] }
}
