// SPDX-License-Identifier: Apache-2.0
/**
 * `history.jsonl` in the dynamic config directory: the latest thousand or so transitions. No
 * decision depends on it: it never throws, and a full disk only delays it (transitions that could
 * not be written stay in memory until the next append).
 */
import { join } from 'node:path'
import { TRANSITION_KINDS, type Transition } from '../decision/records.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import type { History } from '../ports/store.ts'
import { type ConfigSource, isConfigSource, sameSource } from '../subject/config-source.ts'
import { isAny, isText, oneOf, orUndefined, parseJson, shape } from '../values/json-shape.ts'

const DEFAULT_LIMIT = 1000

interface HistoryOptions {
  readonly files: Pick<Files, 'read' | 'makeDirectory' | 'replace' | 'append'>
  /** The dynamic config directory. */
  readonly directory: string
  readonly clock: Clock
  readonly log: Log
  /** The number of transitions kept. The file is compacted when it holds a quarter more. */
  readonly limit?: number
  /** Called synchronously after each append: there is something to publish. */
  readonly onAppend?: () => void
}

function historyPath(directory: string): string {
  return join(directory, 'history.jsonl')
}

/**
 * For the commands: reads the file on disk, whether or not the agent runs. Throws what `files.read`
 * throws.
 */
export function readHistory(files: Pick<Files, 'read'>, directory: string): HistoryReading {
  return parseHistory(files.read(historyPath(directory))?.toString() ?? '')
}

export class FileHistory implements History {
  readonly #options: HistoryOptions
  readonly #limit: number
  #unwritten: Transition[] = []
  #tail: Tail | undefined
  readonly #loggedFailures = new Map<Verb, string>()

  constructor(options: HistoryOptions) {
    this.#options = options
    this.#limit = options.limit ?? DEFAULT_LIMIT
  }

  append(transition: Omit<Transition, 'atNs'>): void {
    const tail = this.#readTail()
    const last = this.#unwritten.at(-1) ?? tail?.last
    if (isRepeat(last, transition)) return
    this.#unwritten.push({ ...transition, ...stampNext(last, this.#options.clock.now().wallMs) })
    this.#unwritten = this.#unwritten.slice(-this.#limit)
    if (tail !== undefined) this.#write(tail)
    this.#options.onAppend?.()
  }

  /** Every transition after `atNs`, oldest first, including those not written to disk yet. */
  after(atNs: string): readonly Transition[] {
    return [...(this.#read()?.transitions ?? []), ...this.#unwritten].filter((transition) => BigInt(transition.atNs) > BigInt(atNs))
  }

  #write(tail: Tail): void {
    const { files, directory } = this.#options
    const path = historyPath(directory)
    const text = this.#unwritten.map(formatLine).join('')
    const last = this.#unwritten.at(-1)
    const lines = tail.lines + this.#unwritten.length
    this.#attempt('written', () => {
      // If the append fails, the end of the file is unknown.
      this.#tail = undefined
      if (lines > this.#limit * 1.25) {
        const kept = [...readHistory(files, directory).transitions, ...this.#unwritten].slice(-this.#limit)
        files.replace(path, kept.map(formatLine).join(''))
        this.#tail = { last, lines: kept.length, torn: false }
      } else {
        files.makeDirectory(directory)
        files.append(path, tail.torn ? `\n${text}` : text)
        this.#tail = { last, lines, torn: false }
      }
      this.#unwritten = []
    })
  }

  /**
   * Reads the end of the file once, and again after a failure. undefined: unreadable, so nothing is
   * written.
   */
  #readTail(): Tail | undefined {
    if (this.#tail !== undefined) return this.#tail
    this.#attempt('read', () => {
      const text = this.#options.files.read(historyPath(this.#options.directory))?.toString() ?? ''
      const { transitions, skipped } = parseHistory(text)
      if (skipped > 0) this.#options.log.warn('skipping unreadable lines of the history', { skipped })
      this.#tail = { last: transitions.at(-1), lines: transitions.length + skipped, torn: text !== '' && !text.endsWith('\n') }
    })
    return this.#tail
  }

  #read(): HistoryReading | undefined {
    let reading: HistoryReading | undefined
    this.#attempt('read', () => {
      reading = readHistory(this.#options.files, this.#options.directory)
    })
    return reading
  }

  /** Logs a failure once, until it changes or ends. */
  #attempt(verb: Verb, work: () => void): void {
    try {
      work()
      this.#loggedFailures.delete(verb)
    } catch (error) {
      const failure = String(error)
      if (this.#loggedFailures.get(verb) !== failure) this.#options.log.warn(`history could not be ${verb}; retrying later`, { error })
      this.#loggedFailures.set(verb, failure)
    }
  }
}

type Verb = 'read' | 'written'

interface Tail {
  readonly last: Transition | undefined
  readonly lines: number
  /** The last line has no line end: one must be written before anything is appended. */
  readonly torn: boolean
}

/**
 * The text of `history.jsonl`: one transition per line, oldest first, `atNs` strictly increasing.
 * Reading never fails: lines torn by a crash, garbage, and lines that a failed append wrote twice
 * are skipped and counted.
 */
export interface HistoryReading {
  readonly transitions: readonly Transition[]
  /** The number of unreadable lines. */
  readonly skipped: number
}

/** Longer texts, for example of preflight, are cut; the log has the full text. */
const WHY_CHARACTERS = 1000

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

const isLine = shape({
  // 19 digits reach the year 2286; a Date cannot show much more.
  atNs: (value): value is string => typeof value === 'string' && /^\d{1,19}$/.test(value),
  wallMs: isAny,
  kind: oneOf(...TRANSITION_KINDS),
  from: orUndefined(isConfigSource),
  to: orUndefined(isConfigSource),
  why: isText,
})

function parseLine(line: string): Transition | undefined {
  const read = parseJson(Buffer.from(line), isLine)
  if (read === undefined) return undefined
  const { atNs, wallMs, kind, from, to, why } = read
  return { atNs, ...(isInstant(wallMs) && { wallMs }), kind, from, to, why }
}

/** Whether a Date can show the time. */
function isInstant(wallMs: unknown): wallMs is number {
  return typeof wallMs === 'number' && Number.isFinite(new Date(wallMs).getTime())
}

/**
 * The wall clock gives the number, unless it has jumped backwards: then the last number plus one,
 * and the time is kept beside it. Otherwise a clock that was years ahead once would date all that
 * comes later.
 */
function stampNext(last: Transition | undefined, wallMs: number): Pick<Transition, 'atNs' | 'wallMs'> {
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
function isRepeat(last: Transition | undefined, next: Omit<Transition, 'atNs'>): boolean {
  if (last === undefined || last.kind !== next.kind) return false
  if (last.from === undefined && last.to === undefined && last.why !== next.why.slice(0, WHY_CHARACTERS)) return false
  return sameOrAbsent(last.from, next.from) && sameOrAbsent(last.to, next.to)
}

function sameOrAbsent(a: ConfigSource | undefined, b: ConfigSource | undefined): boolean {
  return a === undefined || b === undefined ? a === b : sameSource(a, b)
}

/** When the transition happened, to show. */
export function instantOf({ atNs, wallMs }: Pick<Transition, 'atNs' | 'wallMs'>): Date {
  return new Date(wallMs ?? Number(BigInt(atNs) / 1_000_000n))
}
