/**
 * Reads one file of the overlay as a patch. Pure; what parses YAML is passed in. Refuses ambiguous
 * files instead of guessing what they mean for kubelet. `apiVersion` and `kind` of a
 * KubeletConfiguration may be present (for editors) and are left out of the patch: a patch never
 * turns another kind of document into a KubeletConfiguration.
 */
import { isUtf8 } from 'node:buffer'
import { API_VERSION, KIND } from '../kubelet/decode.ts'
import type { Position, YamlReader } from '../kubelet/yaml-document.ts'
import { isObject } from '../values/is-object.ts'
import { findUnsafeInteger } from './unsafe-integer.ts'

export type Patch = Readonly<Record<string, unknown>>
export type PatchReading = { readonly ok: true; readonly patch: Patch } | { readonly ok: false; readonly detail: string }

const HEADER: Readonly<Record<string, string>> = { apiVersion: API_VERSION, kind: KIND }

export async function readPatch(bytes: Buffer, yaml: YamlReader): Promise<PatchReading> {
  if (!isUtf8(bytes)) return refuse('it is not valid UTF-8')
  const text = bytes.toString('utf8')
  const read = await yaml.firstOfAny(text)
  if (!read.ok) return refuse(read.detail)
  if (read.value === null) return refuse('it is empty; to patch nothing, write {} or remove it')
  if (!isObject(read.value)) return refuse('it is not a mapping of fields')
  const [repeated] = read.repeated
  if (repeated !== undefined) return refuse(`duplicate key${placeAt(repeated.position)}`)
  const all = await yaml.all(text)
  if (!all.ok) return refuse(all.detail)
  if (all.documents.length > 1) return refuse('it has more than one document')
  for (const [field, required] of Object.entries(HEADER)) {
    if (Object.hasOwn(read.value, field) && read.value[field] !== required)
      return refuse(`${field} is not ${required}, and no other document can be patched${placeAt(read.locate([field]))}`)
  }
  const unsafe = findUnsafeInteger(read.value)
  if (unsafe !== undefined) return refuse(`integer beyond 2^53 (cannot be written back exactly)${placeAt(read.locate(unsafe))}`)
  return { ok: true, patch: Object.fromEntries(Object.entries(read.value).filter(([field]) => !Object.hasOwn(HEADER, field))) }
}

function refuse(detail: string): PatchReading {
  return { ok: false, detail }
}

function placeAt(place: Position | undefined): string {
  return place === undefined ? '' : ` at line ${place.line}, column ${place.column}`
}
