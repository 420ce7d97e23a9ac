/** Whether this machine is a node. Pure. */
import type { UnitState } from '../../decision/unit-state.ts'

/** On a machine without kubelet's unit (a build server), checks ignore the machine. */
export function isNode(unit: UnitState): boolean {
  return unit.kind === 'known' && unit.activity !== 'not-found'
}
