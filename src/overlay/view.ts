/**
 * The state of this node's overlay. Types only. An overlay that cannot be used never counts as no
 * overlay.
 */

import type { ConfigMapData } from '../decision/config-source.ts'
import type { Rendered } from '../decision/desired.ts'

export type OverlayView =
  /** There are no files. */
  | { readonly kind: 'none' }
  /** The files have not been read yet, or are being written. */
  | { readonly kind: 'pending' }
  /** `detail` names the file and, where known, the place in it. */
  | { readonly kind: 'faulty'; readonly detail: string }
  | PresentOverlay

export interface PresentOverlay {
  readonly kind: 'present'
  /** Names of its files, in the order in which they apply. */
  readonly files: readonly string[]
  /** What each of them changes. */
  readonly patches: readonly NamedPatch[]
  /**
   * Returns the same object for the same data. undefined: the config is being parsed; then
   * `onRendered` is called when it is known.
   */
  render(data: ConfigMapData, key: string, onRendered?: () => void): Rendering | undefined
}

export interface NamedPatch {
  readonly name: string
  readonly patch: Readonly<Record<string, unknown>>
  /** It sets only fields that the config does not set. */
  readonly isDefault?: true
}

export type Rendering =
  /** `applied`: without the defaults of fields that the config sets. */
  | { readonly ok: true; readonly rendered: Rendered; readonly applied: readonly NamedPatch[] }
  | { readonly ok: false; readonly detail: string }
