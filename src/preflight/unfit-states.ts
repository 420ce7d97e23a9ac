// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the state files of kubelet's managers with which kubelet does not start: from its command
 * line, the files that this names, and the machine. Nothing else is asked, so that it can run
 * before each start. What cannot be read or judged counts as fit, and kubelet decides. Pure; who
 * reads is passed in. Kubelet's version is not asked for: what these rules say holds for all, or is
 * about a file that names no pod.
 */
import { decodeText, type KubeletConfig } from '../kubelet/decode.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { Files } from '../ports/files.ts'
import { collectFlags, type KubeletFlags } from './change/kubelet-flags.ts'
import { mergeDropIns } from './drop-ins/merge-drop-ins.ts'
import { readDropIns } from './drop-ins/read-drop-ins.ts'
import { findStateNeeds, findUnfitStates } from './node/check-node.ts'
import type { UnfitState } from './node/check-states.ts'
import type { SurroundingNeeds, Surroundings } from './node/surroundings.ts'

interface StateReaders {
  readonly files: Pick<Files, 'read' | 'list' | 'stat'>
  readonly yaml: YamlReader
  /** Takes a bounded time. */
  lookAround(needs: SurroundingNeeds): Promise<Surroundings>
}

/** @param words of kubelet's next start, without its own name. undefined: not known */
export async function findUnfit(words: readonly string[] | undefined, readers: StateReaders): Promise<readonly UnfitState[]> {
  if (words === undefined) return []
  const flags = collectFlags(words)
  const config = await readWhole(flags, readers)
  if (config === undefined) return []
  // Only the paths in a config depend on these two.
  const options = { version: undefined, flags, folder: '/', files: [] }
  const found = await readers.lookAround({ ...findStateNeeds(config, options), topology: true })
  return findUnfitStates(config, found, options)
}

/** The config that kubelet makes of its files. undefined: not known. */
async function readWhole(flags: KubeletFlags, { files, yaml }: StateReaders): Promise<KubeletConfig | undefined> {
  const path = flags.get('config')?.at(-1) ?? ''
  const directory = flags.get('config-dir')?.at(-1) ?? ''
  const text = path === '' ? '' : files.read(path)?.toString()
  if (text === undefined) return undefined
  const decoded = path === '' ? undefined : await decodeText(text, yaml)
  if (decoded?.ok === false) return undefined
  const dropIns = directory === '' ? undefined : await readDropIns(directory, files, yaml)
  if (dropIns?.kind === 'unusable') return undefined
  const overrides = dropIns?.dropIns.map(({ config }) => config) ?? []
  return mergeDropIns(decoded?.config ?? {}, overrides, undefined)
}
