// SPDX-License-Identifier: Apache-2.0
/**
 * A node as kubeadm leaves it: a real systemd, containerd, a real kubelet that registers itself
 * with the real API server, and, once installed, the agent as its unit runs it. Tests act on it as
 * an operator would, by kubectl, systemctl and journalctl.
 */
import { strict as assert } from 'node:assert'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { Agent } from 'node:https'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { stringify } from 'yaml'
import { Administrator } from '../administrator.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { getText } from '../lab/get-text.ts'
import { type Suite, suiteFor } from '../lab/node-choice.ts'
import { findFreePort } from '../lab/ports.ts'
import { CommandError, type CommandOutput } from '../lab/processes.ts'
import { readVersion } from '../lab/servers.ts'
import { type HistoryLine, readHistory } from '../records.ts'
import { bootContainer, type Container } from './container.ts'
import { enableOrInstallAgent, findDeb } from './install-agent.ts'
import { type JournalLine, parseJournal } from './journal.ts'
import { ensureK3sStandIn, K3S_PROGRAM } from './k3s-stand-in.ts'
import {
  type Crash,
  crashOf,
  kubeletConfig,
  LOCAL_CONFIG,
  type NodePorts,
  UNIT_NAMES,
  type UnitKind,
  writeNodeFiles,
} from './kubeadm-files.ts'
import { ensurePackagedRoot } from './packaged-root.ts'
import { ensureNodeRoot, type NodeRoot, type RootExtras } from './root.ts'
import { canOverlay, createDirectory, Image, type Storage } from './storage.ts'

export interface NodeOptions {
  readonly name: string
  /** Default: kubeadm's. */
  readonly unit?: UnitKind
  /**
   * Of the agent, by the names of its variables without their prefix: `TRIAL_DURATION`. Left out,
   * it is the default.
   */
  readonly settings?: Readonly<Record<string, string>>
  /** Lines for the section [Service] of the agent's unit. */
  readonly agentService?: readonly string[]
  /** Default: in a directory. */
  readonly storage?: 'directory' | 'image'
  /** The dynamic config directory is a file system of its own, of this size. */
  readonly stateMiB?: number
  /** Default: installed before the work begins. */
  readonly agent?: 'installed' | 'absent'
  /** Packages and masks that its root has beside those of each node. */
  readonly extras?: RootExtras
  /** Default: the one that its kubelet is run on. */
  readonly suite?: Suite
  /** Programs that it has besides: path inside to path outside. */
  readonly programs?: Readonly<Record<string, string>>
  /** Changes its files before it boots. */
  readonly prepare?: (node: Node) => Promise<void>
}

const AGENT = 'kubelet-cfg-agent'
const STATE = '/var/lib/kubelet-cfg-agent'
const IMAGE_MIB = 1_200
/** sd-messages(3): SD_MESSAGE_UNIT_STARTED. */
const STARTED = '39f53479d3a045ac8e11786248231fbf'

export class Node {
  readonly name: string
  /** The bundle that was built for this run. */
  readonly program: string
  /** Of its kubelet: 1.MINOR. */
  readonly kubeletMinor: number
  readonly #plane: ControlPlane
  readonly #root: NodeRoot
  /** The node's root, and the storage that is mounted on it. */
  readonly #storage: readonly [Storage, ...Storage[]]
  readonly #ports: NodePorts
  readonly #unit: UnitKind
  readonly #programs: NonNullable<NodeOptions['programs']>
  #container: Container | undefined
  #toKubelet: Agent | undefined

  private constructor(
    plane: ControlPlane,
    program: string,
    { name, unit = 'kubeadm', programs = {} }: NodeOptions,
    root: NodeRoot,
    storage: readonly [Storage, ...Storage[]],
    ports: NodePorts,
    kubeletMinor: number,
  ) {
    this.name = name
    this.program = program
    this.kubeletMinor = kubeletMinor
    this.#plane = plane
    this.#root = root
    this.#storage = storage
    this.#ports = ports
    this.#unit = unit
    this.#programs = programs
  }

  /** Not booted yet. */
  static async create(plane: ControlPlane, program: string, options: NodeOptions): Promise<Node> {
    const { name, unit = 'kubeadm', settings = {}, storage: kind = 'directory', stateMiB, agentService = [] } = options
    // Kubelet 1.20 panics where its Node is there already and was not made by a kubelet.
    const { items } = JSON.parse(await plane.read('/api/v1/nodes'))
    assert(
      !items.some((node: { metadata: { name: string } }) => node.metadata.name === name),
      `another scenario has a Node ${name} already`,
    )
    const kubeletMinor = (await readVersion(kubeletOf(plane))).minor
    const home = join(plane.directory, 'real-nodes', name)
    const root = await rootFor(options, kubeletMinor, home)
    const ports = { kubelet: await findFreePort(), healthz: await findFreePort() }
    const plain = await createDirectory(root, home)
    await writeNodeFiles(plane, plain.directory, { name, unit, ports, kubeletMinor })
    await enable(plain.directory, `${UNIT_NAMES[unit]}.service`, unit === 'kubeadm' ? '/lib/systemd/system' : '/etc/systemd/system')
    // The unit k3s has a containerd of its own.
    if (unit === 'k3s') await symlink('/dev/null', join(plain.directory, 'etc/systemd/system/containerd.service'))
    // As JSON, tests read the fields of a line apart from its message.
    const effective = { METRICS_ADDRESS: `127.0.0.1:${await findFreePort()}`, LOG_FORMAT: 'json', ...settings }
    const variables = Object.entries(effective).map(([key, value]) => `Environment=KUBELET_CFG_AGENT_${key}=${value}`)
    const dropIns = join(plain.directory, `etc/systemd/system/${AGENT}.service.d`)
    await mkdir(dropIns, { recursive: true })
    await writeFile(join(dropIns, 'lab.conf'), `[Service]\n${[...variables, ...agentService].join('\n')}\n`)
    if (kind === 'image') {
      const disk = await Image.create(root, join(home, 'disk.img'), join(home, 'disk'), IMAGE_MIB, plain.directory)
      await plain.remove()
      return new Node(plane, program, options, root, [disk], ports, kubeletMinor)
    }
    const own = stateMiB === undefined ? [] : [await Image.create(root, join(home, 'state.img'), join(plain.directory, STATE), stateMiB)]
    return new Node(plane, program, options, root, [plain, ...own], ports, kubeletMinor)
  }

  async boot(): Promise<void> {
    const binds = {
      '/usr/bin/kubelet': kubeletOf(this.#plane),
      '/usr/local/bin/node': process.execPath,
      ...(this.#unit === 'k3s' && { [K3S_PROGRAM]: await ensureK3sStandIn() }),
      ...this.#programs,
    }
    for (const inside of Object.keys(binds)) {
      // A bind mount needs something to be bound on.
      if (!existsSync(this.host(inside))) await writeFile(this.host(inside), '')
    }
    const [{ directory }] = this.#storage
    const logFile = `${directory}.console.log`
    this.#container = await bootContainer(this.#root, { name: this.name, directory, binds, logFile })
  }

  /** As a person who reboots it. */
  async reboot(): Promise<void> {
    await this.#running().powerOff()
    await this.boot()
  }

  /** The node stops at one moment, and comes up with what was on its disk. */
  async losePower(): Promise<void> {
    await this.#running().pullThePlug()
    const [disk] = this.#storage
    assert(disk instanceof Image, 'only a node on an image can lose its power')
    await disk.losePower()
    await this.boot()
  }

  /** Runs a command on it; throws a `CommandError` if it fails. */
  exec(file: string, ...args: readonly string[]): Promise<CommandOutput> {
    return this.#running().exec(file, args)
  }

  /** The agent is restarted with other settings; those that the node was made with remain. */
  async configureAgent(settings: NonNullable<NodeOptions['settings']>): Promise<void> {
    await this.prepareAgent(settings)
    await this.systemctl('restart', AGENT)
  }

  /** The next agent has these settings. */
  async prepareAgent(settings: NonNullable<NodeOptions['settings']>): Promise<void> {
    const variables = Object.entries(settings).map(([key, value]) => `Environment=KUBELET_CFG_AGENT_${key}=${value}\n`)
    await writeFile(this.host(`/etc/systemd/system/${AGENT}.service.d/stage.conf`), `[Service]\n${variables.join('')}`)
    await this.systemctl('daemon-reload')
  }

  systemctl(...args: readonly string[]): Promise<CommandOutput> {
    return this.exec('systemctl', ...args)
  }

  /** One of the agent's commands, as a person on the node gives it. */
  command(...args: readonly string[]): Promise<CommandOutput> {
    return this.exec(AGENT, ...args)
  }

  /** Properties of a unit. */
  async show<Name extends string>(unit: string, ...names: readonly Name[]): Promise<Readonly<Record<Name, string>>> {
    const { stdout } = await this.systemctl('show', unit, ...names.map((name) => `--property=${name}`))
    const lines = stdout.trimEnd().split('\n')
    return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])) as Readonly<
      Record<Name, string>
    >
  }

  /** Tells one kubelet from the next; a restart changes it. */
  async kubeletProcess(): Promise<string> {
    const { InvocationID, MainPID } = await this.show(this.kubeletUnit, 'InvocationID', 'MainPID')
    return `${InvocationID} ${MainPID}`
  }

  /** Fails if the kubelet that runs after `work` is another than before. */
  async withoutRestart<T>(work: () => Promise<T>): Promise<T> {
    const look = () => this.show(this.kubeletUnit, 'InvocationID', 'MainPID', 'NRestarts')
    const before = await look()
    const value = await work()
    assert.deepEqual(await look(), before)
    return value
  }

  /**
   * The config that the real kubelet says it runs with, asked as the documentation has it: through
   * the API server.
   */
  async configz(): Promise<Readonly<Record<string, unknown>>> {
    const text = await this.#plane.kubectl(['get', '--raw', `/api/v1/nodes/${this.name}/proxy/configz`])
    return JSON.parse(text).kubeletconfig
  }

  /** The same, asked of kubelet itself: while the API server is away. */
  async configzDirect(): Promise<Readonly<Record<string, unknown>>> {
    this.#toKubelet ??= this.#createAgent()
    const options = { agent: this.#toKubelet, timeout: 5_000 }
    return JSON.parse(await getText(`https://127.0.0.1:${this.#ports.kubelet}/configz`, () => options)).kubeletconfig
  }

  #createAgent(): Agent {
    const identity = (file: string): Buffer => readFileSync(join(this.#plane.directory, 'kubelet-client', file))
    // A kubelet that is away is asked again and again, each time on a new connection.
    const secureContext = createSecureContext({ cert: identity('tls.crt'), key: identity('tls.key') })
    return new Agent({ keepAlive: true, secureContext, rejectUnauthorized: false })
  }

  /** Waits until the kubelet that runs says it runs with that; 110 is what it has of itself. */
  async untilRuns(maxPods: number, timeoutMs = 60_000): Promise<void> {
    const probe = async () => {
      const config = await this.configzDirect()
      if (config.maxPods !== maxPods) throw new Error(`it says ${config.maxPods}`)
      return true
    }
    await eventually(probe, { what: `kubelet of ${this.name} runs with maxPods ${maxPods}`, timeoutMs })
  }

  async untilRegistered(timeoutMs = 60_000): Promise<void> {
    await eventually(async () => (await this.ready()) !== undefined, { what: `${this.name} has registered its Node`, timeoutMs })
    await this.untilHealthy(timeoutMs)
  }

  /** Kubelet 1.20 says so at its second report, some 10 s after the first one. */
  async untilReady(timeoutMs = 60_000): Promise<void> {
    await eventually(async () => (await this.ready())?.status === 'True', { what: `the Node ${this.name} is ready`, timeoutMs })
  }

  /** Kubelet's own condition; undefined: it has not reported yet. */
  async ready(): Promise<{ readonly status: string; readonly message: string } | undefined> {
    const { status } = JSON.parse(await this.#plane.read(`/api/v1/nodes/${this.name}`))
    return status.conditions.find(({ type }: { type: string }) => type === 'Ready')
  }

  async untilHealthy(timeoutMs = 60_000): Promise<void> {
    const probe = async () => (await fetch(`http://127.0.0.1:${this.#ports.healthz}/healthz`)).ok
    await eventually(probe, { what: `kubelet of ${this.name} is healthy`, timeoutMs })
  }

  /** A whole KubeletConfiguration that this node's kubelet runs on, with `changes` on top. */
  config(changes: object = {}): string {
    return stringify(kubeletConfig(this.#ports, this.kubeletMinor, changes))
  }

  /** Changes that pass preflight `UP_TO_LOADING`, and of which this node's kubelet dies. */
  get crash(): Crash {
    return crashOf(this.kubeletMinor)
  }

  /**
   * The lines that the agent has written into the journal since the node was made, as journalctl
   * tells them.
   */
  async journal(unit = AGENT): Promise<JournalLine[]> {
    const { stdout } = await this.exec('journalctl', '--no-pager', '--output=json', `_SYSTEMD_UNIT=${unit}.service`)
    return parseJournal(stdout)
  }

  async untilSays(pattern: RegExp, times = 1, timeoutMs = 60_000): Promise<void> {
    await eventually(async () => (await this.timesSaid(pattern)) >= times, {
      what: `the journal has ${pattern} (${times})`,
      timeoutMs,
      intervalMs: 500,
    })
  }

  async timesSaid(pattern: RegExp): Promise<number> {
    return (await this.journal()).filter(({ msg }) => pattern.test(msg)).length
  }

  /** A file of the dynamic config directory; undefined: there is none. */
  read(...names: readonly string[]): string | undefined {
    const path = this.host(STATE, ...names)
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined
  }

  history(): HistoryLine[] {
    return readHistory(this.read('history.jsonl'))
  }

  /** Where a file of the node is seen from outside. */
  host(...inside: readonly string[]): string {
    return join(this.#storage[0].directory, ...inside)
  }

  /** How often kubelet was started since the node was made. */
  async kubeletStarts(): Promise<number> {
    const { stdout } = await this.exec(
      'journalctl',
      '--no-pager',
      '--output=cat',
      `UNIT=${this.kubeletUnit}.service`,
      `MESSAGE_ID=${STARTED}`,
    )
    return stdout.split('\n').filter((line) => line !== '').length
  }

  get ports(): NodePorts {
    return this.#ports
  }

  /** The unit that kubelet runs in. */
  get kubeletUnit(): string {
    return UNIT_NAMES[this.#unit]
  }

  get localConfig(): string {
    return LOCAL_CONFIG[this.#unit]
  }

  /** For a person who wants to know why a test failed. */
  async describe(): Promise<string> {
    const journal = async (unit: string, lines: number): Promise<string> => {
      const args = ['--no-pager', '--output=short-precise', '--unit', unit, '--lines', String(lines)]
      return this.exec('journalctl', ...args).then(
        ({ stdout }) => `--- ${this.name}: journal of ${unit}\n${stdout}`,
        (error: unknown) => `--- ${this.name}: journal of ${unit}: ${error instanceof CommandError ? error.stderr : error}`,
      )
    }
    if (this.#container === undefined) return `--- ${this.name}: not booted`
    return [await journal(AGENT, 40), await journal(this.kubeletUnit, 25)].join('\n')
  }

  async close(): Promise<void> {
    try {
      await this.#container?.pullThePlug()
    } finally {
      this.#container = undefined
      for (const storage of [...this.#storage].reverse()) await storage.remove()
    }
  }

  #running(): Container {
    assert(this.#container !== undefined, 'the node has not been booted')
    return this.#container
  }
}

/** The kubelet, which is as old as its API server. */
function kubeletOf({ binaries }: ControlPlane): string {
  if (binaries.kubelet === undefined) throw new Error('KUBEBUILDER_ASSETS has no kubelet: put one beside kube-apiserver, or unset it')
  return binaries.kubelet
}

/** As `systemctl enable` does, before there is a systemd to do it. */
async function enable(root: string, unit: string, where: string): Promise<void> {
  const wants = join(root, 'etc/systemd/system/multi-user.target.wants')
  await mkdir(wants, { recursive: true })
  await symlink(join(where, unit), join(wants, unit))
}

/** With the package in it where the agent is installed before the work begins. */
async function rootFor({ agent, extras, suite }: NodeOptions, kubeletMinor: number, home: string): Promise<NodeRoot> {
  const root = await ensureNodeRoot(suite ?? suiteFor(kubeletMinor), console.log, extras)
  const deb = agent === 'absent' ? undefined : await findDeb()
  return deb !== undefined && (await canOverlay(home)) ? ensurePackagedRoot(root, deb) : root
}

/** Gives `work` a booted node whose kubelet is healthy, and ends all of it, whatever happens. */
export async function withNode(
  plane: ControlPlane,
  program: string,
  options: NodeOptions,
  work: (node: Node, admin: Administrator) => Promise<void>,
): Promise<void> {
  const node = await Node.create(plane, program, options)
  try {
    await options.prepare?.(node)
    await node.boot()
    await node.untilRegistered()
    if (options.agent !== 'absent') await enableOrInstallAgent(node)
    await work(node, new Administrator(plane, options.name))
  } catch (error) {
    console.log((await node.describe()).replace(/^/gm, '    '))
    throw error
  } finally {
    await node.close()
  }
}
