// SPDX-License-Identifier: Apache-2.0
/**
 * Nodes that share one config: on each a simulated kubelet and the real agent as processes, with
 * the node's own identity. All kubelets are on one machine, so each node's overlay gives its
 * kubelet a port of its own.
 */
import { strict as assert } from 'node:assert'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { findFreePort } from '../lab/ports.ts'
import { Machine } from '../machine.ts'
import { CONFIG_LABEL } from '../node-words.ts'
import { CONTROL_PLANE_LABEL, PLAN_ANNOTATION, ROLLOUT_ANNOTATION, type RolloutRecord, readRecord } from './words.ts'

export const NAMESPACE = 'kube-system'
const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
export const maxPods = (pods: number): string => `${HEAD}maxPods: ${pods}\n`
/** Passes preflight, and kills kubelet a moment after its start, on every node. */
export const crashing = (pods: number): string => `${maxPods(pods)}runtimeRequestTimeout: 2us\n`

/** Nothing here keeps Leases and the Nodes' status, and there is no container runtime. */
export const NO_EVIDENCE = { lease: 'off', ready: 'off', runtime: 'off', serving: 'off', 'static-pods': 'off', pods: 'off' }

const SETTINGS = {
  trialDuration: '1s',
  startDeadline: '60s',
  restartsPerHour: '60',
  evidence: NO_EVIDENCE,
}

interface Member {
  readonly controlPlane?: boolean
  /** Whether its Node has the label that assigns the fleet's config. Default: it does. */
  readonly assigned?: boolean
  /** Of its Node. */
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  /** As kubelet makes a Node, which is Ready later. */
  readonly status?: object
  readonly settings?: Readonly<Record<string, unknown>>
}

export class Fleet {
  readonly machines = new Map<string, Machine>()
  readonly plane: ControlPlane
  readonly config: string
  readonly #program: string

  constructor(plane: ControlPlane, program: string, config: string) {
    this.plane = plane
    this.config = config
    this.#program = program
  }

  get record(): string {
    return `${this.config}-rollout`
  }

  /** A Node and its machine; the agent runs, too. */
  async add(
    name: string,
    { controlPlane = false, assigned = true, labels = {}, annotations = {}, status = {}, settings = {} }: Member = {},
  ): Promise<void> {
    const own = { 'kubernetes.io/hostname': name, ...labels, ...(controlPlane && { [CONTROL_PLANE_LABEL]: '' }) }
    const metadata = { name, annotations, labels: { ...own, ...(assigned && { [CONFIG_LABEL]: this.config }) } }
    await this.plane.kubectl(['create', '-f', '-'], { input: JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata, status }) })
    const ports = [await findFreePort(), await findFreePort()] as const
    const machine = new Machine(this.plane, name, await this.plane.nodeKubeconfig(name), this.#program, ports)
    this.machines.set(name, machine)
    const overlayDir = join(machine.directory, '../overlay.d')
    await mkdir(overlayDir, { recursive: true, mode: 0o755 })
    await writeFile(join(overlayDir, '10-port.yaml'), `healthzPort: ${ports[0]}\n`, { mode: 0o644 })
    await machine.boot({ name, settings: { ...SETTINGS, overlayDir, ...settings } })
    machine.agent.start()
  }

  /** Several at a time: each costs some seconds of a core. */
  async addAll(names: readonly string[], member: Member = {}): Promise<void> {
    const queue = [...names]
    const work = async (): Promise<void> => {
      for (let name = queue.shift(); name !== undefined; name = queue.shift()) await this.add(name, member)
    }
    await Promise.all(Array.from({ length: 4 }, work))
  }

  machine(name: string): Machine {
    const machine = this.machines.get(name)
    assert(machine !== undefined, `there is no ${name}`)
    return machine
  }

  /** The config, with its rollout; whatever it was. Returns its version. */
  async write(
    kubelet: string,
    { plan, annotations = {} }: { readonly plan?: string; readonly annotations?: object } = {},
  ): Promise<string> {
    const rollout = plan === undefined ? {} : { [ROLLOUT_ANNOTATION]: this.record, [PLAN_ANNOTATION]: plan }
    return this.patchConfig({ metadata: { annotations: { ...rollout, ...annotations } }, data: { kubelet } })
  }

  async patchConfig(body: object): Promise<string> {
    const patched = [
      'patch',
      'configmap',
      this.config,
      '--type=merge',
      '-p',
      JSON.stringify(body),
      '-o',
      'jsonpath={.metadata.resourceVersion}',
    ]
    return this.plane.kubectl(['-n', NAMESPACE, ...patched])
  }

  async createRecord(): Promise<void> {
    await this.plane.kubectl(['-n', NAMESPACE, 'create', 'configmap', this.record])
  }

  async deleteRecord(): Promise<void> {
    await this.plane.kubectl(['-n', NAMESPACE, 'delete', 'configmap', this.record])
  }

  async read(): Promise<RolloutRecord> {
    return readRecord(JSON.parse(await this.plane.read(`/api/v1/namespaces/${NAMESPACE}/configmaps/${this.record}`)).data)
  }

  async until(what: string, isSo: (record: RolloutRecord) => boolean, timeoutMs = 60_000): Promise<RolloutRecord> {
    const probe = async () => {
      const record = await this.read()
      return isSo(record) ? record : undefined
    }
    // Some probes count what they see.
    return eventually(probe, { what: `the record says that ${what}`, timeoutMs, intervalMs: 250 })
  }

  /** Until kubelet runs with that on all of them, or on these. */
  async untilAllRun(pods: number, names: readonly string[] = [...this.machines.keys()], timeoutMs = 120_000): Promise<void> {
    await Promise.all(names.map((name) => this.machine(name).untilRuns(pods, timeoutMs)))
  }

  /**
   * Until all but some hold back what they are assigned, and the newest line of their logs about it
   * says why. The Nodes may say it minutes later.
   */
  async untilHeld(version: string, pattern: RegExp, but: readonly string[] = [], timeoutMs = 120_000): Promise<void> {
    const last = (machine: Machine) =>
      machine.agent
        .log()
        .map(({ msg }) => msg)
        .findLast((msg) => /^(rollout|paused): .*@/.test(msg))
    const probe = () => {
      const others = [...this.machines]
        .filter(([name]) => !but.includes(name))
        .map(([name, machine]) => `${name}: ${last(machine)}`)
        .filter((said) => !said.includes(`@${version}`) || !pattern.test(said))
      assert.deepEqual(others, [])
      return true
    }
    await eventually(probe, {
      what: `all but ${but.join(', ') || 'nobody'} hold version ${version} back: ${pattern}`,
      timeoutMs,
    })
  }

  /** Which nodes have restarted kubelet since: the number of restarts of each. */
  mark(): () => string[] {
    const before = new Map([...this.machines].map(([name, machine]) => [name, machine.restarts()]))
    return () => [...this.machines].filter(([name, machine]) => machine.restarts() > (before.get(name) ?? 0)).map(([name]) => name)
  }

  /** The nodes that are in the record come first: the others only wait. */
  async describe(): Promise<string> {
    const record = await this.read().catch(String)
    const said = typeof record === 'string' ? new Map() : record.said
    const isSilent = ([name]: readonly [string, Machine]) => !said.has(name)
    const first = [...this.machines].sort((one, other) => Number(isSilent(one)) - Number(isSilent(other)))
    const names = typeof record === 'string' ? record : JSON.stringify({ ...record, said: Object.fromEntries(record.said) })
    return [`record: ${names}`, ...first.slice(0, 6).map(([, machine]) => machine.describe())].join('\n')
  }

  async close(): Promise<void> {
    await Promise.all([...this.machines.values()].map((machine) => machine.close()))
  }
}

/**
 * Gives `work` a fleet without nodes, a config without a rollout and an empty record; ends all of
 * it.
 */
export async function withFleet(
  plane: ControlPlane,
  program: string,
  config: string,
  work: (fleet: Fleet) => Promise<void>,
): Promise<void> {
  const fleet = new Fleet(plane, program, config)
  await plane.kubectl(['-n', NAMESPACE, 'create', 'configmap', config, `--from-literal=kubelet=${maxPods(41)}`])
  await fleet.createRecord()
  try {
    await work(fleet)
  } catch (error) {
    console.log((await fleet.describe()).replace(/^/gm, '    '))
    throw error
  } finally {
    await fleet.close()
  }
}
