/** Merges a part for a command, which has nothing else to do. Pure but for what is passed in. */
import type { ConfigMapData } from '../decision/config-source.ts'
import type { Desired, Rendered } from '../decision/desired.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { LocalConfigView } from '../ports/assignment-source.ts'
import { isMerged } from './apply-part.ts'
import { findBases, type Merged } from './find-bases.ts'
import { mergePart } from './merge-part.ts'
import { refuseDesired } from './refuse-desired.ts'

export interface MergeReaders {
  readLocalConfig(): Promise<LocalConfigView>
  readonly yaml: YamlReader
}

export type MergedObject = Merged & { readonly data: ConfigMapData }

export type MergedOnce = { readonly ok: true; readonly rendered: Rendered } | { readonly ok: false; readonly detail: string }

/** A detail is for the operator who runs the command, and never published. */
export async function mergeOnce(object: MergedObject, key: string, { readLocalConfig, yaml }: MergeReaders): Promise<MergedOnce> {
  const rests = [object.base, ...(object.bases?.views ?? []).map((view) => (view.object.kind === 'found' ? view.object.base : undefined))]
  const local = rests.some((base) => base?.kind === 'local') ? await readLocalConfig() : undefined
  const reading = findBases(object, () => local)
  return reading.kind === 'found' ? mergePart(reading.bases, object.data, key, yaml) : { ok: false, detail: reading.detail }
}

export async function applyPartOnce(desired: Desired, readers: MergeReaders): Promise<Desired> {
  if (!isMerged(desired)) return desired
  const { object, ref, channelState } = desired
  const merged = await mergeOnce(object, ref.kubeletConfigKey, readers)
  return merged.ok ? { ...desired, object: { ...object, rendered: merged.rendered } } : refuseDesired(merged.detail, channelState)
}
