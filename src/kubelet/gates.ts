// SPDX-License-Identifier: Apache-2.0
/**
 * The feature gates of every kubelet in the tables: their stages and defaults by minor of 1.x,
 * whether they are locked, and which gates they need. Pure. The table is read from upstream's
 * sources. One that is written `CPUManager:B20,G26!,-33` was beta and on in 1.20, has been stable
 * and locked since 1.26, and 1.33 no longer knows it. The letters are a, b, g and d for alpha,
 * beta, generally available and deprecated, capital where the gate is on by default. Names are
 * unpacked when they are asked for: few of them ever are.
 */
import { GATE_NEEDS, GATE_TABLE } from './generated/gates.ts'

export interface GateState {
  readonly stage: 'alpha' | 'beta' | 'ga' | 'deprecated'
  readonly on: boolean
  /** Kubelet does not start with another value than the default. */
  readonly locked: boolean
}

/** A period lasts until the next one begins. */
export interface GatePeriod {
  /** The minor of 1.x. */
  readonly from: number
  /** undefined: kubelet does not know the gate any more. */
  readonly state: GateState | undefined
}

const STAGES: Readonly<Record<string, GateState['stage']>> = { a: 'alpha', b: 'beta', g: 'ga', d: 'deprecated' }

const PERIODS = readWords(GATE_TABLE)
const NEEDS = readWords(GATE_NEEDS)

function readWords(table: string): ReadonlyMap<string, string> {
  return new Map([...table.matchAll(/([^\s:]+):(\S+)/g)].map(([, name = '', packed = '']) => [name, packed]))
}

/** Every name that one of the kubelets knows, but for AllAlpha and AllBeta. */
export function listGates(): string[] {
  return [...PERIODS.keys()]
}

/** The periods of a gate, in their order. Empty: no kubelet knows the gate. */
export function periodsOf(name: string): GatePeriod[] {
  return [...(PERIODS.get(name) ?? '').matchAll(/([-a-z])(\d+)(!?)/gi)].map(([, letter = '', from, lock]) => {
    const stage = STAGES[letter.toLowerCase()]
    return { from: Number(from), state: stage && { stage, on: letter !== letter.toLowerCase(), locked: lock === '!' } }
  })
}

/** undefined: kubelet 1.`minor` does not know the gate. */
export function stateOf(name: string, minor: number): GateState | undefined {
  return periodsOf(name).findLast(({ from }) => from <= minor)?.state
}

/** The gates that kubelet 1.`minor` wants to be on where this one is. */
export function needsOf(name: string, minor: number): string[] {
  const lists = (NEEDS.get(name) ?? '').split(';').map((list) => list.split('>'))
  const [, needs = ''] = lists.findLast(([from]) => from !== '' && Number(from) <= minor) ?? []
  return needs === '' ? [] : needs.split(',')
}

/** The gates that need others, in some version. */
export function listNeedy(): string[] {
  return [...NEEDS.keys()]
}

/**
 * Whether a gate in this state is on where a config sets these gates: `AllAlpha` and `AllBeta`
 * set the gates of their stage that are not set themselves, as k8s.io/component-base/featuregate
 * has it. null means false.
 */
export function isGateOn(name: string, { stage, on }: GateState, set: Readonly<Record<string, unknown>>): boolean {
  if (isSet(set, name)) return set[name] === true
  const group = stage === 'alpha' ? 'AllAlpha' : stage === 'beta' ? 'AllBeta' : undefined
  return group !== undefined && isSet(set, group) ? set[group] === true : on
}

/** undefined: the minor is unknown, and kubelets that know the gate differ. */
export function resolveGate(name: string, minor: number | undefined, set: Readonly<Record<string, unknown>>): boolean | undefined {
  const states = minor === undefined ? periodsOf(name).map(({ state }) => state) : [stateOf(name, minor)]
  const verdicts = new Set(states.map((state) => state !== undefined && isGateOn(name, state, set)))
  return verdicts.size === 1 ? verdicts.has(true) : undefined
}

function isSet(set: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(set, name) && set[name] !== undefined
}
