/**
 * kubelet and systemd of the simulation. kubelet behaves as a comment in its config says; systemd
 * restarts it after RestartSec; the schedule stops, kills, upgrades and reboots it. It starts with
 * the config that kubelet.env names, as the real unit does.
 */

import type { Layout } from '../../src/checkpoint/layout.ts'
import type { KubeletProcess, UnitState } from '../../src/decision/unit-state.ts'
import type { HealthProbe, RuntimeProbe } from '../../src/ports/probes.ts'
import type { CommandOutcome, Unit } from '../../src/ports/unit.ts'
import { envWiring } from '../../src/systemd/env-wiring.ts'
import { describeProcess } from '../../src/systemd/kubelet-process.ts'
import { configText, diesAfter, type Fate, fateOf, NEVER, type SimProcess } from './behaviour.ts'

const RESTART_SEC_US = 10e6
const OPERATOR_COMES_AFTER_US = 60e6
const LOCAL_PATH = '/var/lib/kubelet/config.yaml'

export interface SimUnitWorld {
  nowUs(): number
  /** The config path that kubelet.env gives, or undefined for the local one. */
  nextConfigPath(): string | undefined
  readText(path: string): string | undefined
  /** systemd gives up after so many automatic restarts. */
  readonly startLimit: number
  readonly layout: Layout
  /** Called before the effect: the simulation counts commands, and may crash here. */
  onRestart(): void
  onCommand(): void
}

export class SimUnit implements Unit, HealthProbe, RuntimeProbe {
  readonly #world: SimUnitWorld
  #activity: 'running' | 'auto-restart' | 'stopped' | 'failed' = 'stopped'
  #process: SimProcess | undefined
  #startAtUs: number | undefined
  /**
   * When an operator starts a unit that systemd gave up on while it ran a local config that had
   * been healthy.
   */
  #operatorAtUs: number | undefined
  /** kubelet was healthy on its local config since the agent's last restart. */
  #wasHealthy = false
  #invocations = 0
  #nRestarts = 0
  #version = 1
  #runtimeDownUntilUs = 0
  #faultUntilUs = 0
  lastStartedAtUs = 0

  constructor(world: SimUnitWorld) {
    this.#world = world
    this.#start()
  }

  get process(): SimProcess | undefined {
    return this.#process
  }

  get activity(): string {
    return this.#activity
  }

  isNodeWell(): boolean {
    const now = this.#world.nowUs()
    return now >= this.#runtimeDownUntilUs && now >= this.#faultUntilUs
  }

  isHealthy(): boolean {
    const now = this.#world.nowUs()
    return this.#process !== undefined && now >= this.#process.healthyFromUs && now < this.#process.unhealthyFromUs
  }

  get version(): number {
    return this.#version
  }

  async observe(): Promise<UnitState> {
    return {
      kind: 'known',
      activity: this.#activity,
      summary: this.#activity,
      invocationId: `invocation-${this.#invocations}`,
      nRestarts: this.#nRestarts,
      startedAtUs: this.lastStartedAtUs,
      kubeletIdentity: `kubelet-${this.#version}`,
      process: this.#describeProcess(),
      localConfigPath: LOCAL_PATH,
      runtimeEndpoint: 'unix:///run/containerd/containerd.sock',
      healthzFlags: {},
      command: { path: '/usr/bin/kubelet', words: [`--config=${LOCAL_PATH}`] },
      wiring: envWiring('/var/lib/kubelet-cfg-agent/kubelet.env', `--config=${LOCAL_PATH}`),
    }
  }

  stillRuns(seen: UnitState): boolean {
    return this.#process !== undefined && seen.kind === 'known' && seen.invocationId === `invocation-${this.#invocations}`
  }

  async restart(activity: 'failed' | 'other'): Promise<CommandOutcome> {
    this.#world.onRestart()
    this.#nRestarts = 0
    this.#wasHealthy = false
    // Two commands: `reset-failed`, then `start` or `try-restart`.
    if (this.#activity === 'failed') this.#activity = 'stopped'
    this.#world.onCommand()
    if (this.#activity === 'stopped' && activity === 'other') return { ok: true }
    this.#start()
    return { ok: true }
  }

  async healthz(): Promise<{ ok: boolean; detail: string }> {
    return this.isHealthy() ? { ok: true, detail: 'ok' } : { ok: false, detail: 'connection refused' }
  }

  async isUp(): Promise<boolean> {
    return this.#world.nowUs() >= this.#runtimeDownUntilUs
  }

  nextUs(): number {
    return Math.min(this.#process?.exitsAtUs ?? NEVER, this.#startAtUs ?? NEVER, this.#operatorAtUs ?? NEVER)
  }

  advance(): void {
    const now = this.#world.nowUs()
    if (this.#process !== undefined && now >= this.#process.exitsAtUs) this.exit()
    if (this.#startAtUs !== undefined && now >= this.#startAtUs) {
      this.#nRestarts += 1
      this.#start()
    }
    if (this.#operatorAtUs !== undefined && now >= this.#operatorAtUs) this.startByOperator()
  }

  /** The process ends, for any reason. */
  exit(): void {
    if (this.#process === undefined) return
    this.#endProcess()
    // On a broken node systemd would give up, too, and then wait for an operator. The schedules
    // have none for that.
    const givenUp = this.#nRestarts >= this.#world.startLimit && this.isNodeWell()
    this.#activity = givenUp ? 'failed' : 'auto-restart'
    this.#startAtUs = givenUp ? undefined : this.#world.nowUs() + RESTART_SEC_US
    this.#operatorAtUs = givenUp && this.#wasHealthy ? this.#world.nowUs() + OPERATOR_COMES_AFTER_US : undefined
  }

  #endProcess(): void {
    if (this.#process === undefined) return
    const isLocal = this.#process.configPath === LOCAL_PATH
    this.#wasHealthy = isLocal && (this.#wasHealthy || this.#world.nowUs() >= this.#process.healthyFromUs)
    this.#process = undefined
  }

  stopByOperator(): void {
    this.#endProcess()
    this.#startAtUs = undefined
    this.#operatorAtUs = undefined
    this.#activity = 'stopped'
  }

  startByOperator(): void {
    if (this.#activity === 'running') return
    this.#nRestarts = 0
    this.#start()
  }

  restartByOperator(): void {
    this.#endProcess()
    this.#nRestarts = 0
    this.#start()
  }

  upgrade(): void {
    this.#version += 1
    if (this.#activity !== 'stopped') this.restartByOperator()
  }

  runtimeDown(seconds: number): void {
    this.#runtimeDownUntilUs = this.#world.nowUs() + seconds * 1e6
  }

  /** The node itself is broken: kubelet exits with every config. */
  nodeFault(seconds: number): void {
    this.#faultUntilUs = this.#world.nowUs() + seconds * 1e6
    this.exit()
  }

  boot(): void {
    this.#runtimeDownUntilUs = 0
    this.#faultUntilUs = 0
    this.#nRestarts = 0
    this.#start()
  }

  #start(): void {
    const startedAtUs = this.#world.nowUs()
    this.#invocations += 1
    this.#startAtUs = undefined
    this.#operatorAtUs = undefined
    this.#activity = 'running'
    this.lastStartedAtUs = startedAtUs
    const configPath = this.#world.nextConfigPath() ?? LOCAL_PATH
    const text = configPath === LOCAL_PATH ? configText('good', 0) : this.#world.readText(configPath)
    this.#process = { configPath, text: text ?? '', startedAtUs, ...this.#fate(text, startedAtUs) }
  }

  #fate(text: string | undefined, at: number): Fate {
    return text === undefined || !this.isNodeWell() ? diesAfter(at, 1.5) : fateOf(text, at, this.#version)
  }

  #describeProcess(): KubeletProcess {
    if (this.#process === undefined) return { kind: 'none' }
    return describeProcess(this.#world.layout.directory, 1, this.#process.configPath)
  }
}
