/** Finds the position of a path: its own, or that of the nearest enclosing path. Pure. */

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
