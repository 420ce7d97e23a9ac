// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the drop-ins as kubelet does. Rules: `loadDropinConfigFileIntoJSON`,
 * cmd/kubelet/app/server.go (1.32 to 1.37). Kubelet does not start if the directory is missing, or
 * if one of these files cannot be read, is empty, is no KubeletConfiguration, or has a key twice
 * (kubernetes issue 124796; `strict decoding error`, seen on 1.34.1). Pure; files and the YAML
 * parser are passed in.
 */

import { posix } from 'node:path'
import { decodeText, type KubeletConfig } from '../../kubelet/decode.ts'
import { isMergedBefore, listDropInFiles, listSkippedFiles } from '../../kubelet/drop-in-files.ts'
import type { FieldTable } from '../../kubelet/field.ts'
import { absolutePaths, type FieldPath, formatPath } from '../../kubelet/field-path.ts'
import { FIELDS, isFieldName, listObjects } from '../../kubelet/fields.ts'
import type { YamlReader } from '../../kubelet/yaml-document.ts'
import type { Files } from '../../ports/files.ts'
import type { KnownUnit } from '../../subject/unit-state.ts'
import { errorMessage } from '../../values/errors.ts'
import { foldName } from '../../values/go-syntax.ts'
import { isObject } from '../../values/is-object.ts'
import { mergePatch } from '../../values/merge-patch.ts'
import { collectFlags } from '../change/kubelet-flags.ts'
import { readDocument } from '../document.ts'

/**
 * Kubelet's drop-ins on a node: the files in the directory of `--config-dir`, which kubelet merges
 * over the file of `--config` (KEP-3983).
 */
export interface DropIn {
  readonly path: string
  /** The fields that the file sets, perhaps only some. A null removes a field. */
  readonly config: KubeletConfig
  /** Keys that kubelet takes although they are spelled in another way. Default: none. */
  readonly otherCase?: readonly OtherCase[]
}

type DropInsReading =
  /** In the order in which kubelet merges them. */
  { readonly kind: 'read'; readonly dropIns: readonly DropIn[] } | ({ readonly kind: 'unusable' } & UnusableDropIn)

/** Kubelet does not start. */
interface UnusableDropIn {
  /** The file or directory at fault. */
  readonly path: string
  readonly detail: string
  /** Kubelet may start, and read something else. */
  readonly unjudged?: true | undefined
}

/** The files that kubelet merges with one config when it starts on this node. */
export type DropInsHere =
  | {
      readonly kind: 'usable'
      readonly directory: string
      readonly order: MergeOrder
      /** Paths of configs there that kubelet does not read. Default: none. */
      readonly skipped?: readonly string[]
    }
  | ({ readonly kind: 'unusable'; readonly directory: string } & UnusableDropIn)

export interface MergeOrder {
  /** Undefined: the config itself is the file of `--config`. */
  readonly base?: DropIn | undefined
  /** Drop-ins that the config is merged over. */
  readonly below: readonly DropIn[]
  /** Drop-ins that are merged over the config. */
  readonly above: readonly DropIn[]
}

/**
 * Finds what kubelet merges with a config when it starts on this node: from its flags, its
 * `--config-dir`, and the way in which the agent gives it a config.
 */
interface DropInReaders {
  readonly files: DropInFiles
  readonly yaml: YamlReader
}

/** Whose config it is: that of the node itself, or one that is (or would be) assigned to it. */
export type ConfigPlace = 'local' | 'assigned'

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
  const skipped = listSkippedConfigs(directory, readers.files)
  const here = { kind: 'usable', directory, ...(skipped.length === 0 ? {} : { skipped }) } as const
  if (own === undefined || place === 'local') return { ...here, order: { below: [], above: dropIns } }
  const base = await readBase(unit.localConfigPath, readers)
  if ('detail' in base) return { kind: 'unusable', directory, ...base }
  const isBelow = ({ path }: DropIn) => isMergedBefore(path, own)
  const [below, above] = [dropIns.filter(isBelow), dropIns.filter((dropIn) => !isBelow(dropIn))]
  return { ...here, order: { base, below, above } }
}

/** Of any file that is larger, kubelet's reader of YAML would make nothing either. */
const LONGEST_BYTES = 1 << 20

/**
 * The files that would be drop-ins if their names ended in `.conf`. Kubelet says that it skips them
 * at verbosity 4 alone, from 1.36 on (`mergeKubeletConfigurations`).
 */
function listSkippedConfigs(directory: string, files: DropInFiles): readonly string[] {
  return listSkippedFiles(directory, files).filter((path) => {
    try {
      const isShort = (files.stat(path)?.size ?? 0) <= LONGEST_BYTES
      return isShort && files.read(path)?.includes('KubeletConfiguration') === true
    } catch {
      return false
    }
  })
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

type DropInFiles = Pick<Files, 'read' | 'list' | 'stat'>

/** @param isRead whether this file is read; kubelet reads all of them */
export async function readDropIns(
  directory: string,
  files: DropInFiles,
  yaml: YamlReader,
  isRead: (path: string) => boolean = () => true,
): Promise<DropInsReading> {
  const dropIns: DropIn[] = []
  try {
    for (const path of listDropInFiles(directory, files).filter(isRead)) {
      const read = await readDropIn(path, files, yaml)
      if ('detail' in read) return { kind: 'unusable', ...read }
      dropIns.push(read)
    }
  } catch (error) {
    return { kind: 'unusable', path: posix.resolve('/', directory), detail: errorMessage(error) }
  }
  return { kind: 'read', dropIns }
}

async function readDropIn(path: string, files: DropInFiles, yaml: YamlReader): Promise<DropIn | UnusableDropIn> {
  const unusable = (detail: string, unjudged?: true): UnusableDropIn => ({ path, detail, unjudged })
  try {
    const text = files.read(path)?.toString()
    // A link to nothing.
    if (text === undefined) return unusable('it does not exist')
    const read = await readDocument(text, yaml)
    if (!read.ok) return unusable(read.detail, read.unjudged)
    const { config, repeated } = read.document
    const [first] = repeated
    if (first !== undefined) return unusable(`${formatPath(first.path)} is there twice`)
    // Kubelet ignores fields that it does not know.
    const fields = Object.entries(config).filter(([name]) => isFieldName(name))
    const otherCase = listOtherCase(config)
    return { path, config: Object.fromEntries(fields), ...(otherCase.length === 0 ? {} : { otherCase }) }
  } catch (error) {
    return unusable(errorMessage(error))
  }
}

/**
 * Keys of a drop-in that are names of fields but for upper and lower case. Kubelet ignores them in
 * the file of `--config`, and not in a drop-in: what it has merged it decodes with encoding/json,
 * which prefers no spelling (`mergeKubeletConfigurations`, cmd/kubelet/app/server.go, 1.30 to
 * 1.37). Of two spellings, the one that is sorted last wins.
 */
export interface OtherCase {
  readonly path: FieldPath
  /** As kubelet's reference spells it. */
  readonly field: string
}

/** A config has few such keys. A hostile one may have as many as fit into a ConfigMap. */
const MOST = 20

const spellings = new WeakMap<FieldTable, ReadonlyMap<string, string>>()

/** The first of them. */
export function listOtherCase(config: KubeletConfig): OtherCase[] {
  return listAt(config, FIELDS, []).slice(0, MOST)
}

function listAt(config: KubeletConfig, fields: FieldTable, path: FieldPath): OtherCase[] {
  const byFolded = foldedNames(fields)
  return Object.entries(config).flatMap(([name, value]): OtherCase[] => {
    const here = [...path, name]
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) {
      const meant = byFolded.get(foldName(name))
      return meant === undefined ? [] : [{ path: here, field: meant }]
    }
    const inner = field.fields
    return inner === undefined ? [] : listObjects(field, value, here).flatMap(([object, at]) => listAt(object, inner, at))
  })
}

function foldedNames(fields: FieldTable): ReadonlyMap<string, string> {
  const known = spellings.get(fields)
  if (known !== undefined) return known
  const names = new Map(Object.keys(fields).map((name) => [foldName(name), name]))
  spellings.set(fields, names)
  return names
}
