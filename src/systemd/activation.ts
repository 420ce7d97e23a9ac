/** The two kinds of activation behind one port: which one serves is a matter of the unit, and so of the wiring that each call brings. */

import { FileError } from '../checkpoint/file-error.ts'
import type { ConfigSource } from '../decision/config-source.ts'
import type { ReadyWiring } from '../decision/unit-state.ts'
import type { Activation, ActivationState } from '../ports/activation.ts'
import type { EnvActivation } from './env-activation.ts'
import type { FileActivation } from './file-activation.ts'

export class UnitActivation implements Activation {
  readonly #env: EnvActivation
  readonly #file: FileActivation

  constructor(env: EnvActivation, file: FileActivation) {
    this.#env = env
    this.#file = file
  }

  /** What cannot be read is unknown, and no reason to stop looking at the rest. */
  read(wiring: ReadyWiring): ActivationState {
    try {
      return wiring.activation === 'env' ? this.#env.read(wiring) : this.#file.read(wiring)
    } catch (cause) {
      if (cause instanceof FileError) return { kind: 'unknown', detail: cause.message }
      throw cause
    }
  }

  /** See FileActivation. */
  replacedFiles(): readonly string[] {
    return this.#file.replacedFiles()
  }

  stage(fallback: ConfigSource, wiring: ReadyWiring): void {
    if (wiring.activation === 'env') this.#env.stage(fallback, wiring)
    else this.#file.stage(fallback, wiring)
  }

  activate(target: ConfigSource, wiring: ReadyWiring): void {
    if (wiring.activation === 'env') this.#env.activate(target, wiring)
    else this.#file.activate(target, wiring)
  }
}
