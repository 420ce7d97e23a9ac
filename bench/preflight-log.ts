// SPDX-License-Identifier: Apache-2.0
/** The time for preflight, as the agent's log tells it with `--log-level=debug`. */
import { readFileSync } from 'node:fs'

export class PreflightLog {
  readonly #path: string
  #seen = 0

  constructor(path: string) {
    this.#path = path
  }

  /** The total since the last call. */
  takeMs(): number {
    const lines = readFileSync(this.#path, 'utf8').split('\n').slice(0, -1)
    const fresh = lines.slice(this.#seen)
    this.#seen = lines.length
    const took = fresh.filter((line) => line.includes('"preflight answered"')).map((line): { tookMs: number } => JSON.parse(line))
    return took.reduce((sum, { tookMs }) => sum + tookMs, 0)
  }
}
