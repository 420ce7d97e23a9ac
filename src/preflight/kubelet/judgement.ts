/**
 * Types for asking kubelet's own binary about a config. Kubelet has no mode that only checks a
 * config (kubernetes issue 66517), but it loads, decodes and validates its config before it touches
 * anything. Stopped at that point, the binary is an exact judge.
 */
import type { ConfigMapData } from '../../decision/config-source.ts'
import type { Incomplete } from '../../decision/unit-state.ts'
import type { KubeletVersion } from '../kubelet-version.ts'

/**
 * `load`: kubelet loads and validates the config, then exits because its kubeconfig does not exist;
 * takes a fraction of a second. `deep`: it goes on to its container runtime, which does not answer;
 * takes little longer. Up to 1.27 this also shows what kubelet rejects only while it starts:
 * reservations, eviction signals, cgroupRoot. Later versions connect to the runtime before these.
 */
export type JudgeStage = 'load' | 'deep'

/**
 * `cannot-start`: this kubelet would start with no config, since it does not accept its flags or
 * drop-ins, or cannot run at all. `unjudged`: kubelet's end tells nothing about the config.
 */
export type KubeletJudgement =
  /**
   * `ignored`: the fields that a kubelet newer than the tables says it does not know. undefined:
   * that is not known. `effective`: the config that kubelet made of it, as YAML. Kubelet logs it
   * from 1.37 on.
   */
  | {
      readonly kind: 'accepted'
      readonly detail: string
      readonly ignored?: readonly string[] | undefined
      readonly effective?: string | undefined
    }
  /**
   * `load`: kubelet could not read or decode the config; `validate`: everything else. `message` is
   * kubelet's own, in one line.
   */
  | { readonly kind: 'refused'; readonly reason: 'load' | 'validate'; readonly message: string }
  | { readonly kind: 'cannot-start'; readonly detail: string }
  | { readonly kind: 'unjudged'; readonly detail: string }

export interface JudgeRequest {
  /** Absolute path of a kubelet: that of the unit, or another one before an upgrade. */
  readonly binary: string
  /** The arguments that this kubelet would be started with, without the program name. */
  readonly flags: readonly string[]
  /** Some of the flags, or parts of them, are not known: then most of them are not to blame. */
  readonly incomplete?: Incomplete | undefined
  /** It is started with variables that a probe does not give it. */
  readonly ownEnvironment?: true | undefined
  /** All files of the ConfigMap: the config may name the others by relative paths. */
  readonly files: ConfigMapData
  readonly key: string
  readonly stage: JudgeStage
  /** What else the judgement depends on: the drop-ins that kubelet merges with the config. */
  readonly others?: unknown
  readonly signal: AbortSignal
}

export interface Judge {
  /**
   * Never rejects. Remembers `accepted` for the same files, kubelet, flags and stage; never
   * anything else. Requests at the same time share one probe.
   */
  judge(request: JudgeRequest): Promise<KubeletJudgement>
  /** Drops what is remembered of the deep stage, because the node may have changed. */
  forget(): void
}

/** `identity` changes if and only if the binary changes. */
export type VersionAnswer =
  | {
      readonly ok: true
      readonly version: KubeletVersion
      readonly identity: string
      /** The program has kubelet inside, and cannot be run as kubelet. */
      readonly inside?: true
    }
  /**
   * `cannotRun`: the file is kubelet, and does not run on this machine, at all or without the
   * variables of its unit (`LD_LIBRARY_PATH`).
   */
  | { readonly ok: false; readonly detail: string; readonly cannotRun?: 'at-all' | 'without-environment' }

/** The files of one probe, all below its own `directory`. */
export interface ProbePlaces {
  readonly directory: string
  /** Holds the ConfigMap's files. */
  readonly candidate: string
  readonly config: string
  /** The only directory that the probe may write to. */
  readonly scratch: string
  /** Holds kubelet's own certificate, so that it makes none: that takes up to half a second. */
  readonly certificates: string
  /** For `load`: does not exist. For `deep`: names a server that is not reachable. */
  readonly kubeconfig: string
  /** Does not exist. */
  readonly runtimeSocket: string
}
