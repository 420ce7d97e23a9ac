/**
 * The text of the config that runs on this node, read from disk. Never guesses: a file that was
 * replaced after kubelet started does not show what kubelet runs. Pure but for the readers that are
 * passed in.
 */

import type { ConfigMapSource, ConfigSource } from '../../decision/config-source.ts'
import { describeSource } from '../../decision/config-source.ts'
import type { Snapshot } from '../../decision/snapshot.ts'
import type { KnownUnit } from '../../decision/unit-state.ts'
import type { ConfigLayer } from '../../overlay/list-layers.ts'
import type { Beside } from '../../preflight/change/named-files.ts'
import type { ConfigPlace } from '../../preflight/drop-ins/read-drop-ins.ts'
import { describeStatus } from '../../report/status.ts'
import { errorMessage } from '../../values/errors.ts'
import type { CommandContext } from '../command.ts'

export type ConfigText =
  | {
      readonly ok: true
      readonly name: string
      readonly text: string
      /** As in Beside. */
      readonly files?: Beside['files']
      /** Of a config that this node merges, the lowest first. */
      readonly layers?: readonly ConfigLayer[]
      /** undefined: kubelet's drop-ins are not merged with it. */
      readonly place?: ConfigPlace
    }
  | { readonly ok: false; readonly detail: string }

type Readers = Pick<CommandContext, 'checkpoints' | 'files'>

/** If no kubelet runs: the config of its next start. */
export function readActiveConfig(snapshot: Snapshot, readers: Readers): ConfigText {
  const { unit, running, nextStart } = snapshot
  if (unit.kind === 'unknown') return { ok: false, detail: unit.detail }
  if (running.kind === 'none') {
    return nextStart.kind === 'known'
      ? readConfigOf(nextStart.held.source, snapshot, unit, readers)
      : { ok: false, detail: nextStart.detail }
  }
  const active = describeStatus(snapshot, undefined).active
  if (active !== undefined) return readConfigOf(active, snapshot, unit, readers)
  const { process } = unit
  if (process.kind === 'other' && process.configPath !== undefined && !isUntraceable(unit)) return readFile(process.configPath, readers)
  return { ok: false, detail: 'kubelet runs neither its local config nor a checkpoint' }
}

export function readConfigOf(source: ConfigSource, snapshot: Snapshot, unit: KnownUnit, readers: Readers): ConfigText {
  if (source !== 'local') return readCheckpoint(source, readers)
  if (unit.localConfigPath === undefined) return { ok: false, detail: 'kubelet has no local config file' }
  const { nextStart } = snapshot
  const inPlace = !isReplaced(unit) || (nextStart.kind === 'known' && nextStart.held.source === 'local')
  if (!inPlace) return { ok: false, detail: `${unit.localConfigPath} was replaced with the config of kubelet's next start` }
  return readFile(unit.localConfigPath, readers)
}

/** Whether the file that the process names may not be what it runs. */
function isUntraceable({ wiring }: KnownUnit): boolean {
  return wiring.kind === 'ready' && wiring.configFlagIsFixed
}

function isReplaced({ wiring }: KnownUnit): boolean {
  return wiring.kind === 'ready' && wiring.replacesLocalFile
}

function readCheckpoint(source: ConfigMapSource, { checkpoints }: Readers): ConfigText {
  const name = describeSource(source)
  const data = checkpoints.data(source.uid, source.resourceVersion, source.overlay)
  const text = data !== undefined && Object.hasOwn(data, source.kubeletConfigKey) ? data[source.kubeletConfigKey] : undefined
  return data === undefined || text === undefined
    ? { ok: false, detail: `the checkpoint of ${name} is missing` }
    : { ok: true, name, text, files: data, place: 'assigned' }
}

function readFile(path: string, { files }: Readers): ConfigText {
  try {
    const bytes = files.read(path)
    return bytes === undefined
      ? { ok: false, detail: `${path} does not exist` }
      : { ok: true, name: path, text: bytes.toString('utf8'), place: 'local' }
  } catch (error) {
    return { ok: false, detail: errorMessage(error) }
  }
}
