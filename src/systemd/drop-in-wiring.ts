/**
 * Whether kubelet merges a file that the agent adds to its `--config-dir`, and if not, why. Pure.
 */
import { posix } from 'node:path'
import type { ReadyWiring, Wiring } from '../decision/unit-state.ts'
import { expandArguments } from './command-line.ts'
import { flagValue } from './flags.ts'
import { broken, mergeEnvironment, type WirableUnit } from './unit-definition.ts'

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
