// SPDX-License-Identifier: Apache-2.0
/**
 * The plan of a rollout: the annotation `kubelet-cfg-agent.io/rollout-plan` of the config, one
 * setting a line or separated by commas, for example `waves: [1%, 10%, 50%, 100%], witnesses: 5`.
 * Pure.
 *
 * The admission policy reads the same text with regular expressions, such as
 * `witnesses: *[0-9]{1,2}`, and takes the first match (docs/rollout.md). A text that it could read
 * otherwise than this parser is a problem here: an unknown name, a name twice, a comment, a leading
 * zero, a space before a colon. A problem makes every node wait.
 */
import { HOUR_US, MINUTE_US, parseDuration } from '../values/durations.ts'
import { isText, listOf, shape, type TypeOf } from '../values/json-shape.ts'
import { quote } from '../values/kubernetes-names.ts'
import { MOST_VETOES } from './record.ts'
import { parseWindow, type Window } from './windows.ts'

/** On the config. */
export const ROLLOUT_PLAN_ANNOTATION = 'kubelet-cfg-agent.io/rollout-plan'
/** On the config: names of nodes, with commas between. Of its own, so that no tool loses one. */
export const ROLLOUT_EXCLUDE_ANNOTATION = 'kubelet-cfg-agent.io/rollout-exclude'

export interface Plan {
  /** The percentages of the nodes that stages 2, 3, ... are open to. Ascending; the last is 100. */
  readonly waves: readonly number[]
  /** How many proofs open the next stage. Stage 0 needs one. */
  readonly witnesses: number
  /** How many vetoes halt the rollout from stage 1 on. In stage 0, one does. */
  readonly maxVetoes: number
  /** How many silent claims a stage tolerates. One more stops it. */
  readonly maxSilent: number
  /** The time over which the nodes of a wave start. */
  readonly spreadUs: number
  /** The zones in the order in which their nodes start. Empty: nodes have one order. */
  readonly zones: readonly string[]
  /** The label of Nodes that names their zone. */
  readonly zoneLabel: string
  /** For how long a stage has to be open before a node claims in it. */
  readonly restUs: number
  /** When nodes may start the content. Empty: always. */
  readonly windows: readonly Window[]
  /** The time zone of the windows. */
  readonly timeZone: string
  /** The beginning of the hash of the content for which the windows do not count. */
  readonly now: string | undefined
  /** An administrator raises it to have the same content tried again. */
  readonly retry: number
  /** The nodes whose claims, proofs and vetoes do not count. Compared exactly. */
  readonly excluded: readonly string[]
}

export type ParsedPlan = { readonly ok: true; readonly plan: Plan } | { readonly ok: false; readonly problem: string }

export const DEFAULT_PLAN: Plan = {
  waves: [1, 10, 50, 100],
  witnesses: 5,
  maxVetoes: 1,
  maxSilent: 2,
  spreadUs: 2 * MINUTE_US,
  zones: [],
  zoneLabel: 'topology.kubernetes.io/zone',
  restUs: 0,
  windows: [],
  timeZone: 'UTC',
  now: undefined,
  retry: 0,
  excluded: [],
}

/** In characters. A plan is a few words. */
const LONGEST_TEXT = 1000
const MOST_WAVES = 10
/**
 * Witnesses keep their keys until the next generation begins. So many keys, with node names of up
 * to 60 characters, fit into the record.
 */
const MOST_KEYS = 64
const LONGEST_US = 24 * HOUR_US
const MOST_ZONES = 20
const MOST_WINDOWS = 14
/** Values and names of labels. None has a colon, so none looks like a setting to the policy. */
const ZONE = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const LABEL = /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const TIME_ZONE = /^(?=.{1,64}$)[A-Za-z][-A-Za-z0-9_+]*(?:\/[-A-Za-z0-9_+]+)*$/
const HASH = /^[0-9a-f]{12,64}$/

/**
 * How each setting is read: the part of the plan that it sets, or undefined if the value is
 * invalid.
 */
const SETTINGS: Readonly<Record<string, { readonly read: (text: string) => Partial<Plan> | undefined; readonly expected: string }>> = {
  waves: { read: readWaves, expected: `at most ${MOST_WAVES} rising percentages, as in [1%, 10%, 50%, 100%]` },
  witnesses: whole('witnesses', 1, 20),
  maxVetoes: whole('maxVetoes', 1, MOST_VETOES),
  maxSilent: whole('maxSilent', 0, 20),
  spread: { read: readDuration('spreadUs'), expected: 'a duration of at most 24h, as in 2m' },
  zones: { read: readZones, expected: `at most ${MOST_ZONES} values of a label, each once, as in [zone-a, zone-b]` },
  zoneLabel: { read: readWord('zoneLabel', LABEL), expected: 'the name of a label of Nodes' },
  rest: { read: readDuration('restUs'), expected: 'a duration of at most 24h, as in 30m' },
  windows: { read: readWindows, expected: `at most ${MOST_WINDOWS} windows, as in [Mon-Fri 22:00-05:00, Sat-Sun 00:00-24:00]` },
  timeZone: { read: readWord('timeZone', TIME_ZONE), expected: 'the name of a time zone, as in Europe/Berlin' },
  now: { read: readWord('now', HASH), expected: 'the hash of a content, or its first 12 characters or more' },
  retry: whole('retry', 0, 999_999_999),
}

/**
 * @param text of the annotation; undefined: there is none, and the defaults hold
 * @param excluded of the other one
 * @returns what is wrong, as a sentence for people, where it cannot be used
 */
export function parsePlan(text: string | undefined, excluded = ''): ParsedPlan {
  const parsed = parseSettings(text)
  return parsed.ok ? { ok: true, plan: { ...parsed.plan, excluded: splitNames(excluded) } } : parsed
}

/** As `deploy/admission/rollout.yaml` splits them. */
export function splitNames(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function parseSettings(text: string | undefined): ParsedPlan {
  if (text === undefined) return { ok: true, plan: DEFAULT_PLAN }
  if (text.length > LONGEST_TEXT) return problem(`it has ${text.length} characters, and at most ${LONGEST_TEXT} are read`)
  const set = new Map<string, Partial<Plan>>()
  for (const entry of entriesOf(text)) {
    const [, name, value] = /^([A-Za-z]+): *(\S.*)$/.exec(entry) ?? []
    if (name === undefined || value === undefined) return problem(`${quote(entry)} is not of the form "name: value"`)
    const setting = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined
    if (setting === undefined) return problem(`${quote(name)} is not a setting; settings are ${Object.keys(SETTINGS).join(', ')}`)
    if (set.has(name)) return problem(`${name} is set twice`)
    const part = setting.read(value)
    if (part === undefined) return problem(`${name} is ${quote(value)}: expected ${setting.expected}`)
    set.set(name, part)
  }
  const plan: Plan = Object.assign({}, DEFAULT_PLAN, ...set.values())
  const keys = (plan.waves.length + 1) * (plan.witnesses + plan.maxSilent)
  if (keys > MOST_KEYS) return problem(`its waves, witnesses and maxSilent need ${keys} keys, and the record has room for ${MOST_KEYS}`)
  return { ok: true, plan }
}

function problem(detail: string): ParsedPlan {
  return { ok: false, problem: `the annotation ${ROLLOUT_PLAN_ANNOTATION} of the config cannot be used: ${detail}; correct it` }
}

/** Split at line ends and at commas outside of brackets. */
function entriesOf(text: string): readonly string[] {
  return text
    .split(/\r?\n|,(?![^[\]\n]*\])/)
    .map((entry) => entry.replace(/^ +| +$/g, ''))
    .filter((entry) => entry !== '')
}

function whole(name: keyof Plan, least: number, most: number) {
  const read = (text: string): Partial<Plan> | undefined => {
    const value = /^(0|[1-9][0-9]{0,8})$/.test(text) ? Number(text) : Number.NaN
    return value >= least && value <= most ? { [name]: value } : undefined
  }
  return { read, expected: `a whole number from ${least} to ${most}` }
}

function readDuration(name: keyof Plan) {
  return (text: string): Partial<Plan> | undefined => {
    const parsed = parseDuration(text)
    return parsed.ok && parsed.us <= LONGEST_US ? { [name]: parsed.us } : undefined
  }
}

function readWord(name: keyof Plan, pattern: RegExp) {
  return (text: string): Partial<Plan> | undefined => (pattern.test(text) ? { [name]: text } : undefined)
}

function readZones(text: string): Partial<Plan> | undefined {
  const zones = readList(text)
  const isValid = zones?.every((zone) => ZONE.test(zone)) === true && new Set(zones).size === zones.length
  return zones !== undefined && isValid && zones.length <= MOST_ZONES ? { zones } : undefined
}

function readWindows(text: string): Partial<Plan> | undefined {
  const windows = readList(text)?.map(parseWindow)
  const known = windows?.filter((window) => window !== undefined)
  return known !== undefined && known.length === windows?.length && known.length <= MOST_WINDOWS ? { windows: known } : undefined
}

/** The words in brackets, with commas between. */
function readList(text: string): readonly string[] | undefined {
  const list = /^\[([^[\]]*)\]$/.exec(text)?.[1]
  return list?.split(',').map((word) => word.replace(/^ +| +$/g, ''))
}

/**
 * A last wave below 100 % is followed by one of 100 %: after the last wave, the rollout is open to
 * all nodes.
 */
function readWaves(text: string): Partial<Plan> | undefined {
  const percents = readList(text)?.map((word) => /^((?:0|[1-9][0-9]{0,2})(?:\.[0-9]{1,2})?)%$/.exec(word)?.[1])
  if (percents === undefined) return undefined
  const waves = percents.map((percent) => (percent === undefined ? Number.NaN : Number(percent)))
  const rising = waves.every((wave, index) => wave > (waves[index - 1] ?? 0) && wave <= 100)
  if (!rising || waves.length > MOST_WAVES) return undefined
  return { waves: waves.at(-1) === 100 ? waves : [...waves, 100] }
}

/** The zones of a plan, as a node remembers them. */
export const isZoneOrder = shape({ label: isText, zones: listOf(isText) })
export type ZoneOrder = TypeOf<typeof isZoneOrder>

/** undefined: nodes have one order. */
export function zoneOrderOf({ zones, zoneLabel }: Plan): ZoneOrder | undefined {
  return zones.length === 0 ? undefined : { label: zoneLabel, zones }
}

/**
 * The record has the number of a stage, whose share follows from the plan. If `waves` is edited in
 * mid-rollout, a stage is open to the smaller of its shares before and after. Otherwise the edit
 * could finish a halted rollout, or skip stages that nobody has proved. For the same reason, the
 * zones stay as they were: another order would let nodes start that had to wait.
 *
 * @param began the waves with which this node first saw the rollout; undefined: not known
 * @param order the zones at the same time; undefined: there were none
 */
export function keepOrder(plan: Plan, began: readonly number[] | undefined, order: ZoneOrder | undefined): Plan {
  if (began === undefined) return plan
  const { waves } = plan
  const longer = began.length > waves.length ? began : waves
  return {
    ...plan,
    waves: longer.map((_, index) => Math.min(waves[index] ?? 100, began[index] ?? 100)),
    zones: order?.zones ?? [],
    zoneLabel: order?.label ?? plan.zoneLabel,
  }
}

/**
 * The settings that say when nodes start, and a pause, as text: a change of it may end the wait of
 * a whole fleet. Empty where the plan cannot be read.
 */
export function paceOf(parsed: ParsedPlan, isPaused: boolean): string {
  if (isPaused) return 'paused'
  if (!parsed.ok) return ''
  const { windows, timeZone, now, restUs, spreadUs } = parsed.plan
  return JSON.stringify([windows.map(({ text }) => text), timeZone, now, restUs, spreadUs])
}

/** Stages 0 and 1 are open to witnesses only. Each later one, up to this, opens a wave. */
export function lastStageOf({ waves }: Plan): number {
  return waves.length + 1
}

/** How many percent of the nodes a stage is open to. These nodes need no claim: they are free. */
export function openPercent({ waves }: Plan, stage: number): number {
  return stage < 2 ? 0 : (waves[stage - 2] ?? 100)
}

/** The share of the nodes that is free in a stage, in [0, 1]. */
export function freeShare(plan: Plan, stage: number): number {
  return openPercent(plan, stage) / 100
}

/** The stage is open to all nodes: the content has proved itself. */
export function isFinished(plan: Plan, stage: number): boolean {
  return openPercent(plan, stage) === 100
}

/** How many proofs open the stage after this one. */
export function proofsNeeded({ witnesses }: Plan, stage: number): number {
  return stage === 0 ? 1 : witnesses
}

/** How many vetoes halt a stage. A finished one is halted for control planes alone. */
export function vetoesNeeded({ maxVetoes }: Plan, stage: number): number {
  return stage === 0 ? 1 : maxVetoes
}
