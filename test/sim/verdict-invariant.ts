// SPDX-License-Identifier: Apache-2.0
/**
 * Invariant 13: no config is condemned, or restarted for a failure, before it has failed by the
 * table of times of docs/concepts.md, and nothing counts that is not the config's doing: a
 * container runtime that is silent, the time before a person started kubelet again, a pause. Nor
 * does evidence of a kind that the node has, or that it lacks for less than the times of
 * docs/evidence.md. And the health of a fallback that a person or a boot started confirms nothing.
 */
import assert from 'node:assert/strict'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Step, StepOf } from '../../src/decision/step.ts'
import { isOfResets, type Verdict } from '../../src/decision/verdict.ts'
import { RUNTIME_EXCUSE_US } from '../../src/health/excuse.ts'
import { isLocalText, meaningOf, type SimProcess } from './behaviour.ts'
import { EVIDENCE_LIMITS_US } from './evidence-times-invariant.ts'
import type { NodeWork } from './node-work.ts'
import { DIRECTORY } from './paths.ts'
import { STARVED_US } from './sim-troubles.ts'
import type { KubeletObserver, SimWorld } from './sim-world.ts'
import { areAlike, limitUs, RECURRING_EXITS, RECURRING_WITHIN_US, type SimExit } from './times.ts'
import { lastKnownGoodText } from './victims.ts'

const LAYOUT = layoutOf(DIRECTORY)
/** An answer of the container runtime may be so old. */
const ANSWER_AGE_US = 20e6
/** No container runtime excuses this many exits of kubelet. */
const EXCUSES_FEWER = 60

type Failure = Pick<Verdict, 'reason' | 'detail' | 'evidence' | 'doubtful'>

interface Exit extends SimExit {
  /** As `Facts.ownUs`. */
  readonly atOwnUs: number
  readonly boot: string
  readonly isExcused: boolean
  /** Kubelet has run for a whole trial since. */
  readonly isOver?: true
}

/** Events of kubelet with one config, as the world knows them. */
interface Facts {
  readonly exits: readonly Exit[]
  /** For how long kubelet has started with it. */
  readonly ownUs: number
  /** Since when it may be ill. */
  readonly illFromUs: number
}

const NOTHING: Facts = { exits: [], ownUs: 0, illFromUs: Number.NEGATIVE_INFINITY }

export class VerdictInvariant implements KubeletObserver {
  readonly #world: SimWorld
  readonly #work: NodeWork
  readonly #isPaused: () => boolean
  readonly #facts = new Map<string, Facts>()
  #boot = ''
  /** The agent has requested a start and not yet seen what came of it. */
  #requestedFrom: string | undefined
  /** The agent's own start has come, and no look since. */
  #isOwnUnseen = false
  /** Since the agent requested a start, each look has shown it in systemd's queue. */
  #isOwnQueued = false
  /** A person's start took the place of that. */
  #isOwnReplaced = false
  /**
   * A person started kubelet again right after the agent had, or before systemd carried that out,
   * and no look came in between. Both starts are manual ones with an invocation of their own: the
   * agent takes this one for its own.
   */
  #takenForOwn: string | undefined
  /** When kubelet was last found to be kept down. undefined: it is not. */
  #keptDownUs: number | undefined
  /** Since when the agent has looked in time: no health runs through a time in which it did not. */
  #seenFromUs = Number.NEGATIVE_INFINITY
  #suspensions = 0
  #lastUs = 0
  /** As systemd told at the last check, which was at its beginning or later. */
  #wait = { fromUs: 0, untilUs: 0 }

  constructor(world: SimWorld, work: NodeWork, isPaused: () => boolean) {
    this.#world = world
    this.#work = work
    this.#isPaused = isPaused
    world.onKubelet.push(this)
    world.checkRestart.push(() => {
      this.#requestedFrom = world.unit.invocationId
      this.#isOwnQueued = true
      this.#isOwnReplaced = false
    })
  }

  started({ text, startedBy, startedAtUs }: SimProcess): void {
    if (startedBy !== 'systemd') this.#change(text, { illFromUs: startedAtUs })
    if (startedBy === 'agent') this.#isOwnUnseen = true
    if (startedBy === 'person') this.#isOwnReplaced = this.#isOwnQueued
    this.#isOwnQueued = false
  }

  exited(process: SimProcess, said: string | undefined): void {
    const { nowUs: atUs, clock, kind } = this.#world
    const { text, startedAtUs } = process
    const { restartSeconds } = kind
    this.#age()
    const { exits, ownUs: atOwnUs } = this.#of(text)
    const isExcused = this.#isSilent(process) && !this.#isExcuseUsedUp(process)
    this.#change(text, { exits: [...exits, { startedAtUs, atUs, atOwnUs, said, restartSeconds, boot: clock.now().bootId, isExcused }] })
  }

  check(): void {
    const { unit, nowUs, clock } = this.#world
    const { bootId } = clock.now()
    // The clock starts anew.
    if (bootId !== this.#boot) for (const text of this.#facts.keys()) this.#change(text, { illFromUs: Number.NEGATIVE_INFINITY })
    if (bootId !== this.#boot) this.#seenFromUs = Number.NEGATIVE_INFINITY
    this.#boot = bootId
    this.#age()
    if (clock.suspensions !== this.#suspensions || this.#world.troubles.has('starved')) this.#seenFromUs = nowUs
    this.#suspensions = clock.suspensions
    const { process } = unit
    // None is to blame while none can start: the time of its illness stands still. But before
    // systemd starts it again, another unit keeps it from nothing.
    const isBarred = unit.isDependencyFailing && unit.activity !== 'auto-restart'
    const isKeptDown = process === undefined && (unit.isLeftByDependency || isBarred)
    if (isKeptDown) this.#standStill(this.#world.nextText() ?? '', nowUs - (this.#keptDownUs ?? nowUs))
    this.#keptDownUs = isKeptDown ? nowUs : undefined
    this.#standStillInWait()
    // A shorter health may fall between two looks.
    const isSeen = process !== undefined && nowUs - process.healthyFromUs > this.#world.lookUs
    const isExcused = process !== undefined && this.#isSilent(process) && !this.#isExcuseUsedUp(process)
    if (process !== undefined && ((this.#isWell && isSeen) || isExcused)) this.#change(process.text, { illFromUs: nowUs })
  }

  /** A shorter wait may fall between two looks. */
  #standStillInWait(): void {
    const { unit, nowUs, kind } = this.#world
    const { fromUs, untilUs } = this.#wait
    if (kind.restartSeconds * 1e6 > STARVED_US)
      this.#standStill(this.#world.nextText() ?? '', Math.max(0, Math.min(nowUs, untilUs) - fromUs))
    const isTold = unit.restartWait !== undefined && unit.lastStartedAtUs !== 0 && unit.systemctl.fault !== 'down'
    this.#wait = { fromUs: nowUs, untilUs: isTold ? unit.restartWait.untilUs : 0 }
  }

  #age(): void {
    const { nowUs } = this.#world
    const text = this.#world.nextText() ?? ''
    this.#change(text, { ownUs: this.#of(text).ownUs + Math.max(0, nowUs - this.#lastUs) })
    this.#lastUs = nowUs
  }

  decided({ running }: Snapshot, step: Step): void {
    const { unit, nowUs } = this.#world
    if (this.#requestedFrom !== undefined && this.#isStartSeen(this.#requestedFrom)) this.#seeStart()
    if (unit.activity !== 'queued') this.#isOwnQueued = false
    if (this.#isPaused()) this.#facts.clear()
    if (step.kind === 'confirm') this.#checkConfirmation(step)
    const failure = step.kind === 'try-again' ? step.failure : step.kind === 'condemn' && !step.requested ? step.verdict : undefined
    const isSame = running.kind === 'known' && running.invocationId === unit.invocationId
    if (failure?.reason === 'evidence' && isSame) this.#checkEvidence(failure)
    if (step.kind === 'condemn' && !step.requested) this.#checkFailure(step.verdict.source, step.verdict)
    if (step.kind === 'try-again') this.#checkFailure(step.source, step.failure)
    const { process } = unit
    if (process === undefined) return
    if (this.#isWell) this.#change(process.text, { illFromUs: nowUs })
    // For all that a look can show, it was healthy for a whole trial.
    const healthyUs = Math.min(nowUs, process.unhealthyFromUs) - Math.max(process.healthyFromUs, this.#seenFromUs)
    if (healthyUs > this.#world.policy.trialUs + 4 * this.#world.lookUs)
      this.#change(process.text, { exits: this.#of(process.text).exits.map((exit) => ({ ...exit, isOver: true })) })
  }

  #checkFailure(source: Verdict['source'], failure: Failure): void {
    const { reason, detail } = failure
    if (source === undefined || source === 'local') return
    const bytes = this.#world.files.read(LAYOUT.file(source))
    const text = bytes === undefined ? undefined : meaningOf(bytes.toString())
    if (text === undefined) return
    const { nowUs, policy, unit, lookUs } = this.#world
    const { exits, illFromUs } = this.#of(text)
    // Of the wait before a start in which systemd executes nothing, the agent may miss the end.
    const unseenWaitUs = unit.lastStartedAtUs === 0 ? lookUs : 0
    const about = `${detail}: ${text}`
    switch (reason) {
      case 'crash-loop':
        assert(this.#isLoop(this.#of(text)), `invariant 13: condemned after ${exits.length} exits: ${about}`)
        return
      case 'start-deadline':
        assert(
          nowUs - illFromUs >= limitUs('never healthy', policy) - unseenWaitUs,
          `invariant 13: condemned ${seconds(nowUs - illFromUs)} s after its start: ${about}`,
        )
        return
      case 'ill-health':
        assert(
          nowUs - illFromUs >= limitUs('no more healthy', policy),
          `invariant 13: condemned ${seconds(nowUs - illFromUs)} s after it was healthy: ${about}`,
        )
        return
      case 'reboots':
        assert(this.#world.victims.wasRebooted(text), `invariant 13: condemned for reboots: ${about}`)
    }
  }

  #isLoop({ exits, ownUs }: Facts): boolean {
    const { unit, policy, kind, clock, lookUs } = this.#world
    if (unit.activity === 'failed') return true
    const { bootId } = clock.now()
    const counting = exits.filter(({ boot, isExcused }) => boot === bootId && !isExcused)
    const recurring = counting.filter(({ atOwnUs }) => ownUs - atOwnUs < RECURRING_WITHIN_US)
    const charged = counting.filter(({ isOver }) => isOver !== true)
    return charged.length >= policy.crashLimit || recurring.length >= RECURRING_EXITS || (kind.journal && areAlike(charged, 2 * lookUs))
  }

  /** Of the process that runs. The node may lack it by itself, and the agent cannot know that. */
  #checkEvidence({ evidence, detail, doubtful }: Failure): void {
    const { unit, nowUs, policy, troubles } = this.#world
    const { process } = unit
    if (process === undefined || isLocalText(process.text)) return
    const about = `${detail}: ${process.text}`
    assert(evidence !== undefined && evidence !== 'process' && evidence !== 'healthz', `invariant 13: no such evidence: ${about}`)
    // Preflight does not say here what a config changes: any may have lost a pod.
    const mayHaveLost = evidence === 'pods' && doubtful === true && troubles.evictions.length > 0
    assert(this.#work.hasLacked(evidence) || mayHaveLost, `invariant 13: the config does not break ${evidence}: ${about}`)
    const { startedAtUs, healthyFromUs } = process
    // Whether or not kubelet is healthy.
    const isFromStart = evidence === 'lease' || evidence === 'runtime' || evidence === 'pods'
    const lackedUs = nowUs - (isFromStart ? startedAtUs : Math.max(startedAtUs, healthyFromUs))
    assert(lackedUs >= EVIDENCE_LIMITS_US[evidence](policy), `invariant 13: condemned after ${seconds(lackedUs)} s: ${about}`)
  }

  /**
   * A kubelet that a person or a boot started may be healthy by that, but no boot cures a config
   * with which the node resets, however it has failed since.
   */
  #checkConfirmation({ verdicts }: StepOf<'confirm'>): void {
    const { process } = this.#world.unit
    if (process === undefined || this.#requestedFrom !== undefined || this.#world.unit.invocationId === this.#takenForOwn) return
    const isByOthers = process.startedBy === 'person' || process.startedBy === 'boot'
    const doubted = verdicts.filter((verdict) => !isOfResets(verdict) && verdict.leavesState !== true)
    assert(
      !isByOthers || doubted.length === 0,
      `invariant 13: the health of what a ${process.startedBy} started confirms a verdict: ${doubted[0]?.detail}`,
    )
  }

  /** Without healthz, only the word of systemd that it is ready tells that a kubelet is well. */
  get #isWell(): boolean {
    const { unit } = this.#world
    return unit.isHealthy() && unit.activity !== 'starting'
  }

  /** No config keeps the runtime from answering, and the agent has had time to see it. */
  #isSilent({ text, startedAtUs }: SimProcess): boolean {
    const { unit, nowUs, lookUs } = this.#world
    const { runtime } = unit
    if (!runtime.isFaulty || !runtime.isUsedBy(text) || runtime.killer === text) return false
    const fallback = this.#world.faults.lookAside(() => lastKnownGoodText(this.#world.files))
    if (runtime.isBlamedOn(text, fallback)) return false
    const { fromUs, untilUs } = runtime.latestFault
    const marginUs = ANSWER_AGE_US + 2 * lookUs
    return Math.min(startedAtUs, nowUs) - fromUs > marginUs && untilUs - nowUs > marginUs && nowUs - fromUs < RUNTIME_EXCUSE_US - marginUs
  }

  /** By its exits with this config in this boot. */
  #isExcuseUsedUp({ text }: SimProcess): boolean {
    const { bootId, monotonicUs } = this.#world.now()
    const exits = this.#of(text).exits.filter(({ boot, isOver }) => boot === bootId && isOver !== true)
    const [first] = exits
    return exits.length >= EXCUSES_FEWER && first !== undefined && monotonicUs - first.atUs >= RUNTIME_EXCUSE_US
  }

  #seeStart(): void {
    const { process, invocationId } = this.#world.unit
    const { seenInvocation } = this.#world
    this.#requestedFrom = undefined
    const isTaken = (this.#isOwnUnseen || this.#isOwnReplaced) && process?.startedBy === 'person' && invocationId === seenInvocation
    this.#takenForOwn = isTaken ? invocationId : undefined
    this.#isOwnUnseen = false
    this.#isOwnReplaced = false
  }

  #isStartSeen(before: string): boolean {
    return this.#world.seenInvocation !== before
  }

  #of(text: string): Facts {
    return this.#facts.get(text) ?? NOTHING
  }

  /** Where nothing is known of before, the time begins. */
  #standStill(text: string, us: number): void {
    const { illFromUs } = this.#of(text)
    this.#change(text, { illFromUs: Number.isFinite(illFromUs) ? illFromUs + us : this.#world.nowUs })
  }

  #change(text: string, change: Partial<Facts>): void {
    this.#facts.set(text, { ...this.#of(text), ...change })
  }
}

function seconds(us: number): number {
  return Math.round(us / 1e6)
}
