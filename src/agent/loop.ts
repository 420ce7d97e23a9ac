/**
 * The loop: observe, decide, perform, again; then wait until something changes or the time comes. Triggers only wake it: they carry no
 * state, and many coalesce into one pass. Nothing it remembers is needed to decide, but how long to leave a failed step alone.
 */

import { nextStep } from '../decision/next-step.ts'
import type { Snapshot, Trouble } from '../decision/snapshot.ts'
import { type Action, aboutOf, type Step, type Wait } from '../decision/step.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { PassObserver } from '../ports/pass-observer.ts'
import { errorMessage } from '../values/errors.ts'
import { type KubeletObservation, type ObservationPorts, observe, observeKubelet, probeKubeletAgain } from './observe.ts'
import { type EffectPorts, perform } from './perform.ts'

const FIRST_RETRY_US = 1e6
const LAST_RETRY_US = 60e6
const BLIND_US = 5e6
/** For how long a settled kubelet is only glanced at: systemd itself is asked at least so often. */
const GLANCES_US = 60e6
/** What was seen of kubelet so lately is as good as new: on a busy node a look alone takes as long. */
const FRESH_US = 100e3

export class Loop {
  readonly #eyes: ObservationPorts
  readonly #hands: EffectPorts
  readonly #observer: PassObserver
  readonly #log: Log
  /** Steps that failed, each with how long it is left alone: by kind and what they were about. */
  readonly #troubles = new Map<string, Trouble & { readonly pauseUs: number }>()
  /** Of this round of passes: between them only files change. */
  #kubelet: KubeletObservation | undefined
  /** The last whole look. */
  #last: KubeletObservation | undefined
  /** The same, if it left nothing to do and nothing to watch closely. */
  #settled: KubeletObservation | undefined
  /** Why the last look failed. */
  #blind: string | undefined

  constructor(parts: { eyes: ObservationPorts; hands: EffectPorts; observer: PassObserver; log: Log }) {
    this.#eyes = parts.eyes
    this.#hands = parts.hands
    this.#observer = parts.observer
    this.#log = parts.log
  }

  /** One look and at most one step. */
  async pass(): Promise<Step> {
    const glanced = await this.#glance()
    const snapshot = glanced ?? (await this.#look(() => this.#lookAtKubelet()))
    const step = snapshot === undefined ? this.#waitBlind() : await this.#decide(snapshot)
    this.#observer.turned?.(step, snapshot)
    return step
  }

  async #decide(snapshot: Snapshot): Promise<Step> {
    const step = nextStep(snapshot)
    this.#observer.decided(snapshot, step)
    if (step.kind !== 'wait') await this.#try(step, snapshot)
    else this.#forgetObsolete(snapshot.now.monotonicUs)
    if (!isClearAtAGlance(step, snapshot)) this.#settled = undefined
    else if (isSettled(step) && this.#kubelet !== undefined) this.#settled = this.#kubelet
    if (step.kind === 'wait' || step.kind === 'restart') this.#kubelet = undefined
    return step
  }

  /**
   * A kubelet that has settled is asked for its health alone, as long as its process is the same: the command that asks systemd takes more CPU
   * than all the rest of a look. What is done to kubelet is decided on a whole look, never on this one. undefined: a whole look is due.
   */
  async #glance(): Promise<Snapshot | undefined> {
    const seen = this.#settled
    if (seen === undefined || this.#kubelet !== undefined) return undefined
    const isOld = this.#eyes.clock.now().monotonicUs - seen.at.monotonicUs >= GLANCES_US
    if (isOld || !this.#eyes.unit.stillRuns(seen.unit)) return undefined
    const snapshot = await this.#look(() => probeKubeletAgain(this.#eyes, seen))
    return snapshot !== undefined && isClearAtAGlance(nextStep(snapshot), snapshot) ? snapshot : undefined
  }

  /** Passes until there is nothing left to do but wait. */
  async settle(signal: AbortSignal): Promise<Wait | undefined> {
    while (!signal.aborted) {
      const step = await this.pass()
      if (step.kind === 'wait') return step
    }
    return undefined
  }

  /** A file that cannot be read (a broken disk) leaves nothing to decide on, and so nothing changes. */
  async #look(lookAtKubelet: () => Promise<KubeletObservation>): Promise<Snapshot | undefined> {
    try {
      const snapshot = await observe(this.#eyes, [...this.#troubles.values()], await lookAtKubelet())
      this.#blind = undefined
      return snapshot
    } catch (error) {
      const detail = errorMessage(error)
      if (this.#blind !== detail) this.#log.error('the state of this node cannot be read, nothing is changed', { error })
      this.#blind = detail
      return undefined
    }
  }

  async #lookAtKubelet(): Promise<KubeletObservation> {
    const isFresh = this.#kubelet !== undefined && this.#eyes.clock.now().monotonicUs - this.#kubelet.at.monotonicUs < FRESH_US
    if (this.#kubelet === undefined || !isFresh) {
      this.#kubelet = await observeKubelet(this.#eyes, this.#last)
      this.#last = this.#kubelet
    }
    return this.#kubelet
  }

  #waitBlind(): Wait {
    const untilUs = this.#eyes.clock.now().monotonicUs + BLIND_US
    return { kind: 'wait', phase: 'unknown', detail: this.#blind ?? '', untilUs }
  }

  /** A step that failed is left alone for a while, longer each time; other steps go on. */
  async #try(step: Action, snapshot: Snapshot): Promise<void> {
    const about = aboutOf(step)
    const key = `${step.kind} ${about}`
    const before = this.#troubles.get(key)
    this.#troubles.delete(key)
    try {
      await perform(this.#hands, step, snapshot)
    } catch (error) {
      const pauseUs = Math.min(LAST_RETRY_US, (before?.pauseUs ?? FIRST_RETRY_US / 2) * 2)
      const detail = errorMessage(error)
      this.#troubles.set(key, { step: step.kind, about, detail, retryAtUs: this.#eyes.clock.now().monotonicUs + pauseUs, pauseUs })
      if (before?.detail !== detail) this.#log.error(`${step.kind} failed, trying again in a while`, { error })
    }
  }

  /** Its time came, and nobody asked for it. */
  #forgetObsolete(nowUs: number): void {
    for (const [key, { retryAtUs }] of this.#troubles) if (nowUs >= retryAtUs) this.#troubles.delete(key)
  }
}

/** Kubelet is well, and nothing is to be done, or only what touches neither kubelet nor what it starts with. */
function isClearAtAGlance(step: Step, { health }: Snapshot): boolean {
  if (health === undefined || health.unhealthySinceUs !== undefined) return false
  return isSettled(step) || step.kind === 'assign' || step.kind === 'preflight' || (step.kind === 'wait' && step.phase === 'preflight')
}

function isSettled(step: Step): boolean {
  return step.kind === 'wait' && step.phase === 'settled'
}

/** Wakes a sleeper; wakes while nobody sleeps are remembered as one. */
export class Waker {
  #woken = false
  #wake: (() => void) | undefined

  wake(): void {
    this.#woken = true
    this.#wake?.()
  }

  /** Resolves at the time, at the next wake, or when the signal aborts. */
  async sleepUntil(untilUs: number, clock: Clock, signal: AbortSignal): Promise<void> {
    if (!this.#woken && !signal.aborted) {
      const delayMs = Math.min(MAX_TIMER_MS, Math.max(0, Math.ceil((untilUs - clock.now().monotonicUs) / 1000)))
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, delayMs)
        function done() {
          clearTimeout(timer)
          signal.removeEventListener('abort', done)
          resolve()
        }
        this.#wake = done
        signal.addEventListener('abort', done)
      })
    }
    this.#wake = undefined
    this.#woken = false
  }
}

/** setTimeout takes no more than 2^31 - 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** `longestSleepUs`: how often the loop has to turn for others' sake. */
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
