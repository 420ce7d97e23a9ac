// SPDX-License-Identifier: Apache-2.0
/**
 * The API server goes away and comes back, and the identity with which the agent talks to it ends
 * and is renewed: neither touches a kubelet that runs, and what happened meanwhile is told
 * afterwards.
 */
import { strict as assert } from 'node:assert'
import { assignGood, promoteGood } from './assign.ts'
import type { ControlPlane } from './lab/control-plane.ts'
import { eventually } from './lab/eventually.ts'
import { scenario } from './lab/runner.ts'
import { withMachine } from './machine.ts'
import { assignedBytes, eventName, labels } from './records.ts'

export function addOutageScenarios(plane: ControlPlane, program: string): void {
  scenario('outage: the API server is away during a trial', (step) =>
    withMachine(plane, program, { name: 'outage', settings: { trialDuration: '5s' } }, async (machine, admin) => {
      machine.agent.start()
      const good = await step('a good one is on trial', () => assignGood(machine, admin))
      await step('the API server stops', () => plane.stopApiserver())
      try {
        await step('the trial passes all the same', async () => {
          await eventually(() => machine.read('meta', 'last-known-good') === assignedBytes(good), { what: 'it is promoted on disk' })
          assert.equal(machine.restarts(), 1)
        })
        await step('and a person on the node can roll back', async () => {
          await machine.agent.command('rollback')
          await machine.untilRuns(undefined)
          assert.equal(machine.restarts(), 2)
        })
      } finally {
        await step('the API server starts again', () => plane.startApiserver())
      }
      await step('the status catches up', () =>
        admin.untilStatus(
          {
            assigned: good,
            // A config that an operator gave up is no last-known-good any more.
            error:
              'config rolled back at the request of an operator of the node; rolled back to local config, see kubelet-cfg-agent log for details',
          },
          90_000,
        ),
      )
      await step('the events are those of the history, each once and under its own name', async () => {
        const events = await admin.untilEvents(
          `KubeletConfigChanged: Kubelet restarting to use ${labels(good)}`,
          `KubeletConfigPromoted: Kubelet config promoted to last-known-good: ${labels(good)}`,
          `KubeletConfigRolledBack: Kubelet config rolled back from ${labels(good)} to local config: rollback was requested on the node`,
          'KubeletConfigChanged: Kubelet restarting to use local config',
        )
        const told = machine.history().filter(({ kind }) => kind !== 'assigned')
        assert.deepEqual(
          events.map(({ metadata }) => metadata.name),
          told.map((line) => eventName('outage', line)),
        )
      })
      await step('an edit reaches the node again', async () => {
        const edited = await admin.editConfigMap('good', machine.config('maxPods: 63'))
        await admin.untilStatus({ assigned: edited, active: edited, lastKnownGood: edited })
      })
      await step('the outage was said, and nothing of it twice', () => {
        const lines = machine.agent.log().filter(({ msg }) => msg.includes('/nodes/outage cannot be followed'))
        assert.ok(lines.length > 0)
        assert.equal(new Set(lines.map(({ msg }) => msg)).size, lines.length)
      })
    }),
  )

  scenario('outage: etcd is restored from a backup', (step) =>
    withMachine(plane, program, { name: 'restored' }, async (machine, admin) => {
      machine.agent.start()
      const good = await step('a good one is promoted', () => promoteGood(machine, admin))
      const saved = await step('the backup', () => plane.saveEtcd())
      await step('an edit after it is promoted', async () => {
        const edited = await admin.editConfigMap('good', machine.config('maxPods: 61'))
        await admin.untilStatus({ assigned: edited, active: edited, lastKnownGood: edited }, 90_000)
      })
      await step('the backup is restored: the node goes back with the cluster', async () => {
        await plane.restoreEtcd(saved)
        await machine.untilRuns(51, 120_000)
        await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good })
      })
      await step('versions are handed out a second time, and what kubelet runs is still what the cluster says', async () => {
        for (const maxPods of [71, 72, 73]) {
          await admin.editConfigMap('good', machine.config(`maxPods: ${maxPods}`))
          await machine.untilRuns(maxPods)
        }
        const last = await admin.source('good')
        await admin.untilStatus({ assigned: last, active: last, lastKnownGood: last })
      })
    }),
  )

  scenario("outage: the node's certificate ends and is renewed on disk", (step) =>
    withMachine(plane, program, { name: 'certificate' }, async (machine, admin) => {
      const lifeMs = 5_000
      machine.agent.start()
      await step('a good one is promoted', () => promoteGood(machine, admin))
      await step(`its certificate lives ${lifeMs} ms, and has ended when new connections are needed: refused`, async () => {
        await plane.rotateNodeCertificate('certificate', { validMs: lifeMs })
        const endsAt = performance.now() + lifeMs
        await eventually(() => performance.now() > endsAt, { what: 'its life is over', timeoutMs: lifeMs })
        await plane.stopApiserver()
        await plane.startApiserver()
        await machine.agent.untilSays(/cannot be followed: 401/)
        assert.equal(machine.restarts(), 1)
      })
      await step('a new one in its place is taken up without a restart of the agent', async () => {
        await plane.rotateNodeCertificate('certificate')
        const edited = await admin.editConfigMap('good', machine.config('maxPods: 64'))
        await admin.untilStatus({ assigned: edited, active: edited, lastKnownGood: edited }, 90_000)
        assert.equal(machine.agent.ended(), undefined)
      })
    }),
  )
}
