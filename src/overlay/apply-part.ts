/**
 * Merges the part that is assigned over its base. Pure. If it cannot be merged, the node stays as
 * it is: neither local config nor the part alone is what was configured.
 */
import type { ConfigMapData } from '../decision/config-source.ts'
import type { Desired } from '../decision/desired.ts'
import { LOCAL_BASE_ERROR, PART_ERROR } from '../decision/status-texts.ts'
import type { LocalConfigView } from '../ports/local-config.ts'
import type { BaseText, PartResult } from './merge-part.ts'
import { refuseDesired } from './refuse-desired.ts'

export type AppliedPart =
  | { readonly kind: 'applied'; readonly desired: Desired }
  /** It cannot be told yet what is desired. */
  | { readonly kind: 'waiting'; readonly desired: Desired }
  | { readonly kind: 'faulty'; readonly desired: Desired; readonly detail: string }

/** undefined: it is being merged. Returns the same object for the same arguments. */
export type MergePart = (base: BaseText, data: ConfigMapData, key: string) => PartResult | undefined

/** @param local undefined: it has not settled yet */
export function applyPart(desired: Desired, local: () => LocalConfigView | undefined, merge: MergePart): AppliedPart {
  if (!isPart(desired)) return { kind: 'applied', desired }
  const { ref, object, channelState } = desired
  const waiting = (detail: string): AppliedPart => ({
    kind: 'waiting',
    desired: { kind: 'unknown', detail, ...(channelState && { channelState }) },
  })
  const faulty = (error: string, detail: string): AppliedPart => ({ kind: 'faulty', desired: refuseDesired(error, channelState), detail })
  const { base } = object
  if (base.kind === 'invalid') return faulty(base.detail, base.detail)
  const view = local()
  switch (view?.kind) {
    case undefined:
      return waiting('the local config has not settled yet')
    case 'unknown':
      return waiting(`the local config is not known: ${view.detail}`)
    case 'unusable':
      return faulty(LOCAL_BASE_ERROR, view.detail)
    case 'found': {
      const result = merge(view, object.data, ref.kubeletConfigKey)
      if (result === undefined) return waiting('the assigned part is being merged')
      if (!result.ok) return faulty(result.fault === 'base' ? LOCAL_BASE_ERROR : PART_ERROR, result.detail)
      return { kind: 'applied', desired: { ...desired, object: { ...object, rendered: result.rendered } } }
    }
  }
}

type Assigned = Extract<Desired, { kind: 'config-map' }>
type Found = Extract<Assigned['object'], { kind: 'found' }>
type AssignedPart = Assigned & { readonly object: Found & { readonly base: NonNullable<Found['base']> } }

export function isPart(desired: Desired): desired is AssignedPart {
  return desired.kind === 'config-map' && desired.object.kind === 'found' && desired.object.base !== undefined
}
