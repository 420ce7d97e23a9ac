// SPDX-License-Identifier: Apache-2.0
/**
 * The signals of systemd about kubelet's unit on the system bus, heard by the agent in its sandbox:
 * an exit is found at once, after all that a bus and systemd go through, and found all the same
 * without a bus.
 */
import { strict as assert } from 'node:assert'
import type { ControlPlane } from '../lab/control-plane.ts'
import { eventually } from '../lab/eventually.ts'
import { scenario } from '../lab/runner.ts'
import { promoteGood } from './assign.ts'
import { UP_TO_LOADING } from './kubeadm-files.ts'
import { type Node, withNode } from './node.ts'

const SETTINGS = { ...UP_TO_LOADING, TRIAL_DURATION: '2s' }
const HEARD = /^subscribed to systemd's signals about kubelet/
/** A settled node is looked at every 20 s: what is found sooner was told by a signal. */
const NEXT_LOOK_US = 20_000_000

export function addSignalScenarios(plane: ControlPlane, program: string): void {
  scenario('node: an exit of kubelet is found by a signal, and without a bus by a look', (step) =>
    withNode(plane, program, { name: 'signals-node', settings: SETTINGS }, async (node, admin) => {
      await promoteGood(node, admin)
      await node.untilSays(HEARD)
      await step('by a signal', () => killAtOnce(node))
      await step('after daemon-reload', async () => {
        await node.systemctl('daemon-reload')
        await killAtOnce(node)
      })
      await step('after systemd has executed itself again', async () => {
        await node.systemctl('daemon-reexec')
        await killAtOnce(node)
      })
      await step('after a restart of the bus', async () => {
        await node.systemctl('restart', 'dbus')
        await node.untilSays(HEARD, 2)
        await killAtOnce(node)
      })
      await step('without a bus, by a look', async () => {
        await node.systemctl('stop', 'dbus.socket', 'dbus.service')
        await node.untilSays(/^cannot receive systemd's signals about kubelet, so it is asked more often/, 2)
        await kill(node)
      })
      await step('nothing is said of it but information, and kubelet is what it was', async () => {
        const about = (await node.journal()).filter(({ msg }) => /signals about kubelet/.test(msg))
        assert.deepEqual([...new Set(about.map(({ priority }) => priority))], [6])
        await node.untilRuns(51)
      })
    }),
  )
}

async function killAtOnce(node: Node): Promise<void> {
  const { lookedAtUs, foundAtUs } = await kill(node)
  const afterUs = foundAtUs - lookedAtUs
  console.log(`    ${(afterUs / 1e6).toFixed(1)} s after the look before`)
  assert(afterUs < NEXT_LOOK_US, 'the exit was found by the next look, and not by a signal')
}

/** Kills a kubelet that the agent takes for settled, just after a look at it. */
async function kill(node: Node): Promise<{ readonly lookedAtUs: number; readonly foundAtUs: number }> {
  const before = await readHealth(node)
  const lookAgain = async () => {
    const health = await readHealth(node)
    return health.lastSampleUs > before.lastSampleUs && isSettled(health) ? health : undefined
  }
  const { invocationId, lastSampleUs } = await eventually(lookAgain, { what: 'a look finds this kubelet settled', timeoutMs: 60_000 })
  await node.systemctl('kill', '--signal=KILL', node.kubeletUnit)
  const findExit = async () => (await readHealth(node)).recentExits?.find((exit) => exit.invocationId === invocationId)
  const { atUs } = await eventually(findExit, { what: 'the agent has found the exit', timeoutMs: 60_000 })
  await node.systemctl('restart', node.kubeletUnit)
  await node.untilHealthy()
  return { lookedAtUs: lastSampleUs, foundAtUs: atUs }
}

interface Health {
  readonly invocationId: string
  readonly healthySinceUs?: number
  readonly unhealthySinceUs?: number
  readonly lastSampleUs: number
  readonly exits: number
  readonly process?: { readonly unhealthySinceUs?: number }
  readonly recentExits?: readonly { readonly invocationId: string; readonly atUs: number }[]
}

async function readHealth(node: Node): Promise<Health> {
  return JSON.parse((await node.exec('cat', '/run/kubelet-cfg-agent/health')).stdout)
}

/** An ill kubelet is looked at every second. No exit counts any more after a whole trial. */
function isSettled({ healthySinceUs, unhealthySinceUs, exits, process }: Health): boolean {
  return healthySinceUs !== undefined && unhealthySinceUs === undefined && process?.unhealthySinceUs === undefined && exits === 0
}
