// SPDX-License-Identifier: Apache-2.0
/** The answers of systemd about kubelet's unit. Types only. */

/** `systemctl show` of kubelet's unit, parsed, together with what its process was started with. */
export type UnitState =
  | { readonly kind: 'unknown'; readonly detail: string }
  | {
      readonly kind: 'known'
      readonly activity: UnitActivity
      /** systemd's ActiveState/SubState/Result, for messages. */
      readonly summary: string
      /** Empty when the unit has never run. */
      readonly invocationId: string
      readonly nRestarts: number
      /**
       * systemd refused the last start, since the unit had been started too often
       * (`start-limit-hit`). It says so only where the process before ended without an error.
       */
      readonly startLimitHit?: boolean
      /** Set where the unit is down: what tells how that came about. */
      readonly down?: UnitDown | undefined
      /**
       * Set where systemd waits to restart the unit, or has queued its start. undefined: for how
       * long is not known.
       */
      readonly restartWait?: RestartWait | undefined
      /** Settings of the unit that can leave it down without anybody's doing. */
      readonly hazards?: UnitHazards | undefined
      /** CLOCK_MONOTONIC of the main process' start; 0 if this start has not executed one. */
      readonly startedAtUs: number
      /** The signal that ended the main process. undefined: it runs, or exited by itself. */
      readonly killedBy?: string | undefined
      /**
       * Identity of everything besides the config that decides how kubelet takes it: its binary,
       * what in the unit sets its flags, and the files that kubelet merges with the config. The
       * agent's own files do not count.
       */
      readonly kubeletIdentity: string
      /** The name that an earlier agent gave the same kubelet, in records that it has left. */
      readonly formerIdentity?: string | undefined
      /**
       * The disk does not return kubelet's binary. So `kubeletIdentity` is a stand-in, and what is
       * recorded of this kubelet may be recorded under another name.
       */
      readonly isKubeletUnread?: true | undefined
      /**
       * Each start of the unit sets aside the state files of kubelet's managers that do not fit the
       * config.
       */
      readonly setsStatesAside?: boolean | undefined
      readonly process: KubeletProcess
      /**
       * Kubelet's program, and its arguments without its own name: of the process, or else what the
       * unit would start without the agent.
       */
      readonly command: KubeletCommand | undefined
      /**
       * The config file that kubelet was provisioned with: `--config` of the unit without the
       * agent. undefined: it has none.
       */
      readonly localConfigPath: string | undefined
      /** `--container-runtime-endpoint`, where a flag sets it. */
      readonly runtimeEndpoint: string | undefined
      /**
       * `--healthz-port` and `--healthz-bind-address`, where flags set them. They win over the
       * config.
       */
      readonly healthzFlags: { readonly port?: number; readonly address?: string }
      /** Who put this kubelet there, as far as its unit tells. */
      readonly distribution?: Distribution | undefined
      /** Whether the unit takes its config from the agent, and if not, why. */
      readonly wiring: Wiring
    }

/**
 * How the words of kubelet fall short of those of its next start, where the unit does not set every
 * variable of its command line. `more`: it has those that are known, and perhaps more, or longer
 * ones. `others`: the process that runs has others than the unit tells, and either may be those of
 * the next start.
 */
export type Incomplete = 'more' | 'others'

/**
 * `nextWords`: its arguments at its next start, with the local config. A unit may have changed
 * since the process that runs was started. undefined: as `words`, or not known. `ownEnvironment`:
 * the unit sets variables for libraries, without which kubelet may not run.
 */
export interface KubeletCommand {
  readonly path: string
  readonly words: readonly string[]
  readonly nextWords?: readonly string[] | undefined
  readonly incomplete?: Incomplete | undefined
  readonly ownEnvironment?: true | undefined
}

/**
 * running: active, with a main process. starting: activating. auto-restart: waits for an automatic
 * restart. queued: down, and systemd has a start of it in its queue: between the two halves of a
 * restart, or behind a unit that kubelet's is ordered after. stopped: inactive, or a stop that
 * timed out; somebody may have stopped it. exited: inactive, since its process ended by itself
 * without an error (Restart=on-failure). left-down: inactive, since a unit that it requires or is
 * bound to failed. failed: systemd gave up. stopping: the unit or the whole system is going down.
 */
export type UnitActivity =
  | 'running'
  | 'starting'
  | 'auto-restart'
  | 'queued'
  | 'stopped'
  | 'exited'
  | 'left-down'
  | 'failed'
  | 'stopping'
  | 'not-found'

/** `RestartSec=`, on CLOCK_MONOTONIC. A start that is queued waits since the process ended. */
export interface RestartWait {
  readonly sinceUs: number
  /** undefined: the start is queued, and nobody knows until when. */
  readonly untilUs?: number
}

/** All times are CLOCK_MONOTONIC; 0: not in this boot. */
export interface UnitDown {
  /** The name of the unit, for messages. */
  readonly name: string
  /** The unit ceased to be active: its stop began, or its process ended by itself. */
  readonly activeExitUs: number
  readonly inactiveEnterUs: number
  readonly mainExitUs: number
  /** Somebody has said that it is not to start, or not at boot. */
  readonly barred?: 'masked' | 'disabled' | undefined
  /** A unit that it was bound to (`BindsTo=`) ended, and systemd stopped it for that. */
  readonly endedWith?: string | undefined
  /**
   * When the unit's latest start came to nothing since a unit that it requires had failed.
   * undefined: there was none, or nothing tells.
   */
  readonly dependencyFailedUs?: number | undefined
}

/** `requires` and `bindsTo` have the names of units. */
export interface UnitHazards {
  readonly requires: readonly string[]
  readonly bindsTo: readonly string[]
  /** `Restart=`, such as `on-failure`. */
  readonly restart: string
}

/**
 * The config that the running kubelet was started with. `other`: a file that is not a checkpoint,
 * so the local config.
 */
export type KubeletProcess =
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown'; readonly detail: string }
  | {
      readonly kind: 'checkpoint'
      readonly pid: number
      readonly uid: string
      readonly resourceVersion: string
      readonly key: string
      /** Set for a checkpoint with an overlay. */
      readonly overlay?: string | undefined
    }
  | { readonly kind: 'other'; readonly pid: number; readonly configPath: string | undefined }

/** Whether the unit takes its config from the agent. */
export type Wiring = ReadyWiring | BrokenWiring

/**
 * The name of a kind of activation, as in the setting `activation` and in `status`. Code uses the
 * properties of ReadyWiring instead of comparing this name.
 */
export type ActivationKind = 'env' | 'file' | 'drop-in'

export interface ReadyWiring {
  readonly kind: 'ready'
  readonly activation: ActivationKind
  /** The file that the agent writes to activate a config. */
  readonly path: string
  /**
   * `path` is the local config file. While a checkpoint is activated, the file does not contain the
   * local config, and `release` has to restore it.
   */
  readonly replacesLocalFile: boolean
  /** Where the local config is while its file contains a checkpoint. undefined: in its file. */
  readonly keptLocalPath?: string
  /**
   * kubelet merges `path` over the local config file, and over the drop-ins whose names sort before
   * it. Otherwise kubelet reads the activated config in place of that file.
   */
  readonly laysOverLocal: boolean
  /**
   * `path` is in a place that belongs to the machine: `release` brings the local config back.
   * Otherwise a config that has passed its trial stays.
   */
  readonly leavesWithAgent: boolean
  /**
   * kubelet's `--config` is the same whatever is activated: only the time when a process was
   * started shows which config it runs.
   */
  readonly configFlagIsFixed: boolean
  /** The unit's own KUBELET_CONFIG_ARGS, without kubelet.env; empty where it has none. */
  readonly configArgs: string
}

/** A distribution of Kubernetes, by the way in which its kubelet gets its config. */
export interface Distribution {
  readonly name: string
  /** undefined: none of the agent's kinds. */
  readonly fits: ActivationKind | undefined
  /**
   * The program that writes kubelet's config and puts back what others change: then the agent
   * refuses.
   */
  readonly owner: string | undefined
  /** A note that an operator has to know. */
  readonly remark: string | undefined
}

export interface BrokenWiring {
  readonly kind: 'broken'
  readonly reason: WiringProblem
  readonly detail: string
}
export type WiringProblem =
  | 'masked'
  | 'drop-in-missing'
  | 'daemon-reload-needed'
  | 'overridden'
  | 'flag-wins'
  | 'no-config-argument'
  | 'no-config-dir'
  | 'dynamic-config-dir'
  | 'owned-by-operator'

export type KnownUnit = Extract<UnitState, { kind: 'known' }>
