// SPDX-License-Identifier: Apache-2.0
/**
 * Events after an assignment was made: its ConfigMap is edited, labelled, deleted and created anew,
 * its Node is deleted, and the rights to read it come late.
 */
import { strict as assert } from 'node:assert'
import { spreadDelayUs } from '../../src/decision/wait.ts'
import type { Administrator } from './administrator.ts'
import { promoteGood } from './assign.ts'
import type { ControlPlane } from './lab/control-plane.ts'
import { scenario } from './lab/runner.ts'
import { type Machine, withMachine } from './machine.ts'
import { createPlainUser, grantConfigMap } from './plain-user.ts'
import { apiPath, assignedBytes, type Source } from './records.ts'
import { DOWNLOAD_ERROR } from './texts.ts'

const SPREAD_MS = 8_000
/** A turn that comes sooner is over before kubectl can show that it is waited for. */
const LONG_ENOUGH_MS = 3_000

export function addEditScenarios(plane: ControlPlane, program: string): void {
  scenario('edits: a ConfigMap in the course of its life', (step) =>
    withMachine(plane, program, { name: 'edits' }, async (machine, admin) => {
      machine.agent.start()
      const first = await step('a good one is promoted', () => promoteGood(machine, admin))
      const pid = machine.kubelet.pid

      const labelled = await step('a label moves the versions and restarts nothing', async () => {
        const source = await admin.labelConfigMap('good', 'team=a')
        await admin.untilStatus({ assigned: source, active: source, lastKnownGood: source })
        assert.equal(source.uid, first.uid)
        assert.notEqual(source.resourceVersion, first.resourceVersion)
        assert.equal(machine.restarts(), 1)
        assert.equal(machine.kubelet.pid, pid)
        return source
      })
      await step('so that the next start uses the new version; what the process was started with stays', () => {
        assert.equal(machine.read('meta', 'assigned'), assignedBytes(labelled))
        const config = machine.path('checkpoints', labelled.uid, labelled.resourceVersion, 'kubelet')
        assert.match(machine.read('kubelet.env') ?? '', new RegExp(`^KUBELET_CONFIG_ARGS=.*--config=${config}\\b`, 'm'))
        assert.equal(machine.read('checkpoints', first.uid, first.resourceVersion, 'kubelet'), machine.config('maxPods: 51'))
      })

      await step('an edit in place restarts kubelet, once', async () => {
        const source = await admin.editConfigMap('good', machine.config('maxPods: 61'))
        assert.equal(source.uid, first.uid)
        await admin.untilStatus({ assigned: source, active: source, lastKnownGood: source })
        assert.equal(machine.restarts(), 2)
        await machine.untilRuns(61)
      })
      await step('what was good before is kept', () => assert.equal(machine.read('meta', 'previous'), assignedBytes(labelled)))

      await step('another key of data counts as well', async () => {
        await admin.kubectl('-n', 'kube-system', 'patch', 'configmap', admin.nameOf('good'), '-p', '{"data":{"extra":"file"}}')
        const source = await admin.source('good')
        await admin.untilStatus({ assigned: source, active: source, lastKnownGood: source })
        assert.equal(machine.restarts(), 3)
      })
      const last = await admin.source('good')

      await step('deleted: kubelet runs on', async () => {
        const running = machine.kubelet.pid
        await admin.deleteConfigMap('good')
        await admin.untilStatus({ assigned: last, active: last, lastKnownGood: last, error: DOWNLOAD_ERROR })
        assert.equal(machine.restarts(), 3)
        assert.equal(machine.kubelet.pid, running)
        assert.equal(machine.agent.timesSaid(/^assigned ConfigMap was deleted/), 1)
      })
      await step('created anew with the same data: a new uid, no restart', async () => {
        const source = await admin.createConfigMap('good', { kubelet: machine.config('maxPods: 61'), extra: 'file' })
        assert.notEqual(source.uid, first.uid)
        await admin.untilStatus({ assigned: source, active: source, lastKnownGood: source })
        assert.equal(machine.restarts(), 3)
      })
      await step('created anew with other data: a restart', async () => {
        await admin.deleteConfigMap('good')
        const source = await admin.createConfigMap('good', machine.config('maxPods: 71'))
        await admin.untilStatus({ assigned: source, active: source, lastKnownGood: source })
        assert.equal(machine.restarts(), 4)
        await machine.untilRuns(71)
      })
      await step('the log has the lines that people search for', () => {
        const path = apiPath(first)
        for (const line of [
          'Node.Spec.ConfigSource is non-empty, will checkpoint source and update config if necessary',
          'updating Node.Status.Config',
          'assigned ConfigMap was updated',
          'assigned ConfigMap was deleted',
          `attempting to download ${path}`,
          `successfully downloaded ${path}, UID: ${first.uid}, ResourceVersion: ${first.resourceVersion}`,
          `updated last-known-good config to ${path}, UID: ${first.uid}, ResourceVersion: ${first.resourceVersion}`,
        ])
          assert(
            machine.agent.log().some(({ msg }) => msg === line),
            line,
          )
      })
    }),
  )

  scenario('edits: an edit in place waits for the turn of this node', (step) =>
    withMachine(plane, program, { name: 'spread', settings: { spread: `${SPREAD_MS}ms` } }, async (machine, admin) => {
      machine.agent.start()
      const good = await step('an assignment of its own does not wait', () => promoteGood(machine, admin))
      const { edited, delayMs } = await step('after an edit the node shows that it waits', () => editForLater(machine, admin, good))
      await step(`and takes it after ${Math.round(delayMs)} ms`, async () => {
        await admin.untilStatus({ assigned: edited, active: edited, lastKnownGood: edited })
        const [assigned, restarting] = machine.history().slice(-3)
        assert(assigned !== undefined && restarting !== undefined, 'an event is missing')
        assert.deepEqual([assigned.kind, restarting.kind], ['assigned', 'restarting'])
        const waitedMs = Number(BigInt(restarting.atNs) - BigInt(assigned.atNs)) / 1e6
        assert(waitedMs >= delayMs, `it waited ${waitedMs} ms, not ${delayMs}`)
      })
    }),
  )

  scenario('edits: rights that come late', async (step) => {
    const user = 'plain-agent'
    const kubeconfig = await step('a user who may not read ConfigMaps', () => createPlainUser(plane, user))
    await withMachine(plane, program, { name: 'rights', kubeconfig, settings: { nodeName: 'rights' } }, async (machine, admin) => {
      machine.agent.start()
      const source = await step('assign: it cannot be downloaded, and nothing changes', async () => {
        const created = await admin.createConfigMap('good', machine.config('maxPods: 51'))
        await admin.assign('good')
        await admin.untilStatus({ error: DOWNLOAD_ERROR })
        assert.equal(machine.restarts(), 0)
        assert(machine.agent.says(/^failed to download .* 403: configmaps .* is forbidden/))
        return created
      })
      await step('with the rights to it, it is used', async () => {
        await grantConfigMap(plane, user, admin.nameOf('good'), ['get', 'list', 'watch'])
        await admin.untilStatus({ assigned: source, active: source, lastKnownGood: source }, 90_000)
      })
      await step('and followed', async () => {
        await admin.editConfigMap('good', machine.config('maxPods: 61'))
        await machine.untilRuns(61)
      })
    })
  })

  scenario('edits: a right to get and none to watch', async (step) => {
    const user = 'polling-agent'
    const kubeconfig = await createPlainUser(plane, user)
    await withMachine(plane, program, { name: 'polling', kubeconfig, settings: { nodeName: 'polling' } }, async (machine, admin) => {
      await grantConfigMap(plane, user, admin.nameOf('good'), ['get'])
      machine.agent.start()
      await step('an assignment is used', () => promoteGood(machine, admin))
      await step('the agent says that it reads it every minute', () =>
        machine.agent.untilSays(/^watching .* is forbidden: reading it every minute instead/),
      )
    })
  })

  scenario('edits: the Node is deleted and registered anew', (step) =>
    withMachine(plane, program, { name: 'anew' }, async (machine, admin) => {
      machine.agent.start()
      await step('a good one is promoted', () => promoteGood(machine, admin))
      await step('the Node is deleted: nothing changes', async () => {
        await admin.kubectl('delete', 'node', 'anew')
        await machine.agent.untilSays(/^Node was deleted/)
        assert.equal(machine.restarts(), 1)
        await machine.untilRuns(51)
      })
      await step('registered anew it has no assignment: back on local, with a warning', async () => {
        await plane.createNode('anew')
        await admin.untilStatus({})
        assert.equal(machine.restarts(), 2)
        assert(machine.agent.says(/was deleted and registered again without a configSource/))
      })
      await step('and takes an assignment again', async () => {
        await admin.assign('good')
        const source = await admin.source('good')
        await admin.untilStatus({ assigned: source, active: source, lastKnownGood: source })
      })
    }),
  )
}

/** Edits in place until the delay, which follows from the version, is one that can be seen. */
async function editForLater(machine: Machine, admin: Administrator, good: Source): Promise<{ edited: Source; delayMs: number }> {
  let before = good
  for (let maxPods = 61; ; maxPods += 1) {
    const edited = await admin.editConfigMap('good', machine.config(`maxPods: ${maxPods}`))
    const delayMs = spreadDelayUs(machine.name, edited, SPREAD_MS * 1000) / 1000
    if (delayMs >= LONG_ENOUGH_MS) {
      await admin.untilStatus({ assigned: edited, active: before, lastKnownGood: before })
      return { edited, delayMs }
    }
    await admin.untilStatus({ assigned: edited, active: edited, lastKnownGood: edited })
    before = edited
  }
}
