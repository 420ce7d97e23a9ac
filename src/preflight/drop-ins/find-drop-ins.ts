/**
 * Finds what kubelet merges with a config when it starts on this node: from its flags, its
 * `--config-dir`, and the way in which the agent gives it a config. Pure; files and the YAML parser
 * are passed in.
 */
import { posix } from 'node:path'
import type { KnownUnit } from '../../decision/unit-state.ts'
import type { KubeletConfig } from '../../kubelet/decode.ts'
import { decodeText } from '../../kubelet/decode-text.ts'
import { valueAt } from '../../kubelet/field-path.ts'
import { isFieldName } from '../../kubelet/fields.ts'
import type { YamlReader } from '../../kubelet/yaml-document.ts'
import { errorMessage } from '../../values/errors.ts'
import { isObject } from '../../values/is-object.ts'
import { mergePatch } from '../../values/merge-patch.ts'
import { RELATIVE_PATHS } from '../change/check-same.ts'
import { collectFlags } from '../change/kubelet-flags.ts'
import type { ConfigPlace } from '../inspection.ts'
import type { DropIn, DropInsHere } from './drop-ins.ts'
import { type DropInFiles, readDropIns } from './read-drop-ins.ts'

export interface DropInReaders {
  readonly files: DropInFiles
  readonly yaml: YamlReader
}

type MergingUnit = Pick<KnownUnit, 'command' | 'wiring' | 'localConfigPath'>

/**
 * @param place whose config it is: the file of `--config` may stay below an assigned one
 * @returns undefined: kubelet has no `--config-dir`
 */
export async function findDropIns(unit: MergingUnit, place: ConfigPlace, readers: DropInReaders): Promise<DropInsHere | undefined> {
  const given = collectFlags(unit.command?.words ?? [])
    .get('config-dir')
    ?.at(-1)
  const own = findOwnDropIn(unit)
  const directory = own === undefined ? given : posix.dirname(own)
  if (directory === undefined || directory === '') return undefined
  const reading = await readDropIns(directory, readers.files, readers.yaml, (path) => path !== own)
  if (reading.kind === 'unusable') return { ...reading, directory }
  const { dropIns } = reading
  if (own === undefined || place === 'local') return { kind: 'usable', directory, order: { below: [], above: dropIns } }
  const base = await readBase(unit.localConfigPath, readers)
  if ('detail' in base) return { kind: 'unusable', directory, ...base }
  const isBelow = ({ path }: DropIn) => firstName(directory, path) < posix.basename(own)
  const [below, above] = [dropIns.filter(isBelow), dropIns.filter((dropIn) => !isBelow(dropIn))]
  return { kind: 'usable', directory, order: { base, below, above } }
}

/** The drop-in that the agent writes. undefined: it gives kubelet its config in another way. */
export function findOwnDropIn({ wiring }: Pick<KnownUnit, 'wiring'>): string | undefined {
  return wiring.kind === 'ready' && wiring.laysOverLocal ? wiring.path : undefined
}

/** `filepath.WalkDir` sorts the names of one directory. */
function firstName(directory: string, path: string): string {
  return posix.relative(directory, path).split('/')[0] ?? ''
}

async function readBase(path: string | undefined, { files, yaml }: DropInReaders): Promise<DropIn | { path: string; detail: string }> {
  // Kubelet starts from its defaults.
  if (path === undefined) return { path: 'defaults', config: {} }
  try {
    const decoded = await decodeText(files.read(path)?.toString() ?? '', yaml)
    if (!decoded.ok) return { path, detail: decoded.detail }
    const fields = Object.entries(decoded.config).filter(([name]) => isFieldName(name))
    return { path, config: resolvePaths(Object.fromEntries(fields), posix.dirname(path)) }
  } catch (error) {
    return { path, detail: errorMessage(error) }
  }
}

/** `resolveRelativePaths`, pkg/kubelet/kubeletconfig/configfiles: only those of the file itself. */
function resolvePaths(config: KubeletConfig, folder: string): KubeletConfig {
  const resolved = [...RELATIVE_PATHS].reduce<unknown>((merged, name) => {
    const steps = name.split('.')
    const value = valueAt(config, steps)
    if (typeof value !== 'string' || value === '' || posix.isAbsolute(value)) return merged
    return mergePatch(
      merged,
      steps.reduceRight<unknown>((inner, step) => ({ [step]: inner }), posix.join(folder, value)),
    )
  }, config)
  return isObject(resolved) ? resolved : config
}
