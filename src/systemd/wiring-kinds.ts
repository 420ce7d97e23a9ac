// SPDX-License-Identifier: Apache-2.0
/**
 * Whether each kind of activation can give kubelet its config through the unit as it is, and if
 * not, why. Pure.
 */
import { posix } from 'node:path'
import type { BrokenWiring, ReadyWiring, Wiring } from '../subject/unit-state.ts'
import { expandArguments, findFlag, flagValue } from './command-line.ts'
import { parseEnvironmentFile } from './environment-file.ts'
import { broken, CONFIG_VARIABLE, isSamePath, mergeEnvironment, type UnitDefinition, type WirableUnit } from './unit-definition.ts'

export function fileWiring(configPath: string): ReadyWiring {
  return {
    kind: 'ready',
    activation: 'file',
    path: configPath,
    replacesLocalFile: true,
    keptLocalPath: readyPath(configPath, 'local'),
    laysOverLocal: false,
    leavesWithAgent: true,
    configFlagIsFixed: true,
    configArgs: '',
  }
}

export function namesConfigFile({ command }: WirableUnit): boolean {
  return Boolean(flagValue(command, 'config'))
}

/** Whether kubelet's unit names a config file that the agent can replace, and if not, why. */
export function findFileWiring({ unit, envFile, command }: WirableUnit): Wiring {
  const configPath = flagValue(command, 'config')
  if (!configPath)
    return broken('no-config-argument', `kubelet's command has neither $${CONFIG_VARIABLE} nor --config: there is nothing to replace`)
  if (!posix.isAbsolute(configPath)) return broken('no-config-argument', `--config=${configPath} is not an absolute path`)
  const effective = flagValue(expandArguments(unit.words, mergeEnvironment(unit)), 'config')
  if (effective !== configPath) return broken('overridden', `${envFile} makes kubelet use ${effective ?? 'no config'}: remove that file`)
  return fileWiring(posix.normalize(configPath))
}

/** Kubelet reads files whose names end so, in the order of their names. */
const FILE_NAME = '90-kubelet-cfg-agent.conf'

export function dropInWiring(directory: string): ReadyWiring {
  return {
    kind: 'ready',
    activation: 'drop-in',
    path: posix.join(directory, FILE_NAME),
    replacesLocalFile: false,
    laysOverLocal: true,
    leavesWithAgent: true,
    configFlagIsFixed: true,
    configArgs: '',
  }
}

/** Whether kubelet merges a file that the agent adds to its `--config-dir`, and if not, why. */
export function findDropInWiring({ unit, envFile, command }: WirableUnit): Wiring {
  const directory = flagValue(command, 'config-dir')
  if (!directory) return broken('no-config-dir', "kubelet's command has no --config-dir, so it reads no drop-in")
  if (!posix.isAbsolute(directory)) return broken('no-config-dir', `--config-dir=${directory} is not an absolute path`)
  const starts = expandArguments(unit.words, mergeEnvironment(unit))
  for (const flag of ['config', 'config-dir']) {
    const [meant, effective] = [flagValue(command, flag), flagValue(starts, flag)]
    if (meant !== effective) {
      const detail = `${envFile} makes kubelet use --${flag}=${effective ?? ''} in place of ${meant ?? 'none'}: remove that file`
      return broken('overridden', detail)
    }
  }
  return dropInWiring(directory)
}

/** @param configArgs the unit's own KUBELET_CONFIG_ARGS, without kubelet.env */
export function envWiring(envFile: string, configArgs: string): ReadyWiring {
  return {
    kind: 'ready',
    activation: 'env',
    path: envFile,
    replacesLocalFile: false,
    laysOverLocal: false,
    leavesWithAgent: false,
    configFlagIsFixed: false,
    configArgs,
  }
}

/** Whether ExecStart uses the variable that kubelet.env sets. */
export function usesConfigVariable({ unit }: WirableUnit): boolean {
  return findVariable(unit) >= 0
}

/**
 * Whether kubelet's unit reads kubelet.env, and if not, why. By pflag's rule, the last flag wins.
 */
export function findEnvWiring({ unit, envFile, command }: WirableUnit): Wiring {
  const variableAt = findVariable(unit)
  if (variableAt < 0) return broken('no-config-argument', `ExecStart does not use $${CONFIG_VARIABLE}, so kubelet.env has no effect`)
  const ours = unit.environmentFiles.findLastIndex(({ path }) => isSamePath(path, envFile))
  if (ours < 0) return explainMissingFile(unit, envFile)
  const later = unit.environmentFiles.slice(ours + 1).find(({ text }) => setsVariable(text))
  if (later !== undefined) return broken('overridden', `${later.path} sets ${CONFIG_VARIABLE} too, and systemd reads it after ${envFile}`)
  const winner = findFlag(command, 'config').findLast(({ at }) => at > variableAt)
  if (winner !== undefined) {
    const place = winner.variable === undefined ? 'ExecStart' : `$${winner.variable}`
    return broken('flag-wins', `${place} holds --config=${winner.value} after $${CONFIG_VARIABLE}, and the last flag wins`)
  }
  return envWiring(envFile, mergeEnvironment(unit, envFile).get(CONFIG_VARIABLE) ?? '')
}

/** Index of the last word of ExecStart that uses the variable; -1: none does. */
function findVariable({ words }: UnitDefinition): number {
  return words.findLastIndex((word) => word === `$${CONFIG_VARIABLE}` || word.includes(`\${${CONFIG_VARIABLE}}`))
}

function explainMissingFile(unit: UnitDefinition, envFile: string): BrokenWiring {
  switch (unit.dropIn) {
    case 'loaded': {
      const [other] = unit.dropInNames
      if (other !== undefined && !unit.dropInNames.some((path) => isSamePath(path, envFile)))
        return broken('drop-in-missing', `the drop-in names ${other}, not ${envFile}: make the two the same`)
      return broken('overridden', `a later drop-in clears EnvironmentFile=, and with it ${envFile}`)
    }
    case 'on-disk':
      return broken('daemon-reload-needed', 'the drop-in is installed, but systemd has not read it: run systemctl daemon-reload')
    case 'absent':
      if (!unit.needDaemonReload) return broken('drop-in-missing', `the unit has no EnvironmentFile=-${envFile}: install the drop-in`)
      return broken(
        'daemon-reload-needed',
        `the unit changed on disk, and as loaded it has no EnvironmentFile=-${envFile}: run systemctl daemon-reload`,
      )
  }
}

function setsVariable(text: string | undefined): boolean {
  return text !== undefined && parseEnvironmentFile(text).has(CONFIG_VARIABLE)
}

/**
 * The path of a file that the agent keeps ready beside a config file that it replaces. In the
 * directory of the file, for the rename; hidden, so that nothing reads it as a config.
 */
export function readyPath(configPath: string, kind: 'local' | 'fallback' | 'new' | 'record'): string {
  return posix.join(posix.dirname(configPath), `.${posix.basename(configPath)}.kubelet-cfg-agent-${kind}`)
}
