/**
 * Adapter: folds each reading of the record and the config into the Observation that silence is
 * derived from, and keeps it in /run so that a restarted agent continues with it.
 */
import type { RolloutSubject } from '../../decision/rollout-subject.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RecordStore } from '../../ports/store.ts'
import { type Observation, observe, observeTurn } from '../../rollout/silence.ts'
import type { RolloutConfig, RolloutDecision } from '../../rollout/view.ts'
import type { FoundRecord } from './read-record.ts'

export type ObservationStore = RecordStore<'observation' | 'rollout-turn'>

export class RecordSightings {
  readonly #store: ObservationStore
  readonly #clock: Clock

  constructor(store: ObservationStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** @param contactUs the contact time since the last call */
  see(
    found: Extract<FoundRecord, { kind: 'found' }>,
    config: RolloutConfig,
    { assignment }: Pick<RolloutSubject, 'assignment'>,
    contactUs: number,
  ): Observation {
    const { bootId, monotonicUs: nowUs } = this.#clock.now()
    const kept = this.#store.get('observation')
    const before = kept?.bootId === bootId ? kept.observation : undefined
    const { record, uid: recordUid, resourceVersion } = found
    const { uid: configUid, hash, plan } = config
    const retry = plan.ok ? plan.plan.retry : 0
    const observation = observe(before, { record, recordUid, resourceVersion, configUid, hash, assignment, retry, nowUs, contactUs })
    this.#store.put('observation', { bootId, observation })
    return observation
  }

  /** What was decided on this observation. */
  decided(observation: Observation, { letGo = false }: RolloutDecision): void {
    const { bootId, monotonicUs } = this.#clock.now()
    const after = observeTurn(observation, letGo, monotonicUs)
    if (after !== observation) this.#store.put('observation', { bootId, observation: after })
  }
}
