/**
 * A parsed candidate: its text, the config that kubelet decodes from it, and positions. Types only.
 */
import type { KubeletConfig } from '../kubelet/decode.ts'
import type { FieldPath } from '../kubelet/field-path.ts'
import type { Position } from './finding.ts'

export interface ConfigDocument {
  readonly text: string
  /**
   * Fields that every kubelet since 1.20 has are of the right JSON types, at every depth.
   * `checkFields` checks the types of newer fields.
   */
  readonly config: KubeletConfig
  /**
   * Position of the key at this path, or of a list's item. undefined: the text does not have it.
   */
  locate(path: FieldPath): Position | undefined
  /** Keys that occur again in the same object. The last one counts. */
  readonly repeated: readonly { readonly path: FieldPath; readonly position: Position }[]
}
