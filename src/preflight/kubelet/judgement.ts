// SPDX-License-Identifier: Apache-2.0
/**
 * Types for asking kubelet's own binary about a config. Kubelet has no mode that only checks a
 * config (kubernetes issue 66517), but it loads, decodes and validates its config before it touches
 * anything. Stopped at that point, the binary is an exact judge.
 */

import { join } from 'node:path'
import type { ConfigMapData } from '../../subject/config-source.ts'
import type { DropInsHere } from '../drop-ins/read-drop-ins.ts'
import type { InspectOptions, TargetKubelet } from '../inspection.ts'
import type { KubeletVersion } from '../kubelet-version.ts'

/**
 * `load`: kubelet loads and validates the config, then exits because its kubeconfig does not exist;
 * takes a fraction of a second. `deep`: it goes on as far as `howFar` says, and shows what it
 * rejects only while it starts: reservations, eviction signals, its listeners. Takes little longer,
 * or 1 to 2 s.
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

export interface JudgeRequest extends TargetKubelet {
  /** All files of the ConfigMap: the config may name the others by relative paths. */
  readonly files: ConfigMapData
  readonly key: string
  readonly stage: JudgeStage
  /**
   * Further facts that the judgement depends on: the drop-ins that kubelet merges with the config.
   */
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
  /** Does not exist, or is that of `stand-in.ts`. */
  readonly runtimeSocket: string
}

/**
 * For `TemporaryFileSystem=`, where colons, white space, quotes, backslashes and percent signs have
 * a special meaning.
 */
const PLAIN_PATH = /^\/[\w./+@,-]*$/

export function isPlainPath(path: string): boolean {
  return PLAIN_PATH.test(path)
}

export function placesIn(directory: string, key: string, stage: JudgeStage): ProbePlaces {
  const candidate = join(directory, 'candidate')
  const scratch = join(directory, 'scratch')
  return {
    directory,
    candidate,
    config: join(candidate, key),
    scratch,
    certificates: join(directory, 'certificates'),
    kubeconfig: stage === 'load' ? join(scratch, 'no-kubeconfig') : join(directory, 'kubeconfig'),
    runtimeSocket: join(scratch, 'runtime.sock'),
  }
}

/**
 * The files of kubelet's own certificate. Where both can be read, it makes no key
 * (`InitializeTLS`, cmd/kubelet/app/server.go). It reads what is in them when it begins to serve:
 * where it does, it makes its own.
 */
export const CERTIFICATE_FILES = ['kubelet.crt', 'kubelet.key'] as const

/**
 * Valid, but its server refuses connections: nothing listens on the probe's own loopback interface.
 */
export const UNREACHABLE_KUBECONFIG = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'nobody', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'nobody', user: {} }],
  contexts: [{ name: 'nobody', context: { cluster: 'nobody', user: 'nobody' } }],
  'current-context': 'nobody',
})

/**
 * How far a probe takes a kubelet.
 *
 * - `to-kubeconfig`: the load stage.
 * - `to-runtime`: up to 1.27, until it needs its container runtime, as almost the last thing.
 * - `not-far`: 1.28 and 1.29 ask the runtime for its cgroup driver before they parse reservations,
 *   eviction signals and cgroups (`run`, cmd/kubelet/app/server.go), so they find no more in a
 *   config than in the load stage. They name the path of its socket as the authority of their
 *   requests, which HTTP/2 of Node.js refuses: nothing can stand in for the runtime.
 * - `beside-runtime`: from 1.30 on, `stand-in.ts` answers for the runtime, and kubelet serves.
 */
export type HowFar = 'to-kubeconfig' | 'to-runtime' | 'not-far' | 'beside-runtime'

const ASKS_RUNTIME_FIRST = 28
const NAMES_PLAIN_AUTHORITY = 30

export function howFar(stage: JudgeStage, { minor }: Pick<KubeletVersion, 'minor'>): HowFar {
  if (stage === 'load') return 'to-kubeconfig'
  if (minor < ASKS_RUNTIME_FIRST) return 'to-runtime'
  return minor < NAMES_PLAIN_AUTHORITY ? 'not-far' : 'beside-runtime'
}

/** A line by itself: kubelet has done all that it does before its container runtime is ready. */
export const WAITS_FOR_RUNTIME = 'kubelet waits for its container runtime'

/** @param version undefined: not known */
function findsMoreAtStart(version: KubeletVersion | undefined): boolean {
  return version === undefined || howFar('deep', version) !== 'not-far'
}

/**
 * Asks kubelet about a config before the other parts of preflight have read it. The parts then ask
 * the same, and share the probe.
 */
export interface EarlyQuestion {
  readonly deep: InspectOptions['deep']
  readonly version: KubeletVersion | undefined
  readonly dropIns: DropInsHere | undefined
}

/** Resolves when the probes have ended. Never rejects. */
export async function askEarly(
  judge: Judge,
  request: Omit<JudgeRequest, 'stage' | 'others' | 'signal'>,
  { deep, version, dropIns }: EarlyQuestion,
  signal: AbortSignal,
): Promise<void> {
  // A config that becomes a drop-in is probed as what is merged of it, which is not known yet.
  if (dropIns?.kind === 'usable' && dropIns.order.base !== undefined) return
  const { binary, flags, incomplete, ownEnvironment, files, key } = request
  const stages = isStartAsked(deep, version) ? (['load', 'deep'] as const) : (['load'] as const)
  await Promise.all(
    stages.map((stage) => judge.judge({ binary, flags, incomplete, ownEnvironment, files, key, stage, others: dropIns, signal })),
  )
}

/** Whether the part `kubelet-start` asks. A person who demands it gets it from every kubelet. */
export function isStartAsked(deep: InspectOptions['deep'], version: KubeletVersion | undefined): boolean {
  return deep === 'demanded' || (deep === 'if-possible' && findsMoreAtStart(version))
}
