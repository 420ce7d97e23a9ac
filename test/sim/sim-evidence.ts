// SPDX-License-Identifier: Apache-2.0
/**
 * The answers of the API server, kubelet's TLS port and the container runtime to the agent about
 * the running kubelet. kubelet keeps its Lease, its Node and its pods as its config lets it
 * (behaviour.ts).
 */
import type { Fact, Question, SeenFact } from '../../src/evidence/kinds.ts'
import type { PodsAnswer } from '../../src/evidence/pods.ts'
import type { StaticPodsAnswer } from '../../src/evidence/static-pods.ts'
import type { EvidenceProbe, EvidenceSubject } from '../../src/ports/evidence.ts'
import { behaviourOf, type SimProcess } from './behaviour.ts'
import type { SimWorld } from './sim-world.ts'

const LEASE_SECONDS = 40
const RENEWAL_US = 10e6
/** The node controller waits so long for a heartbeat. */
const GRACE_US = 50e6
const MANIFEST = { path: '/etc/kubernetes/manifests/etcd.yaml', digest: 'd1', modifiedAtMs: 0, podName: 'etcd', names: ['etcd'] }

export class SimEvidence implements EvidenceProbe {
  readonly #world: SimWorld
  #facts: Fact[] = []
  readonly #asksSinceUs: number
  #writtenAtUs: number | undefined

  constructor(world: SimWorld) {
    this.#world = world
    this.#asksSinceUs = world.nowUs
  }

  asksSinceUs(): number {
    return this.#asksSinceUs
  }

  ask(questions: readonly Question[], { invocationId }: EvidenceSubject): void {
    for (const question of questions) this.#facts.push({ about: invocationId, atUs: this.#world.nowUs, seen: this.#answer(question) })
  }

  /** Each is answered at once. */
  async answered(): Promise<void> {}

  take(): readonly Fact[] {
    const facts = this.#facts
    this.#facts = []
    return facts
  }

  write(): void {
    if (this.#isApiUp()) this.#writtenAtUs = this.#world.nowUs
  }

  writtenAtUs(): number | undefined {
    return this.#writtenAtUs
  }

  #answer(question: Question): SeenFact {
    const isBusy = this.#world.cluster.isUp(this.#world.nowUs)
    const busy = { kind: 'unreachable', detail: '429 Too Many Requests', busy: true } as const
    const unreachable = isBusy ? busy : ({ kind: 'unreachable', detail: 'connection refused' } as const)
    const answer = { question, answer: unreachable } as const
    switch (question) {
      case 'node':
        return this.#isApiUp() ? { question, answer: this.#node() } : { ...answer, question }
      case 'lease':
        return this.#isApiUp() ? { question, answer: this.#lease() } : { ...answer, question }
      case 'pods':
        return this.#isApiUp() ? { question, answer: this.#pods() } : { ...answer, question }
      case 'runtime': {
        const { runtime } = this.#world.unit
        const endpoint = runtime.endpointOf(this.#world.unit.process?.text ?? '')
        return { question, answer: { kind: runtime.isUp(endpoint) ? 'answered' : 'silent', endpoint, detail: '' } }
      }
      case 'serving':
        return { question, answer: this.#serving() }
      case 'static-pods':
        return { question, answer: this.#staticPods() }
    }
  }

  #isApiUp(): boolean {
    return this.#world.cluster.isUp(this.#world.nowUs) && !this.#world.troubles.has('api-busy')
  }

  /** kubelet writes its status when it is up, and every 5 minutes. */
  #node() {
    const { process, reported } = this.#observe()
    const lastMs = reported ?? 0
    const isStale = process === undefined && this.#world.now().wallMs - lastMs > GRACE_US / 1000
    const isNetworkAway = process !== undefined && this.#world.troubles.has('not-ready')
    const isConfigs = process !== undefined && behaviourOf(process.text) === 'not-ready'
    const isNotReady = isNetworkAway || isConfigs
    const ready = isStale ? 'Unknown' : isNotReady ? 'False' : 'True'
    const message = isConfigs
      ? 'swap is on'
      : isNetworkAway
        ? 'container runtime network not ready: cni plugin not initialized'
        : 'kubelet is posting ready status'
    return { kind: 'found', ready, message, reportedAtMs: lastMs, serverMs: this.#world.now().wallMs, pressure: [] } as const
  }

  /** The process that reports, and when the last report was. */
  #observe(): { readonly process: SimProcess | undefined; readonly reported: number | undefined } {
    const { unit, written } = this.#world
    const { process } = unit
    const now = this.#world.now()
    const isUp = process !== undefined && unit.isHealthy()
    if (isUp) written.reportedAtMs = Math.floor(now.wallMs - ((now.monotonicUs - process.healthyFromUs) % 300e6) / 1000)
    return { process: isUp ? process : undefined, reported: written.reportedAtMs }
  }

  #lease() {
    const { process } = this.#observe()
    const { written } = this.#world
    const renews = process !== undefined && behaviourOf(process.text) !== 'loses-lease'
    if (renews) written.lease = `${process.startedAtUs}/${Math.floor((this.#world.nowUs - process.healthyFromUs) / RENEWAL_US)}`
    return { kind: 'found', resourceVersion: written.lease, durationSeconds: LEASE_SECONDS } as const
  }

  /** A pod that kubelet once refused stays refused. */
  #pods(): PodsAnswer {
    const lost = Array.from({ length: this.#world.unit.lostPods }, (_, index) => ({
      uid: `pod-${index}`,
      name: `default/pod-${index}`,
      reason: 'OutOfcpu',
      message: 'Node did not have enough resource',
      createdAtMs: 0,
      startedAtMs: 0,
    }))
    const evicted = this.#world.troubles.evictions.map(([reason, message], index) => ({
      uid: `evicted-${index}`,
      name: `default/evicted-${index}`,
      reason,
      message,
      createdAtMs: 0,
      startedAtMs: 0,
    }))
    return { kind: 'found', pods: [...lost, ...evicted], serverMs: this.#world.now().wallMs }
  }

  /** Kubelet never loses more. */
  #livePods(): readonly string[] {
    const failed = this.#pods().pods.map(({ name }) => name)
    const all = Array.from({ length: 50 }, (_, index) => [`default/pod-${index}`, `default/evicted-${index}`]).flat()
    return all.filter((name) => !failed.includes(name))
  }

  #serving() {
    const { process } = this.#observe()
    if (process === undefined) return { kind: 'no-tls', detail: 'connection refused' } as const
    const status = behaviourOf(process.text) === 'breaks-serving' ? 401 : 403
    return { kind: 'answered', status, user: status === 403 ? 'system:node:node-1' : undefined } as const
  }

  /** Pods live on while kubelet is down. */
  #staticPods(): StaticPodsAnswer {
    const { process } = this.#world.unit
    const isLost = process !== undefined && this.#world.unit.isHealthy() && behaviourOf(process.text) === 'loses-static-pods'
    const pod = { hash: 'h1', name: 'kube-system/etcd-node-1', isRunning: !isLost, startedAtMs: 1 }
    return { kind: 'found', pods: isLost ? [] : [pod], manifests: [MANIFEST], live: this.#livePods() }
  }
}
