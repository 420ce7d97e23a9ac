// SPDX-License-Identifier: Apache-2.0
/** Paths of fields: how they are written, and the values they lead to. Pure. */

import { posix } from 'node:path'
import { isObject, type JsonObject } from '../values/is-object.ts'

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

/** The value within nested objects and lists. undefined: the path does not exist. */
export function valueAt(value: unknown, path: FieldPath): unknown {
  let inner = value
  for (const step of path) {
    if (typeof step === 'number') inner = Array.isArray(inner) ? inner[step] : undefined
    else inner = isObject(inner) && Object.hasOwn(inner, step) ? inner[step] : undefined
  }
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

/**
 * Fields with paths that kubelet resolves against the directory of its config file
 * (`KubeletConfigurationPathRefs`, pkg/kubelet/apis/config/helpers.go, and `resolveRelativePaths`,
 * pkg/kubelet/kubeletconfig/configfiles).
 */
const FIELDS: readonly (readonly [string, ...string[]])[] = [
  ['staticPodPath'],
  ['authentication', 'x509', 'clientCAFile'],
  ['tlsCertFile'],
  ['tlsPrivateKeyFile'],
  ['resolvConf'],
  ['volumePluginDir'],
  ['podLogsDir'],
]

export const RELATIVE_PATHS: ReadonlySet<string> = new Set(FIELDS.map((path) => path.join('.')))

/** The relative paths that are set, with the path of their field. An empty path is none. */
export function listRelativePaths(config: JsonObject): readonly { readonly field: readonly string[]; readonly path: string }[] {
  return FIELDS.flatMap((field) => {
    const path = valueAt(config, field)
    return typeof path === 'string' && path !== '' && !posix.isAbsolute(path) ? [{ field, path }] : []
  })
}

/**
 * The relative paths of a config, as absolute ones: a merge patch.
 * @param directory of the config, absolute
 */
export function absolutePaths(config: JsonObject, directory: string): JsonObject {
  return patchRelativePaths(config, (path) => posix.join(directory, path))
}

/** A merge patch that replaces the relative paths of a config. */
export function patchRelativePaths(config: JsonObject, replace: (path: string) => string): JsonObject {
  const patches = listRelativePaths(config).map(({ field, path }) =>
    field.reduceRight<unknown>((inner, step) => ({ [step]: inner }), replace(path)),
  )
  return Object.assign({}, ...patches)
}
