// SPDX-License-Identifier: Apache-2.0
/**
 * The invariants of the design, checked from outside: against the files on the simulated disk, the
 * config that kubelet runs, and the commands it gets. A broken invariant throws an Error with its
 * number.
 *
 *  1. A file under checkpoints/ or rendered/ never changes once its directory has its final name
 *     (disk-invariants.ts).
 *  2. kubelet.env is absent, or names an existing checkpoint that passed preflight
 *     (disk-invariants.ts).
 *  3. Last-known-good is local, or a source that passed a whole trial (disk-invariants.ts).
 *  4. From every crash, the agent settles where it would have settled without the crash (sweep.ts).
 *  5. The agent restarts kubelet only if kubelet would start with other content than it runs. It
 *     never restarts a paused node, nor a kubelet that an operator stopped, and it never restarts
 *     endlessly (restart-invariant.ts).
 *  6. A config that fails is replaced by last-known-good, by the config before it or by local
 *     within the fallback budget (fallback-invariant.ts).
 *  7. Once nothing fails any more, the node gets to the assigned config without an operator
 *     (settled.ts).
 *  8. Status and condition say only what is true. On a node that is well, the condition becomes
 *     True (report-invariant.ts).
 *  9. A healthy kubelet is restarted only for the cluster's, an operator's or a verdict's sake. On
 *     a node that is well, it goes to local only where last-known-good has failed too
 *     (cause-invariant.ts).
 * 10. No good config stays condemned once its node is well, unless it failed before it had proved
 *     itself, through a fault of the node or an operator's doing (settled.ts, victims.ts).
 * 11. A config with which the node does not work is not promoted (evidence-invariant.ts).
 * 12. A config that did damage which no other config undoes is not tried again
 *     (evidence-invariant.ts), and one that leaves what keeps kubelet from starting with any other
 *     is not tried again and again (settled.ts).
 * 13. No config is condemned before it has failed by the table of times of docs/concepts.md, and
 *     nothing counts that is not its doing (verdict-invariant.ts).
 * 14. A config with which the machine resets is left after some resets (settled.ts).
 * 15. A config that fails is left within the table of times of docs/concepts.md, also during a
 *     pause of its ConfigMap (times-invariant.ts).
 * 16. Once the faults stop, or all but one, what is wanted and good runs within the table of times,
 *     or the documentation says why not (liveness.ts).
 * 17. A config on trial with which the node does not work, although kubelet is healthy, is left
 *     within the times of docs/evidence.md, whatever waits to replace it
 *     (evidence-times-invariant.ts).
 * 18. A verdict is confirmed only once another config works where that one did not, and one that is
 *     in doubt only after all its tries (confirm-invariant.ts).
 */
import { layoutOf } from '../../src/checkpoint/layout.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Step, StepOf } from '../../src/decision/step.ts'
import type { SimProcess } from './behaviour.ts'
import { CauseInvariant } from './cause-invariant.ts'
import { ConfirmInvariant } from './confirm-invariant.ts'
import { DiskInvariants } from './disk-invariants.ts'
import { EvidenceInvariant } from './evidence-invariant.ts'
import { EvidenceTimesInvariant } from './evidence-times-invariant.ts'
import { FallbackInvariant } from './fallback-invariant.ts'
import { NodeWork } from './node-work.ts'
import { DIRECTORY } from './paths.ts'
import { ReportInvariant } from './report-invariant.ts'
import { RestartInvariant } from './restart-invariant.ts'
import type { SimWorld } from './sim-world.ts'
import { TimesInvariant } from './times-invariant.ts'
import { VerdictInvariant } from './verdict-invariant.ts'
import { isLastKnownGood } from './victims.ts'

export class Invariants {
  readonly #world: SimWorld
  readonly #layout = layoutOf(DIRECTORY)
  /** The texts with which kubelet was healthy for a whole trial without a break. */
  readonly #proven = new Set<string>()
  readonly #disk: DiskInvariants
  readonly #evidence: EvidenceInvariant
  readonly #cause: CauseInvariant
  readonly #restarts: RestartInvariant
  readonly #fallback: FallbackInvariant
  readonly #reports: ReportInvariant
  readonly #times: TimesInvariant
  readonly #evidenceTimes: EvidenceTimesInvariant
  readonly #work: NodeWork
  readonly #verdicts: VerdictInvariant
  readonly #confirmed: ConfirmInvariant
  /** A boot counts once, however often the agent says so. */
  readonly #notedBoots = new Set<string>()
  #violation: unknown

  constructor(world: SimWorld) {
    this.#world = world
    const isProven = (text: string) => this.#proven.has(text)
    const isPaused = () => this.isPaused()
    this.#evidence = new EvidenceInvariant(world)
    this.#cause = new CauseInvariant(world)
    this.#disk = new DiskInvariants(world, isProven, (text) => {
      this.#evidence.checkPromotion(text)
      world.victims.proved(text)
    })
    this.#restarts = new RestartInvariant(world, isPaused)
    this.#fallback = new FallbackInvariant(world, isPaused)
    this.#reports = new ReportInvariant(world, isProven)
    this.#times = new TimesInvariant(world, isPaused)
    this.#evidenceTimes = new EvidenceTimesInvariant(world, isPaused)
    this.#work = new NodeWork(world)
    this.#verdicts = new VerdictInvariant(world, this.#work, isPaused)
    this.#confirmed = new ConfirmInvariant(world, this.#work)
    const checkRestart = () => {
      this.#restarts.checkRestart()
      this.#evidence.checkRestart()
    }
    world.checkRestart.push(() => this.#noteViolation(checkRestart))
  }

  decided(snapshot: Snapshot, step: Step): void {
    this.#noteViolation(() => {
      this.#disk.decided()
      this.#restarts.decided(snapshot, step)
      this.#evidence.decided(snapshot, step)
      this.#reports.decided(snapshot, step)
      if (step.kind === 'record-boot') this.#noteReboot(step)
      this.#verdicts.decided(snapshot, step)
      this.#confirmed.decided(snapshot, step)
      this.#times.decided(snapshot, step)
      this.#evidenceTimes.decided(snapshot, step)
      this.#cause.decided(snapshot, step)
    })
  }

  checkConditionAtRest(): void {
    this.#reports.checkConditionAtRest()
  }

  passed(step: Step): void {
    this.#fallback.passed(step)
  }

  /** Called after every step and after every change of the world. */
  check(): void {
    if (this.#violation !== undefined) throw this.#violation
    this.#noteProven()
    this.#work.check()
    this.#evidence.check()
    this.#fallback.check()
    this.#times.check()
    this.#evidenceTimes.check()
    this.#verdicts.check()
    this.#disk.check()
  }

  /** The agent, or the machine, has died. */
  agentDied(): void {
    this.#fallback.forget()
    this.#times.agentDied()
    this.#evidenceTimes.agentDied()
    this.#disk.agentDied()
  }

  /**
   * For checks within a step: the agent takes an error there for a failed step, so `check` throws
   * it again.
   */
  #noteViolation(check: () => void): void {
    try {
      this.#world.faults.lookAside(check)
    } catch (error) {
      this.#violation ??= error
      throw error
    }
  }

  /**
   * The node itself, as far as the agent can know: by a request on the node, by its copy of the
   * cluster, or by the record of that. A pause of the ConfigMap keeps nothing that fails.
   */
  isPaused(): boolean {
    const { files } = this.#world
    const hold = files.read(`${this.#layout.requests}/hold`)?.toString() ?? ''
    if (hold !== '') return hold.includes('paused')
    const { channelState } = this.#world.assignment.desired()
    if (channelState !== undefined) return channelState.paused?.on === 'Node'
    return files.read(this.#layout.record('channel-state'))?.toString().includes('"on":"Node"') ?? false
  }

  /** The agent charges it only if kubelet was started with that config, outside a pause. */
  #noteReboot({ trialBoots }: StepOf<'record-boot'>): void {
    const { unit, files, victims, clock } = this.#world
    const text = this.#world.nextText()
    const isReboot = trialBoots !== undefined && trialBoots.boots.length > 1
    if (!isReboot || text === undefined || this.isPaused() || isLastKnownGood(files, text)) return
    const { bootId } = clock.now()
    if (this.#notedBoots.has(`${bootId} ${text}`)) return
    this.#notedBoots.add(`${bootId} ${text}`)
    if (unit.process === undefined || unit.process.text === text) victims.rebooted(text, clock.wallMs)
  }

  #noteProven(): void {
    const { process } = this.#world.unit
    if (process !== undefined && healthyForUs(process, this.#world.nowUs) >= this.#world.policy.trialUs) this.#proven.add(process.text)
  }
}

function healthyForUs(process: SimProcess, nowUs: number): number {
  if (nowUs < process.healthyFromUs || nowUs >= process.unhealthyFromUs) return 0
  return nowUs - Math.max(process.startedAtUs, process.healthyFromUs)
}
