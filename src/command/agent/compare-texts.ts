/**
 * Decodes two texts of configs and compares them field by field: as kubelet makes them of both with
 * its drop-ins, where both are for this node.
 */

import { isDeepStrictEqual } from 'node:util'
import { decodeText, type KubeletConfig } from '../../kubelet/decode.ts'
import { decides, type FieldPath } from '../../kubelet/field-path.ts'
import { type ConfigLayer, findLayer } from '../../overlay/list-layers.ts'
import { type Beside, lacksKeys, nameContents } from '../../preflight/change/named-files.ts'
import type { ConfigChange, MergedHere } from '../../preflight/inspection.ts'
import { isObject } from '../../values/is-object.ts'
import type { CommandContext } from '../command.ts'
import { listAround } from '../merged-layers.ts'
import type { ConfigText } from './active-config.ts'

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
  if (before.place === undefined || after.place === undefined) {
    const alone = { config: to.config, order: undefined }
    const [was, is] = [withFiles({ config: from.config, order: undefined }, before), withFiles(alone, after)]
    const changes = await compare(...nameContents(was, is))
    return {
      ok: true,
      from: nameGiven(before.name, was),
      to: nameGiven(after.name, is),
      changes: nameLayersOf(changes, to.config, alone, after),
    }
  }
  const old = await mergeHere(from.config, before.place)
  const next = await mergeHere(to.config, after.place)
  const [was, is] = [withFiles(old, before), withFiles(next, after)]
  return {
    ok: true,
    from: nameGiven(nameMerged(before.name, old), was),
    to: nameGiven(nameMerged(after.name, next), is),
    changes: nameLayersOf(await compare(...nameContents(was, is)), to.config, next, after),
  }
}

function withFiles({ config, isElsewhere = false }: MergedHere, { files }: { readonly files?: Beside['files'] }): Beside {
  return { config, files: isElsewhere ? undefined : files }
}

function nameGiven(name: string, given: Beside): string {
  return lacksKeys(given) ? `${name} (its other keys are not known here)` : name
}

/**
 * @param own the config without drop-ins
 * @param text where it comes from
 */
function nameLayersOf(
  changes: readonly ConfigChange[],
  own: KubeletConfig,
  merged: MergedHere,
  { name, layers = [] }: { readonly name: string; readonly layers?: readonly ConfigLayer[] },
): readonly ConfigChange[] {
  const { below, above } = listAround(merged.order)
  const isMerged = below.length + above.length > 0
  const inner = layers.length === 0 && isMerged ? [{ name, value: own }] : layers
  return changes.map((change) => {
    const { path } = change
    const value = valueAt(merged.config, path)
    const winner = above.findLast(
      (dropIn) => decides(dropIn.value, path) && isDeepStrictEqual(valueAt(dropIn.value, path) ?? undefined, value),
    )
    // Kubelet takes a default in place of some values when it merges drop-ins.
    const isOwn = isDeepStrictEqual(valueAt(own, path), value)
    const layer = winner?.name ?? (isOwn ? findLayer(inner, path) : undefined) ?? findLayer(below, path)
    return layer === undefined ? change : { ...change, layer }
  })
}

function valueAt(config: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>((value, step) => (isObject(value) ? value[step] : undefined), config)
}

function nameMerged(name: string, { order }: MergedHere): string {
  const isAlone = order === undefined || [order.base, ...order.below, ...order.above].every((file) => file === undefined)
  return isAlone ? name : `${name} with kubelet's drop-ins`
}
