/** Reads the agent's settings file as a YAML document. `resolve-settings.ts` checks its content. */
import { readFileSync } from 'node:fs'
import type { ConfigFile } from '../settings/resolve-settings.ts'
import { errorCode } from '../values/errors.ts'

export type ParseYaml = (text: string) => { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly detail: string }

export function readConfigFile(path: string, parseYaml: ParseYaml): ConfigFile {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const code = errorCode(error) ?? String(error)
    // ENOTDIR: a parent in the path is a file, so this file does not exist either.
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { kind: 'absent', path }
      : { kind: 'unreadable', path, detail: `cannot be read: ${code}` }
  }
  const parsed = parseYaml(text)
  return parsed.ok ? { kind: 'document', path, value: parsed.value } : { kind: 'unreadable', path, detail: parsed.detail }
}
