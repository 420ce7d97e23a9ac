/**
 * The pause annotation on the Node or on the assigned ConfigMap. A value other than `true`, `false`
 * and the empty one pauses too, and the message says so: a node that stays as it is does no harm.
 * Pure.
 */

import { PAUSED_ANNOTATION } from '../../decision/channels.ts'
import type { ClusterPause } from '../../decision/desired.ts'
import { quote } from '../../values/kubernetes-names.ts'
import type { Metadata } from './metadata.ts'

/**
 * @param name of the object that has the annotations
 * @returns undefined: not paused
 */
export function readPause({ annotations }: Metadata, on: ClusterPause['on'], name: string): ClusterPause | undefined {
  const value = annotations[PAUSED_ANNOTATION]
  if (value === undefined || value === '' || value === 'false') return undefined
  const by = `annotation ${PAUSED_ANNOTATION} of ${on} ${name}`
  return { on, by: value === 'true' ? by : `${by}, which is ${quote(value)} and neither true nor false` }
}
