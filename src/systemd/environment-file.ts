/**
 * The syntax of files for `EnvironmentFile=`: parsing and rendering assignments. Variables are not
 * expanded, as in systemd. The state machine is systemd's own (`parse_env_file_internal()`,
 * src/basic/env-file.c, with the behaviour measured with 252); systemd.exec(5) describes it less
 * exactly.
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
