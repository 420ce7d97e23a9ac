// SPDX-License-Identifier: Apache-2.0
/**
 * Compares the config that kubelet reports at /configz with the config file it was started with.
 * Runs once for each healthy kubelet process and logs each result once. Without it, a flag that
 * overrides the config goes unnoticed (kubernetes issue 67580). It changes nothing and never
 * delays the loop.
 */
import type { Snapshot } from '../decision/snapshot.ts'
import { formatPath } from '../kubelet/field-path.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { ConfigzAnswer } from '../ports/preflight.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { formatSide } from './change/change.ts'
import type { Comparison, Difference } from './change/check-same.ts'

interface EffectCheckOptions {
  /** Asks this unit's kubelet, or the API server in its place, for /configz. */
  ask(unit: KnownUnit): Promise<ConfigzAnswer>
  /** Compares with the config that this unit's process was started with, which is at this path. */
  compare(configz: unknown, unit: KnownUnit, path: string | undefined): Promise<Comparison>
  /** Where the config is that the process was started with. */
  findPath(unit: KnownUnit, snapshot: Snapshot): string | undefined
  /** Called after each comparison, and with 0 for a process that is not compared yet. */
  readonly onCompared: (differences: number) => void
  readonly log: Log
  readonly clock: Clock
}

const RETRY_US = 60e6
const MOST_NAMED = 10
const NOT_COMPARED = "kubelet's running config is not compared with its config file"

export class EffectCheck {
  readonly #options: EffectCheckOptions
  /** Invocation id of the process that has been compared. */
  #checked: string | undefined
  /** Invocation id of the process that the last count is about. */
  #counted: string | undefined
  #nextUs = 0
  #logged = ''

  constructor(options: EffectCheckOptions) {
    this.#options = options
  }

  decided(snapshot: Snapshot): void {
    const { running, unit, health } = snapshot
    if (running.kind === 'known' && running.invocationId !== this.#counted) {
      this.#counted = running.invocationId
      this.#options.onCompared(0)
    }
    if (running.kind !== 'known' || unit.kind !== 'known' || !runsCheckpoint(snapshot) || !health?.healthySinceUs) return
    const nowUs = this.#options.clock.now().monotonicUs
    if (running.invocationId === this.#checked || nowUs < this.#nextUs) return
    this.#nextUs = nowUs + RETRY_US
    void this.#check(unit, running.invocationId, this.#options.findPath(unit, snapshot)).catch((error: unknown) =>
      this.#options.log.debug(NOT_COMPARED, { error }),
    )
  }

  async #check(unit: KnownUnit, invocationId: string, path: string | undefined): Promise<void> {
    const { ask, compare, onCompared, log } = this.#options
    const answer = await ask(unit)
    // Retried while the server fails; after a refusal not before kubelet's next process.
    if (answer.kind === 'unreachable' || (answer.kind === 'refused' && answer.status >= 500)) return
    this.#checked = invocationId
    if (answer.kind !== 'ok') return this.#logOnce(`${NOT_COMPARED}: cannot read /configz: ${answer.detail}`)
    const comparison = await compare(answer.object, unit, path)
    if (!comparison.ok) return this.#logOnce(`${NOT_COMPARED}: ${comparison.detail}`)
    const { differences } = comparison
    onCompared(differences.length)
    if (differences.length === 0) return log.debug("kubelet's running config matches its config file")
    const named = differences.slice(0, MOST_NAMED).map(describe)
    const more = differences.length > named.length ? ` and ${differences.length - named.length} more` : ''
    log.warn(`kubelet's running config differs from its config file: ${named.join('; ')}${more}`, { invocationId })
  }

  #logOnce(text: string): void {
    if (text === this.#logged) return
    this.#logged = text
    this.#options.log.info(text)
  }
}

/** Where `--config` stays the same, the content says what runs. */
function runsCheckpoint({ running, unit, nextStart }: Snapshot): boolean {
  if (unit.kind === 'unknown' || running.kind !== 'known') return false
  if (unit.process.kind === 'checkpoint') return true
  const isFixed = unit.wiring.kind === 'ready' && unit.wiring.configFlagIsFixed
  return isFixed && nextStart.kind === 'known' && nextStart.held.source !== 'local' && nextStart.held.content === running.content
}

function describe({ path, meant, running, because }: Difference): string {
  return `${formatPath(path)} is ${formatSide(running)}, not ${formatSide(meant)}${because === undefined ? '' : ` (${because})`}`
}
