/**
 * Reads the agent's settings file as a YAML document. `resolve-settings.ts` checks its content. The
 * YAML parser costs time and memory, so it is loaded only for a file that takes it.
 */
import { readFileSync } from 'node:fs'
import { readPlainFile } from '../../settings/plain-file.ts'
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
