// SPDX-License-Identifier: Apache-2.0
/**
 * Reads from the journal what a process of kubelet said last, with the command `journalctl`. It
 * runs at most once for a process, or a few times while the journal does not have the lines yet: a
 * line can reach the journal a moment after its process is gone. Where the journal cannot be read,
 * there are no last words.
 */
import type { FirstWords, LastWords } from '../ports/unit.ts'
import { runCommand } from '../process/run-command.ts'
import { SYSTEMD_ENVIRONMENT } from '../values/child-environment.ts'
import { findLastWords } from './last-words-text.ts'

interface JournalOptions {
  /** Path of the command. */
  readonly journalctl: string
  readonly unit: string
  readonly timeoutMs?: number
}

/** A pass of the loop waits for this. */
const TIMEOUT_MS = 2000
/** Kubelet 1.20 writes the traces of all its goroutines after its message: 2,000 lines and more. */
const MOST_LINES = 5000
const MOST_BYTES = 2 << 20
const MOST_TRIES = 3
/** sd-id128(3): the form in which systemctl prints it. */
const INVOCATION = /^[0-9a-f]{32}$/
/** Kubelet 1.37 logs some 200 lines until it has validated its config. */
const MOST_AT_START = 256 << 10
/** Processes whose last words are remembered. */
const REMEMBERED = 16

interface Attempt {
  readonly words: string | undefined
  readonly triesLeft: number
}

export class JournalLastWords implements LastWords, FirstWords {
  readonly #options: Required<JournalOptions>
  readonly #known = new Map<string, Attempt>()

  constructor(options: JournalOptions) {
    this.#options = { timeoutMs: TIMEOUT_MS, ...options }
  }

  async of(invocationId: string): Promise<string | undefined> {
    if (!INVOCATION.test(invocationId)) return undefined
    const before = this.#known.get(invocationId) ?? { words: undefined, triesLeft: MOST_TRIES }
    if (before.words !== undefined || before.triesLeft === 0) return before.words
    const output = await this.#read(invocationId)
    const words = output === undefined ? undefined : findLastWords(output)
    this.#known.set(invocationId, { words, triesLeft: output === undefined ? 0 : before.triesLeft - 1 })
    const [oldest] = this.#known.keys()
    if (this.#known.size > REMEMBERED && oldest !== undefined) this.#known.delete(oldest)
    return words
  }

  async atStart(invocationId: string): Promise<string | undefined> {
    return INVOCATION.test(invocationId) ? (await this.#ask(invocationId, [], MOST_AT_START))?.join('\n') : undefined
  }

  /** undefined: the journal cannot be read. */
  async #read(invocationId: string): Promise<string | undefined> {
    // The latest come first: of more than can be taken, the oldest are cut off.
    const lines = await this.#ask(invocationId, ['--reverse', `--lines=${MOST_LINES}`], MOST_BYTES)
    return lines?.reverse().join('\n')
  }

  async #ask(invocationId: string, order: readonly string[], maxOutputBytes: number): Promise<string[] | undefined> {
    const { journalctl, unit, timeoutMs } = this.#options
    const args = [
      '--no-pager',
      '--quiet',
      '--output=cat',
      ...order,
      `--unit=${unit}`,
      `_SYSTEMD_INVOCATION_ID=${invocationId}`,
      // Messages of systemd from its child, before that becomes kubelet, have the same invocation,
      // unit and process. They come over a socket of the journal.
      '_TRANSPORT=stdout',
    ]
    const { end, stdout } = await runCommand(journalctl, args, { timeoutMs, maxOutputBytes, env: SYSTEMD_ENVIRONMENT })
    const lines = stdout.split('\n')
    if (end.kind === 'too-much-output') lines.pop()
    else if (end.kind !== 'exited' || end.code !== 0) return undefined
    return lines
  }
}
