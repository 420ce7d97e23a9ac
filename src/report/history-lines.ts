/**
 * The text of `history.jsonl`: one transition per line, oldest first, `atNs` strictly increasing.
 * Pure. Reading never fails: lines torn by a crash, garbage, and lines that a failed append wrote
 * twice are skipped and counted.
 */
import type { ConfigSource } from '../decision/config-source.ts'
import { sameSource } from '../decision/config-source.ts'
import type { Transition, TransitionKind } from '../decision/records.ts'
import { isObject } from '../values/is-object.ts'

export interface HistoryReading {
  readonly transitions: readonly Transition[]
  /** The number of unreadable lines. */
  readonly skipped: number
}

/** Longer texts, for example of preflight, are cut; the log has the full text. */
const WHY_CHARACTERS = 1000

/** A mapped type: the compiler requires each new kind here. */
const KINDS: Readonly<Record<TransitionKind, true>> = {
  assigned: true,
  restarting: true,
  promoted: true,
  rejected: true,
  'rolled-back': true,
  retrying: true,
  'set-aside': true,
  'download-failed': true,
  invalid: true,
  synced: true,
}

export function formatLine({ atNs, wallMs, kind, from, to, why }: Transition): string {
  return `${JSON.stringify({ atNs, wallMs, kind, from, to, why: why.slice(0, WHY_CHARACTERS) })}\n`
}

export function parseHistory(text: string): HistoryReading {
  const transitions: Transition[] = []
  let skipped = 0
  let lastNs = -1n
  for (const line of text.split('\n')) {
    if (line === '') continue
    const transition = parseLine(line)
    if (transition === undefined || BigInt(transition.atNs) <= lastNs) {
      skipped += 1
      continue
    }
    lastNs = BigInt(transition.atNs)
    transitions.push(transition)
  }
  return { transitions, skipped }
}

function parseLine(line: string): Transition | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  if (!isObject(value)) return undefined
  const { atNs, wallMs, kind, from, to, why } = value
  // 19 digits reach the year 2286; a Date cannot show much more.
  if (typeof atNs !== 'string' || !/^\d{1,19}$/.test(atNs) || typeof why !== 'string') return undefined
  if (!isKind(kind) || !isSourceOrAbsent(from) || !isSourceOrAbsent(to)) return undefined
  return { atNs, ...(isInstant(wallMs) && { wallMs }), kind, from, to, why }
}

/** What a Date can show. */
function isInstant(wallMs: unknown): wallMs is number {
  return typeof wallMs === 'number' && Number.isFinite(new Date(wallMs).getTime())
}

function isKind(kind: unknown): kind is TransitionKind {
  return typeof kind === 'string' && Object.hasOwn(KINDS, kind)
}

function isSourceOrAbsent(source: unknown): source is ConfigSource | undefined {
  if (source === undefined || source === 'local') return true
  if (!isObject(source)) return false
  return ['namespace', 'name', 'kubeletConfigKey', 'uid', 'resourceVersion'].every((field) => typeof source[field] === 'string')
}

/**
 * The wall clock gives the number, unless it has jumped backwards: then the last number plus one,
 * and the time is kept beside it. Otherwise a clock that was years ahead once would date all that
 * comes later.
 */
export function stampNext(last: Transition | undefined, wallMs: number): Pick<Transition, 'atNs' | 'wallMs'> {
  const ms = Math.max(0, Math.floor(wallMs))
  const wallNs = BigInt(ms) * 1_000_000n
  const lastNs = last === undefined ? -1n : BigInt(last.atNs)
  return wallNs > lastNs ? { atNs: String(wallNs) } : { atNs: String(lastNs + 1n), wallMs: ms }
}

/**
 * Whether `next` repeats `last`. A transition is appended before its effect, so a crash or an error
 * in between appends it again. `why` may contain durations, so it counts only if there is no
 * source.
 */
export function isRepeat(last: Transition | undefined, next: Omit<Transition, 'atNs'>): boolean {
  if (last === undefined || last.kind !== next.kind) return false
  if (last.from === undefined && last.to === undefined && last.why !== next.why.slice(0, WHY_CHARACTERS)) return false
  return sameOrAbsent(last.from, next.from) && sameOrAbsent(last.to, next.to)
}

function sameOrAbsent(a: ConfigSource | undefined, b: ConfigSource | undefined): boolean {
  return a === undefined || b === undefined ? a === b : sameSource(a, b)
}

/** When it happened, to show. */
export function instantOf({ atNs, wallMs }: Pick<Transition, 'atNs' | 'wallMs'>): Date {
  return new Date(wallMs ?? Number(BigInt(atNs) / 1_000_000n))
}
