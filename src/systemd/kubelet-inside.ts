/**
 * Programs that have kubelet inside, or start it themselves: their unit has neither kubelet's
 * program nor its flags, and its process shows neither. Pure. Rules: `kubeletArgsAndConfig` and
 * `extractConfigArgs`, pkg/daemons/agent of k3s from 1.32 on: kubelet gets `--config-dir` and what
 * `--kubelet-arg` says, but `config` and `config-dir` of those are copied into the directory.
 */
import { posix } from 'node:path'
import type { Argument } from './command-line.ts'
import { asArguments, findFlag } from './flags.ts'

/**
 * `k3s` runs kubelet in its own process and ends with it. `k0s` and `rke2` start kubelet as a
 * child, and start it again when it exits.
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

/** What k3s makes of its settings at each start, and kubelet reads first. */
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
