/**
 * Judgements that are remembered, the most recent ones: what was accepted will be again, for the same question. Pure. A refusal is not: it may be for a file
 * that is there by now, and whoever asks again (retry, above all) means just that.
 */
import { createHash } from 'node:crypto'
import { contentHash } from '../../checkpoint/content.ts'
import type { JudgeRequest, KubeletJudgement } from './judgement.ts'

const MOST = 64

export class RememberedJudgements {
  readonly #judgements = new Map<string, KubeletJudgement>()

  recall(question: string): KubeletJudgement | undefined {
    const known = this.#judgements.get(question)
    if (known !== undefined) this.#keep(question, known)
    return known
  }

  remember(question: string, judgement: KubeletJudgement): void {
    if (judgement.kind === 'accepted') this.#keep(question, judgement)
  }

  forget(): void {
    this.#judgements.clear()
  }

  #keep(question: string, judgement: KubeletJudgement): void {
    this.#judgements.delete(question)
    this.#judgements.set(question, judgement)
    const [oldest] = this.#judgements.keys()
    if (this.#judgements.size > MOST && oldest !== undefined) this.#judgements.delete(oldest)
  }
}

/** What makes two requests the same question. */
export function questionOf({ files, key, flags, stage }: JudgeRequest, binaryIdentity: string): string {
  const facts = [contentHash(files, key), binaryIdentity, flags, stage]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}
