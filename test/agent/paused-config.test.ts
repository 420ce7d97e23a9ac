// SPDX-License-Identifier: Apache-2.0
/** A pause of the ConfigMap keeps other versions away, and nothing that fails. */
import t from 'tap'
import type { ChannelState, Desired } from '../../src/decision/desired.ts'
import { joinPauses } from '../../src/decision/find-pause.ts'
import { A, B, C, MINUTE_US, SECOND_US } from '../decision/snapshots.ts'
import { promote, promoted, runsAndStaysOn, wantPaused } from './promoted-world.ts'
import { CRASHES, NEVER_HEALTHY, SmallWorld } from './small-world.ts'

t.test('a pause of the ConfigMap keeps other versions away', async (t) => {
  const world = await promoted(A)
  wantPaused(world, B, 'ConfigMap')
  t.equal((await world.run(20 * MINUTE_US)).phase, 'paused')
  t.equal(world.restartsAskedAtUs.length, 1)
  await runsAndStaysOn(t, world, A)
  wantPaused(world, B, undefined)
  await world.run(MINUTE_US)
  await runsAndStaysOn(t, world, B)
})

for (const [what, behaviour] of Object.entries({ crashes: CRASHES, hangs: NEVER_HEALTHY })) {
  t.test(`a config with which kubelet ${what} is left, and not tried again, although its ConfigMap is paused`, async (t) => {
    const world = await promoted(A)
    world.behave(B, behaviour)
    world.want(B)
    await world.run(5 * SECOND_US)
    wantPaused(world, B, 'ConfigMap')
    t.equal((await world.run(20 * MINUTE_US)).phase, 'fallen-back')
    const restarts = world.restartsAskedAtUs.length
    await world.run(100 * MINUTE_US)
    t.equal(world.restartsAskedAtUs.length, restarts)
    await runsAndStaysOn(t, world, A)
  })

  t.test(`nor does a paused edit keep kubelet on the version before it, with which it ${what}`, async (t) => {
    const world = await promoted(A)
    world.behave(B, behaviour)
    world.want(B)
    await world.run(5 * SECOND_US)
    wantPaused(world, C, 'ConfigMap')
    await world.run(20 * MINUTE_US)
    await runsAndStaysOn(t, world, A)
    t.equal((await world.run(MINUTE_US)).phase, 'paused')
  })

  t.test(`a promoted config with which kubelet ${what} later is left during a pause of its ConfigMap`, async (t) => {
    const world = await promoted(A, B)
    wantPaused(world, B, 'ConfigMap')
    await world.run(MINUTE_US)
    world.behave(B, behaviour)
    world.unit.kill()
    await world.run(20 * MINUTE_US)
    await runsAndStaysOn(t, world, A)
  })
}

for (const wanted of [B, C]) {
  t.test(`a fault of the node during a pause is over when it is over: ${wanted.name} is wanted`, async (t) => {
    const world = await promoted(A, B)
    wantPaused(world, wanted, 'ConfigMap')
    await world.run(MINUTE_US)
    world.nodeFault = true
    world.unit.kill()
    await world.run(40 * MINUTE_US)
    world.nodeFault = false
    await world.run(3 * 60 * MINUTE_US)
    await runsAndStaysOn(t, world, B)
  })
}

/** Of reads and writes of what decides what kubelet starts with next. */
const FAULTS: Readonly<Record<string, (world: SmallWorld, fails: boolean) => void>> = {
  EIO: (world, fails) => {
    const { placePath } = world
    world.disk.readFaultOf = (path) => (fails && path === placePath ? 'EIO' : undefined)
  },
  ENOSPC: (world, fails) => {
    world.diskFails = () => fails
  },
}

for (const wanted of [B, C]) {
  for (const [code, setFault] of Object.entries(FAULTS)) {
    for (const activation of ['env', 'file', 'drop-in'] as const) {
      const about = `${wanted.name} is wanted, ${code}, ${activation}`
      t.test(`a fault of the disk during a pause restarts nothing that is well: ${about}`, async (t) => {
        const world = await promote(new SmallWorld({ activation }), A, B)
        wantPaused(world, wanted, 'ConfigMap')
        setFault(world, true)
        await world.run(20 * MINUTE_US)
        setFault(world, false)
        await world.run(20 * MINUTE_US)
        t.equal(world.restartsAskedAtUs.length, 2)
        await runsAndStaysOn(t, world, B)
      })

      t.test(`nor does it keep kubelet on what fails for longer than it lasts: ${about}`, async (t) => {
        const world = await promote(new SmallWorld({ activation }), A, B)
        wantPaused(world, wanted, 'ConfigMap')
        await world.run(MINUTE_US)
        setFault(world, true)
        world.behave(B, CRASHES)
        world.unit.kill()
        await world.run(5 * MINUTE_US)
        setFault(world, false)
        await world.run(20 * MINUTE_US)
        await runsAndStaysOn(t, world, A)
      })
    }
  }
}

t.test('a node goes back to last-known-good although that is a new version of a paused ConfigMap', async (t) => {
  const world = await promoted(A)
  world.want(B)
  await world.run(MINUTE_US)
  wantPaused(world, A, 'ConfigMap')
  await world.run(MINUTE_US)
  await runsAndStaysOn(t, world, A)
})

t.test('the end of a pause of the Node does not end that of the ConfigMap, which cannot be read yet', async (t) => {
  const world = await promoted(A)
  const hear = (channelState: Partial<ChannelState>, object: Partial<Extract<Desired, { kind: 'config-map' }>> = {}) => {
    world.want(B)
    world.desired = {
      ...world.desired,
      ...object,
      channelState: { channel: 'label', paused: undefined, problem: undefined, ...channelState },
    } as Desired
  }
  const configMap = { on: 'ConfigMap', by: 'its ConfigMap' } as const
  hear({ paused: joinPauses({ on: 'Node', by: 'its Node' }, configMap) })
  t.equal((await world.run(MINUTE_US)).detail, 'paused by its Node; wanted is kube-system/b:kubelet@1')
  world.restartAgent()
  hear({ paused: { on: 'Node', by: 'its Node' } }, { object: { kind: 'pending' } })
  t.equal((await world.run(MINUTE_US)).phase, 'paused')
  hear({}, { object: { kind: 'pending' } })
  t.equal((await world.run(MINUTE_US)).detail, 'paused by its ConfigMap; wanted is kube-system/b:kubelet@1')
  await runsAndStaysOn(t, world, A)
  hear({ paused: configMap })
  t.equal((await world.run(MINUTE_US)).phase, 'paused')
  hear({})
  await world.run(MINUTE_US)
  await runsAndStaysOn(t, world, B)
})
