// SPDX-License-Identifier: Apache-2.0
/**
 * Invariant 9: a healthy kubelet is restarted only for the cluster's, an operator's or a verdict's
 * sake. What is merely unknown, lost or refused restarts nothing. What the cluster wants is what
 * the agent was told, not what it recorded. And kubelet falls back to local only where
 * last-known-good has a verdict: one that nothing ails, only where that is confirmed.
 */
import assert from 'node:assert/strict'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Step } from '../../src/decision/step.ts'
import { findSuspended, findVerdict, holdsOnAnyKubelet, type Verdict } from '../../src/decision/verdict.ts'
import { LOCAL_CONTENT } from '../../src/subject/config-source.ts'
import { contentOfKey, type TrialKey, trialKey } from '../../src/subject/trial-key.ts'
import { isGood, isLocalText, meaningOf, type SimProcess } from './behaviour.ts'
import { isEditedSince, mayBeEarlier } from './lost-stamp.ts'
import { DIRECTORY } from './paths.ts'
import { textOf } from './sim-assignment.ts'
import type { KubeletObserver, SimWorld } from './sim-world.ts'

const RECORD = layoutOf(DIRECTORY).record('assigned')

export class CauseInvariant implements KubeletObserver {
  readonly #world: SimWorld
  /**
   * The content that the agent was told when it wrote the record of the assignment, as that is now.
   */
  #recorded = LOCAL_CONTENT as string
  #record: string | undefined
  /**
   * The contents that the agent was told each time it set out to write that record since. A disk
   * may fail, or the agent may die, and then the record stays as it was.
   */
  #told: (string | undefined)[] = []
  /**
   * The contents whose verdicts were forgotten, as by an operator's retry, and that have not run
   * since.
   */
  readonly #retried = new Set<string>()
  /** Of the verdicts that were given while something was amiss. */
  readonly #caused = new Set<TrialKey>()
  /** The text that kubelet runs, or ran last. */
  #ran = ''
  /** Local was started since last-known-good, which has not failed, could not be put in place. */
  #isStandIn = false
  /** Lately the agent could not put in place what it wanted there. */
  #isKeptOut = false

  constructor(world: SimWorld) {
    this.#world = world
    world.onKubelet.push(this)
  }

  started({ text }: SimProcess): void {
    // Also by systemd, with a local config that somebody has put back.
    const isNew = !isLocalText(this.#ran) && this.#isKeptOut
    this.#isStandIn = isLocalText(text) && (this.#isStandIn || isNew)
    this.#ran = text
  }

  exited(): void {}

  decided(snapshot: Snapshot, step: Step): void {
    this.#follow()
    this.#isKeptOut = snapshot.troubles.some(({ step: failed }) => failed === 'activate')
    const told = findTold(snapshot)
    if (step.kind === 'assign' || step.kind === 'reset-to-local') this.#told.push(told)
    if (snapshot.running.kind === 'known') this.#retried.delete(snapshot.running.content)
    if (step.kind === 'forgive') for (const key of step.drop) this.#retried.add(contentOfKey(key))
    if (step.kind === 'condemn' && this.#isAnythingAmiss()) this.#caused.add(step.verdict.key)
    if (step.kind !== 'restart') return
    // Kubelet that ran local last is sent nowhere: a person may have started it so.
    if (step.to === 'local' && told !== LOCAL_CONTENT && !isLocalText(this.#ran)) this.#checkWayToLocal(snapshot)
    if (!this.#world.unit.isHealthy()) return
    const { target } = step.record
    const next = contentOfKey(target) === LOCAL_CONTENT ? LOCAL_CONTENT : this.#world.nextText()
    // A version that comes back with other content leaves the record as it is.
    const recorded = [this.#recorded, ...(this.#world.wasRestored ? this.#told : [])]
    const isWanted = next !== undefined && (next === told || recorded.includes(next))
    const { kind } = snapshot.desired
    assert(
      isWanted ||
        isCondemned(snapshot) ||
        this.#isFallbackTriedAgain(snapshot, target) ||
        (this.#isStandIn && contentOfKey(target) === snapshot.lastKnownGood.content) ||
        mayBeEarlier(this.#world, snapshot) ||
        isEditedSince(this.#world, snapshot),
      `invariant 9: a healthy kubelet is restarted into ${target}, and ${kind} is desired`,
    )
  }

  /** Local is the last resort. */
  #checkWayToLocal(snapshot: Snapshot): void {
    const { assigned, lastKnownGood, verdicts, troubles } = snapshot
    const { source, content } = lastKnownGood
    if (source === 'local' || content === undefined || (assigned.kind === 'source' && assigned.source === 'local')) return
    const own = [...verdicts.values()].filter(({ key }) => contentOfKey(key) === content)
    const text = this.#world.unit.process?.text
    assert(own.length > 0 || troubles.length > 0, `invariant 9: kubelet is sent to local past last-known-good: ${text}`)
    this.#isStandIn = own.length === 0
    const hasCause = own.some((verdict) => this.#hasCause(verdict)) || this.#isAnythingAmiss() || isRolledBack(snapshot)
    assert(hasCause, `invariant 9: a healthy kubelet is sent to local: ${text}`)
  }

  /** What was amiss may be over when systemd takes the restart at last. */
  #hasCause(verdict: Verdict): boolean {
    return verdict.state === 'confirmed' || this.#caused.has(verdict.key)
  }

  /** With kubelet, or with the node: also what the agent may have seen last. */
  #isAnythingAmiss(): boolean {
    const { unit, nowUs, policy, lookUs, troubles, kind } = this.#world
    const { process } = unit
    if (process === undefined || !unit.isNodeWell() || !isGood(process.text, process.version)) return true
    // Evidence is asked of the fallback, too, and is in doubt while the pod network is away.
    if (kind.evidence && nowUs < troubles.endUs('not-ready') + 2 * lookUs) return true
    return nowUs - process.healthyFromUs < policy.toleranceUs + 2 * lookUs
  }

  /**
   * A better fallback than the one that runs, by the agent, by an operator's retry, or since it
   * failed on another kubelet. Also while what is assigned waits, as for the end of a pause of its
   * ConfigMap.
   */
  #isFallbackTriedAgain({ lastKnownGood, previous, left = [], verdicts, suspendedVerdicts }: Snapshot, target: TrialKey): boolean {
    const content = contentOfKey(target)
    if (![lastKnownGood, previous, ...left].some((held) => held.content === content)) return false
    const isOnOther = [...verdicts.keys()].some((key) => key !== target && contentOfKey(key) === content)
    return isOnOther || findSuspended({ suspendedVerdicts }, target) !== undefined || this.#retried.has(content)
  }

  #follow(): void {
    const record = this.#world.files.read(RECORD)?.toString()
    if (record === this.#record) return
    this.#record = record
    this.#recorded = this.#told.at(-1) ?? this.#recorded
    this.#told = []
  }
}

/** By the cluster or an operator, not by the agent's records. undefined: neither says it. */
function findTold({ desired, requests }: Snapshot): string | undefined {
  if (requests.hold === 'local' || desired.kind === 'local') return LOCAL_CONTENT
  const text = textOf(desired)
  return text === undefined ? undefined : meaningOf(text)
}

/**
 * An operator rolled back what runs, while last-known-good cannot be had: it failed on this
 * kubelet, and is not tried again yet.
 */
function isRolledBack(snapshot: Snapshot): boolean {
  const { unit, running, lastKnownGood, verdicts } = snapshot
  if (unit.kind === 'unknown' || running.kind !== 'known' || lastKnownGood.content === undefined) return false
  return verdicts.get(running.key)?.reason === 'requested' && findVerdict(snapshot, lastKnownGood.content, unit) !== undefined
}

/** Whether the running config has failed, or the assigned one has, so that a fallback runs. */
function isCondemned({ unit, running, assignedContent, verdicts, policy }: Snapshot): boolean {
  if (unit.kind === 'unknown') return false
  const contents = [running.kind === 'known' ? running.content : undefined, assignedContent]
  const keys = contents.flatMap((content) => (content === undefined ? [] : [trialKey(content, unit.kubeletIdentity)]))
  // The kubelet that runs may have been upgraded on disk since it started.
  if (running.kind === 'known') keys.push(running.key)
  // Some verdicts hold on any kubelet.
  const isAlike = ({ key }: Verdict) => contents.includes(contentOfKey(key))
  for (const verdict of verdicts.values()) if (holdsOnAnyKubelet(verdict) && isAlike(verdict)) keys.push(verdict.key)
  return keys.some((key) => {
    const verdict = verdicts.get(key)
    return verdict !== undefined && (verdict.state !== 'refused' || policy.whenRefused === 'last-known-good')
  })
}
