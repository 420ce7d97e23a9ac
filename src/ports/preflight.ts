// SPDX-License-Identifier: Apache-2.0
/**
 * The ports that check a config before kubelet is restarted with it, and that ask kubelet what it
 * made of it. Adapters: `src/preflight/agent-preflight.ts`, `src/preflight/configz/`.
 */

import type { PreflightResult } from '../decision/verdict.ts'
import type { ConfigSource } from '../subject/config-source.ts'
import type { TrialKey } from '../subject/trial-key.ts'
import type { KnownUnit } from '../subject/unit-state.ts'

export interface Preflight {
  /** `pending`: the check takes long and continues in the background; call again for the result. */
  check(candidate: PreflightRequest): Promise<PreflightResult>
  /** The checks that are still running. */
  pending(): ReadonlySet<TrialKey>
  /** See `Snapshot.basis`. */
  basis(): string
  /** Why this kubelet starts with no config. undefined: no check found that out lately. */
  obstacle(kubeletIdentity: string): string | undefined
}

/** A fallback is never local: kubelet gets that unchecked. */
export interface PreflightRequest {
  readonly source: ConfigSource
  readonly data: Readonly<Record<string, string>>
  readonly key: TrialKey
  /** The config has run before, and kubelet is waiting for it: it is only decoded. */
  readonly fallback: boolean
  /** The file that `local` is in, or was before the agent replaced it: the only key of `data`. */
  readonly localPath?: string | undefined
  readonly unit: KnownUnit
  /** Path of the running config, with which the candidate is compared. undefined: none is known. */
  readonly basePath: string | undefined
}

/** The key of `data` that kubelet reads. */
export function keyOf({ source, localPath }: Pick<PreflightRequest, 'source' | 'localPath'>): string {
  return source === 'local' ? (localPath ?? source) : source.kubeletConfigKey
}

/** Of kubelet's `/configz`: the config that a running kubelet says it has. */
export type ConfigzAnswer =
  | { readonly kind: 'ok'; readonly object: unknown }
  | { readonly kind: 'refused'; readonly by: 'kubelet' | 'api-server'; readonly status: number; readonly detail: string }
  /**
   * The program that listens there did not prove to be this node's kubelet, and was asked nothing.
   */
  | { readonly kind: 'unproven'; readonly detail: string }
  | { readonly kind: 'unreachable'; readonly detail: string }
