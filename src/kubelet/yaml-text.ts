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

export function refuseText(text: string): YamlFailure | undefined {
  if (text.length > LONGEST) return { ok: false, detail: `longer than ${LONGEST >> 20} MiB`, position: undefined }
  const unprintable = UNPRINTABLE.exec(text)
  if (unprintable === null) return undefined
  const position = positionAt(text, unprintable.index)
  return { ok: false, detail: `control characters are not allowed (at line ${position.line})`, position }
}

const FLOW: Readonly<Record<string, number | undefined>> = { '{': 1, '[': 1, '}': -1, ']': -1 }

/**
 * Finds tabs in the white space that begins a line, outside of braces, brackets and scalars. Go
 * takes none where a key may begin, not even in an empty line (`yaml_parser_scan_to_next_token`).
 * The library takes a line without anything else for an empty one. Behind a scalar without quotes,
 * which may go on, a tab counts only in the first column: Go takes some of the others.
 */
export class TabbedLines {
  readonly #marks: ReadonlySet<string>
  readonly #scalar: string
  #flowDepth = 0
  #before = ''
  #column: number | undefined = 0
  #mayGoOn = false

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
    const isSpace = !isScalar && /^[ \t]+$/.test(lexeme)
    const at = isSpace && this.#flowDepth === 0 && this.#column !== undefined ? lexeme.indexOf('\t') : -1
    const found = at >= 0 && (!this.#mayGoOn || (this.#column ?? 0) + at === 0)
    if (lexeme.endsWith('\n')) this.#column = 0
    else this.#column = isSpace && this.#column !== undefined ? this.#column + lexeme.length : undefined
    if (!isSpace && !/^\r?\n$/.test(lexeme)) this.#mayGoOn = isScalar
    return found
  }
}
