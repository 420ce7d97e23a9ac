// SPDX-License-Identifier: Apache-2.0
/** Statistics for the benchmark. Pure. */
/** By nearest rank: always one of the values. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

interface Slope {
  /** Units of y per unit of x. */
  readonly slope: number
  /** Two standard errors. */
  readonly noise: number
}

/**
 * Fits a line through the means of equal stretches. Adjacent samples are correlated (the saw-tooth
 * of a garbage collector); as independent samples they would make the noise look too small.
 */
export function fitSlope(points: readonly { readonly x: number; readonly y: number }[], stretches = 12): Slope {
  const size = Math.max(1, Math.floor(points.length / stretches))
  const means: { x: number; y: number }[] = []
  for (let i = 0; i + size <= points.length; i += size) {
    const stretch = points.slice(i, i + size)
    means.push({ x: mean(stretch.map(({ x }) => x)), y: mean(stretch.map(({ y }) => y)) })
  }
  const meanX = mean(means.map(({ x }) => x))
  const meanY = mean(means.map(({ y }) => y))
  const spreadX = means.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
  const slope = means.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spreadX
  const residual = means.reduce((sum, { x, y }) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0)
  return { slope, noise: 2 * Math.sqrt(residual / Math.max(1, means.length - 2) / spreadX) }
}
