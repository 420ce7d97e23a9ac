/** A candidate as it was read: its text, what kubelet decodes it to, and where in the text everything stands. Types only. */
import type { KubeletConfig } from '../kubelet/decode.ts'
import type { FieldPath } from '../kubelet/field-path.ts'
import type { Position } from './finding.ts'

export interface ConfigDocument {
  readonly text: string
  /** Fields that every kubelet since 1.20 has are of the JSON types that it wants, at every depth; of newer ones `checkFields` says. */
  readonly config: KubeletConfig
  /** Where the key of this path stands (of a list's item: the item). undefined: there is no such place. */
  locate(path: FieldPath): Position | undefined
  /** Keys that their object has had before; of equal keys the last one counts. */
  readonly repeated: readonly { readonly path: FieldPath; readonly position: Position }[]
}
