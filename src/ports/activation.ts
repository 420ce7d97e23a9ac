// SPDX-License-Identifier: Apache-2.0
/**
 * The port through which the agent sets what kubelet starts with next. Adapters:
 * `src/systemd/*-activation.ts`.
 */
import type { ConfigMapSource, ConfigSource, ContentHash } from '../subject/config-source.ts'
import type { ReadyWiring, UnitState } from '../subject/unit-state.ts'

/**
 * The config that kubelet starts with next. The wiring passed to each call says which kind of
 * activation its unit uses.
 */
export interface Activation {
  /** Completes what it knows of that on disk, where an earlier agent wrote less. */
  read(wiring: ReadyWiring): ActivationState
  /**
   * The local config, also while a checkpoint is in its place. undefined: there is no such file.
   * @param localConfigPath `--config` of the unit without the agent
   */
  readLocal(wiring: ReadyWiring, localConfigPath: string): Buffer | undefined
  /**
   * Prepares a fallback to this source: `activate` of it is then a single rename or unlink.
   * Idempotent.
   */
  stage(fallback: ConfigSource, wiring: ReadyWiring): void
  /**
   * Durable when it returns. Uses a staged fallback if there is one, and then works on a full disk.
   * Idempotent.
   * @param isRewording the target is the config that was observed in place, in other bytes: a
   * process that was started with either runs both
   * @param runsIn the invocation of the kubelet that runs the target already
   */
  activate(target: ConfigSource, wiring: ReadyWiring, isRewording?: boolean, runsIn?: string): void
  /**
   * The files outside the agent's own directory in which the agent has put a config, or may have.
   * They are found by its records, and beside what kubelet's unit names, since that directory may
   * be lost.
   */
  findOutside(unit: UnitState): readonly string[]
  /**
   * Returns to the local config wherever the agent has activated something, whatever kubelet's unit
   * says by now.
   * @param unit as in `findOutside`
   * @param onWithdrawn called for each file that has its original content again or was removed, and
   * that is not in the agent's own directory
   */
  withdraw(extent: Withdrawal, unit: UnitState, onWithdrawn: OnWithdrawn): void
}

/** `replaced-files`: only where the agent has changed a directory that is not its own. */
export type Withdrawal = 'everything' | 'replaced-files'
export type OnWithdrawn = (path: string, how: 'restored' | 'removed') => void

/**
 * `since`: CLOCK_MONOTONIC after the config, in any wording, was put in place; a process that was
 * started before does not run it, but for the one that ran it then. Local is one config, whatever
 * its file holds. undefined where the process' command line names its config, where the config was
 * in place before the agent's first observation in this boot, and where nobody recorded the time.
 */
export type ActivationState =
  | { readonly kind: 'local'; readonly since: ActivationStamp | undefined }
  /**
   * The adapter stores the namespace and name beside the file, since the path of a checkpoint does
   * not hold them. `content`: of a file that outlives its checkpoint, by the hash of its bytes.
   * undefined: kubelet reads the checkpoint itself, or the content is not known. `foundAt`: nobody
   * recorded when it was put in place, and the agent found it there then. So a process that was
   * started before may run another config.
   */
  | {
      readonly kind: 'checkpoint'
      readonly source: ConfigMapSource
      readonly since: ActivationStamp | undefined
      readonly content?: ContentHash | undefined
      readonly foundAt?: ActivationStamp | undefined
    }
  /**
   * `unrecorded`: the agent's own file is in place, and what says which config it is was lost.
   * `absent`: nothing is in place, and kubelet could not start.
   */
  | { readonly kind: 'unknown'; readonly detail: string; readonly unrecorded?: boolean; readonly absent?: boolean }

export interface ActivationStamp {
  readonly bootId: string
  readonly monotonicUs: number
  /** The invocation of the kubelet that ran it already when it was put in place again. */
  readonly runsIn?: string | undefined
}
