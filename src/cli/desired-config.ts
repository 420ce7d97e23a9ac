/** The text of the config that the cluster wants this node to use, as it was fetched. Pure but for the reading that is passed in. */

import type { ConfigMapRef } from '../decision/config-source.ts'
import type { ConfigMapView, Desired } from '../decision/desired.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import { type ConfigText, readConfigOf } from './active-config.ts'
import { nameOverlaid } from './candidate.ts'
import type { CommandContext } from './command.ts'

/** What the cluster wants of this node. */
export function findDesired(
  desired: Desired | undefined,
  snapshot: Snapshot | undefined,
  context: Pick<CommandContext, 'checkpoints' | 'files'>,
): ConfigText {
  if (desired?.kind === 'local' && snapshot?.unit.kind === 'known') return readConfigOf('local', snapshot, snapshot.unit, context)
  if (desired?.kind !== 'config-map') {
    const why = desired?.kind === 'unknown' || desired?.kind === 'invalid' ? `: ${desired.detail}` : ''
    return { ok: false, detail: `what is assigned to this node cannot be told${why}` }
  }
  const { ref, object } = desired
  const name = nameDesired(ref, object)
  if (object.kind !== 'found') return { ok: false, detail: `${name}: ${object.kind === 'unavailable' ? object.detail : 'not asked yet'}` }
  const data = object.rendered?.data ?? object.data
  const text = Object.hasOwn(data, ref.kubeletConfigKey) ? data[ref.kubeletConfigKey] : undefined
  return text === undefined ? { ok: false, detail: `${name}: there is no such key` } : { ok: true, name, text }
}

export function nameDesired(ref: ConfigMapRef, object: ConfigMapView): string {
  const name = `configmap/${ref.namespace}/${ref.name}:${ref.kubeletConfigKey}`
  return object.kind === 'found' && object.rendered !== undefined ? nameOverlaid(name, object.rendered.overlay) : name
}
