// SPDX-License-Identifier: Apache-2.0
/**
 * The output of a lane, read line by line: its count, and which scenarios failed with which words.
 */

/** A scenario that failed. */
export interface Failure {
  readonly name: string
  /** The lines that the lane printed about it, without the last empty ones. */
  readonly lines: readonly string[]
}

export interface LaneResult {
  /** Where the lane ended without a count, those that had passed until then. */
  readonly passed: number
  /** More than `failures` has where the lane ended without a count. */
  readonly failed: number
  readonly failures: readonly Failure[]
}

/** Takes the lines of `runScenarios`. */
export class LaneOutput {
  #count: { readonly passed: number; readonly failed: number } | undefined
  #scenario: { readonly name: string; readonly lines: string[]; hasFailed: boolean } | undefined
  readonly #failures: Failure[] = []
  #passed = 0

  line(line: string): void {
    const [, passed, failed] = /^(\d+) passed, (\d+) failed$/.exec(line) ?? []
    if (passed !== undefined && failed !== undefined) {
      this.#endScenario()
      this.#count = { passed: Number(passed), failed: Number(failed) }
      return
    }
    const [, name] = /^# (.*)$/.exec(line) ?? []
    if (name !== undefined || line === 'Failed:') this.#endScenario()
    if (name !== undefined) this.#scenario = { name, lines: [], hasFailed: false }
    else if (this.#scenario !== undefined) {
      this.#scenario.lines.push(line)
      if (line.startsWith('  FAILED (')) this.#scenario.hasFailed = true
      if (line.startsWith('  ok (')) this.#passed += 1
    }
  }

  /** Once the lane has ended. Without a count it is a failure of its own. */
  result(): LaneResult {
    this.#endScenario()
    const { passed, failed } = this.#count ?? { passed: this.#passed, failed: this.#failures.length + 1 }
    return { passed, failed, failures: this.#failures }
  }

  #endScenario(): void {
    const { name, lines, hasFailed } = this.#scenario ?? { name: '', lines: [], hasFailed: false }
    while (lines.at(-1)?.trim() === '') lines.pop()
    if (hasFailed) this.#failures.push({ name, lines })
    this.#scenario = undefined
  }
}
