// SPDX-License-Identifier: Apache-2.0
/**
 * The definition of kubelet's unit as systemd has loaded it, and the environment that it gives
 * kubelet. Pure. Which assignment of a variable wins is in systemd.exec(5), "EnvironmentFile=".
 */
import { posix } from 'node:path'
import type { BrokenWiring, WiringProblem } from '../subject/unit-state.ts'
import type { Argument } from './command-line.ts'
import { parseEnvironmentFile } from './environment-file.ts'

/** The variable in which kubeadm's unit passes `--config`; kubelet.env replaces it. */
export const CONFIG_VARIABLE = 'KUBELET_CONFIG_ARGS'

/** The facts about a unit, apart from its process. */
export interface UnitDefinition {
  readonly path: string
  /** ExecStart with its variables unexpanded; the process sees the first word as its own name. */
  readonly words: readonly string[]
  readonly environment: ReadonlyMap<string, string>
  /**
   * In the order of the unit. `text` is undefined where the file does not exist, which is allowed,
   * or cannot be read.
   */
  readonly environmentFiles: readonly { readonly path: string; readonly text: string | undefined }[]
  readonly needDaemonReload: boolean
  /** The agent's drop-in: loaded by systemd, only on disk, or absent. */
  readonly dropIn: 'loaded' | 'on-disk' | 'absent'
  /** The files that the agent's drop-in, as loaded, names in EnvironmentFile=. */
  readonly dropInNames: readonly string[]
  /** Changes with kubelet's binary and with nothing else. */
  readonly binaryIdentity: string
  /** The identity that an earlier agent recorded in its place. */
  readonly formerBinaryIdentity?: string | undefined
  /** As in `BinaryIdentity`. */
  readonly isBinaryUnread?: true | undefined
}

/** A unit definition, and the kubelet.env that the agent writes for it. */
export interface WirableUnit {
  readonly unit: UnitDefinition
  /** Absolute path of kubelet.env. */
  readonly envFile: string
  /** The command line that kubelet would be started with if there were no kubelet.env. */
  readonly command: readonly Argument[]
}

/**
 * Files win over `Environment=`, later files over earlier ones.
 * @param without a file to leave out
 */
export function mergeEnvironment(unit: Pick<UnitDefinition, 'environment' | 'environmentFiles'>, without?: string): Map<string, string> {
  const files = unit.environmentFiles.filter(({ path }) => without === undefined || !isSamePath(path, without))
  return new Map([...unit.environment, ...files.flatMap(({ text }) => (text === undefined ? [] : [...parseEnvironmentFile(text)]))])
}

export function isSamePath(a: string, b: string): boolean {
  return posix.normalize(a) === posix.normalize(b)
}

export function broken(reason: WiringProblem, detail: string): BrokenWiring {
  return { kind: 'broken', reason, detail }
}

/**
 * `words`: the command line of kubelet's next start, without its own name. `mainPid`: of what runs
 * until then. 0: nothing does, as where the unit is about to start kubelet.
 */
export interface NextUnitStart {
  readonly words: readonly string[]
  readonly mainPid: number
}
