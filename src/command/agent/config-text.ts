// SPDX-License-Identifier: Apache-2.0
/**
 * The texts of the config that runs on this node and of the one that is assigned to it, and two
 * texts compared field by field: as kubelet makes of both with its drop-ins, where both are for
 * this node. Never guesses: a file that was replaced after kubelet started does not show what
 * kubelet runs. Pure but for the readers that are passed in.
 */

import { isDeepStrictEqual } from 'node:util'
import type { ConfigMapView, Desired } from '../../decision/desired.ts'
import type { Snapshot } from '../../decision/snapshot.ts'
import { decodeText, type KubeletConfig } from '../../kubelet/decode.ts'
import { decides, type FieldPath } from '../../kubelet/field-path.ts'
import { type ConfigLayer, findLayer } from '../../overlay/layers.ts'
import { type Beside, lacksKeys, nameContents } from '../../preflight/change/named-files.ts'
import type { ConfigPlace } from '../../preflight/drop-ins/read-drop-ins.ts'
import type { ConfigChange, MergedHere } from '../../preflight/inspection.ts'
import { describeStatus } from '../../report/status.ts'
import { type ConfigMapRef, type ConfigMapSource, type ConfigSource, describeSource } from '../../subject/config-source.ts'
import type { KnownUnit } from '../../subject/unit-state.ts'
import { errorMessage } from '../../values/errors.ts'
import { isObject } from '../../values/is-object.ts'
import { listAround } from '../merged.ts'
import { nameOverlaid, nameUnder } from './candidate.ts'
import type { CommandContext } from './command.ts'

export type ConfigText =
  | {
      readonly ok: true
      readonly name: string
      readonly text: string
      /** As in Beside. */
      readonly files?: Beside['files']
      /** Of a config that this node merges, the lowest first. */
      readonly layers?: readonly ConfigLayer[]
      /** undefined: kubelet's drop-ins are not merged with it. */
      readonly place?: ConfigPlace
    }
  | { readonly ok: false; readonly detail: string }

type Readers = Pick<CommandContext, 'checkpoints' | 'files'>

/** If no kubelet runs: the config of its next start. */
export function readActiveConfig(snapshot: Snapshot, readers: Readers): ConfigText {
  const { unit, running, nextStart } = snapshot
  if (unit.kind === 'unknown') return { ok: false, detail: unit.detail }
  if (running.kind === 'none') {
    return nextStart.kind === 'known'
      ? readConfigOf(nextStart.held.source, snapshot, unit, readers)
      : { ok: false, detail: nextStart.detail }
  }
  const active = describeStatus(snapshot, undefined).active
  if (active !== undefined) return readConfigOf(active, snapshot, unit, readers)
  const { process } = unit
  if (process.kind === 'other' && process.configPath !== undefined && !isUntraceable(unit)) return readFile(process.configPath, readers)
  return { ok: false, detail: 'kubelet runs neither its local config nor a checkpoint' }
}

export function readConfigOf(source: ConfigSource, snapshot: Snapshot, unit: KnownUnit, readers: Readers): ConfigText {
  if (source !== 'local') return readCheckpoint(source, readers)
  if (unit.localConfigPath === undefined) return { ok: false, detail: 'kubelet has no local config file' }
  const { nextStart } = snapshot
  const inPlace = !isReplaced(unit) || (nextStart.kind === 'known' && nextStart.held.source === 'local')
  if (!inPlace) return { ok: false, detail: `${unit.localConfigPath} was replaced with the config of kubelet's next start` }
  return readFile(unit.localConfigPath, readers)
}

/** Whether the file that the process names may not be what it runs. */
function isUntraceable({ wiring }: KnownUnit): boolean {
  return wiring.kind === 'ready' && wiring.configFlagIsFixed
}

function isReplaced({ wiring }: KnownUnit): boolean {
  return wiring.kind === 'ready' && wiring.replacesLocalFile
}

function readCheckpoint(source: ConfigMapSource, { checkpoints }: Readers): ConfigText {
  const name = describeSource(source)
  const data = checkpoints.data(source.uid, source.resourceVersion, source.overlay)
  const text = data !== undefined && Object.hasOwn(data, source.kubeletConfigKey) ? data[source.kubeletConfigKey] : undefined
  return data === undefined || text === undefined
    ? { ok: false, detail: `the checkpoint of ${name} is missing` }
    : { ok: true, name, text, files: data, place: 'assigned' }
}

function readFile(path: string, { files }: Readers): ConfigText {
  try {
    const bytes = files.read(path)
    return bytes === undefined
      ? { ok: false, detail: `${path} does not exist` }
      : { ok: true, name: path, text: bytes.toString('utf8'), place: 'local' }
  } catch (error) {
    return { ok: false, detail: errorMessage(error) }
  }
}

export function findDesired(
  desired: Desired | undefined,
  snapshot: Snapshot | undefined,
  context: Pick<CommandContext, 'checkpoints' | 'files'>,
): ConfigText {
  if (desired?.kind === 'local' && snapshot?.unit.kind === 'known') return readConfigOf('local', snapshot, snapshot.unit, context)
  if (desired?.kind !== 'config-map') {
    const why = desired?.kind === 'unknown' || desired?.kind === 'invalid' ? `: ${desired.detail}` : ''
    return { ok: false, detail: `the config that is assigned to this node is unknown${why}` }
  }
  const { ref, object } = desired
  const name = nameDesired(ref, object)
  if (object.kind !== 'found') return { ok: false, detail: `${name}: ${object.kind === 'unavailable' ? object.detail : 'not read yet'}` }
  const data = object.rendered?.data ?? object.data
  const text = Object.hasOwn(data, ref.kubeletConfigKey) ? data[ref.kubeletConfigKey] : undefined
  return text === undefined ? { ok: false, detail: `${name}: no such key` } : { ok: true, name, text, files: data, place: 'assigned' }
}

export function nameDesired(ref: ConfigMapRef, object: ConfigMapView): string {
  const name = `configmap/${ref.namespace}/${ref.name}:${ref.kubeletConfigKey}`
  if (object.kind !== 'found' || object.rendered === undefined) return name
  return nameOverlaid(nameUnder(name, object), object.rendered.overlay)
}

export type Compared =
  | { readonly ok: true; readonly from: string; readonly to: string; readonly changes: readonly ConfigChange[] }
  | { readonly ok: false; readonly detail: string }

export async function compareTexts(
  before: ConfigText,
  after: ConfigText,
  compare: (from: KubeletConfig, to: KubeletConfig) => Promise<readonly ConfigChange[]>,
  { yaml, mergeHere }: Pick<CommandContext, 'yaml' | 'mergeHere'>,
): Promise<Compared> {
  if (!before.ok) return before
  if (!after.ok) return after
  const from = await decodeText(before.text, yaml)
  if (!from.ok) return { ok: false, detail: `${before.name}: ${from.detail}` }
  const to = await decodeText(after.text, yaml)
  if (!to.ok) return { ok: false, detail: `${after.name}: ${to.detail}` }
  const alone = (config: KubeletConfig): MergedHere => ({ config, order: undefined })
  const [old, next] =
    before.place === undefined || after.place === undefined
      ? [alone(from.config), alone(to.config)]
      : [await mergeHere(from.config, before.place), await mergeHere(to.config, after.place)]
  const [was, is] = [withFiles(old, before), withFiles(next, after)]
  return {
    ok: true,
    from: nameGiven(nameMerged(before.name, old), was),
    to: nameGiven(nameMerged(after.name, next), is),
    changes: nameLayersOf(await compare(...nameContents(was, is)), to.config, next, after),
  }
}

function withFiles({ config, isElsewhere = false }: MergedHere, { files }: { readonly files?: Beside['files'] }): Beside {
  return { config, files: isElsewhere ? undefined : files }
}

function nameGiven(name: string, given: Beside): string {
  return lacksKeys(given) ? `${name} (its other keys are not known here)` : name
}

/**
 * @param own the config without drop-ins
 * @param text where it comes from
 */
function nameLayersOf(
  changes: readonly ConfigChange[],
  own: KubeletConfig,
  merged: MergedHere,
  { name, layers = [] }: { readonly name: string; readonly layers?: readonly ConfigLayer[] },
): readonly ConfigChange[] {
  const { below, above } = listAround(merged.order)
  const isMerged = below.length + above.length > 0
  const inner = layers.length === 0 && isMerged ? [{ name, value: own }] : layers
  return changes.map((change) => {
    const { path } = change
    const value = valueAt(merged.config, path)
    const winner = above.findLast(
      (dropIn) => decides(dropIn.value, path) && isDeepStrictEqual(valueAt(dropIn.value, path) ?? undefined, value),
    )
    // Kubelet takes a default in place of some values when it merges drop-ins.
    const isOwn = isDeepStrictEqual(valueAt(own, path), value)
    const layer = winner?.name ?? (isOwn ? findLayer(inner, path) : undefined) ?? findLayer(below, path)
    return layer === undefined ? change : { ...change, layer }
  })
}

function valueAt(config: unknown, path: FieldPath): unknown {
  return path.reduce<unknown>((value, step) => (isObject(value) ? value[step] : undefined), config)
}

function nameMerged(name: string, { order }: MergedHere): string {
  const isAlone = order === undefined || [order.base, ...order.below, ...order.above].every((file) => file === undefined)
  return isAlone ? name : `${name} with kubelet's drop-ins`
}
