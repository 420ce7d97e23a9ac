// SPDX-License-Identifier: Apache-2.0
/** The outcome of a test, by the output of its file in TAP 14. Pure. */

export function outcomeOf(title: string, output: string): 'passed' | 'failed' | 'not run' {
  const points = [...output.matchAll(/^(not )?ok \d+ - (.*?)(?: # .*)?(?: \{)?$/gm)]
  const own = points.filter(([, , name = '']) => name.replace(/\\(.)/g, '$1') === title)
  if (own.length === 0) return 'not run'
  return own.some(([, bad]) => bad !== undefined) ? 'failed' : 'passed'
}
