/** Whether kubelet's unit names a config file that the agent can replace, and if not, why. Pure. */
import { posix } from 'node:path'
import type { ReadyWiring, Wiring } from '../decision/unit-state.ts'
import { expandArguments } from './command-line.ts'
import { flagValue } from './flags.ts'
import { readyPath } from './ready-path.ts'
import { broken, CONFIG_VARIABLE, mergeEnvironment, type WirableUnit } from './unit-definition.ts'

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

export function findFileWiring({ unit, envFile, command }: WirableUnit): Wiring {
  const configPath = flagValue(command, 'config')
  if (!configPath)
    return broken('no-config-argument', `kubelet's command has neither $${CONFIG_VARIABLE} nor --config: there is nothing to replace`)
  if (!posix.isAbsolute(configPath)) return broken('no-config-argument', `--config=${configPath} is not an absolute path`)
  const effective = flagValue(expandArguments(unit.words, mergeEnvironment(unit)), 'config')
  if (effective !== configPath) return broken('overridden', `${envFile} makes kubelet use ${effective ?? 'no config'}: remove that file`)
  return fileWiring(posix.normalize(configPath))
}
