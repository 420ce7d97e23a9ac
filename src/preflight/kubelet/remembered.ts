/**
 * A cache of the most recent `accepted` judgements: the same request gets the same result. Pure.
 * Refusals are not cached: the cause may be a file that exists by now, and a retry asks exactly
 * that.
 */
import { createHash } from 'node:crypto'
import { contentHash } from '../../checkpoint/content.ts'
import type { JudgeRequest, KubeletJudgement } from './judgement.ts'

const MOST = 64

export class RememberedJudgements {
  readonly #judgements = new Map<string, KubeletJudgement>()

  recall(key: string): KubeletJudgement | undefined {
    const known = this.#judgements.get(key)
    if (known !== undefined) this.#keep(key, known)
    return known
  }

  remember(key: string, judgement: KubeletJudgement): void {
    if (judgement.kind === 'accepted') this.#keep(key, judgement)
  }

  forget(): void {
    this.#judgements.clear()
  }

  /** The Map's order is that of use: the first is the least recently used. */
  #keep(key: string, judgement: KubeletJudgement): void {
    this.#judgements.delete(key)
    this.#judgements.set(key, judgement)
    const [oldest] = this.#judgements.keys()
    if (this.#judgements.size > MOST && oldest !== undefined) this.#judgements.delete(oldest)
  }
}

/** Equal for requests that kubelet judges alike. */
export function requestKey({ files, key, flags, stage, others = null }: JudgeRequest, binaryIdentity: string): string {
  const facts = [contentHash(files, key), binaryIdentity, flags, stage, others]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}
