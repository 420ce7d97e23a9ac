// SPDX-License-Identifier: Apache-2.0
/**
 * Which distribution put this kubelet on the node, as far as its unit tells: who writes its config,
 * and which kind of activation fits. Pure. The marks are those of the units that the distributions
 * ship; docs/distributions.md says where each was seen.
 */

import { posix } from 'node:path'
import type { ActivationKind, Distribution } from '../subject/unit-state.ts'
import { type Argument, asArguments, findFlag, flagValue } from './command-line.ts'
import { CONFIG_VARIABLE, type UnitDefinition } from './unit-definition.ts'

/** undefined: its unit looks like none of them. */
export function findDistribution(unit: UnitDefinition, command: readonly Argument[]): Distribution | undefined {
  return DISTRIBUTIONS.find(({ isOf }) => isOf(marksOf(unit, command)))?.distribution
}

interface Marks {
  readonly program: string
  /** The words of ExecStart, variables unexpanded. */
  readonly words: readonly string[]
  readonly environmentFiles: readonly string[]
  readonly configPath: string | undefined
  readonly configDir: string | undefined
}

function marksOf({ path, words, environmentFiles }: UnitDefinition, command: readonly Argument[]): Marks {
  return {
    program: path,
    words,
    environmentFiles: environmentFiles.map((file) => file.path),
    configPath: flagValue(command, 'config'),
    configDir: flagValue(command, 'config-dir'),
  }
}

interface Entry {
  readonly distribution: Distribution
  isOf(marks: Marks): boolean
}

/** The first that fits counts. The marks of one distribution are on no unit of another. */
const DISTRIBUTIONS: readonly Entry[] = [
  {
    distribution: owned('OpenShift', 'the Machine Config Operator', 'change kubelet with a KubeletConfig object of OpenShift'),
    isOf: ({ program }) => program.endsWith('/kubenswrapper'),
  },
  {
    distribution: owned('MicroK8s', 'its snap', 'change the arguments of kubelet in the snap'),
    isOf: ({ words }) => words.some((word) => word.startsWith('microk8s.')),
  },
  {
    distribution: fits('drop-in', 'k3s', 'kubelet is a part of its process, and a restart of kubelet is a restart of k3s'),
    isOf: ({ program }) => findHost(program) === 'k3s',
  },
  {
    distribution: fits(undefined, 'k0s', "it writes its kubelet's config anew from its workerProfiles, and starts that kubelet by itself"),
    isOf: ({ program }) => findHost(program) === 'k0s',
  },
  {
    distribution: fits(undefined, 'RKE2', 'it starts its kubelet again by itself, so the agent would not see it exit'),
    isOf: ({ program }) => findHost(program) === 'rke2',
  },
  {
    distribution: fits('drop-in', 'Amazon EKS, AL2023', 'nodeadm writes the config file anew at boot; kubelet merges the drop-in over it'),
    isOf: (marks) => usesVariable('NODEADM_KUBELET_ARGS')(marks) && marks.configDir !== undefined,
  },
  {
    distribution: fits('file', 'Amazon EKS, AL2023', 'nodeadm writes the config file anew at boot, which makes it the new local config'),
    isOf: usesVariable('NODEADM_KUBELET_ARGS'),
  },
  {
    distribution: fits('file', 'Amazon EKS, AL2'),
    isOf: ({ configPath }) => configPath === '/etc/kubernetes/kubelet/kubelet-config.json',
  },
  {
    distribution: fits(undefined, 'AKS, with a start script', 'the script and not the unit has --config'),
    isOf: ({ program }) => program === '/opt/azure/containers/start-kubelet.sh',
  },
  {
    distribution: fits('file', 'AKS', 'its flags come after --config, and win over the config'),
    isOf: ({ configPath }) => configPath === '/etc/default/kubeletconfig.json',
  },
  {
    distribution: fits('file', 'kOps'),
    isOf: (marks) => usesVariable('DAEMON_ARGS')(marks) && marks.configPath === '/var/lib/kubelet/kubelet.conf',
  },
  { distribution: fits('env', 'kubeadm'), isOf: usesVariable(CONFIG_VARIABLE) },
]

function fits(activation: ActivationKind | undefined, name: string, remark?: string): Distribution {
  return { name, fits: activation, owner: undefined, remark }
}

function owned(name: string, owner: string, remark: string): Distribution {
  return { name, fits: undefined, owner, remark }
}

function usesVariable(name: string): (marks: Marks) => boolean {
  return ({ words }) => words.some((word) => word === `$${name}` || word.includes(`\${${name}}`))
}

/**
 * Programs that have kubelet inside, or start it themselves: their unit has neither kubelet's
 * program nor its flags, and its process shows neither. Rules: `kubeletArgsAndConfig` and
 * `extractConfigArgs`, pkg/daemons/agent of k3s from 1.32 on: kubelet gets `--config-dir` and what
 * `--kubelet-arg` says, but `config` and `config-dir` of those are copied into the directory. `k3s`
 * runs kubelet in its own process and ends with it. `k0s` and `rke2` start kubelet as a child, and
 * start it again when it exits.
 */
export type Host = 'k0s' | 'k3s' | 'rke2'

/** undefined: the program is kubelet itself, or a wrapper that becomes kubelet. */
export function findHost(program: string): Host | undefined {
  const name = posix.basename(program)
  switch (name) {
    case 'k0s':
    case 'k3s':
    case 'rke2':
      return name
    default:
      return undefined
  }
}

/** @param command of the unit. undefined: it has none */
export function isKubeletInside(command: { readonly path: string } | undefined): boolean {
  return command !== undefined && findHost(command.path) !== undefined
}

/** The file that k3s makes of its settings at each start, and kubelet reads first. */
const DEFAULTS = '00-k3s-defaults.conf'

/** The local config of a kubelet in k3s, which has no `--config`. */
export function localConfigIn(configDir: string): string {
  return posix.join(configDir, DEFAULTS)
}

/**
 * Kubelet's flags, as far as they are known: what k3s reads from its own config file is not among
 * them.
 * @param command that of the unit, with the name of the program
 * @param configDir undefined: not known
 */
export function kubeletFlags(command: readonly Argument[], configDir: string | undefined): Argument[] {
  const given = findFlag(command, 'kubelet-arg').map(({ value }) => `--${value.replace(/^--/, '')}`)
  const passed = given.filter((flag) => !/^--config(?:[_-]dir)?(?:=|$)/.test(flag))
  return asArguments([...(configDir === undefined ? [] : [`--config-dir=${configDir}`]), ...passed])
}
