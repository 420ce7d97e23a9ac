// SPDX-License-Identifier: Apache-2.0
/** Waiting, until something changes or it is time to look again. Pure. */

import { createHash } from 'node:crypto'
import type { HealthRecord } from '../health/fold.ts'
import { healthOfRunning } from '../health/process.ts'
import { type ConfigSource, sameSource } from '../subject/config-source.ts'
import { formatDuration, MINUTE_US } from '../values/durations.ts'
import { PHASES, type Phase } from './phases.ts'
import type { SpreadRecord } from './records.ts'
import { decideRestart } from './restarts.ts'
import { findRolloutTurn } from './rollout-turn.ts'
import type { Snapshot } from './snapshot.ts'
import { aboutOf, type Step, type Wait } from './step.ts'
import { assess, type Target } from './target.ts'
import { measureTrial } from './trial.ts'

const CLOSE_US = 1e6
const TRIAL_US = 5e6
const SETTLED_US = 20e6

/**
 * How often to look again when nothing wakes the loop. Where systemd cannot be heard, a look costs
 * 4.4 ms of CPU (`systemctl show`), so a settled node is looked at rarely.
 */
export function cadenceUs(snapshot: Snapshot, phase: Phase): number {
  const { policy } = snapshot
  // The gap between two looks must not be taken for an outage of the agent.
  const ceilingUs = Math.min(policy.toleranceUs / 3, policy.startDeadlineUs / 3)
  return Math.max(100e3, Math.min(ceilingUs, wantedUs(snapshot, phase)))
}

function wantedUs(snapshot: Snapshot, phase: Phase): number {
  const { health, running, now, policy } = snapshot
  const { looks } = PHASES[phase]
  if (looks === 'by-illness') return health === undefined || isIll(health) ? CLOSE_US : SETTLED_US
  if (looks !== 'by-age') return looks
  const healthySinceUs = findHealthySince(snapshot)
  const healthyUs = now.monotonicUs - (healthySinceUs ?? now.monotonicUs)
  if (phase !== 'in-trial' && healthyUs > policy.trialUs) return SETTLED_US
  const young = running.kind !== 'known' || now.monotonicUs - running.startedAtUs < policy.startDeadlineUs
  return young || healthySinceUs === undefined ? CLOSE_US : TRIAL_US
}

/** With what kubelet starts with next or, where that does not run, with what runs. */
function findHealthySince(snapshot: Snapshot): number | undefined {
  return snapshot.health?.healthySinceUs ?? healthOfRunning(snapshot)?.healthySinceUs
}

/** With what kubelet starts with next, or with what runs. */
function isIll({ unhealthySinceUs, process }: HealthRecord): boolean {
  return unhealthySinceUs !== undefined || process?.unhealthySinceUs !== undefined
}

export function failedLately({ troubles, now }: Snapshot, step: Step): boolean {
  return troubles.some(({ step: kind, about, retryAtUs }) => kind === step.kind && about === aboutOf(step) && now.monotonicUs < retryAtUs)
}

export const ASSIGNED_DAMAGED = 'meta/assigned was damaged or lost, and the assignment has not been read again yet'

/**
 * @param atUs when the wait ends by itself. A time in the past is not waited for: what was due then
 * could not be done.
 */
export function wait(snapshot: Snapshot, phase: Phase, detail: string, atUs = Number.POSITIVE_INFINITY): Wait {
  const nowUs = snapshot.now.monotonicUs
  const ahead = [atUs, ...snapshot.troubles.map(({ retryAtUs }) => retryAtUs)].filter((time) => time > nowUs)
  return { kind: 'wait', phase, detail, untilUs: Math.min(...ahead, nowUs + cadenceUs(snapshot, phase)) }
}

interface Awaited {
  /** undefined: nothing is on trial, or kubelet is not healthy with it yet. */
  readonly trial: { readonly sinceUs: number; readonly untilUs: number } | undefined
  /** This node's turn in a spread, or the end of the hourly limit of restarts. */
  readonly waitUntilUs: number | undefined
}

const NOTHING: Awaited = { trial: undefined, waitUntilUs: undefined }

export function findAwaited(snapshot: Snapshot, phase: Phase): Awaited {
  const { target, awaitingTurn } = assess(snapshot)
  if (target === undefined) return NOTHING
  const trial = phase === 'in-trial' ? measureTrial(snapshot, target.key) : undefined
  return {
    trial: trial && { sinceUs: trial.endsAtUs - snapshot.policy.trialUs, untilUs: trial.endsAtUs },
    // In a rollout each write of another node moves this time, and it is published.
    waitUntilUs: phase === 'rollout' ? undefined : findEndUs(snapshot, phase, awaitingTurn ?? target),
  }
}

/** undefined: the wait does not end by itself. */
export function findEndUs(snapshot: Snapshot, phase: Phase, target: Target): number | undefined {
  const { unit } = snapshot
  if (phase === 'spread') {
    const turn = findSpreadTurn(snapshot, target.source)
    return turn.kind === 'wait-until' ? turn.atUs : undefined
  }
  if (phase === 'rollout') {
    const turn = findRolloutTurn(snapshot, target.source, target.content)
    return turn?.kind === 'wait-until' ? turn.atUs : undefined
  }
  if (phase === 'restart-limit' && unit.kind === 'known') {
    const decision = decideRestart(snapshot, unit, target)
    return decision.kind === 'limit' ? decision.untilUs : undefined
  }
  return undefined
}

/**
 * Whether it is this node's turn after a change of something that nodes share (an edit, another
 * winner of a selector, a ConfigMap that is gone), so that it does not restart a fleet at once. The
 * delay follows from node name and version, so it survives restarts and can be foreseen.
 *
 * Values that are computed from the Node come first: a label that a controller adds after the Node
 * has joined, or capacity that is still counted, must not restart kubelet twice. `isOfFacts`: the
 * wait is for them.
 */
export type SpreadTurn =
  | { readonly kind: 'go' }
  | { readonly kind: 'wait-until'; readonly atUs: number; readonly detail: string; readonly isOfFacts?: true }

/** For how long the facts of a Node must have held before kubelet is restarted for them. */
const FACTS_HOLD_US = MINUTE_US

export function findSpreadTurn(snapshot: Pick<Snapshot, 'nodeName' | 'now' | 'spread' | 'policy'>, source: ConfigSource): SpreadTurn {
  const { nodeName, now, policy } = snapshot
  const spread = findSpread(snapshot, source)
  if (spread === undefined) return { kind: 'go' }
  const heldAtUs = spread.factsSinceUs === undefined ? now.monotonicUs : spread.factsSinceUs + FACTS_HOLD_US
  if (now.monotonicUs < heldAtUs) {
    const detail = `the facts that its values are computed from must have held for ${formatDuration(FACTS_HOLD_US)}`
    return { kind: 'wait-until', atUs: heldAtUs, detail, isOfFacts: true }
  }
  if (spread.own === true) return { kind: 'go' }
  const atUs = spread.sinceUs + spreadDelayUs(nodeName, source, policy.spreadUs)
  if (now.monotonicUs >= atUs) return { kind: 'go' }
  return { kind: 'wait-until', atUs, detail: `shared changes are spread over ${formatDuration(policy.spreadUs)}` }
}

/** undefined: nothing says that other nodes have the source as well. */
export function findSharedSpread(snapshot: Pick<Snapshot, 'now' | 'spread'>, source: ConfigSource): SpreadRecord | undefined {
  const spread = findSpread(snapshot, source)
  return spread?.own === true ? undefined : spread
}

/** undefined: none of this source and this boot. */
function findSpread({ now, spread }: Pick<Snapshot, 'now' | 'spread'>, source: ConfigSource): SpreadRecord | undefined {
  return spread?.bootId === now.bootId && sameSource(spread.source, source) ? spread : undefined
}

/** Uniform in [0, spreadUs). */
export function spreadDelayUs(nodeName: string, source: ConfigSource, spreadUs: number): number {
  const version = source === 'local' ? 'local' : `${source.uid}\n${source.resourceVersion}`
  const digest = createHash('sha256').update(`${nodeName}\n${version}`).digest()
  return Math.floor((digest.readUInt32BE(0) / 2 ** 32) * spreadUs)
}
