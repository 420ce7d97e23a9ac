/**
 * Writes of the node n1 into the record of a rollout, and which rule of deploy/admission/rollout.yaml refuses each; undefined: none does. Each case has a record of
 * its own as it was. The configs differ in their plans.
 */
import type { ConfigMap, Data } from './write.ts'

export const MINE = 'node.n1'
export const [A, B] = ['a'.repeat(64), 'b'.repeat(64)] as const

/** The plan of each config; undefined: it has none. */
export const PLANS = {
  'node-config': undefined,
  small: 'waves: [0.5%, 100.0%], witnesses: 2\nmaxVetoes: 2, maxSilent: 0, retry: 0',
  retried: 'retry: 7',
  garbled: 'witnesses: 0',
} as const
export type ConfigName = keyof typeof PLANS

/** Part of the message of each rule. */
export const RULES = {
  operation: 'an agent neither creates nor deletes',
  metadata: 'an agent may change nothing of the record of a rollout but data',
  managed: 'an agent may not fill metadata.managedFields',
  change: 'only to change its data',
  plan: 'the plan of the rollout on the config cannot be read',
  size: 'the record of a rollout has at most 6 KiB',
  keys: 'an agent may write state and the key of its own node',
  stays: 'state and the keys of its generation stay',
  words: 'state is not',
  state: 'state goes on by one stage',
  mine: 'the key of a node goes from nothing to claim',
} as const
export type Rule = keyof typeof RULES

/** The config that the record belongs to, as the API server has it. */
export interface Version {
  readonly uid: string
  readonly version: string
}

export interface RecordCase {
  readonly what: string
  readonly config: ConfigName
  readonly refusedBy: Rule | undefined
  before(config: Version): Omit<ConfigMap, 'metadata'> & { readonly metadata?: Partial<ConfigMap['metadata']> }
  /** What is changed of it; a key that is undefined is taken away. */
  after(config: Version): ChangedRecord
}

export interface ChangedRecord extends Omit<ConfigMap, 'metadata' | 'data'> {
  readonly metadata?: Partial<ConfigMap['metadata']>
  readonly data?: Readonly<Record<string, string | undefined>>
}

/** The words of `state`. What is left out: generation 3 of content A, begun before the config's present version. */
export interface Words {
  readonly generation?: number | string
  readonly hash?: string
  readonly uid?: string
  readonly version?: string
  readonly retry?: number
}

export const state = (stage: number | string, words: Words = {}): string =>
  ['1', words.generation ?? 3, stage, words.hash ?? A, words.uid ?? 'abc-def', words.version ?? '1', words.retry ?? 0].join(' ')

/** As an agent begins `hash`. */
export const begun = ({ uid, version }: Version, words: Words = {}): string => state(0, { generation: 4, hash: B, uid, version, ...words })

/** Keys of other nodes: n2, n3 and so on, in this order. */
export const others = (...values: readonly string[]): Data =>
  Object.fromEntries(values.map((value, index) => [`node.n${index + 2}`, value]))

export const many = (count: number, value: string): string[] => Array.from({ length: count }, () => value)
