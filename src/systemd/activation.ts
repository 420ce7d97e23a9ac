/**
 * All kinds of activation behind one port: the wiring that is passed to each call selects one.
 */
import { FileError } from '../checkpoint/file-error.ts'
import type { ConfigSource } from '../decision/config-source.ts'
import type { ActivationKind, ReadyWiring, UnitState } from '../decision/unit-state.ts'
import type { Activation, ActivationState, OnWithdrawn, Withdrawal } from '../ports/activation.ts'
import type { ActivationParts } from './activation-kind.ts'
import { openActivations } from './activation-kinds.ts'

export class UnitActivation implements Activation {
  readonly #kinds: Readonly<Record<ActivationKind, Activation>>

  constructor(parts: ActivationParts) {
    this.#kinds = openActivations(parts)
  }

  /**
   * An unreadable file makes the state unknown; it must not keep the agent from observing the rest.
   */
  read(wiring: ReadyWiring): ActivationState {
    try {
      return this.#kinds[wiring.activation].read(wiring)
    } catch (cause) {
      if (cause instanceof FileError) return { kind: 'unknown', detail: cause.message }
      throw cause
    }
  }

  readLocal(wiring: ReadyWiring, localConfigPath: string): Buffer | undefined {
    return this.#kinds[wiring.activation].readLocal(wiring, localConfigPath)
  }

  stage(fallback: ConfigSource, wiring: ReadyWiring): void {
    this.#kinds[wiring.activation].stage(fallback, wiring)
  }

  activate(target: ConfigSource, wiring: ReadyWiring, isRewording?: boolean): void {
    this.#kinds[wiring.activation].activate(target, wiring, isRewording)
  }

  findOutside(unit: UnitState): readonly string[] {
    return Object.values(this.#kinds).flatMap((kind) => kind.findOutside(unit))
  }

  withdraw(extent: Withdrawal, unit: UnitState, onWithdrawn: OnWithdrawn): void {
    const errors: unknown[] = []
    for (const kind of Object.values(this.#kinds)) {
      try {
        kind.withdraw(extent, unit, onWithdrawn)
      } catch (error) {
        errors.push(error)
      }
    }
    // One that cannot be withdrawn keeps no other in place.
    if (errors.length > 0) throw errors[0]
  }
}
