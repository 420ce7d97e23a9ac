// SPDX-License-Identifier: Apache-2.0
/**
 * Waits until a condition holds, without a limit: how long that takes depends on the machine. The
 * limit of the test runner ends a test that waits in vain; until then a line on stderr says once a
 * minute what it waits for.
 */
const MINUTE_MS = 60_000

export async function until(condition: () => boolean | Promise<boolean>, what: string, everyMs = 5): Promise<void> {
  let saidAt = performance.now()
  while (!(await condition())) {
    if (performance.now() - saidAt > MINUTE_MS) {
      saidAt = performance.now()
      console.error(`still waiting: ${what}`)
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
