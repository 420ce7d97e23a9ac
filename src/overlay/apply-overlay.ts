/**
 * Applies this node's overlay to what is desired of the node. Pure. If the overlay cannot be used,
 * the node stays as it is: neither local config nor the config without the overlay is what was
 * configured. The overlay is not applied to local config, which is the administrator's own file. A
 * missing ConfigMap is reported before a broken overlay.
 */
import type { ChannelState, Desired } from '../decision/desired.ts'
import { OVERLAY_ERROR } from '../decision/status-texts.ts'
import type { OverlayView } from './view.ts'

/**
 * @param onFault called when rendering fails; faults of the files are logged where they are read
 */
export function applyOverlay(desired: Desired, view: OverlayView, onFault: (detail: string) => void = () => {}): Desired {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found' || view.kind === 'none') return desired
  const { ref, object, channelState } = desired
  if (view.kind === 'pending')
    return { kind: 'unknown', detail: "this node's overlay has not been read yet", ...(channelState && { channelState }) }
  if (view.kind === 'faulty') return refuse(channelState)
  const rendering = view.render(object.data, ref.kubeletConfigKey)
  if (rendering.ok) return { ...desired, object: { ...object, rendered: rendering.rendered } }
  onFault(rendering.detail)
  return refuse(channelState)
}

function refuse(channelState: ChannelState | undefined): Desired {
  return {
    kind: 'invalid',
    detail: OVERLAY_ERROR,
    ...(channelState && { channelState: { ...channelState, problem: OVERLAY_ERROR } }),
    isSeen: true,
  }
}
