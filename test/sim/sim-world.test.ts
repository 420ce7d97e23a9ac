// SPDX-License-Identifier: Apache-2.0
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { PLAIN_NODE } from './node-kind.ts'
import { CONTAINERD } from './sim-runtime.ts'
import { SimWorld } from './sim-world.ts'

for (const activation of ['env', 'file', 'drop-in'] as const) {
  t.test(`reads of the agent that fail keep kubelet from nothing, whatever its start has to look up: ${activation}`, async (t) => {
    const world = new SimWorld(1, { ...PLAIN_NODE, activation })
    const before = world.unit.invocationId
    // The start of the fault looks whether kubelet runs last-known-good, which is the victim of the
    // node then.
    world.unit.nodeFault(60)
    world.faults.agentActs = true
    world.faults.failReads(1000)
    world.unit.startByOperator()
    t.not(world.unit.invocationId, before)
    t.ok(world.unit.process)
    t.equal(world.faults.failedReads, 0)
  })
}

t.test('an agent that died while it waited for the container runtime lets no time pass after a reboot', async (t) => {
  const world = new SimWorld(1, PLAIN_NODE)
  const ask = () => void world.unit.runtime.ask(CONTAINERD.replace('unix://', ''))
  world.advanceTo(1000e6)
  world.unit.agentStarted()
  world.unit.runtime.goDown(3600, true)
  ask()
  const wait = world.waitForRuntime(2000)
  world.reboot()
  world.agentDead = false
  world.unit.agentStarted()
  world.unit.runtime.goDown(3600, true)
  ask()
  const { nowUs } = world
  await Promise.race([
    wait,
    setImmediate()
      .then(() => setImmediate())
      .then(() => setImmediate()),
  ])
  t.equal(world.nowUs, nowUs)
})
