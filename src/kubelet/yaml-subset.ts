/**
 * The part of YAML that the library and kubelet's own readers take alike, so that kubelet decodes
 * what the agent judged. Pure. It lists what a text may contain, by the tokens of the library;
 * anything else is refused. Kubelet reads YAML with gopkg.in/yaml.v2 or a later one of the same
 * origin, which knows neither all of YAML 1.1 nor YAML 1.2. `npm run yaml:differ` compares them.
 */

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

/** With its colon on the same line, and no further away than Go looks for it. */
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
