// SPDX-License-Identifier: Apache-2.0
/**
 * What Prometheus answered to the expressions of the dashboard while the demo played, as it is kept
 * beside the recording of the terminal. Pure.
 */
export interface Series {
  readonly labels: Readonly<Record<string, string>>
  /** One a second, from the start of the demo. null: nothing. */
  readonly values: readonly (number | null)[]
}

export type Answers = Readonly<Record<string, readonly Series[]>>

export interface Target {
  readonly expr: string
  readonly legendFormat?: string
}

/** As far as it is drawn. */
export interface Panel {
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string; readonly custom?: Custom } }
  readonly targets?: readonly Target[]
}

interface Custom {
  readonly drawStyle?: string
  readonly stacking?: object
}

export function readDashboard(text: string): { readonly title: string; readonly panels: readonly Panel[] } {
  return JSON.parse(text) as { title: string; panels: readonly Panel[] }
}

/** Each expression once, in the order of the panels. */
export function listExpressions(panels: readonly Panel[]): readonly string[] {
  return [...new Set(panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)))]
}

/** Grafana takes four intervals of the scrape for it. */
export function forPrometheus(expression: string): string {
  return expression.replaceAll('$__rate_interval', '4s')
}

/** One expression a line, with its series. */
export function writeAnswers(answers: Answers): string {
  return Object.entries(answers)
    .map((answer) => `${JSON.stringify(answer)}\n`)
    .join('')
}

export function readAnswers(text: string): Answers {
  const lines = text.trimEnd().split('\n')
  return Object.fromEntries(lines.map((line) => JSON.parse(line) as [string, readonly Series[]]))
}
