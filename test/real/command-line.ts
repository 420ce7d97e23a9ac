// SPDX-License-Identifier: Apache-2.0
/**
 * The commands on a live node: what they print is what is the case, and what they promise happens.
 */
import { strict as assert } from 'node:assert'
import type { Administrator } from './administrator.ts'
import { assignNew, promoteGood } from './assign.ts'
import type { ControlPlane } from './lab/control-plane.ts'
import { eventually } from './lab/eventually.ts'
import { type Step, scenario } from './lab/runner.ts'
import { type Machine, withMachine } from './machine.ts'
import { eventName } from './records.ts'

const PAUSED = 'config not activated: paused by an operator of the node, see kubelet-cfg-agent log for details'
const HELD = 'config not activated: reset to local config by an operator of the node, see kubelet-cfg-agent log for details'
const GIVEN_UP =
  'config rolled back at the request of an operator of the node; rolled back to last-known-good, see kubelet-cfg-agent log for details'

type Play = (step: Step, machine: Machine, admin: Administrator) => Promise<void>

const SHORT = '1s'
/** A trial that lasts while the test looks at it. */
const LONG = '1h'

export function addCommandLineScenarios(plane: ControlPlane, program: string): void {
  const onNode = (command: string, trialDuration: string, play: Play): void => {
    const options = { name: `cli-${command.replaceAll(/\W+/g, '-')}`, settings: { trialDuration } }
    scenario(`command line: ${command}`, (step) => withMachine(plane, program, options, (machine, admin) => play(step, machine, admin)))
  }

  onNode('status', LONG, async (step, machine, admin) => {
    await step('without an agent', async () => {
      const status = await readStatus(machine)
      assert.deepEqual(status.agent, { running: false })
      assert.deepEqual(status.active, { kind: 'local' })
    })
    machine.agent.start()
    const good = await step('on trial, with the time left', async () => {
      const source = await assignNew(admin, 'good', machine.config('maxPods: 51'))
      await admin.untilStatus({ assigned: source, active: source })
      const status = await readStatus(machine)
      const held = { kind: 'configMap', ...source, checkpoint: 'present' }
      for (const name of ['assigned', 'active', 'nextStart', 'target']) assert.deepEqual(status[name], held)
      assert.deepEqual(status.lastKnownGood, { kind: 'local' })
      assert.equal(status.phase, 'in-trial')
      assert.equal(status.node, machine.name)
      assert.equal(status.error, null)
      const { remainingSeconds } = status.trial as { remainingSeconds: number }
      assert(remainingSeconds > 0 && remainingSeconds <= 3_600, `${remainingSeconds} s left`)
      return source
    })
    await step('settled', async () => {
      await machine.changeTrial(SHORT)
      await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good })
      const status = await readStatus(machine)
      assert.equal(status.phase, 'settled')
      assert.equal((status.lastKnownGood as { uid: string }).uid, good.uid)
    })
    await step('for people', async () => {
      const { stdout } = await machine.agent.command('status')
      assert.match(stdout, new RegExp(`^Last known good +kube-system/${good.name}:kubelet +${good.resourceVersion} +${good.uid}$`, 'm'))
    })
  })

  onNode('history', SHORT, async (step, machine, admin) => {
    machine.agent.start()
    await promoteGood(machine, admin)
    await step('tells every transition, and names the events', async () => {
      const items = await readHistory(machine)
      assert.deepEqual(
        items.map(({ kind }) => kind),
        ['assigned', 'restarting', 'promoted'],
      )
      const [changed, promoted] = await admin.events()
      assert.equal(changed?.metadata.name, eventName(machine.name, items[1] ?? assert.fail()))
      assert.equal(promoted?.metadata.name, eventName(machine.name, items[2] ?? assert.fail()))
    })
  })

  onNode('pause and resume', SHORT, async (step, machine, admin) => {
    machine.agent.start()
    const good = await promoteGood(machine, admin)
    await step('pause', async () => {
      const { stdout } = await machine.agent.command('pause')
      assert.match(
        stdout,
        /^Paused: no config is activated, kubelet is not restarted and nothing is rolled back until kubelet-cfg-agent resume\.$/m,
      )
      assert.match(stdout, /^The running agent \(pid \d+\) applies this at once\.$/m)
    })
    const edited = await step('an edit is saved and not used', async () => {
      const source = await admin.editConfigMap('good', machine.config('maxPods: 61'))
      await admin.untilStatus({ assigned: source, active: good, lastKnownGood: good, error: PAUSED })
      assert.equal(machine.restarts(), 1)
      assert.equal((await readStatus(machine)).hold, 'paused')
      return source
    })
    await step('resume', async () => {
      await machine.agent.command('resume')
      await admin.untilStatus({ assigned: edited, active: edited, lastKnownGood: edited })
      assert.equal(machine.restarts(), 2)
    })
    await step('a pause that is asked for without an agent holds for the next one', async () => {
      await machine.agent.stop()
      const { stdout } = await machine.agent.command('pause')
      assert.match(stdout, /^No agent is running: this applies when the agent starts\.$/m)
      await admin.editConfigMap('good', machine.config('maxPods: 62'))
      machine.agent.start()
      await eventually(async () => ((await admin.status()) as { error?: string }).error === PAUSED, { what: 'it is paused' })
      await machine.untilRuns(61)
      await machine.agent.command('resume')
      await machine.untilRuns(62)
    })
  })

  onNode('rollback and retry', SHORT, async (step, machine, admin) => {
    machine.agent.start()
    const good = await promoteGood(machine, admin)
    await machine.changeTrial(LONG)
    const next = await assignNew(admin, 'next', machine.config('maxPods: 61'))
    await admin.untilStatus({ assigned: next, active: next, lastKnownGood: good })
    await step('rollback goes to last-known-good, and says so', async () => {
      const { stdout } = await machine.agent.command('rollback')
      assert.match(stdout, new RegExp(`^Requested to roll back kube-system/${next.name}:kubelet@${next.resourceVersion}: `))
      await admin.untilStatus({ assigned: next, active: good, lastKnownGood: good, error: GIVEN_UP })
      await machine.untilRuns(51)
      assert.equal(machine.restarts(), 3)
    })
    await step('the verdict is in the status', async () => {
      const [verdict] = (await readStatus(machine)).verdicts as { state: string; reason: string }[]
      assert.equal(verdict?.state, 'confirmed')
      assert.equal(verdict?.reason, 'requested')
    })
    await step('retry takes it up again, and it is promoted', async () => {
      await machine.changeTrial(SHORT)
      await machine.agent.command('retry')
      await admin.untilStatus({ assigned: next, active: next, lastKnownGood: next })
      assert.equal(machine.restarts(), 4)
      assert.deepEqual((await readStatus(machine)).verdicts, [])
    })
    await step('on its local config there is nothing to roll back', async () => {
      await admin.unassign()
      await admin.untilStatus({})
      await assert.rejects(machine.agent.command('rollback'), /there is nothing to roll back/)
    })
  })

  onNode('reset and resume', SHORT, async (step, machine, admin) => {
    machine.agent.start()
    const good = await promoteGood(machine, admin)
    await step('reset goes to local, whatever is assigned', async () => {
      await machine.agent.command('reset')
      await admin.untilStatus({ error: HELD })
      await machine.untilRuns(undefined)
      assert.equal(machine.read('meta', 'assigned'), '')
    })
    await step('and stays there over an edit and a restart of the agent', async () => {
      await admin.editConfigMap('good', machine.config('maxPods: 61'))
      await machine.agent.stop()
      machine.agent.start()
      await machine.agent.untilSays(/^successfully downloaded/, 2)
      assert.equal(machine.restarts(), 2)
      await admin.untilStatus({ error: HELD })
    })
    await step('resume takes the assignment up again', async () => {
      await machine.agent.command('resume')
      const edited = await admin.source('good')
      assert.notEqual(edited.resourceVersion, good.resourceVersion)
      await admin.untilStatus({ assigned: edited, active: edited, lastKnownGood: edited })
    })
  })
}

async function readStatus(machine: Machine): Promise<Readonly<Record<string, unknown>>> {
  return JSON.parse((await machine.agent.command('status', '-o', 'json')).stdout)
}

async function readHistory(machine: Machine): Promise<{ kind: string; atNs: string; why: string }[]> {
  return JSON.parse((await machine.agent.command('history', '-o', 'json')).stdout).items
}
