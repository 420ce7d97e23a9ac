/** What is known of this node's overlay. Types only. What cannot be used is a value of its own: it is never taken for no overlay. */

import type { ConfigMapData } from '../decision/config-source.ts'
import type { Rendered } from '../decision/desired.ts'

export type OverlayView =
  /** There are no files. */
  | { readonly kind: 'none' }
  /** They have not been read yet, or are being written. */
  | { readonly kind: 'pending' }
  /** `detail`: with the file, and where there is one the place in it. */
  | { readonly kind: 'faulty'; readonly detail: string }
  | PresentOverlay

export interface PresentOverlay {
  readonly kind: 'present'
  /** Names of its files, in the order in which they are laid over the config. */
  readonly files: readonly string[]
  /** The same object for the same data. */
  render(data: ConfigMapData, key: string): Rendering
}

export type Rendering = { readonly ok: true; readonly rendered: Rendered } | { readonly ok: false; readonly detail: string }
