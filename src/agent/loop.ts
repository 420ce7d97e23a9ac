// SPDX-License-Identifier: Apache-2.0
/**
 * The loop: observe, decide, perform, again; then wait until something changes or the time comes.
 * Triggers only wake it: they carry no state, and many of them lead to one pass. The loop itself
 * remembers nothing that a decision needs, except how long to leave a failed step alone.
 */
import { nextStep } from '../decision/rules.ts'
import type { Snapshot, Trouble } from '../decision/snapshot.ts'
import { type Action, aboutOf, type Step, type Wait } from '../decision/step.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import { errorMessage } from '../values/errors.ts'
import { type ObservationPorts, observe } from './observe.ts'
import { type KubeletObservation, observeKubelet, probeKubeletAgain } from './observe-kubelet.ts'
import { type EffectPorts, perform } from './perform.ts'
import type { Waker } from './waker.ts'

const BLIND_US = 5e6
/** How long a settled kubelet is only probed before systemd is asked again. */
const PROBES_US = 60e6
/** A step that is decided so often in a row has no effect, and must not use up the node's CPU. */
const MOST_REPEATS = 100
/** An observation of kubelet of this age is used again: on a busy node, a new one takes as long. */
const FRESH_US = 100e3

interface Decision {
  /** undefined: the node cannot be observed, and the step is to wait. */
  readonly snapshot: Snapshot | undefined
  readonly step: Step
}

export class Loop {
  readonly #observation: ObservationPorts
  readonly #effects: EffectPorts
  readonly #observer: PassObserver
  readonly #log: Log
  readonly #backoff = new StepBackoff()
  /** Kubelet since the last wait or restart. Other steps change only files, so it stays valid. */
  #reusable: KubeletObservation | undefined
  /** The last one that asked systemd. */
  #lastAsked: KubeletObservation | undefined
  /** The last one, if kubelet was well and nothing was left to do: a probe of it may do now. */
  #settled: KubeletObservation | undefined
  /** Why the last observation failed. */
  #blind: string | undefined
  /** The step that was carried out last without a wait after it, and how often in a row. */
  #repeated: { readonly key: string; readonly times: number; readonly first: Attempt } | undefined
  /** Why the flag for state files could not be written. */
  #flagFault: string | undefined

  constructor(parts: { observation: ObservationPorts; effects: EffectPorts; observer: PassObserver; log: Log }) {
    this.#observation = parts.observation
    this.#effects = parts.effects
    this.#observer = parts.observer
    this.#log = parts.log
  }

  /** Observes once and performs at most one step. */
  async pass(): Promise<Step> {
    const { snapshot, step } = (await this.#probeSettled()) ?? (await this.#look())
    if (snapshot === undefined) this.#refreshFlag(undefined)
    else await this.#carryOut(step, snapshot)
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

  async #look(): Promise<Decision> {
    const snapshot = await this.#observe(() => this.#observeKubelet())
    return { snapshot, step: snapshot === undefined ? this.#waitBlind() : nextStep(snapshot) }
  }

  async #carryOut(step: Step, snapshot: Snapshot): Promise<void> {
    this.#observer.decided(snapshot, step)
    this.#refreshFlag(snapshot)
    const end = step.kind === 'wait' ? undefined : await this.#try(step, snapshot)
    if (step.kind === 'wait') {
      this.#backoff.forgetDue(snapshot)
      this.#repeated = undefined
    }
    // The steps after a preflight that has ended touch kubelet, unless the config is refused.
    if (!isProbeEnough(step, snapshot) || (step.kind === 'preflight' && end === 'done')) this.#settled = undefined
    else if (isSettled(step) && this.#reusable !== undefined) this.#settled = this.#reusable
    if (step.kind === 'wait' || step.kind === 'restart' || step.kind === 'try-again') this.#reusable = undefined
  }

  #refreshFlag(snapshot: Snapshot | undefined): void {
    try {
      this.#effects.statesFlag.refresh(snapshot)
      this.#flagFault = undefined
    } catch (error) {
      const detail = errorMessage(error)
      if (this.#flagFault !== detail) this.#log.warn("cannot write the flag for kubelet's state files, trying again", { error })
      this.#flagFault = detail
    }
  }

  /**
   * A settled kubelet is only probed for its health, as long as its process is the same: the
   * command that asks systemd takes more CPU than all the rest of a pass. A step that touches
   * kubelet is never decided on this. undefined: systemd has to be asked.
   */
  async #probeSettled(): Promise<Decision | undefined> {
    const seen = this.#settled
    if (seen === undefined || this.#reusable !== undefined) return undefined
    const isOld = this.#observation.clock.now().monotonicUs - seen.at.monotonicUs >= PROBES_US
    if (isOld || !this.#observation.unit.stillRuns(seen.unit)) return undefined
    const snapshot = await this.#observe(() => probeKubeletAgain(this.#observation, seen))
    if (snapshot === undefined) return undefined
    const step = nextStep(snapshot)
    return isProbeEnough(step, snapshot) ? { snapshot, step } : undefined
  }

  /**
   * undefined: a file cannot be read (a broken disk). Then nothing is decided and nothing changes.
   */
  async #observe(observeKubelet: () => Promise<KubeletObservation>): Promise<Snapshot | undefined> {
    try {
      const snapshot = await observe(this.#observation, this.#backoff.list(), await observeKubelet())
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
    if (this.#reusable !== undefined && nowUs - this.#reusable.at.monotonicUs < FRESH_US) return this.#reusable
    this.#reusable = await observeKubelet(this.#observation, this.#lastAsked)
    this.#lastAsked = this.#reusable
    return this.#reusable
  }

  #waitBlind(): Wait {
    this.#reusable = undefined
    const untilUs = this.#observation.clock.now().monotonicUs + BLIND_US
    return { kind: 'wait', phase: 'unknown', detail: this.#blind ?? '', untilUs }
  }

  async #try(step: Action, snapshot: Snapshot): Promise<'done' | 'pending' | 'failed'> {
    const attempt = this.#backoff.begin(step)
    const before = this.#repeated?.key === keyOf(step) ? this.#repeated : { times: 0, first: attempt }
    const times = before.times + 1
    this.#repeated = { key: keyOf(step), times, first: before.first }
    try {
      const end = await perform(this.#effects, step, snapshot)
      if (times >= MOST_REPEATS) throw new Error(`it was carried out ${times} times in a row without an effect: please report this`)
      if (end === 'pending') this.#backoff.goesOn(attempt)
      return end
    } catch (error) {
      const isNew = this.#backoff.failed(
        times >= MOST_REPEATS ? before.first : attempt,
        errorMessage(error),
        this.#observation.clock.now().monotonicUs,
      )
      if (isNew) this.#log.error(`${step.kind} failed, trying again in a while`, { error })
      return 'failed'
    }
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

const FIRST_RETRY_US = 1e6
const LAST_RETRY_US = 60e6

interface LastTrouble extends Trouble {
  readonly pauseUs: number
}

/** One try of a step. */
interface Attempt {
  readonly step: Action
  /** The outcome of the try before. undefined: that had not failed. */
  readonly before: LastTrouble | undefined
}

/**
 * How long a step that failed is left alone: longer each time, and other steps go on meanwhile. A
 * step may also run on in the background, and fail only later.
 */
class StepBackoff {
  /** The last trouble of each step that failed, by its kind and by what it was about. */
  readonly #troubles = new Map<string, LastTrouble>()
  /** The last trouble of each step that is tried again and still runs in the background. */
  readonly #pending = new Map<string, LastTrouble>()

  list(): readonly Trouble[] {
    return [...this.#troubles.values()]
  }

  begin(step: Action): Attempt {
    const key = keyOf(step)
    const before = this.#troubles.get(key) ?? this.#pending.get(key)
    this.#troubles.delete(key)
    this.#pending.delete(key)
    return { step, before }
  }

  /** The step goes on in the background. */
  goesOn({ step, before }: Attempt): void {
    if (before !== undefined) this.#pending.set(keyOf(step), before)
  }

  /** @returns whether it failed otherwise than the last time, which is worth a line in the log */
  failed({ step, before }: Attempt, detail: string, nowUs: number): boolean {
    const pauseUs = Math.min(LAST_RETRY_US, (before?.pauseUs ?? FIRST_RETRY_US / 2) * 2)
    this.#troubles.set(keyOf(step), {
      step: step.kind,
      about: aboutOf(step),
      detail,
      retryAtUs: nowUs + pauseUs,
      sinceUs: before?.sinceUs ?? nowUs,
      pauseUs,
    })
    return before?.detail !== detail
  }

  /** Forgets those that are due: no rule wants their steps any more. */
  forgetDue({ now, preflightPending }: Snapshot): void {
    for (const [key, { retryAtUs }] of this.#troubles) if (now.monotonicUs >= retryAtUs) this.#troubles.delete(key)
    if (preflightPending.size === 0) this.#pending.clear()
  }
}

function keyOf(step: Action): string {
  return `${step.kind} ${aboutOf(step)}`
}

/**
 * Receives each pass: for reports, metrics, and the invariants of the simulation. Must not throw.
 */
export interface PassObserver {
  decided(snapshot: Snapshot, step: Step): void
  /**
   * The pass is over, whether or not its step succeeded. Never called for a pass that hangs.
   * `snapshot` is undefined if the node could not be observed.
   */
  turned?(step: Step, snapshot: Snapshot | undefined): void
}
