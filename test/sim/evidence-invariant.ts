// SPDX-License-Identifier: Apache-2.0
/**
 * Invariant 11: a config with which the node does not work is not promoted. Invariant 12: a config
 * that did damage which no other config undoes is not tried again.
 *
 * Evidence is a comparison with what was before, over a whole trial. So what happens to a process,
 * or before its start, may leave it without evidence: that excuses the config with which it runs,
 * and no other. It excuses a promotion only where the agent could not read the evidence, or the
 * node is known to have worked no better before: where nobody knows that, a trial is held.
 */
import assert from 'node:assert/strict'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Step } from '../../src/decision/step.ts'
import type { TrialKey } from '../../src/subject/trial-key.ts'
import { behaviourOf, breaksNode, isOneWay } from './behaviour.ts'
import { STARVED_US } from './sim-troubles.ts'
import type { SimWorld } from './sim-world.ts'

/** A kubelet reports within 10 s, and a busy agent looks late. */
const BASELINE_US = 20e6
const QUEUED_US = 100e3

export class EvidenceInvariant {
  readonly #world: SimWorld
  /** Condemned for damage that does not pass. */
  readonly #damaging = new Set<string>()
  /** By the last step. */
  #condemned: { readonly key: TrialKey; readonly text: string; readonly crashAt: SimWorld['crashAt'] } | undefined
  #lostStates = 0
  #requested: { readonly atUs: number; readonly bootId: string } | undefined
  #seenInvocation = ''

  constructor(world: SimWorld) {
    this.#world = world
  }

  decided(snapshot: Snapshot, step: Step): void {
    const { crashAt, unit } = this.#world
    const condemned = this.#condemned
    // An agent that died before it wrote the verdict has condemned nothing.
    const isCut = condemned?.crashAt !== crashAt && snapshot.verdicts.get(condemned?.key ?? '')?.damage !== 'one-way'
    if (condemned !== undefined && !isCut) this.#damaging.add(condemned.text)
    const text = unit.process?.text
    const isDamage = step.kind === 'condemn' && step.verdict.damage === 'one-way' && text !== undefined
    this.#condemned = isDamage ? { key: step.verdict.key, text, crashAt } : undefined
    if (step.kind === 'forgive' && step.requested) this.#forget()
  }

  #forget(): void {
    this.#damaging.clear()
    this.#world.unit.leavings.countAnew()
  }

  /** The agent is about to restart kubelet. */
  checkRestart(): void {
    const { unit, nowUs, clock, cluster, doubts, lostStates } = this.#world
    if (lostStates !== this.#lostStates) this.#forget()
    this.#lostStates = lostStates
    const next = this.#world.nextText() ?? ''
    assert(!isOneWay(next) || !this.#damaging.has(next) || doubts.has(next), `invariant 12: tried again: ${next}`)
    const before = unit.process
    // Nothing that was read before the restart shows how the node was.
    const isKnown = before !== undefined && unit.isHealthy() && nowUs - before.healthyFromUs > BASELINE_US
    // A node that is known not to have been Ready shows nothing of a config that keeps it so.
    const isUnready = behaviourOf(next) === 'not-ready' && nowUs - BASELINE_US < this.#world.troubles.endUs('not-ready')
    const lookUs = this.#world.troubles.has('starved') ? STARVED_US : this.#world.lookUs
    const isLike = isUnready || (before !== undefined && breaksNode(before.text))
    if (!isKnown || isLike || !cluster.isUp(nowUs)) doubts.add(next)
    else doubts.restarted(before.text, next, lookUs)
    if (isLike) this.#world.unreadable.add(next)
    else if (before !== undefined) this.#world.unreadable.restarted(before.text, next, lookUs)
    this.#requested = { atUs: nowUs, bootId: clock.now().bootId }
  }

  check(): void {
    const { unit, clock, cluster, nowUs, doubts } = this.#world
    const { process, invocationId } = unit
    if (process === undefined) return
    const isNew = invocationId !== this.#seenInvocation
    this.#seenInvocation = invocationId
    // Systemd may queue a start. After a reboot the clock starts anew.
    const { atUs, bootId } = this.#requested ?? { atUs: Number.NEGATIVE_INFINITY }
    const queuedUs = process.startedAtUs - atUs
    const isByAgent = bootId === clock.now().bootId && queuedUs >= 0 && queuedUs <= QUEUED_US
    if (isNew && !isByAgent) doubts.add(process.text)
    if (!unit.isNodeWell() || nowUs < this.#world.agentFromUs) doubts.add(process.text)
    // A restart does not wait for an API server that does not answer what is asked before it, or is
    // too busy to, and what was asked is not asked again when the server answers. Nor does a trial
    // wait for one that is too busy.
    const isSilent = !cluster.isUp(nowUs) || this.#world.troubles.has('api-busy')
    if (isSilent)
      for (const text of [process.text, this.#world.nextText() ?? '']) {
        doubts.add(text)
        this.#world.unreadable.add(text)
      }
  }

  checkPromotion(text: string): void {
    const { doubts } = this.#world
    // Which pods ran before is not known where nobody was there to see it.
    const isExcused = behaviourOf(text) === 'refuses-pods' ? doubts.has(text) : this.#world.unreadable.has(text)
    assert(!breaksNode(text) || isExcused, `invariant 11: promoted, and the node does not work: ${text}`)
    doubts.promoted(text)
    this.#world.unreadable.promoted(text)
  }
}
