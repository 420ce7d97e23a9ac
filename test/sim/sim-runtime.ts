// SPDX-License-Identifier: Apache-2.0
/**
 * The container runtimes of a simulated node: the one that it has, and one that a config may name.
 */
import { RUNTIME_EXCUSE_US } from '../../src/health/excuse.ts'
import { type Behaviour, behaviourOf, NEVER } from './behaviour.ts'

export const CONTAINERD = 'unix:///run/containerd/containerd.sock'
const CRIO = 'unix:///run/crio/crio.sock'
const DEAD = 'unix:///run/dead.sock'

/**
 * `killer`: it dies soon after kubelet starts with such a config, and comes back after it is gone.
 */
const DIES_AFTER_US = 5e6
const BACK_AFTER_US = 10e6
/** As long as the agent waits for one answer. */
const CALL_US = 10e6

interface Question {
  readonly atUs: number
  readonly answer: () => void
}

export class SimRuntime {
  readonly #nowUs: () => number
  #downFromUs = 0
  #downUntilUs = 0
  /** When a look of the agent last found that it answers, or found no need to ask. */
  #seenUpUs = 0
  /** The runtime accepts connections, and never answers. */
  #hangs = false
  /** Questions to which no answer has come yet, of the agent that runs. */
  #questions: readonly Question[] = []
  #asker = Symbol()
  #killedFromUs = NEVER
  #killedUntilUs = 0
  #killer: string | undefined
  #text: string | undefined
  #isNew = false

  constructor(nowUs: () => number) {
    this.#nowUs = nowUs
  }

  /** Something other than a config took it down. */
  get isFaulty(): boolean {
    return this.#nowUs() < this.#downUntilUs
  }

  /**
   * From when until when something other than a config keeps it down, or did so last. Two times
   * without a look in between are one: nobody can tell them apart.
   */
  get latestFault(): { readonly fromUs: number; readonly untilUs: number } {
    return { fromUs: this.#downFromUs, untilUs: this.#downUntilUs }
  }

  /** When it last came back, after a fault or after a config had taken it down. 0: it never did. */
  get backUs(): number {
    return Math.max(...[this.#downUntilUs, this.#killedUntilUs].filter((us) => us <= this.#nowUs()), 0)
  }

  /** A config took it down. */
  get isKilled(): boolean {
    return this.#nowUs() >= this.#killedFromUs && this.#nowUs() < this.#killedUntilUs
  }

  /** The config that keeps it down, or whose kubelet went a moment ago. undefined: none does. */
  get killer(): string | undefined {
    return this.isKilled ? this.#killer : undefined
  }

  isUp(endpoint: string): boolean {
    const socket = endpoint.replace(/^unix:\/\//, '')
    if (!CONTAINERD.endsWith(socket)) return CRIO.endsWith(socket)
    return !this.isFaulty && !this.isKilled
  }

  /** The config names the runtime of this node. */
  isUsedBy(text: string): boolean {
    return this.endpointOf(text) === CONTAINERD
  }

  /** Until when it hangs. undefined: it does not. */
  get hangsUntilUs(): number | undefined {
    return this.#hangs && this.isFaulty ? this.#downUntilUs : undefined
  }

  /** @returns whether it answers. Where it hangs, that takes as long as one may wait for it. */
  ask(endpoint: string): boolean | Promise<boolean> {
    const isHanging = this.hangsUntilUs !== undefined && endpoint === CONTAINERD.replace(/^unix:\/\//, '')
    if (!isHanging || this.isKilled) return this.isUp(endpoint)
    const atUs = Math.min(this.#nowUs() + CALL_US, this.#downUntilUs)
    return new Promise((resolve) => {
      this.#questions = [...this.#questions, { atUs, answer: () => resolve(this.isUp(endpoint)) }]
    })
  }

  /** The agent that asks: another one is not equal to it. */
  get asker(): symbol {
    return this.#asker
  }

  /** An agent starts. What the last one asked is answered to nobody. */
  agentStarted(): void {
    this.#asker = Symbol()
    this.#questions = []
  }

  get isAsked(): boolean {
    return this.#questions.length > 0
  }

  nextUs(): number {
    return Math.min(NEVER, ...this.#questions.map(({ atUs }) => atUs))
  }

  /** Answers what is due. */
  advance(): void {
    const nowUs = this.#nowUs()
    const due = this.#questions.filter(({ atUs }) => nowUs >= atUs)
    if (due.length === 0) return
    this.#questions = this.#questions.filter(({ atUs }) => nowUs < atUs)
    for (const { answer } of due) answer()
  }

  endpointOf(text: string): string {
    return runtimeEndpointOf(text) ?? CONTAINERD
  }

  /** The config that kubelet was started with last has moved it to another runtime. */
  get isMoved(): boolean {
    return this.#isNew
  }

  /** The same, to the runtime of this node. */
  get isNewlyUsed(): boolean {
    return this.#isNew && this.#text !== undefined && this.isUsedBy(this.#text)
  }

  /**
   * Whether a fault of the runtime may be charged to this config: it lasts longer than it excuses
   * kubelet, or the config moved kubelet to it, from another one or from that of the fallback.
   */
  isBlamedOn(text: string, fallback: string | undefined): boolean {
    if (!this.isFaulty || !this.isUsedBy(text)) return false
    const isMoved = this.isNewlyUsed || (fallback !== undefined && !this.isUsedBy(fallback))
    return isMoved || this.#downUntilUs - this.#downFromUs >= RUNTIME_EXCUSE_US
  }

  seenUp(): void {
    this.#seenUpUs = this.#nowUs()
  }

  goDown(seconds: number, hangs: boolean): void {
    if (!this.isFaulty && this.#seenUpUs >= this.#downUntilUs) this.#downFromUs = this.#nowUs()
    this.#hangs = hangs
    this.#downUntilUs = this.#nowUs() + seconds * 1e6
  }

  /** A runtime that a config keeps down stays down. */
  endFault(): void {
    this.#downUntilUs = Math.min(this.#downUntilUs, this.#nowUs())
    this.#questions = this.#questions.map((question) => ({ ...question, atUs: this.#nowUs() }))
  }

  repair(): void {
    this.#downUntilUs = 0
    this.#seenUpUs = 0
    this.#killedUntilUs = 0
    // Who asked is gone.
    this.#questions = []
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
    this.#killer = text
  }
}

/** undefined: the config names none, and kubelet takes the default. */
export function runtimeEndpointOf(text: string): string | undefined {
  const named: Partial<Record<Behaviour, string>> = { 'moves-runtime': CRIO, 'moves-to-dead-runtime': DEAD }
  return named[behaviourOf(text)]
}
