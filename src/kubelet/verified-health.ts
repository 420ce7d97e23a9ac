// SPDX-License-Identifier: Apache-2.0
/**
 * kubelet's health, as far as it is kubelet that answers. The answer of a stranger at the port, or
 * its silence, tells nothing of kubelet. Pure but for its ports.
 */

import { isDeepStrictEqual } from 'node:util'
import type { HealthAnswer } from '../health/sample.ts'
import type { Clock } from '../ports/clock.ts'
import type { HealthProbe, HealthTarget, PortHolder, PortHolders } from '../ports/probes.ts'

/** The answer of a port, whoever has it. */
export interface PortHealth {
  readonly ok: boolean
  readonly detail: string
  /** Why there was no connection. Absent: there was one. */
  readonly unreached?: 'refused' | 'other'
}

interface PortProbe {
  healthz(target: HealthTarget): Promise<PortHealth>
}

export class VerifiedHealthProbe implements HealthProbe {
  readonly #probe: PortProbe
  readonly #port: HeldPort

  constructor(probe: PortProbe, holders: PortHolders, clock: Clock) {
    this.#probe = probe
    this.#port = new HeldPort(holders, clock)
  }

  async healthz(target: HealthTarget, pid: number): Promise<NonNullable<HealthAnswer>> {
    const { answer, holder } = await this.#port.ask(target, pid, async () => classify(await this.#probe.healthz(target)))
    const { ok, detail, unreached } = answer
    switch (holder.kind) {
      case 'own':
        return { ok, detail }
      case 'untold':
        return { ok, detail, unverified: holder.detail }
      case 'stranger':
        return { ok: 'unknown', detail: describeStranger(target, holder.uid), isStrangers: true }
      case 'unseen':
        if (unreached !== undefined) return { ok: false, detail }
        return { ok: 'unknown', detail: `it is not known who answers at port ${target.port} of ${target.host}: ${holder.detail}` }
    }
  }
}

function classify(health: PortHealth): PortHealth & PortAnswer {
  return { ...health, kind: health.ok ? 'good' : health.unreached === 'refused' ? 'refused' : 'bad' }
}

/**
 * Asks a port of kubelet, and says who holds it. Any account can listen at a port that kubelet does
 * not have yet, and answer in its place.
 *
 * A look at who holds the port takes some milliseconds, since the kernel goes through its table of
 * connections. So a kubelet that is known to have the port is believed as long as it answers well:
 * a server gives up its port only when it ends. Another holder is looked at again after some time.
 */
interface PortAnswer {
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
