// SPDX-License-Identifier: Apache-2.0
/** The text of the generated modules, before it is formatted. Pure. */
import { type JoinedField, joinFields } from './join-fields.ts'
import { packGates, packNeeds } from './join-gates.ts'
import type { Release } from './release.ts'

/** Where they are, from the top of the repository. */
export const GENERATED = {
  fields: 'src/kubelet/generated/fields.ts',
  defaults: 'src/kubelet/generated/defaults.ts',
  gates: 'src/kubelet/generated/gates.ts',
  dependent: 'test/preflight/change/dependent-defaults.ts',
} as const

export function fieldsModule(releases: readonly Release[]): string {
  const rows = nest(joinFields(releases))
  return `import type { FieldTable } from '../field.ts'\n\nexport const FIELD_TABLE = {\n${writeRows(rows).join('\n')}\n} as const satisfies FieldTable\n`
}

type Tree = Map<string, { readonly field: JoinedField; readonly inner: Tree }>

function nest(fields: readonly JoinedField[]): Tree {
  const top: Tree = new Map()
  for (const field of fields) {
    const names = field.path.replaceAll('[]', '').split('.')
    const own = names.pop() ?? ''
    let level = top
    for (const name of names) {
      const parent = level.get(name)
      if (parent === undefined) throw new Error(`${field.path} stands before ${name}`)
      level = parent.inner
    }
    level.set(own, { field, inner: new Map() })
  }
  return top
}

/** The formatter leaves an object in one line where it fits. */
function writeRows(tree: Tree): string[] {
  return [...tree].map(([name, { field, inner }]) => {
    const { type, since, gone } = field
    const parts = [
      `type: '${type}'`,
      ...(since === undefined ? [] : [`since: ${since}`]),
      ...(gone === undefined ? [] : [`gone: ${gone}`]),
      ...(inner.size === 0 ? [] : [`fields: { ${writeRows(inner).join(' ')} }`]),
    ]
    return `${name}: { ${parts.join(', ')} },`
  })
}

export function defaultsModule(releases: readonly Release[]): string {
  const rows = joinFields(releases).flatMap(({ path, initial, zeroSince }) => {
    const parts = [
      ...(initial === undefined
        ? []
        : [`initial: [${initial.map(([minor, value]) => `[${minor}, ${JSON.stringify(value)}]`).join(', ')}]`]),
      ...(zeroSince === undefined ? [] : [`zeroSince: ${zeroSince}`]),
    ]
    return parts.length === 0 ? [] : [`'${path}': { ${parts.join(', ')} },`]
  })
  return `import type { FieldDefaults } from '../field.ts'\n\nexport const DEFAULT_TABLE: Readonly<Record<string, FieldDefaults>> = {\n${rows.join('\n')}\n}\n`
}

/** Upstream's code for the defaults that depend on other fields, by the minor that brought it. */
export function dependentModule(releases: readonly Release[]): string {
  const byPath = new Map<string, (readonly [minor: number, code: string])[]>()
  for (const { minor, dependent } of releases)
    for (const [path, code] of Object.entries(dependent)) {
      const known = byPath.get(path) ?? []
      if (known.at(-1)?.[1] !== code) byPath.set(path, [...known, [minor, code]])
    }
  return `export const DEPENDENT_DEFAULTS: Readonly<Record<string, readonly (readonly [since: number, code: string])[]>> = ${JSON.stringify(Object.fromEntries(byPath), undefined, 2)}\n`
}

export function gatesModule(releases: readonly Release[]): string {
  return [
    '/** Each gate with its states by the minor of 1.x that brought them: see `kubelet/gates.ts`. */',
    `export const GATE_TABLE = \`\n${fill(packGates(releases))}\n\``,
    '',
    '/** The gates that each gate needs to be on, by the minor of 1.x. */',
    `export const GATE_NEEDS = \`\n${fill(packNeeds(releases))}\n\``,
    '',
  ].join('\n')
}

function fill(words: readonly string[]): string {
  return words
    .reduce<string[]>((lines, word) => {
      const last = lines.at(-1)
      if (last === undefined || last.length + word.length > 137) lines.push(`  ${word}`)
      else lines[lines.length - 1] = `${last} ${word}`
      return lines
    }, [])
    .join('\n')
}
