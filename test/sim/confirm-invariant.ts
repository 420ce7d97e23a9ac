// SPDX-License-Identifier: Apache-2.0
/**
 * Invariant 18: a verdict is confirmed only as the table "When a config is tried again" of
 * docs/concepts.md says: once another config has been healthy for a while and has what the config
 * broke, and if the failure is in doubt, after three more tries with their pauses. Damage that no
 * restart undoes is proof enough by itself.
 */
import assert from 'node:assert/strict'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Step, StepOf } from '../../src/decision/step.ts'
import { findByKey, isSeenByHealth, type Verdict } from '../../src/decision/verdict.ts'
import type { ContentHash } from '../../src/subject/config-source.ts'
import { contentOfKey } from '../../src/subject/trial-key.ts'
import { HOUR_US, type Instant } from '../../src/values/durations.ts'
import { isOneWay, meaningOf } from './behaviour.ts'
import type { NodeWork } from './node-work.ts'
import { DIRECTORY } from './paths.ts'
import type { SimWorld } from './sim-world.ts'
import { isLastKnownGood } from './victims.ts'

const PAUSES_US = [600e6, HOUR_US, 6 * HOUR_US] as const
const FURTHER_US = 12 * HOUR_US
/** Words of a failure that the node may have caused: docs/evidence.md, "What a failure means". */
const OF_DISK = /no space left on device/
const OF_NETWORK = /network not ready/

export class ConfirmInvariant {
  readonly #world: SimWorld
  readonly #work: NodeWork
  /** How often each content was tried again, or may have been by an agent that died. */
  readonly #tries = new Map<ContentHash, number>()
  /** When each failed since then. */
  readonly #failed = new Map<ContentHash, Instant>()

  constructor(world: SimWorld, work: NodeWork) {
    this.#world = world
    this.#work = work
  }

  decided(snapshot: Snapshot, step: Step): void {
    if (step.kind === 'condemn' && !step.requested) this.#checkFailure(snapshot, step.verdict)
    if (step.kind === 'confirm') for (const verdict of step.verdicts) this.#checkConfirmed(verdict)
    if (step.kind === 'retry-failed') this.#checkRetrial(step)
    if (step.kind === 'retry-failed') this.#noteTry(step.verdict)
    if (step.kind === 'forgive') for (const verdict of step.suspend ?? []) this.#noteTry(verdict)
    if (step.kind === 'forgive') for (const key of step.drop) this.#failed.delete(contentOfKey(key))
  }

  #checkFailure({ verdicts }: Snapshot, verdict: Verdict): void {
    const { key, state, reason, detail, source, doubtful } = verdict
    const content = contentOfKey(key)
    const text = this.#textOf(source)
    if (!this.#failed.has(content)) this.#failed.set(content, this.#world.now())
    if (text === undefined) return
    const isKept = findByKey(verdicts, key)?.state === 'confirmed'
    assert(state === 'provisional' || isKept || isOneWay(text), `invariant 18: condemned at once: ${detail}: ${text}`)
    const hasPassed = !this.#tries.has(content) && isLastKnownGood(this.#world.files, text)
    const mayBeNodes = OF_DISK.test(detail) || (OF_NETWORK.test(detail) && !this.#world.unit.runtime.isMoved)
    assert(
      state === 'confirmed' || doubtful === true || !(hasPassed || mayBeNodes || reason === 'reboots'),
      `invariant 18: no doubt: ${detail}: ${text}`,
    )
  }

  #checkConfirmed({ key, reason, detail, source, doubtful, evidence }: Verdict): void {
    const { unit, nowUs, policy } = this.#world
    const about = `${detail}: ${this.#textOf(source)}`
    const { process } = unit
    assert(process !== undefined && process.text !== this.#textOf(source), `invariant 18: confirmed by no other config: ${about}`)
    const healthyUs = unit.isHealthy() ? nowUs - Math.max(process.startedAtUs, process.healthyFromUs) : 0
    assert(healthyUs >= policy.toleranceUs, `invariant 18: confirmed after ${healthyUs / 1e6} s of health: ${about}`)
    const isBack = evidence !== undefined && evidence !== 'process' && evidence !== 'healthz' && this.#work.hasShown(evidence)
    assert(isSeenByHealth(reason) || isBack || healthyUs >= policy.trialUs, `invariant 18: confirmed without evidence: ${about}`)
    const tries = this.#tries.get(contentOfKey(key)) ?? 0
    assert(doubtful !== true || tries >= PAUSES_US.length, `invariant 18: a doubt is confirmed after ${tries} more tries: ${about}`)
  }

  /** By either clock, of which one ends with the boot and the other may be set. */
  #checkRetrial({ verdict, number, recovered }: StepOf<'retry-failed'>): void {
    const failed = this.#failed.get(contentOfKey(verdict.key))
    if (failed === undefined || recovered === true) return
    const { bootId, monotonicUs, wallMs } = this.#world.now()
    const passedUs = Math.max(monotonicUs - (bootId === failed.bootId ? failed.monotonicUs : 0), (wallMs - failed.wallMs) * 1000)
    const pauseUs = PAUSES_US[number - 1] ?? FURTHER_US
    assert(passedUs >= pauseUs, `invariant 18: tried again (${number}) after ${Math.round(passedUs / 1e6)} s: ${verdict.detail}`)
  }

  #noteTry({ key }: Verdict): void {
    const content = contentOfKey(key)
    this.#tries.set(content, (this.#tries.get(content) ?? 0) + 1)
    this.#failed.delete(content)
  }

  /** undefined: local, or its checkpoint is gone. */
  #textOf(source: Verdict['source']): string | undefined {
    if (source === undefined || source === 'local') return undefined
    const bytes = this.#world.files.read(layoutOf(DIRECTORY).file(source))
    return bytes && meaningOf(bytes.toString())
  }
}
