/**
 * All kinds of activation behind one port: the wiring that is passed to each call selects one.
 *
 * After the operator has selected another kind, the config of the former one is still in place:
 * kubelet merges it with each later one, or it looks like the local config. So what kubelet starts
 * with is unknown until the next activation, which withdraws the former one.
 */
import { normalize } from 'node:path'
import { FileError } from '../checkpoint/file-error.ts'
import type { ConfigSource } from '../decision/config-source.ts'
import type { ActivationKind, ReadyWiring, UnitState } from '../decision/unit-state.ts'
import type { Activation, ActivationState, OnWithdrawn, Withdrawal } from '../ports/activation.ts'
import { type ActivationParts, type KindOfActivation, NOT_ASKED } from './activation-kind.ts'
import { openActivations } from './activation-kinds.ts'
import { fileWiring } from './file-wiring.ts'

export class UnitActivation implements Activation {
  readonly #kinds: Readonly<Record<ActivationKind, KindOfActivation>>

  constructor(parts: ActivationParts) {
    this.#kinds = openActivations(parts)
  }

  /**
   * An unreadable file makes the state unknown; it must not keep the agent from observing the rest.
   */
  read(wiring: ReadyWiring): ActivationState {
    try {
      const state = this.#kinds[wiring.activation].read(wiring)
      const [former] = state.kind === 'unknown' ? [] : this.#others(wiring).flatMap((kind) => kind.listInPlace())
      return former === undefined ? state : { kind: 'unknown', detail: describeFormer(former, wiring) }
    } catch (cause) {
      if (cause instanceof FileError) return { kind: 'unknown', detail: cause.message }
      throw cause
    }
  }

  readLocal(wiring: ReadyWiring, localConfigPath: string): Buffer | undefined {
    const { [wiring.activation]: own, file } = this.#kinds
    const path = normalize(localConfigPath)
    const isReplaced = file.listInPlace().includes(path)
    return isReplaced ? file.readLocal(fileWiring(path), path) : own.readLocal(wiring, localConfigPath)
  }

  stage(fallback: ConfigSource, wiring: ReadyWiring): void {
    this.#kinds[wiring.activation].stage(fallback, wiring)
  }

  activate(target: ConfigSource, wiring: ReadyWiring, isRewording?: boolean): void {
    this.#kinds[wiring.activation].activate(target, wiring, isRewording)
    // Last, so that a crash before it leaves the former config and not none.
    withdrawEach(this.#others(wiring), 'everything', NOT_ASKED, () => {})
  }

  findOutside(unit: UnitState): readonly string[] {
    return Object.values(this.#kinds).flatMap((kind) => kind.findOutside(unit))
  }

  withdraw(extent: Withdrawal, unit: UnitState, onWithdrawn: OnWithdrawn): void {
    withdrawEach(Object.values(this.#kinds), extent, unit, onWithdrawn)
  }

  #others({ activation }: ReadyWiring): readonly KindOfActivation[] {
    return Object.values(this.#kinds).filter((kind) => kind !== this.#kinds[activation])
  }
}

/** One that cannot be withdrawn keeps no other in place. */
function withdrawEach(kinds: readonly KindOfActivation[], extent: Withdrawal, unit: UnitState, onWithdrawn: OnWithdrawn): void {
  const errors: unknown[] = []
  for (const kind of kinds) {
    try {
      kind.withdraw(extent, unit, onWithdrawn)
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}

function describeFormer(path: string, { activation }: ReadyWiring): string {
  return `${path} may still hold a config from before activation was ${activation}: the next activation takes it away`
}
