/** Merges a part for a command, which has nothing else to do. Pure but for what is passed in. */
import type { ConfigMapData } from '../decision/config-source.ts'
import type { Base, Bases, Desired, Rendered } from '../decision/desired.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { LocalConfigView } from '../ports/local-config.ts'
import { isPart } from './apply-part.ts'
import { findBases } from './find-bases.ts'
import { mergePart } from './merge-part.ts'
import { refuseDesired } from './refuse-desired.ts'

export interface MergeReaders {
  readLocalConfig(): Promise<LocalConfigView>
  readonly yaml: YamlReader
}

export interface Part {
  readonly data: ConfigMapData
  readonly base: Base
  readonly bases?: Bases | undefined
}

export type MergedOnce = { readonly ok: true; readonly rendered: Rendered } | { readonly ok: false; readonly detail: string }

/** A detail is for the operator who runs the command, and never published. */
export async function mergeOnce(part: Part, key: string, { readLocalConfig, yaml }: MergeReaders): Promise<MergedOnce> {
  const rests = [part.base, ...(part.bases?.views ?? []).map(({ object }) => (object.kind === 'found' ? object.base : undefined))]
  const local = rests.some((base) => base?.kind === 'local') ? await readLocalConfig() : undefined
  const reading = findBases(part, () => local)
  return reading.kind === 'found' ? mergePart(reading.bases, part.data, key, yaml) : { ok: false, detail: reading.detail }
}

export async function applyPartOnce(desired: Desired, readers: MergeReaders): Promise<Desired> {
  if (!isPart(desired)) return desired
  const { object, ref, channelState } = desired
  const merged = await mergeOnce(object, ref.kubeletConfigKey, readers)
  return merged.ok ? { ...desired, object: { ...object, rendered: merged.rendered } } : refuseDesired(merged.detail, channelState)
}
