// SPDX-License-Identifier: Apache-2.0
/**
 * Invariant 5: the agent restarts kubelet only if kubelet would start with other content than it
 * runs, or if what runs has failed. It never restarts a paused node, nor a kubelet that an operator
 * stopped, and it never restarts endlessly.
 */
import assert from 'node:assert/strict'
import { listLeft } from '../../src/decision/left.ts'
import { listOfBoot, type RestartRecord } from '../../src/decision/records.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Step } from '../../src/decision/step.ts'
import { type HeldSource, LOCAL_CONTENT, sameSource } from '../../src/subject/config-source.ts'
import { contentOfKey, type TrialKey } from '../../src/subject/trial-key.ts'
import { behaviourOf, cpuPolicyOf, isLocalText, meaningOf } from './behaviour.ts'
import { isEditedSince, mayBeEarlier } from './lost-stamp.ts'
import { POLICY } from './policy.ts'
import type { SimWorld } from './sim-world.ts'
import { isLastKnownGood } from './victims.ts'

interface Restart {
  readonly atUs: number
  readonly boot: string
  /** The restart is exempt from the hourly limit. */
  readonly exempt: boolean
  /** Systemd had given kubelet up, and it is no fallback. */
  readonly failed: boolean
  readonly target: TrialKey | undefined
  /** A config has left something with which no other one starts: all are tried, in vain. */
  readonly inVain: boolean
}

export class RestartInvariant {
  readonly #world: SimWorld
  readonly #isPaused: () => boolean
  #restarts: Restart[] = []
  #lostRuntimes = 0
  #lastStep: Step | undefined
  /** For all that the agent knew when it decided. */
  #mayBeEarlier = false
  #failedReads = 0
  /**
   * Assigned while the disk did not return what it is compared with: in doubt, two texts are two
   * configs.
   */
  #uncompared: string | undefined
  #runsLocal = false
  /** The configs that a return to local has left. They ran here. */
  #left: readonly HeldSource[] = []
  /** A reset on the node takes precedence over a pause of the cluster. */
  #isReset = false
  /**
   * A start of the present unit is on record without an answer: the agent may have died before it
   * requested that.
   */
  #isStartOnRecord = false

  constructor(world: SimWorld, isPaused: () => boolean) {
    this.#world = world
    this.#isPaused = isPaused
  }

  /** The agent has decided on a step. A restart is checked when it is carried out. */
  decided(snapshot: Snapshot, step: Step): void {
    this.#lastStep = step
    this.#runsLocal = snapshot.running.kind === 'known' && snapshot.running.content === LOCAL_CONTENT
    this.#left = listLeft(snapshot)
    this.#isReset = snapshot.requests.hold === 'local'
    this.#isStartOnRecord = isStartOnRecord(snapshot)
    this.#mayBeEarlier = mayBeEarlier(this.#world, snapshot)
    const isSeen = snapshot.running.kind === 'known' && !this.#mayBeEarlier && !isEditedSince(this.#world, snapshot)
    if (isSeen) this.#world.unseenEditUs = undefined
    const { failedReads } = this.#world.faults
    if (step.kind === 'assign') {
      const text = (step.rendered ?? step.data)[step.source.kubeletConfigKey]
      this.#uncompared = failedReads > this.#failedReads && text !== undefined ? meaningOf(text) : undefined
      if (text === this.#world.uncheckpointed) this.#world.uncheckpointed = undefined
    }
    this.#failedReads = failedReads
    // An operator who requests a retry has the whole limit for it.
    if (step.kind === 'forgive' && step.requested) this.#restarts = this.#restarts.map((restart) => ({ ...restart, exempt: true }))
  }

  checkRestart(): void {
    const { unit } = this.#world
    const step = this.#lastStep
    assert(
      step?.kind === 'restart' || (step?.kind === 'try-again' && step.record !== undefined),
      'invariant 5: a restart without a decision',
    )
    assert(!this.#isPaused(), 'invariant 5: a restart of a paused node')
    const { fallback = false, failed = false } = step.record ?? {}
    // Since the look, the unit may have stopped. Of such a unit, only a start is one.
    assert(!failed || unit.mayBeStarted(this.#isStartOnRecord), 'invariant 5: a restart of a kubelet that an operator stopped')
    const to = step.kind === 'restart' ? step.to : step.source
    const isToLocal = to === 'local'
    const [next, runs] = [this.#world.nextText(), unit.process?.text].map((text) => (isToLocal ? nameLocal(text) : text))
    const desired = this.#world.assignment.desired()
    const isConfigMapPaused = !this.#isReset && desired.channelState?.paused?.on === 'ConfigMap'
    // Local is no version of it, nor is another ConfigMap. Nor is what has worked here another
    // version, also where it is tried again after it had failed.
    const isLeft = this.#left.some(({ source }) => sameSource(source, to))
    const isVersion = !isToLocal && !isLeft && desired.kind === 'config-map' && to.name === desired.ref.name
    const isKept = isConfigMapPaused && isVersion && !isLastKnownGood(this.#world.files, this.#world.nextText() ?? '')
    assert(!isKept || fallback || runs === undefined || runs === next, 'invariant 5: a restart into what a pause keeps away')
    // A config that failed on a kubelet that was replaced on disk is tried on the new one.
    const isOld = unit.process !== undefined && unit.process.version !== unit.version
    const hasFailed = !unit.isHealthy() || step.kind === 'try-again' || isOld
    // A part that adds nothing makes the text of the local file, and has a name of its own.
    const isFromLocal = this.#runsLocal && !isToLocal
    const isExcused = isFromLocal || this.#mayBeEarlier || this.#isForgotten() || (next !== undefined && next === this.#uncompared)
    assert(next !== runs || hasFailed || isExcused, `invariant 5: a restart with the content that kubelet runs: ${runs}`)
    const waitsForDrain = next !== undefined && behaviourOf(next) === 'needs-drain' && !fallback
    assert(!waitsForDrain || this.#world.drained !== false || !unit.isHealthy(), 'invariant 5: a restart of a node that is not drained')
    const changesCpus = next !== undefined && runs !== undefined && cpuPolicyOf(next) !== cpuPolicyOf(runs) && !fallback
    const isFree = this.#world.drained !== false && !this.#world.hasPinnedPods
    const isBound = changesCpus && this.#world.kind.managers && !this.#isReset && !hasFailed
    assert(!isBound || isFree, 'invariant 15: another policy of the CPU manager while pods have CPUs of their own')
    this.#checkFrequency(step.record)
    // Kubelet was started again with just that, whose checkpoint is still lost.
    const inPlace = this.#world.files.read(this.#world.nextConfigPath())?.toString()
    if (inPlace !== this.#world.uncheckpointed) this.#world.uncheckpointed = undefined
    this.#world.lostStamp = false
    this.#world.unseenEditUs = undefined
  }

  /** Whether the knowledge that two wordings are one config was lost with the state directory. */
  #isForgotten(): boolean {
    const { unit, files } = this.#world
    const path = this.#world.nextConfigPath()
    const next = files.read(path)?.toString()
    const { uncheckpointed } = this.#world
    const isOnlyInPlace = uncheckpointed !== undefined && unit.process?.text === meaningOf(uncheckpointed)
    if (isOnlyInPlace && next !== uncheckpointed) return true
    const isReworded = next !== this.#world.nextText()
    return unit.process?.isUntraceable === true && (isReworded || unit.process.isRenamed === true || unit.process.configPath !== path)
  }

  #checkFrequency({ fallback = false, exempt = false, failed = false, target }: Partial<RestartRecord> = {}): void {
    const { bootId, monotonicUs } = this.#world.now()
    if (this.#lostRuntimes !== this.#world.lostRuntimes) this.#restarts = []
    this.#lostRuntimes = this.#world.lostRuntimes
    this.#restarts = this.#restarts.filter(({ atUs, boot }) => boot === bootId && monotonicUs - atUs < 3600e6)
    const inVain = this.#world.unit.leavings.isThere
    this.#restarts.push({
      atUs: monotonicUs,
      boot: bootId,
      exempt: fallback || exempt,
      failed: failed && !fallback,
      target,
      inVain,
    })
    const own = this.#restarts.filter((restart) => !restart.exempt && !restart.failed).length
    // Another config is started at once.
    const isChange = ({ failed, target }: Restart, index: number) => failed && !isSameContent(target, this.#restarts[index - 1]?.target)
    const changes = this.#restarts.filter(isChange).length
    const starts = this.#restarts.filter((restart) => restart.failed).length - changes
    // In the long run at most one every five minutes; the first few come faster, as do those of the
    // first kubelets.
    assert(starts <= 20, `invariant 5: ${starts} starts within an hour of a kubelet that systemd gave up`)
    // A crash between the command and its record cannot add one: the record comes first.
    assert(own <= POLICY.restartsPerHour, `invariant 5: ${own} restarts within an hour`)
    const all = this.#restarts.length - changes
    const allInVain = this.#restarts.filter((restart) => restart.inVain).length
    assert(
      all - allInVain <= 5 * POLICY.restartsPerHour && allInVain <= 10 * POLICY.restartsPerHour,
      `invariant 5: ${all} restarts within an hour, with fallbacks, ${allInVain} of them in vain`,
    )
  }
}

/** One that systemd refused is owed as well, where the agent was to start kubelet again. */
function isStartOnRecord({ restarts, unit, now }: Snapshot): boolean {
  const last = listOfBoot(restarts, now).at(-1)
  if (last === undefined || unit.kind !== 'known' || last.invocationBefore !== unit.invocationId) return false
  return last.outcome === undefined || (last.failed && !last.outcome.ok)
}

function isSameContent(one: TrialKey | undefined, other: TrialKey | undefined): boolean {
  return one !== undefined && other !== undefined && contentOfKey(one) === contentOfKey(other)
}

/** Local is one content, whatever its file holds. */
function nameLocal(text: string | undefined): string | undefined {
  return text !== undefined && isLocalText(text) ? 'local' : text
}
