/**
 * Merges the part that is assigned over its bases, and layers over it. Pure. If it cannot be
 * merged, the node stays as it is: neither local config nor the part alone is what was configured.
 */
import type { ConfigMapData } from '../decision/config-source.ts'
import type { Desired, FoundConfigMap } from '../decision/desired.ts'
import { BASE_ERROR, LAYER_ERROR, LOCAL_BASE_ERROR, PART_ERROR } from '../decision/status-texts.ts'
import type { LocalConfigView } from '../ports/assignment-source.ts'
import { findBases, nameLayers } from './find-bases.ts'
import { listFields } from './layered-fields.ts'
import type { BaseTexts, PartResult } from './merge-part.ts'
import { refuseDesired } from './refuse-desired.ts'

export type AppliedPart =
  | { readonly kind: 'applied'; readonly desired: Desired }
  /** It cannot be told yet what is desired. */
  | { readonly kind: 'waiting'; readonly desired: Desired }
  | { readonly kind: 'faulty'; readonly desired: Desired; readonly detail: string }

/** undefined: it is being merged. Returns the same object for the same arguments. */
export type MergePart = (bases: BaseTexts, data: ConfigMapData, key: string) => PartResult | undefined

const ERRORS: Readonly<Record<Extract<PartResult, { ok: false }>['fault'], string>> = {
  local: LOCAL_BASE_ERROR,
  base: BASE_ERROR,
  part: PART_ERROR,
  layer: LAYER_ERROR,
}

/** @param local called only if the local config is under it. undefined: it has not settled yet */
export function applyPart(desired: Desired, local: () => LocalConfigView | undefined, merge: MergePart): AppliedPart {
  if (!isMerged(desired)) return { kind: 'applied', desired }
  const { ref, object, channelState } = desired
  const waiting = (detail: string): AppliedPart => ({
    kind: 'waiting',
    desired: { kind: 'unknown', detail, ...(channelState && { channelState }) },
  })
  const faulty = (error: string, detail: string): AppliedPart => ({
    kind: 'faulty',
    desired: refuseDesired(error, channelState, detail),
    detail,
  })
  const reading = findBases(object, local)
  if (reading.kind === 'pending') return waiting(reading.detail)
  if (reading.kind === 'faulty') return faulty(reading.error, reading.detail)
  const result = merge(reading.bases, object.data, ref.kubeletConfigKey)
  if (result === undefined) return waiting('the assigned part is being merged')
  if (!result.ok) return faulty(ERRORS[result.fault], result.detail)
  const mergedFrom = nameLayers(reading.bases, ref)
  const wholes = mergedFrom.length - result.patches.length
  const fields = listFields(mergedFrom.map((name, index) => ({ name, value: index < wholes ? {} : result.patches[index - wholes] })))
  return { kind: 'applied', desired: { ...desired, object: { ...object, rendered: result.rendered, mergedFrom, fields } } }
}

type Assigned = Extract<Desired, { kind: 'config-map' }>
type AssignedFound = Assigned & { readonly object: FoundConfigMap }

/** Whether this node merges the assigned ConfigMap with anything but its overlay. */
export function isMerged(desired: Desired): desired is AssignedFound {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return false
  return desired.object.base !== undefined || desired.object.layers !== undefined
}
