// SPDX-License-Identifier: Apache-2.0
/**
 * The most recent `accepted` judgements: the same request gets the same result. Pure. Those of the
 * load stage outlive the agent, since that stage depends on nothing but the request. A judgement on
 * a start depends on the node too, so it is forgotten after a while. The effective config does not
 * outlive the agent: it is long, and staticPodURL in it can hold a password. Refusals are not
 * remembered: the cause may be a file that exists by now, and a retry asks exactly that.
 */
import { createHash } from 'node:crypto'
import { contentHash } from '../../checkpoint/content.ts'
import { isText, listOf, mapOf, optional, parseJson, shapeOf } from '../../values/json-shape.ts'
import type { JudgeRequest, JudgeStage, KubeletJudgement } from './judgement.ts'

const MOST = 64

type Accepted = Extract<KubeletJudgement, { kind: 'accepted' }>
type Lasting = Pick<Accepted, 'detail' | 'ignored'>

const isRecord = mapOf(shapeOf<Lasting>({ detail: isText, ignored: optional(listOf(isText)) }))

/** Where judgements outlive the agent. */
export interface JudgementFile {
  /** undefined: there is none. */
  read(): Uint8Array | undefined
  write(text: string): void
}

export class RememberedJudgements {
  readonly #file: JudgementFile
  #known: Map<string, { readonly stage: JudgeStage; readonly judgement: Accepted }> | undefined

  constructor(file: JudgementFile) {
    this.#file = file
  }

  recall(key: string): KubeletJudgement | undefined {
    const known = this.#judgements.get(key)
    if (known !== undefined) this.#keep(key, known)
    return known?.judgement
  }

  remember(key: string, stage: JudgeStage, judgement: KubeletJudgement): void {
    if (judgement.kind !== 'accepted') return
    this.#keep(key, { stage, judgement })
    if (stage === 'load') this.#save()
  }

  /** The node may have changed. */
  forget(): void {
    for (const [key, { stage }] of this.#judgements) if (stage === 'deep') this.#judgements.delete(key)
  }

  get #judgements() {
    this.#known ??= new Map(
      Object.entries(this.#load()).map(([key, lasting]) => [key, { stage: 'load', judgement: { kind: 'accepted', ...lasting } }]),
    )
    return this.#known
  }

  /** The Map's order is that of use: the first is the least recently used. */
  #keep(key: string, entry: { readonly stage: JudgeStage; readonly judgement: Accepted }): void {
    this.#judgements.delete(key)
    this.#judgements.set(key, entry)
    const [oldest] = this.#judgements.keys()
    if (this.#judgements.size > MOST && oldest !== undefined) this.#judgements.delete(oldest)
  }

  #load(): Readonly<Record<string, Lasting>> {
    const bytes = tolerate(() => this.#file.read())
    return (bytes && parseJson(bytes, isRecord)) ?? {}
  }

  #save(): void {
    const lasting = [...this.#judgements].filter(([, { stage }]) => stage === 'load')
    const record = Object.fromEntries(
      lasting.map(([key, { judgement }]) => [key, { detail: judgement.detail, ignored: judgement.ignored }]),
    )
    tolerate(() => this.#file.write(JSON.stringify(record)))
  }
}

/** Equal for requests that kubelet judges alike. */
export function requestKey({ files, key, flags, stage, others = null }: JudgeRequest, binaryIdentity: string): string {
  const facts = [contentHash(files, key), binaryIdentity, flags, stage, others]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}

/** A judgement that cannot be read or written is asked for again. */
function tolerate<T>(use: () => T): T | undefined {
  try {
    return use()
  } catch {
    return undefined
  }
}

/**
 * Lets requests for the same result at the same time share one run. The run is ended early when
 * nobody waits for it any more.
 */
interface Run<Result> {
  readonly result: Promise<Result>
  readonly stopper: AbortController
  waiting: number
}

export class SharedRuns<Result> {
  readonly #running = new Map<string, Run<Result>>()

  /**
   * @param run never rejects
   * @param givenUp the result for who stops waiting while others go on
   */
  share(key: string, signal: AbortSignal, run: (signal: AbortSignal) => Promise<Result>, givenUp: Result): Promise<Result> {
    if (signal.aborted) return Promise.resolve(givenUp)
    const shared = this.#running.get(key) ?? this.#start(key, run)
    shared.waiting += 1
    return new Promise((resolve) => {
      const leave = (): void => {
        shared.waiting -= 1
        if (shared.waiting > 0) resolve(givenUp)
        else {
          // Who asks from now on gets a run of its own.
          this.#end(key, shared)
          shared.stopper.abort()
        }
      }
      signal.addEventListener('abort', leave, { once: true })
      void shared.result.then((result) => {
        signal.removeEventListener('abort', leave)
        resolve(result)
      })
    })
  }

  #start(key: string, run: (signal: AbortSignal) => Promise<Result>): Run<Result> {
    const stopper = new AbortController()
    const started: Run<Result> = { result: run(stopper.signal), stopper, waiting: 0 }
    this.#running.set(key, started)
    void started.result.then(() => this.#end(key, started))
    return started
  }

  #end(key: string, run: Run<Result>): void {
    if (this.#running.get(key) === run) this.#running.delete(key)
  }
}
