// SPDX-License-Identifier: Apache-2.0
/** The output of the demo: one line per event, with its origin and the time since the start. */
export type Speaker = 'you' | 'agent' | 'kubelet' | 'status' | 'event' | 'api' | 'record'

/** SGR codes (ECMA-48). */
const COLOURS: Readonly<Record<Speaker, number>> = { you: 36, agent: 32, kubelet: 34, status: 33, event: 33, api: 35, record: 35 }
const BOLD = 1
const FAINT = 90
const RED = 31

interface TimelineOptions {
  readonly write: (text: string) => unknown
  readonly colours: boolean
  /** A monotonic clock. */
  readonly nowMs: () => number
}

export class Timeline {
  readonly #options: TimelineOptions
  readonly #startedAtMs: number
  #acts = 0

  constructor(options: TimelineOptions) {
    this.#options = options
    this.#startedAtMs = options.nowMs()
  }

  get elapsedSeconds(): number {
    return (this.#options.nowMs() - this.#startedAtMs) / 1000
  }

  act(title: string): void {
    this.#acts += 1
    this.head(`${this.#acts}. ${title}`)
  }

  head(title: string): void {
    this.write(`\n${this.#paint(title, BOLD)}`)
  }

  say(speaker: Speaker, text: string, isTrouble = false): void {
    const time = this.#paint(`${this.elapsedSeconds.toFixed(1).padStart(5)}s`, FAINT)
    const who = this.#paint(speaker.padEnd(8), COLOURS[speaker])
    this.write(`${time}  ${who} ${isTrouble ? this.#paint(text, RED) : text}`)
  }

  /** Lines without an origin, such as a directory tree. */
  show(caption: string, lines: readonly string[]): void {
    this.write(this.#paint(`        ${caption}`, BOLD))
    for (const line of lines) this.write(`        ${line}`)
  }

  write(text: string): void {
    this.#options.write(`${text}\n`)
  }

  #paint(text: string, code: number): string {
    return this.#options.colours ? `\u001b[${code}m${text}\u001b[0m` : text
  }
}
