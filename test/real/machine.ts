// SPDX-License-Identifier: Apache-2.0
/**
 * A machine of the cluster: a simulated systemd that runs a simulated kubelet, and the real agent
 * beside it, all as processes. The Node object is made by hand, as kubelet would register it; the
 * agent has the node's own identity and nothing else.
 */
import { strict as assert } from 'node:assert'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type SimulatedSystemd, startSimulatedSystemd } from '../../demo/systemd/simulated-systemd.ts'
import { kubeadmUnit } from '../../demo/systemd/unit-file.ts'
import { Administrator } from './administrator.ts'
import { Agent } from './agent.ts'
import type { ControlPlane } from './lab/control-plane.ts'
import { eventually } from './lab/eventually.ts'
import { findFreePort } from './lab/ports.ts'
import { type HistoryLine, readHistory } from './records.ts'

export interface MachineOptions {
  readonly name: string
  /** Default: the node's own identity. */
  readonly kubeconfig?: string
  /** Of kubelet's unit. Default: half a second, so that a crash loop is short. */
  readonly restartSecMs?: number
  /** Of the agent, as in its settings file. Defaults: the shortest trial, no spread. */
  readonly settings?: Readonly<Record<string, unknown>>
}

const TRIAL_CHANGED = /^setting trial-duration changed$/

export class Machine {
  readonly name: string
  readonly kubeconfig: string
  /** The dynamic config directory. */
  readonly directory: string
  readonly localConfig: string
  readonly healthzPort: number
  readonly metricsPort: number
  readonly agent: Agent
  #systemd: SimulatedSystemd | undefined
  /** Commands to systemd that are no question, and the last lines of kubelet. */
  readonly #asked: string[] = []
  readonly #kubeletLines: string[] = []

  constructor(plane: ControlPlane, name: string, kubeconfig: string, program: string, ports: readonly [number, number]) {
    const home = join(plane.directory, 'machines', name)
    this.name = name
    this.kubeconfig = kubeconfig
    this.directory = join(home, 'state')
    this.localConfig = join(home, 'config.yaml')
    this.healthzPort = ports[0]
    this.metricsPort = ports[1]
    this.agent = new Agent(program, `${home}/agent.yaml`, `${home}/agent.log`)
  }

  /** Starts kubelet on the local config. */
  async boot({ restartSecMs = 500, settings = {} }: MachineOptions): Promise<void> {
    const home = join(this.directory, '..')
    await mkdir(home, { recursive: true })
    await writeFile(this.localConfig, this.config())
    await this.writeSettings(settings)
    const unit = kubeadmUnit({ localConfig: this.localConfig, envFile: this.path('kubelet.env') })
    const onLine = (line: string, from: 'kubelet' | 'systemctl') => {
      if (from === 'kubelet') this.#kubeletLines.push(line)
      else if (/^(try-restart|start|restart|stop)\b/.test(line)) this.#asked.push(line)
    }
    this.#systemd = await startSimulatedSystemd({ dir: home, unit, restartSecMs, onLine })
    await eventually(() => this.isHealthy(), { what: 'kubelet is healthy on its local config' })
  }

  /** The agent's settings file: `changed`, and what it needs on this machine. */
  async writeSettings(changed: MachineOptions['settings']): Promise<void> {
    const home = join(this.directory, '..')
    const settings = {
      apiVersion: 'kubelet-cfg-agent.io/v1alpha1',
      kind: 'AgentConfiguration',
      kubeconfig: this.kubeconfig,
      dynamicConfigDir: this.directory,
      kubeletEnvFile: this.path('kubelet.env'),
      runtimeDir: join(home, 'run'),
      systemctl: join(home, 'systemctl'),
      metricsAddress: `127.0.0.1:${this.metricsPort}`,
      trialDuration: '1s',
      spread: '0s',
      ...changed,
    }
    await writeFile(this.agent.settingsFile, JSON.stringify(settings, null, 2))
  }

  /**
   * The agent goes on with another trial duration, and with `others` beside it. A trial that is
   * long while the test looks at it can be short once the test has seen it.
   */
  async changeTrial(trialDuration: string, others: MachineOptions['settings'] = {}): Promise<void> {
    const before = this.agent.timesSaid(TRIAL_CHANGED)
    await this.writeSettings({ ...others, trialDuration })
    this.agent.signal('SIGHUP')
    await this.agent.untilSays(TRIAL_CHANGED, before + 1)
  }

  /** A KubeletConfiguration that this machine's kubelet runs on, with `lines` added. */
  config(...lines: readonly string[]): string {
    const head = ['apiVersion: kubelet.config.k8s.io/v1beta1', 'kind: KubeletConfiguration', `healthzPort: ${this.healthzPort}`]
    return `${[...head, ...lines].join('\n')}\n`
  }

  /** Passes preflight, and kills kubelet: no container runtime answers in that time. */
  crashingConfig(): string {
    return this.config('runtimeRequestTimeout: 2us')
  }

  async isHealthy(): Promise<boolean> {
    return (await fetch(`http://127.0.0.1:${this.healthzPort}/healthz`)).ok
  }

  /** Waits until kubelet says that it runs with that; undefined: with its local config. */
  async untilRuns(maxPods: number | undefined, timeoutMs = 30_000): Promise<void> {
    const probe = async () => {
      const answer = await fetch(`http://127.0.0.1:${this.healthzPort}/configz`)
      const { kubeletconfig } = (await answer.json()) as { kubeletconfig: { maxPods?: number } }
      return kubeletconfig.maxPods === maxPods
    }
    await eventually(probe, { what: `kubelet runs with maxPods ${maxPods}`, timeoutMs })
  }

  /** One of the agent's gauges and counters, as its line in the exposition reads. */
  async metric(name: string): Promise<string[]> {
    const text = await (await fetch(`http://127.0.0.1:${this.metricsPort}/metrics`)).text()
    return text.split('\n').filter((line) => line.startsWith(name))
  }

  /** Restarts that the agent asked for. */
  restarts(): number {
    return this.#asked.length
  }

  get kubelet(): SimulatedSystemd {
    assert(this.#systemd !== undefined, 'the machine has not been booted')
    return this.#systemd
  }

  /** A file of the dynamic config directory; undefined: there is none. */
  read(...names: readonly string[]): string | undefined {
    const path = this.path(...names)
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined
  }

  path(...names: readonly string[]): string {
    return join(this.directory, ...names)
  }

  history(): HistoryLine[] {
    return readHistory(this.read('history.jsonl'))
  }

  /** For a person who wants to know why a test failed. */
  describe(): string {
    const kubelet = this.#kubeletLines.slice(-3).map((line) => `kubelet: ${line}`)
    const asked = `asked of systemd: ${this.#asked.join('; ') || 'nothing'}`
    return [`--- ${this.name}: end of the agent's log`, this.agent.tail(30), asked, ...kubelet].join('\n')
  }

  async close(): Promise<void> {
    await this.agent.stop()
    await this.#systemd?.close()
  }
}

/** Gives `work` a booted machine without an agent, and ends all of it, whatever happens. */
export async function withMachine(
  plane: ControlPlane,
  program: string,
  options: MachineOptions,
  work: (machine: Machine, admin: Administrator) => Promise<void>,
): Promise<void> {
  const { name } = options
  await plane.createNode(name)
  const kubeconfig = options.kubeconfig ?? (await plane.nodeKubeconfig(name))
  const machine = new Machine(plane, name, kubeconfig, program, [await findFreePort(), await findFreePort()])
  try {
    await machine.boot(options)
    await work(machine, new Administrator(plane, name))
  } catch (error) {
    console.log(machine.describe().replace(/^/gm, '    '))
    throw error
  } finally {
    await machine.close()
  }
}
