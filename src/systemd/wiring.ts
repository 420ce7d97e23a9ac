// SPDX-License-Identifier: Apache-2.0
/**
 * The facts about kubelet's unit that the agent needs, derived from its definition: above all,
 * whether the unit takes its config from the agent. Pure.
 */
import { createHash } from 'node:crypto'
import type { BrokenWiring, Distribution, KubeletCommand, UnitState, Wiring } from '../subject/unit-state.ts'
import { type ActivationChoice, findWiringOf } from './activation-kinds.ts'
import { type Argument, asArguments, expandArguments, findFlag, flagValue, variablesIn } from './command-line.ts'
import { findDistribution, findHost, type Host, kubeletFlags, localConfigIn } from './distribution.ts'
import type { IdentifyMerged, MergedPaths } from './merged-files.ts'
import { broken, isSamePath, mergeEnvironment, type UnitDefinition, type WirableUnit } from './unit-definition.ts'
import type { UnitProperties } from './unit-properties.ts'
import { dropInWiring } from './wiring-kinds.ts'

export type KubeletFacts = Pick<
  Extract<UnitState, { kind: 'known' }>,
  | 'distribution'
  | 'wiring'
  | 'localConfigPath'
  | 'runtimeEndpoint'
  | 'healthzFlags'
  | 'kubeletIdentity'
  | 'formerIdentity'
  | 'isKubeletUnread'
  | 'command'
>

/**
 * @param envFile absolute path of kubelet.env
 * @param runningCommand the command line of kubelet's process, where there is one: its flags are in
 * force
 * @param configDir of kubelet, where an operator has stated it
 * @param identifyMerged what other programs merge with the agent's config
 */
export function describeKubelet(
  unit: UnitDefinition,
  envFile: string,
  choice: ActivationChoice,
  runningCommand: readonly string[] | undefined,
  configDir?: string,
  identifyMerged: IdentifyMerged = () => '',
): KubeletFacts {
  const variables = mergeEnvironment(unit, envFile)
  const command = expandArguments(unit.words, variables)
  const distribution = findDistribution(unit, command)
  const host = findHost(unit.path)
  if (host !== undefined)
    return describeInside(unit, envFile, { host, distribution, choice, configDir, flags: kubeletFlags(command, configDir) })
  const inForce = runningCommand === undefined ? command : asArguments(runningCommand)
  const wiring =
    configDir === undefined
      ? findWiring({ unit, envFile, command }, choice, inForce, distribution)
      : broken('no-config-dir', `kubeletConfigDir is for k3s alone, and ${unit.path} has its flags in its unit: remove that setting`)
  const localConfigPath = flagValue(command, 'config')
  const named = variablesIn(unit.words)
  // One that is not set may come from elsewhere, as from PassEnvironment= or systemd's environment.
  const isWhole = named.every((name) => variables.has(name))
  const ownEnvironment = [...variables.keys()].some((name) => OF_LIBRARIES.test(name))
  const merged = findMerged(flagValue(command, 'config-dir'), wiring, localConfigPath)
  return {
    distribution,
    wiring,
    localConfigPath,
    ...describeFlags(unit, envFile, inForce.slice(1), merged && identifyMerged(merged)),
    command: {
      path: unit.path,
      words: textsOf(inForce),
      ...describeWords(command, runningCommand && inForce, isWhole),
      ...(ownEnvironment && { ownEnvironment }),
    },
  }
}

/**
 * undefined: kubelet merges nothing. k3s writes its own drop-in when it starts: that is not meant.
 */
function findMerged(directory: string | undefined, wiring: Wiring, localConfigPath: string | undefined): MergedPaths | undefined {
  if (!directory) return undefined
  const laysOverLocal = wiring.kind === 'ready' && wiring.laysOverLocal
  return { directory, own: dropInWiring(directory).path, base: laysOverLocal ? localConfigPath : undefined }
}

interface Inside {
  readonly host: Host
  readonly distribution: Distribution | undefined
  readonly choice: ActivationChoice
  readonly configDir: string | undefined
  /** The flags of kubelet. */
  readonly flags: readonly Argument[]
}

function describeInside(unit: UnitDefinition, envFile: string, inside: Inside): KubeletFacts {
  const { host, distribution, configDir, flags } = inside
  const localConfigPath = host === 'k3s' && configDir !== undefined ? localConfigIn(configDir) : undefined
  const command = { path: unit.path, words: flags.map(({ text }) => text) }
  return { distribution, wiring: findWiringInside(inside), localConfigPath, command, ...describeFlags(unit, envFile, flags) }
}

/** With which a program may need other libraries, or else not even show its version: ld.so(8). */
const OF_LIBRARIES = /^(?:LD_|GLIBC_|OPENSSL_)/

/**
 * How far the words of kubelet's command line can be trusted. Where the unit tells something else
 * than the process, and not all of it, either may be what the next start has.
 *
 * @param command of the unit
 * @param running of the process. undefined: there is none
 * @param isWhole the unit sets all variables of its command line
 */
function describeWords(
  command: readonly Argument[],
  running: readonly Argument[] | undefined,
  isWhole: boolean,
): Pick<KubeletCommand, 'nextWords' | 'incomplete'> {
  if (running !== undefined && isSameLine(command, running)) return {}
  if (!isWhole) return { incomplete: running === undefined ? 'more' : 'others' }
  return running === undefined ? {} : { nextWords: textsOf(command) }
}

/**
 * Whether two command lines are alike, apart from `--config`. The words of a unit are not exact:
 * systemd shows one that contains a space as two. Those of the process are, so they count while the
 * unit tells nothing else.
 */
function isSameLine(a: readonly Argument[], b: readonly Argument[]): boolean {
  return lineOf(a) === lineOf(b)
}

function lineOf(command: readonly Argument[]): string {
  const uses = findFlag(command, 'config')
  const others = command.filter((_, index) => index > 0 && !uses.some(({ first, end }) => first <= index && index < end))
  return others.flatMap(({ text }) => text.split(' ').filter((part) => part !== '')).join(' ')
}

/** Without the name of the program. */
function textsOf([, ...flags]: readonly Argument[]): readonly string[] {
  return flags.map(({ text }) => text)
}

const K0S_ADVICE = 'set workerProfiles in the config of k0s, or run the agent where kubelet has a unit of its own'

/**
 * The wiring of a kubelet inside another program, whose own `--config` is no KubeletConfiguration.
 */
function findWiringInside({ host, choice, configDir }: Inside): Wiring {
  switch (host) {
    case 'k0s':
      return broken('no-config-argument', `k0s writes its kubelet's config anew and starts it again by itself: ${K0S_ADVICE}`)
    case 'k3s':
      if (choice === 'drop-in' && configDir !== undefined) return dropInWiring(configDir)
      return broken('no-config-dir', 'kubelet is a part of k3s: set activation to drop-in, and kubeletConfigDir to its directory')
    case 'rke2':
      return broken('no-config-argument', 'rke2 starts its kubelet again by itself, so the agent would not see it exit')
  }
}

/**
 * @param flags without the name of the program
 * @param merged the identity of what kubelet merges with the config
 */
function describeFlags(
  unit: UnitDefinition,
  envFile: string,
  flags: readonly Argument[],
  merged?: string,
): Omit<KubeletFacts, 'distribution' | 'wiring' | 'localConfigPath' | 'command'> {
  return {
    runtimeEndpoint: flagValue(flags, 'container-runtime-endpoint'),
    healthzFlags: findHealthzFlags(flags),
    kubeletIdentity: identifyKubelet(unit, envFile, unit.binaryIdentity, merged),
    formerIdentity: unit.formerBinaryIdentity && identifyKubelet(unit, envFile, unit.formerBinaryIdentity, merged),
    ...(unit.isBinaryUnread && { isKubeletUnread: true }),
  }
}

function findWiring(
  unit: WirableUnit,
  choice: ActivationChoice,
  inForce: readonly Argument[],
  distribution: Distribution | undefined,
): Wiring {
  // Either one: a flag that was removed from the unit stays in force until kubelet's next start.
  const dynamicConfigDir = flagValue(unit.command, 'dynamic-config-dir') || flagValue(inForce, 'dynamic-config-dir')
  if (dynamicConfigDir) {
    const detail = `kubelet runs with --dynamic-config-dir=${dynamicConfigDir}: it and the agent would both change its config; remove the flag`
    return broken('dynamic-config-dir', detail)
  }
  if (distribution?.owner !== undefined) {
    const { name, owner, remark } = distribution
    return broken('owned-by-operator', `this kubelet is ${name}'s: ${owner} owns its config, and puts back what others change; ${remark}`)
  }
  return findWiringOf(unit, choice)
}

function findHealthzFlags(command: readonly Argument[]): KubeletFacts['healthzFlags'] {
  const port = flagValue(command, 'healthz-port')
  const address = flagValue(command, 'healthz-bind-address')
  return {
    ...(port !== undefined && /^\d{1,5}$/.test(port) ? { port: Number(port) } : {}),
    // Go's `net.Listen` takes an empty address for all of them.
    ...(address === undefined ? {} : { address: address || '0.0.0.0' }),
  }
}

/**
 * Everything besides the config that decides how kubelet takes a config: when it changes, the same
 * bytes get a new trial.
 */
function identifyKubelet(unit: UnitDefinition, envFile: string, binaryIdentity: string, merged: string | undefined): string {
  const others = unit.environmentFiles.filter(({ path }) => !isSamePath(path, envFile)).map(({ path, text }) => [path, text ?? null])
  const facts = [binaryIdentity, unit.path, unit.words, [...unit.environment], others, ...(merged === undefined ? [] : [merged])]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}

/** The wiring of a unit without a command. */
export function describeMissing(unit: string, { loadState, down }: Pick<UnitProperties, 'loadState' | 'down'>): BrokenWiring {
  return down.barred === 'masked'
    ? broken('masked', `${unit} is masked, so that nothing can start it: systemctl unmask ${unit}`)
    : broken('no-config-argument', `${unit} has no command: ${loadState}`)
}

/**
 * The command line that systemd starts kubelet with, whatever wrote its files, without its own
 * name. undefined: kubelet is a part of another program.
 * @param inherited where a variable may come from that the unit does not set
 */
export function findNextWords(
  unit: Pick<UnitDefinition, 'path' | 'words' | 'environment' | 'environmentFiles'>,
  inherited: Readonly<Record<string, string | undefined>>,
): readonly string[] | undefined {
  if (findHost(unit.path) !== undefined) return undefined
  const given = Object.entries(inherited).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return textsOf(expandArguments(unit.words, new Map([...given, ...mergeEnvironment(unit)])))
}
