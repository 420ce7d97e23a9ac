/**
 * One simulated node: clock, disk, systemd with kubelet, API server. What happens to it comes from a schedule; whatever an agent does to it
 * is counted, so that the same run can be repeated with a crash at any one of those operations.
 */

import { FakeDisk } from '../../src/checkpoint/fake/fake-disk.ts'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { layoutOf } from '../../src/checkpoint/layout.ts'
import type { Desired } from '../../src/decision/desired.ts'
import type { Instant } from '../../src/decision/instant.ts'
import { applyOverlay } from '../../src/overlay/apply-overlay.ts'
import type { RuntimeRecords } from '../../src/ports/store.ts'
import { createRuntime } from '../agent/memory-runtime.ts'
import { type Random, seededRandom } from './random.ts'
import type { WorldEvent } from './schedule.ts'
import { SimCluster } from './sim-cluster.ts'
import { SimOverlay } from './sim-overlay.ts'
import { configText, SimUnit } from './sim-unit.ts'

export const DIRECTORY = '/var/lib/kubelet-cfg-agent'
export const ENV_FILE = `${DIRECTORY}/kubelet.env`

/** The agent's process is gone. */
export class Crash extends Error {}

export interface CrashPoint {
  /** The how-manieth operation (write, rename, unlink, sync, command) of all agents in this world. */
  readonly operation: number
  readonly phase: 'before' | 'after'
  readonly powerLoss: boolean
}

/** What a person or the world does later because of an earlier event. */
interface Later {
  readonly atUs: number
  readonly act: () => void
}

export class SimWorld {
  readonly random: Random
  readonly cluster: SimCluster
  readonly overlay = new SimOverlay()
  readonly unit: SimUnit
  readonly disk: FakeDisk
  readonly files: DurableFiles
  /** /run: outlives the agent and ends with the boot. */
  runtime: RuntimeRecords = createRuntime()
  #boot = 1
  #monotonicUs = 60e6
  #wallMs = Date.UTC(2021, 0, 1)
  #later: Later[] = []
  #serial = 0
  /** Only what the agent reads can fail: whoever checks on it sees what is there. */
  agentActs = false
  #readFaults = 0
  #faults: { readonly fault: 'EIO' | 'short-write'; left: number } | undefined
  operations = 0
  crashAt: CrashPoint | undefined
  /** A version may have come back with other content. */
  wasRestored = false
  /** Until then an agent that has just started does not know its overlay. */
  overlayFromUs = 0
  /** No agent runs before this time. */
  agentFromUs = 0
  /** The running agent has to be dropped: it was killed, or the machine went down. */
  agentDead = false
  /** Something the agent is woken by has happened. */
  woken = true
  readonly checkRestart: (() => void)[] = []

  constructor(seed: number) {
    this.random = seededRandom(seed ^ 0x5eed)
    this.cluster = new SimCluster(this.random)
    this.disk = new FakeDisk(() => this.#wallMs)
    this.files = new DurableFiles(this.disk)
    this.disk.onStep = (_step, phase) => this.#operate(phase)
    this.disk.faultOf = () => this.#nextFault()
    this.disk.readFaultOf = () => (this.agentActs && this.#failsToRead() ? 'EIO' : undefined)
    this.unit = new SimUnit({
      nowUs: () => this.#monotonicUs,
      nextConfigPath: () => this.nextConfigPath(),
      readText: (path) => this.files.read(path)?.toString(),
      startLimit: this.random.chance(0.2) ? 6 : Number.POSITIVE_INFINITY,
      layout: layoutOf(DIRECTORY),
      onRestart: () => {
        this.#operate('before')
        for (const check of this.checkRestart) check()
        this.#operate('after')
      },
      onCommand: () => {
        this.#operate('before')
        this.#operate('after')
      },
    })
    this.cluster.forget(this.#monotonicUs)
  }

  now(): Instant {
    return { bootId: `boot-${this.#boot}`, monotonicUs: this.#monotonicUs, wallMs: this.#wallMs }
  }

  get nowUs(): number {
    return this.#monotonicUs
  }

  /** What systemd would read from kubelet.env. */
  nextConfigPath(): string | undefined {
    return /^KUBELET_CONFIG_ARGS=.*--config=([^\s"']+)/m.exec(this.files.read(ENV_FILE)?.toString() ?? '')?.[1]
  }

  /** When the world changes by itself next. */
  nextUs(): number {
    const agent = this.agentFromUs > this.#monotonicUs ? this.agentFromUs : Number.POSITIVE_INFINITY
    const overlay = this.overlayFromUs > this.#monotonicUs ? this.overlayFromUs : Number.POSITIVE_INFINITY
    return Math.min(this.unit.nextUs(), this.cluster.nextUs(), agent, overlay, ...this.#later.map(({ atUs }) => atUs))
  }

  advanceTo(us: number): void {
    this.#wallMs += (us - this.#monotonicUs) / 1000
    if (this.#monotonicUs < this.overlayFromUs && us >= this.overlayFromUs) this.woken = true
    this.#monotonicUs = us
    const due = this.#later.filter(({ atUs }) => atUs <= us)
    this.#later = this.#later.filter(({ atUs }) => atUs > us)
    for (const { act } of due) act()
    this.unit.advance()
    if (this.cluster.advanceTo(us)) this.woken = true
  }

  get diskFails(): boolean {
    return this.#faults !== undefined
  }

  /** Whether something that was switched off comes back by itself. */
  isDisturbed(): boolean {
    return this.#later.length > 0
  }

  apply(event: WorldEvent): void {
    const nowUs = this.#monotonicUs
    switch (event.kind) {
      case 'assign':
        this.cluster.assign(event.name, nowUs)
        return
      case 'unassign':
        this.cluster.assign(undefined, nowUs)
        return
      case 'assign-nothing-known':
        this.cluster.assignNothingKnown(nowUs)
        return
      case 'edit':
        this.cluster.edit(event.name, this.#newText(event.behaviour), nowUs)
        return
      case 'touch-metadata':
        this.cluster.touchMetadata(event.name, nowUs)
        return
      case 'delete-config-map':
        this.cluster.delete(event.name, nowUs)
        return
      case 'switch-key':
        this.cluster.switchKey(nowUs)
        return
      case 'restore-etcd':
        this.wasRestored = true
        this.cluster.restoreEtcd(event.name, this.#newText(event.behaviour), nowUs)
        return
      case 'recreate-node':
        this.cluster.recreateNode(nowUs)
        return
      case 'api-down':
        this.cluster.goDown(nowUs, event.seconds)
        return
      case 'lose-events':
        this.cluster.loseEvents(nowUs, event.seconds)
        return
      case 'disk-full':
        this.disk.full = true
        this.#after(event.seconds, () => {
          this.disk.full = false
        })
        return
      case 'disk-error':
        this.#faults = { fault: event.fault, left: event.operations }
        this.#after(600, () => {
          this.#faults = undefined
        })
        return
      case 'read-error':
        this.#readFaults = event.reads
        this.#after(600, () => {
          this.#readFaults = 0
        })
        return
      case 'runtime-down':
        this.unit.runtimeDown(event.seconds)
        return
      case 'node-fault':
        this.unit.nodeFault(event.seconds)
        return
      case 'restart-agent':
        this.agentDead = true
        this.agentFromUs = nowUs + event.afterSeconds * 1e6
        return
      case 'kill-kubelet':
        this.unit.exit()
        return
      case 'restart-kubelet':
        this.unit.restartByPerson()
        return
      case 'stop-kubelet':
        this.unit.stopByPerson()
        this.#after(event.seconds, () => this.unit.startByPerson())
        return
      case 'upgrade-kubelet':
        this.unit.upgrade()
        return
      case 'reboot':
        this.#reboot()
        return
      case 'power-loss':
        this.#losePower()
        return
      case 'clock-jump':
        this.#wallMs += event.seconds * 1000
        return
      case 'pause':
        this.#hold('paused', event.seconds)
        return
      case 'pause-in-cluster':
        this.cluster.pause(event.on, event.name, true, nowUs)
        this.#after(event.seconds, () => this.cluster.pause(event.on, event.name, false, this.#monotonicUs))
        return
      case 'reset':
        this.#hold('local', event.seconds)
        return
      case 'rollback':
        this.onRequest?.('rollback')
        this.woken = true
        return
      case 'retry':
        this.onRequest?.('retry')
        this.woken = true
        return
      case 'damage-assigned':
        if (this.files.read(layoutOf(DIRECTORY).record('assigned')) !== undefined)
          this.disk.plant(layoutOf(DIRECTORY).record('assigned'), 'gar\0bage')
        this.woken = true
        return
      case 'edit-overlay':
        this.overlay.edit(event.behaviour)
        this.woken = true
        return
      case 'remove-overlay':
        this.overlay.remove()
        this.woken = true
        return
      case 'spoil-overlay':
        this.overlay.spoil()
        this.woken = true
        this.#after(event.seconds, () => {
          this.overlay.edit('good')
          this.woken = true
        })
        return
    }
  }

  /** What the cluster wants, as this node would have it. */
  desired(): Desired {
    return applyOverlay(this.cluster.desired(), this.#monotonicUs < this.overlayFromUs ? { kind: 'pending' } : this.overlay.view())
  }

  truth(): Desired {
    return applyOverlay(this.cluster.truth(), this.overlay.view())
  }

  /** What the command line would write; set by the runner, which knows the requests' format. Returns whether it could. */
  onRequest: ((request: 'rollback' | 'retry' | 'resume' | 'paused' | 'local') => boolean) | undefined

  #hold(hold: 'paused' | 'local', seconds: number): void {
    this.onRequest?.(hold)
    this.woken = true
    this.#after(seconds, () => this.#resume())
  }

  /** Whoever holds a node gives up no sooner than it is released: an error of the command line is read, and the command repeated. */
  #resume(): void {
    this.woken = true
    if (this.onRequest?.('resume') === false) this.#after(60, () => this.#resume())
  }

  #after(seconds: number, act: () => void): void {
    this.#later.push({ atUs: this.#monotonicUs + seconds * 1e6, act })
  }

  #newText(behaviour: Parameters<typeof configText>[0]): string {
    this.#serial += 1
    return configText(behaviour, this.#serial)
  }

  #reboot(): void {
    this.agentDead = true
    this.#boot += 1
    const before = this.#monotonicUs
    this.#monotonicUs = 5e6
    this.#wallMs += 30_000
    this.#later = this.#later.map(({ atUs, act }) => ({ atUs: atUs - before + 5e6, act }))
    this.runtime = createRuntime()
    this.agentFromUs = 8e6
    this.cluster.rebase(this.#monotonicUs)
    this.unit.boot()
  }

  #losePower(): void {
    this.disk.powerLoss(() => this.random.next())
    this.#reboot()
  }

  #operate(phase: 'before' | 'after'): void {
    if (phase === 'before') this.operations += 1
    const at = this.crashAt
    if (at === undefined || at.operation !== this.operations || at.phase !== phase) return
    this.crashAt = undefined
    this.agentDead = true
    this.agentFromUs = this.#monotonicUs + 2e6
    this.powerLost = at.powerLoss
    throw new Crash(`at operation ${at.operation}`)
  }

  /** The crash took the machine with it: carried out by the runner, once the agent's stack is gone. */
  powerLost = false
  finishCrash(): void {
    // Others go on using the disk that the agent died on.
    this.disk.restart()
    if (!this.powerLost) return
    this.powerLost = false
    this.#losePower()
  }

  #failsToRead(): boolean {
    if (this.#readFaults === 0 || this.random.chance(0.5)) return false
    this.#readFaults -= 1
    return true
  }

  #nextFault(): 'EIO' | 'short-write' | undefined {
    if (this.#faults === undefined || this.#faults.left === 0 || this.random.chance(0.5)) return undefined
    this.#faults.left -= 1
    return this.#faults.fault
  }
}
