/** Reads the local config through the activation, which may have put another file in its place. */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
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
  const unusable = (detail: string, why?: 'none' | 'missing'): LocalConfigView => ({ kind: 'unusable', detail, ...(why && { why }) })
  if (path === undefined) return unusable("kubelet has no local config: its unit has no --config without the agent's", 'none')
  try {
    const bytes = activation.readLocal(wiring, path)
    if (bytes === undefined) return unusable(`${path} does not exist`, 'missing')
    if (bytes.length > MOST_BYTES) return unusable(`${path} has more than ${MOST_BYTES} bytes`)
    if (!isUtf8(bytes)) return unusable(`${path} is not valid UTF-8`)
    return { kind: 'found', path, text: bytes.toString('utf8'), ...(wiring.laysOverLocal && { staysBelow: true }) }
  } catch (error) {
    return unusable(errorMessage(error))
  }
}

/** `Snapshot.localConfig`: of a file that cannot be read, why. undefined: nobody knows. */
export function identifyLocal(view: LocalConfigView): string | undefined {
  if (view.kind === 'unknown') return undefined
  const what = view.kind === 'found' ? ['found', view.path, view.text] : [view.kind, view.detail]
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 16)
}
