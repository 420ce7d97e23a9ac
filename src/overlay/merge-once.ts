/** Merges a part for a command, which has nothing else to do. Pure but for what is passed in. */
import type { ConfigMapData } from '../decision/config-source.ts'
import type { Base, Desired, Rendered } from '../decision/desired.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { LocalConfigView } from '../ports/local-config.ts'
import { applyPart, isPart } from './apply-part.ts'
import { mergePart } from './merge-part.ts'

export interface MergeReaders {
  readLocalConfig(): Promise<LocalConfigView>
  readonly yaml: YamlReader
}

export type MergedOnce = { readonly ok: true; readonly rendered: Rendered } | { readonly ok: false; readonly detail: string }

export async function mergeOnce(base: Base, data: ConfigMapData, key: string, readers: MergeReaders): Promise<MergedOnce> {
  if (base.kind === 'invalid') return { ok: false, detail: base.detail }
  const local = await readers.readLocalConfig()
  if (local.kind !== 'found') return { ok: false, detail: `the local config of this node cannot be the base: ${local.detail}` }
  return mergePart(local, data, key, readers.yaml)
}

/** The detail of a fault is for the operator who runs the command, and never published. */
export async function applyPartOnce(desired: Desired, readers: MergeReaders): Promise<Desired> {
  if (!isPart(desired)) return desired
  const { base, data } = desired.object
  const local = await readers.readLocalConfig()
  const merged =
    local.kind === 'found' && base.kind === 'local' ? await mergePart(local, data, desired.ref.kubeletConfigKey, readers.yaml) : undefined
  const applied = applyPart(
    desired,
    () => local,
    () => merged,
  )
  return applied.kind === 'faulty' && applied.desired.kind === 'invalid' ? { ...applied.desired, detail: applied.detail } : applied.desired
}
