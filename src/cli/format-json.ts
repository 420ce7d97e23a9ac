/**
 * A document for programs: indented JSON that ends its last line. Characters that could control a
 * terminal are escaped, which changes no value. Pure.
 */
import { UNSAFE } from './terminal.ts'

export function formatJson(document: unknown): string {
  return `${JSON.stringify(document, null, 2).replace(UNSAFE, (character) => (character === '\n' ? character : escapeCharacter(character)))}\n`
}

/** All of them have four digits. */
function escapeCharacter(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
}
