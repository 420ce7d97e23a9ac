/** The port through which the agent sets what kubelet starts with next. Adapters: `src/systemd/*-activation.ts`. */
import type { ConfigMapSource, ConfigSource } from '../decision/config-source.ts'
import type { ReadyWiring } from '../decision/unit-state.ts'

/** What kubelet will start with next. The wiring of each call says which kind of activation its unit takes. */
export interface Activation {
  read(wiring: ReadyWiring): ActivationState
  /** Prepares a fallback to this source, so that `activate` of it is a single rename or unlink. Idempotent. */
  stage(fallback: ConfigSource, wiring: ReadyWiring): void
  /** Durable when it returns. Uses what was staged where that fits, so that it works on a full disk. Idempotent. */
  activate(target: ConfigSource, wiring: ReadyWiring): void
  /**
   * Goes back to local wherever the agent has activated something, whatever kubelet's unit says by now.
   * @param onRestored called with the path of each file that has its original again
   */
  withdraw(extent: Withdrawal, onRestored: (path: string) => void): void
}

/** `replaced-files`: only where something of the agent's stands in the place of a file that is not the agent's own. */
export type Withdrawal = 'everything' | 'replaced-files'

/**
 * `since`: CLOCK_MONOTONIC after the config was put in place; a process that was started before does not run it. undefined
 * where the process' own command line tells, and where it was in place before the first look of this boot.
 */
export type ActivationState =
  | { readonly kind: 'local'; readonly since: ActivationStamp | undefined }
  /** The adapter stores the namespace and name beside the file, since the path of a checkpoint does not hold them. */
  | { readonly kind: 'checkpoint'; readonly source: ConfigMapSource; readonly since: ActivationStamp | undefined }
  | { readonly kind: 'unknown'; readonly detail: string }

export interface ActivationStamp {
  readonly bootId: string
  readonly monotonicUs: number
}
