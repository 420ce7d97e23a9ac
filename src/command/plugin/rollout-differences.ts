/**
 * What keeps an object that exists already from serving a rollout. More rights, subjects and rules
 * than it needs are its owner's choice. Pure.
 */
import { parseRecord, type RolloutRecord } from '../../rollout/record.ts'
import { isObject, type JsonObject } from '../../values/is-object.ts'
import { KEY } from './merged-text.ts'
import type { RolloutObject } from './rollout-objects.ts'

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  Role: ['rules'],
  RoleBinding: ['roleRef', 'subjects'],
  ValidatingAdmissionPolicy: ['spec'],
  ValidatingAdmissionPolicyBinding: ['spec'],
}
const LONGEST_VALUE = 200

/**
 * @param newcomer the UID of the config that does not name the record yet. undefined: it does
 * @returns what differs, each as a sentence without its subject; empty: it serves as it is
 */
export function findDifferences(wanted: RolloutObject['body'], found: unknown, newcomer: string | undefined): readonly string[] {
  if (!isObject(found)) return ['it is not an object']
  if (wanted.kind === 'ConfigMap') return findRecordProblems(found, newcomer)
  return (FIELDS[wanted.kind] ?? []).flatMap((field) => compare(field, wanted[field], found[field]))
}

/** Nodes may write into it, so it must not be a config. */
function findRecordProblems({ data, immutable }: JsonObject, newcomer: string | undefined): readonly string[] {
  if (isObject(data) && Object.hasOwn(data, KEY)) return ['it holds a config, and a record is a ConfigMap of its own']
  const parsed = parseRecord(data)
  return [
    ...(immutable === true ? ['immutable must not be set, and is true'] : []),
    ...(parsed.ok ? findOtherConfig(parsed.record, newcomer) : [parsed.problem]),
  ]
}

/** Two configs with one record would end each other's rollouts. */
function findOtherConfig({ state }: RolloutRecord, newcomer: string | undefined): readonly string[] {
  if (state === undefined || newcomer === undefined || state.configUid === newcomer) return []
  return ['it is about another config, or about one of this name that was deleted: give --record another name, or empty it']
}

function compare(path: string, wanted: unknown, found: unknown): readonly string[] {
  if (Array.isArray(wanted) && Array.isArray(found)) return compareLists(path, wanted, found)
  if (isObject(wanted) && isObject(found)) return compareObjects(path, wanted, found)
  return wanted === found ? [] : [`${path} must be ${show(wanted)}, and is ${show(found)}`]
}

function compareLists(path: string, wanted: readonly unknown[], found: readonly unknown[]): readonly string[] {
  if (found.includes('*')) return []
  const missing = wanted.filter((one) => !found.some((other) => compare(path, one, other).length === 0))
  if (missing.length === 0) return []
  const [one, other] = [wanted[0], found[0]]
  const isPair = wanted.length === 1 && found.length === 1 && isObject(one)
  return isPair ? compare(`${path}[0]`, one, other) : [`${path} must include ${missing.map(show).join(', ')}, and is ${show(found)}`]
}

/** A field beside the wanted ones may narrow what the object applies to. */
function compareObjects(path: string, wanted: JsonObject, found: JsonObject): readonly string[] {
  const more = Object.keys(found).filter((key) => !Object.hasOwn(wanted, key) && !isDefault(key, found[key]))
  return [
    ...Object.keys(wanted).flatMap((key) => compare(`${path}.${key}`, wanted[key], found[key])),
    ...more.map((key) => `${path}.${key} must not be set, and is ${show(found[key])}`),
  ]
}

/** What the API server adds, or takes for not set. */
function isDefault(key: string, value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  if (key === 'matchPolicy') return value === 'Equivalent'
  if (key === 'scope') return value === '*'
  return typeof value === 'object' && Object.keys(value).length === 0
}

function show(value: unknown): string {
  if (value === undefined || value === null) return 'not set'
  const text = JSON.stringify(value)
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE)}…`
}
