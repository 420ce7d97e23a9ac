/** What a kind of activation consists of: how it recognises a unit, and an object that does the work of the port. */
import type { Wiring } from '../decision/unit-state.ts'
import type { Activation } from '../ports/activation.ts'
import type { Clock } from '../ports/clock.ts'
import type { Files } from '../ports/files.ts'
import type { FileOwnership } from './file-ownership.ts'
import type { WirableUnit } from './unit-definition.ts'

export interface ActivationEntry {
  /** Whether the choice `auto` means this kind for the unit. */
  suits(unit: WirableUnit): boolean
  /** What activation has to know of the unit, or why the unit would not use what is activated this way. */
  findWiring(unit: WirableUnit): Wiring
  open(parts: ActivationParts): Activation
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
