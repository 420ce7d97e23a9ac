/**
 * What is desired of this node, with its overlay. Pure. An overlay that cannot be used leaves the node as it is: neither local nor without overlay is what
 * anybody asked for. Local is the administrator's own file, and nothing is laid over it.
 */
import type { Desired } from '../agent/desired.ts'
import { OVERLAY_ERROR } from '../report/texts.ts'
import type { OverlayView } from './view.ts'

/** @param onFault of the rendering: a fault of the files is said by whoever reads them */
export function layOver(desired: Desired, view: OverlayView, onFault: (detail: string) => void = () => {}): Desired {
  if (desired.kind !== 'config-map' || view.kind === 'none') return desired
  if (view.kind === 'pending') {
    return { kind: 'unknown', detail: "this node's overlay has not been read yet", ...(desired.heard && { heard: desired.heard }) }
  }
  if (view.kind === 'faulty') return refuse(desired)
  if (desired.object.kind !== 'found') return desired
  const rendering = view.render(desired.object.data, desired.ref.kubeletConfigKey)
  if (!rendering.ok) {
    onFault(rendering.detail)
    return refuse(desired)
  }
  return { ...desired, object: { ...desired.object, rendered: rendering.rendered } }
}

function refuse({ heard, object }: Extract<Desired, { kind: 'config-map' }>): Desired {
  const isSeen = object.kind === 'found'
  return { kind: 'invalid', detail: OVERLAY_ERROR, ...(heard && { heard: { ...heard, problem: OVERLAY_ERROR } }), isSeen }
}
