/**
 * Asks a port of kubelet, and says who holds it. Any account can listen at a port that kubelet does
 * not have yet, and answer in its place. Pure but for its ports.
 *
 * A look at who holds the port takes some milliseconds, since the kernel goes through its table of
 * connections. So a process that is known to have the port is believed as long as it answers well:
 * a server gives up its port only when it ends.
 */
import { isDeepStrictEqual } from 'node:util'
import type { HealthTarget, PortHolder, PortHolders } from '../ports/probes.ts'

export interface PortAnswer {
  /** `refused`: nobody listens there, as the kernel says itself. */
  readonly kind: 'good' | 'bad' | 'refused'
}

interface Held<T> {
  readonly answer: T
  readonly holder: PortHolder
}

const NOBODY: PortHolder = { kind: 'unseen', detail: 'nobody listens there' }

export class HeldPort {
  readonly #holders: PortHolders
  #known: { readonly target: HealthTarget; readonly pid: number; readonly holder: PortHolder } | undefined

  constructor(holders: PortHolders) {
    this.#holders = holders
  }

  async ask<T extends PortAnswer>(target: HealthTarget, pid: number, ask: () => Promise<T>): Promise<Held<T>> {
    const known = this.#known?.pid === pid && isDeepStrictEqual(this.#known.target, target) ? this.#known.holder : undefined
    const answer = await ask()
    if (answer.kind === 'refused') return { answer, holder: this.#note(target, pid, NOBODY) }
    if (answer.kind === 'good' && known !== undefined) return { answer, holder: known }
    const holder = this.#note(target, pid, this.#holders.holderOf(target, pid))
    if (answer.kind === 'bad' || !isKubelets(holder)) return { answer, holder }
    // Whoever answered may have made way for kubelet since. A socket that is there at two looks was
    // there in between.
    const again = await ask()
    const after = this.#note(target, pid, this.#holders.holderOf(target, pid))
    if (after.kind === 'stranger' || isDeepStrictEqual(holder, after)) return { answer: again, holder: after }
    return { answer: again, holder: this.#note(target, pid, { kind: 'unseen', detail: 'it changes hands' }) }
  }

  #note(target: HealthTarget, pid: number, holder: PortHolder): PortHolder {
    this.#known = isKubelets(holder) ? { target, pid, holder } : undefined
    return holder
  }
}

/** As far as the system says. */
function isKubelets({ kind }: PortHolder): boolean {
  return kind === 'own' || kind === 'untold'
}

export function describeStranger({ host, port }: HealthTarget, uid: number): string {
  return `a process of uid ${uid}, which is not kubelet, has port ${port} of ${host}`
}
