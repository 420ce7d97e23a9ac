// SPDX-License-Identifier: Apache-2.0
/** A return to a content that the nodes ran before, after a failure of it on one of them. */
import t from 'tap'
import { HOUR_US, MINUTE_US } from '../decision/snapshots.ts'
import { type FleetNode, FleetWorld, RECORD } from './fleet-world.ts'
import { CRASHES } from './small-world.ts'

t.setTimeout(240_000)

const FINISHED = 3

class Fleet extends FleetWorld {
  /** @param nodes the last of which are off */
  static async start(nodes: number, off = 0): Promise<Fleet> {
    const fleet = new Fleet(nodes)
    for (const node of fleet.nodes.slice(nodes - off)) node.isOff = true
    fleet.plan = 'waves: [40%, 100%], spread: 10s, witnesses: 1, maxVetoes: 3'
    fleet.edit('first', {})
    await fleet.run(3 * MINUTE_US)
    fleet.api.put(RECORD, {})
    return fleet
  }

  get stage(): number {
    return Number(this.record()?.state?.split(' ')[2] ?? 0)
  }

  get vetoes(): readonly string[] {
    return Object.values(this.record() ?? {}).filter((words) => words.includes(' veto '))
  }

  /** How many nodes run this. */
  async count(text: string): Promise<number> {
    return (await this.running()).filter((running) => running === text).length
  }

  /** Edits the config, and waits until so many nodes run it. */
  async reaches(text: string, nodes: number): Promise<boolean> {
    this.edit(text)
    return this.until(async () => (await this.count(text)) >= nodes, 2 * HOUR_US)
  }

  /** Counted from 1, as in its name. */
  node(number: number): FleetNode {
    const node = this.nodes[number - 1]
    if (node === undefined) throw new Error(`no node ${number}`)
    return node
  }
}

t.test('a veto that its rollout went on with halts no return', async (t) => {
  const fleet = await Fleet.start(6)
  fleet.node(6).world.behaveWith('good', CRASHES)
  t.ok(await fleet.reaches('good', 5), 'good reaches the others')
  t.ok(await fleet.until(() => fleet.vetoes.length === 1 && fleet.stage === FINISHED, HOUR_US), 'with one veto')
  t.ok(await fleet.reaches('harmful', 6), 'another content takes its place')
  fleet.edit('good')
  await fleet.run(5 * MINUTE_US)
  t.equal(await fleet.count('good'), 5)
  await fleet.stop()
})

t.test('nor does that of a control plane, or of what failed there hours later', async (t) => {
  for (const fails of ['in its trial', 'hours later']) {
    const fleet = await Fleet.start(5)
    fleet.controlPlanes.add('node-5')
    const { world } = fleet.node(5)
    if (fails === 'in its trial') world.behaveWith('good', CRASHES)
    t.ok(await fleet.reaches('good', 4), 'good reaches the workers')
    if (fails === 'hours later') {
      t.ok(await fleet.until(async () => (await fleet.count('good')) === 5, 2 * HOUR_US), 'and the control plane')
      await fleet.run(3 * HOUR_US)
      world.behaveWith('good', CRASHES)
      world.unit.kill()
    }
    t.ok(await fleet.until(() => fleet.vetoes.length === 1, 12 * HOUR_US), 'the other control planes learn of it')
    await fleet.run(MINUTE_US)
    t.ok(await fleet.reaches('harmful', 5), 'another content takes its place')
    fleet.edit('good')
    await fleet.run(5 * MINUTE_US)
    t.equal(await fleet.count('good'), 4, `it failed ${fails}`)
    await fleet.stop()
  }
})

t.test('a late failure halts no rollout that another node began for itself', async (t) => {
  const fleet = await Fleet.start(7, 2)
  t.ok(await fleet.reaches('good', 5))
  t.ok(await fleet.until(() => fleet.stage === FINISHED, HOUR_US), 'the rollout is finished')
  await label(fleet.node(6))
  t.ok(await fleet.until(async () => (await fleet.count('good')) === 6, HOUR_US), 'a node switches to the config')
  t.match(fleet.record()?.state, /^1 2 /)
  fleet.node(3).world.behaveWith('good', CRASHES)
  fleet.node(3).world.unit.kill()
  t.ok(await fleet.until(async () => (await fleet.count('first')) === 1, 12 * HOUR_US), 'it fails on another node')
  await fleet.run(10 * HOUR_US)
  t.same(fleet.vetoes, [])
  await label(fleet.node(7))
  t.ok(await fleet.until(async () => (await fleet.count('good')) === 6, HOUR_US), 'the next node gets it all the same')
  await fleet.stop()
})

t.test('a return waits for no evidence, and leaves no node behind that is excluded', async (t) => {
  const fleet = await Fleet.start(4)
  t.ok(await fleet.reaches('good', 4))
  await fleet.run(10 * MINUTE_US)
  t.ok(await fleet.reaches('harmful', 4))
  const detail = 'pods is forbidden'
  for (const { world } of fleet.nodes) world.evidence.answer('pods', () => ({ question: 'pods', answer: { kind: 'forbidden', detail } }))
  fleet.excluded = 'node-4'
  t.ok(await fleet.reaches('good', 4))
  await fleet.stop()
})

/** Its Node follows no config, and then this one. */
async function label(node: FleetNode): Promise<void> {
  const channelState = { channel: undefined, paused: undefined, problem: undefined, nodeHash: 'before the label' }
  for (let look = 0; look < 3; look += 1) {
    node.world.desired = { kind: 'local', channelState }
    await node.world.settle()
  }
  node.isOff = false
}
