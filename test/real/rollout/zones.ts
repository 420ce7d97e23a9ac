// SPDX-License-Identifier: Apache-2.0
/**
 * Twenty nodes in two zones: a window that opens while they wait for it, one zone after the other,
 * and a content that turns nodes NotReady without failing on one, which `rollout status` halts.
 */
import { strict as assert } from 'node:assert'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import type { Step } from '../lab/runner.ts'
import type { Kubectl } from '../plugin.ts'
import { type Fleet, maxPods } from './fleet.ts'

/** Zone a is free in stage 2, and all nodes are in stage 3. */
const PLAN = 'zones: [a, b], waves: [50%], witnesses: 2, maxSilent: 1, spread: 2s'
const FINISHED = 3
const MINUTE = 60_000
const namesFrom = (first: number): readonly string[] => Array.from({ length: 10 }, (_, index) => `n${first + index}`)
const ZONES: Readonly<Record<string, readonly string[]>> = { a: namesFrom(1), b: namesFrom(11) }
const ALL = Object.values(ZONES).flat()

export async function playZones(step: Step, fleet: Fleet, plugin: Kubectl): Promise<void> {
  const { plane } = fleet
  await step('ten agents in each of two zones', async () => {
    const status = { conditions: [ready('True')] }
    for (const [zone, names] of Object.entries(ZONES))
      await fleet.addAll(names, { labels: { 'topology.kubernetes.io/zone': zone }, status })
    await fleet.untilAllRun(41, undefined, 3 * MINUTE)
  })
  await step('an edit waits until its window opens', async () => {
    const restarted = fleet.mark()
    const opensMs = Math.ceil((Date.now() + MINUTE) / MINUTE) * MINUTE
    const version = await fleet.write(maxPods(51), { plan: `${PLAN}, windows: [${windowFrom(opensMs)}]` })
    await fleet.untilHeld(version, /windows are closed; the next one opens on/)
    assert(Date.now() < opensMs || restarted().length === 0, `${restarted()}`)
    assert.match((await plugin('rollout', 'status', fleet.config, '--once')).stdout, /window/)
    await fleet.until('a node has started it', ({ said }) => said.size > 0, opensMs - Date.now() + MINUTE)
    assert(Date.now() >= opensMs)
  })
  await step('zone a goes before zone b', async () => {
    const restarted = fleet.mark()
    // What had restarted before the record was read, while zone b was not free.
    let early: readonly string[] = []
    let before: readonly string[] = []
    const { said } = await fleet.until(
      'all are free',
      ({ stage }) => {
        if (stage < FINISHED) early = before.filter((name) => ZONES.b?.includes(name))
        before = restarted()
        return stage >= FINISHED
      },
      5 * MINUTE,
    )
    for (const name of early) assert(said.has(name), `${name} is in zone b, and no witness`)
    await fleet.untilAllRun(51)
  })
  await step('nodes turn NotReady in a wave: rollout status halts it, and names them', async () => {
    const restarted = fleet.mark()
    // Each stage is open for long enough to see whether it hurts nodes.
    const version = await fleet.write(maxPods(52), { plan: `${PLAN}, rest: 150s` })
    const watch = plugin('rollout', 'status', fleet.config, '--watch', '--halt-if-not-ready', '2')
    await fleet.until('zone a is free', ({ generation, stage }) => generation > 1 && stage === 2, 5 * MINUTE)
    const hurt = await eventually(() => (restarted().length >= 5 ? restarted() : undefined), { what: 'five nodes have started it' })
    await setReady(plane, hurt, 'False')
    const { code, stdout, stderr } = await watch
    assert.equal(code, 1, stdout + stderr)
    assert.match(stdout + stderr, /not ready/)
    const record = await fleet.read()
    assert.equal(record.stage, 2)
    const others = ALL.filter((name) => ZONES.b?.includes(name) && !restarted().includes(name))
    for (const name of ZONES.b ?? []) assert(others.includes(name) || record.said.has(name), `${name} is in zone b, and no witness`)
    await fleet.untilHeld(
      version,
      /halted.*nodes hurt/,
      ALL.filter((name) => !others.includes(name)),
    )
  })
  await step('retry ends the halt', async () => {
    await setReady(plane, ALL, 'True')
    assert.equal((await plugin('rollout', 'retry', fleet.config)).code, 0)
    await fleet.until('zone a is free again', ({ generation, stage }) => generation > 2 && stage === 2, 5 * MINUTE)
  })
}

/** Two hours from then, by UTC. */
function windowFrom(opensMs: number): string {
  const at = (ms: number): string => new Date(ms).toISOString().slice(11, 16)
  const day = new Date(opensMs).toUTCString().slice(0, 3)
  return `${day} ${at(opensMs)}-${at(opensMs + 120 * MINUTE)}`
}

/** As the kubelets of these nodes would, or the control plane in their place. */
async function setReady(plane: ControlPlane, names: readonly string[], status: 'True' | 'False'): Promise<void> {
  for (const name of names) {
    const path = `/api/v1/nodes/${name}`
    const replace = async (): Promise<true> => {
      const node = JSON.parse(await plane.read(path))
      const others = node.status.conditions.filter(({ type }: { type: string }) => type !== 'Ready')
      node.status.conditions = [...others, ready(status)]
      await plane.kubectl(['replace', '--raw', `${path}/status`, '-f', '-'], { input: JSON.stringify(node) })
      return true
    }
    // Its agent may write between the two.
    await eventually(replace, { what: `Node ${name} has Ready=${status}` })
  }
}

function ready(status: 'True' | 'False'): object {
  return { type: 'Ready', status, reason: status === 'True' ? 'KubeletReady' : 'KubeletNotReady', message: '' }
}
