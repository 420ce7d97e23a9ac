// SPDX-License-Identifier: Apache-2.0
/**
 * How the agent asks the container runtime: not before it needs to, not one that others than root
 * may have put there, and in a pass of the loop without waiting for it. Pure but for its ports.
 */
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { ContainerRuntime, RuntimeAnswer, RuntimeFault, RuntimeProbe } from '../ports/probes.ts'
import { errorMessage } from '../values/errors.ts'

interface RecentAnswersParts {
  readonly runtime: Pick<ContainerRuntime, 'probe'>
  readonly clock: Clock
  readonly sleep: (ms: number) => Promise<void>
  readonly log: Log
  /** How long a pass may wait for an answer. */
  readonly waitMs: number
  /** Called when a runtime begins or ceases to answer. */
  readonly onChange: () => void
}

const ASK_AGAIN_US = 3e6
/** As long as one call may take. */
const RECENT_US = 10e6
/** The sockets of the fallback's config and of the target's, before and after a change. */
const MOST_SOCKETS = 4

interface Asked {
  answer: { readonly outcome: Outcome; readonly atUs: number } | undefined
  question: { readonly done: Promise<void>; readonly sinceUs: number } | undefined
  /** The outcome that was logged last. */
  said: Outcome | undefined
}

/** `not-ready`: it answers, so kubelet starts, but says of itself that it is not ready. */
type Outcome = 'up' | 'not-ready' | RuntimeFault | 'not-asked'

/**
 * Loads the client with the first question: an agent whose kubelet is well needs none of it. An
 * answer that may be of another account than root says nothing of the container runtime.
 */
export function trustedRuntime(
  open: () => Promise<ContainerRuntime>,
  look: (socket: string) => { readonly path: string; readonly stranger?: string },
): ContainerRuntime {
  let opened: Promise<ContainerRuntime> | undefined
  // After a failure the next question tries again: a package upgrade may have completed.
  const load = () => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
  const over = async <T>(socket: string, ask: (runtime: ContainerRuntime, path: string) => Promise<RuntimeAnswer<T>>) => {
    const { path, stranger } = look(socket)
    if (stranger === undefined) return ask(await load(), path)
    return { ok: false, why: 'not-trusted', detail: `${socket} is not asked, since ${stranger}` } as const
  }
  return {
    probe: (socket) => over(socket, (runtime, path) => runtime.probe(path)),
    listPods: (socket) => over(socket, (runtime, path) => runtime.listPods(path)),
    cgroupDriver: (socket) => over(socket, (runtime, path) => runtime.cgroupDriver(path)),
    imageDirectory: (socket) => over(socket, (runtime, path) => runtime.imageDirectory(path)),
  }
}

/**
 * Whether the container runtime answers, asked in the background: a runtime that accepts
 * connections and never answers would otherwise hold each pass of the loop for the whole time that
 * an answer may take. Asks only when it is asked itself, and then not more often than every few
 * seconds.
 */
export class RecentAnswers implements RuntimeProbe {
  readonly #parts: RecentAnswersParts
  readonly #sockets = new Map<string, Asked>()

  constructor(parts: RecentAnswersParts) {
    this.#parts = parts
  }

  async isUp(socket: string): Promise<boolean | undefined> {
    const asked = this.#find(socket)
    const { clock, waitMs, sleep } = this.#parts
    const nowUs = clock.now().monotonicUs
    if (asked.question === undefined && !isYounger(asked.answer, nowUs, ASK_AGAIN_US)) {
      asked.question = { done: this.#ask(socket, asked), sinceUs: nowUs }
    }
    const leftMs = asked.question === undefined ? 0 : waitMs - (nowUs - asked.question.sinceUs) / 1000
    if (asked.question !== undefined && leftMs > 0) await Promise.race([asked.question.done, sleep(leftMs)])
    // A runtime that has not answered for as long as a pass may wait counts as down until it does.
    return isYounger(asked.answer, clock.now().monotonicUs, RECENT_US) ? toUp(asked.answer.outcome) : false
  }

  async #ask(socket: string, asked: Asked): Promise<void> {
    const { runtime, clock, log, onChange } = this.#parts
    // The agent's program is not there while its package is upgraded.
    const answer = await runtime
      .probe(socket)
      .catch((error: unknown) => ({ ok: false, why: 'not-asked', detail: errorMessage(error) }) as const)
    const outcome = answer.ok ? (answer.value.runtimeReady === false ? 'not-ready' : 'up') : answer.why
    asked.answer = { outcome, atUs: clock.now().monotonicUs }
    asked.question = undefined
    if (asked.said === outcome) return
    if (outcome !== 'up') log.warn(SAYINGS[outcome], { socket, ...(!answer.ok && { detail: answer.detail }) })
    else if (asked.said !== undefined) log.info('the container runtime answers again', { socket })
    asked.said = outcome
    onChange()
  }

  #find(socket: string): Asked {
    const known = this.#sockets.get(socket) ?? { answer: undefined, question: undefined, said: undefined }
    this.#sockets.delete(socket)
    this.#sockets.set(socket, known)
    const [oldest] = this.#sockets.keys()
    if (this.#sockets.size > MOST_SOCKETS && oldest !== undefined) this.#sockets.delete(oldest)
    return known
  }
}

const SAYINGS: Readonly<Record<Exclude<Outcome, 'up'>, string>> = {
  down: 'the container runtime does not answer',
  'not-ready': 'the container runtime answers, but reports that it is not ready',
  'not-cri': 'this socket is not that of a container runtime with CRI: whether kubelet has one is not known',
  'not-allowed': 'the agent may not connect to the container runtime: whether it runs is not known',
  'not-trusted': 'the socket of the container runtime may be that of another account, and is not asked: whether it runs is not known',
  'not-asked': 'the container runtime cannot be asked: whether it runs is not known',
}

function toUp(outcome: Outcome): boolean | undefined {
  switch (outcome) {
    case 'up':
    case 'not-ready':
      return true
    case 'down':
      return false
    case 'not-cri':
    case 'not-allowed':
    case 'not-trusted':
    case 'not-asked':
      return undefined
  }
}

function isYounger<T extends { readonly atUs: number }>(answer: T | undefined, nowUs: number, limitUs: number): answer is T {
  return answer !== undefined && nowUs - answer.atUs < limitUs
}
