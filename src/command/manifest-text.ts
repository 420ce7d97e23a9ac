// SPDX-License-Identifier: Apache-2.0
/**
 * Reads a KubeletConfiguration in the manifest of a ConfigMap, as a repository keeps it: its text,
 * and where a place of that text is in the file. Places are known only for a literal block
 * (`kubelet: |`), whose lines are lines of the file, and only if the block equals the parsed value.
 * Parses only a text that looks like a manifest.
 */

import type { Base, RolloutAnnotations } from '../decision/desired.ts'
import type { FieldPath } from '../kubelet/field-path.ts'
import type { Position, YamlReader } from '../kubelet/yaml-document.ts'
import { readBase, readRollout } from '../source/channels/metadata.ts'
import { dataOf } from '../source/kube-object.ts'
import type { ConfigMapData } from '../subject/config-source.ts'
import { isObject, type JsonObject } from '../values/is-object.ts'

/**
 * Maps a place of the config to the file, by its position or the path of its field. undefined:
 * unknown.
 */
export type PlaceInFile = (position: Position, path: FieldPath) => Position | undefined

type ManifestReading =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'found'
      readonly data: ConfigMapData
      readonly key: string
      /** undefined: it holds a whole config. */
      readonly base: Base | undefined
      /** undefined: no annotation says anything about a rollout. */
      readonly rollout: RolloutAnnotations | undefined
      readonly place: PlaceInFile
    }
  | { readonly kind: 'unclear'; readonly detail: string }

/**
 * `MaxSecretSize` of k8s.io/api/core/v1, which limits a ConfigMap as well: all its values together.
 */
export const LONGEST_BYTES = 1024 * 1024
const KEY = 'kubelet'

export async function readManifestText(text: string, yaml: Pick<YamlReader, 'all'>): Promise<ManifestReading> {
  if (!/\bkind["']?\s*:\s*["']?ConfigMap(?:List)?\b/.test(text)) return { kind: 'none' }
  const parsed = await yaml.all(text)
  if (!parsed.ok) return { kind: 'none' }
  const found = parsed.documents.flatMap(({ value }) => listConfigMaps(value))
  const [configMap, ...others] = found
  if (configMap === undefined) return { kind: 'none' }
  if (others.length > 0) {
    const names = found.map((each) => (isObject(each.metadata) && typeof each.metadata.name === 'string' ? each.metadata.name : '?'))
    return { kind: 'unclear', detail: `it contains ${found.length} ConfigMaps: give one at a time (${names.join(', ').slice(0, 200)})` }
  }
  const data = dataOf(configMap)
  if (data === undefined) return { kind: 'unclear', detail: 'data of its ConfigMap is not a map of texts' }
  const keys = Object.keys(data)
  const key = Object.hasOwn(data, KEY) ? KEY : keys[0]
  if (key === undefined) return { kind: 'unclear', detail: 'its ConfigMap has no data' }
  if (key !== KEY && keys.length > 1) {
    return {
      kind: 'unclear',
      detail:
        `its ConfigMap has the keys ${keys.join(', ').slice(0, 200)}, but not ${KEY}: save the text of one of them as a ` +
        'file and give that',
    }
  }
  return {
    kind: 'found',
    data,
    key,
    base: readBase(configMap),
    rollout: readRollout(configMap),
    place: placeBlock(text, key, data[key] ?? ''),
  }
}

/** The object, or the items of a list. Those of a ConfigMapList need no kind. */
function listConfigMaps(value: unknown): JsonObject[] {
  if (isConfigMap(value)) return [value]
  if (!isObject(value) || value.apiVersion !== 'v1' || !Array.isArray(value.items)) return []
  if (value.kind === 'List') return value.items.filter(isConfigMap)
  return value.kind === 'ConfigMapList' ? value.items.filter(isObject) : []
}

function isConfigMap(value: unknown): value is JsonObject {
  return isObject(value) && value.kind === 'ConfigMap' && value.apiVersion === 'v1'
}

function placeBlock(text: string, key: string, value: string): PlaceInFile {
  const lines = text.split(/\r?\n/)
  for (const [index, line] of lines.entries()) {
    const opening = /^\s*["']?([^"':\s]+)["']?\s*:\s*\|[-+]?\s*(#.*)?$/.exec(line)
    if (opening?.[1] !== key) continue
    const indent = /^ */.exec(lines.slice(index + 1).find((candidate) => candidate.trim() !== '') ?? '')?.[0].length ?? 0
    const isInside = (candidate: string) => candidate.trim() === '' || candidate.startsWith(' '.repeat(indent))
    const after = lines.slice(index + 1)
    const end = after.findIndex((candidate) => !isInside(candidate))
    const block = after.slice(0, end < 0 ? after.length : end).map((inner) => inner.slice(indent))
    if (block.join('\n').trimEnd() !== value.trimEnd()) continue
    return (position) => ({ line: position.line + index + 1, column: position.column + indent })
  }
  return () => undefined
}
