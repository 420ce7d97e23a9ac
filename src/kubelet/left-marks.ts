// SPDX-License-Identifier: Apache-2.0
/**
 * Finds in a text what no config is meant to have: a template that nobody rendered, and characters
 * that a word processor or a web page put in place of plain ones. Pure. Syntax: text/template of Go
 * (Helm), Jinja, the template strings of Terraform, envsubst, and ERB.
 */

export interface LeftMark {
  readonly kind: 'template' | 'character'
  /** The mark and its meaning, as the beginning of a sentence. */
  readonly what: string
  readonly advice: string
  readonly index: number
}

interface Mark {
  readonly kind: LeftMark['kind']
  readonly pattern: RegExp
  readonly name: (found: string) => string
  readonly advice: string
}

const code = (text: string): string => `U+${(text.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

const RENDER = 'render it first, and give the result'

/** Marks that no YAML parser takes where they stand outside of quotes. */
const BREAKING: readonly Mark[] = [
  {
    kind: 'template',
    pattern: /\{\{|\{%|\{#|%\{[ ~]?|<%/,
    name: (found) => `${found.trim()} begins a template that was not rendered`,
    advice: RENDER,
  },
  {
    kind: 'character',
    pattern: /[\u2018-\u201f\u00ab\u00bb]/,
    name: (found) => `${found} (${code(found)}) is not a quotation mark of YAML or JSON`,
    advice: 'write " or \' in its place',
  },
  {
    kind: 'character',
    pattern: /[\u00a0\u1680\u2000-\u200d\u202f\u205f\u2060\u3000]/,
    name: (found) => `the character ${code(found)} looks like a space or like nothing, and is neither`,
    advice: 'write a space in its place, or remove it',
  },
  {
    kind: 'character',
    pattern: /[\u2010-\u2015\u2212]/,
    name: (found) => `${found} (${code(found)}) is not a hyphen`,
    advice: 'write - in its place',
  },
  {
    kind: 'character',
    pattern: /(?<=^|\s)\/[/*](?=\s|$)/,
    name: (found) => `${found} begins no comment of YAML`,
    advice: 'write # in its place',
  },
]

/** Marks that YAML takes as text. A value that is all of the last ones is a placeholder. */
const IN_VALUES: readonly Mark[] = [
  ...BREAKING,
  {
    kind: 'template',
    pattern:
      /\$\{[^{}\n]{0,200}\}|\$\([A-Za-z_]\w{0,100}\)|^\$[A-Za-z_]\w{0,100}$|^<[A-Za-z][\w .-]{0,100}>$|^@@?\w{1,100}@@?$|^__\w{1,100}__$/,
    name: (found) => `${found.slice(0, 60)} is a placeholder that was not replaced`,
    advice: 'replace it, and give the result',
  },
]

/** In a value that was read. Takes the beginning of a long one. */
export function findMarkIn(value: string): LeftMark | undefined {
  return findFirst(value.slice(0, 2000), IN_VALUES)
}

/** The mark in a value, and what to do. undefined: the value has none. */
export function describeMark(value: unknown): string | undefined {
  const mark = typeof value === 'string' ? findMarkIn(value) : undefined
  return mark && `${mark.what}: ${mark.advice}`
}

function findFirst(text: string, marks: readonly Mark[]): LeftMark | undefined {
  for (const { pattern, kind, name, advice } of marks) {
    const found = pattern.exec(text)
    if (found !== null) return { kind, what: name(found[0]), advice, index: found.index }
  }
  return undefined
}

/** A quote that is not closed ends with the line. */
const QUOTED = /"(?:[^"\\]|\\.?)*(?:"|$)|'[^']*'/g
/** Longer ones are cut. */
const LONGEST_LINE = 2000
/** Lines that are searched before the one where a parser stopped. */
const MOST_LINES = 2000

/**
 * The mark that broke a text which is not YAML: on the line where the parser stopped, or the
 * nearest before.
 * @param line counts from 1
 */
export function findBreaking(text: string, line: number): { readonly mark: LeftMark; readonly line: number } | undefined {
  const lines = text.split('\n', line + 1)
  for (let at = Math.min(line, lines.length); at > Math.max(0, line - MOST_LINES); at -= 1) {
    const plain = blank((lines[at - 1] ?? '').slice(0, LONGEST_LINE))
    const mark = findFirst(plain, BREAKING)
    // Characters spoil the line that they are in; a template also what follows it.
    if (mark !== undefined && (mark.kind === 'template' || at >= line - 1)) return { mark, line: at }
  }
  return undefined
}

/** With blanks for comments and text in quotes, in which a mark does no harm. */
function blank(line: string): string {
  const outside = line.replace(QUOTED, (found) => ' '.repeat(found.length))
  return outside.replace(/(^|\s)#[\s\S]*$/, '$1')
}
