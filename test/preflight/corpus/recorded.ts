/**
 * The records of the corpus: a real kubelet's verdict on each candidate, and known differences of
 * preflight with their reasons.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../../src/values/is-object.ts'

const VERDICTS = join(import.meta.dirname, 'verdicts.json')
const DISAGREEMENTS = join(import.meta.dirname, 'disagreements.json')

export interface Disagreement {
  readonly why: string
  /** The message with which kubelet fails later, while it starts. */
  readonly atStart?: string
}

/** By name: `accepted`, or kubelet's message. */
export function readVerdicts(): ReadonlyMap<string, string> {
  return new Map(entriesOf(VERDICTS).map(([name, verdict]) => [name, String(verdict)]))
}

export function writeVerdicts(verdicts: ReadonlyMap<string, string>): void {
  writeFileSync(VERDICTS, `${JSON.stringify(Object.fromEntries(verdicts), undefined, 2)}\n`)
}

export function readDisagreements(): ReadonlyMap<string, Disagreement> {
  return new Map(
    entriesOf(DISAGREEMENTS).map(([name, entry]) => {
      if (!isObject(entry) || typeof entry.why !== 'string') throw new Error(`disagreements.json: ${name} gives no reason`)
      return [name, { why: entry.why, ...(typeof entry.atStart === 'string' ? { atStart: entry.atStart } : {}) }]
    }),
  )
}

function entriesOf(path: string): [name: string, value: unknown][] {
  const content: unknown = JSON.parse(readFileSync(path, 'utf8'))
  if (!isObject(content)) throw new Error(`${path} is not a JSON object`)
  return Object.entries(content)
}
