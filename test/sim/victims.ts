// SPDX-License-Identifier: Apache-2.0
/**
 * Which configs suffered from something that is not their fault. A verdict on a good config needs
 * such a cause, and lasts only if the config had not proved itself before.
 */
import { layoutOf } from '../../src/checkpoint/layout.ts'
import { parseSource } from '../../src/checkpoint/serialize.ts'
import type { Files } from '../../src/ports/files.ts'
import { meaningOf } from './behaviour.ts'
import { DIRECTORY } from './paths.ts'

const REBOOTS = 3
/** Where the config is tried again. */
const REBOOTS_IN_RETRIAL = 2
const REBOOTS_WITHIN_MS = 3600e3

export class Victims {
  readonly #suffered = new Map<string, number>()
  readonly #unproven = new Set<string>()
  readonly #rolledBack = new Set<string>()
  readonly #rebootsMs = new Map<string, readonly number[]>()
  /** For its reboots. */
  readonly #givenUp = new Set<string>()
  /** More than the retrials that a config gets. */
  static readonly MANY = 4

  /** @param isProven it is last-known-good, by its whole trial */
  suffered(text: string, isProven: boolean): void {
    this.#suffered.set(text, (this.#suffered.get(text) ?? 0) + 1)
    if (!isProven) this.#unproven.add(text)
  }

  /**
   * The machine has been rebooted in its trial. Several times, that looks as if the config were the
   * cause.
   */
  rebooted(text: string, wallMs: number): void {
    const times = [...(this.#rebootsMs.get(text) ?? []), wallMs].filter((ms) => Math.abs(wallMs - ms) < REBOOTS_WITHIN_MS)
    this.#rebootsMs.set(text, times)
    if (times.length < (this.#givenUp.has(text) ? REBOOTS_IN_RETRIAL : REBOOTS)) return
    this.suffered(text, false)
    this.#givenUp.add(text)
    this.#rebootsMs.delete(text)
  }

  /** The config has passed a whole trial since: its earlier misfortunes say nothing any more. */
  proved(text: string): void {
    this.#unproven.delete(text)
    this.#rebootsMs.delete(text)
    this.#givenUp.delete(text)
  }

  /** An operator's rollback lasts until a retry. */
  rolledBack(text: string): void {
    this.#rolledBack.add(text)
  }

  wasRebooted(text: string): boolean {
    return this.#givenUp.has(text)
  }

  excuseVerdict(text: string): boolean {
    return this.#rolledBack.has(text) || this.#unproven.has(text) || (this.#suffered.get(text) ?? 0) >= Victims.MANY
  }
}

export function isLastKnownGood(files: Files, text: string): boolean {
  return lastKnownGoodText(files) === text
}

export function isNothingAssigned(files: Files): boolean {
  const parsed = parseSource(files.read(layoutOf(DIRECTORY).record('assigned')) ?? Buffer.alloc(0))
  return parsed.ok && parsed.source === 'local'
}

/** By the bytes of the record's checkpoint. undefined: it is local, or gone. */
export function lastKnownGoodText(files: Files): string | undefined {
  const parsed = parseSource(files.read(layoutOf(DIRECTORY).record('last-known-good')) ?? Buffer.alloc(0))
  if (!parsed.ok || parsed.source === 'local') return undefined
  const bytes = files.read(layoutOf(DIRECTORY).file(parsed.source))
  return bytes && meaningOf(bytes.toString())
}
