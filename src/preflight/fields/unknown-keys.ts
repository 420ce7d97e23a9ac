/**
 * Keys that kubelet drops without a word: mistyped, too new or too old for it, or repeated. Pure. Rule: `DecodeKubeletConfiguration`,
 * pkg/kubelet/kubeletconfig/util/codec, decodes strictly first, and leniently when that fails.
 */
import { nearest } from '../../agent/nearest.ts'
import type { KubeletConfig } from '../../kubelet/decode.ts'
import { listObjects } from '../../kubelet/field-types.ts'
import { FIELDS, type Field, type Fields, isKnown } from '../../kubelet/fields.ts'
import { formatPath } from '../field-path.ts'
import type { FieldPath } from '../finding.ts'
import { formatVersion, type KubeletVersion } from '../kubelet-version.ts'
import type { Complaint } from './complaint.ts'

/** Beyond, nobody reads them. */
export const MOST_KEYS = 50
const LONGEST_NAME = 80

export function checkKeys(config: KubeletConfig, version: KubeletVersion | undefined, severity: 'warn' | 'refuse'): Complaint[] {
  const complaints: Complaint[] = []
  let total = 0
  for (const [path, fields] of listUnknown(config, FIELDS, version?.minor, [])) {
    total += 1
    if (complaints.length < MOST_KEYS) complaints.push({ ...describeKey(path, fields, version), severity })
  }
  if (total > complaints.length)
    complaints.push({
      rule: 'unknown-key',
      path: [],
      problem: `${total - complaints.length} more keys that kubelet does not know`,
      severity,
    })
  return complaints
}

function* listUnknown(
  value: KubeletConfig,
  fields: Fields,
  minor: number | undefined,
  path: FieldPath,
): Generator<[path: FieldPath, fields: Fields]> {
  for (const [name, inner] of Object.entries(value)) {
    if (path.length === 0 && (name === 'apiVersion' || name === 'kind')) continue
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    const here = [...path, name]
    if (field === undefined || (minor !== undefined && !isKnown(field, minor))) yield [here, fields]
    else if (field.fields !== undefined) {
      for (const [object, at] of listObjects(field, inner, here)) yield* listUnknown(object, field.fields, minor, at)
    }
  }
}

function describeKey(path: FieldPath, fields: Fields, version: KubeletVersion | undefined): Complaint {
  const name = String(path.at(-1))
  const field: Field | undefined = Object.hasOwn(fields, name) ? fields[name] : undefined
  const label = shorten(formatPath(path))
  if (field === undefined || version === undefined) {
    const best =
      name.length > LONGEST_NAME
        ? undefined
        : nearest(name, path.length === 1 ? [...Object.keys(fields), 'kind', 'apiVersion'] : Object.keys(fields))
    return {
      rule: 'unknown-key',
      path,
      problem: `unknown field ${label}: kubelet ignores it`,
      advice: best === undefined ? undefined : `the nearest is ${best}`,
    }
  }
  const kubelet = `kubelet ${formatVersion(version)}`
  if (field.gone !== undefined && field.gone <= version.minor) {
    return { rule: 'gone', path, problem: `${label} is gone since kubelet 1.${field.gone}: ${kubelet} ignores it`, advice: 'take it out' }
  }
  const problem = `${label} came with kubelet 1.${field.since ?? ''}: ${kubelet} ignores it`
  return { rule: 'too-new', path, problem, advice: 'take it out, or upgrade kubelet first' }
}

function shorten(label: string): string {
  return label.length > 2 * LONGEST_NAME ? `${label.slice(0, 2 * LONGEST_NAME)}…` : label
}
