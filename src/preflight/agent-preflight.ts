/**
 * Preflight for the agent's loop. Short checks return their result at once; long ones (kubelet in
 * its sandbox) continue in the background. A fallback gets only the checks that take no time. It
 * decides nothing itself: it turns a report into a result.
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
  /** The settings that results depend on. */
  settings(): unknown
  /** Drops remembered results: the node may have changed since. */
  forget(): void
  /** Called when a pending check finishes. */
  readonly onDone: () => void
  readonly clock: Clock
  sleep(ms: number): Promise<void>
}

/** How long the loop waits for a result. */
const WAIT_MS = 700
/** How often refused configs are checked again: a file that was missing may exist by now. */
const RECHECK_US = 10 * 60e6
/** Most results of abandoned candidates to keep. */
const JOBS_KEPT = 8

interface Job {
  /**
   * What the result depends on besides content and kubelet: settings, time, and the running config.
   */
  readonly dependencies: string
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
    const started = this.#jobs.get(candidate.key)
    // The result was not collected, and its dependencies have changed since.
    const isOutdated = started?.result !== undefined && started.dependencies !== this.#dependencies(candidate)
    const job = started === undefined || isOutdated ? this.#start(candidate) : started
    await Promise.race([job.done, this.#options.sleep(WAIT_MS)])
    if (job.result === undefined) return { kind: 'pending' }
    this.#jobs.delete(candidate.key)
    if (job.dependencies === this.#dependencies(candidate)) return job.result
    // A setting or the running config changed during the check.
    this.#start(candidate)
    return { kind: 'pending' }
  }

  pending(): ReadonlySet<TrialKey> {
    return new Set([...this.#jobs].filter(([, { result }]) => result === undefined).map(([key]) => key))
  }

  basis(): string {
    const { settings, clock } = this.#options
    const { bootId, monotonicUs } = clock.now()
    const facts = JSON.stringify([settings(), bootId, Math.floor(monotonicUs / RECHECK_US)])
    return createHash('sha256').update(facts).digest('hex').slice(0, 16)
  }

  #dependencies({ basePath = '' }: PreflightRequest): string {
    return `${this.basis()} ${basePath}`
  }

  #start(candidate: PreflightRequest): Job {
    const basis = this.basis()
    if (basis !== this.#basis) this.#options.forget()
    this.#basis = basis
    const checked = this.#options.inspect(candidate).then(toResult, (error: unknown): PreflightResult => {
      // A bug or a disk error, not the config's fault; but kubelet never gets an unchecked config.
      return { kind: 'refused', reason: 'validate', detail: `preflight failed: ${errorMessage(error)}` }
    })
    const job: Job = {
      dependencies: this.#dependencies(candidate),
      result: undefined,
      done: checked.then((result) => {
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
  // If kubelet cannot run at all, one remark is enough for both stages.
  const isMentioned = (part: string) => part === 'kubelet-start' && unjudged.some((other) => other.part === 'kubelet')
  const missing = unjudged.filter(({ part }) => !isMentioned(part)).map(({ part, detail }) => `the ${part} check could not run: ${detail}`)
  const drain = report.findings.filter(({ rule }) => rule === REQUIRE_DRAIN).map(({ path }) => formatPath(path))
  return { kind: 'accepted', remarks: [...warnings, ...missing], drain }
}
