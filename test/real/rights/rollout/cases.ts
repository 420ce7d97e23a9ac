// SPDX-License-Identifier: Apache-2.0
/**
 * Writes of the node n1 into the record of a rollout, and which rule of
 * deploy/admission/rollout.yaml refuses each; undefined: none does. Each case has a record of its
 * own as it was. The configs differ in their plans.
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
  apart: undefined,
  alone: undefined,
} as const
export type ConfigName = keyof typeof PLANS

/** The nodes that a config excludes. */
export const EXCLUDED: Readonly<Partial<Record<ConfigName, string>>> = { apart: 'n0, n2', alone: 'n9,n1' }

/** Part of the message of each rule. */
export const RULES = {
  excluded: 'rollout-exclude of the config excludes this node',
  operation: 'agents may only update the record',
  metadata: 'an agent may change only the data of the record',
  managed: 'an agent may not fill metadata.managedFields',
  change: 'the write changes no data',
  plan: 'rollout-plan of the config is malformed',
  size: 'the record of a rollout has at most 6 KiB',
  keys: 'an agent may write state and the key of its own node',
  stays: 'an agent may not remove state or a key',
  words: 'state is not of the form',
  state: 'state may only advance by one stage',
  mine: 'a node may claim once in a generation',
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
  /** The changed keys of the record; a key that is undefined is taken away. */
  after(config: Version): ChangedRecord
}

export interface ChangedRecord extends Omit<ConfigMap, 'metadata' | 'data'> {
  readonly metadata?: Partial<ConfigMap['metadata']>
  readonly data?: Readonly<Record<string, string | undefined>>
}

/**
 * The words of `state`. What is left out: generation 3 of content A, begun before the config's
 * present version.
 */
interface Words {
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
