/**
 * A KubeletConfiguration inside the manifest of a ConfigMap, as repositories of configs keep it: its text, and where a place in that text stands in the file.
 * Pure but for the parser, which is loaded when a text looks like a manifest. Only a literal block (`kubelet: |`) has lines of the file for its own, and only
 * one that reads exactly as the parser has it is believed; elsewhere nothing is said of places.
 */

import type { ConfigMapData } from '../decision/config-source.ts'
import type { Position } from '../preflight/finding.ts'
import { dataOf } from '../source/kube-object.ts'
import { isObject, type JsonObject } from '../values/is-object.ts'

/** undefined: there is no telling where in the file that is. */
export type Place = (position: Position) => Position | undefined

export type ManifestReading =
  | { readonly kind: 'none' }
  | { readonly kind: 'found'; readonly data: ConfigMapData; readonly key: string; readonly place: Place }
  | { readonly kind: 'unclear'; readonly detail: string }

const KEY = 'kubelet'

export async function readManifestText(text: string): Promise<ManifestReading> {
  if (!/\bkind["']?\s*:\s*["']?ConfigMap\b/.test(text)) return { kind: 'none' }
  const { parseDocuments } = await import('../kubelet/yaml.ts')
  const parsed = parseDocuments(text)
  if (!parsed.ok) return { kind: 'none' }
  const found = parsed.documents.flatMap(({ value }) => (isConfigMap(value) ? [value] : []))
  const [configMap, ...others] = found
  if (configMap === undefined) return { kind: 'none' }
  if (others.length > 0) return { kind: 'unclear', detail: `it holds ${found.length} ConfigMaps: give one at a time` }
  const data = dataOf(configMap)
  if (data === undefined) return { kind: 'unclear', detail: 'data of its ConfigMap is not text by key' }
  const keys = Object.keys(data)
  const key = Object.hasOwn(data, KEY) ? KEY : keys[0]
  if (key === undefined) return { kind: 'unclear', detail: 'its ConfigMap has no data' }
  if (key !== KEY && keys.length > 1) {
    return {
      kind: 'unclear',
      detail: `its ConfigMap has the keys ${keys.join(', ').slice(0, 200)}, and none is ${KEY}: give the text of one`,
    }
  }
  return { kind: 'found', data, key, place: placeBlock(text, key, data[key] ?? '') }
}

function isConfigMap(value: unknown): value is JsonObject {
  return isObject(value) && value.kind === 'ConfigMap' && value.apiVersion === 'v1'
}

function placeBlock(text: string, key: string, value: string): Place {
  const lines = text.split(/\r?\n/)
  for (const [index, line] of lines.entries()) {
    const opening = /^\s*["']?([^"':\s]+)["']?\s*:\s*\|[-+]?\s*(#.*)?$/.exec(line)
    if (opening?.[1] !== key) continue
    const indent = /^ */.exec(lines.slice(index + 1).find((one) => one.trim() !== '') ?? '')?.[0].length ?? 0
    const isInside = (one: string) => one.trim() === '' || one.startsWith(' '.repeat(indent))
    const after = lines.slice(index + 1)
    const end = after.findIndex((one) => !isInside(one))
    const block = after.slice(0, end < 0 ? after.length : end).map((one) => one.slice(indent))
    if (block.join('\n').trimEnd() !== value.trimEnd()) continue
    return (position) => ({ line: position.line + index + 1, column: position.column + indent })
  }
  return () => undefined
}
