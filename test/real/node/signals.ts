/**
 * What systemd says of kubelet's unit on the system bus, heard by the agent in its sandbox: an exit
 * is found at once, after all that a bus and systemd go through, and found all the same without a
 * bus.
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
/** A settled node is looked at every 15 s. Only a signal is as fast, on a busy machine too. */
const AT_ONCE_MS = 1_000

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
  const tookMs = await kill(node)
  console.log(`    after ${tookMs.toFixed(0)} ms`)
  assert(tookMs < AT_ONCE_MS, `it took ${tookMs} ms`)
}

/** Returns after how long the agent has found it. Kubelet is healthy again then. */
async function kill(node: Node): Promise<number> {
  const before = (await exits(node)).length
  await node.untilHealthy()
  await eventually(async () => (await seenProcess(node)) === (await node.show(node.kubeletUnit, 'InvocationID')).InvocationID, {
    what: 'the agent knows this kubelet',
  })
  // The machine and its node have the same CLOCK_MONOTONIC.
  const killedAtUs = Number(process.hrtime.bigint() / 1000n)
  await node.systemctl('kill', '--signal=KILL', node.kubeletUnit)
  const found = await eventually(async () => (await exits(node))[before], { what: 'the agent has found the exit', timeoutMs: 60_000 })
  await node.systemctl('restart', node.kubeletUnit)
  return (found.atUs - killedAtUs) / 1000
}

interface Health {
  readonly invocationId: string
  readonly recentExits?: readonly { readonly atUs: number }[]
}

async function readHealth(node: Node): Promise<Health> {
  return JSON.parse((await node.exec('cat', '/run/kubelet-cfg-agent/health')).stdout)
}

async function exits(node: Node): Promise<readonly { readonly atUs: number }[]> {
  return (await readHealth(node)).recentExits ?? []
}

async function seenProcess(node: Node): Promise<string> {
  return (await readHealth(node)).invocationId
}
