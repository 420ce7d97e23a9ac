/** Whether this machine is a node. Pure. */
import type { UnitState } from '../decision/unit-state.ts'

/** A machine that knows kubelet's unit is a node; anywhere else (a build server) nothing of the machine counts. */
export function isNode(unit: UnitState): boolean {
  return unit.kind === 'known' && unit.activity !== 'not-found'
}
