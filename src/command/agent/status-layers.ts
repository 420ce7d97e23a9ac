/**
 * What the assigned config is merged from, for `status`, which asks nobody: from what the agent
 * wrote down, and from kubelet's drop-ins as they are now. Pure but for the readers that are passed
 * in.
 */
import type { ConfigMapSource } from '../../decision/config-source.ts'
import type { ChannelState } from '../../decision/desired.ts'
import type { Snapshot } from '../../decision/snapshot.ts'
import { decodeText } from '../../kubelet/decode.ts'
import { nameConfigMap } from '../../overlay/find-bases.ts'
import { INSTANCE_CONFIG, INSTANCE_FILE } from '../../overlay/patch-set.ts'
import { RESOLVED } from '../../overlay/read-overlay.ts'
import type { CommandContext } from '../command.ts'
import { documentField, documentMerged, type MergedDocument, NOT_MERGED } from '../merged-layers.ts'
import { type ConfigText, readConfigOf } from './active-config.ts'

export type LayerReaders = Pick<CommandContext, 'checkpoints' | 'files' | 'yaml' | 'mergeHere'>

/** What the agent wrote down. `fields` undefined: an earlier agent did, or there are too many. */
type Recorded = Pick<ChannelState, 'fields'> & { readonly names: readonly string[] }

export async function findMerged(snapshot: Snapshot, readers: LayerReaders): Promise<MergedDocument> {
  const { assigned, unit, recordedChannelState } = snapshot
  if (assigned.kind !== 'source') return NOT_MERGED
  const { source } = assigned
  const recorded = source === 'local' ? undefined : readRecord(recordedChannelState, source)
  const text: ConfigText = unit.kind === 'known' ? readConfigOf(source, snapshot, unit, readers) : { ok: false, detail: unit.detail }
  const decoded = text.ok ? await decodeText(text.text, readers.yaml) : text
  if (!text.ok || !decoded.ok) return recorded === undefined ? NOT_MERGED : documentRecord(recorded)
  const { config } = decoded
  const merged = await readers.mergeHere(config, source === 'local' ? 'local' : 'assigned')
  const { names, fields }: Recorded = recorded ?? { names: [source === 'local' ? text.name : nameConfigMap(source)], fields: [] }
  return documentMerged({ names, fields, lowest: config }, merged)
}

function documentRecord({ names, fields }: Recorded): MergedDocument {
  return { layers: names, fields: fields?.map(documentField) ?? null }
}

/** @returns undefined: the config is not merged, or the record is about another one */
function readRecord(state: ChannelState | undefined, source: ConfigMapSource): Recorded | undefined {
  const own = nameConfigMap(source)
  const { layers = [own], fields } = state ?? {}
  if (!layers.includes(own) || (state?.layers === undefined && fields === undefined)) return undefined
  return { names: withOverlay(layers, fields), fields }
}

/** The record does not list files of the overlay, over which only what kubeadm adds comes. */
function withOverlay(layers: readonly string[], fields: ChannelState['fields'] = []): readonly string[] {
  const overlay = new Set(fields.map(({ layer }) => layer).filter((layer) => !layers.includes(layer)))
  const isKubeadms = (layer: string) => [RESOLVED, INSTANCE_FILE].map(INSTANCE_CONFIG.nameFile).includes(layer)
  return [...layers.filter((layer) => !isKubeadms(layer)), ...overlay, ...layers.filter(isKubeadms)]
}
