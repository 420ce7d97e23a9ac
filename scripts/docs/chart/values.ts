// SPDX-License-Identifier: Apache-2.0
/**
 * The default values of the chart, and their table in its README, from the chart's schema: the
 * one place where a value is described. Pure.
 */

export interface Schema {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
}

interface Value {
  readonly path: readonly string[]
  readonly initial: unknown
  readonly description: string
}

/** In the order of the schema. Those without a default are Helm's own. */
export function listValues(schema: Schema, path: readonly string[] = []): readonly Value[] {
  const { description = '', default: initial, properties } = schema
  if (initial !== undefined) return [{ path, initial, description }]
  return Object.entries(properties ?? {}).flatMap(([name, below]) => listValues(below, [...path, name]))
}

/** values.yaml */
export function defaultValues(schema: Schema): string {
  const lines: string[] = []
  let before: readonly string[] = []
  for (const { path, initial, description } of listValues(schema)) {
    const parents = path.slice(0, -1)
    const shared = parents.findIndex((name, index) => before[index] !== name)
    const known = shared === -1 ? parents.length : shared
    if (known === 0) lines.push('')
    for (const [index, name] of parents.entries()) if (index >= known) lines.push(`${'  '.repeat(index)}${name}:`)
    const indent = '  '.repeat(parents.length)
    lines.push(`${indent}# ${description}`, `${indent}${path.at(-1)}: ${JSON.stringify(initial)}`)
    before = parents
  }
  return `# Made by \`npm run docs\` from values.schema.json, which says what is allowed. Do not edit.\n${lines.join('\n')}\n`
}

/** Markdown. An image is one row. */
export function valuesTable(schema: Schema): string {
  const rows = listValues(schema).flatMap(({ path, initial, description }) => {
    const name = path.join('.')
    if (/[.]image[.](tag|digest)$/.test(name)) return []
    const names = /[.]image[.]repository$/.test(name) ? `\`${name}\`, \`tag\`, \`digest\`` : `\`${name}\``
    return [`| ${names} | \`${JSON.stringify(initial)}\` | ${description} |`]
  })
  return `| Value | Default | Meaning |\n|---|---|---|\n${rows.join('\n')}\n`
}
