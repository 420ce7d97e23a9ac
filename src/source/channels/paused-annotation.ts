/**
 * The pause that a cluster administrator asks for, on the Node or on the ConfigMap that it is to use. A value that is neither true nor false
 * pauses too, and says so: who wrote it wanted something, and a node that stays as it is does no harm. Pure.
 */

import { PAUSED_ANNOTATION } from '../../decision/channels.ts'
import type { ClusterPause } from '../../decision/desired.ts'
import { quote } from '../../values/kubernetes-names.ts'
import type { Metadata } from './metadata.ts'

/** @param name of the object that it is read from. undefined: it does not pause. */
export function readPause({ annotations }: Metadata, on: ClusterPause['on'], name: string): ClusterPause | undefined {
  const value = annotations[PAUSED_ANNOTATION]
  if (value === undefined || value === 'false') return undefined
  const by = `annotation ${PAUSED_ANNOTATION} of ${on} ${name}`
  return { on, by: value === 'true' ? by : `${by}, which is ${quote(value)} and neither true nor false` }
}
