/**
 * The text of the config that the cluster assigns to this node, as it was fetched. Pure but for the
 * readers that are passed in.
 */

import type { ConfigMapRef } from '../../decision/config-source.ts'
import type { ConfigMapView, Desired } from '../../decision/desired.ts'
import type { Snapshot } from '../../decision/snapshot.ts'
import { type ConfigText, readConfigOf } from './active-config.ts'
import { nameOverlaid, nameUnder } from './candidate.ts'
import type { CommandContext } from '../command.ts'

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
