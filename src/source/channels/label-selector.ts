// SPDX-License-Identifier: Apache-2.0
/**
 * Label selectors as text, `a=b,c in (d,e),!f`: parsed and matched as `labels.Parse` of
 * k8s.io/apimachinery v0.36 does. Text that upstream refuses is refused here too. Pure.
 *
 * One difference: text with a NUL is refused. Upstream takes a NUL for the end of the text or of a
 * word, so it would read `\u0000,a=b` as a selector that matches everything.
 *
 * Upstream: `pkg/labels/selector.go` and `pkg/util/validation` (IsQualifiedName,
 * IsValidLabelValue).
 */
import { isObjectName, quote } from '../../values/kubernetes-names.ts'

export type Labels = Readonly<Record<string, string>>

export type Requirement =
  | { readonly key: string; readonly operator: 'exists' | 'not-exists' }
  | { readonly key: string; readonly operator: 'in' | 'not-in'; readonly values: readonly string[] }
  | { readonly key: string; readonly operator: 'greater' | 'less'; readonly bound: bigint }

/** All requirements must hold. An empty list matches every object. */
type LabelSelector = readonly Requirement[]

type SelectorReading = { readonly ok: true; readonly selector: LabelSelector } | { readonly ok: false; readonly detail: string }

const SPACE = /[ \t\r\n]+/y
const SYMBOL = /==|!=|[=!(),<>]/y
const WORD = /[^=!(),<> \t\r\n]+/y

/** Thrown by the parser for text that it refuses; it throws nothing else. */
class Refusal extends Error {}

export function parseLabelSelector(text: string): SelectorReading {
  try {
    return { ok: true, selector: new Parser(tokenize(text)).selector() }
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, detail: error.message }
    throw error
  }
}

export function matchesLabels(selector: LabelSelector, labels: Labels): boolean {
  return selector.every((requirement) => holds(requirement, labels))
}

function holds(requirement: Requirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined
  switch (requirement.operator) {
    case 'exists':
      return value !== undefined
    case 'not-exists':
      return value === undefined
    case 'in':
      return value !== undefined && requirement.values.includes(value)
    // An object without the label matches too, as upstream.
    case 'not-in':
      return value === undefined || !requirement.values.includes(value)
    case 'greater':
    case 'less': {
      const number = value === undefined ? undefined : parseInteger(value)
      if (number === undefined) return false
      return requirement.operator === 'greater' ? number > requirement.bound : number < requirement.bound
    }
  }
}

/**
 * Splits into symbols and words. Where a key or a value is expected, `in` and `notin` are ordinary
 * words.
 */
function tokenize(text: string): string[] {
  const tokens: string[] = []
  for (let at = 0; at < text.length; ) {
    const match = [SPACE, SYMBOL, WORD].map((pattern) => matchAt(pattern, text, at)).find((found) => found !== undefined) ?? ''
    if (!/^[ \t\r\n]/.test(match)) tokens.push(match)
    at += match.length
  }
  return tokens
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

class Parser {
  readonly #tokens: readonly string[]
  #at = 0

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens
  }

  selector(): Requirement[] {
    const requirements: Requirement[] = []
    if (this.#peek() === undefined) return requirements
    for (;;) {
      requirements.push(this.#requirement())
      const after = this.#next()
      if (after === undefined) return requirements
      if (after !== ',') throw refuse(after, "',' or the end")
    }
  }

  #requirement(): Requirement {
    const negated = this.#peek() === '!'
    if (negated) this.#next()
    const key = this.#word('a label key')
    if (!isLabelKey(key)) throw new Refusal(`${quote(key)} is not a label key`)
    if (negated) return { key, operator: 'not-exists' }
    const next = this.#peek()
    if (next === undefined || next === ',') return { key, operator: 'exists' }
    return this.#comparison(key, this.#next())
  }

  #comparison(key: string, operator: string | undefined): Requirement {
    switch (operator) {
      case '=':
      case '==':
        return { key, operator: 'in', values: [this.#value()] }
      case '!=':
        return { key, operator: 'not-in', values: [this.#value()] }
      case 'in':
        return { key, operator: 'in', values: this.#values() }
      case 'notin':
        return { key, operator: 'not-in', values: this.#values() }
      case '>':
        return { key, operator: 'greater', bound: this.#bound() }
      case '<':
        return { key, operator: 'less', bound: this.#bound() }
      default:
        throw refuse(operator, 'an operator')
    }
  }

  /** A missing value is the empty value. */
  #value(): string {
    const next = this.#peek()
    return next === undefined || next === ',' ? '' : checkValue(this.#word('a label value'))
  }

  #bound(): bigint {
    const text = this.#value()
    const bound = parseInteger(text)
    if (bound === undefined) throw new Refusal(`${quote(text)} is not a whole number`)
    return bound
  }

  /** Values may be empty: `()` contains the empty value, and so does `(a,,b)`. */
  #values(): string[] {
    if (this.#peek() !== '(') throw refuse(this.#peek(), "'('")
    this.#next()
    const values = new Set<string>()
    for (;;) {
      const next = this.#peek()
      values.add(next === ',' || next === ')' ? '' : checkValue(this.#word('a label value')))
      const after = this.#next()
      if (after === ')') return [...values]
      if (after !== ',') throw refuse(after, "',' or ')'")
    }
  }

  #word(expected: string): string {
    const token = this.#next()
    if (token === undefined || /^[=!(),<>]/.test(token)) throw refuse(token, expected)
    return token
  }

  #peek(): string | undefined {
    return this.#tokens[this.#at]
  }

  #next(): string | undefined {
    return this.#tokens[this.#at++]
  }
}

function checkValue(value: string): string {
  if (!isLabelValue(value)) throw new Refusal(`${quote(value)} is not a label value`)
  return value
}

/**
 * `strconv.ParseInt(value, 10, 64)`. A bound has no sign, since it is a label value; a label in a
 * manifest can have one.
 */
function parseInteger(value: string): bigint | undefined {
  const [, sign, digits] = /^([-+]?)(\d+)$/.exec(value) ?? []
  if (digits === undefined) return undefined
  const number = sign === '-' ? -BigInt(digits) : BigInt(digits)
  return BigInt.asIntN(64, number) === number ? number : undefined
}

function refuse(found: string | undefined, expected: string): Refusal {
  return new Refusal(`found ${found === undefined ? 'the end' : quote(found)}, expected ${expected}`)
}

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/

/**
 * The syntax of label keys and values: `IsQualifiedName` and `IsValidLabelValue` of
 * k8s.io/apimachinery `pkg/util/validation`.
 */
function isLabelKey(text: string): boolean {
  const [name = '', prefix, ...rest] = text.split('/').reverse()
  return rest.length === 0 && (prefix === undefined || isObjectName(prefix)) && NAME.test(name)
}

function isLabelValue(text: string): boolean {
  return text === '' || NAME.test(text)
}
