/**
 * Fields with paths that kubelet resolves against the directory of its config file
 * (`KubeletConfigurationPathRefs`, pkg/kubelet/apis/config/helpers.go, and `resolveRelativePaths`,
 * pkg/kubelet/kubeletconfig/configfiles). Pure.
 */
import { posix } from 'node:path'
import { isObject } from '../values/is-object.ts'
import type { KubeletConfig } from './decode.ts'

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

/**
 * The relative paths of a config, as absolute ones: a merge patch. An empty path is none.
 * @param directory of the config, absolute
 */
export function absolutePaths(config: KubeletConfig, directory: string): KubeletConfig {
  const patch: Record<string, unknown> = {}
  for (const [field, ...inner] of FIELDS) {
    const value = inner.reduce<unknown>((outer, step) => (isObject(outer) ? outer[step] : undefined), config[field])
    if (typeof value !== 'string' || value === '' || posix.isAbsolute(value)) continue
    patch[field] = inner.reduceRight<unknown>((last, step) => ({ [step]: last }), posix.join(directory, value))
  }
  return patch
}
