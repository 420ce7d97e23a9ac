/** Reads the local config through the activation, which may have put another file in its place. */
import { isUtf8 } from 'node:buffer'
import type { UnitState } from '../decision/unit-state.ts'
import type { Activation } from '../ports/activation.ts'
import type { LocalConfigView } from '../ports/local-config.ts'
import { errorMessage } from '../values/errors.ts'

/** As much as a ConfigMap can hold. */
const MOST_BYTES = 1 << 20

export function readLocalConfig(activation: Pick<Activation, 'readLocal'>, unit: UnitState): LocalConfigView {
  if (unit.kind === 'unknown') return { kind: 'unknown', detail: unit.detail }
  const { wiring, localConfigPath: path } = unit
  if (wiring.kind === 'broken') return { kind: 'unknown', detail: wiring.detail }
  const unusable = (detail: string): LocalConfigView => ({ kind: 'unusable', detail })
  if (path === undefined) return unusable("kubelet has no local config: its unit has no --config without the agent's")
  try {
    const bytes = activation.readLocal(wiring, path)
    if (bytes === undefined) return unusable(`${path} does not exist`)
    if (bytes.length > MOST_BYTES) return unusable(`${path} has more than ${MOST_BYTES} bytes`)
    if (!isUtf8(bytes)) return unusable(`${path} is not valid UTF-8`)
    return { kind: 'found', path, text: bytes.toString('utf8'), ...(wiring.laysOverLocal && { staysBelow: true }) }
  } catch (error) {
    return unusable(errorMessage(error))
  }
}
