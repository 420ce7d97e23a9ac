/**
 * Finds what kubelet merges with a config when it starts on this node: from its flags, its
 * `--config-dir`, and the way in which the agent gives it a config. Pure; files and the YAML parser
 * are passed in.
 */
import type { KnownUnit } from '../../decision/unit-state.ts'
import type { YamlReader } from '../../kubelet/yaml-document.ts'
import { collectFlags } from '../change/kubelet-flags.ts'
import type { DropInsHere } from './drop-ins.ts'
import { type DropInFiles, readDropIns } from './read-drop-ins.ts'

export interface DropInReaders {
  readonly files: DropInFiles
  readonly yaml: YamlReader
}

/** @returns undefined: kubelet has no `--config-dir` */
export async function findDropIns(unit: Pick<KnownUnit, 'command'>, { files, yaml }: DropInReaders): Promise<DropInsHere | undefined> {
  const directory = collectFlags(unit.command?.words ?? [])
    .get('config-dir')
    ?.at(-1)
  if (directory === undefined || directory === '') return undefined
  const reading = await readDropIns(directory, files, yaml)
  if (reading.kind === 'unusable') return { ...reading, directory }
  return { kind: 'usable', directory, order: { below: [], above: reading.dropIns } }
}
