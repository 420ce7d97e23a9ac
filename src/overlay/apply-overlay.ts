/**
 * Applies this node's overlay to what is desired of the node, after a part was merged. Pure. If the
 * overlay cannot be used, the node stays as it is: neither local config nor the config without the
 * overlay is what was configured. The overlay is not applied to local config, which is the
 * administrator's own file. A missing ConfigMap is reported before a broken overlay.
 */
import type { Desired } from '../decision/desired.ts'
import { OVERLAY_ERROR } from '../decision/status-texts.ts'
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

export function applyOverlay(desired: Desired, view: OverlayView, { onFault, onWait, onRendered }: OnApply = {}): Desired {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found' || view.kind === 'none') return desired
  const { ref, object, channelState } = desired
  const wait = (detail: string): Desired => ({ kind: 'unknown', detail, ...(channelState && { channelState }) })
  if (view.kind === 'pending') return wait("this node's overlay has not been read yet")
  if (view.kind === 'faulty') return refuseDesired(OVERLAY_ERROR, channelState)
  const rendering = view.render(object.rendered?.data ?? object.data, ref.kubeletConfigKey, onRendered)
  if (rendering === undefined) {
    onWait?.()
    return wait("this node's overlay is being applied")
  }
  if (rendering.ok) return { ...desired, object: { ...object, rendered: rendering.rendered } }
  onFault?.(rendering.detail)
  return refuseDesired(OVERLAY_ERROR, channelState)
}
