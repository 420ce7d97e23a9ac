// SPDX-License-Identifier: Apache-2.0
/**
 * Takes the expressions of a policy apart: each operand of `&&` and of `||`, at whatever depth. An
 * operand of `&&` that is taken out lets something pass, one of `||` refuses something. A test that
 * misses neither shows that each clause is needed. Reads what the policies of deploy/admission are
 * written in, not all of CEL.
 */

interface Clause {
  readonly text: string
  /** The expression without it. */
  readonly rest: string
}

export function clausesOf(expression: string): Clause[] {
  return regionsIn(expression, { from: 0, to: expression.length }).map(({ from, to, neutral }) => ({
    text: expression.slice(from, to).trim(),
    rest: `${expression.slice(0, from)} ${neutral} ${expression.slice(to)}`,
  }))
}

interface Region {
  readonly from: number
  readonly to: number
}

interface Operand extends Region {
  readonly neutral: 'true' | 'false'
}

function regionsIn(text: string, region: Region): Operand[] {
  const inner = unwrap(text, region)
  for (const [operator, neutral] of [
    ['||', 'false'],
    ['&&', 'true'],
  ] as const) {
    const operands = split(text, inner, operator)
    if (operands.length > 1 && split(text, inner, ' ? ').length === 1)
      return operands.flatMap((operand) => [{ ...operand, neutral }, ...regionsIn(text, operand)])
  }
  return branchesIn(text, inner) ?? bodiesIn(text, inner)
}

/**
 * `condition ? a : b`, where it stands for a truth value: then its branches are operands as well.
 */
function branchesIn(text: string, region: Region): Operand[] | undefined {
  const [condition, rest] = split(text, region, ' ? ')
  if (condition === undefined || rest === undefined) return undefined
  const branches = split(text, rest, ' : ')
  if (!branches.every(({ from, to }) => /&&|\|\||==|!=|<|>/.test(text.slice(from, to)))) return undefined
  return [
    ...branches.map((branch) => ({ ...branch, neutral: 'true' as const })),
    ...[condition, ...branches].flatMap((part) => regionsIn(text, part)),
  ]
}

/** The expressions about each key: `before.all(key, ...)`. */
function bodiesIn(text: string, { from, to }: Region): Operand[] {
  const found: Operand[] = []
  let at = from
  while (at < to) {
    const start = text.slice(at, to).search(/\b(all|exists|filter)\(\w+,\s/)
    if (start === -1) break
    const open = text.indexOf('(', at + start)
    const close = closing(text, open)
    const comma = text.indexOf(',', open) + 1
    found.push(...regionsIn(text, { from: comma, to: close }))
    at = close
  }
  return found
}

/** Without blanks, `!` and parentheses around all of it. */
function unwrap(text: string, region: Region): Region {
  let { from, to } = region
  while (/\s/.test(text[from] ?? '')) from += 1
  while (/\s/.test(text[to - 1] ?? '')) to -= 1
  const start = text[from] === '!' ? from + 1 : from
  return text[start] === '(' && closing(text, start) === to - 1 ? unwrap(text, { from: start + 1, to: to - 1 }) : { from, to }
}

/** At `operator` where no parenthesis, bracket or quotation is open. */
function split(text: string, { from, to }: Region, operator: string): Region[] {
  const parts: Region[] = []
  let start = from
  for (let at = from; at < to; at = next(text, at)) {
    if (!text.startsWith(operator, at)) continue
    parts.push({ from: start, to: at })
    start = at + operator.length
  }
  return [...parts, { from: start, to }]
}

/** The place after this character, or after what it opens. */
function next(text: string, at: number): number {
  const character = text[at]
  if (character === "'") return text.indexOf("'", at + 1) + 1
  return character === '(' || character === '[' || character === '{' ? closing(text, at) + 1 : at + 1
}

function closing(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at = next(text, at)) if (/[)\]}]/.test(text[at] ?? '')) return at
  throw new Error(`nothing closes ${text.slice(open)}`)
}
