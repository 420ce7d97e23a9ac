// SPDX-License-Identifier: Apache-2.0
/**
 * Several nodes around one API server in memory, each with its loop, its disk and its worker for
 * the record of a rollout. Time moves for all of them at once.
 */
import { isDeepStrictEqual } from 'node:util'
import { ROLLOUT_ANNOTATION } from '../../src/decision/channels.ts'
import { ROLLOUT_EXCLUDE_ANNOTATION, ROLLOUT_PLAN_ANNOTATION } from '../../src/rollout/plan.ts'
import { answerTimeZone } from '../../src/rollout/time-zone.ts'
import { viewConfigMap } from '../../src/source/kube-object.ts'
import { RolloutWorker } from '../../src/source/rollout/rollout-worker.ts'
import { silentLog } from '../checkpoint/silent-log.ts'
import { SECOND_US } from '../decision/snapshots.ts'
import { MemoryApi } from '../source/rollout/memory-api.ts'
import { SmallWorld } from './small-world.ts'

export const RECORD = 'fleet-rollout'
const CONFIG = 'fleet'
const STEP_US = 1 * SECOND_US
const BOOKMARK_US = 60 * SECOND_US

export interface FleetNode {
  readonly name: string
  readonly world: SmallWorld
  worker: RolloutWorker
  /** The node hears nothing of the cluster, and its agent does not run. */
  isOff: boolean
  /** When its loop looks again, unless something wakes it. */
  lookAtUs: number
}

export class FleetWorld {
  nowUs = 1000 * SECOND_US
  readonly api = new MemoryApi()
  readonly nodes: readonly FleetNode[]
  plan: string | undefined = 'spread: 10s'
  readonly controlPlanes = new Set<string>()
  excluded: string | undefined
  readonly #sleepers = new Set<{ readonly atUs: number; readonly wake: () => void }>()

  constructor(count: number) {
    this.nodes = Array.from({ length: count }, (_, index) => {
      const world = new SmallWorld({ nodeName: `node-${index + 1}` })
      world.policy = { ...world.policy, trialUs: 60 * SECOND_US }
      const node = { name: `node-${index + 1}`, world, worker: undefined as unknown as RolloutWorker, isOff: false, lookAtUs: 0 }
      node.worker = this.#openWorker(node)
      world.rollout = node.worker
      world.restartAgent()
      return node
    })
  }

  /** Edits the config, or makes it. */
  edit(text: string, annotations?: Readonly<Record<string, string>>): void {
    const plan = this.plan === undefined ? {} : { [ROLLOUT_PLAN_ANNOTATION]: this.plan }
    const excluded = this.excluded === undefined ? {} : { [ROLLOUT_EXCLUDE_ANNOTATION]: this.excluded }
    this.api.put(CONFIG, { kubelet: text }, annotations ?? { [ROLLOUT_ANNOTATION]: RECORD, ...plan, ...excluded })
  }

  restartAgent(node: FleetNode): void {
    void node.worker.stop()
    node.worker = this.#openWorker(node)
    node.world.rollout = node.worker
    node.world.restartAgent()
    node.lookAtUs = 0
  }

  record(): Readonly<Record<string, string>> | undefined {
    return this.api.get(RECORD)?.data
  }

  async run(us: number): Promise<void> {
    const endUs = this.nowUs + us
    while (this.nowUs < endUs) await this.#step()
  }

  /** @returns whether it came to be within that time */
  async until(isSo: () => Promise<boolean> | boolean, withinUs: number): Promise<boolean> {
    const endUs = this.nowUs + withinUs
    while (this.nowUs < endUs) {
      if (await isSo()) return true
      await this.#step()
    }
    return isSo()
  }

  async running(): Promise<readonly (string | undefined)[]> {
    return Promise.all(this.nodes.map(({ world }) => world.running()))
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map(({ worker }) => worker.stop()))
  }

  async #step(): Promise<void> {
    this.nowUs += STEP_US
    if (Math.floor(this.nowUs / BOOKMARK_US) !== Math.floor((this.nowUs - STEP_US) / BOOKMARK_US)) this.api.bookmark()
    for (const node of this.nodes) {
      node.world.advance(STEP_US)
      if (!node.isOff) this.#hear(node)
    }
    for (const sleeper of [...this.#sleepers]) if (sleeper.atUs <= this.nowUs) sleeper.wake()
    await settled()
    const due = this.nodes.filter(({ isOff, lookAtUs }) => !isOff && lookAtUs <= this.nowUs)
    for (const node of due) node.lookAtUs = (await node.world.settle()).untilUs
    if (due.length > 0) await settled()
  }

  #hear(fleetNode: FleetNode): void {
    const { world, name } = fleetNode
    const found = this.api.get(CONFIG)
    if (found === undefined || this.api.faultOf({ method: 'GET', path: '', from: name }) !== undefined) return
    const { uid, resourceVersion, annotations, data } = found
    const object = viewConfigMap({ metadata: { name: CONFIG, namespace: 'kube-system', uid, resourceVersion, annotations }, data })
    const channelState = { channel: 'label', paused: undefined, problem: undefined, nodeHash: 'unchanged' } as const
    const ref = { namespace: 'kube-system', name: CONFIG, kubeletConfigKey: 'kubelet' }
    const node = { uid: `uid-of-${name}`, canary: false, controlPlane: this.controlPlanes.has(name) }
    const isNew = world.desired.kind !== 'config-map' || !isDeepStrictEqual(world.desired.object, object)
    world.desired = { kind: 'config-map', ref, object, node, channelState }
    if (isNew) fleetNode.lookAtUs = 0
  }

  #openWorker(node: FleetNode): RolloutWorker {
    const { world, name } = node
    return new RolloutWorker({
      askTimeZone: async (...asked) => answerTimeZone(...asked),
      nodeName: name,
      api: this.api.clientOf(name),
      pace: { nowMs: () => this.nowUs / 1000, random: () => 0.5, sleep: (ms, signal) => this.#sleep(ms, signal) },
      clock: { now: () => ({ bootId: 'boot-1', monotonicUs: this.nowUs, wallMs: this.nowUs / 1000 }) },
      log: silentLog(),
      store: world.runtime,
      counters: { rolloutWrote: () => {}, rolloutConflicted: () => {} },
      onChange: () => {
        node.lookAtUs = 0
      },
    })
  }

  #sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleepers.delete(sleeper)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      const sleeper = { atUs: this.nowUs + ms * 1000, wake }
      if (signal.aborted) resolve()
      else {
        this.#sleepers.add(sleeper)
        signal.addEventListener('abort', wake, { once: true })
      }
    })
  }
}

/** Everything that follows from what has been answered has been done. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
