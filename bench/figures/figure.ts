/** What the benchmark comes to: rows of a table, each a figure of the agent beside its floor. */

export interface Figure {
  readonly name: string
  readonly unit: string
  readonly agent: number
  /** undefined: measured against nothing. */
  readonly floor: number | undefined
  /** What is held against the target. */
  readonly result: string
  readonly target: string
  /** undefined: for information only. */
  readonly met: boolean | undefined
}

export interface Measured {
  readonly figures: readonly Figure[]
  /** For the file, not for the table. */
  readonly details: Readonly<Record<string, unknown>>
}

export function ratioFigure(name: string, unit: string, agent: number, floor: number, limit: number | undefined): Figure {
  const ratio = agent / floor
  const target = limit === undefined ? '' : `<= ${limit} x`
  return { name, unit, agent, floor, result: `${ratio.toFixed(2)} x`, target, met: limit === undefined ? undefined : ratio <= limit }
}
