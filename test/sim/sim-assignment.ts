/** What the cluster wants of the simulated node: as the agent knows it, and as it is. */
import type { Desired } from '../../src/decision/desired.ts'
import { applyOverlay } from '../../src/overlay/apply-overlay.ts'
import type { OverlayView } from '../../src/overlay/view.ts'
import type { SimCluster } from './sim-cluster.ts'
import type { SimOverlay } from './sim-overlay.ts'

const PENDING: OverlayView = { kind: 'pending' }

export class SimAssignment {
  readonly #cluster: SimCluster
  readonly #overlay: SimOverlay
  readonly #nowUs: () => number
  /** Until then a new agent does not know its overlay. */
  overlayFromUs = 0
  /** Computed at every look otherwise, and it changes rarely. */
  #known: { readonly cluster: Desired; readonly overlay: OverlayView; readonly desired: Desired } | undefined

  constructor(cluster: SimCluster, overlay: SimOverlay, nowUs: () => number) {
    this.#cluster = cluster
    this.#overlay = overlay
    this.#nowUs = nowUs
  }

  /** What the agent knows of the assignment, with the overlay applied. */
  desired(): Desired {
    const cluster = this.#cluster.desired()
    const overlay = this.#nowUs() < this.overlayFromUs ? PENDING : this.#overlay.view()
    if (this.#known?.cluster !== cluster || this.#known.overlay !== overlay) {
      this.#known = { cluster, overlay, desired: applyOverlay(cluster, overlay) }
    }
    return this.#known.desired
  }

  /** The text that the agent knows to be wanted. undefined: it knows of none. */
  wantedText(): string | undefined {
    return textOf(this.desired())
  }

  /** The version that the agent knows to be wanted, for comparison. */
  wish(): string {
    const desired = this.desired()
    if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return desired.kind
    const { uid, resourceVersion } = desired.object
    return `${uid}/${resourceVersion}/${textOf(desired)}`
  }

  /** The assignment as it really is, with the overlay applied. */
  truth(): Desired {
    return applyOverlay(this.#cluster.truth(), this.#overlay.view())
  }
}

/** undefined: no text is desired, or it is not known. A key that is missing has an empty text. */
export function textOf(desired: Desired): string | undefined {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return undefined
  const { rendered, data } = desired.object
  return (rendered?.data ?? data)[desired.ref.kubeletConfigKey] ?? ''
}
