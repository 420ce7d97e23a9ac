// SPDX-License-Identifier: Apache-2.0
/**
 * The assignment that the cluster wants of the simulated node: as the agent knows it, and as it is.
 * Parts are merged by the agent's own source of parts; only the merging itself is simulated.
 */

import type { Desired } from '../../src/decision/desired.ts'
import { applyOverlay, applyPart } from '../../src/overlay/apply.ts'
import type { MergeResult } from '../../src/overlay/merge-part.ts'
import { PartSource } from '../../src/overlay/part-source.ts'
import { nameRendering, type OverlayView } from '../../src/overlay/read-overlay.ts'
import type { LocalConfigView, ReadLocalConfig } from '../../src/ports/assignment-source.ts'
import type { ConfigMapData } from '../../src/subject/config-source.ts'
import { silentLog } from '../checkpoint/silent-log.ts'
import { baseOf, mergedText } from './behaviour.ts'
import { LOCAL_PATH } from './paths.ts'
import type { SimCluster } from './sim-cluster.ts'
import type { SimOverlay } from './sim-overlay.ts'

const PENDING: OverlayView = { kind: 'pending' }
/** Longer than the real read takes: most of what an agent does first comes before it. */
const OVERLAY_READ_US = 3e6

interface SimAssignmentParts {
  readonly nowUs: () => number
  /** The local config as the administrator has it. */
  readonly localText: () => string
  /** Wakes the agent. */
  readonly onChange: () => void
}

export class SimAssignment {
  readonly #cluster: SimCluster
  readonly #overlay: SimOverlay
  readonly #parts: SimAssignmentParts
  /** Until then a new agent does not know its overlay. */
  #overlayFromUs = 0
  #source: PartSource
  /** The source of parts sleeps until the local config has settled. */
  #sleep: { readonly untilUs: number; readonly wake: () => void } | undefined
  /** Computed at every look otherwise, and it changes rarely. */
  #known: { readonly merged: Desired; readonly overlay: OverlayView; readonly desired: Desired } | undefined

  constructor(cluster: SimCluster, overlay: SimOverlay, parts: SimAssignmentParts) {
    this.#cluster = cluster
    this.#overlay = overlay
    this.#parts = parts
    this.#source = this.#openSource()
  }

  /** A new agent remembers nothing. */
  startAgent(): void {
    this.#overlayFromUs = this.#parts.nowUs() + OVERLAY_READ_US
    this.#source = this.#openSource()
  }

  /**
   * The assignment as the agent knows it, with parts merged and the overlay applied.
   * @param readLocal absent: the agent does not look
   */
  desired(readLocal: ReadLocalConfig = () => ({ kind: 'unknown', detail: 'not read' })): Desired {
    const merged = this.#source.desired(readLocal)
    const overlay = this.#parts.nowUs() < this.#overlayFromUs ? PENDING : this.#overlay.view()
    if (this.#known?.merged !== merged || this.#known.overlay !== overlay) {
      this.#known = { merged, overlay, desired: applyOverlay(merged, overlay) }
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

  /** The assignment as it really is, with parts merged and the overlay applied. */
  truth(): Desired {
    const local: LocalConfigView = { kind: 'found', path: LOCAL_PATH, text: this.#parts.localText() }
    const { desired } = applyPart(
      this.#cluster.truth(),
      () => local,
      ({ root }, data, key) => merge(root?.text ?? '', data, key),
    )
    return applyOverlay(desired, this.#overlay.view())
  }

  /** When the agent next learns something by itself. */
  nextUs(): number {
    const overlayUs = this.#overlayFromUs > this.#parts.nowUs() ? this.#overlayFromUs : Number.POSITIVE_INFINITY
    return Math.min(overlayUs, this.#sleep?.untilUs ?? Number.POSITIVE_INFINITY)
  }

  /** To be called when that time has come. */
  advance(): void {
    const { onChange, nowUs } = this.#parts
    if (this.#sleep !== undefined && nowUs() >= this.#sleep.untilUs) {
      this.#sleep.wake()
      this.#sleep = undefined
    }
    onChange()
  }

  #openSource(): PartSource {
    const { nowUs, onChange } = this.#parts
    this.#sleep = undefined
    const inner = { desired: () => this.#cluster.desired(), start: () => {}, stop: async () => {} }
    const source = new PartSource(inner, {
      merge: async ({ root }, data, key) => merge(root?.text ?? '', data, key),
      pace: {
        nowMs: () => nowUs() / 1000,
        sleep: (ms) =>
          new Promise<void>((wake) => {
            this.#sleep = { untilUs: Math.ceil(nowUs() + ms * 1000), wake }
          }),
      },
      log: silentLog(),
    })
    source.start(() => {
      if (this.#source === source) onChange()
    })
    return source
  }
}

function merge(local: string, data: ConfigMapData, key: string): MergeResult {
  const part = data[key]
  if (part === undefined) return { ok: true, rendered: nameRendering(data, key), patches: [], computed: [] }
  const text = mergedText(part, local)
  if (text === undefined) return { ok: false, fault: 'part', detail: 'does not parse' }
  if (baseOf(local) === 'unusable') return { ok: false, fault: 'local', detail: 'does not parse' }
  return { ok: true, rendered: nameRendering({ ...data, [key]: text }, key), patches: [], computed: [] }
}

/** undefined: no text is desired, or it is not known. A key that is missing has an empty text. */
export function textOf(desired: Desired): string | undefined {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return undefined
  const { rendered, data } = desired.object
  return (rendered?.data ?? data)[desired.ref.kubeletConfigKey] ?? ''
}
