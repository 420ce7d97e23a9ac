/**
 * Decodes two texts of configs and compares them field by field: as kubelet makes them of both with
 * its drop-ins, where both are for this node.
 */

import { isDeepStrictEqual } from 'node:util'
import type { KubeletConfig } from '../kubelet/decode.ts'
import { decodeText } from '../kubelet/decode-text.ts'
import type { FieldPath } from '../kubelet/field-path.ts'
import { type ConfigLayer, findLayer } from '../overlay/list-layers.ts'
import type { ConfigChange, MergedHere } from '../preflight/inspection.ts'
import { isObject } from '../values/is-object.ts'
import type { ConfigText } from './active-config.ts'
import type { CommandContext } from './command.ts'

export type Compared =
  | { readonly ok: true; readonly from: string; readonly to: string; readonly changes: readonly ConfigChange[] }
  | { readonly ok: false; readonly detail: string }

export async function compareTexts(
  before: ConfigText,
  after: ConfigText,
  compare: (from: KubeletConfig, to: KubeletConfig) => Promise<readonly ConfigChange[]>,
  { yaml, mergeHere }: Pick<CommandContext, 'yaml' | 'mergeHere'>,
): Promise<Compared> {
  if (!before.ok) return before
  if (!after.ok) return after
  const from = await decodeText(before.text, yaml)
  if (!from.ok) return { ok: false, detail: `${before.name}: ${from.detail}` }
  const to = await decodeText(after.text, yaml)
  if (!to.ok) return { ok: false, detail: `${after.name}: ${to.detail}` }
  if (before.place === undefined || after.place === undefined)
    return {
      ok: true,
      from: before.name,
      to: after.name,
      changes: nameLayersOf(await compare(from.config, to.config), to.config, to.config, after.layers),
    }
  const old = await mergeHere(from.config, before.place)
  const next = await mergeHere(to.config, after.place)
  return {
    ok: true,
    from: nameMerged(before.name, old),
    to: nameMerged(after.name, next),
    changes: nameLayersOf(await compare(old.config, next.config), to.config, next.config, after.layers),
  }
}

/** A field that a drop-in of kubelet sets comes from no layer. */
function nameLayersOf(
  changes: readonly ConfigChange[],
  own: KubeletConfig,
  merged: KubeletConfig,
  layers: readonly ConfigLayer[] = [],
): readonly ConfigChange[] {
  return changes.map((change) => {
    const { path } = change
    const isOwn = isDeepStrictEqual(valueAt(own, path), valueAt(merged, path))
    const layer = isOwn ? findLayer(layers, path) : undefined
    return layer === undefined ? change : { ...change, layer }
  })
}

function valueAt(config: KubeletConfig, path: FieldPath): unknown {
  return path.reduce<unknown>((value, step) => (isObject(value) ? value[step] : undefined), config)
}

export function nameMerged(name: string, { order }: MergedHere): string {
  const isAlone = order === undefined || [order.base, ...order.below, ...order.above].every((file) => file === undefined)
  return isAlone ? name : `${name} with kubelet's drop-ins`
}
