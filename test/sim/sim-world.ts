// SPDX-License-Identifier: Apache-2.0
/**
 * One simulated node: clock, disk, systemd with kubelet, API server. A schedule says what happens
 * to it. Every operation of the agent is counted, so the same run can be repeated with a crash at
 * any operation.
 */
import { dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import type { Policy } from '../../src/decision/snapshot.ts'
import type { ActivationKind, ReadyWiring } from '../../src/subject/unit-state.ts'
import { dropInWiring, envWiring, fileWiring } from '../../src/systemd/wiring-kinds.ts'
import type { Instant } from '../../src/values/durations.ts'
import { MemoryRecords } from '../agent/memory-runtime.ts'
import { FakeDisk } from '../checkpoint/fake/fake-disk.ts'
import { type Behaviour, configText, type LocalBase, localText, meaningOf, NEVER, resetUsOf, type SimProcess } from './behaviour.ts'
import { Crash, type CrashPoint } from './crash.ts'
import { DiskFaults } from './disk-faults.ts'
import { Doubts } from './doubts.ts'
import type { NodeKind } from './node-kind.ts'
import { DIRECTORY, DROP_IN_DIRECTORY, DROP_IN_PATH, ENV_FILE, LOCAL_PATH, RUNTIME_DIRECTORY } from './paths.ts'
import { EVIDENCE_POLICY, POLICY } from './policy.ts'
import { type Random, seededRandom } from './random.ts'
import { SimAssignment } from './sim-assignment.ts'
import { SimClock } from './sim-clock.ts'
import { SimCluster } from './sim-cluster.ts'
import { SimOverlay } from './sim-overlay.ts'
import { SimTimers } from './sim-timers.ts'
import { SimTroubles } from './sim-troubles.ts'
import { SimUnit } from './sim-unit.ts'
import { isLastKnownGood, isNothingAssigned, lastKnownGoodText, Victims } from './victims.ts'

/** Sees all that kubelet does, also between two looks of the agent. */
export interface KubeletObserver {
  started(process: SimProcess): void
  exited(process: SimProcess, said: string | undefined): void
}

export class SimWorld {
  readonly kind: NodeKind
  readonly policy: Policy
  readonly random: Random
  readonly cluster: SimCluster
  readonly overlay = new SimOverlay()
  readonly assignment: SimAssignment
  readonly unit: SimUnit
  readonly disk: FakeDisk
  readonly faults: DiskFaults
  readonly files: DurableFiles
  /** What kubelet has written to the API server: its Lease, and when it last reported its Node. */
  readonly written: { lease: string; reportedAtMs: number | undefined } = { lease: 'none', reportedAtMs: undefined }
  /** The records in /run: they outlive the agent, not the boot. */
  readonly runtime = new MemoryRecords()
  readonly clock = new SimClock()
  readonly troubles = new SimTroubles(() => this.nowUs)
  readonly #timers = new SimTimers()
  #serial = 0
  #localSerial = 0
  /** The latest of the administrator: in its place may be what the agent has activated. */
  localText = localText(0)
  operations = 0
  crashAt: CrashPoint | undefined
  /** etcd was restored: a version may have come back with other content. */
  wasRestored = false
  /** Only pods that belong to the node are left on it. For good: once no event is to come. */
  drained: boolean | 'for good' = false
  /** Also on a drained node: static pods and those of DaemonSets. */
  hasPinnedPods = false
  /** Until then preflight cannot be carried out. */
  preflightFailsUntilUs = 0
  /** No agent runs before this time. */
  agentFromUs = 0
  /** The running agent was killed, or the machine went down. */
  agentDead = false
  /** The number of things that have happened so far, and that have ended. */
  happenings = 0
  /** The process of kubelet that the agent knows. */
  seenInvocation = ''
  /** The process whose config file the agent has read. */
  portSeenOf = ''
  /** The records of this boot were lost, in this boot. */
  hasLostRuntime = false
  /** How often the records of a boot were lost. */
  lostRuntimes = 0
  /** How often the agent's directory was lost, and its verdicts with it. */
  lostStates = 0
  /** How often the machine was reset, by what kubelet ran. */
  readonly resets = new Map<string, number>()
  /** How often power was lost. */
  lostPowers = 0
  /**
   * The bytes of a file outside the agent's directory, while their checkpoint is lost with that:
   * another wording of them cannot be compared then.
   */
  uncheckpointed: string | undefined
  /** How often the file that kubelet starts with was edited, which the agent then replaces anew. */
  replacedEdits = 0
  /** As `hasLostStamp` says, until the agent restarts kubelet. */
  lostStamp = false
  /**
   * When an administrator last wrote the file that kubelet starts with. undefined: a look was made
   * since.
   */
  unseenEditUs: number | undefined
  /** Requests of operators, written on the node, after which all configs are tried anew. */
  freshStarts = 0
  /** Something has happened that wakes the agent. */
  woken = true
  readonly checkRestart: (() => void)[] = []
  readonly onKubelet: KubeletObserver[] = []
  /** How long it takes at most until an agent looks again, as busy as this node is. */
  lookUs = 0
  readonly victims = new Victims()
  /** Configs without evidence: see evidence-invariant.ts. */
  readonly doubts = new Doubts(() => this.nowUs)
  /** Promotions that are in order, although the node does not work: see invariant 11. */
  readonly unreadable = new Doubts(() => this.nowUs)

  constructor(seed: number, kind: NodeKind) {
    this.kind = kind
    this.policy = { ...(kind.evidence ? EVIDENCE_POLICY : POLICY), whenRefused: kind.whenRefused }
    this.random = seededRandom(seed ^ 0x5eed)
    this.cluster = new SimCluster(this.random, kind)
    this.assignment = new SimAssignment(this.cluster, this.overlay, {
      nowUs: () => this.nowUs,
      localText: () => this.localText,
      onChange: () => {
        this.woken = true
      },
    })
    this.disk = new FakeDisk(() => this.clock.wallMs)
    this.disk.plant(LOCAL_PATH, this.localText)
    this.disk.plant(`${DROP_IN_DIRECTORY}/README`, '')
    this.files = new DurableFiles(this.disk)
    this.disk.onStep = (_step, phase) => this.#operate(phase)
    this.faults = new DiskFaults(this.disk, this.random)
    this.unit = new SimUnit({
      nowUs: () => this.nowUs,
      nextConfigPath: () => this.nextConfigPath(),
      readText: (path) => this.textIn(path),
      writeText: (path, text) => this.disk.plant(path, text),
      fallbackText: () => this.faults.lookAside(() => lastKnownGoodText(this.files)),
      isNothingAssigned: () => this.faults.lookAside(() => isNothingAssigned(this.files)),
      kind,
      random: seededRandom(seed ^ 0x516a),
      layout: layoutOf(DIRECTORY),
      localPath: LOCAL_PATH,
      wiring: wiringOf(kind.activation),
      isSeen: (invocationId) => invocationId === this.seenInvocation,
      hasVaryingIdentity: () => this.troubles.has('identity-varies'),
      onRestart: () => {
        this.#operate('before')
        for (const check of this.checkRestart) check()
        this.#operate('after')
      },
      onVictim: (text) => this.suffer(text),
      onLeavings: (text) => this.#sufferLeavings(text),
      onCommand: () => {
        this.#operate('before')
        this.#operate('after')
      },
      onHint: () => {
        this.woken = true
      },
      onStarted: (process) => {
        for (const observer of this.onKubelet) observer.started(process)
      },
      onExited: (process, said) => {
        for (const observer of this.onKubelet) observer.exited(process, said)
      },
    })
    this.cluster.forget(this.nowUs)
  }

  now(): Instant {
    return this.clock.now()
  }

  /** Until then the agent looks late. */
  get starvedUntilUs(): number {
    return this.troubles.endUs('starved')
  }

  get nowUs(): number {
    return this.clock.nowUs
  }

  /** The file that kubelet's `--config` names at its next start. */
  nextConfigPath(): string {
    return this.#findNext().path
  }

  /** undefined: the file does not exist. */
  nextText(): string | undefined {
    return this.#findNext().text
  }

  /** Once for each state of the disk: the invariants ask many times at each look. */
  #findNext(): { readonly path: string; readonly text: string | undefined } {
    const { revision } = this.disk
    if (this.#next?.revision !== revision) {
      const path = this.#readNextConfigPath()
      this.#next = { revision, path, text: this.textIn(path) }
    }
    return this.#next
  }
  #next: { readonly revision: number; readonly path: string; readonly text: string | undefined } | undefined

  #readNextConfigPath(): string {
    if (this.kind.activation === 'file') return LOCAL_PATH
    if (this.kind.activation === 'drop-in') return this.#read(DROP_IN_PATH) === undefined ? LOCAL_PATH : DROP_IN_PATH
    return /^KUBELET_CONFIG_ARGS=.*--config=([^\s"']+)/m.exec(this.#read(ENV_FILE) ?? '')?.[1] ?? LOCAL_PATH
  }

  /** As kubelet decodes it. undefined: the file does not exist. */
  textIn(path: string): string | undefined {
    const text = this.#read(path)
    return text === undefined ? undefined : meaningOf(text)
  }

  /** As systemd or kubelet does, perhaps in the middle of a pass of the agent. */
  #read(path: string): string | undefined {
    return this.faults.lookAside(() => this.files.read(path)?.toString())
  }

  /** kubelet ends or dies with this config, which is not the cause. */
  suffer(text: string): void {
    const isKnownGood = this.faults.lookAside(() => isLastKnownGood(this.files, text))
    this.victims.suffered(text, isKnownGood)
  }

  /** A person reads what kubelet says, and does it. */
  #sufferLeavings(text: string): void {
    // The trouble is one misfortune, however often kubelet starts until that person has come.
    if (!this.#killedByLeavings.has(text)) this.suffer(text)
    this.#killedByLeavings.add(text)
    if (this.#isPersonComing) return
    this.#isPersonComing = true
    this.after(this.random.pick([this.random.between(5, 60), this.random.between(60, 1000)]), () => {
      this.#isPersonComing = false
      // While kubelet runs, nothing says that a file is in its way.
      if (!this.unit.leavings.isKilling || this.unit.activity === 'stopped') return
      this.#killedByLeavings.clear()
      this.unit.deleteLeavings()
    })
  }
  #isPersonComing = false
  readonly #killedByLeavings = new Set<string>()

  /** When the world next changes by itself. */
  nextUs(): number {
    const agent = this.agentFromUs > this.nowUs ? this.agentFromUs : Number.POSITIVE_INFINITY
    return Math.min(this.unit.nextUs(), this.cluster.nextUs(), agent, this.assignment.nextUs(), this.#timers.nextUs())
  }

  /** Until then nothing happens to the node by itself, as far as a look at kubelet shows. */
  calmUntilUs(): number {
    return Math.min(this.unit.nextUs(), this.unit.process?.unhealthyFromUs ?? Number.POSITIVE_INFINITY, this.#timers.nextUs())
  }

  advanceTo(us: number): void {
    const nextUs = this.assignment.nextUs()
    this.clock.advanceTo(us)
    if (us >= nextUs) this.assignment.advance()
    this.happenings += this.#timers.run(us)
    this.unit.advance()
    if (this.cluster.advanceTo(us)) this.woken = true
  }

  /**
   * A pass of the agent waits for an answer of the container runtime, if there is none at once. The
   * node goes on meanwhile. The wait of an agent that has died ends with it: its end is a time on a
   * clock that a reboot sets back.
   */
  async waitForRuntime(ms: number): Promise<void> {
    const { runtime } = this.unit
    const { asker } = runtime
    const untilUs = this.nowUs + ms * 1000
    await setImmediate()
    while (runtime.asker === asker && runtime.isAsked && this.nowUs < untilUs && !this.agentDead) {
      const nextUs = Math.max(this.nowUs, Math.ceil(Math.min(untilUs, this.nextUs())))
      this.faults.lookAside(() => this.advanceTo(nextUs))
      // The agent's next act is later than what has happened meanwhile, such as a start.
      this.clock.advanceTo(this.nowUs + 1)
      await setImmediate()
    }
  }

  /** A consequence of an earlier event is still to come. */
  isDisturbed(): boolean {
    return !this.#timers.isEmpty
  }

  /** Writes a request as the command line does. Set by the runner. Returns whether it succeeded. */
  onRequest: ((request: 'rollback' | 'retry' | 'resume' | 'paused' | 'local') => boolean) | undefined

  /** Does something later. It counts as a disturbance until then. */
  after(seconds: number, act: () => void): void {
    this.#timers.add(this.nowUs + seconds * 1e6, act)
  }

  newText(behaviour: Behaviour): string {
    this.#serial += 1
    return configText(behaviour, this.#serial)
  }

  /** An administrator, or a program such as kubeadm, writes the config file. */
  editLocal(base: LocalBase = 'good'): void {
    if (this.kind.activation === 'file') {
      this.replacedEdits += 1
      this.unseenEditUs = this.nowUs
    }
    this.#localSerial += 1
    this.localText = localText(this.#localSerial, base)
    this.disk.plant(LOCAL_PATH, this.localText)
  }

  /** The machine resets with what kubelet runs. */
  get resetUs(): number {
    const { process } = this.unit
    return process === undefined ? NEVER : resetUsOf(process)
  }

  /** Not in the middle of a pass: the agent dies between two. */
  resetIfDue(): void {
    if (this.nowUs < this.resetUs) return
    const { text = '', startedBy } = this.unit.process ?? {}
    // A person who starts kubelet by hand after each boot decides alone on the next reset.
    if (startedBy !== 'person') this.resets.set(text, (this.resets.get(text) ?? 0) + 1)
    this.losePower()
  }

  /** Every fault ends now. */
  heal(): void {
    const { unit, disk, faults, cluster } = this
    this.#timers.runAll()
    disk.full = false
    faults.repairWrites()
    faults.repairReads()
    faults.readOnly = false
    this.troubles.end()
    this.preflightFailsUntilUs = 0
    this.drained = 'for good'
    this.agentFromUs = Math.min(this.agentFromUs, this.nowUs)
    cluster.comeBack(this.nowUs)
    unit.heal()
    this.happenings += 1
    this.woken = true
  }

  reboot(): void {
    this.agentDead = true
    const before = this.nowUs
    this.clock.reboot()
    this.troubles.end()
    this.doubts.rebase()
    this.unreadable.rebase()
    this.#timers.rebase(before, this.nowUs)
    this.loseRuntime()
    this.hasLostRuntime = false
    this.preflightFailsUntilUs = 0
    this.faults.readOnly = false
    this.agentFromUs = 8e6
    this.cluster.rebase(this.nowUs)
    this.unit.boot(before)
  }

  losePower(): void {
    this.lostPowers += 1
    this.disk.powerLoss(() => this.random.next())
    this.reboot()
  }

  /** /run is empty. */
  loseRuntime(): void {
    this.runtime.clear()
    this.lostRuntimes += 1
    this.hasLostRuntime = true
    this.unit.loseRecords()
    this.seenInvocation = ''
    this.portSeenOf = ''
    if (this.unit.process !== undefined && this.files.read(this.unit.process.configPath) === undefined) this.unit.losePort()
    this.withoutAgent(() => this.disk.removeTree(RUNTIME_DIRECTORY))
  }

  /**
   * The agent's directory is gone, as after a purge of its package, and no loss of power brings it
   * back: an operator may lift a pause meanwhile that was in it.
   */
  loseState(): void {
    this.lostStates += 1
    this.doubts.forgetPromotions()
    this.unreadable.forgetPromotions()
    this.uncheckpointed = this.kind.activation === 'env' ? undefined : this.#read(this.nextConfigPath())
    if (this.portSeenOf !== this.unit.invocationId) this.unit.losePort()
    this.withoutAgent(() => {
      this.disk.removeTree(DIRECTORY)
      this.disk.syncDirectory(dirname(DIRECTORY))
    })
  }

  /** Something else uses the disk: it is no operation of the agent's, and has no faults. */
  withoutAgent<T>(use: () => T): T {
    const { onStep, faultOf } = this.disk
    this.disk.onStep = undefined
    this.disk.faultOf = undefined
    try {
      return use()
    } finally {
      this.disk.onStep = onStep
      this.disk.faultOf = faultOf
    }
  }

  #operate(phase: 'before' | 'after'): void {
    if (phase === 'before') this.operations += 1
    const at = this.crashAt
    if (at === undefined || at.operation !== this.operations || at.phase !== phase) return
    this.crashAt = undefined
    this.agentDead = true
    this.agentFromUs = this.nowUs + (this.kind.standby ? 0 : 2e6)
    this.powerLost = at.powerLoss
    throw new Crash(`at operation ${at.operation}`)
  }

  /** The crash is a power loss: the runner carries it out after the agent's stack has unwound. */
  powerLost = false

  finishCrash(): void {
    if (!this.powerLost) return
    this.powerLost = false
    this.losePower()
  }
}

function wiringOf(activation: ActivationKind): ReadyWiring {
  switch (activation) {
    case 'env':
      return envWiring(ENV_FILE, `--config=${LOCAL_PATH}`)
    case 'file':
      return fileWiring(LOCAL_PATH)
    case 'drop-in':
      return dropInWiring(DROP_IN_DIRECTORY)
  }
}
