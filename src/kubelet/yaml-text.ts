/**
 * What a YAML text may not contain whatever it means: too much, control characters, and tabs where
 * Go takes none. Pure.
 */
import { positionAt } from './text-position.ts'
import type { YamlFailure } from './yaml-document.ts'

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
