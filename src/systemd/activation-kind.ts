// SPDX-License-Identifier: Apache-2.0
/**
 * The parts of a kind of activation: functions that find its wiring in a unit, and a class that
 * implements the port.
 */

import type { Activation } from '../ports/activation.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { UnitState, Wiring } from '../subject/unit-state.ts'
import type { FileOwnership } from './file-ownership.ts'
import type { WirableUnit } from './unit-definition.ts'

export interface ActivationEntry {
  /** Whether the setting `auto` selects this kind for the unit. */
  suits(unit: WirableUnit): boolean
  /**
   * The facts about the unit that activation needs, or the reason why the unit would not use a
   * config that is activated in this way.
   */
  findWiring(unit: WirableUnit): Wiring
  open(parts: ActivationParts): KindOfActivation
}

export interface KindOfActivation extends Activation {
  /** The files in which this kind has put a config, or may have, as far as its own records tell. */
  listInPlace(): readonly InPlace[]
}

export interface InPlace {
  readonly path: string
  /** Why it cannot be told whether the config is the agent's. undefined: it is. */
  readonly fault: Error | undefined
}

export interface ActivationParts {
  readonly files: Files
  readonly ownership: FileOwnership
  readonly clock: Clock
  readonly dynamicConfigDir: string
  /** Absolute path of kubelet.env. */
  readonly envFile: string
  readonly runtimeDir: string
}

/** The records of the agent say where its configs are, also without the unit. */
export const NOT_ASKED: UnitState = { kind: 'unknown', detail: 'not asked' }
