// SPDX-License-Identifier: Apache-2.0
/**
 * Ends work that does not end by itself, in the process that does it. Whoever asked may be gone by
 * then, and could end nothing: an expression of a few hundred characters can take years.
 */
import { Script } from 'node:vm'

const call = new Script('work()')

/** @throws after this time, out of whatever the work does. It must not wait for anything. */
export function within<T>(limitMs: number, work: () => T): T {
  const results: { readonly value: T }[] = []
  // The result of the script itself has no type.
  call.runInNewContext({ work: () => void results.push({ value: work() }) }, { timeout: limitMs })
  const [result] = results
  if (result === undefined) throw new Error('the work did not end')
  return result.value
}
