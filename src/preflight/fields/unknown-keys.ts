/**
 * Finds keys that kubelet silently ignores: mistyped, too new or too old for it. Pure. Rule:
 * `DecodeKubeletConfiguration`, pkg/kubelet/kubeletconfig/util/codec, decodes strictly first, and
 * leniently when that fails.
 */
import type { KubeletConfig } from '../../kubelet/decode.ts'
import type { Field, Fields } from '../../kubelet/field.ts'
import { type FieldPath, formatPath } from '../../kubelet/field-path.ts'
import { listObjects } from '../../kubelet/field-types.ts'
import { FIELDS, isKnown } from '../../kubelet/fields.ts'
import { formatVersion, type KubeletVersion } from '../kubelet-version.ts'
import { type FieldProblem, shorten } from './complaint.ts'

/** Most keys to report one by one. */
export const MOST_KEYS = 20

export function checkKeys(config: KubeletConfig, version: KubeletVersion | undefined, severity: 'warn' | 'refuse'): FieldProblem[] {
  const complaints: FieldProblem[] = []
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

function describeKey(path: FieldPath, fields: Fields, version: KubeletVersion | undefined): FieldProblem {
  const name = String(path.at(-1))
  const field: Field | undefined = Object.hasOwn(fields, name) ? fields[name] : undefined
  const label = shorten(formatPath(path))
  if (field === undefined || version === undefined) {
    const known = [...Object.keys(fields), ...(path.length === 1 ? ['kind', 'apiVersion'] : [])]
    return { rule: 'unknown-key', path, problem: `unknown field ${label}: kubelet ignores it`, mistyped: { name, known } }
  }
  const kubelet = `kubelet ${formatVersion(version)}`
  if (field.gone !== undefined && field.gone <= version.minor) {
    const problem = `kubelet 1.${field.gone} removed ${label}: ${kubelet} ignores it`
    return { rule: 'gone', path, problem, advice: 'remove it' }
  }
  const problem = `${label} is new in kubelet 1.${field.since ?? ''}: ${kubelet} ignores it`
  return { rule: 'too-new', path, problem, advice: 'remove it, or upgrade kubelet first' }
}
