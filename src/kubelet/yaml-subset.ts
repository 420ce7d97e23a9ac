// SPDX-License-Identifier: Apache-2.0
/**
 * The part of YAML that the library and kubelet's own readers take alike, so that kubelet decodes
 * what the agent judged. Pure. It lists what a text may contain, by the tokens of the library;
 * anything else is refused. Kubelet reads YAML with gopkg.in/yaml.v2 or a later one of the same
 * origin, which knows neither all of YAML 1.1 nor YAML 1.2. `npm run yaml:differ` compares them.
 */
import { positionAt, type YamlFailure } from './yaml-document.ts'

/** A token of the library's, or an item of a collection. */
interface Token {
  readonly type?: string
  readonly offset?: number
  readonly source?: string
  readonly start?: Token | readonly Token[]
  readonly props?: readonly Token[]
  readonly explicitKey?: true
  readonly key?: Token | null
  readonly sep?: readonly Token[]
  readonly value?: Token
  readonly items?: readonly Token[]
  readonly end?: readonly Token[]
}

export interface Outside {
  readonly why: string
  readonly offset: number
}

/** For each rule: the text that kubelet may read differently, and what to write instead. */
const RULES = {
  anchor: ['the name of this anchor', 'use only letters, digits, - and _ of ASCII'],
  block: ['a block of text that begins like this', 'write | or >, with - or + at most'],
  blockEnd: ['a block of text that is empty or has no line feed at its end', 'put a line feed behind it, or write it in quotes'],
  blockRoot: ['a document that is only a block of text', 'write it in quotes'],
  blockTab: ['a tab or a longer empty line where the indentation of a text begins', 'indent with spaces, or write the text in quotes'],
  directive: ['a directive', 'remove the line that begins with %'],
  flow: ['a key in braces without a space and a value behind it', 'write them, or null'],
  key: [
    'a key that is neither a word nor text in quotes, on one line and of at most 1024 characters',
    'write it as such, with a colon and a space behind it',
  ],
  pair: ['a pair within brackets', 'put it in braces, as in [{key: value}]'],
  plain: ['text without quotes that is written like this', 'put text in quotes, and write a number in plain digits'],
  quoted: ['text in quotes with such an escape or line break', 'write the character itself, or \\u with four digits'],
  question: ['a question mark before a key', 'write the key in quotes, with a colon and a space behind it'],
  tag: ['a tag', 'remove the word that begins with !, and put text in quotes'],
  other: ['this', 'write it more plainly'],
} as const

type Rule = keyof typeof RULES

type Form = (source: string) => boolean

const LONGEST_KEY = 1024

/** Each pattern takes time that grows with the length of the text alone. */
const PLAIN = /^(?:[^\s\-?:,[\]{}#&*!|>'"%@`]|-(?=[^\s,[\]{}])|:(?=\S))/
const COLON_AT_END = /:$/
/** Digits with underscores, and more of them than 64 bits have, not in decimals. */
const ODD_NUMBER = /^(?:[-+]?[.\d][\da-fA-FxXoO.+-]*_[\w.+-]*$|[-+]?0\w{16})/
const ESCAPES = /\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])/g
const ESCAPE = /^\\(?:["\\abefnrtv0x\n\r]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|U(?!0000[dD][89a-fA-F])00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4})$/
/** A mark of documents where a line begins, and an empty line behind an escaped line break. */
const ODD_BREAK = /\n(?:---|\.\.\.)|\\\r?\n *\r?\n/

const any: Form = () => true
const like =
  (pattern: RegExp): Form =>
  (source) =>
    pattern.test(source)
const isPlain: Form = (source) => PLAIN.test(source) && !COLON_AT_END.test(source) && !ODD_NUMBER.test(source) && isSimplyBroken(source)
const isQuoted: Form = (source) => isSimplyBroken(source) && !ODD_BREAK.test(source)
/** At the end of a line the library takes a doubled or escaped quote for the last one. */
const isSingle: Form = (source) => isQuoted(source) && !source.slice(1, -1).replaceAll("''", '').includes("'")
const isDouble: Form = (source) =>
  isQuoted(source) && (source.match(ESCAPES) ?? []).every((each) => ESCAPE.test(each)) && /^"[^"]*"$/.test(source.replace(ESCAPES, ''))
const isSimplyBroken: Form = (source) => !(source.includes('\n') && source.includes('\t'))

/** How each kind of token has to be written; a kind that is missing is refused. */
const FORMS: Readonly<Record<string, readonly [form: Form, rule: Rule]>> = {
  ...Object.fromEntries(
    [
      ...['byte-order-mark', 'doc-start', 'doc-end', 'space', 'newline', 'comment', 'comma', 'map-value-ind', 'seq-item-ind'],
      ...['flow-map-start', 'flow-map-end', 'flow-seq-start', 'flow-seq-end'],
      // The library itself refuses a text with these.
      ...['error', 'flow-error-end'],
    ].map((type) => [type, [any, 'other']] as const),
  ),
  anchor: [like(/^&[A-Za-z0-9_-]+$/), 'anchor'],
  alias: [like(/^\*[A-Za-z0-9_-]+$/), 'anchor'],
  'block-scalar-header': [like(/^[|>][-+]?$/), 'block'],
  scalar: [isPlain, 'plain'],
  'flow scalar': [(source) => isPlain(source) && !/^:|\?/.test(source), 'plain'],
  'single-quoted-scalar': [isSingle, 'quoted'],
  'double-quoted-scalar': [isDouble, 'quoted'],
}
const REFUSED: Readonly<Record<string, Rule>> = { 'explicit-key-ind': 'question', tag: 'tag', directive: 'directive' }
const KEYS: readonly (string | undefined)[] = ['scalar', 'single-quoted-scalar', 'double-quoted-scalar']

/** The first place of a token of the text, such as a document, that is outside. */
export function findOutside(token: Token): Outside | undefined {
  for (const outside of outsidesOf(token, false)) return outside
  return undefined
}

function* outsidesOf(token: Token, inFlow: boolean): Generator<Outside> {
  switch (token.type) {
    case 'document':
      yield* outsidesOfAll(marksOf(token.start))
      if (token.value?.type === 'block-scalar') yield refuse('blockRoot', token.value)
      break
    case 'block-map':
    case 'block-seq':
      for (const item of token.items ?? []) yield* outsidesOfItem(item, token.type === 'block-map', false)
      break
    case 'flow-collection': {
      const isMap = marksOf(token.start).some(({ type }) => type === 'flow-map-start')
      for (const item of token.items ?? []) yield* outsidesOfItem(item, isMap, true)
      break
    }
    case 'block-scalar':
      yield* outsidesOfAll(token.props ?? [])
      yield* outsidesOfBlock(token)
      break
    default:
      yield* outsidesOfMark(token, inFlow)
  }
  if (token.type !== 'flow-collection' && token.value) yield* outsidesOf(token.value, false)
  yield* outsidesOfAll(token.end ?? [])
}

function* outsidesOfItem(item: Token, isMap: boolean, inFlow: boolean): Generator<Outside> {
  const { start, key, sep, value } = item
  yield* outsidesOfAll(marksOf(start))
  if (!isMap && sep !== undefined) yield refuse('pair', item)
  else if (key !== undefined || sep !== undefined) {
    if (!isPlainKey(item)) yield refuse('key', item)
    if (inFlow && (value === undefined || isTight(item))) yield refuse('flow', item)
  }
  if (key) yield* outsidesOf(key, inFlow)
  yield* outsidesOfAll(sep ?? [])
  if (value) yield* outsidesOf(value, inFlow)
}

/** Whether a key has its colon on the same line, and no further away than Go looks for it. */
function isPlainKey({ start, key, sep = [] }: Token): boolean {
  const colon = sep.findIndex(({ type }) => type === 'map-value-ind')
  const before = [key, ...sep.slice(0, Math.max(colon, 0))].map((token) => token?.source ?? '').join('')
  return (
    KEYS.includes(key?.type) &&
    before.length <= LONGEST_KEY &&
    !before.includes('\n') &&
    !marksOf(start).some(({ type }) => type === 'anchor')
  )
}

/** Without a space behind the colon. In braces, a key in quotes takes none, as in JSON. */
function isTight({ key, sep = [] }: Token): boolean {
  const behind = sep[sep.findIndex(({ type }) => type === 'map-value-ind') + 1]
  return key?.type === 'scalar' && behind?.type !== 'space' && behind?.type !== 'newline'
}

function* outsidesOfBlock(token: Token): Generator<Outside> {
  const source = (token.source ?? '').replaceAll('\r\n', '\n')
  if (source.trim() === '' || !source.endsWith('\n')) yield refuse('blockEnd', token)
  const [, before = '', indentation = ''] = /^((?: *\n)*)([ \t]*)/.exec(source) ?? []
  if (indentation.includes('\t') || before.split('\n').some((line) => line.length > indentation.length)) yield refuse('blockTab', token)
}

function* outsidesOfAll(tokens: readonly Token[]): Generator<Outside> {
  for (const token of tokens) yield* outsidesOf(token, false)
}

function* outsidesOfMark(token: Token, inFlow: boolean): Generator<Outside> {
  const { type = '', source = '' } = token
  const [form, rule] = FORMS[inFlow && type === 'scalar' ? 'flow scalar' : type] ?? [undefined, REFUSED[type] ?? 'other']
  if (form?.(source) !== true) yield refuse(rule, token)
}

function marksOf(start: Token['start']): readonly Token[] {
  return start === undefined ? [] : [start].flat()
}

function refuse(rule: Rule, { offset, start, key, sep }: Token): Outside {
  const [what, instead] = RULES[rule]
  return {
    why: `kubelet may read ${what} differently: ${instead}`,
    offset: offset ?? [...marksOf(start), key, ...(sep ?? [])].find((token) => token)?.offset ?? 0,
  }
}

/** A ConfigMap has at most 1 MiB; a manifest file may hold several. */
const LONGEST = 4 << 20
/** The opposite of `is_printable` of YAML 1.1. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
const UNPRINTABLE = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/
/** Some readers take them for line ends and byte order marks, others for text. */
const DOUBTFUL = /\r(?!\n)|[\u0085\u2028\u2029]|(?!^)\ufeff|\ufeff(?=[ \t])/

export function refuseText(text: string): YamlFailure | undefined {
  if (text.length > LONGEST) return { ok: false, detail: `longer than ${LONGEST >> 20} MiB`, position: undefined }
  const [unprintable, doubtful] = [UNPRINTABLE.exec(text), DOUBTFUL.exec(text)]
  const found = unprintable ?? doubtful
  if (found === null) return undefined
  const position = positionAt(text, found.index)
  if (found === unprintable) return { ok: false, detail: `control characters are not allowed (at line ${position.line})`, position }
  const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
  const detail = `kubelet may read the character U+${code} differently: remove it, or write "\\u${code}" in double quotes`
  return { ok: false, detail: `${detail} at line ${position.line}, column ${position.column}`, position, unjudged: true }
}

const FLOW: Readonly<Record<string, number | undefined>> = { '{': 1, '[': 1, '}': -1, ']': -1 }

/** Lexemes that may stand before a document, and those between the values of one. */
const SPACE = /^\s+$|^(?:#|---|%)/

/**
 * Finds tabs in the white space that begins a line or follows a dash, outside of braces, brackets
 * and scalars. Go takes none where a key may begin, not even in an empty line
 * (`yaml_parser_scan_to_next_token`). The library takes a line without anything else for an empty
 * one. Within braces Go takes them, but for the lines behind a value without quotes
 * (`yaml_parser_scan_plain_scalar`); if the braces are the whole document, it takes these too.
 */
export class TabbedLines {
  readonly #marks: ReadonlySet<string>
  readonly #scalar: string
  #flowDepth = 0
  #isAllFlow: boolean | undefined
  #before = ''
  #isBehindScalar = false
  #isLineStart = true

  /**
   * @param marks lexemes that are not in the text
   * @param scalar the one of them that stands before a scalar without quotes
   */
  constructor(marks: readonly string[], scalar: string) {
    this.#marks = new Set(marks)
    this.#scalar = scalar
  }

  /** For each lexeme in turn. */
  hasTab(lexeme: string): boolean {
    const isScalar = this.#before === this.#scalar
    this.#before = lexeme
    if (this.#marks.has(lexeme)) return false
    if (!isScalar) this.#flowDepth += FLOW[lexeme] ?? 0
    if (isScalar || !SPACE.test(lexeme)) this.#isAllFlow ??= this.#flowDepth > 0
    this.#isBehindScalar = isScalar || (this.#isBehindScalar && /^\s+$/.test(lexeme))
    const isSpace = !isScalar && /^[ \t]+$/.test(lexeme)
    const isInPlace = this.#flowDepth > 0 && (this.#isAllFlow === true || !this.#isBehindScalar)
    const found = isSpace && this.#isLineStart && !isInPlace && lexeme.includes('\t')
    this.#isLineStart = lexeme.endsWith('\n') || (!isScalar && lexeme === '-') || (isSpace && this.#isLineStart)
    return found
  }
}

/**
 * The number that Go reads from a plain YAML scalar. Rule: `resolve`, gopkg.in/yaml.v2: a Go
 * integer of any base (`0777`, `0o777`, `0x1FF`, `0b11`), otherwise a decimal number, so that `08`
 * is 8. The rules of `yaml-subset.ts` refuse underscores, and numbers of 16 digits in other bases.
 */
const INTEGER = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9]\d*)$/
const DECIMAL = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/
/** Longer scalars count as strings. */
const LONGEST_NUMBER = 500

/** undefined: it is a string. */
export function readGoNumber(text: string): number | undefined {
  if (text.length > LONGEST_NUMBER) return undefined
  return INTEGER.test(text) ? readInteger(text) : readDecimal(text)
}

function readInteger(text: string): number {
  const sign = text.startsWith('-') ? -1 : 1
  const digits = text.replace(/^[-+]/, '')
  // As JavaScript writes octal numbers.
  const value = Number(/^0\d/.test(digits) ? `0o${digits.slice(1)}` : digits)
  return value === 0 ? 0 : sign * value
}

/** A number that is too large stays a string. */
function readDecimal(text: string): number | undefined {
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}
