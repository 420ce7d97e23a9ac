// SPDX-License-Identifier: Apache-2.0
/**
 * One decision about the rollout from what was read, and what is known after it. Each reading is
 * folded into the observation that silence is derived from. Pure, apart from the clock and the
 * store.
 */

import type { RolloutSubject } from '../../decision/rollout-subject.ts'
import { configOf } from '../../decision/staging.ts'
import type { RolloutKnowledge } from '../../decision/staging-state.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RecordStore } from '../../ports/store.ts'
import { decideRollout } from '../../rollout/decide.ts'
import { keepOrder, paceOf } from '../../rollout/plan.ts'
import { type Progress, progressOf } from '../../rollout/progress.ts'
import { parseRecord, type RolloutRecord } from '../../rollout/record.ts'
import { type Observation, observeRecord, observeTurn } from '../../rollout/silence.ts'
import type { RolloutConfig, RolloutDecision, RolloutTurn, RolloutWrite } from '../../rollout/view.ts'
import type { FoundRecord } from './read-record.ts'
import type { RolloutClock } from './rollout-time.ts'

export interface Decided {
  readonly decision: RolloutDecision
  readonly knowledge: RolloutKnowledge
}

interface DecidingDeps {
  readonly nodeName: string
  readonly clock: Clock
  readonly store: ObservationStore
  readonly time: Pick<RolloutClock, 'timeFor'>
}

interface Reading {
  readonly found: Extract<FoundRecord, { kind: 'found' }>
  readonly config: RolloutConfig
  /** The contact time since the last decision. */
  readonly contactUs: number
  /** When the requests began, if this was read at its newest. */
  readonly confirmedAtUs: number | undefined
}

export class Deciding {
  readonly #deps: DecidingDeps
  readonly #sightings: RecordSightings

  constructor(deps: DecidingDeps) {
    this.#deps = deps
    this.#sightings = new RecordSightings(deps.store, deps.clock)
  }

  decide(subject: RolloutSubject, { found, config, contactUs, confirmedAtUs }: Reading): Decided {
    const { nodeName, clock, time } = this.#deps
    const observation = this.#sightings.see(found, config, subject, contactUs)
    const { record, resourceVersion } = found
    const nowUs = clock.now().monotonicUs
    const node = { ...subject.node, name: nodeName }
    const seen = { kind: 'read', record, resourceVersion, observation } as const
    const decision = decideRollout({ nowUs, node, config, record: seen, time: time.timeFor(config.plan, nowUs) })
    this.#sightings.decided(observation, decision)
    const progress = config.plan.ok
      ? progressOf(keepOrder(config.plan.plan, node.waves, node.zones), record, node.hash, observation)
      : undefined
    const failed = decision.failed === undefined ? {} : { failed: decision.failed }
    return { decision, knowledge: { ...aboutOf(subject), turn: decision.turn, confirmedAtUs, ...failed, progress } }
  }

  /** How far the rollout is with a write of this node. */
  progressAfter({ data }: RolloutWrite, { texts }: RolloutRecord, { plan }: RolloutConfig, { node }: RolloutSubject): Progress | undefined {
    const merged = Object.entries({ ...Object.fromEntries(texts), ...data }).filter(([, text]) => text !== null)
    const after = parseRecord(Object.fromEntries(merged))
    const observation = this.#deps.store.get('observation')?.observation
    if (!plan.ok || !after.ok || observation === undefined) return undefined
    return progressOf(keepOrder(plan.plan, node.waves, node.zones), after.record, node.hash, observation)
  }
}

/**
 * The decision while the record or the config cannot be read: a staged content stays staged, and
 * waits.
 */
export function decidedWait(subject: RolloutSubject, detail: string): Decided {
  const turn: RolloutTurn = { kind: 'wait', detail }
  return { decision: { turn, follow: true }, knowledge: { ...aboutOf(subject), turn, confirmedAtUs: undefined, progress: undefined } }
}

function aboutOf({ config, node }: RolloutSubject): Pick<RolloutKnowledge, 'config' | 'hash'> {
  return { config: configOf(config), hash: node.hash }
}

export type ObservationStore = RecordStore<'observation' | 'rollout-turn'>

/**
 * Folds each reading of the record and the config into the Observation that silence is derived
 * from, and keeps it in /run so that a restarted agent continues with it.
 */
class RecordSightings {
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
    const asked = { retry: plan.ok ? plan.plan.retry : 0, pace: paceOf(plan, config.paused?.on === 'ConfigMap') }
    const sighting = { record, recordUid, resourceVersion, configUid, hash, assignment, ...asked, nowUs, contactUs }
    const observation = observeRecord(before, sighting)
    this.#store.put('observation', { bootId, observation })
    return observation
  }

  /** Records the decision that was made on this observation. */
  decided(observation: Observation, { letGo = false }: RolloutDecision): void {
    const { bootId, monotonicUs } = this.#clock.now()
    const after = observeTurn(observation, letGo, monotonicUs)
    if (after !== observation) this.#store.put('observation', { bootId, observation: after })
  }
}
