/** Paths of fields: how they are written, and the values they lead to. Pure. */
import { isObject } from '../values/is-object.ts'

/**
 * `authentication.x509.clientCAFile`, `reservedMemory[0].limits`,
 * `evictionHard["memory.available"]`.
 */
export function formatPath(path: FieldPath): string {
  return path.map((step, index) => formatStep(step, index === 0)).join('')
}

function formatStep(step: string | number, first: boolean): string {
  if (typeof step === 'number') return `[${step}]`
  if (/^[A-Za-z_][\w-]*$/.test(step)) return first ? step : `.${step}`
  return `[${JSON.stringify(step)}]`
}

/** The value within nested objects. undefined: the path does not exist. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let inner = value
  for (const step of path) inner = isObject(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined
  return inner
}

/**
 * Whether a patch (RFC 7386) sets or removes the field at the path, or a value that the field is
 * in.
 */
export function decides(patch: unknown, path: FieldPath): boolean {
  let inner = patch
  for (const step of path) {
    // A list is replaced as a whole, and a null removes all that is in it.
    if (!isObject(inner)) return inner !== undefined
    if (!Object.hasOwn(inner, step)) return false
    inner = inner[step]
  }
  return inner !== undefined
}

/**
 * Names of fields, indices of lists, keys of maps: `['evictionHard', 'memory.available']`. Empty:
 * the whole document.
 */
export type FieldPath = readonly (string | number)[]
