// SPDX-License-Identifier: Apache-2.0
/**
 * All kinds of activation behind one port: the wiring that is passed to each call selects one.
 *
 * After the operator has selected another kind, the config of the former one is still in place:
 * kubelet merges it with each later one, or it looks like the local config. So while the selected
 * kind has nothing in place, what kubelet starts with is unknown. The next activation withdraws the
 * former config before it puts another in place: nothing could roll that one back.
 *
 * Where the selected kind has something in place, that is what kubelet starts with, and what has to
 * be left if it fails. A config that a former kind left beside it must not stand in the way of
 * that.
 */
import { join, normalize } from 'node:path'
import { FileError } from '../checkpoint/file-error.ts'
import type { Activation, ActivationState, OnWithdrawn, Withdrawal } from '../ports/activation.ts'
import type { Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import type { ConfigSource } from '../subject/config-source.ts'
import type { ActivationKind, ReadyWiring, UnitState } from '../subject/unit-state.ts'
import { codedError, errorCode } from '../values/errors.ts'
import { type ActivationParts, type KindOfActivation, NOT_ASKED } from './activation-kind.ts'
import { openActivations } from './activation-kinds.ts'
import { fileWiring, readyPath } from './wiring-kinds.ts'

/** About as much as a config has. */
const PROBE_BYTES = 64 * 1024

export class UnitActivation implements Activation {
  readonly #kinds: Readonly<Record<ActivationKind, KindOfActivation>>
  readonly #files: Pick<Files, 'replace' | 'remove'>
  readonly #dynamicConfigDir: string
  readonly #log: Pick<Log, 'info' | 'warn'>
  /** The config that is left of a former kind, as the log has it already. */
  #named: string | undefined

  constructor({ log, ...parts }: ActivationParts & { readonly log: Pick<Log, 'info' | 'warn'> }) {
    this.#kinds = openActivations(parts)
    this.#files = parts.files
    this.#dynamicConfigDir = parts.dynamicConfigDir
    this.#log = log
  }

  /**
   * An unreadable file makes the state unknown; it must not keep the agent from observing the rest.
   */
  read(wiring: ReadyWiring): ActivationState {
    const state = this.#readOwn(wiring)
    if (state.kind === 'unknown') return state
    const left = this.#findLeft(wiring)
    if (state.kind === 'local') return left === undefined ? state : { kind: 'unknown', detail: left }
    this.#nameOnce(left)
    return state
  }

  #readOwn(wiring: ReadyWiring): ActivationState {
    try {
      return this.#kinds[wiring.activation].read(wiring)
    } catch (cause) {
      if (cause instanceof FileError) return { kind: 'unknown', detail: cause.message }
      throw cause
    }
  }

  /** @returns what a former kind has left in place, or may have, for a message */
  #findLeft(wiring: ReadyWiring): string | undefined {
    try {
      const [left] = this.#others(wiring).flatMap((kind) => kind.listInPlace())
      return left && (left.fault?.message ?? describeFormer(left.path, wiring))
    } catch (cause) {
      if (cause instanceof FileError) return cause.message
      throw cause
    }
  }

  /** The log gets one line, though the state is read every few seconds. */
  #nameOnce(left: string | undefined): void {
    if (left !== undefined && left !== this.#named) this.#log.warn(`kubelet may use what another kind of activation has left, too: ${left}`)
    this.#named = left
  }

  readLocal(wiring: ReadyWiring, localConfigPath: string): Buffer | undefined {
    const { [wiring.activation]: own, file } = this.#kinds
    const path = normalize(localConfigPath)
    const isReplaced = file.listInPlace().some((each) => each.path === path)
    return isReplaced ? file.readLocal(fileWiring(path), path) : own.readLocal(wiring, localConfigPath)
  }

  stage(fallback: ConfigSource, wiring: ReadyWiring): void {
    this.#kinds[wiring.activation].stage(fallback, wiring)
  }

  activate(target: ConfigSource, wiring: ReadyWiring, isRewording?: boolean, runsIn?: string): void {
    const own = this.#kinds[wiring.activation]
    if (this.#readOwn(wiring).kind === 'local') {
      // First: a failure, or a crash in between, leaves local or the former config, and no new one.
      if (target !== 'local' && this.#findLeft(wiring) !== undefined) this.#checkWritable(wiring)
      this.#withdrawOthers(wiring)
      own.activate(target, wiring, isRewording, runsIn)
      return
    }
    own.activate(target, wiring, isRewording, runsIn)
    try {
      this.#withdrawOthers(wiring)
    } catch (error) {
      // Kubelet would start with what is left, and not with its local config.
      if (errorCode(error) === undefined || target === 'local') throw error
      this.#log.warn('cannot take away what another kind of activation has left; trying again at the next activation', { error })
    }
  }

  /**
   * Throws where no file can be written to activate a config, or to record that. It has to come to
   * light before the config that kubelet starts with is withdrawn.
   */
  #checkWritable({ path }: ReadyWiring): void {
    for (const each of [path, join(this.#dynamicConfigDir, 'probe')]) {
      const probe = readyPath(each, 'new')
      this.#files.replace(probe, Buffer.alloc(PROBE_BYTES))
      this.#files.remove(probe)
    }
  }

  /** Throws where `read` would still find something of them. */
  #withdrawOthers(wiring: ReadyWiring): void {
    const [error] = withdrawEach(this.#others(wiring), 'everything', NOT_ASKED, (path, how) => {
      const what = how === 'removed' ? 'was removed' : 'has its original content again'
      this.#log.info(`${path} ${what}: its config was from before activation was ${wiring.activation}`)
    })
    const [left] = this.#others(wiring).flatMap((kind) => kind.listInPlace())
    // A file that kubelet does not read, such as a staged fallback, may stay.
    if (left !== undefined) throw error ?? left.fault ?? codedError('former-in-place', describeFormer(left.path, wiring))
  }

  findOutside(unit: UnitState): readonly string[] {
    return Object.values(this.#kinds).flatMap((kind) => kind.findOutside(unit))
  }

  withdraw(extent: Withdrawal, unit: UnitState, onWithdrawn: OnWithdrawn): void {
    const [error] = withdrawEach(Object.values(this.#kinds), extent, unit, onWithdrawn)
    if (error !== undefined) throw error
  }

  #others({ activation }: ReadyWiring): readonly KindOfActivation[] {
    return Object.values(this.#kinds).filter((kind) => kind !== this.#kinds[activation])
  }
}

/**
 * One that cannot be withdrawn keeps no other in place.
 * @returns the errors
 */
function withdrawEach(
  kinds: readonly KindOfActivation[],
  extent: Withdrawal,
  unit: UnitState,
  onWithdrawn: OnWithdrawn,
): readonly unknown[] {
  const errors: unknown[] = []
  for (const kind of kinds) {
    try {
      kind.withdraw(extent, unit, onWithdrawn)
    } catch (error) {
      errors.push(error)
    }
  }
  return errors
}

function describeFormer(path: string, { activation }: ReadyWiring): string {
  return `${path} may still hold a config from before activation was ${activation}: the next activation takes it away`
}
