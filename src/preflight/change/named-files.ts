// SPDX-License-Identifier: Apache-2.0
/**
 * The files that relative paths of a config name: other keys of its ConfigMap, which lie beside it
 * in its checkpoint. Their content is a part of the field's value. Pure.
 */
import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type { KubeletConfig } from '../../kubelet/decode.ts'
import { type FieldPath, listRelativePaths, patchRelativePaths } from '../../kubelet/field-path.ts'
import type { ConfigMapData } from '../../subject/config-source.ts'
import { isObject } from '../../values/is-object.ts'
import { mergePatch } from '../../values/merge-patch.ts'

/** A config, and the files beside it, with itself. */
export interface Beside {
  readonly config: KubeletConfig
  /**
   * `unknown`: they are keys of a ConfigMap, and only that of the config is known. undefined: they
   * are not those of a ConfigMap.
   */
  readonly files: ConfigMapData | 'unknown' | undefined
}

/**
 * Two configs for a comparison: to each relative path they add a hash of what the path names. A
 * path that is left as it is differs from each that is not. Where the other keys of one ConfigMap
 * are not known, those of the other are not compared: then the paths alone count.
 */
export function nameContents(before: Beside, after: Beside): readonly [KubeletConfig, KubeletConfig] {
  const isUnknown = lacksKeys(before) || lacksKeys(after)
  const name = ({ config, files }: Beside) => (files === undefined ? config : nameFiles(config, isUnknown ? 'unknown' : files))
  return [name(before), name(after)]
}

/** The other keys count, and are not known. */
export function lacksKeys({ config, files }: Beside): boolean {
  return files === 'unknown' && listRelativePaths(config).some(({ path }) => !leaves(normalize(path)))
}

/** The keys of a ConfigMap of which only this config is known: those that it names. */
export function listNamed(config: KubeletConfig): readonly string[] {
  return listRelativePaths(config).map(({ path }) => normalize(path))
}

function nameFiles(config: KubeletConfig, files: ConfigMapData | 'unknown'): KubeletConfig {
  if (listRelativePaths(config).length === 0) return config
  const named = mergePatch(
    config,
    patchRelativePaths(config, (path) => `${path} (${describeContents(path, files)})`),
  )
  return isObject(named) ? named : config
}

/** The fields whose relative path leads out of the directory of the config. */
export function listLeaving(config: KubeletConfig): readonly FieldPath[] {
  return listRelativePaths(config).flatMap(({ field, path }) => (leaves(normalize(path)) ? [field] : []))
}

function describeContents(path: string, files: ConfigMapData | 'unknown'): string {
  const place = normalize(path)
  if (leaves(place)) return 'outside of the ConfigMap'
  if (files === 'unknown') return 'the other keys are not known here'
  // No key contains a slash, so only the directory itself contains others.
  const named = Object.entries(files).filter(([name]) => place === '.' || place === name)
  if (named.length === 0) return 'no such key'
  const text = JSON.stringify(named.sort(([a], [b]) => (a < b ? -1 : 1)))
  return `sha256 ${createHash('sha256').update(text).digest('hex')}`
}

/** As Go's filepath.Join, without a slash at the end. */
function normalize(path: string): string {
  return posix.normalize(path).replace(/(.)\/$/, '$1')
}

function leaves(place: string): boolean {
  return place === '..' || place.startsWith('../')
}
