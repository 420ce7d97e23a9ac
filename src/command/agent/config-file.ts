/** Reads the agent's settings file as a YAML document. `resolve-settings.ts` checks its content. */
import { readFileSync } from 'node:fs'
import type { LocatedYaml } from '../../kubelet/yaml-document.ts'
import type { ConfigFile } from '../../settings/resolve-settings.ts'
import { errorCode } from '../../values/errors.ts'

export type ParseYaml = (
  text: string,
) => ({ readonly ok: true } & Pick<LocatedYaml, 'value' | 'repeated'>) | { readonly ok: false; readonly detail: string }

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
