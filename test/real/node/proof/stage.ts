// SPDX-License-Identifier: Apache-2.0
/**
 * A stage for what a trial proves: a node with a real kubelet, once with kubelet 1.20 and once with
 * a kubelet of today, each on the cluster of its age. The config is
 * assigned by a label of the Node, which both know, and is one ConfigMap that is edited in place.
 * The scenarios of each kubelet have a word of their own in their names, so that a lane can take
 * them.
 */
import { strict as assert } from 'node:assert'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Administrator, Condition } from '../../administrator.ts'
import { type ControlPlane, startControlPlane } from '../../lab/control-plane.ts'
import { eventually } from '../../lab/eventually.ts'
import { type Step, scenario } from '../../lab/runner.ts'
import type { ApiserverOptions } from '../../lab/servers.ts'
import { CONFIG_LABEL } from '../../node-words.ts'
import { DEPLOY } from '../../rights/manifests.ts'
import { type Node, type NodeOptions, withNode } from '../node.ts'
import { staticPod } from '../static-pod.ts'

const NAME = 'node-config'
const NAMESPACE = 'kube-system'

export type Age = 'old' | 'new'

/** By the word in the names of their scenarios. */
const AGES: Readonly<Record<Age, { readonly word: string; readonly options: ApiserverOptions }>> = {
  old: { word: 'kubelet 1.20', options: {} },
  new: { word: 'kubelet of today', options: { release: 'new' } },
}

export type Settings = Readonly<Record<string, string>>

export class Stage {
  readonly step: Step
  readonly plane: ControlPlane
  readonly node: Node
  readonly admin: Administrator
  readonly age: Age

  constructor(step: Step, plane: ControlPlane, node: Node, admin: Administrator, age: Age) {
    this.step = step
    this.plane = plane
    this.node = node
    this.admin = admin
    this.age = age
  }

  /** Makes the ConfigMap or edits it; returns how messages call this version of it. */
  put(changes: object): Promise<string> {
    return this.putText(this.node.config(changes))
  }

  async putText(text: string): Promise<string> {
    return `${NAMESPACE}/${NAME}:kubelet@${await this.admin.applyConfigMap({ name: NAME, namespace: NAMESPACE }, text)}`
  }

  async assign(): Promise<void> {
    await this.admin.kubectl('label', '--overwrite', 'node', this.node.name, `${CONFIG_LABEL}=${NAME}`)
  }

  async unassign(): Promise<void> {
    await this.admin.kubectl('label', 'node', this.node.name, `${CONFIG_LABEL}-`)
  }

  untilPromoted(source: string, timeoutMs = 120_000): Promise<Condition> {
    return this.admin.untilCondition(
      { status: 'True', reason: 'Promoted', message: new RegExp(`^${source} has passed its trial`) },
      timeoutMs,
    )
  }

  untilOnTrial(source: string, timeoutMs = 60_000): Promise<Condition> {
    return this.admin.untilCondition({ status: 'Unknown', reason: 'InTrial', message: new RegExp(`^trial of ${source} until `) }, timeoutMs)
  }

  /** `why` is in the message after the two configs. */
  untilRolledBack(from: string, to: string, why: RegExp, timeoutMs: number): Promise<Condition> {
    const message = new RegExp(`^${from} failed, ${to} runs: .*${why.source}`)
    return this.admin.untilCondition({ status: 'False', reason: 'RolledBack', message }, timeoutMs)
  }

  /** The agent's own report on the node itself, with or without an API server. */
  async status(): Promise<{ readonly phase: string; readonly verdicts: readonly { readonly state: string }[] }> {
    return JSON.parse((await this.node.command('status', '-o', 'json')).stdout)
  }

  configureAgent(settings: Settings): Promise<void> {
    return this.node.configureAgent(settings)
  }

  /** The first config, which becomes last-known-good. Kubelet says 51 then. */
  async promoteFirst(): Promise<string> {
    await this.admin.untilCondition({ status: 'True', reason: 'Local' })
    const first = await this.put({ maxPods: 51 })
    await this.assign()
    await this.node.untilRuns(51)
    await this.untilPromoted(first)
    return first
  }

  /** Waits for a while, as whoever waits for an outage to end. */
  async pass(ms: number): Promise<void> {
    const startedAt = performance.now()
    await eventually(() => performance.now() - startedAt > ms, { what: 'time passes', timeoutMs: ms * 2 })
  }

  async addStaticPod(name: string): Promise<void> {
    await writeFile(this.node.host(`/etc/kubernetes/manifests/${name}.yaml`), stringify(staticPod(name)))
    await this.untilPodRuns(name)
  }

  /** As its mirror says, which may be older than kubelet's process, and the container runtime. */
  async untilPodRuns(name: string, timeoutMs = 60_000): Promise<void> {
    const probe = async () => {
      const mirror = `${name}-${this.node.name}`
      const { status } = JSON.parse(await this.plane.read(`/api/v1/namespaces/${NAMESPACE}/pods/${mirror}`))
      assert.equal(status.phase, 'Running')
      assert((await this.runningContainers()) > 0, `no container of ${name} runs`)
      return status.containerStatuses.every(({ ready }: { ready: boolean }) => ready)
    }
    await eventually(probe, { what: `the static pod ${name} runs`, timeoutMs })
  }

  /** Of all pods, without their sandboxes: as the container runtime knows them. */
  async runningContainers(): Promise<number> {
    const { stdout } = await this.node.exec('ctr', '--namespace', 'k8s.io', 'containers', 'list')
    const tasks = (await this.node.exec('ctr', '--namespace', 'k8s.io', 'tasks', 'list')).stdout
    const containers = stdout
      .split('\n')
      .slice(1)
      .filter((line) => line.trim() !== '')
    return containers.filter((line) => new RegExp(`^${line.split(' ')[0]} .*RUNNING`, 'm').test(tasks)).length / 2
  }
}

type Play = (stage: Stage) => Promise<void>

/** For all proofs of a process: one after the other has its node there. */
const clusters = new Map<Age, ControlPlane>()

async function clusterOf(age: Age): Promise<ControlPlane> {
  const plane = clusters.get(age) ?? (await startCluster(age))
  clusters.set(age, plane)
  return plane
}

async function startCluster(age: Age): Promise<ControlPlane> {
  const plane = await startControlPlane(AGES[age].options)
  await plane.kubectl(['apply', '-f', join(DEPLOY, 'rbac/node-configmaps.yaml')])
  return plane
}

/**
 * Adds a scenario for each age of kubelet.
 * @param name of its node, which `node` says more about
 */
export function onEachKubelet(
  program: string,
  ages: readonly Age[],
  what: string,
  name: string,
  settings: Settings,
  play: Play,
  node: Pick<NodeOptions, 'unit' | 'agentService'> = {},
): void {
  for (const age of ages) {
    const nodeOptions = { ...node, name: `${name}-${age}`, settings: { SPREAD: '0s', ...settings } }
    scenario(
      `node: proof: ${AGES[age].word}: ${what}`,
      async (step) => {
        const plane = await step('a cluster', () => clusterOf(age))
        try {
          await withNode(plane, program, nodeOptions, async (real, admin) => {
            await step('its node is ready', () => real.untilReady())
            await play(new Stage(step, plane, real, admin, age))
          })
        } catch (error) {
          // The control plane may be left without its API server.
          clusters.delete(age)
          await plane.stop()
          throw error
        }
      },
      { timeoutMs: 1_800_000 },
    )
  }
}
