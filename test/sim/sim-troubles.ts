// SPDX-License-Identifier: Apache-2.0
/**
 * Troubles of a simulated node that no config causes, and that pass: the pod network is away, pods
 * are evicted, the API server answers 429, the agent gets no CPU, kubelet's identity differs at
 * each start.
 */

const KINDS = ['not-ready', 'api-busy', 'starved', 'identity-varies'] as const
export type Trouble = (typeof KINDS)[number]

/** Reasons with which kubelet fails pods, and their messages. */
export const EVICTIONS = [
  ['Evicted', 'The node was low on resource: memory. '],
  ['UnexpectedAdmissionError', 'Allocate failed due to no healthy devices present; cannot allocate unhealthy devices example.com/gpu'],
  ['NodeAffinity', 'Predicate NodeAffinity failed'],
] as const
export type Eviction = (typeof EVICTIONS)[number]

/** How late an agent looks that gets no CPU, as under a config that reserves it for others. */
export const STARVED_US = 65e6

export class SimTroubles {
  readonly #nowUs: () => number
  readonly #untilUs = new Map<Trouble, number>()
  readonly evictions: Eviction[] = []

  constructor(nowUs: () => number) {
    this.#nowUs = nowUs
  }

  begin(trouble: Trouble, seconds: number): void {
    this.#untilUs.set(trouble, this.#nowUs() + seconds * 1e6)
  }

  has(trouble: Trouble): boolean {
    return this.#nowUs() < (this.#untilUs.get(trouble) ?? 0)
  }

  endUs(trouble: Trouble): number {
    return this.#untilUs.get(trouble) ?? Number.NEGATIVE_INFINITY
  }

  /** The clock starts anew. */
  end(): void {
    this.#untilUs.clear()
  }
}
