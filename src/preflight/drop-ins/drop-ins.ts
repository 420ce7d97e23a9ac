/**
 * Kubelet's drop-ins on a node: the files in the directory of `--config-dir`, which kubelet merges
 * over the file of `--config` (KEP-3983). Types only.
 */
import type { KubeletConfig } from '../../kubelet/decode.ts'
import type { OtherCase } from './other-case.ts'

export interface DropIn {
  readonly path: string
  /** It may set only some fields. A null removes a field. */
  readonly config: KubeletConfig
  /** Keys that kubelet takes although they are spelled in another way. Default: none. */
  readonly otherCase?: readonly OtherCase[]
}

export type DropInsReading =
  /** In the order in which kubelet merges them. */
  { readonly kind: 'read'; readonly dropIns: readonly DropIn[] } | ({ readonly kind: 'unusable' } & UnusableDropIn)

/** Kubelet does not start. */
export interface UnusableDropIn {
  /** The file or directory at fault. */
  readonly path: string
  readonly detail: string
  /** Kubelet may start, and read something else. */
  readonly unjudged?: true | undefined
}

/** What kubelet merges with one config when it starts on this node. */
export type DropInsHere =
  | { readonly kind: 'usable'; readonly directory: string; readonly order: MergeOrder }
  | ({ readonly kind: 'unusable'; readonly directory: string } & UnusableDropIn)

export interface MergeOrder {
  /** Undefined: the config itself is the file of `--config`. */
  readonly base?: DropIn | undefined
  /** Drop-ins that the config is merged over. */
  readonly below: readonly DropIn[]
  /** Drop-ins that are merged over the config. */
  readonly above: readonly DropIn[]
}
