/**
 * What kubelet itself says of a config, and how it is asked: types only. Kubelet has no mode that only checks (kubernetes issue 66517), but it
 * loads, decodes and validates its config before it touches anything, so that its own binary, kept from going on, is an exact judge.
 */
import type { ConfigMapData } from '../../decision/config-source.ts'
import type { KubeletVersion } from '../kubelet-version.ts'

/**
 * `load`: kubelet ends at a kubeconfig that does not exist, once it has loaded and validated the config; well under a second. `deep`: it goes on to its
 * container runtime, which does not answer; seconds. Up to 1.27 that also shows what it refuses only while starting: reservations, eviction signals,
 * cgroupRoot. Later ones ask the runtime first.
 */
export type JudgeStage = 'load' | 'deep'

/** `unjudged`: whatever ended it says nothing of the config. */
export type KubeletJudgement =
  | { readonly kind: 'accepted'; readonly detail: string }
  /** `load`: it could not read or decode it; `validate`: all else. `words`: kubelet's own, in one line. */
  | { readonly kind: 'refused'; readonly reason: 'load' | 'validate'; readonly words: string }
  | { readonly kind: 'unjudged'; readonly detail: string }

export interface JudgeRequest {
  /** Absolute path of a kubelet: the unit's, or another one to judge for an upgrade. */
  readonly binary: string
  /** Kubelet's real arguments, without its own name. */
  readonly flags: readonly string[]
  /** All files of the ConfigMap: the config may name the others by relative path. */
  readonly files: ConfigMapData
  readonly key: string
  readonly stage: JudgeStage
  readonly signal: AbortSignal
}

export interface Judge {
  /** Never rejects. That it was accepted is remembered for the same files, kubelet, flags and stage; a refusal, and that nothing could be told, are not. */
  judge(request: JudgeRequest): Promise<KubeletJudgement>
  /** What a person has changed on the node may change the answers. */
  forget(): void
}

/** `identity` changes with the binary, and with nothing else. */
export type VersionAnswer =
  | { readonly ok: true; readonly version: KubeletVersion; readonly identity: string }
  | { readonly ok: false; readonly detail: string }

/** Where a probe finds its files: all below `directory`, which is its own. */
export interface ProbePlaces {
  readonly directory: string
  /** Holds the ConfigMap's files. */
  readonly candidate: string
  readonly config: string
  /** The one place that the probe may write to. */
  readonly scratch: string
  /** For `load`: does not exist. For `deep`: of a server that nobody reaches. */
  readonly kubeconfig: string
  /** Does not exist. */
  readonly runtimeSocket: string
}
