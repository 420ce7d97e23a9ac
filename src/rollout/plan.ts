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
import { parseDuration } from '../values/durations.ts'
import { quote } from '../values/kubernetes-names.ts'

export interface Plan {
  /** Percent of the nodes that are free from stage 2 on. Ascending; the last is 100. */
  readonly waves: readonly number[]
  /** How many proofs open the next stage. Stage 0 needs one. */
  readonly witnesses: number
  /** So many vetoes halt the rollout from stage 1 on. In stage 0 the first does. */
  readonly maxVetoes: number
  /** More silent claims than these stop a stage. */
  readonly maxSilent: number
  /** Over what time nodes that are free start. */
  readonly spreadUs: number
  /** Raised by an administrator, so that a content is tried again. */
  readonly retry: number
}

export type ParsedPlan = { readonly ok: true; readonly plan: Plan } | { readonly ok: false; readonly problem: string }

export const DEFAULT_PLAN: Plan = {
  waves: [1, 10, 50, 100],
  witnesses: 5,
  maxVetoes: 1,
  maxSilent: 2,
  spreadUs: 120_000_000,
  retry: 0,
}

/** In characters. A plan is a few words. */
const LONGEST_TEXT = 1000
const MOST_WAVES = 10
/** Vetoes after the fifth are not written, so more than five could never halt anything. */
const MOST_VETOES = 5
/**
 * Witnesses keep their keys until the next generation begins. So many keys, with node names of up
 * to 60 characters, fit into the record.
 */
const MOST_KEYS = 64
const LONGEST_SPREAD_US = 86_400_000_000

/**
 * Reads the text of each setting as the part of the plan that it sets; undefined: it is no value of
 * this setting.
 */
const SETTINGS: Readonly<Record<string, { readonly read: (text: string) => Partial<Plan> | undefined; readonly expected: string }>> = {
  waves: { read: readWaves, expected: `at most ${MOST_WAVES} rising percentages, as in [1%, 10%, 50%, 100%]` },
  witnesses: whole('witnesses', 1, 20),
  maxVetoes: whole('maxVetoes', 1, MOST_VETOES),
  maxSilent: whole('maxSilent', 0, 20),
  spread: { read: readSpread, expected: 'a duration of at most 24h, as in 2m' },
  retry: whole('retry', 0, 999_999_999),
}

/**
 * @param text of the annotation; undefined: there is none, and the defaults hold
 * @returns what is wrong, as a sentence for people, where it cannot be used
 */
export function parsePlan(text: string | undefined): ParsedPlan {
  if (text === undefined) return { ok: true, plan: DEFAULT_PLAN }
  if (text.length > LONGEST_TEXT) return problem(`it has ${text.length} characters, and at most ${LONGEST_TEXT} are read`)
  const set = new Map<string, Partial<Plan>>()
  for (const entry of entriesOf(text)) {
    const [, name, value] = /^([A-Za-z]+): *(\S.*)$/.exec(entry) ?? []
    if (name === undefined || value === undefined) return problem(`${quote(entry)} is not "name: value"`)
    const setting = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined
    if (setting === undefined) return problem(`${quote(name)} is no setting: there are ${Object.keys(SETTINGS).join(', ')}`)
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
  return { ok: false, problem: `the rollout plan cannot be used: ${detail}` }
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

function readSpread(text: string): Partial<Plan> | undefined {
  const parsed = parseDuration(text)
  return parsed.ok && parsed.us <= LONGEST_SPREAD_US ? { spreadUs: parsed.us } : undefined
}

/**
 * A last wave below 100 % is followed by a wave of 100 %: past the last wave, all nodes are free.
 */
function readWaves(text: string): Partial<Plan> | undefined {
  const list = /^\[([^[\]]*)\]$/.exec(text)?.[1]
  if (list === undefined) return undefined
  const percents = list.split(',').map((word) => /^ *((?:0|[1-9][0-9]{0,2})(?:\.[0-9]{1,2})?)% *$/.exec(word)?.[1])
  const waves = percents.map((percent) => (percent === undefined ? Number.NaN : Number(percent)))
  const rising = waves.every((wave, index) => wave > (waves[index - 1] ?? 0) && wave <= 100)
  if (!rising || waves.length > MOST_WAVES) return undefined
  return { waves: waves.at(-1) === 100 ? waves : [...waves, 100] }
}

/** How many stages there are: 0 and 1, in which nobody is free, and one for each wave. */
export function stagesOf({ waves }: Plan): number {
  return waves.length + 2
}

/** The share of the nodes that is free in a stage, in [0, 1]. */
export function freeShare({ waves }: Plan, stage: number): number {
  return stage < 2 ? 0 : (waves[stage - 2] ?? 100) / 100
}

/** All nodes are free: the content has proved itself. */
export function isFinished(plan: Plan, stage: number): boolean {
  return freeShare(plan, stage) === 1
}

/** How many proofs open the stage after this one. */
export function proofsNeeded({ witnesses }: Plan, stage: number): number {
  return stage === 0 ? 1 : witnesses
}
