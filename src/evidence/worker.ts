// SPDX-License-Identifier: Apache-2.0
/**
 * Asks for evidence in the background, one request of each kind at a time, and keeps the answers
 * until the loop takes them. Pure but for its questions.
 */
import { isDeepStrictEqual } from 'node:util'
import { describeStranger, HeldPort } from '../kubelet/verified-health.ts'
import type { Clock } from '../ports/clock.ts'
import type { Askers, EvidenceProbe, EvidenceSubject } from '../ports/evidence.ts'
import type { Log } from '../ports/log.ts'
import type { PortHolders } from '../ports/probes.ts'
import { errorMessage } from '../values/errors.ts'
import type { NotAsked } from './kind.ts'
import type { Fact, Question, SeenFact } from './kinds.ts'
import type { ServingProbe } from './serving-probe.ts'

interface EvidenceWorkerOptions {
  readonly askers: Askers
  /** undefined: nothing is published. */
  readonly publisher: { writeAgain(): void; writtenAtUs(): number | undefined } | undefined
  readonly clock: Clock
  readonly log: Log
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /**
   * Called when an answer differs from the one before, once for all that are asked at the same
   * time: a pass costs more than an answer.
   */
  readonly onChange: () => void
}

export class EvidenceWorker implements EvidenceProbe {
  readonly #options: EvidenceWorkerOptions
  readonly #underWay = new Map<Question, Promise<void>>()
  readonly #last = new Map<Question, Pick<Fact, 'about' | 'seen'>>()
  readonly #refusals = new Map<Question, string>()
  readonly #asksSinceUs: number
  /** Since nothing was under way. */
  #hasChanged = false
  #facts: Fact[] = []

  constructor(options: EvidenceWorkerOptions) {
    this.#options = options
    this.#asksSinceUs = options.clock.now().monotonicUs
  }

  ask(questions: readonly Question[], about: EvidenceSubject): void {
    for (const question of questions) if (!this.#underWay.has(question)) this.#underWay.set(question, this.#ask(question, about))
  }

  async answered(limitMs: number): Promise<void> {
    const limit = new AbortController()
    await Promise.race([Promise.all(this.#underWay.values()), this.#options.sleep(limitMs, limit.signal)])
    limit.abort()
  }

  asksSinceUs(): number {
    return this.#asksSinceUs
  }

  take(): readonly Fact[] {
    const facts = this.#facts
    this.#facts = []
    return facts
  }

  write(): void {
    this.#options.publisher?.writeAgain()
  }

  writtenAtUs(): number | undefined {
    return this.#options.publisher?.writtenAtUs()
  }

  async #ask(question: Question, about: EvidenceSubject): Promise<void> {
    const seen = await this.#answer(question, about)
    this.#underWay.delete(question)
    const fact = { about: about.invocationId, atUs: this.#options.clock.now().monotonicUs, seen }
    this.#facts.push(fact)
    this.#logRefusal(seen)
    const before = this.#last.get(question)
    this.#last.set(question, { about: fact.about, seen })
    if (before?.about !== fact.about || !isDeepStrictEqual(before.seen, seen)) this.#hasChanged = true
    if (this.#underWay.size > 0 || !this.#hasChanged) return
    this.#hasChanged = false
    this.#options.onChange()
  }

  async #answer<Q extends Question>(question: Q, about: EvidenceSubject): Promise<SeenFact<Q>> {
    try {
      return { question, answer: await this.#options.askers[question](about) }
    } catch (error) {
      this.#options.log.error(`asking for ${question} failed because of a bug in the agent`, { error })
      return { question, answer: { kind: 'not-asked', detail: errorMessage(error) } satisfies NotAsked }
    }
  }

  /** A right that is missing is logged once, and so is a stranger at kubelet's port. */
  #logRefusal({ question, answer }: SeenFact): void {
    if (answer.kind === 'unreachable') return
    const isRefused = answer.kind === 'forbidden' || 'isStrangers' in answer
    const detail = isRefused ? answer.detail : ''
    if (this.#refusals.get(question) === detail) return
    this.#refusals.set(question, detail)
    if (detail !== '') this.#options.log.warn(`cannot read the evidence, so it counts as unknown: ${question}`, { detail })
  }
}

/** Kubelet's TLS port, as long as kubelet has it. */
export function askServing(probe: Pick<ServingProbe, 'ask'>, holders: PortHolders, clock: Clock): Askers['serving'] {
  const heldPort = new HeldPort(holders, clock)
  return async ({ serving: subject }) => {
    if (subject === undefined) return { kind: 'not-asked', detail: 'kubelet has no TLS port' }
    const { pid, ...target } = subject
    const {
      answer: { asked },
      holder,
    } = await heldPort.ask(target, pid, async () => {
      const asked = await probe.ask(target)
      return { asked, kind: asked.kind === 'answered' ? 'good' : 'bad' } as const
    })
    if (holder.kind === 'stranger') return { kind: 'not-asked', detail: describeStranger(target, holder.uid), isStrangers: true }
    const isSeen = holder.kind !== 'unseen' || asked.kind === 'no-tls'
    return isSeen ? asked : { kind: 'not-asked', detail: `it is not known who answered: ${holder.detail}` }
  }
}
