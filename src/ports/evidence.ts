// SPDX-License-Identifier: Apache-2.0
/**
 * The port that asks for evidence about the running kubelet. Adapter:
 * `src/evidence/worker.ts`.
 */
import type { Answers, Fact, Question } from '../evidence/kinds.ts'
import type { HealthTarget } from './probes.ts'

/** Never throws. Questions are asked in the background. */
export interface EvidenceProbe {
  /**
   * A question that is still being asked is not asked again. An answer that changes something wakes
   * the loop.
   */
  ask(questions: readonly Question[], about: EvidenceSubject): void
  /** Waits until nothing is being asked, for at most so long. */
  answered(limitMs: number): Promise<void>
  /**
   * CLOCK_MONOTONIC of when this agent began to ask. A question of an earlier agent is answered to
   * nobody.
   */
  asksSinceUs(): number
  /** The answers since the last call. */
  take(): readonly Fact[]
  /** Writes to the Node again, although nothing changed, to learn whether that is possible. */
  write(): void
  /** CLOCK_MONOTONIC of the last write to the Node that succeeded. */
  writtenAtUs(): number | undefined
}

/** Where the running kubelet can be asked. */
export interface EvidenceSubject {
  /** InvocationID of kubelet. */
  readonly invocationId: string
  /** The TLS port, and the process of kubelet. undefined: kubelet has none. */
  readonly serving: (HealthTarget & { readonly pid: number }) | undefined
  /** The socket of the container runtime. undefined: not known. */
  readonly runtimeSocket: string | undefined
  /** The paths that kubelet reads static pods from: a directory, or files. */
  readonly manifests: readonly string[]
}

/** Who answers each question. */
export type Askers = { readonly [Q in Question]: (about: EvidenceSubject) => Promise<Answers[Q]> }
