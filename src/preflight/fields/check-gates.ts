/**
 * Feature gates by their names: kubelet does not start with one that it does not know, and each minor version drops some. Pure. Rule: `Set` and `SetFromMap`,
 * k8s.io/component-base/featuregate.
 */

import { OLDEST_MINOR } from '../../kubelet/fields.ts'
import { isObject } from '../../values/is-object.ts'
import { type FieldProblem, type FieldRuleInput, shorten } from './complaint.ts'
import { GATES_GONE } from './gates-gone.ts'
import { GATES_LOCKED_ON, GATES_OF_LATER, GATES_OF_OLDEST, GATES_SINCE } from './gates-known.ts'

/** How many minors ahead a gate's end is worth a warning. */
const AHEAD = 3

const GONE = byName(GATES_GONE)
const LOCKED_ON = byName(GATES_LOCKED_ON)
/** A gate that 1.20 does not know came later, if only that is known of it. */
const SINCE = new Map([
  ...[...listNames(GATES_OF_LATER), ...GONE.keys()].map((name): [string, number] => [name, OLDEST_MINOR + 1]),
  ...byName(GATES_SINCE),
  ...listNames(GATES_OF_OLDEST).map((name): [string, number] => [name, OLDEST_MINOR]),
])
/** Whole groups; no version is without them. */
const GROUPS = ['AllAlpha', 'AllBeta']

export function checkGates({ config, version }: FieldRuleInput): FieldProblem[] {
  const gates = isObject(config.featureGates) ? Object.entries(config.featureGates) : []
  return gates.flatMap(([name, value]) => (GROUPS.includes(name) ? [] : checkGate(name, value === true, version?.minor)))
}

function checkGate(name: string, isOn: boolean, minor: number | undefined): FieldProblem[] {
  const path = ['featureGates', name]
  const gone = GONE.get(name)
  const since = SINCE.get(name)
  if (since === undefined) return [complainOfUnknown(name, minor)]
  const problem = `unrecognized feature gate: ${name}`
  if (minor === undefined) {
    if (gone === undefined) return []
    return [{ rule: 'gate-gone', path, problem, advice: `kubelet 1.${gone} and later do not start with it: take it out`, from: gone }]
  }
  if (gone !== undefined && gone <= minor)
    return [{ rule: 'gate-gone', path, problem, advice: `kubelet does not know it since 1.${gone}: take it out` }]
  if (minor < since) return [{ rule: 'gate-too-new', path, problem, advice: 'it came with a later kubelet: take it out' }]
  const lockedOn = LOCKED_ON.get(name) ?? Number.POSITIVE_INFINITY
  const complaints: FieldProblem[] = []
  if (lockedOn <= minor && !isOn) {
    const text = `cannot set feature gate ${name} to false, feature is locked to true`
    complaints.push({ rule: 'gate-locked', path, problem: text, advice: 'take it out' })
  }
  if (gone !== undefined && gone <= minor + AHEAD) {
    const text = `feature gate ${name} is gone in kubelet 1.${gone}, which will not start with it`
    complaints.push({ rule: 'gate-going', path, problem: text, advice: 'take it out before the upgrade', severity: 'warn' })
  }
  return complaints
}

/** Of 1.20 all names are known here; of later versions some are not. */
function complainOfUnknown(name: string, minor: number | undefined): FieldProblem {
  return {
    rule: 'gate-unknown',
    path: ['featureGates', name],
    problem: `unrecognized feature gate: ${shorten(name)}`,
    mistyped: { name, known: [...SINCE.keys()] },
    unsure: minor !== OLDEST_MINOR,
  }
}

function byName(lists: Readonly<Record<number, string>>): ReadonlyMap<string, number> {
  return new Map(Object.entries(lists).flatMap(([minor, names]) => listNames(names).map((name): [string, number] => [name, Number(minor)])))
}

function listNames(names: string): string[] {
  return names.trim().split(/\s+/)
}
