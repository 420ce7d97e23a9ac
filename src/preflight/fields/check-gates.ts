// SPDX-License-Identifier: Apache-2.0
/**
 * Checks the feature gates: kubelet does not start with an unknown one, with another value of a
 * locked one, or, from 1.35 on, with one that is on while a gate that it needs is off. Each minor
 * version removes some gates. Pure. Rule: `Set` and `SetFromMap`,
 * k8s.io/component-base/featuregate.
 */

import type { KubeletConfig } from '../../kubelet/decode.ts'
import { LAST_IN_TABLES, NEWEST_MINOR } from '../../kubelet/fields.ts'
import { type GatePeriod, isGateOn, listGates, listNeedy, needsOf, periodsOf, stateOf } from '../../kubelet/gates.ts'
import { shorten } from '../../values/cut.ts'
import { isObject } from '../../values/is-object.ts'
import type { FieldProblem, FieldRuleInput } from './complaint.ts'

/** Warn this many minors before a gate is removed. */
const AHEAD = 3
/** Groups of gates; every version has them. */
const GROUPS = ['AllAlpha', 'AllBeta']

/**
 * By the first minor: kubelet's command line refuses them, while their package, which the API
 * server shares, does not lock them (`NewKubeletCommand`, cmd/kubelet/app/server.go).
 */
const LOCKED_BY_KUBELET: Readonly<Record<string, number>> = { DynamicKubeletConfig: 24 }

/** One list for all complaints: a config may have tens of thousands of unknown gates. */
const KNOWN = listGates()

type Gates = Readonly<Record<string, unknown>>

export function checkGates({ config, version }: FieldRuleInput): FieldProblem[] {
  const gates: Gates = isObject(config.featureGates) ? config.featureGates : {}
  const names = Object.keys(gates).filter((name) => !GROUPS.includes(name))
  return [
    ...names.flatMap((name) => checkGate(name, gates[name] === true, version?.minor)),
    ...(version === undefined ? [] : checkNeeds(gates, version.minor)),
  ]
}

function checkGate(name: string, isOn: boolean, minor: number | undefined): FieldProblem[] {
  const path = ['featureGates', name]
  const periods = periodsOf(name)
  const [first] = periods
  if (first === undefined) return [complainOfUnknown(name, minor)]
  const problem = `unrecognized feature gate: ${name}`
  if (minor === undefined) {
    const gone = goneAfter(periods, 0)
    if (gone === undefined) return []
    return [
      { rule: 'gate-gone', path, problem, advice: `kubelet ${nameMinor(gone)} and later do not start with it: remove it`, from: gone },
    ]
  }
  if (minor < first.from) return [{ rule: 'gate-too-new', path, problem, advice: 'only later kubelets know this gate: remove it' }]
  const here = periods.findLast(({ from }) => from <= minor) ?? first
  if (here.state === undefined) return [{ rule: 'gate-gone', path, problem, advice: `kubelet 1.${here.from} removed this gate: remove it` }]
  const complaints: FieldProblem[] = []
  const { on } = here.state
  const locked = here.state.locked || (LOCKED_BY_KUBELET[name] ?? minor + 1) <= minor
  if (locked && on !== isOn) {
    const text = `cannot set feature gate ${name} to ${isOn}, feature is locked to ${on}`
    complaints.push({ rule: 'gate-locked', path, problem: text, advice: 'remove it' })
  }
  const gone = goneAfter(periods, minor)
  if (gone !== undefined && gone <= minor + AHEAD) {
    const text = `kubelet ${nameMinor(gone)} removes feature gate ${name} and does not start with it`
    complaints.push({ rule: 'gate-going', path, problem: text, advice: 'remove it before the upgrade', severity: 'warn' })
  }
  return complaints
}

function nameMinor(minor: number): string {
  return minor > NEWEST_MINOR ? `1.${minor} (as of ${LAST_IN_TABLES.version})` : `1.${minor}`
}

/** The first minor after this one that no longer knows the gate. */
function goneAfter(periods: readonly GatePeriod[], minor: number): number | undefined {
  return periods.find(({ from, state }) => from > minor && state === undefined)?.from
}

/** A later kubelet may know it. */
function complainOfUnknown(name: string, minor: number | undefined): FieldProblem {
  return {
    rule: 'gate-unknown',
    path: ['featureGates', name],
    problem: `unrecognized feature gate: ${shorten(name)}`,
    mistyped: { name, known: KNOWN },
    unsure: minor === undefined,
    byList: true,
  }
}

/**
 * Kubelet checks all gates, so that one which is on by default may lack one that the config
 * disables.
 */
function checkNeeds(gates: Gates, minor: number): FieldProblem[] {
  if (Object.keys(gates).length === 0) return []
  const isOn = (name: string) => {
    const state = stateOf(name, minor)
    return state !== undefined && isGateOn(name, state, gates)
  }
  return listNeedy().flatMap((name): FieldProblem[] => {
    const missing = needsOf(name, minor).filter((need) => !isOn(need))
    if (missing.length === 0 || !isOn(name)) return []
    const setHere = [name, ...missing, ...GROUPS].find((each) => Object.hasOwn(gates, each))
    return [
      {
        rule: 'gate-needs',
        path: setHere === undefined ? ['featureGates'] : ['featureGates', setHere],
        problem: `${name} is enabled, but depends on features that are disabled: [${missing.join(' ')}]`,
        advice: `enable ${missing.join(' and ')}, or disable ${name}`,
      },
    ]
  })
}

/**
 * Whether a gate is on for kubelet 1.`minor` with this config; without a minor, for all versions
 * since the first that has the gate. undefined: it depends on the version. Behavior that a gate
 * switched stays as it was last once the gate is gone.
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
