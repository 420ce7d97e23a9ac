/**
 * The state of the feature gates that field rules depend on, in a config and for a version. Pure.
 */

import type { KubeletConfig } from '../../kubelet/decode.ts'
import { LAST_IN_TABLES } from '../../kubelet/fields.ts'
import { isGateOn, periodsOf } from '../../kubelet/gates.ts'
import { isObject } from '../../values/is-object.ts'

/**
 * Whether a gate is on for kubelet 1.`minor` with this config; without a minor, for all versions
 * since the first that has the gate. undefined: it depends on the version. What a gate that went
 * switched stays as it was last.
 */
export function findGateState(name: string, config: KubeletConfig, minor: number | undefined): boolean | undefined {
  const set = isObject(config.featureGates) ? config.featureGates : {}
  if (Object.hasOwn(set, name)) return set[name] === true
  const known = periodsOf(name).flatMap(({ from, state }) => (state === undefined ? [] : [{ from, state }]))
  const first = known[0]?.from ?? LAST_IN_TABLES.minor
  const minors = minor === undefined ? Array.from({ length: LAST_IN_TABLES.minor + 1 - first }, (_, index) => first + index) : [minor]
  const states = new Set(
    minors.map((each) => {
      const here = known.findLast(({ from }) => from <= each)
      return here && isGateOn(name, here.state, set)
    }),
  )
  const [state] = states
  return states.size === 1 ? state : undefined
}
