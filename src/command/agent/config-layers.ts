// SPDX-License-Identifier: Apache-2.0
/**
 * The layers of the config that a command works on. Pure but for the readers that are passed in.
 */

import type { BaseView, Desired } from '../../decision/desired.ts'
import { decodeText } from '../../kubelet/decode.ts'
import type { MergedObject, MergeReaders } from '../../overlay/apply.ts'
import { nameConfigMap } from '../../overlay/find-bases.ts'
import { type ConfigLayer, findLayer, listLayers } from '../../overlay/layers.ts'
import { INSTANCE_CONFIG, type NodePatches, OVERLAY, type PatchSet } from '../../overlay/patch-set.ts'
import type { Report } from '../../preflight/finding.ts'
import { type ConfigMapRef, describeRef } from '../../subject/config-source.ts'
import type { UnitState } from '../../subject/unit-state.ts'
import { documentMerged, layAround, type MergedDocument, NOT_MERGED, ownLayers } from '../merged.ts'
import type { CommandContext } from './command.ts'

export type PatchReaders = Pick<CommandContext, 'readOverlay' | 'readInstanceConfig'>

/** The patches that this node merges over a ConfigMap, in this order. */
export async function readPatches(assigned: Parameters<PatchSet['isFor']>[0], readers: PatchReaders): Promise<readonly NodePatches[]> {
  const overlay = { patches: OVERLAY, view: await readers.readOverlay() }
  if (!INSTANCE_CONFIG.isFor(assigned)) return [overlay]
  return [overlay, { patches: INSTANCE_CONFIG, view: await readers.readInstanceConfig() }]
}

export async function readLayers(
  config: { readonly name: string; readonly key: string },
  object: MergedObject,
  patches: readonly NodePatches[],
  { readLocalConfig, yaml, evaluate }: MergeReaders,
): Promise<readonly ConfigLayer[]> {
  const local = object.base === undefined ? undefined : await readLocalConfig()
  return listLayers({ ...config, object, local, patches }, yaml, evaluate)
}

export async function readDesiredLayers(
  desired: Desired | undefined,
  context: PatchReaders & MergeReaders,
): Promise<readonly ConfigLayer[]> {
  if (desired?.kind !== 'config-map' || desired.object.kind !== 'found') return []
  const { ref, object } = desired
  return readLayers({ name: nameConfigMap(ref), key: ref.kubeletConfigKey }, object, await readPatches({ ref, object }, context), context)
}

/**
 * The layers that match this node, which the selector lays over whatever it chooses. undefined:
 * none, or the config is one of them itself
 */
export async function findLayersOver(
  config: ConfigMapRef,
  { unit, fetchDesired }: Pick<CommandContext, 'unit' | 'fetchDesired'>,
): Promise<readonly BaseView[] | undefined> {
  if (!isNode(await unit.observe())) return undefined
  const desired = await fetchDesired()
  const layers = desired.kind === 'config-map' && desired.object.kind === 'found' ? desired.object.layers : undefined
  return layers?.some(({ ref }) => describeRef(ref) === describeRef(config)) === true ? undefined : layers
}

/**
 * The report, whose findings say which layer their field comes from.
 * @param own without drop-ins: a finding about what a drop-in overrides is about the field below it
 */
export function nameLayersIn(report: Report, own: readonly ConfigLayer[], around: readonly ConfigLayer[]): Report {
  const findings = report.findings.map((finding) => {
    const layers = finding.rule.startsWith('drop-ins/') ? own : around
    const layer = finding.path.length === 0 ? undefined : findLayer(layers, finding.path)
    return layer === undefined ? finding : { ...finding, layer }
  })
  return { ...report, findings }
}

/** A config with what it is merged from. */
interface LayersHere {
  /** The lowest first, with kubelet's drop-ins. */
  readonly around: readonly ConfigLayer[]
  readonly merged: MergedDocument
}

/**
 * @param own its layers without drop-ins; none: it is not merged otherwise
 * @param isHere whether it is for this node
 */
export async function findLayersHere(
  { name, text, own }: { readonly name: string; readonly text: string; readonly own: readonly ConfigLayer[] },
  isHere: boolean,
  { mergeHere, yaml }: Pick<CommandContext, 'mergeHere' | 'yaml'>,
): Promise<LayersHere> {
  const decoded = await decodeText(text, yaml)
  if (!decoded.ok) return { around: own, merged: NOT_MERGED }
  const { config } = decoded
  const here = isHere ? await mergeHere(config, 'assigned') : { config, order: undefined }
  const [lowest = { name, value: config }, ...others] = own
  const around = layAround([lowest, ...others], here.order)
  return { around: around.length < 2 ? [] : around, merged: documentMerged(ownLayers([lowest, ...others]), here) }
}

/** On a machine without kubelet's unit (a build server), checks ignore the machine. */
export function isNode(unit: UnitState): boolean {
  return unit.kind === 'known' && unit.activity !== 'not-found'
}
