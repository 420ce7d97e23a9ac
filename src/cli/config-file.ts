/** Reads the agent's settings file as far as a YAML document; what the document says is judged by `resolve-settings.ts`. */
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
    // ENOTDIR: something on the way is a file, so there is none here either.
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { kind: 'absent', path }
      : { kind: 'unreadable', path, detail: `cannot be read: ${code}` }
  }
  const parsed = parseYaml(text)
  return parsed.ok ? { kind: 'document', path, value: parsed.value } : { kind: 'unreadable', path, detail: parsed.detail }
}
