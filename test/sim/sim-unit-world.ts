// SPDX-License-Identifier: Apache-2.0
/** The parts of its node that a simulated unit needs. */
import type { Layout } from '../../src/checkpoint/layout.ts'
import type { ReadyWiring } from '../../src/subject/unit-state.ts'
import type { SimProcess } from './behaviour.ts'
import type { NodeKind } from './node-kind.ts'
import type { Random } from './random.ts'

export interface SimUnitWorld {
  nowUs(): number
  /** The file that kubelet's `--config` names at its next start. */
  nextConfigPath(): string
  readText(path: string): string | undefined
  /** As kubelet does: nothing of the agent fails by it. */
  writeText(path: string, text: string): void
  /** Last-known-good. undefined: that is local. */
  fallbackText(): string | undefined
  /** As far as the records say: they may have been lost. */
  isNothingAssigned(): boolean
  readonly kind: NodeKind
  /** Of the signals alone. */
  readonly random: Random
  readonly layout: Layout
  readonly localPath: string
  readonly wiring: ReadyWiring
  /** A look of the agent has fallen into this invocation of the unit. */
  isSeen(invocationId: string): boolean
  /** Each start has another identity, as by a wrapper that writes a file which names it. */
  hasVaryingIdentity(): boolean
  /** Called before the effect: the simulation counts commands, and may crash here. */
  onRestart(): void
  /** kubelet ends or dies with this config, which is not the cause. */
  onVictim(text: string): void
  /**
   * Called when the state that a config left on the node keeps kubelet from starting with this one.
   */
  onLeavings(text: string): void
  onCommand(): void
  /** kubelet has started. */
  onStarted(process: SimProcess): void
  /** kubelet has exited by itself. `said`: its last words, if it had any. */
  onExited(process: SimProcess, said: string | undefined): void
  /** The agent hears that something happened to the unit. */
  onHint(): void
}
