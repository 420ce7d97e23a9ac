/**
 * Asks a port of kubelet, and says who holds it. Any account can listen at a port that kubelet does
 * not have yet, and answer in its place. Pure but for its ports.
 *
 * A look at who holds the port takes some milliseconds, since the kernel goes through its table of
 * connections. So a kubelet that is known to have the port is believed as long as it answers well:
 * a server gives up its port only when it ends. Another holder is looked at again after some time.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../ports/clock.ts'
import type { HealthTarget, PortHolder, PortHolders } from '../ports/probes.ts'

export interface PortAnswer {
  /** `refused`: nobody listens there, as the kernel says itself. */
  readonly kind: 'good' | 'bad' | 'refused'
}

interface Held<T> {
  readonly answer: T
  readonly holder: PortHolder
}

const AGAIN_US = 10e6

export class HeldPort {
  readonly #holders: PortHolders
  readonly #clock: Clock
  #known: { readonly of: readonly [HealthTarget, number]; readonly holder: PortHolder; readonly atUs: number } | undefined

  constructor(holders: PortHolders, clock: Clock) {
    this.#holders = holders
    this.#clock = clock
  }

  async ask<T extends PortAnswer>(target: HealthTarget, pid: number, ask: () => Promise<T>): Promise<Held<T>> {
    const known = this.#recall(target, pid)
    const answer = await ask()
    if (answer.kind === 'refused') {
      // Who has a port that refuses may open it, or give it up, at any time.
      this.#known = undefined
      return { answer, holder: await this.#holders.keeperOf(target, pid) }
    }
    if (known !== undefined && (answer.kind === 'good' || known.kind !== 'own')) return { answer, holder: known }
    const holder = this.#note(target, pid, this.#holders.holderOf(target, pid))
    if (answer.kind === 'bad' || holder.kind !== 'own') return { answer, holder }
    // Whoever answered may have made way for kubelet since. A socket that is there at two looks was
    // there in between.
    const again = await ask()
    const after = this.#note(target, pid, this.#holders.holderOf(target, pid))
    if (after.kind === 'stranger' || isDeepStrictEqual(holder, after)) return { answer: again, holder: after }
    return { answer: again, holder: this.#note(target, pid, { kind: 'unseen', detail: 'it changes hands' }) }
  }

  #recall(target: HealthTarget, pid: number): PortHolder | undefined {
    if (this.#known === undefined || !isDeepStrictEqual(this.#known.of, [target, pid])) return undefined
    const { holder, atUs } = this.#known
    return holder.kind === 'own' || this.#clock.now().monotonicUs - atUs < AGAIN_US ? holder : undefined
  }

  /** A port that nobody has may be opened at any time. */
  #note(target: HealthTarget, pid: number, holder: PortHolder): PortHolder {
    this.#known = holder.kind === 'unseen' ? undefined : { of: [target, pid], holder, atUs: this.#clock.now().monotonicUs }
    return holder
  }
}

export function describeStranger({ host, port }: HealthTarget, uid: number | undefined): string {
  return uid === undefined
    ? `a process that does not listen there has port ${port} of ${host}, so that kubelet cannot`
    : `a process of uid ${uid}, which is not kubelet, has port ${port} of ${host}`
}
