/**
 * Fields with paths that kubelet resolves against the directory of its config file
 * (`KubeletConfigurationPathRefs`, pkg/kubelet/apis/config/helpers.go, and `resolveRelativePaths`,
 * pkg/kubelet/kubeletconfig/configfiles). Pure.
 */
import { posix } from 'node:path'
import type { KubeletConfig } from './decode.ts'
import { valueAt } from './field-path.ts'

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

/** Those that are set, with the path of their field. An empty path is none. */
export function listRelativePaths(config: KubeletConfig): readonly { readonly field: readonly string[]; readonly path: string }[] {
  return FIELDS.flatMap((field) => {
    const path = valueAt(config, field)
    return typeof path === 'string' && path !== '' && !posix.isAbsolute(path) ? [{ field, path }] : []
  })
}

/**
 * The relative paths of a config, as absolute ones: a merge patch.
 * @param directory of the config, absolute
 */
export function absolutePaths(config: KubeletConfig, directory: string): KubeletConfig {
  return patchRelativePaths(config, (path) => posix.join(directory, path))
}

/** A merge patch that replaces the relative paths of a config. */
export function patchRelativePaths(config: KubeletConfig, replace: (path: string) => string): KubeletConfig {
  const patches = listRelativePaths(config).map(({ field, path }) =>
    field.reduceRight<unknown>((inner, step) => ({ [step]: inner }), replace(path)),
  )
  return Object.assign({}, ...patches)
}
