// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the agent's settings file as a YAML document. `resolve-settings.ts` checks its content. The
 * parser of YAML takes a megabyte or two and some time at the start of the agent, so it is loaded
 * only for a file that takes it: the installed file has comments, and one `key: value` a line,
 * whose value is a plain word, a small number or a duration.
 */
import { readFileSync } from 'node:fs'
import type { ConfigFile } from '../../settings/resolve-settings.ts'
import { describeUnreadable, errorCode } from '../../values/errors.ts'

export async function readConfigFile(path: string): Promise<ConfigFile> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const code = errorCode(error) ?? String(error)
    // ENOTDIR: a parent in the path is a file, so this file does not exist either.
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { kind: 'absent', path }
      : { kind: 'unreadable', path, detail: describeUnreadable(code) }
  }
  const plain = readPlainFile(text)
  if (plain !== undefined) return { kind: 'document', path, value: plain }
  const parsed = (await import('../../kubelet/yaml.ts')).parseUncommon(text)
  if (!parsed.ok) return { kind: 'unreadable', path, detail: parsed.detail }
  // Which of the two values was meant is not known, as in an overlay.
  const [twice] = parsed.repeated
  if (twice === undefined) return { kind: 'document', path, value: parsed.value }
  const { line, column } = twice.position
  return { kind: 'unreadable', path, detail: `duplicate key ${twice.path.join('.')} at line ${line}, column ${column}` }
}

const LINE = /^([A-Za-z][A-Za-z0-9]*): ([A-Za-z0-9/][A-Za-z0-9./-]*)$/
const WORD = /^[A-Za-z/][A-Za-z0-9./-]*$/
/** A word of YAML 1.1 that is not text. */
const NO_TEXT = /^(?:y|n|yes|no|on|off|true|false|null)$/i
const NUMBER = /^(?:0|[1-9][0-9]{0,8})$/
const DURATION = /^(?:[1-9][0-9]*h)?(?:[1-9][0-9]*m)?(?:[1-9][0-9]*s)?$/

/** undefined: it takes the parser of YAML. */
export function readPlainFile(text: string): Readonly<Record<string, string | number>> | undefined {
  const values = new Map<string, string | number>()
  for (const line of text.split('\n')) {
    if (/^(?:#|$)/.test(line)) continue
    const [, key, word] = LINE.exec(line) ?? []
    const value = word === undefined ? undefined : readValue(word)
    if (key === undefined || NO_TEXT.test(key) || value === undefined || values.has(key)) return undefined
    values.set(key, value)
  }
  return values.size === 0 ? undefined : Object.fromEntries(values)
}

function readValue(word: string): string | number | undefined {
  if (NUMBER.test(word)) return Number(word)
  return (WORD.test(word) && !NO_TEXT.test(word)) || DURATION.test(word) ? word : undefined
}
