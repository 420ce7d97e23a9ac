/**
 * Applies patches of this node to what is desired of the node, after a part was merged. Pure. If
 * they cannot be used, the node stays as it is: neither local config nor the config without them is
 * what was configured. They are not applied to local config, which is the administrator's own file.
 * A missing ConfigMap is reported before a broken overlay.
 */
import type { Desired } from '../decision/desired.ts'
import { nameConfigMap } from './find-bases.ts'
import { layOver } from './layered-fields.ts'
import { namePatches, OVERLAY, type PatchSet } from './patch-set.ts'
import { refuseDesired } from './refuse-desired.ts'
import type { OverlayView } from './view.ts'

/** What the owner of the result wants to know. */
export interface OnApply {
  /** Rendering fails. Faults of the files are logged where they are read. */
  readonly onFault?: (detail: string) => void
  /** The result is `unknown` for the moment, since the config is being parsed. */
  readonly onWait?: () => void
  /** After that: the result can be had. */
  readonly onRendered?: () => void
}

export function applyOverlay(
  desired: Desired,
  view: OverlayView,
  { onFault, onWait, onRendered }: OnApply = {},
  patches: PatchSet = OVERLAY,
): Desired {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found' || view.kind === 'none') return desired
  const { ref, object, channelState } = desired
  if (!patches.isFor({ ref, object })) return desired
  const wait = (detail: string): Desired => ({ kind: 'unknown', detail, ...(channelState && { channelState }) })
  if (view.kind === 'pending') return wait(`this node's ${patches.name} has not been read yet`)
  if (view.kind === 'faulty') return refuseDesired(patches.error, channelState, view.detail)
  const rendering = view.render(object.rendered?.data ?? object.data, ref.kubeletConfigKey, onRendered)
  if (rendering === undefined) {
    onWait?.()
    return wait(`this node's ${patches.name} is being applied`)
  }
  if (rendering.ok && rendering.applied.length === 0) return desired
  if (rendering.ok) {
    const { mergedFrom = [nameConfigMap(ref)] } = object
    const named = namePatches(patches, rendering.applied)
    const layers = patches.isLayer ? { mergedFrom: [...mergedFrom, ...named.map(({ name }) => name)] } : {}
    const below = object.mergedFrom === undefined ? (object.fields ?? []) : object.fields
    const fields = named.reduce(layOver, below)
    return { ...desired, object: { ...object, rendered: rendering.rendered, fields, ...layers } }
  }
  onFault?.(rendering.detail)
  return refuseDesired(patches.error, channelState, rendering.detail)
}
