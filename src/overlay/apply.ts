// SPDX-License-Identifier: Apache-2.0
/**
 * The assignment once the assigned ConfigMap is merged with its bases, its layers and the patches
 * of this node. Pure, apart from what is passed in. If they cannot be merged, the node stays as it
 * is: neither local config nor a config without them is what was configured.
 */

import type { ChannelState, ComputedField, Desired, FoundConfigMap, Rendered } from '../decision/desired.ts'
import { BASE_ERROR, COMPUTED_ERROR, LAYER_ERROR, LOCAL_BASE_ERROR, PART_ERROR } from '../decision/status-texts.ts'
import type { YamlReader } from '../kubelet/yaml-document.ts'
import type { LocalConfigView, NodeView } from '../ports/assignment-source.ts'
import type { ConfigMapData } from '../subject/config-source.ts'
import type { NodeShown } from '../subject/node-shown.ts'
import { cutToBytes } from '../values/cut.ts'
import { type ComputedValue, type Evaluate, mayCompute } from './computed.ts'
import { findBases, type Merged, nameConfigMap, nameLayers } from './find-bases.ts'
import { layOver, listFields } from './layers.ts'
import { type BaseTexts, type MergeResult, mayComputeAny, mergePart } from './merge-part.ts'
import { type NodePatches, namePatches, OVERLAY, type PatchSet } from './patch-set.ts'
import type { OverlayView, PresentOverlay, Rendering } from './read-overlay.ts'

/** The events that the owner of the result wants to know of. */
interface OnApply {
  /** Rendering fails. Faults of the files are logged where they are read. */
  readonly onFault?: (detail: string) => void
  /** The result is `unknown` for the moment, since the config is being parsed. */
  readonly onWait?: () => void
  /** After that: the result can be had. */
  readonly onRendered?: () => void
}

/**
 * Applies patches of this node, after a part was merged. They are not applied to local config,
 * which is the administrator's own file. A missing ConfigMap is reported before a broken overlay.
 */
export function applyOverlay(
  desired: Desired,
  view: OverlayView,
  { onFault, onWait, onRendered }: OnApply = {},
  patches: PatchSet = OVERLAY,
): Desired {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found' || view.kind === 'none') return desired
  const { ref, object, channelState } = desired
  if (!patches.isFor({ ref, object })) return desired
  const wait = (detail: string): Desired => ({ kind: 'unknown', detail, ...(channelState && { channelState }) })
  if (view.kind === 'pending') return wait(`this node's ${patches.name} has not been read yet`)
  if (view.kind === 'faulty') return refuseDesired(patches.error, channelState, view.detail)
  const rendering = view.render(object.rendered?.data ?? object.data, ref.kubeletConfigKey, onRendered)
  if (rendering === undefined) {
    onWait?.()
    return wait(`this node's ${patches.name} is being applied`)
  }
  if (rendering.ok && rendering.applied.length === 0) return desired
  if (rendering.ok) {
    const { mergedFrom = [nameConfigMap(ref)] } = object
    const named = namePatches(patches, rendering.applied)
    const layers = patches.isLayer ? { mergedFrom: [...mergedFrom, ...named.map(({ name }) => name)] } : {}
    const below = object.mergedFrom === undefined ? (object.fields ?? []) : object.fields
    const fields = named.reduce(layOver, below)
    return { ...desired, object: { ...object, rendered: rendering.rendered, fields, ...layers } }
  }
  onFault?.(rendering.detail)
  return refuseDesired(patches.error, channelState, rendering.detail)
}

type AppliedPart =
  | { readonly kind: 'applied'; readonly desired: Desired }
  /** The result is not known yet. */
  | { readonly kind: 'waiting'; readonly desired: Desired }
  | { readonly kind: 'faulty'; readonly desired: Desired; readonly detail: string }

/**
 * undefined: it is being merged. Returns the same object for the same arguments.
 * @param node undefined: no value is computed from it
 */
type MergePart = (bases: BaseTexts, data: ConfigMapData, key: string, node: NodeShown | undefined) => Made | undefined

/** `factsSinceUs`: since when what the Node shows has made this of the texts. */
export type Made = MergeResult & { readonly factsSinceUs?: number }

const ERRORS: Readonly<Record<Extract<MergeResult, { ok: false }>['fault'], string>> = {
  local: LOCAL_BASE_ERROR,
  base: BASE_ERROR,
  part: PART_ERROR,
  layer: LAYER_ERROR,
  computed: COMPUTED_ERROR,
}

/**
 * Merges the part that is assigned over its bases, and layers over it, and computes their values.
 * @param local called only if the local config is under it. undefined: it has not settled yet
 * @param viewNode called only if values are computed from the Node
 */
export function applyPart(
  desired: Desired,
  local: () => LocalConfigView | undefined,
  merge: MergePart,
  viewNode: () => NodeView = () => NO_NODE,
): AppliedPart {
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
  const key = ref.kubeletConfigKey
  const view = mayComputeAny(reading.bases, textOf(object.data, key)) ? viewNode() : undefined
  if (view?.kind === 'pending') return waiting(view.detail)
  if (view?.kind === 'none') return faulty(COMPUTED_ERROR, view.detail)
  const result = merge(reading.bases, object.data, key, view?.node)
  if (result === undefined) return waiting('the assigned config is being merged or computed')
  if (!result.ok) return faulty(ERRORS[result.fault], result.detail)
  const { factsSinceUs } = result
  const mergedFrom = nameLayers(reading.bases, ref)
  const wholes = mergedFrom.length - result.patches.length
  const fields = listFields(mergedFrom.map((name, index) => ({ name, value: index < wholes ? {} : result.patches[index - wholes] })))
  return {
    kind: 'applied',
    desired: {
      ...desired,
      object: {
        ...{ ...object, rendered: result.rendered, mergedFrom, fields },
        ...(factsSinceUs !== undefined && { factsSinceUs }),
        ...(result.computed.length > 0 && { computed: result.computed.map((value) => toField(value, nameConfigMap(ref))) }),
      },
    },
  }
}

/** For people. */
const LONGEST_VALUE = 100

/** @param own the name of the assigned text */
function toField({ field, value, of: text }: ComputedValue, own: string): ComputedField {
  return { field, value: cutToBytes(JSON.stringify(value), LONGEST_VALUE), layer: text ?? own }
}

type Assigned = Extract<Desired, { kind: 'config-map' }>
type AssignedFound = Assigned & { readonly object: FoundConfigMap }

export const NO_NODE: NodeView = { kind: 'none', detail: 'values are computed from a Node of the cluster, and this node follows none' }

function textOf(data: ConfigMapData, key: string): string | undefined {
  return Object.hasOwn(data, key) ? data[key] : undefined
}

/** Whether this node merges the assigned ConfigMap with more than its overlay, or computes it. */
function isMerged(desired: Desired): desired is AssignedFound {
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return false
  const { base, layers, data } = desired.object
  return base !== undefined || layers !== undefined || mayCompute(textOf(data, desired.ref.kubeletConfigKey))
}

export interface MergeReaders {
  readLocalConfig(): Promise<LocalConfigView>
  readonly yaml: YamlReader
  /** For the node that the command is about. undefined: nothing is computed. */
  readonly evaluate?: Evaluate
}

export type MergedObject = Merged & { readonly data: ConfigMapData }

type MergedOnce =
  | { readonly ok: true; readonly rendered: Rendered; readonly computed: readonly ComputedValue[] }
  | { readonly ok: false; readonly detail: string }

/** Whether the local config is under it, also under its bases. */
export function restsOnLocal({ base, bases }: MergedObject): boolean {
  const rests = [base, ...(bases?.views ?? []).map(({ object }) => (object.kind === 'found' ? object.base : undefined))]
  return rests.some((each) => each?.kind === 'local')
}

/**
 * Merges a part for a command, which has nothing else to do. A detail is for the operator who runs
 * the command, and never published.
 */
export async function mergeOnce(object: MergedObject, key: string, { readLocalConfig, yaml, evaluate }: MergeReaders): Promise<MergedOnce> {
  const local = restsOnLocal(object) ? await readLocalConfig() : undefined
  const reading = findBases(object, () => local)
  return reading.kind === 'found' ? mergePart(reading.bases, object.data, key, yaml, evaluate) : { ok: false, detail: reading.detail }
}

export async function applyPartOnce(desired: Desired, readers: MergeReaders): Promise<Desired> {
  if (!isMerged(desired)) return desired
  const { object, ref, channelState } = desired
  const merged = await mergeOnce(object, ref.kubeletConfigKey, readers)
  return merged.ok ? { ...desired, object: { ...object, rendered: merged.rendered } } : refuseDesired(merged.detail, channelState)
}

/** Waits for the rendering of a config, for a command that has nothing else to do. */
export async function applyWhenRendered(desired: Desired, { patches, view }: NodePatches): Promise<Desired> {
  if (desired.kind === 'config-map' && desired.object.kind === 'found' && view.kind === 'present')
    await awaitRendering(view, desired.object.rendered?.data ?? desired.object.data, desired.ref.kubeletConfigKey)
  return applyOverlay(desired, view, {}, patches)
}

export function awaitRendering(overlay: PresentOverlay, data: ConfigMapData, key: string): Promise<Rendering> {
  return new Promise((resolve) => {
    const look = (): void => {
      const rendering = overlay.render(data, key, look)
      if (rendering !== undefined) resolve(rendering)
    }
    look()
  })
}

/**
 * The assignment while the latest answer is being worked out: as if a change had not arrived yet.
 * But a pause of the cluster counts at once. Its end counts with the answer that it belongs to: it
 * may have come with the correction of a bad edit.
 * @param latest says why it is not known yet
 * @param before what was known last, with each pause that was heard since
 */
export function whileWaiting(latest: Desired, before: Desired | undefined): Desired {
  // An assignment that is not known now has its own reason.
  if (before === undefined || before.kind === 'unknown') return latest
  if (latest.channelState === undefined || before.channelState === undefined) return before
  const paused = latest.channelState.paused ?? before.channelState.paused
  return { ...before, channelState: { ...before.channelState, paused } }
}

/**
 * The assignment where the assigned ConfigMap was read and cannot be rendered.
 * @param cause what is wrong, where `detail` only says that something is
 */
function refuseDesired(detail: string, channelState: ChannelState | undefined, cause?: string): Desired {
  const fault = { kind: 'invalid', detail, ...(cause !== undefined && { cause }) } as const
  return { ...fault, ...(channelState && { channelState: { ...channelState, problem: detail } }), isSeen: true }
}
