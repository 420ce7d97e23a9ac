// SPDX-License-Identifier: Apache-2.0
/**
 * Reads TOML (toml.io, 1.0) as far as the configuration of a container runtime needs it: tables,
 * dotted and quoted keys, strings of one line, booleans and arrays. Pure. Other values (numbers,
 * dates) are kept as they are written. A text that it does not understand throws, so that nobody
 * concludes anything from half a file.
 */

export type TomlValue = string | boolean | TomlWord | readonly TomlValue[]

/** A number or a date. */
interface TomlWord {
  readonly word: string
}

/** Each value by its path. A path that occurs twice, or in an array of tables, throws. */
export type TomlEntries = ReadonlyMap<string, TomlValue>

export function tomlPath(...keys: readonly string[]): string {
  return JSON.stringify(keys)
}

export function parseToml(text: string): TomlEntries {
  return new TomlReader(text).read()
}

const BARE = /[A-Za-z0-9_-]+/y
const WORD = /[A-Za-z0-9_+.:-]+/y
const SPACE = /[ \t]*/y
/** White space, line ends and comments. */
const BLANK = /(?:[ \t\r\n]|#[^\n]*)*/y
const LINE_END = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y
const BASIC = /"((?:[^"\\\n]|\\["\\bfnrt]|\\u[0-9a-fA-F]{4})*)"/y
const LITERAL = /'([^'\n]*)'/y
const DEEPEST = 20

class TomlReader {
  readonly #text: string
  #at = 0
  #table: readonly string[] = []
  readonly #entries = new Map<string, TomlValue>()
  readonly #tables = new Set<string>()

  constructor(text: string) {
    this.#text = text
  }

  read(): TomlEntries {
    for (this.#skip(BLANK); this.#at < this.#text.length; this.#skip(BLANK)) {
      if (this.#takes('[')) this.#header()
      else this.#entry()
      if (this.#match(LINE_END) === undefined) throw this.#error('the end of the line')
    }
    return this.#entries
  }

  #header(): void {
    if (this.#takes('[')) throw new Error('an array of tables')
    this.#table = this.#keys()
    if (!this.#takes(']')) throw this.#error(']')
    const path = tomlPath(...this.#table)
    if (this.#tables.has(path)) throw new Error(`the table ${path} occurs twice`)
    this.#tables.add(path)
  }

  #entry(): void {
    const path = tomlPath(...this.#table, ...this.#keys())
    if (!this.#takes('=')) throw this.#error('=')
    this.#skip(SPACE)
    const value = this.#value(0)
    if (this.#entries.has(path)) throw new Error(`the key ${path} occurs twice`)
    this.#entries.set(path, value)
  }

  #keys(): readonly string[] {
    const keys: string[] = []
    do {
      this.#skip(SPACE)
      const key = this.#match(BARE)?.[0] ?? this.#string()
      if (key === undefined) throw this.#error('a key')
      keys.push(key)
      this.#skip(SPACE)
    } while (this.#takes('.'))
    return keys
  }

  #value(depth: number): TomlValue {
    if (depth > DEEPEST) throw this.#error('fewer arrays within arrays')
    if (this.#text.startsWith('"""', this.#at) || this.#text.startsWith("'''", this.#at)) throw this.#error('a string of one line')
    if (this.#takes('[')) return this.#array(depth)
    const text = this.#string()
    if (text !== undefined) return text
    const word = this.#match(WORD)?.[0]
    if (word === undefined) throw this.#error('a value')
    return word === 'true' || word === 'false' ? word === 'true' : { word }
  }

  #array(depth: number): readonly TomlValue[] {
    const values: TomlValue[] = []
    for (this.#skip(BLANK); !this.#takes(']'); this.#skip(BLANK)) {
      values.push(this.#value(depth + 1))
      this.#skip(BLANK)
      if (!this.#takes(',') && this.#text[this.#at] !== ']') throw this.#error(', or ]')
    }
    return values
  }

  #string(): string | undefined {
    const literal = this.#match(LITERAL)?.[1]
    if (literal !== undefined) return literal
    const basic = this.#match(BASIC)?.[0]
    // JSON has all escapes that this pattern has, but no tab within a string.
    return basic === undefined ? undefined : String(JSON.parse(basic.replaceAll('\t', '\\t')))
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #skip(pattern: RegExp): void {
    this.#match(pattern)
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found === null) return undefined
    this.#at = pattern.lastIndex
    return found
  }

  #error(wanted: string): Error {
    const line = this.#text.slice(0, this.#at).split('\n').length
    return new Error(`line ${line}: ${wanted} was expected`)
  }
}
