/**
 * Finds what kubelet merges with a config when it starts on this node: from its flags, its
 * `--config-dir`, and the way in which the agent gives it a config. Pure; files and the YAML parser
 * are passed in.
 */
import { posix } from 'node:path'
import type { KnownUnit } from '../../decision/unit-state.ts'
import { decodeText } from '../../kubelet/decode-text.ts'
import { isMergedBefore } from '../../kubelet/drop-in-files.ts'
import { isFieldName } from '../../kubelet/fields.ts'
import { absolutePaths } from '../../kubelet/relative-paths.ts'
import type { YamlReader } from '../../kubelet/yaml-document.ts'
import { errorMessage } from '../../values/errors.ts'
import { isObject } from '../../values/is-object.ts'
import { mergePatch } from '../../values/merge-patch.ts'
import { collectFlags } from '../change/kubelet-flags.ts'
import type { ConfigPlace } from '../inspection.ts'
import type { DropIn, DropInsHere, UnusableDropIn } from './drop-ins.ts'
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
  const isBelow = ({ path }: DropIn) => isMergedBefore(path, own)
  const [below, above] = [dropIns.filter(isBelow), dropIns.filter((dropIn) => !isBelow(dropIn))]
  return { kind: 'usable', directory, order: { base, below, above } }
}

/** The drop-in that the agent writes. undefined: it gives kubelet its config in another way. */
function findOwnDropIn({ wiring }: Pick<KnownUnit, 'wiring'>): string | undefined {
  return wiring.kind === 'ready' && wiring.laysOverLocal ? wiring.path : undefined
}

async function readBase(path: string | undefined, { files, yaml }: DropInReaders): Promise<DropIn | UnusableDropIn> {
  // Kubelet starts from its defaults.
  if (path === undefined) return { path: 'defaults', config: {} }
  try {
    const decoded = await decodeText(files.read(path)?.toString() ?? '', yaml)
    if (!decoded.ok) return { path, detail: decoded.detail, unjudged: decoded.unjudged }
    const fields = Object.entries(decoded.config).filter(([name]) => isFieldName(name))
    const config = Object.fromEntries(fields)
    // Kubelet resolves the relative paths of this file alone.
    const merged = mergePatch(config, absolutePaths(config, posix.dirname(path)))
    return { path, config: isObject(merged) ? merged : config }
  } catch (error) {
    return { path, detail: errorMessage(error) }
  }
}
