// SPDX-License-Identifier: Apache-2.0
/** Prometheus' text format, read as far as prom-client writes it. Pure. */

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export function parseExposition(text: string): readonly Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, labels = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      if (name === undefined || value === undefined) throw new Error(`this line is no sample: ${line}`)
      return { name, labels: parseLabels(labels), value: Number(value) }
    })
}

function parseLabels(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [name, value]))
}

/** As in `up{job="x"}`. */
export function seriesName(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`)
  return `${name}{${pairs.join(', ')}}`
}
