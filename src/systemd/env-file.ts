/**
 * The text of kubelet.env: the unit's own KUBELET_CONFIG_ARGS with only `--config` replaced, and a
 * comment with the complete source, because the path contains neither the namespace nor the
 * ConfigMap's name. Pure. systemd reads the file at each start of kubelet, so the text is quoted by
 * systemd's rules, twice: for the file, and for the words of the variable.
 */
import type { ConfigMapSource } from '../decision/config-source.ts'
import { joinWords, splitWords } from './command-line.ts'
import { parseEnvironmentFile, renderAssignment } from './environment-file.ts'
import { asArguments, findFlag } from './flags.ts'
import { CONFIG_VARIABLE } from './unit-definition.ts'

const SOURCE_LINE = /^# source: (\{.*\})$/m

/** @param configArgs the unit's own value of the variable */
export function renderEnvFile(source: ConfigMapSource, configPath: string, configArgs: string): string {
  const { namespace, name, uid, resourceVersion, kubeletConfigKey, overlay } = source
  const comment = [
    '# Written by kubelet-cfg-agent: what kubelet starts with next. Without this file it starts with its local config.',
    `# source: ${JSON.stringify({ namespace, name, uid, resourceVersion, kubeletConfigKey, overlay })}`,
  ]
  return `${comment.join('\n')}\n${renderAssignment(CONFIG_VARIABLE, replaceConfigFlag(configArgs, configPath))}`
}

export type EnvFileReading = { readonly ok: true; readonly source: ConfigMapSource } | { readonly ok: false; readonly detail: string }

/**
 * Accepts only what `renderEnvFile` would write for this unit, comments aside; anything else is to
 * be rewritten.
 */
export function readEnvFile(text: string, configArgs: string, pathOf: (source: ConfigMapSource) => string): EnvFileReading {
  const source = parseSource(SOURCE_LINE.exec(text)?.[1])
  if (source === undefined) return { ok: false, detail: 'does not name its ConfigMap' }
  const variables = parseEnvironmentFile(text)
  const found = variables.get(CONFIG_VARIABLE)
  if (found === undefined || variables.size > 1) return { ok: false, detail: `must set ${CONFIG_VARIABLE} and nothing else` }
  const expected = replaceConfigFlag(configArgs, pathOf(source))
  if (joinWords(splitWords(found)) === expected) return { ok: true, source }
  return { ok: false, detail: `makes kubelet start with ${found}, but its unit and the checkpoint require ${expected}` }
}

function replaceConfigFlag(configArgs: string, configPath: string): string {
  const words = splitWords(configArgs)
  const uses = findFlag(asArguments(words), 'config')
  const others = words.filter((_, index) => !uses.some(({ first, end }) => first <= index && index < end))
  return joinWords([`--config=${configPath}`, ...others])
}

function parseSource(text: string | undefined): ConfigMapSource | undefined {
  if (text === undefined) return undefined
  try {
    const { namespace, name, uid, resourceVersion, kubeletConfigKey, overlay } = JSON.parse(text) as Partial<Record<string, unknown>>
    if (typeof namespace !== 'string' || typeof name !== 'string' || typeof uid !== 'string') return undefined
    if (typeof resourceVersion !== 'string' || typeof kubeletConfigKey !== 'string') return undefined
    if (overlay !== undefined && typeof overlay !== 'string') return undefined
    return { namespace, name, uid, resourceVersion, kubeletConfigKey, ...(overlay !== undefined && { overlay }) }
  } catch {
    return undefined
  }
}
