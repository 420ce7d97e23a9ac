/**
 * Checks the names of feature gates: kubelet does not start with an unknown one, and each minor
 * version removes some. Pure. Rule: `Set` and `SetFromMap`, k8s.io/component-base/featuregate.
 */

import { NEWEST_MINOR, OLDEST_MINOR } from '../../kubelet/fields.ts'
import { isObject } from '../../values/is-object.ts'
import { type FieldProblem, type FieldRuleInput, shorten } from './complaint.ts'
import { GATES_GONE } from './gates-gone.ts'
import { GATES_LOCKED_OFF, GATES_LOCKED_ON, GATES_OF_LATER, GATES_OF_OLDEST, GATES_SINCE } from './gates-known.ts'

/** Warn this many minors before a gate is removed. */
const AHEAD = 3

const GONE = byName(GATES_GONE)
const LOCKED: ReadonlyMap<boolean, ReadonlyMap<string, number>> = new Map([
  [true, byName(GATES_LOCKED_ON)],
  [false, byName(GATES_LOCKED_OFF)],
])
/** The first minor that knows each gate; 1.21 if all that is known is that 1.20 does not. */
const SINCE = new Map([
  ...[...listNames(GATES_OF_LATER), ...GONE.keys()].map((name): [string, number] => [name, OLDEST_MINOR + 1]),
  ...byName(GATES_SINCE),
  ...listNames(GATES_OF_OLDEST).map((name): [string, number] => [name, OLDEST_MINOR]),
])
/** Groups of gates; every version has them. */
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
    return [{ rule: 'gate-gone', path, problem, advice: `kubelet 1.${gone} and later do not start with it: remove it`, from: gone }]
  }
  if (gone !== undefined && gone <= minor)
    return [{ rule: 'gate-gone', path, problem, advice: `kubelet 1.${gone} removed this gate: remove it` }]
  if (minor < since) return [{ rule: 'gate-too-new', path, problem, advice: 'only later kubelets know this gate: remove it' }]
  const locked = LOCKED.get(!isOn)?.get(name) ?? Number.POSITIVE_INFINITY
  const complaints: FieldProblem[] = []
  if (locked <= minor) {
    const text = `cannot set feature gate ${name} to ${isOn}, feature is locked to ${!isOn}`
    complaints.push({ rule: 'gate-locked', path, problem: text, advice: 'remove it' })
  }
  if (gone !== undefined && gone <= minor + AHEAD) {
    const text = `kubelet 1.${gone} removes feature gate ${name} and does not start with it`
    complaints.push({ rule: 'gate-going', path, problem: text, advice: 'remove it before the upgrade', severity: 'warn' })
  }
  return complaints
}

/** A later kubelet may know it. */
function complainOfUnknown(name: string, minor: number | undefined): FieldProblem {
  return {
    rule: 'gate-unknown',
    path: ['featureGates', name],
    problem: `unrecognized feature gate: ${shorten(name)}`,
    mistyped: { name, known: [...SINCE.keys()] },
    unsure: minor === undefined || minor > NEWEST_MINOR,
  }
}

function byName(lists: Readonly<Record<number, string>>): ReadonlyMap<string, number> {
  return new Map(Object.entries(lists).flatMap(([minor, names]) => listNames(names).map((name): [string, number] => [name, Number(minor)])))
}

function listNames(names: string): string[] {
  return names.trim().split(/\s+/)
}
