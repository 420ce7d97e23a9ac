/** Where to point for a place that may not be in the text: there, or at the nearest thing around it. Pure. */

import type { FieldPath } from '../kubelet/field-path.ts'
import type { ConfigDocument } from './document.ts'
import type { Position } from './finding.ts'

export function locateNearest(document: Pick<ConfigDocument, 'locate'> | undefined, path: FieldPath): Position | undefined {
  for (let length = path.length; length > 0; length--) {
    const position = document?.locate(path.slice(0, length))
    if (position !== undefined) return position
  }
  return undefined
}
