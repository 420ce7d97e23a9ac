// SPDX-License-Identifier: Apache-2.0
/**
 * Whatever is cut short at a random moment, the agent by SIGKILL or the whole node by a power
 * failure, it settles where the cluster wants it.
 */
import { strict as assert } from 'node:assert'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, seededRandom } from '../../sim/random.ts'
import type { ControlPlane } from '../lab/control-plane.ts'
import { scenario } from '../lab/runner.ts'
import { assignNew } from './assign.ts'
import { Changes } from './changes.ts'
import { UP_TO_LOADING } from './kubeadm-files.ts'
import { type Node, withNode } from './node.ts'

const KILLED_CHANGES = 50
const POWER_FAILURES = 10
/**
 * After so many kills the agent is left alone: one that is killed faster than it starts gets
 * nowhere.
 */
const KILLS_OF_ROLLBACK = 40
const seed = Number(process.env.LAB_SEED ?? Date.now() % 1_000_000)
const ERROR = 'failed to run config: kubelet crash-looped; rolled back to last-known-good, see kubelet-cfg-agent log for details'

export function addInterruptionScenarios(plane: ControlPlane, program: string): void {
  // The deep stage would take six seconds of each change, too.
  const settings = { ...UP_TO_LOADING, TRIAL_DURATION: '1s', SPREAD: '0s', RESTARTS_PER_HOUR: '60', CRASH_LIMIT: '2' }
  const killed = { name: 'killed-node', settings, agentService: ['RestartSec=100ms'] }
  scenario(
    `node: interrupted: the agent is killed at random moments through ${KILLED_CHANGES} changes`,
    (step) =>
      withNode(plane, program, killed, async (node, admin) => {
        console.log(`    LAB_SEED=${seed}`)
        const random = seededRandom(seed)
        const changes = new Changes(node, admin, random)
        // At boot a kubelet may start more than once, where its runtime is slower.
        const startsBefore = await node.kubeletStarts()
        while (changes.count < KILLED_CHANGES) {
          const last = Math.min(changes.count + 10, KILLED_CHANGES)
          await step(`changes ${changes.count + 1} to ${last} settle, and the last one is promoted`, async () => {
            while (changes.count < last - 1) {
              const killing = killAt(node, random)
              const expected = await changes.next()
              await killing
              await changes.settle(expected)
            }
            const killing = killAt(node, random)
            const expected = await changes.next('edit')
            await killing
            const promoted = await changes.settle((status) => {
              expected(status)
              assert.deepEqual(status.lastKnownGood, status.assigned)
            })
            await changes.runs(promoted)
          })
        }
        await step('kubelet was never started more often than the config changed', async () => {
          const starts = (await node.kubeletStarts()) - startsBefore
          console.log(`    ${starts} starts of kubelet`)
          assert(starts <= changes.count, `${starts} starts`)
          changes.checkDisk()
        })
        await step('one that crashes kubelet is rolled back, whatever happens to the agent', async () => {
          const crashing = await assignNew(node, admin, 'crashing', node.crash.changes)
          const good = await admin.source('config')
          const rolledBack = admin.untilStatus({ assigned: crashing, active: good, lastKnownGood: good, error: ERROR }, 180_000)
          let settled = false
          const watched = rolledBack.finally(() => {
            settled = true
          })
          watched.catch(() => {})
          for (let kill = 0; kill < KILLS_OF_ROLLBACK && !settled; kill += 1) await killAt(node, random)
          await watched
          await changes.runs({ active: { configMap: good } })
        })
      }),
    { timeoutMs: 1_800_000 },
  )

  scenario(
    `node: interrupted: the power fails ${POWER_FAILURES} times`,
    (step) =>
      withNode(plane, program, { name: 'power', settings, storage: 'image' }, async (node, admin) => {
        console.log(`    LAB_SEED=${seed}`)
        const random = seededRandom(seed)
        const changes = new Changes(node, admin, random)
        // The installation itself is not what is tried.
        await step('what is installed is on the disk', () => node.exec('sync'))
        for (let failure = 1; failure <= POWER_FAILURES; failure += 1) {
          const kind = failure === POWER_FAILURES ? 'edit' : undefined
          await step(`power failure ${failure}: the change settles`, async () => {
            const failing = momentAfterChange(random).then(() => node.losePower())
            failing.catch(() => {})
            const expected = await changes.next(kind)
            await failing
            // The Node may show a state from before the failure: the running config is never from
            // then.
            await changes.runs(await changes.settle(expected))
            changes.checkDisk()
          })
        }
        await step('what was assigned last is promoted', async () => {
          const last = await admin.source('config')
          await admin.untilStatus({ assigned: last, active: last, lastKnownGood: last })
        })
      }),
    { timeoutMs: 1_800_000 },
  )
}

/**
 * Half of the moments within the first instants, when most happens, and half a little later, when
 * kubelet starts.
 */
async function momentAfterChange(random: Random): Promise<void> {
  await sleep(random.chance(0.5) ? random.between(0, 700) : random.between(0, 1_500))
}

async function killAt(node: Node, random: Random): Promise<void> {
  await momentAfterChange(random)
  // Between two agents there is none to kill.
  await node.systemctl('kill', '--signal=KILL', 'kubelet-cfg-agent').catch(() => {})
}
