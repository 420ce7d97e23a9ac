/**
 * kubelet's health, as far as it is kubelet that answers. What a stranger at the port says, or that
 * it does not answer, tells nothing of kubelet. Pure but for its ports.
 */
import type { HealthAnswer } from '../decision/health.ts'
import type { Clock } from '../ports/clock.ts'
import type { HealthProbe, HealthTarget, PortHolders } from '../ports/probes.ts'
import { describeStranger, HeldPort, type PortAnswer } from './held-port.ts'

/** The answer of a port, whoever has it. */
export interface PortHealth {
  readonly ok: boolean
  readonly detail: string
  /** There was no connection. */
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
