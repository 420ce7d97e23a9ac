// SPDX-License-Identifier: Apache-2.0
/**
 * Preflight for the agent's loop. Short checks return their result at once; long ones (kubelet in
 * its sandbox) continue in the background, one at a time, and end when their config is no longer
 * wanted. A fallback is only decoded. It decides nothing itself: it turns a report into
 * a result.
 */

import { createHash } from 'node:crypto'
import { heldSources } from '../decision/held-sources.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { PreflightResult } from '../decision/verdict.ts'
import { formatPath } from '../kubelet/field-path.ts'
import type { Clock } from '../ports/clock.ts'
import type { Preflight, PreflightRequest } from '../ports/preflight.ts'
import { identityOfKey, type TrialKey, trialKey } from '../subject/trial-key.ts'
import { LimitError } from '../values/errors.ts'
import { describeFinding, describeRefusal, MANAGERS, REQUIRE_DRAIN, type Report, refusalReason } from './finding.ts'

interface AgentPreflightOptions {
  /**
   * Rejects where the config cannot be judged, which says nothing about it, except with a
   * LimitError.
   */
  inspect(candidate: PreflightRequest, signal: AbortSignal): Promise<Report>
  /** Takes little time. */
  decode(candidate: PreflightRequest): Promise<PreflightResult>
  /** The settings that results depend on. */
  settings(): unknown
  /** Drops remembered results: the node may have changed since. */
  forget(): void
  /** Called when a check finishes for which nobody waits any more. */
  readonly onDone: () => void
  /** Called with the time that a check took, whatever its result. Not for one that was ended. */
  readonly onTimed: (seconds: number) => void
  readonly clock: Clock
  /** The agent ends. */
  readonly signal: AbortSignal
  sleep(ms: number): Promise<void>
}

/** How long the loop waits for a result. */
const WAIT_MS = 700
/** How often refused configs are checked again: a file that was missing may exist by now. */
const RECHECK_US = 10 * 60e6
/** Most results of abandoned candidates to keep. */
const JOBS_KEPT = 8
const REPAIR = 'correct its flags or drop-ins, or install a kubelet that runs on this machine: until then it gets no other config'

interface Job {
  /** Ends the check. */
  readonly stopper: AbortController
  /**
   * The facts that the result depends on besides content and kubelet: settings, time, and the
   * running config.
   */
  readonly dependencies: string
  readonly done: Promise<void>
  /** The loop waits for the result, and need not be woken. */
  isAwaited: boolean
  /** undefined: it has not ended. An error: the config could not be judged. */
  result: PreflightResult | Error | undefined
}

export class AgentPreflight implements Preflight {
  readonly #options: AgentPreflightOptions
  readonly #jobs = new Map<TrialKey, Job>()
  #basis = ''
  /** The last kubelet that was found to start with no config. */
  #obstacle: { readonly kubelet: string; readonly detail: string; readonly atUs: number } | undefined
  /** Settles when the check that was asked for last has ended. undefined: it has. */
  #last: Promise<void> | undefined

  constructor(options: AgentPreflightOptions) {
    this.#options = options
  }

  async check(candidate: PreflightRequest): Promise<PreflightResult> {
    if (candidate.fallback) return this.#options.decode(candidate)
    const started = this.#jobs.get(candidate.key)
    // The result was not collected, and its dependencies have changed since.
    const isOutdated = started?.result !== undefined && started.dependencies !== this.#dependencies(candidate)
    const job = started === undefined || isOutdated ? this.#start(candidate) : started
    job.isAwaited = true
    await Promise.race([job.done, this.#options.sleep(WAIT_MS)])
    job.isAwaited = false
    if (job.result === undefined) return { kind: 'pending' }
    this.#jobs.delete(candidate.key)
    if (job.result instanceof Error) throw job.result
    if (job.dependencies === this.#dependencies(candidate)) return job.result
    // A setting or the running config changed during the check.
    this.#start(candidate)
    return { kind: 'pending' }
  }

  /** Ends the checks of configs that nothing names any more: another one was assigned meanwhile. */
  decided(snapshot: Snapshot): void {
    const named = namedKeys(snapshot)
    if (named === undefined) return
    for (const [key, { result, stopper }] of this.#jobs) {
      if (result !== undefined || named.has(key)) continue
      this.#jobs.delete(key)
      stopper.abort()
    }
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

  obstacle(kubeletIdentity: string): string | undefined {
    const { kubelet, detail, atUs } = this.#obstacle ?? { atUs: 0 }
    return kubelet === kubeletIdentity && this.#options.clock.now().monotonicUs - atUs < RECHECK_US ? detail : undefined
  }

  #dependencies({ basePath = '', source, data }: PreflightRequest): string {
    // The key of local is the same whatever its file holds.
    return `${this.basis()} ${basePath}${source === 'local' ? ` ${JSON.stringify(data)}` : ''}`
  }

  #start(candidate: PreflightRequest): Job {
    const basis = this.basis()
    if (basis !== this.#basis) this.#options.forget()
    this.#basis = basis
    const stopper = new AbortController()
    const run = async (): Promise<void> => {
      const { clock, onTimed } = this.#options
      const startedUs = clock.now().monotonicUs
      const result = stopper.signal.aborted ? undefined : await this.#inspect(candidate, stopper.signal)
      if (this.#last === job.done) this.#last = undefined
      // Nobody waits for a check that was ended, and one that ends with the agent has no result.
      if (result === undefined || stopper.signal.aborted || this.#options.signal.aborted) return
      onTimed((clock.now().monotonicUs - startedUs) / 1e6)
      job.result = result
      if (!job.isAwaited) this.#options.onDone()
    }
    const done = this.#last === undefined ? run() : this.#last.then(run)
    const job: Job = { stopper, dependencies: this.#dependencies(candidate), isAwaited: false, result: undefined, done }
    this.#last = done
    this.#jobs.set(candidate.key, job)
    const finished = [...this.#jobs].filter(([key, { result }]) => result !== undefined && key !== candidate.key)
    for (const [key] of finished.slice(0, Math.max(0, this.#jobs.size - JOBS_KEPT))) this.#jobs.delete(key)
    return job
  }

  async #inspect(candidate: PreflightRequest, signal: AbortSignal): Promise<PreflightResult | Error> {
    try {
      const report = await this.#options.inspect(candidate, AbortSignal.any([signal, this.#options.signal]))
      const obstacle = describeObstacle(report)
      // A config in doubt that kubelet was not asked about says nothing of it.
      const isAsked = !report.parts.some(({ part, outcome }) => part === 'source' && outcome === 'unjudged') || isAnswered(report)
      if (isAsked) this.#note(identityOfKey(candidate.key), obstacle?.message)
      return obstacle ?? toResult(report)
    } catch (error) {
      // A config that takes too much time or memory to read is refused: that is its own fault.
      if (error instanceof LimitError) return { kind: 'refused', reason: 'validate', detail: `preflight failed: ${error.message}` }
      return error instanceof Error ? error : new Error(String(error))
    }
  }

  #note(kubelet: string, detail: string | undefined): void {
    if (detail !== undefined) this.#obstacle = { kubelet, detail, atUs: this.#options.clock.now().monotonicUs }
    else if (this.#obstacle?.kubelet === kubelet) this.#obstacle = undefined
  }
}

/** undefined: kubelet is not known, and so neither are the keys. */
function namedKeys(snapshot: Snapshot): ReadonlySet<TrialKey> | undefined {
  const { unit, desiredContent } = snapshot
  if (unit.kind === 'unknown') return undefined
  const contents = [desiredContent, ...heldSources(snapshot).map(({ content }) => content)]
  return new Set(contents.flatMap((content) => (content === undefined ? [] : [trialKey(content, unit.kubeletIdentity)])))
}

/**
 * Why kubelet would start with no config. The config is not at fault, so this gives no verdict, and
 * the check is tried again. It goes before a refusal: that may send kubelet to another config, and
 * so end one that runs. undefined: nothing is known that keeps kubelet from starting.
 */
export function describeObstacle({ parts }: Report): Error | undefined {
  const obstacle = parts.find(({ outcome }) => outcome === 'cannot-start')
  return obstacle && new Error(`the kubelet on disk would not start with any config: ${obstacle.detail}; ${REPAIR}`)
}

function isAnswered({ parts }: Report): boolean {
  return parts.some(({ part, outcome }) => part === 'kubelet' && outcome !== 'unjudged')
}

export function toResult(report: Report): PreflightResult {
  if (report.outcome === 'refused') return { kind: 'refused', reason: refusalReason(report), detail: describeRefusal(report) }
  const warnings = report.findings.filter(({ severity }) => severity === 'warn').map(describeFinding)
  const unjudged = report.parts.filter(({ outcome }) => outcome === 'unjudged')
  // If kubelet cannot run at all, one remark is enough for both stages.
  const isMentioned = (part: string) => part === 'kubelet-start' && unjudged.some((other) => other.part === 'kubelet')
  const missing = unjudged.filter(({ part }) => !isMentioned(part)).map(({ part, detail }) => `the ${part} check could not run: ${detail}`)
  const listOf = (wanted: string) => [...new Set(report.findings.filter(({ rule }) => rule === wanted).map(({ path }) => formatPath(path)))]
  const managers = listOf(MANAGERS)
  const changed = report.parts.find(({ part }) => part === 'change')?.changed
  return {
    kind: 'accepted',
    remarks: [...warnings, ...missing],
    drain: listOf(REQUIRE_DRAIN),
    ...(managers.length > 0 && { managers }),
    ...(changed && { changed }),
  }
}
