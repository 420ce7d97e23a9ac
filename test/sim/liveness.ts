// SPDX-License-Identifier: Apache-2.0
/**
 * Invariant 16: from the moment on at which the faults stop, or one of them stays for ever, what is
 * wanted and good runs and has passed its trial within the times of docs/concepts.md. Where it does
 * not, the reason is one that the documentation gives for just these facts. Each is counted.
 */

import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Wait } from '../../src/decision/step.ts'
import { isOfFailure } from '../../src/decision/verdict.ts'
import { contentOfKey } from '../../src/subject/trial-key.ts'
import { isGood, isLocalText, isRefused, meaningOf } from './behaviour.ts'
import type { SimWorld } from './sim-world.ts'
import { lateUs, limitUs, moreWaitUs } from './times.ts'
import { lastKnownGoodText } from './victims.ts'

/** The fault that stays for ever. */
export type Staying = 'nothing' | 'api-down'

/** As preflight takes here. */
const PREFLIGHT_US = 20e6
/** Of a config that comes, the one that it replaces, and two fallbacks of that. */
const MOST_FAILURES = 4
const RESTART_LIMIT = 'the hourly limit of restarts is reached'

/** How long it takes at most, from what runs at the moment to a trial that has passed. */
export function livenessUs({ policy, lookUs, kind }: SimWorld): number {
  const failing = 'never healthy'
  const failuresUs = MOST_FAILURES * (limitUs(failing, policy) + lateUs(failing, lookUs, policy) + moreWaitUs(kind, policy))
  return policy.spreadUs + PREFLIGHT_US + failuresUs + policy.trialUs + 4 * lookUs
}

/** undefined: none that the documentation gives. */
export function explainEnd(world: SimWorld, snapshot: Snapshot, wait: Wait, staying: Staying): string | undefined {
  const { unit, victims } = world
  const desired = staying === 'nothing' ? world.assignment.truth() : world.assignment.desired()
  const isLocal = unit.process !== undefined && isLocalText(unit.process.text)
  if (!unit.isHealthy()) {
    if (wait.phase === 'node-at-fault') return 'every config has failed: all are tried again after three trials'
    if (unit.leavings.isKilling) return 'what a config left keeps kubelet down until a person deletes it'
    return unit.isStoppedByOperator ? 'a person has stopped kubelet' : undefined
  }
  const isPaused = desired.channelState?.paused !== undefined && wait.phase === 'paused'
  if (isPaused) return 'it is paused, as far as is known: what ran goes on'
  if (desired.kind === 'local') return isLocal ? 'local is wanted, and runs' : undefined
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return 'it is not known what is wanted: what ran goes on'
  const { rendered, data } = desired.object
  const text = meaningOf((rendered?.data ?? data)[desired.ref.kubeletConfigKey] ?? '')
  const runs = unit.process?.text
  if (isRefused(text)) return runs === text ? undefined : 'what is wanted is refused: what ran goes on'
  if (!isGood(text, unit.version)) return explainBad(world, snapshot, wait, text)
  if (runs === text) {
    if (lastKnownGoodText(world.files) === text) return 'what is wanted runs, and has passed its trial'
    if (unit.process?.version !== unit.version) return 'kubelet was replaced on disk: the trial comes with its next start'
    const isAsked = staying === 'api-down' && snapshot.evidence?.process?.lease?.resourceVersion !== undefined
    if (isAsked && wait.phase === 'in-trial') return 'the API server was asked, and has to answer again before the trial passes'
  }
  const verdicts = [...snapshot.verdicts.values(), ...snapshot.suspendedVerdicts.values()].filter(
    ({ key, ...verdict }) => isOfFailure({ key, ...verdict }) && contentOfKey(key) === snapshot.assignedContent,
  )
  if (verdicts.some(({ doubtful }) => doubtful === true)) return 'it has failed, perhaps not by its own doing: it is tried again'
  if (verdicts.length > 0 && victims.excuseVerdict(text)) return 'it has failed before it had proved itself: condemned'
  if (wait.phase === 'restart-limit') return RESTART_LIMIT
  if (verdicts.length > 0 && verdicts.every(({ state }) => state === 'provisional'))
    return 'it has failed, and the fallback has yet to prove itself'
  return undefined
}

/** Preflight may have refused it, too. */
function explainBad({ unit }: SimWorld, snapshot: Snapshot, wait: Wait, text: string): string | undefined {
  if (unit.process?.text === text)
    return wait.phase === 'in-trial' || wait.phase === 'settled' ? 'what is wanted fails later: it is on trial' : undefined
  const keys = [...snapshot.verdicts.keys(), ...snapshot.suspendedVerdicts.keys()]
  if (keys.some((key) => contentOfKey(key) === snapshot.assignedContent)) return 'what is wanted fails: a fallback runs'
  const isRuntimeDown = wait.phase === 'runtime-down' && !unit.runtime.isUp(unit.runtime.endpointOf(text))
  if (isRuntimeDown) return 'the runtime that is wanted does not answer: kubelet is not restarted for a while'
  return wait.phase === 'restart-limit' ? RESTART_LIMIT : undefined
}
