/**
 * What is desired of this node, with its overlay. Pure. An overlay that cannot be used leaves the node as it is: neither local nor without overlay is what
 * anybody asked for. Local is the administrator's own file, and nothing is laid over it. A ConfigMap that is not there is the nearer fault.
 */
import type { ChannelState, Desired } from '../decision/desired.ts'
import { OVERLAY_ERROR } from '../decision/status-texts.ts'
import type { OverlayView } from './view.ts'

/** @param onFault of the rendering: a fault of the files is said by whoever reads them */
export function layOver(desired: Desired, view: OverlayView, onFault: (detail: string) => void = () => {}): Desired {
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
