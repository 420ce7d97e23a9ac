/**
 * A document for programs: indented JSON that ends its last line. Characters that could control a
 * terminal or disguise a text are escaped, which changes no value. Pure.
 */
import { UNSAFE } from '../values/cut.ts'

export function formatJson(document: unknown): string {
  return `${JSON.stringify(document, null, 2).replace(UNSAFE, (character) => (character === '\n' ? character : escapeCharacter(character)))}\n`
}

/** One escape for each unit of UTF-16, as JSON has them. */
function escapeCharacter(character: string): string {
  return character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
