// SPDX-License-Identifier: Apache-2.0
/**
 * Kubelet itself gives trouble, or somebody works on it by hand: what the agent does then, and
 * leaves alone.
 */
import { strict as assert } from 'node:assert'
import { assignNew, promoteGood } from './assign.ts'
import type { ControlPlane } from './lab/control-plane.ts'
import { eventually } from './lab/eventually.ts'
import { scenario } from './lab/runner.ts'
import { type Machine, withMachine } from './machine.ts'

const TOLERANCE = { healthTolerance: '3s' }
/**
 * Nothing answers at the TLS port of the simulated kubelet. Where a person starts kubelet, the
 * agent cannot tell that nothing did so before either, and would hold the trial.
 */
const NO_TLS_PORT = { evidence: { serving: 'watched' } }
const LONG_SECONDS = 3_600
const LOST_HEALTH = 'failed to run config: kubelet lost its health; rolled back to last-known-good, see kubelet-cfg-agent log for details'

export function addKubeletTroubleScenarios(plane: ControlPlane, program: string): void {
  scenario('kubelet trouble: stopped by a person', (step) =>
    withMachine(plane, program, { name: 'stopped', settings: NO_TLS_PORT }, async (machine, admin) => {
      machine.agent.start()
      const good = await step('a good one is promoted', () => promoteGood(machine, admin))
      const next = await step('a new assignment does not start a kubelet that a person stopped', async () => {
        machine.kubelet.command('stop')
        await eventually(() => machine.kubelet.state === 'inactive', { what: 'kubelet is stopped' })
        const source = await assignNew(admin, 'next', machine.config('maxPods: 61'))
        await admin.untilStatus({ assigned: source, active: good, lastKnownGood: good })
        await machine.agent.untilSays(
          /^kubelet-stopped: kubelet is stopped; systemctl start \S+ starts it with kube-system\/stopped-next:kubelet@/,
        )
        assert.equal(machine.kubelet.state, 'inactive')
        assert.equal(machine.restarts(), 1)
        return source
      })
      await step('when that person starts it, it uses the new one', async () => {
        machine.kubelet.command('start')
        await machine.untilRuns(61)
        await admin.untilStatus({ assigned: next, active: next, lastKnownGood: next })
        assert.equal(machine.restarts(), 1)
      })
    }),
  )

  scenario('kubelet trouble: it hangs during a trial', (step) =>
    withMachine(plane, program, { name: 'hangs', settings: TOLERANCE }, async (machine, admin) => {
      machine.agent.start()
      const good = await step('a good one is promoted', () => promoteGood(machine, admin))
      await step('kubelet hangs on the next one: back on last-known-good', async () => {
        await machine.changeTrial(`${LONG_SECONDS}s`, TOLERANCE)
        const next = await assignNew(admin, 'next', machine.config('maxPods: 61'))
        await eventually(() => isOnTrial(machine), { what: 'the agent has seen it healthy' })
        machine.kubelet.kill('SIGSTOP')
        await admin.untilStatus({ assigned: next, active: good, lastKnownGood: good, error: LOST_HEALTH })
        await machine.untilRuns(51)
        assert.equal(machine.restarts(), 3)
      })
    }),
  )
}

/** The clock of the trial runs, and so the agent has seen kubelet healthy. */
async function isOnTrial(machine: Machine): Promise<boolean> {
  const [line = ''] = await machine.metric('kubelet_cfg_agent_trial_remaining_seconds ')
  const remaining = Number(line.split(' ')[1])
  return remaining > 0 && remaining < LONG_SECONDS
}
