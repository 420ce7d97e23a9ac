/**
 * The text that `validate`, `diff` and `status` print for people: which layer each field comes
 * from, and where kubelet says otherwise. Fits 80 columns, unless one name alone is longer. Pure.
 */
import { formatPath } from '../kubelet/field-path.ts'
import { formatSide, type Side } from '../preflight/change/change.ts'
import type { Difference } from '../preflight/change/check-same.ts'
import { cutToBytes } from '../values/cut.ts'
import type { FieldDocument, MergedDocument } from './merged-layers.ts'
import { paint, plainText } from './terminal.ts'

const COLUMNS = 80
const MARGIN = '    '
/** Of one layer. */
const MOST_FIELDS = 100

/** No line: this node does not merge the config. */
export function renderMerged({ layers, fields }: MergedDocument, color: boolean): string[] {
  if (layers.length === 0) return []
  const head = paint({ text: 'Merged from, the lowest first:', tone: 'strong' }, color)
  const names = layers.map((name) => `  ${plainText(name)}`)
  if (fields === null) return [head, ...names]
  const described = layers.flatMap((layer, index) => {
    const words = index === 0 ? ['all other fields'] : describeFields(fields.filter((field) => field.layer === layer))
    return [names[index] ?? '', ...wrap(words)]
  })
  return [head, ...described]
}

function describeFields(fields: readonly FieldDocument[]): readonly string[] {
  if (fields.length === 0) return ['nothing']
  const words = fields.slice(0, MOST_FIELDS).map(({ path, removed }) => plainText(removed ? `${path} (removed)` : path))
  return fields.length > MOST_FIELDS ? [...words, `${fields.length - MOST_FIELDS} more, which -o json lists`] : words
}

const LONGEST_VALUE = 60

/** No line: kubelet says the same, or nothing. */
export function renderMisread(misread: readonly Difference[] | undefined): string[] {
  if (misread === undefined || misread.length === 0) return []
  const show = (side: Side | undefined): string => plainText(cutToBytes(formatSide(side), LONGEST_VALUE))
  return [
    'Kubelet logged another effective config at its start:',
    ...misread.map(({ path, meant, running }) => `  ${plainText(formatPath(path))}: ${show(running)} (expected: ${show(meant)})`),
    'Either its files or flags were changed since, or kubelet-cfg-agent is wrong:',
    'then please report it.',
  ]
}

/** Words with commas between them. */
function wrap(words: readonly string[]): string[] {
  const lines: string[] = []
  for (const [index, word] of words.entries()) {
    const part = index === words.length - 1 ? word : `${word},`
    const longer = `${lines.at(-1) ?? MARGIN}${lines.length === 0 ? '' : ' '}${part}`
    if (lines.length === 0) lines.push(longer)
    else if (longer.length <= COLUMNS) lines[lines.length - 1] = longer
    else lines.push(`${MARGIN}${part}`)
  }
  return lines
}
