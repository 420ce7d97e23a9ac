/**
 * Whether what kubelet says it runs is what was meant: asked once of each process that is well, said once. A flag that wins over the config goes unnoticed otherwise
 * (kubernetes issue 67580). It changes nothing, and never keeps the loop waiting.
 */
import type { Snapshot } from '../decision/snapshot.ts'
import type { KnownUnit } from '../decision/unit-state.ts'
import { formatPath } from '../kubelet/field-path.ts'
import type { Clock } from '../ports/clock.ts'
import type { KubeAnswer } from '../ports/kube-api.ts'
import type { Log } from '../ports/log.ts'
import { formatSide } from './change/change.ts'
import type { Comparison, Difference } from './change/check-same.ts'

export interface EffectCheckOptions {
  /** Kubelet's /configz, by way of the API server. */
  ask(): Promise<KubeAnswer>
  /** With the config that this unit's process was started with. */
  compare(configz: unknown, unit: KnownUnit): Promise<Comparison>
  readonly log: Log
  readonly clock: Clock
}

const AGAIN_US = 60e6
const MOST_NAMED = 10

export class EffectCheck {
  readonly #options: EffectCheckOptions
  #answered: string | undefined
  #nextUs = 0
  #said = ''

  constructor(options: EffectCheckOptions) {
    this.#options = options
  }

  decided({ running, unit, health }: Snapshot): void {
    if (running.kind !== 'known' || unit.kind !== 'known' || unit.process.kind !== 'checkpoint' || !health?.healthySinceUs) return
    const nowUs = this.#options.clock.now().monotonicUs
    if (running.invocationId === this.#answered || nowUs < this.#nextUs) return
    this.#nextUs = nowUs + AGAIN_US
    void this.#check(unit, running.invocationId).catch((error: unknown) =>
      this.#options.log.debug('what kubelet runs could not be compared', { error }),
    )
  }

  async #check(unit: KnownUnit, invocationId: string): Promise<void> {
    const { ask, compare, log } = this.#options
    const answer = await ask()
    // A server that is away is asked again; one that will not say is left alone until the next process.
    if (answer.kind === 'unreachable' || (answer.kind === 'refused' && answer.status >= 500)) return
    this.#answered = invocationId
    if (answer.kind === 'refused')
      return this.#sayOnce(`what kubelet runs is not compared with what was meant: /configz cannot be read: ${answer.detail}`)
    const comparison = await compare(answer.object, unit)
    if (!comparison.ok) return this.#sayOnce(`what kubelet runs is not compared with what was meant: ${comparison.detail}`)
    const { differences } = comparison
    if (differences.length === 0) return log.debug('kubelet runs what was meant')
    const named = differences.slice(0, MOST_NAMED).map(describe)
    const more = differences.length > named.length ? ` and ${differences.length - named.length} more` : ''
    log.warn(`kubelet runs something else than its config says: ${named.join('; ')}${more}`, { invocationId })
  }

  #sayOnce(text: string): void {
    if (text === this.#said) return
    this.#said = text
    this.#options.log.info(text)
  }
}

function describe({ path, meant, running, because }: Difference): string {
  return `${formatPath(path)} is ${formatSide(running)}, not ${formatSide(meant)}${because === undefined ? '' : ` (${because})`}`
}
