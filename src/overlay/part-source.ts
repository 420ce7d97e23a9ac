/**
 * An assignment source whose parts are merged over the local config. Pure: what parses YAML, the
 * clock and the timer are passed in. The local config must stay the same for a while before it
 * counts: the first half of a YAML file is often valid YAML, and kubeadm writes it in place.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ConfigMapData } from '../decision/config-source.ts'
import type { Desired } from '../decision/desired.ts'
import type { AssignmentSource, ReadLocalConfig } from '../ports/assignment-source.ts'
import type { Log } from '../ports/log.ts'
import { applyPart } from './apply-part.ts'
import type { BaseTexts, PartResult } from './merge-part.ts'
import { SettledLocal, type SettlePace } from './settled-local.ts'
import { whileWaiting } from './while-waiting.ts'

export interface PartSourceDeps {
  readonly merge: (base: BaseTexts, data: ConfigMapData, key: string) => Promise<PartResult>
  readonly pace: SettlePace
  readonly log: Log
}

interface Merging {
  readonly bases: BaseTexts
  readonly data: ConfigMapData
  readonly key: string
  /** undefined: under way. */
  result: PartResult | undefined
}

export class PartSource implements AssignmentSource {
  readonly #inner: AssignmentSource
  readonly #deps: PartSourceDeps
  readonly #local: SettledLocal
  #onChange: () => void = () => {}
  /** Of the arguments that were asked for last: they change rarely. */
  #merging: Merging | undefined
  /** The latest result that was known, with each pause that was heard since. */
  #applied: Desired | undefined
  #loggedFault = ''

  constructor(inner: AssignmentSource, deps: PartSourceDeps) {
    this.#inner = inner
    this.#deps = deps
    this.#local = new SettledLocal(deps.pace, () => this.#onChange())
  }

  /** While the answer is not known, it is as if the change had not arrived yet. */
  desired(readLocal: ReadLocalConfig): Desired {
    const applied = applyPart(
      this.#inner.desired(readLocal),
      () => this.#local.settle(readLocal()),
      (bases, data, key) => this.#merge(bases, data, key),
    )
    const isWaiting = applied.kind === 'waiting'
    this.#applied = isWaiting ? whileWaiting(applied.desired, this.#applied) : applied.desired
    if (!isWaiting) this.#logFault(applied.kind === 'faulty' ? applied.detail : '')
    return this.#applied
  }

  #merge(bases: BaseTexts, data: ConfigMapData, key: string): PartResult | undefined {
    const before = this.#merging
    if (before !== undefined && before.data === data && before.key === key && isDeepStrictEqual(before.bases, bases)) return before.result
    const merging: Merging = { bases, data, key, result: undefined }
    this.#merging = merging
    void this.#start(merging)
    return undefined
  }

  async #start(merging: Merging): Promise<void> {
    try {
      merging.result = await this.#deps.merge(merging.bases, merging.data, merging.key)
      this.#onChange()
    } catch (error) {
      // The next look tries again: the agent's package may be in the middle of an upgrade.
      if (this.#merging === merging) this.#merging = undefined
      this.#deps.log.error('cannot parse the assigned part now; trying again shortly', { error })
    }
  }

  /**
   * Logs each fault once, although it is met again at every look.
   * @param detail empty: no fault
   */
  #logFault(detail: string): void {
    if (detail !== '' && detail !== this.#loggedFault)
      this.#deps.log.error(`the assigned part cannot be merged over its base; nothing is changed: ${detail}`)
    this.#loggedFault = detail
  }

  start(onChange: () => void): void {
    this.#onChange = onChange
    this.#inner.start(onChange)
  }

  async stop(): Promise<void> {
    await Promise.all([this.#local.stop(), this.#inner.stop()])
  }
}
