/** Waits for the rendering of a config, for a command that has nothing else to do. Pure. */
import type { ConfigMapData } from '../decision/config-source.ts'
import type { Desired } from '../decision/desired.ts'
import { applyOverlay } from './apply-overlay.ts'
import type { NodePatches } from './patch-set.ts'
import type { PresentOverlay, Rendering } from './view.ts'

export async function applyWhenRendered(desired: Desired, { patches, view }: NodePatches): Promise<Desired> {
  if (desired.kind === 'config-map' && desired.object.kind === 'found' && view.kind === 'present')
    await awaitRendering(view, desired.object.rendered?.data ?? desired.object.data, desired.ref.kubeletConfigKey)
  return applyOverlay(desired, view, {}, patches)
}

export function awaitRendering(overlay: PresentOverlay, data: ConfigMapData, key: string): Promise<Rendering> {
  return new Promise((resolve) => {
    const look = (): void => {
      const rendering = overlay.render(data, key, look)
      if (rendering !== undefined) resolve(rendering)
    }
    look()
  })
}
