// SPDX-License-Identifier: Apache-2.0
/** The results of the benchmark: rows of a table, each with a figure of the agent and its floor. */
export interface Figure {
  readonly name: string
  readonly unit: string
  readonly agent: number
  /** undefined: there is no floor. */
  readonly floor: number | undefined
  /** The value that is compared with the target. */
  readonly result: string
  readonly target: string
  /** undefined: for information only. */
  readonly met: boolean | undefined
}

export interface Measured {
  readonly figures: readonly Figure[]
  /** Written to the file only. */
  readonly details: Readonly<Record<string, unknown>>
}

export function ratioFigure(name: string, unit: string, agent: number, floor: number, limit: number | undefined): Figure {
  const ratio = agent / floor
  const target = limit === undefined ? '' : `<= ${limit} x`
  return { name, unit, agent, floor, result: `${ratio.toFixed(2)} x`, target, met: limit === undefined ? undefined : ratio <= limit }
}
