// SPDX-License-Identifier: Apache-2.0
/**
 * Evidence for a simulated node: each question is answered at once, and by default well. A test
 * replaces single answers, or lets them take time.
 */
import type { Fact, Question, SeenFact } from '../../src/evidence/kinds.ts'
import type { EvidenceProbe, EvidenceSubject } from '../../src/ports/evidence.ts'

export type Answer = (nowUs: number) => SeenFact

export class FakeEvidence implements EvidenceProbe {
  readonly #nowUs: () => number
  readonly #answers = new Map<Question, Answer>()
  #facts: Fact[] = []
  /** Every question that was asked. */
  readonly asked: { readonly question: Question; readonly about: EvidenceSubject; readonly atUs: number }[] = []
  /** How long a pass would have waited for answers, each time that it did. */
  readonly waitedMs: number[] = []
  /** No question is answered. */
  isMute = false
  /** How long an answer takes. Until then its question is not asked again, as by the real one. */
  answersAfterUs = 0
  /** The agent's own writes succeed. */
  canWrite = true
  #writtenAtUs: number | undefined
  #asksSinceUs: number

  constructor(nowUs: () => number) {
    this.#nowUs = nowUs
    this.#asksSinceUs = nowUs()
  }

  /** The agent that asked has ended, and another one begins. */
  startAnew(): void {
    this.#facts = []
    this.#asksSinceUs = this.#nowUs()
  }

  asksSinceUs(): number {
    return this.#asksSinceUs
  }

  answer(question: Question, answer: Answer): void {
    this.#answers.set(question, answer)
  }

  ask(questions: readonly Question[], about: EvidenceSubject): void {
    const atUs = this.#nowUs()
    for (const question of questions) {
      if (this.#facts.some((fact) => fact.seen.question === question && this.#isUnderWay(fact))) continue
      this.asked.push({ question, about, atUs })
      if (this.isMute) continue
      this.#facts.push({
        about: about.invocationId,
        atUs: atUs + this.answersAfterUs,
        seen: (this.#answers.get(question) ?? ANSWERS_WELL[question])(atUs),
      })
    }
  }

  /** A question that takes no simulated time is answered already. */
  async answered(limitMs: number): Promise<void> {
    this.waitedMs.push(limitMs)
  }

  take(): readonly Fact[] {
    const facts = this.#facts.filter((fact) => !this.#isUnderWay(fact))
    this.#facts = this.#facts.filter((fact) => this.#isUnderWay(fact))
    return facts
  }

  #isUnderWay({ atUs }: Fact): boolean {
    return atUs > this.#nowUs()
  }

  write(): void {
    if (this.canWrite) this.#writtenAtUs = this.#nowUs()
  }

  writtenAtUs(): number | undefined {
    return this.#writtenAtUs
  }
}

export const ANSWERS_WELL: Readonly<Record<Question, Answer>> = {
  lease: (nowUs) => ({ question: 'lease', answer: { kind: 'found', resourceVersion: String(nowUs), durationSeconds: 40 } }),
  node: (nowUs) => {
    const ms = Math.floor(nowUs / 1000)
    return { question: 'node', answer: { kind: 'found', ready: 'True', message: '', reportedAtMs: ms, serverMs: ms, pressure: [] } }
  },
  pods: (nowUs) => ({ question: 'pods', answer: { kind: 'found', pods: [], serverMs: Math.floor(nowUs / 1000) } }),
  runtime: () => ({ question: 'runtime', answer: { kind: 'answered', endpoint: '/run/runtime.sock', detail: '' } }),
  serving: () => ({ question: 'serving', answer: { kind: 'answered', status: 403, user: 'system:node:node-1' } }),
  // The pod that tests lose.
  'static-pods': () => ({ question: 'static-pods', answer: { kind: 'found', pods: [], manifests: [], live: ['default/p'] } }),
}
