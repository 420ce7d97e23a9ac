/** The port through which the agent sets what kubelet starts with next. Adapters: `src/systemd/*-activation.ts`. */
import type { ConfigMapSource, ConfigSource } from '../decision/config-source.ts'
import type { ReadyWiring } from '../decision/unit-state.ts'

/** What kubelet will start with next. Two kinds: see Wiring. Each call dispatches on `wiring.activation`. */
export interface Activation {
  read(wiring: ReadyWiring): ActivationState
  /** Makes ready what a fallback to this source needs, so that `activate` of it is then one rename or unlink. Idempotent. */
  stage(fallback: ConfigSource, wiring: ReadyWiring): void
  /** Durable when it returns. Uses what was staged where that fits, so that it works on a full disk. Idempotent. */
  activate(target: ConfigSource, wiring: ReadyWiring): void
}

/**
 * `since`: for the file kind, CLOCK_MONOTONIC after the replacement; a process started before it does not run this.
 * undefined for the env kind, where the process' own command line tells.
 */
export type ActivationState =
  | { readonly kind: 'local'; readonly since: ActivationStamp | undefined }
  /** With namespace and name, which the path does not hold: the adapter keeps them beside it. */
  | { readonly kind: 'checkpoint'; readonly source: ConfigMapSource; readonly since: ActivationStamp | undefined }
  | { readonly kind: 'unknown'; readonly detail: string }

export interface ActivationStamp {
  readonly bootId: string
  readonly monotonicUs: number
}
