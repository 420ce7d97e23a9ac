// SPDX-License-Identifier: Apache-2.0
/**
 * The rows of docs/reliability.md: each is a fault of the agent, the test that finds it, and the
 * commit that mended it. Pure.
 */

export interface Row {
  readonly number: number
  /** The harm that a node would have come to. */
  readonly fault: string
  readonly foundBy: string
  readonly file: string
  readonly title: string
  readonly commit: string
}

/** Throws where a row is not of its shape. */
export function readRows(text: string): readonly Row[] {
  return text.split('\n').flatMap((line) => {
    const [, number, ...cells] = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    if (!line.startsWith('|') || number === undefined || !/^\d+$/.test(number)) return []
    const [fault = '', foundBy = '', where = '', commit = ''] = cells
    const [, file, title] = /^`(test\/[\w./-]+\.test\.ts)`: (.+)$/.exec(where) ?? []
    const [, hash] = /^`([0-9a-f]{8,40})`$/.exec(commit) ?? []
    if (file === undefined || title === undefined || hash === undefined || fault === '' || foundBy === '')
      throw new Error(`row ${number} is not of the shape of the others: ${line}`)
    return [{ number: Number(number), fault, foundBy, file, title, commit: hash }]
  })
}
