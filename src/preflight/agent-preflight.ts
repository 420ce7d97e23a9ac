/**
 * Preflight as the loop asks it: what is over soon is answered at once, what takes long (kubelet in its sandbox) goes on by itself, and a fallback is asked only what
 * takes no time. It decides nothing: a report becomes an answer.
 */

import { createHash } from 'node:crypto'
import type { TrialKey } from '../decision/trial-key.ts'
import type { PreflightResult } from '../decision/verdict.ts'
import { formatPath } from '../kubelet/field-path.ts'
import type { Clock } from '../ports/clock.ts'
import type { Preflight, PreflightRequest } from '../ports/preflight.ts'
import { errorMessage } from '../values/errors.ts'
import { describeFinding, describeRefusal, refusalReason } from './describe-finding.ts'
import { REQUIRE_DRAIN, type Report } from './finding.ts'

export interface AgentPreflightOptions {
  inspect(candidate: PreflightRequest): Promise<Report>
  /** Takes no time. */
  decode(candidate: PreflightRequest): Promise<PreflightResult>
  /** What of the settings a judgement rests on. */
  settings(): unknown
  /** What is found on the node may be another thing by now. */
  forget(): void
  /** A judgement that was pending is there. */
  readonly onDone: () => void
  readonly clock: Clock
  sleep(ms: number): Promise<void>
}

/** So long the loop waits for an answer. */
const SOON_MS = 700
/** A file that was missing may be there: so often what was refused is judged anew. */
const AGAIN_US = 10 * 60e6
/** Of candidates that nobody asks for any more. */
const JOBS_KEPT = 8

interface Job {
  /** What the answer rests on, besides content and kubelet: settings, time, and the config that this is a change from. */
  readonly restsOn: string
  readonly done: Promise<void>
  result: PreflightResult | undefined
}

export class AgentPreflight implements Preflight {
  readonly #options: AgentPreflightOptions
  readonly #jobs = new Map<TrialKey, Job>()
  #basis = ''

  constructor(options: AgentPreflightOptions) {
    this.#options = options
  }

  async check(candidate: PreflightRequest): Promise<PreflightResult> {
    if (candidate.fallback) return this.#options.decode(candidate)
    const begun = this.#jobs.get(candidate.key)
    // Nobody has asked for a while: the answer is to another question by now.
    const isOver = begun?.result !== undefined && begun.restsOn !== this.#restsOn(candidate)
    const job = begun === undefined || isOver ? this.#begin(candidate) : begun
    await Promise.race([job.done, this.#options.sleep(SOON_MS)])
    if (job.result === undefined) return { kind: 'pending' }
    this.#jobs.delete(candidate.key)
    if (job.restsOn === this.#restsOn(candidate)) return job.result
    // While it was judged a setting changed, or what runs.
    this.#begin(candidate)
    return { kind: 'pending' }
  }

  pending(): ReadonlySet<TrialKey> {
    return new Set([...this.#jobs].filter(([, { result }]) => result === undefined).map(([key]) => key))
  }

  basis(): string {
    const { settings, clock } = this.#options
    const { bootId, monotonicUs } = clock.now()
    const rests = JSON.stringify([settings(), bootId, Math.floor(monotonicUs / AGAIN_US)])
    return createHash('sha256').update(rests).digest('hex').slice(0, 16)
  }

  #restsOn({ basePath = '' }: PreflightRequest): string {
    return `${this.basis()} ${basePath}`
  }

  #begin(candidate: PreflightRequest): Job {
    const basis = this.basis()
    if (basis !== this.#basis) this.#options.forget()
    this.#basis = basis
    const judged = this.#options.inspect(candidate).then(toResult, (error: unknown): PreflightResult => {
      // A bug, or a disk: neither is the config's doing, but nothing unjudged goes to kubelet.
      return { kind: 'refused', reason: 'validate', detail: `preflight failed: ${errorMessage(error)}` }
    })
    const job: Job = {
      restsOn: this.#restsOn(candidate),
      result: undefined,
      done: judged.then((result) => {
        job.result = result
        this.#options.onDone()
      }),
    }
    this.#jobs.set(candidate.key, job)
    const finished = [...this.#jobs].filter(([key, { result }]) => result !== undefined && key !== candidate.key)
    for (const [key] of finished.slice(0, Math.max(0, this.#jobs.size - JOBS_KEPT))) this.#jobs.delete(key)
    return job
  }
}

export function toResult(report: Report): PreflightResult {
  if (report.outcome === 'refused') return { kind: 'refused', reason: refusalReason(report), detail: describeRefusal(report) }
  const warnings = report.findings.filter(({ severity }) => severity === 'warn').map(describeFinding)
  const unjudged = report.parts.filter(({ outcome }) => outcome === 'unjudged')
  // A kubelet that cannot be asked at all has been mentioned once.
  const isMentioned = (part: string) => part === 'kubelet-start' && unjudged.some((other) => other.part === 'kubelet')
  const blind = unjudged.filter(({ part }) => !isMentioned(part)).map(({ part, detail }) => `${part} could not judge: ${detail}`)
  const drain = report.findings.filter(({ rule }) => rule === REQUIRE_DRAIN).map(({ path }) => formatPath(path))
  return { kind: 'accepted', remarks: [...warnings, ...blind], drain }
}
