/**
 * One file of the overlay as a patch. Pure; the YAML parser is passed in. A file that says anything unclear is refused: what it would mean for kubelet is not
 * guessed. It may say what it patches (`apiVersion` and `kind`, for editors), and that is left out of the patch: it makes no KubeletConfiguration of anything
 * else.
 */
import { isUtf8 } from 'node:buffer'
import { API_VERSION, KIND } from '../kubelet/decode.ts'
import type { Position } from '../kubelet/text-position.ts'
import type { LocatedYaml, YamlFailure } from '../kubelet/yaml-document.ts'
import { isObject } from '../values/is-object.ts'
import { findInexact } from './inexact.ts'

export interface PatchParser {
  parseLocated(text: string): ({ readonly ok: true } & LocatedYaml) | YamlFailure
  parseDocuments(text: string): { readonly ok: true; readonly documents: readonly unknown[] } | YamlFailure
}

export type Patch = Readonly<Record<string, unknown>>
export type PatchReading = { readonly ok: true; readonly patch: Patch } | { readonly ok: false; readonly detail: string }

const HEADER: Readonly<Record<string, string>> = { apiVersion: API_VERSION, kind: KIND }

export function readPatch(bytes: Buffer, parser: PatchParser): PatchReading {
  if (!isUtf8(bytes)) return refuse('it is not valid UTF-8')
  const text = bytes.toString('utf8')
  const read = parser.parseLocated(text)
  if (!read.ok) return refuse(read.detail)
  if (read.value === null) return refuse('it is empty; to patch nothing, write {} or remove it')
  if (!isObject(read.value)) return refuse('it is no mapping of fields')
  const [again] = read.repeated
  if (again !== undefined) return refuse(`the same key again${placeAt(again.position)}`)
  const all = parser.parseDocuments(text)
  if (!all.ok) return refuse(all.detail)
  if (all.documents.length > 1) return refuse('it has more than one document')
  for (const [field, wanted] of Object.entries(HEADER)) {
    if (Object.hasOwn(read.value, field) && read.value[field] !== wanted)
      return refuse(`${field} is not ${wanted}, and nothing else can be patched${placeAt(read.locate([field]))}`)
  }
  const inexact = findInexact(read.value)
  if (inexact !== undefined) return refuse(`a whole number that is too large to be written again as it is${placeAt(read.locate(inexact))}`)
  return { ok: true, patch: Object.fromEntries(Object.entries(read.value).filter(([field]) => !Object.hasOwn(HEADER, field))) }
}

function refuse(detail: string): PatchReading {
  return { ok: false, detail }
}

function placeAt(place: Position | undefined): string {
  return place === undefined ? '' : ` at line ${place.line}, column ${place.column}`
}
