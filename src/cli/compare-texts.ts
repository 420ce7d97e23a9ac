/** Decodes two texts of configs and compares them field by field. */

import type { KubeletConfig } from '../kubelet/decode.ts'
import { decodeText } from '../kubelet/decode-text.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import { findLayer } from '../overlay/list-layers.ts'
import type { ConfigChange } from '../preflight/inspection.ts'
import type { ConfigText } from './active-config.ts'

export type Compared =
  | { readonly ok: true; readonly from: string; readonly to: string; readonly changes: readonly ConfigChange[] }
  | { readonly ok: false; readonly detail: string }

export async function compareTexts(
  before: ConfigText,
  after: ConfigText,
  compare: (from: KubeletConfig, to: KubeletConfig) => Promise<readonly ConfigChange[]>,
  yaml: YamlReader,
): Promise<Compared> {
  if (!before.ok) return before
  if (!after.ok) return after
  const from = await decodeText(before.text, yaml)
  if (!from.ok) return { ok: false, detail: `${before.name}: ${from.detail}` }
  const to = await decodeText(after.text, yaml)
  if (!to.ok) return { ok: false, detail: `${after.name}: ${to.detail}` }
  const changes = await compare(from.config, to.config)
  const { layers = [] } = after
  const inLayers = changes.map((change) => {
    const layer = findLayer(layers, change.path)
    return layer === undefined ? change : { ...change, layer }
  })
  return { ok: true, from: before.name, to: after.name, changes: inLayers }
}
