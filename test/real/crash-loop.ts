// SPDX-License-Identifier: Apache-2.0
/**
 * The config that bricks Dynamic Kubelet Configuration: it validates, and kubelet crashes on it at
 * start. Kubelet 1.20 crash-looped for ever, promoted the config all the same, and never saw that
 * it was taken back. Deadlines and kubelet's RestartSec are the defaults here.
 */
import { strict as assert } from 'node:assert'
import type { Administrator } from './administrator.ts'
import { assignNew, promoteGood } from './assign.ts'
import type { ControlPlane } from './lab/control-plane.ts'
import { eventually } from './lab/eventually.ts'
import { scenario } from './lab/runner.ts'
import { type Machine, withMachine } from './machine.ts'
import { assignedBytes, labels } from './records.ts'

const RESTART_SEC_MS = 10_000
/** Longer than any test waits: what systemd would do then never happens. */
const NEVER_MS = 3_600_000
/** Ends a hang: how soon it heals depends on the machine, so that the exits are counted. */
const HEALED_MS = 90_000
/** The limit is 3. One more may come before a busy machine has seen the third. */
const MOST_EXITS = 4
const ERROR = 'failed to run config: kubelet crash-looped; rolled back to last-known-good, see kubelet-cfg-agent log for details'

export function addCrashLoopScenarios(plane: ControlPlane, program: string): void {
  scenario('crash loop: rolled back to last-known-good, and never promoted', (step) =>
    withMachine(
      plane,
      program,
      { name: 'crash', restartSecMs: RESTART_SEC_MS, settings: { trialDuration: '5s' } },
      async (machine, admin) => {
        machine.agent.start()
        const good = await step('a good one is promoted', () => promoteGood(machine, admin))
        const assignedAt = performance.now()
        const crashing = await step('assign one that crashes kubelet', () => assignNew(admin, 'crash', machine.crashingConfig()))
        await step('kubelet is in its loop', () => untilCrashed(machine))
        await step('the node is back on last-known-good', async () => {
          await machine.untilRuns(51, HEALED_MS)
          console.log(`    after ${((performance.now() - assignedAt) / 1000).toFixed(1)} s`)
        })
        await step(`and says why: after no more than ${MOST_EXITS} exits`, async () => {
          await admin.untilStatus({ assigned: crashing, active: good, lastKnownGood: good, error: ERROR })
          const events = (await admin.events()).filter(({ reason }) => reason === 'KubeletConfigRolledBack')
          const [event] = events
          assert.equal(events.length, 1)
          assert.equal(event?.type, 'Warning')
          const what = `Kubelet config rolled back from ${labels(crashing)} to ${labels(good)}: `
          assert(event?.message.startsWith(what), event?.message)
          const exits = Number(/^kubelet exited (\d+) times/.exec(event.message.slice(what.length))?.[1])
          assert(exits > 1 && exits <= MOST_EXITS, event.message)
        })
        await step('it stays there for more than a trial, with the crash loop on record', async () => {
          // The verdict becomes final when last-known-good has been healthy for that long.
          await machine.agent.untilSays(/^verdict confirmed/)
          assert.equal(machine.read('meta', 'last-known-good'), assignedBytes(good))
          assert.equal(machine.restarts(), 3)
          assert.deepEqual(promotions(machine), [good.resourceVersion])
        })
        await step('after a restart of the agent as well', async () => {
          await machine.agent.stop()
          machine.agent.start()
          await machine.agent.untilSays(/^fallen-back: /, 2)
          assert.equal(machine.restarts(), 3)
        })
        await step('kubectl takes the assignment back, and it works', async () => {
          await admin.unassign()
          await admin.untilStatus({})
          await machine.untilRuns(undefined)
          assert.deepEqual(promotions(machine), [good.resourceVersion])
        })
      },
    ),
  )

  scenario('crash loop: taken back while kubelet crashes', (step) =>
    withMachine(plane, program, { name: 'taken-back', restartSecMs: NEVER_MS }, async (machine, admin) => {
      machine.agent.start()
      await admin.untilStatus({})
      await step('assign one that crashes kubelet', async () => {
        await assignNew(admin, 'crash', machine.crashingConfig())
        await untilCrashed(machine)
      })
      await step('take it back: kubelet is on local again, sooner than systemd would start it', async () => {
        await admin.unassign()
        await admin.untilStatus({})
        await eventually(() => machine.isHealthy(), { what: 'kubelet is healthy, and that was not left to systemd' })
        assert.deepEqual(promotions(machine), [])
      })
    }),
  )

  scenario('crash loop: corrected in the cluster', (step) =>
    withMachine(plane, program, { name: 'corrected' }, async (machine, admin) => {
      machine.agent.start()
      await step('one that crashes kubelet is rolled back to local', async () => {
        const crashing = await assignNew(admin, 'config', machine.crashingConfig())
        await admin.untilStatus({ assigned: crashing, error: ERROR.replace('last-known-good', 'local config') })
      })
      await step('corrected in place, it is used and promoted', async () => {
        const corrected = await admin.editConfigMap('config', machine.config('maxPods: 68'))
        await admin.untilStatus({ assigned: corrected, active: corrected, lastKnownGood: corrected })
      })
      await step('the same content under another name is not tried again', () => triesNoContentTwice(machine, admin))
    }),
  )
}

/** A verdict is on content: a new object with it changes nothing. */
async function triesNoContentTwice(machine: Machine, admin: Administrator): Promise<void> {
  const good = await admin.source('config')
  const before = machine.restarts()
  const again = await assignNew(admin, 'again', machine.crashingConfig())
  await admin.untilStatus({ assigned: again, active: good, lastKnownGood: good, error: ERROR })
  assert.equal(machine.restarts(), before)
}

async function untilCrashed(machine: Machine): Promise<void> {
  await eventually(() => machine.kubelet.state === 'auto-restart', { what: 'kubelet waits for its restart', intervalMs: 20 })
}

/** Versions that became last-known-good. */
function promotions(machine: Machine): (string | undefined)[] {
  const promoted = machine.history().filter(({ kind }) => kind === 'promoted')
  return promoted.map(({ to }) => (typeof to === 'object' ? to.resourceVersion : to))
}
