/**
 * Whether kubelet's unit takes its config from us, and if not, why: the unit's definition in, what the agent has to know of it out.
 * Pure. Which assignment of a variable wins is systemd.exec(5), "EnvironmentFile="; which flag wins is pflag: the last.
 */
import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type { UnitState, Wiring } from '../decision/unit-state.ts'
import { reachableAddress } from '../kubelet/health-target.ts'
import { type Argument, expandArguments } from './command-line.ts'
import { parseEnvironmentFile } from './environment-file.ts'
import { asArguments, findFlag, flagValue } from './flags.ts'

/** The variable that kubeadm's unit puts `--config` in; ours replaces it. */
export const CONFIG_VARIABLE = 'KUBELET_CONFIG_ARGS'

/** What is known of a unit, besides what its process does. */
export interface UnitDefinition {
  readonly path: string
  /** ExecStart, variables not expanded; its first word is what the process sees as its own name. */
  readonly words: readonly string[]
  readonly environment: ReadonlyMap<string, string>
  /** In the order of the unit. `text` undefined: no such file, which is fine, or it cannot be read. */
  readonly environmentFiles: readonly { readonly path: string; readonly text: string | undefined }[]
  readonly needDaemonReload: boolean
  /** Our drop-in: taken up by systemd, only on disk, or nowhere. */
  readonly dropIn: 'loaded' | 'on-disk' | 'absent'
  /** What our drop-in, as loaded, names in EnvironmentFile=. */
  readonly dropInNames: readonly string[]
  /** Something that changes with kubelet's binary and with nothing else. */
  readonly binaryIdentity: string
}

export type ActivationChoice = 'auto' | 'env' | 'file'

export type KubeletFacts = Pick<
  Extract<UnitState, { kind: 'known' }>,
  'wiring' | 'localConfigPath' | 'runtimeEndpoint' | 'healthzFlags' | 'kubeletIdentity' | 'command'
>

/**
 * @param envFile absolute path of our kubelet.env.
 * @param runningCommand the command line of kubelet's process, where there is one: its flags are the ones in force.
 */
export function describeKubelet(
  unit: UnitDefinition,
  envFile: string,
  choice: ActivationChoice,
  runningCommand: readonly string[] | undefined,
): KubeletFacts {
  const command = expandWithout(unit, envFile)
  const inForce = runningCommand === undefined ? command : asArguments(runningCommand)
  return {
    wiring: findWiring(unit, envFile, choice, command, inForce),
    localConfigPath: flagValue(command, 'config'),
    runtimeEndpoint: flagValue(inForce, 'container-runtime-endpoint'),
    healthzFlags: findHealthzFlags(inForce),
    kubeletIdentity: identifyKubelet(unit, envFile),
    command: { path: unit.path, words: inForce.slice(1).map(({ text }) => text) },
  }
}

function findWiring(
  unit: UnitDefinition,
  envFile: string,
  choice: ActivationChoice,
  command: readonly Argument[],
  inForce: readonly Argument[],
): Wiring {
  // Either: a flag that was removed from the unit is in force until kubelet's next start.
  const dynamicConfigDir = flagValue(command, 'dynamic-config-dir') || flagValue(inForce, 'dynamic-config-dir')
  if (dynamicConfigDir) {
    const detail = `kubelet runs with --dynamic-config-dir=${dynamicConfigDir}: it and the agent would both change its config; remove the flag`
    return { kind: 'broken', reason: 'dynamic-config-dir', detail }
  }
  const variableAt = unit.words.findLastIndex((word) => word === `$${CONFIG_VARIABLE}` || word.includes(`\${${CONFIG_VARIABLE}}`))
  const kind = choice === 'auto' ? (variableAt >= 0 ? 'env' : 'file') : choice
  return kind === 'env' ? findEnvWiring(unit, envFile, command, variableAt) : findFileWiring(unit, envFile, command)
}

function findEnvWiring(unit: UnitDefinition, envFile: string, command: readonly Argument[], variableAt: number): Wiring {
  if (variableAt < 0) return broken('no-config-argument', `ExecStart does not use $${CONFIG_VARIABLE}, so kubelet.env has no effect`)
  const ours = unit.environmentFiles.findLastIndex(({ path }) => isOurs(path, envFile))
  if (ours < 0) return explainMissingFile(unit, envFile)
  const later = unit.environmentFiles.slice(ours + 1).find(({ text }) => setsVariable(text))
  if (later !== undefined) return broken('overridden', `${later.path} sets ${CONFIG_VARIABLE} too, and systemd reads it after ${envFile}`)
  const winner = findFlag(command, 'config').findLast(({ at }) => at > variableAt)
  if (winner !== undefined) {
    const place = winner.variable === undefined ? 'ExecStart' : `$${winner.variable}`
    return broken('flag-wins', `${place} holds --config=${winner.value} after $${CONFIG_VARIABLE}, and the last flag wins`)
  }
  return { kind: 'ready', activation: 'env', configArgs: mergeEnvironment(unit, envFile).get(CONFIG_VARIABLE) ?? '' }
}

function explainMissingFile(unit: UnitDefinition, envFile: string): Wiring {
  switch (unit.dropIn) {
    case 'loaded': {
      const [other] = unit.dropInNames
      if (other !== undefined && !unit.dropInNames.some((path) => isOurs(path, envFile)))
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

function findFileWiring(unit: UnitDefinition, envFile: string, command: readonly Argument[]): Wiring {
  const configPath = flagValue(command, 'config')
  if (!configPath)
    return broken('no-config-argument', `kubelet's command has neither $${CONFIG_VARIABLE} nor --config: there is nothing to replace`)
  if (!posix.isAbsolute(configPath)) return broken('no-config-argument', `--config=${configPath} is no absolute path`)
  const effective = flagValue(expandArguments(unit.words, mergeEnvironment(unit)), 'config')
  if (effective !== configPath) return broken('overridden', `${envFile} makes kubelet use ${effective ?? 'no config'}: remove that file`)
  return { kind: 'ready', activation: 'file', configPath: posix.normalize(configPath) }
}

function broken(reason: Extract<Wiring, { kind: 'broken' }>['reason'], detail: string): Wiring {
  return { kind: 'broken', reason, detail }
}

/** The command line that kubelet would be started with if there were no kubelet.env. */
function expandWithout(unit: UnitDefinition, envFile: string): Argument[] {
  return expandArguments(unit.words, mergeEnvironment(unit, envFile))
}

/** Files win over `Environment=`, later files over earlier ones. */
function mergeEnvironment(unit: UnitDefinition, without?: string): Map<string, string> {
  const files = unit.environmentFiles.filter(({ path }) => without === undefined || !isOurs(path, without))
  return new Map([...unit.environment, ...files.flatMap(({ text }) => (text === undefined ? [] : [...parseEnvironmentFile(text)]))])
}

function setsVariable(text: string | undefined): boolean {
  return text !== undefined && parseEnvironmentFile(text).has(CONFIG_VARIABLE)
}

function isOurs(path: string, envFile: string): boolean {
  return posix.normalize(path) === posix.normalize(envFile)
}

function findHealthzFlags(command: readonly Argument[]): KubeletFacts['healthzFlags'] {
  const port = flagValue(command, 'healthz-port')
  const address = flagValue(command, 'healthz-bind-address')
  return {
    ...(port !== undefined && /^\d{1,5}$/.test(port) ? { port: Number(port) } : {}),
    ...(address === undefined ? {} : { address: reachableAddress(address) }),
  }
}

/** Whatever decides, besides the config, how kubelet takes a config: the same bytes are tried anew when this changes. */
function identifyKubelet(unit: UnitDefinition, envFile: string): string {
  const others = unit.environmentFiles.filter(({ path }) => !isOurs(path, envFile)).map(({ path, text }) => [path, text ?? null])
  const facts = [unit.binaryIdentity, unit.path, unit.words, [...unit.environment], others]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}
