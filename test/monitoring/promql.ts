// SPDX-License-Identifier: Apache-2.0
/**
 * The metrics and labels that an expression of PromQL names. Pure. It knows what the rules and the
 * dashboard use: promtool says whether an expression is one at all.
 */

interface Mention {
  readonly metric: string
  readonly labels: readonly string[]
}

const WORDS = ['by', 'without', 'on', 'ignoring', 'group_left', 'group_right', 'and', 'or', 'unless', 'offset', 'bool', 'time']
const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g

/** Every metric, with the labels in its own braces. */
export function listMentions(expression: string): readonly Mention[] {
  const plain = expression.replace(GROUPING, ' ').replace(/\[[^\]]*\]/g, '')
  const found = plain.matchAll(/(?<![\w.])([a-zA-Z_:][\w:]*)\s*(\{[^}]*\}|\()?/g)
  return [...found].flatMap(([, name = '', rest = '']) => {
    if (rest === '(' || WORDS.includes(name)) return []
    const labels = [...rest.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = '']) => label)
    return [{ metric: name, labels }]
  })
}

/** The labels that results are grouped or matched by. */
export function listGroupings(expression: string): readonly string[] {
  return [...expression.matchAll(GROUPING)].flatMap(([, names = '']) =>
    names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  )
}
