/**
 * What stands in kubelet.env: the unit's own KUBELET_CONFIG_ARGS with only `--config` replaced, and in a comment the whole source, since the
 * path names no namespace and no ConfigMap. Pure text. Systemd reads the file at each start of kubelet; quoting is therefore systemd's, twice:
 * once for the file, once for the words of the variable.
 */
import type { ConfigMapSource } from '../decision/config-source.ts'
import { joinWords, splitWords } from './command-line.ts'
import { parseEnvironmentFile, renderAssignment } from './environment-file.ts'
import { asArguments, findFlag } from './flags.ts'
import { CONFIG_VARIABLE } from './unit-definition.ts'

const SOURCE_LINE = /^# source: (\{.*\})$/m

/** @param configArgs the unit's own value of the variable. */
export function renderEnvFile(source: ConfigMapSource, configPath: string, configArgs: string): string {
  const { namespace, name, uid, resourceVersion, kubeletConfigKey, overlay } = source
  const comment = [
    '# Written by kubelet-cfg-agent: what kubelet starts with next. Without this file it starts with its local config.',
    `# source: ${JSON.stringify({ namespace, name, uid, resourceVersion, kubeletConfigKey, overlay })}`,
  ]
  return `${comment.join('\n')}\n${renderAssignment(CONFIG_VARIABLE, replaceConfigFlag(configArgs, configPath))}`
}

export type EnvFileReading = { readonly ok: true; readonly source: ConfigMapSource } | { readonly ok: false; readonly detail: string }

/** Believes nothing but what `renderEnvFile` would write for this unit, comments aside: the rest is to be written anew. */
export function readEnvFile(text: string, configArgs: string, pathOf: (source: ConfigMapSource) => string): EnvFileReading {
  const source = parseSource(SOURCE_LINE.exec(text)?.[1])
  if (source === undefined) return { ok: false, detail: 'does not say which ConfigMap it is for' }
  const variables = parseEnvironmentFile(text)
  const found = variables.get(CONFIG_VARIABLE)
  if (found === undefined || variables.size > 1) return { ok: false, detail: `sets other variables than ${CONFIG_VARIABLE} alone` }
  const wanted = replaceConfigFlag(configArgs, pathOf(source))
  if (joinWords(splitWords(found)) === wanted) return { ok: true, source }
  return { ok: false, detail: `makes kubelet start with ${found}, where its unit and the checkpoint give ${wanted}` }
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
