// SPDX-License-Identifier: Apache-2.0
/**
 * Variables are not expanded, as in systemd. The state machine is systemd's own
 * (`parse_env_file_internal()`, src/basic/env-file.c, with the behaviour measured with 252);
 * systemd.exec(5) describes it less exactly. Files for `EnvironmentFile=`: which ones a pattern
 * names, and the syntax of what is in them. Pure.
 */
type State =
  | 'before-key'
  | 'key'
  | 'before-value'
  | 'value'
  | 'value-escape'
  | 'single-quoted'
  | 'double-quoted'
  | 'double-quoted-escape'
  | 'comment'
  | 'comment-escape'

const isSpace = (char: string) => ' \t\n\r'.includes(char)
const isNewline = (char: string) => char === '\n' || char === '\r'
const VALID_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
/**
 * The characters that a backslash escapes between double quotes; before any other, it is literal.
 */
const ESCAPED_IN_DOUBLE_QUOTES = /["\\`$]/g

/**
 * Variables in the order of their (last) assignment. Invalid names and lines without `=` are
 * ignored, as in systemd.
 */
export function parseEnvironmentFile(text: string): ReadonlyMap<string, string> {
  const variables = new Map<string, string>()
  let state: State = 'before-key'
  let key = ''
  let value = ''
  /** Length of `value` without its trailing unquoted white space, which is cut off. */
  let kept = 0

  const append = (char: string) => {
    value += char
    kept = value.length
  }
  const assign = (whole: string) => {
    const name = key.trim()
    if (VALID_NAME.test(name)) {
      variables.delete(name)
      variables.set(name, whole)
    }
    key = value = ''
    kept = 0
  }

  for (const char of text) {
    switch (state) {
      case 'before-key':
        if (char === '#' || char === ';') state = 'comment'
        else if (!isSpace(char)) {
          state = 'key'
          key = char
        }
        break
      case 'key':
        if (isNewline(char)) state = 'before-key'
        else if (char === '=') state = 'before-value'
        else key += char
        break
      case 'before-value':
        if (isNewline(char)) {
          assign(value)
          state = 'before-key'
        } else if (char === "'") state = 'single-quoted'
        else if (char === '"') state = 'double-quoted'
        else if (char === '\\') state = 'value-escape'
        else if (!isSpace(char)) {
          append(char)
          state = 'value'
        }
        break
      case 'value':
        if (isNewline(char)) {
          assign(value.slice(0, kept))
          state = 'before-key'
        } else if (char === '\\') {
          kept = value.length
          state = 'value-escape'
        } else if (isSpace(char)) value += char
        else append(char)
        break
      case 'value-escape':
        if (!isNewline(char)) append(char)
        state = 'value'
        break
      case 'single-quoted':
        if (char === "'") state = 'before-value'
        else append(char)
        break
      case 'double-quoted':
        if (char === '"') state = 'before-value'
        else if (char === '\\') state = 'double-quoted-escape'
        else append(char)
        break
      case 'double-quoted-escape':
        if ('"\\`$'.includes(char)) append(char)
        else if (char !== '\n') append(`\\${char}`)
        state = 'double-quoted'
        break
      case 'comment':
        if (char === '\\') state = 'comment-escape'
        else if (isNewline(char)) state = 'before-key'
        break
      case 'comment-escape':
        // Up to systemd 253, a backslash at the end of a comment continued it on the next line.
        state = isNewline(char) ? 'before-key' : 'comment'
        break
    }
  }
  if (state !== 'before-key' && state !== 'key' && state !== 'comment' && state !== 'comment-escape') {
    assign(state === 'value' ? value.slice(0, kept) : value)
  }
  return variables
}

/** The line that systemd parses to exactly this value. */
export function renderAssignment(name: string, value: string): string {
  return `${name}="${value.replace(ESCAPED_IN_DOUBLE_QUOTES, '\\$&')}"\n`
}

/** @returns the names in a directory; undefined: it is none, or cannot be read */
type ListDirectory = (directory: string) => readonly string[] | undefined

const SPECIAL = /[*?[\\]/

/**
 * Expands the wildcards of a path; the directories are listed by the caller. systemd expands those
 * of `EnvironmentFile=` with glob(3) and no flags, and reads the files in the order of their names
 * (systemd.exec(5), "EnvironmentFile="). Rules: glob(7). `systemctl show` prints the pattern.
 * @returns the path itself where it has no wildcards; empty: no file matches
 */
export function expandPath(path: string, list: ListDirectory): readonly string[] {
  if (!SPECIAL.test(path)) return [path]
  const components = path.split('/').filter((component) => component !== '' && component !== '.')
  return components.reduce<readonly string[]>(
    (parents, component) => parents.flatMap((parent) => findIn(parent, component, list)),
    [path.startsWith('/') ? '' : '.'],
  )
}

function findIn(parent: string, component: string, list: ListDirectory): readonly string[] {
  if (component === '..') return [`${parent}/..`]
  const pattern = compile(component)
  const names = list(parent === '' ? '/' : parent) ?? []
  // A period at the start of a name is matched by a period alone.
  const shown = component.startsWith('.') || component.startsWith('\\.') ? names : names.filter((name) => !name.startsWith('.'))
  return shown
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => `${parent}/${name}`)
}

/** Bracket expressions, in which `]` may be the first character, and single characters. */
const TOKENS = /\[(?<not>[!^]?)(?<set>\]?(?:\[:[a-z]+:\]|[^\]])*)\]|\\(?<quoted>.)|(?<other>.)/gsu

function compile(component: string): RegExp {
  const parts = [...component.matchAll(TOKENS)].map(({ groups = {} }) => {
    const { not, set, quoted, other } = groups
    if (set !== undefined) return compileSet(set, not !== '')
    if (other === '*') return '.*'
    return other === '?' ? '.' : quote(quoted ?? other ?? '')
  })
  return new RegExp(`^(?:${parts.join('')})$`, 'su')
}

const CLASSES: Readonly<Record<string, string>> = {
  alnum: '\\p{L}\\p{Nd}',
  alpha: '\\p{L}',
  blank: ' \\t',
  digit: '0-9',
  lower: '\\p{Ll}',
  space: '\\s',
  upper: '\\p{Lu}',
  xdigit: '0-9A-Fa-f',
}
const IN_SET = /\[:(?<name>[a-z]+):\]|\\?(?<from>.)-\\?(?<to>.)|\\?(?<single>.)/gsu
const NOTHING = '(?!)'

function compileSet(set: string, isNegated: boolean): string {
  const members = [...set.matchAll(IN_SET)].flatMap(({ groups = {} }) => {
    const { name, from, to, single } = groups
    if (name !== undefined) return CLASSES[name] ?? []
    if (from === undefined || to === undefined) return quoteMember(single ?? '')
    // A range that ends before it begins has no members.
    return (from.codePointAt(0) ?? 0) <= (to.codePointAt(0) ?? 0) ? `${quoteMember(from)}-${quoteMember(to)}` : []
  })
  if (members.length === 0) return isNegated ? '.' : NOTHING
  return `[${isNegated ? '^' : ''}${members.join('')}]`
}

function quote(character: string): string {
  return /^[\^$\\.*+?()[\]{}|/]$/.test(character) ? `\\${character}` : character
}

/** Between brackets a hyphen is special too. */
function quoteMember(character: string): string {
  return character === '-' ? '\\-' : quote(character)
}

/**
 * The environment files that a drop-in of a unit names, without the `-` that makes them optional.
 */
export function listEnvironmentFiles(dropIn: string): string[] {
  const named = [...dropIn.matchAll(/^[ \t]*EnvironmentFile[ \t]*=[ \t]*-?(\S.*?)[ \t]*$/gm)]
  return named.flatMap(([, file]) => (file === undefined ? [] : [file]))
}
