/**
 * The container runtimes of a simulated node: the one that it has, and one that a config may name.
 */
import { type Behaviour, behaviourOf, NEVER } from './behaviour.ts'

export const CONTAINERD = 'unix:///run/containerd/containerd.sock'
const CRIO = 'unix:///run/crio/crio.sock'
const DEAD = 'unix:///run/dead.sock'

/**
 * `killer`: it dies soon after kubelet starts with such a config, and comes back after it is gone.
 */
const DIES_AFTER_US = 5e6
const BACK_AFTER_US = 10e6

export class SimRuntime {
  readonly #nowUs: () => number
  #downUntilUs = 0
  #killedFromUs = NEVER
  #killedUntilUs = 0
  #text: string | undefined
  #isNew = false

  constructor(nowUs: () => number) {
    this.#nowUs = nowUs
  }

  /** Something other than a config took it down. */
  get isFaulty(): boolean {
    return this.#nowUs() < this.#downUntilUs
  }

  /** A config took it down. */
  get isKilled(): boolean {
    return this.#nowUs() >= this.#killedFromUs && this.#nowUs() < this.#killedUntilUs
  }

  isUp(endpoint: string): boolean {
    const socket = endpoint.replace(/^unix:\/\//, '')
    if (!CONTAINERD.endsWith(socket)) return CRIO.endsWith(socket)
    return !this.isFaulty && !this.isKilled
  }

  endpointOf(text: string): string {
    return runtimeEndpointOf(text) ?? CONTAINERD
  }

  /** The config that kubelet was started with last has moved it to the runtime of this node. */
  get isNewlyUsed(): boolean {
    return this.#isNew && this.#text !== undefined && this.endpointOf(this.#text) === CONTAINERD
  }

  goDown(seconds: number): void {
    this.#downUntilUs = this.#nowUs() + seconds * 1e6
  }

  repair(): void {
    this.#downUntilUs = 0
    this.#killedUntilUs = 0
  }

  kubeletStarted(text: string): void {
    if (text !== this.#text) this.#isNew = this.#text !== undefined && this.endpointOf(text) !== this.endpointOf(this.#text)
    this.#text = text
    if (behaviourOf(text) !== 'kills-runtime') {
      this.#killedUntilUs = Math.min(this.#killedUntilUs, this.#nowUs() + BACK_AFTER_US)
      return
    }
    if (this.#nowUs() >= this.#killedUntilUs) this.#killedFromUs = this.#nowUs() + DIES_AFTER_US
    this.#killedUntilUs = NEVER
  }
}

/** undefined: the config names none, and kubelet takes the default. */
export function runtimeEndpointOf(text: string): string | undefined {
  const named: Partial<Record<Behaviour, string>> = { 'moves-runtime': CRIO, 'moves-to-dead-runtime': DEAD }
  return named[behaviourOf(text)]
}
