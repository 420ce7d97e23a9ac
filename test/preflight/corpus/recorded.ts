// SPDX-License-Identifier: Apache-2.0
/**
 * The records of the corpus: the verdicts of kubelet 1.20.2 and of the newest one on each
 * candidate, and known differences of preflight from these and the kubelets between them with their
 * reasons.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../../src/values/is-object.ts'

/** By minor. The first is that of 1.20.2. */
const VERDICTS: Readonly<Record<number, string>> = { 20: 'verdicts.json', 37: 'verdicts-1.37.json' }
export const RECORDED_MINORS: readonly number[] = Object.keys(VERDICTS).map(Number)
const DISAGREEMENTS = join(import.meta.dirname, 'disagreements.json')

export interface Disagreement {
  readonly why: string
  /** The message with which kubelet fails later, while it starts. */
  readonly atStart?: string
  /** The message with which it fails later still, when its container runtime has answered. */
  readonly atServing?: string
  /** The first minor that differs. Default: the first one of all. */
  readonly from?: number
  /** The last such minor. Default: the last one of all. */
  readonly to?: number
  /**
   * Who refuses what the rules of fields accept: the rules of the node, or the part of preflight
   * that has kubelet itself load the config. undefined: the rules of fields refuse it.
   */
  readonly judgedBy?: 'node' | 'kubelet'
  /** The version of cgroups on which it differs. Default: on both. */
  readonly cgroup?: 1 | 2
}

/** Where a kubelet was asked. */
export interface Machine {
  readonly cgroup: 1 | 2
}

/** Whether kubelet 1.`minor` is one of those that differ. */
export function isKnown({ from = 0, to = Number.POSITIVE_INFINITY, cgroup }: Disagreement, minor: number, machine: Machine): boolean {
  return from <= minor && minor <= to && (cgroup === undefined || cgroup === machine.cgroup)
}

/** By name: `accepted`, or the message of kubelet 1.`minor`. */
export function readVerdicts(minor: number): ReadonlyMap<string, string> {
  return new Map(entriesOf(pathOf(minor)).map(([name, verdict]) => [name, String(verdict)]))
}

export function writeVerdicts(minor: number, verdicts: ReadonlyMap<string, string>): void {
  writeFileSync(pathOf(minor), `${JSON.stringify(Object.fromEntries(verdicts), undefined, 2)}\n`)
}

function pathOf(minor: number): string {
  const name = VERDICTS[minor]
  if (name === undefined) throw new Error(`no verdicts of kubelet 1.${minor} are on record`)
  return join(import.meta.dirname, name)
}

export function readDisagreements(): ReadonlyMap<string, Disagreement> {
  return new Map(
    entriesOf(DISAGREEMENTS).map(([name, entry]) => {
      if (!isDisagreement(entry)) throw new Error(`disagreements.json: ${name} gives no reason, or has a field that is not known`)
      return [name, entry]
    }),
  )
}

const CHECKS: Readonly<Record<string, (value: unknown) => boolean>> = {
  why: (value) => typeof value === 'string',
  atStart: (value) => typeof value === 'string',
  atServing: (value) => typeof value === 'string',
  from: Number.isInteger,
  to: Number.isInteger,
  judgedBy: (value) => value === 'node' || value === 'kubelet',
  cgroup: (value) => value === 1 || value === 2,
}

function isDisagreement(entry: unknown): entry is Disagreement {
  return isObject(entry) && 'why' in entry && Object.entries(entry).every(([name, value]) => CHECKS[name]?.(value) === true)
}

function entriesOf(path: string): [name: string, value: unknown][] {
  const content: unknown = JSON.parse(readFileSync(path, 'utf8'))
  if (!isObject(content)) throw new Error(`${path} is not a JSON object`)
  return Object.entries(content)
}
