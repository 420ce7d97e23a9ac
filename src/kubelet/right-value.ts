// SPDX-License-Identifier: Apache-2.0
/**
 * The value to write in place of one of the wrong type. Pure. The advice repeats a value only if
 * that is a number, true or false, or in the syntax of the kubelet flag of the same name, which
 * holds no secret. Flags: `AddKubeletConfigFlags`, cmd/kubelet/app/options, with `MapStringString`,
 * `LangleSeparatedMapStringString`, `MapStringBool`, `ReservedMemoryVar` and
 * `RegisterWithTaintsVar`.
 */
import { isObject } from '../values/is-object.ts'
import type { FieldType } from './field.ts'
import type { FieldPath } from './field-path.ts'
import { describeMark } from './left-marks.ts'

const LONGEST_FLAG = 400
const DECIMAL = /^-?\d{1,18}$/
/** A list of plain words. */
const WORDS = /^[\w.:/*-]+(?:,[\w.:/*-]+)*$/

export function adviseValue(type: FieldType, value: unknown, path: FieldPath): string | undefined {
  const mark = describeMark(value)
  if (mark !== undefined) return mark
  switch (type) {
    case 'string':
      return adviseText(value, path)
    case 'boolean':
      return adviseBoolean(value)
    case 'int32':
    case 'int64':
    case 'uint32':
    case 'number':
      return adviseNumber(value)
    case 'duration':
    case 'nullable-duration':
      return adviseDuration(value)
    case 'strings':
      return adviseList(value, path)
    case 'string-map':
    case 'boolean-map':
    case 'objects':
      return adviseCollection(type, value, path)
    default:
      return undefined
  }
}

const SIGNALS = ['evictionHard', 'evictionSoft', 'evictionMinimumReclaim']
const RESERVED = ['systemReserved', 'kubeReserved']

function adviseText(value: unknown, [field, key]: FieldPath): string | undefined {
  if (typeof value !== 'number') return typeof value === 'boolean' ? `put it in quotes: "${value}"` : undefined
  if (key !== undefined && SIGNALS.includes(String(field))) return 'write it with its unit and in quotes, such as "500Mi" or "10%"'
  if (field === 'evictionSoftGracePeriod') return `write a duration, such as "${Number.isInteger(value) && value > 0 ? value : 90}s"`
  if (RESERVED.includes(String(field)) && key !== 'cpu' && key !== 'pid') return 'write it with its unit and in quotes, such as "512Mi"'
  return 'put it in quotes'
}

const TRUE = ['true', 'yes', 'on', 'y', '1']
const FALSE = ['false', 'no', 'off', 'n', '0']

function adviseBoolean(value: unknown): string | undefined {
  const word = typeof value === 'string' || typeof value === 'number' ? String(value).toLowerCase() : undefined
  const meant = word === undefined ? undefined : TRUE.includes(word) ? 'true' : FALSE.includes(word) ? 'false' : undefined
  return meant === undefined ? undefined : `write ${meant}, without quotes`
}

function adviseNumber(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? undefined : 'write a whole number'
  if (typeof value !== 'string') return undefined
  if (DECIMAL.test(value)) return `remove the quotes: ${value}`
  return /^\d{1,3}%$/.test(value) ? `write the number alone, without quotes: ${value.slice(0, -1)}` : undefined
}

function adviseDuration(value: unknown): string | undefined {
  if (value === null) return 'remove it, or write a duration, such as "30s"'
  const written = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  const [, digits, unit] = /^(\d{1,6})(d?)$/.exec(written) ?? []
  if (digits === undefined) return undefined
  if (unit === 'd') return `the longest unit is h: write "${Number(digits) * 24}h"`
  return `write it with its unit, such as "${digits}s"`
}

function adviseList(value: unknown, path: FieldPath): string | undefined {
  if (typeof value !== 'string') return undefined
  // Deeper down, as in staticPodURLHeader, the text may be a secret.
  if (path.length > 1 || value.length > LONGEST_FLAG || !WORDS.test(value))
    return 'write a list: each item on a line of its own, behind "- "'
  return `write a list: ${path[0]}: [${value
    .split(',')
    .map((word) => JSON.stringify(word))
    .join(', ')}]`
}

function adviseCollection(
  type: 'string-map' | 'boolean-map' | 'objects',
  value: unknown,
  [field, ...inner]: FieldPath,
): string | undefined {
  if (inner.length > 0) return undefined
  const flag = joinItems(value)
  const read = flag === undefined || flag.length > LONGEST_FLAG ? undefined : readFlag(type, String(field), flag)
  if (read !== undefined)
    return `this is the syntax of a flag; in a config, write ${field}: ${JSON.stringify(read).replace(/([,:])(?=["\d[{tf])/g, '$1 ')}`
  return type === 'objects' ? undefined : 'write each entry on a line of its own below the field, as in "name: value"'
}

/** A flag, or a list of what a flag takes: `["a=true", {"b": true}]`. */
function joinItems(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (!Array.isArray(value) || value.length === 0 || value.length > 20) return undefined
  const items = value.map((item: unknown) => {
    if (typeof item === 'string') return item
    const [entry, ...others] = isObject(item) ? Object.entries(item) : []
    return entry !== undefined && others.length === 0 && typeof entry[1] !== 'object' ? `${entry[0]}=${entry[1]}` : undefined
  })
  return items.some((item) => item === undefined) ? undefined : items.join(',')
}

const ENTRY = /^\s*([\w./-]+)\s*([=<])\s*([\w.%:+-]+)\s*$/

function readFlag(type: 'string-map' | 'boolean-map' | 'objects', field: string, flag: string): unknown {
  if (field === 'reservedMemory') return readReservedMemory(flag)
  if (field === 'registerWithTaints') return readTaints(flag)
  if (type === 'objects') return undefined
  const entries = readEntries(flag)
  if (entries === undefined) return undefined
  if (type === 'string-map') return Object.fromEntries(entries)
  const words = entries.map(([name, word]) => [name, word.toLowerCase()] as const)
  return words.every(([, word]) => word === 'true' || word === 'false')
    ? Object.fromEntries(words.map(([name, word]) => [name, word === 'true']))
    : undefined
}

function readEntries(flag: string): (readonly [name: string, text: string])[] | undefined {
  const entries = flag.split(',').map((piece) => ENTRY.exec(piece))
  const read = entries.flatMap((entry) => (entry === null ? [] : [[entry[1] ?? '', entry[3] ?? ''] as const]))
  return read.length === entries.length ? read : undefined
}

/** `0:memory=1Gi,hugepages-1M=2Gi;1:memory=2Gi`. */
function readReservedMemory(flag: string): unknown {
  const nodes = flag.split(';').map((piece) => {
    const [, numaNode, limits = ''] = /^(\d{1,4}):(.+)$/.exec(piece.trim()) ?? []
    const entries = readEntries(limits)
    return numaNode === undefined || entries === undefined ? undefined : { numaNode: Number(numaNode), limits: Object.fromEntries(entries) }
  })
  return nodes.includes(undefined) ? undefined : nodes
}

/** `key=value:NoSchedule,key:NoExecute`. */
function readTaints(flag: string): unknown {
  const taints = flag.split(',').map((piece) => {
    const [, key, value, effect] = /^([\w./-]+)(?:=([\w.-]*))?:(\w+)$/.exec(piece.trim()) ?? []
    return key === undefined ? undefined : { key, ...(value !== undefined && value !== '' && { value }), effect }
  })
  return taints.includes(undefined) ? undefined : taints
}
