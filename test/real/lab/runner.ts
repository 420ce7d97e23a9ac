// SPDX-License-Identifier: Apache-2.0
/**
 * Runs scenarios one after another and tells a person what happens: each step with the time it
 * took, every failure with its reason, and the count at the end. A failed scenario does not hide
 * the ones after it.
 */
import { playWithin } from './deadline.ts'

/** Runs and times one step; its value is the step's. */
export type Step = <T>(what: string, act: () => Promise<T> | T) => Promise<T>

interface Scenario {
  readonly name: string
  readonly play: (step: Step) => Promise<void>
  readonly timeoutMs: number
}

/** Only ends a hang. What hangs within a scenario has limits of its own, and tells more. */
const SCENARIO_MS = 30 * 60_000

const scenarios: Scenario[] = []

/** Adds a scenario to what `runScenarios` runs. */
export function scenario(name: string, play: (step: Step) => Promise<void>, options: { timeoutMs?: number } = {}): void {
  scenarios.push({ name, play, timeoutMs: options.timeoutMs ?? SCENARIO_MS })
}

/**
 * Runs the scenarios whose name contains all of `words`, and none of those that begin with `!`;
 * `one|two` stands for either. Ends with the line `N passed, N failed`, and exits.
 */
export async function runScenarios(words: readonly string[] = process.argv.slice(2)): Promise<never> {
  const failed: string[] = []
  let passed = 0
  for (const each of scenarios.filter(({ name }) => isMeant(name, words))) {
    console.log(`\n# ${each.name}`)
    const startedAt = performance.now()
    try {
      await playWithin(each.timeoutMs, () => each.play(printedStep))
      passed += 1
      console.log(`  ok (${elapsed(startedAt)})`)
    } catch (error) {
      // Once more at the end, where nobody has to look for it between the lanes.
      failed.push(`${each.name}\n${indent(explain(error))}`)
      console.log(`  FAILED (${elapsed(startedAt)})\n${indent(explain(error))}`)
    }
  }
  console.log(failed.length === 0 ? '' : `\nFailed:\n${indent(failed.join('\n'))}\n`)
  console.log(`${passed} passed, ${failed.length} failed`)
  // Exits at once, so that what a scenario out of time left waiting cannot hold the run. Having run
  // nothing is no success.
  process.exit(failed.length > 0 || passed === 0 ? 1 : 0)
}

/** Whether the words name a scenario, as `runScenarios` has it. */
export function isMeant(name: string, words: readonly string[]): boolean {
  const has = (word: string) => word.split('|').some((one) => name.includes(one))
  return words.every((word) => (word.startsWith('!') ? !has(word.slice(1)) : has(word)))
}

const printedStep: Step = async (what, act) => {
  const startedAt = performance.now()
  try {
    const value = await act()
    console.log(`  - ${what} (${elapsed(startedAt)})`)
    return value
  } catch (error) {
    console.log(`  ! ${what} (${elapsed(startedAt)})`)
    throw error
  }
}

function elapsed(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(2)} s`
}

function explain(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ')
}
