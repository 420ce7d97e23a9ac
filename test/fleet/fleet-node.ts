// SPDX-License-Identifier: Apache-2.0
/**
 * One node of a simulated fleet: its kubelet, its trials, and what its disk remembers. The agent on
 * it is in `fleet-agent.ts`.
 */
import type { ZoneOrder } from '../../src/rollout/plan.ts'
import { SECOND_US } from '../../src/values/durations.ts'
import { type Content, fateOf, TRIAL_US } from './content.ts'
import type { EventQueue } from './event-queue.ts'

export interface Traits {
  readonly name: string
  readonly uid: string
  readonly canary: boolean
  readonly controlPlane: boolean
  /** The node's agent is from before rollouts. */
  readonly old: boolean
  /** How many times as long the node's trials take. */
  readonly slowness: number
  /** The node takes part in no rollout, and writes what it likes. */
  readonly liar: boolean
  readonly joined: boolean
  /** The label of its zone. undefined: it has none. */
  readonly zone?: string | undefined
}

const LOCAL: Content = { hash: 'local', nature: { kind: 'good' } }

interface Verdict {
  readonly reason: string
  readonly retry: number
  /** Whether it halts nothing. undefined: the record has not had it yet. */
  readonly late?: boolean
  /** Its veto was seen to halt the rollout. */
  readonly halted?: boolean
}

export class FleetNode {
  readonly traits: Traits
  readonly #queue: EventQueue
  /** Calls the agent. */
  onChange: () => void = () => undefined
  onDeath: () => void = () => undefined
  /** The config that is assigned to it. */
  config: string | undefined
  /** The config that `runs` is from. */
  runsConfig: string | undefined
  runs: Content = LOCAL
  proven = true
  lastGood: Content = LOCAL
  /** Since `retry` of its plan was raised last. */
  readonly promoted = new Set<string>()
  readonly everPromoted = new Set<string>()
  /** By hash, the generation that brought it here. */
  readonly broughtIn = new Map<string, number>()
  /** Every content that this machine has started. */
  readonly started = new Set<string>()
  readonly verdicts = new Map<string, Verdict>()
  /** Configs that were seen to have a rollout, with the record's name. */
  readonly rollouts = new Map<string, string>()
  /** The hash of which it saw an unfinished generation, since the config was assigned to it. */
  sawUnfinished: string | undefined
  /** The waves and zones of the plan when it first saw this hash with this `retry`. */
  began:
    | { readonly hash: string; readonly retry: number; readonly waves: readonly number[]; readonly zones: ZoneOrder | undefined }
    | undefined
  /** dead: for good. */
  state: 'up' | 'asleep' | 'dead' = 'up'
  /** When the node fails by itself, whatever it started. */
  failsAnyway: (content: Content) => number | undefined = () => undefined
  wasReimaged = false
  /** An administrator or an autoscaler keeps new pods away from it. */
  isCordoned = false
  /** Its Node is gone from the API server. */
  isDeleted = false
  /** Since when it sends no heartbeat. */
  downSinceUs: number | undefined
  /** The Node is NotReady, although kubelet and the agent work. */
  isSick = false
  #trial = 0

  constructor(traits: Traits, queue: EventQueue) {
    this.traits = traits
    this.#queue = queue
  }

  get isUp(): boolean {
    return this.state === 'up'
  }

  /** @param generation of its rollout. undefined: there is none */
  start(config: string, content: Content, retry: number, generation?: number): void {
    this.started.add(content.hash)
    if (generation !== undefined && !this.promoted.has(content.hash)) this.broughtIn.set(content.hash, generation)
    this.runs = content
    this.runsConfig = config
    this.proven = this.promoted.has(content.hash)
    this.#beginTrial(retry)
  }

  /** `retry` of its plan was raised. */
  isAskedAnew(hash: string): void {
    this.promoted.delete(hash)
    this.broughtIn.delete(hash)
  }

  /** The content failed here after it had passed before this generation of its rollout began. */
  failedLate({ hash }: Content, generation: number | undefined): boolean {
    const { late, halted } = this.verdicts.get(hash) ?? {}
    const broughtIn = this.broughtIn.get(hash)
    const isEarlier = broughtIn !== undefined && broughtIn !== generation
    return late === true || (halted !== true && isEarlier && this.promoted.has(hash))
  }

  /** After a reboot or a sleep: the trial begins again. */
  rest(): void {
    if (!this.proven) this.#beginTrial(0)
  }

  /** The machine is made anew, under its old name: its disk is empty. */
  reimage(): void {
    this.wasReimaged = true
    this.isSick = false
    this.#trial += 1
    this.runs = LOCAL
    this.runsConfig = undefined
    this.lastGood = LOCAL
    this.proven = true
    this.promoted.clear()
    this.everPromoted.clear()
    this.broughtIn.clear()
    this.started.clear()
    this.verdicts.clear()
    this.rollouts.clear()
    this.sawUnfinished = undefined
    this.began = undefined
  }

  sleep(): void {
    this.state = 'asleep'
    this.downSinceUs = this.#queue.nowUs
    this.#trial += 1
  }

  wakeUp(retry: number): void {
    this.state = 'up'
    this.downSinceUs = undefined
    if (!this.proven || fateOf(this.runs, this.traits.uid).kind !== 'works') this.#beginTrial(retry)
  }

  #beginTrial(retry: number): void {
    this.#trial += 1
    const trial = this.#trial
    const content = this.runs
    const fate = fateOf(content, this.traits.uid)
    this.isSick = false
    const during = (afterUs: number, run: () => void) =>
      this.#queue.after(afterUs, () => {
        if (this.#trial === trial && this.isUp) run()
      })
    const failsUs = fate.kind === 'fails' ? fate.afterUs : this.failsAnyway(content)
    if (fate.kind === 'kills') during(fate.afterUs, () => this.die())
    else if (fate.kind === 'sickens') this.#sicken(content, fate.afterUs)
    else if (failsUs !== undefined) during(failsUs, () => this.#fail(content, retry))
    if (!this.proven) during(TRIAL_US * this.traits.slowness, () => this.#pass(content))
  }

  /** Also when its trial has passed. */
  #sicken(content: Content, afterUs: number): void {
    this.#queue.after(afterUs, () => {
      if (this.isUp && this.runs === content) this.isSick = true
    })
  }

  #pass(content: Content): void {
    this.proven = true
    this.promoted.add(content.hash)
    this.everPromoted.add(content.hash)
    this.lastGood = content
    this.onChange()
  }

  #fail(content: Content, retry: number): void {
    this.#trial += 1
    this.isSick = false
    this.verdicts.set(content.hash, { reason: 'kubelet exited 5 times', retry })
    this.runs = this.lastGood.hash === content.hash ? LOCAL : this.lastGood
    this.proven = true
    this.#queue.after(SECOND_US, () => this.onChange())
  }

  die(): void {
    this.state = 'dead'
    this.downSinceUs ??= this.#queue.nowUs
    this.#trial += 1
    this.onDeath()
  }
}
