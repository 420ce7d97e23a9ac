/** Reads the agent's settings file as a YAML document. `resolve-settings.ts` checks its content. */
import { readFileSync } from 'node:fs'
import type { LocatedYaml } from '../kubelet/yaml-document.ts'
import { readPlainFile } from '../settings/plain-file.ts'
import type { ConfigFile } from '../settings/resolve-settings.ts'
import { errorCode } from '../values/errors.ts'

export type ParseYaml = (
  text: string,
) => ({ readonly ok: true } & Pick<LocatedYaml, 'value' | 'repeated'>) | { readonly ok: false; readonly detail: string }

/**
 * Parses the settings file. The YAML parser costs time and memory, so it is loaded only when there
 * is a file that takes it.
 */
export interface SettingsParser {
  load(): Promise<void>
  readonly parse: ParseYaml
}

export function openSettingsParser(): SettingsParser {
  let parseYaml: ParseYaml = () => ({ ok: false, detail: 'the file appeared while the agent was starting: start the agent again' })
  return {
    async load() {
      parseYaml = (await import('../kubelet/yaml.ts')).parseUncommon
    },
    parse(text) {
      const plain = readPlainFile(text)
      return plain === undefined ? parseYaml(text) : { ok: true, value: plain, repeated: [] }
    },
  }
}

/** Whether the settings file takes the YAML parser. One that cannot be read is not parsed. */
export function takesYaml(path: string): boolean {
  try {
    return readPlainFile(readFileSync(path, 'utf8')) === undefined
  } catch {
    return false
  }
}

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
  if (!parsed.ok) return { kind: 'unreadable', path, detail: parsed.detail }
  // Which of the two values was meant is not known, as in an overlay.
  const [twice] = parsed.repeated
  if (twice === undefined) return { kind: 'document', path, value: parsed.value }
  const { line, column } = twice.position
  return { kind: 'unreadable', path, detail: `duplicate key ${twice.path.join('.')} at line ${line}, column ${column}` }
}
