// SPDX-License-Identifier: Apache-2.0
/** The agent itself is killed, ended, started twice, started too early. */
import { strict as assert } from 'node:assert'
import { rename } from 'node:fs/promises'
import { assignGood, promoteGood } from './assign.ts'
import type { ControlPlane } from './lab/control-plane.ts'
import { eventually } from './lab/eventually.ts'
import { scenario } from './lab/runner.ts'
import { type Machine, withMachine } from './machine.ts'
import { labels } from './records.ts'

/** TimeoutStopSec= of the agent's unit: systemd kills it then. */
const STOP_LIMIT_MS = 10_000

export function addInterruptionScenarios(plane: ControlPlane, program: string): void {
  scenario('interruptions: killed in the middle of a trial', (step) =>
    withMachine(plane, program, { name: 'killed', settings: { trialDuration: '1h' } }, async (machine, admin) => {
      machine.agent.start()
      const good = await step('a good one is on a long trial', async () => {
        const source = await assignGood(machine, admin)
        await admin.untilStatus({ assigned: source, active: source })
        await eventually(() => readTrial(machine).sinceUs, { what: 'the agent has seen it healthy' })
        return source
      })
      const pid = machine.kubelet.pid
      const before = await step('SIGKILL, in the middle of it', async () => {
        machine.agent.signal('SIGKILL')
        await machine.agent.untilEnded()
        return readTrial(machine)
      })
      assert(before.sinceUs !== undefined, 'it was on trial until then')
      await step('started again it goes on with the same trial', async () => {
        machine.agent.start()
        const nextLook = () => {
          const record = readTrial(machine)
          return record.lookedAtUs > before.lookedAtUs ? record : undefined
        }
        const after = await eventually(nextLook, { what: 'the next agent has looked at it' })
        assert.equal(after.sinceUs, before.sinceUs)
      })
      await step('and promotes it when that is over', async () => {
        await machine.changeTrial('1s')
        await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good })
      })
      await step('kubelet was left alone, and no event was told twice', async () => {
        assert.equal(machine.restarts(), 1)
        assert.equal(machine.kubelet.pid, pid)
        await admin.untilEvents(
          `KubeletConfigChanged: Kubelet restarting to use ${labels(good)}`,
          `KubeletConfigPromoted: Kubelet config promoted to last-known-good: ${labels(good)}`,
        )
      })
    }),
  )

  scenario('interruptions: changes while there is no agent', (step) =>
    withMachine(plane, program, { name: 'absent' }, async (machine, admin) => {
      machine.agent.start()
      await step('a good one is promoted', () => promoteGood(machine, admin))
      const edited = await step('without an agent, an edit changes nothing', async () => {
        await machine.agent.stop()
        machine.kubelet.kill('SIGKILL')
        const source = await admin.editConfigMap('good', machine.config('maxPods: 65'))
        await eventually(() => machine.isHealthy(), { what: 'systemd has started kubelet again' })
        await machine.untilRuns(51)
        return source
      })
      await step('the next agent finds it', async () => {
        machine.agent.start()
        await admin.untilStatus({ assigned: edited, active: edited, lastKnownGood: edited })
      })
    }),
  )

  scenario('interruptions: SIGTERM', (step) =>
    withMachine(plane, program, { name: 'ended' }, async (machine, admin) => {
      const endsInTime = async () => {
        const askedAt = performance.now()
        machine.agent.signal('SIGTERM')
        await machine.agent.untilEnded()
        const tookMs = performance.now() - askedAt
        assert.equal(machine.agent.ended(), 'exit status 0')
        assert(tookMs < STOP_LIMIT_MS, `it took ${tookMs} ms`)
      }
      machine.agent.start()
      await step('ends it at rest', async () => {
        await promoteGood(machine, admin)
        await endsInTime()
      })
      await step('and it leaves kubelet alone', async () => {
        await machine.untilRuns(51)
        assert.equal(machine.restarts(), 1)
      })
      await step('ends it in the middle of a trial, with reports to send', async () => {
        machine.agent.start()
        await admin.editConfigMap('good', machine.config('maxPods: 66'))
        await eventually(() => machine.restarts() === 2, { what: 'the restart is asked for', intervalMs: 10 })
        await endsInTime()
      })
      await step('ends it while the API server does not answer', async () => {
        machine.agent.start()
        await machine.agent.untilSays(/^initial Node watch event/, 3)
        plane.freezeApiserver()
        try {
          await machine.agent.command('pause')
          await endsInTime()
          machine.agent.start()
          await machine.agent.untilSays(/^kubelet-cfg-agent .* starting/, 4)
          await endsInTime()
        } finally {
          plane.thawApiserver()
        }
      })
    }),
  )

  scenario('interruptions: SIGHUP', (step) =>
    withMachine(plane, program, { name: 'reread', settings: { trialDuration: '1h' } }, async (machine, admin) => {
      machine.agent.start()
      const good = await step('a good one is on a long trial', () => assignGood(machine, admin))
      await step('settings with a mistake change nothing', async () => {
        await machine.writeSettings({ trialDuratoin: '1s' })
        machine.agent.signal('SIGHUP')
        await machine.agent.untilSays(/^settings were not reread: .*trialDuratoin: unknown key; the nearest known one is trialDuration$/)
      })
      await step('a shorter trial is taken up, and is over', async () => {
        await machine.changeTrial('1s')
        await admin.untilStatus({ assigned: good, active: good, lastKnownGood: good })
      })
    }),
  )

  scenario('interruptions: a second agent on the same directory', (step) =>
    withMachine(plane, program, { name: 'second' }, async (machine, admin) => {
      machine.agent.start()
      await admin.untilStatus({})
      await step('is refused', async () => {
        const second = machine.agent.startSecond()
        await eventually(() => second.ended(), { what: 'it has ended' })
        assert.equal(second.ended(), 'exit status 1')
        assert(machine.agent.says(/^cannot lock .*: another agent \(process \d+\) uses this directory: stop it first/))
      })
      await step('while the first works on', () => promoteGood(machine, admin))
      await step('after a SIGKILL of the first, the next is not refused', async () => {
        machine.agent.signal('SIGKILL')
        await machine.agent.untilEnded()
        machine.agent.start()
        await admin.editConfigMap('good', machine.config('maxPods: 67'))
        await machine.untilRuns(67)
      })
    }),
  )

  scenario('interruptions: a kubeconfig that appears later', (step) =>
    withMachine(plane, program, { name: 'bootstrap' }, async (machine, admin) => {
      const later = `${machine.kubeconfig}.later`
      await step('without it the agent waits, and says so', async () => {
        await rename(machine.kubeconfig, later)
        machine.agent.start()
        await machine.agent.untilSays(/kubelet\.conf does not exist yet: waiting for it/)
        assert.equal(machine.restarts(), 0)
      })
      await step('with it the agent knows its node and follows it', async () => {
        await rename(later, machine.kubeconfig)
        await promoteGood(machine, admin)
        assert.equal(machine.agent.ended(), undefined)
      })
    }),
  )
}

interface TrialRecord {
  /** Since when the process on trial is healthy; undefined: no look has shown it healthy yet. */
  readonly sinceUs: number | undefined
  readonly lookedAtUs: number
}

/** As the agent has recorded it for the next agent of the same boot. */
function readTrial(machine: Machine): TrialRecord {
  const text = machine.read('..', 'run', 'health')
  assert(text !== undefined, 'the agent has recorded no look at kubelet')
  const { healthySinceUs, lastSampleUs } = JSON.parse(text)
  return { sinceUs: healthySinceUs, lookedAtUs: lastSampleUs }
}
