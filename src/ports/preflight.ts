/** The port that checks a config before kubelet is restarted with it. Adapter: `src/preflight/agent-preflight.ts`. */
import type { ConfigSource } from '../decision/config-source.ts'
import type { TrialKey } from '../decision/trial-key.ts'
import type { KnownUnit } from '../decision/unit-state.ts'
import type { PreflightResult } from '../decision/verdict.ts'

/** The judge before a restart. */
export interface Preflight {
  /** `pending`: it takes long, and goes on; asked again when it is over, this gives the answer. */
  check(candidate: PreflightRequest): Promise<PreflightResult>
  /** What it is still at. */
  pending(): ReadonlySet<TrialKey>
  /** See `Snapshot.basis`. */
  basis(): string
}

export interface PreflightRequest {
  readonly source: Exclude<ConfigSource, 'local'>
  readonly data: Readonly<Record<string, string>>
  readonly key: TrialKey
  /** It has run before, and kubelet waits for it: only what takes no time is asked. */
  readonly fallback: boolean
  readonly unit: KnownUnit
  /** Path of the config that runs, from which this is a change. undefined: none is known. */
  readonly basePath: string | undefined
}
