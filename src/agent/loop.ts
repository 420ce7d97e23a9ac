/**
 * The loop: observe, decide, perform, again; then wait until something changes or the time comes.
 * Triggers only wake it: they carry no state, and many of them lead to one pass. The loop itself
 * remembers nothing that a decision needs, except how long to leave a failed step alone.
 */
import { nextStep } from '../decision/next-step.ts'
import type { Snapshot, Trouble } from '../decision/snapshot.ts'
import { type Action, aboutOf, type Step, type Wait } from '../decision/step.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { PassObserver } from '../ports/pass-observer.ts'
import { errorMessage } from '../values/errors.ts'
import { type ObservationPorts, observe } from './observe.ts'
import { type KubeletObservation, observeKubelet, probeKubeletAgain } from './observe-kubelet.ts'
import { type EffectPorts, perform } from './perform.ts'
import type { Waker } from './waker.ts'

const FIRST_RETRY_US = 1e6
const LAST_RETRY_US = 60e6
const BLIND_US = 5e6
/** How long a settled kubelet is only probed before systemd is asked again. */
const PROBES_US = 60e6
/** An observation of kubelet of this age is used again: on a busy node, a new one takes as long. */
const FRESH_US = 100e3

interface LastTrouble extends Trouble {
  readonly pauseUs: number
}

export class Loop {
  readonly #observation: ObservationPorts
  readonly #effects: EffectPorts
  readonly #observer: PassObserver
  readonly #log: Log
  /**
   * Steps that failed, by kind and by what they were about, each with how long it is left alone.
   */
  readonly #troubles = new Map<string, LastTrouble>()
  /** The last trouble of each step that is tried again and still runs in the background. */
  readonly #former = new Map<string, LastTrouble>()
  /** Kubelet since the last wait or restart. Other steps change only files, so it stays valid. */
  #kubelet: KubeletObservation | undefined
  /** The last one that asked systemd. */
  #last: KubeletObservation | undefined
  /** The last one, if kubelet was well and nothing was left to do. */
  #settled: KubeletObservation | undefined
  /** Why the last observation failed. */
  #blind: string | undefined

  constructor(parts: { observation: ObservationPorts; effects: EffectPorts; observer: PassObserver; log: Log }) {
    this.#observation = parts.observation
    this.#effects = parts.effects
    this.#observer = parts.observer
    this.#log = parts.log
  }

  /** Observes once and performs at most one step. */
  async pass(): Promise<Step> {
    const snapshot = (await this.#observeSettled()) ?? (await this.#observe(() => this.#observeKubelet()))
    const step = snapshot === undefined ? this.#waitBlind() : await this.#decide(snapshot)
    this.#observer.turned?.(step, snapshot)
    return step
  }

  /** Passes until there is nothing left to do but wait. */
  async settle(signal: AbortSignal): Promise<Wait | undefined> {
    while (!signal.aborted) {
      const step = await this.pass()
      if (step.kind === 'wait') return step
    }
    return undefined
  }

  async #decide(snapshot: Snapshot): Promise<Step> {
    const step = nextStep(snapshot)
    this.#observer.decided(snapshot, step)
    if (step.kind !== 'wait') await this.#try(step, snapshot)
    else this.#forgetTroubles(snapshot)
    if (!isProbeEnough(step, snapshot)) this.#settled = undefined
    else if (isSettled(step) && this.#kubelet !== undefined) this.#settled = this.#kubelet
    if (step.kind === 'wait' || step.kind === 'restart') this.#kubelet = undefined
    return step
  }

  /**
   * A settled kubelet is only probed for its health, as long as its process is the same: the
   * command that asks systemd takes more CPU than all the rest of a pass. A step that touches
   * kubelet is never decided on this. undefined: systemd has to be asked.
   */
  async #observeSettled(): Promise<Snapshot | undefined> {
    const seen = this.#settled
    if (seen === undefined || this.#kubelet !== undefined) return undefined
    const isOld = this.#observation.clock.now().monotonicUs - seen.at.monotonicUs >= PROBES_US
    if (isOld || !this.#observation.unit.stillRuns(seen.unit)) return undefined
    const snapshot = await this.#observe(() => probeKubeletAgain(this.#observation, seen))
    return snapshot !== undefined && isProbeEnough(nextStep(snapshot), snapshot) ? snapshot : undefined
  }

  /**
   * undefined: a file cannot be read (a broken disk). Then nothing is decided and nothing changes.
   */
  async #observe(observeKubelet: () => Promise<KubeletObservation>): Promise<Snapshot | undefined> {
    try {
      const snapshot = await observe(this.#observation, [...this.#troubles.values()], await observeKubelet())
      this.#blind = undefined
      return snapshot
    } catch (error) {
      const detail = errorMessage(error)
      if (this.#blind !== detail) this.#log.error('the state of this node cannot be read, nothing is changed', { error })
      this.#blind = detail
      return undefined
    }
  }

  async #observeKubelet(): Promise<KubeletObservation> {
    const nowUs = this.#observation.clock.now().monotonicUs
    if (this.#kubelet !== undefined && nowUs - this.#kubelet.at.monotonicUs < FRESH_US) return this.#kubelet
    this.#kubelet = await observeKubelet(this.#observation, this.#last)
    this.#last = this.#kubelet
    return this.#kubelet
  }

  #waitBlind(): Wait {
    const untilUs = this.#observation.clock.now().monotonicUs + BLIND_US
    return { kind: 'wait', phase: 'unknown', detail: this.#blind ?? '', untilUs }
  }

  /** A step that failed is left alone for a while, longer each time. Other steps go on. */
  async #try(step: Action, snapshot: Snapshot): Promise<void> {
    const about = aboutOf(step)
    const key = `${step.kind} ${about}`
    const before = this.#troubles.get(key) ?? this.#former.get(key)
    for (const troubles of [this.#troubles, this.#former]) troubles.delete(key)
    try {
      const end = await perform(this.#effects, step, snapshot)
      if (end === 'pending' && before !== undefined) this.#former.set(key, before)
    } catch (error) {
      const pauseUs = Math.min(LAST_RETRY_US, (before?.pauseUs ?? FIRST_RETRY_US / 2) * 2)
      const detail = errorMessage(error)
      this.#troubles.set(key, { step: step.kind, about, detail, retryAtUs: this.#observation.clock.now().monotonicUs + pauseUs, pauseUs })
      if (before?.detail !== detail) this.#log.error(`${step.kind} failed, trying again in a while`, { error })
    }
  }

  /** Those that were due, and whose steps no rule wants any more. */
  #forgetTroubles({ now, preflightPending }: Snapshot): void {
    for (const [key, { retryAtUs }] of this.#troubles) if (now.monotonicUs >= retryAtUs) this.#troubles.delete(key)
    if (preflightPending.size === 0) this.#former.clear()
  }
}

/** Kubelet is well, and the step touches neither kubelet nor what it starts with. */
function isProbeEnough(step: Step, { health }: Snapshot): boolean {
  if (health === undefined || health.unhealthySinceUs !== undefined) return false
  return isSettled(step) || step.kind === 'assign' || step.kind === 'preflight' || (step.kind === 'wait' && step.phase === 'preflight')
}

function isSettled(step: Step): boolean {
  return step.kind === 'wait' && step.phase === 'settled'
}

/** @param longestSleepUs how long the loop may sleep, since a watchdog expects it to turn */
export async function runLoop(
  loop: Loop,
  waker: Waker,
  clock: Clock,
  signal: AbortSignal,
  longestSleepUs = Number.POSITIVE_INFINITY,
): Promise<void> {
  while (!signal.aborted) {
    const wait = await loop.settle(signal)
    if (wait !== undefined) await waker.sleepUntil(Math.min(wait.untilUs, clock.now().monotonicUs + longestSleepUs), clock, signal)
  }
}
