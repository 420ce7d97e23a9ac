/**
 * Whether kubelet's unit reads kubelet.env, and if not, why. Pure. By pflag's rule, the last flag
 * wins.
 */
import type { BrokenWiring, ReadyWiring, Wiring } from '../decision/unit-state.ts'
import { parseEnvironmentFile } from './environment-file.ts'
import { findFlag } from './flags.ts'
import { broken, CONFIG_VARIABLE, isSamePath, mergeEnvironment, type UnitDefinition, type WirableUnit } from './unit-definition.ts'

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
