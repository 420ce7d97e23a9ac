// SPDX-License-Identifier: Apache-2.0
/**
 * A kubelet that hangs is left, whatever is meant to run next and however often it was restarted.
 */
import t from 'tap'
import type { ConfigSource } from '../../src/subject/config-source.ts'
import { A, B, C, configMap, HOUR_US, MINUTE_US, SECOND_US, textOf, UPGRADED_KUBELET } from '../decision/snapshots.ts'
import { CRASHES, SmallWorld, WELL } from './small-world.ts'

const LEFT_WITHIN_US = 90 * SECOND_US

/**
 * A is promoted. Then new configs use up the hourly limit; the last of them has just run for a
 * while.
 */
async function withoutRestartsLeft(): Promise<SmallWorld> {
  const world = new SmallWorld()
  world.want(A)
  await world.run(15 * MINUTE_US)
  // The restart into A was the first.
  for (let count = 2; count <= world.policy.restartsPerHour; count += 1) {
    world.want(configMap(`edit-${count}`))
    await world.run(30 * SECOND_US)
  }
  return world
}

async function hasFallenBack(world: SmallWorld): Promise<boolean> {
  return world.history.some(({ kind }) => kind === 'rolled-back') && (await world.running()) === textOf(A)
}

async function runsWithin(world: SmallWorld, us: number, source: ConfigSource): Promise<boolean> {
  await world.run(us)
  return (await world.running()) === (source === 'local' ? 'local' : textOf(source))
}

t.test('the hourly limit holds up a new config while kubelet is well', async (t) => {
  const world = await withoutRestartsLeft()
  world.want(B)
  t.notOk(await runsWithin(world, 10 * MINUTE_US, B))
  t.equal((await world.run(SECOND_US)).phase, 'restart-limit')
})

t.test('a kubelet that hangs is left although the hourly limit is used up', async (t) => {
  for (const way of ['fix', 'unassign', 'reset'] as const) {
    const world = await withoutRestartsLeft()
    world.hangs = true
    if (way === 'fix') world.want(B)
    if (way === 'unassign') world.want('local')
    if (way === 'reset') world.requests = { ...world.requests, hold: 'local' }
    t.ok(await runsWithin(world, LEFT_WITHIN_US, way === 'fix' ? B : 'local'), way)
  }
})

t.test('an operator who requests a reset or a retry does not wait for the limit', async (t) => {
  const reset = await withoutRestartsLeft()
  reset.requests = { ...reset.requests, hold: 'local' }
  t.ok(await runsWithin(reset, 10 * SECOND_US, 'local'))
  const retry = await withoutRestartsLeft()
  retry.want(B)
  retry.requests = { ...retry.requests, retry: true }
  t.ok(await runsWithin(retry, 10 * SECOND_US, B))
})

t.test('a fallback that systemd refuses at first is not held up by the limit', async (t) => {
  const world = await withoutRestartsLeft()
  world.hangs = true
  world.systemctl = () => ({ ok: false, detail: 'no bus' })
  await world.run(3 * MINUTE_US)
  world.systemctl = undefined
  t.ok(await runsWithin(world, LEFT_WITHIN_US, A))
})

t.test('a kubelet that hangs is restarted although its binary or its flags change on disk meanwhile', async (t) => {
  const world = new SmallWorld()
  world.want(A)
  await world.run(15 * MINUTE_US)
  const before = world.restartsAskedAtUs.length
  world.kubeletIdentity = UPGRADED_KUBELET
  await world.run(15 * MINUTE_US)
  t.equal(world.restartsAskedAtUs.length, before, 'an upgrade on disk alone restarts nothing')
  world.hangs = true
  await world.until('wait')
  await world.run(LEFT_WITHIN_US)
  t.equal(world.restartsAskedAtUs.length, before + 1)
  world.hangs = false
  await world.run(MINUTE_US)
  t.equal(await world.running(), textOf(A))
  t.same([...world.records.verdicts()], [], 'and nothing is held against the config')
})

t.test('a config that kills the container runtime is left, and so is one whose fix is there already', async (t) => {
  for (const fix of [undefined, C]) {
    const world = new SmallWorld()
    world.want(A)
    await world.run(15 * MINUTE_US)
    world.behave(B, { healthyAfterUs: 2 * SECOND_US, unhealthyAfterUs: 20 * SECOND_US })
    world.want(B)
    await world.run(30 * SECOND_US)
    world.runtimeUp = false
    if (fix !== undefined) world.want(fix)
    // The runtime comes back when kubelet is restarted with anything else.
    for (let count = 0; count < 200 && (await world.running()) === textOf(B); count += 1) await world.run(6 * SECOND_US)
    t.not(await world.running(), textOf(B), 'it is left while the runtime is down')
    world.runtimeUp = true
    await world.run(5 * MINUTE_US)
    t.equal(await world.running(), textOf(fix ?? A), fix === undefined ? 'without a fix' : 'with a fix')
    t.ok(world.unit.healthy)
  }
})

t.test('a runtime that is down for five minutes in the middle of a trial condemns nothing', async (t) => {
  const world = new SmallWorld({ restartUs: 15 * SECOND_US })
  world.want(A)
  await world.run(15 * MINUTE_US)
  world.want(B)
  await world.run(3 * MINUTE_US)
  world.runtimeUp = false
  world.unit.kill()
  await world.run(5 * MINUTE_US)
  world.runtimeUp = true
  await world.run(15 * MINUTE_US)
  t.equal(await world.running(), textOf(B))
  t.same(world.record('last-known-good'), B)
  t.same([...world.records.verdicts()], [])
})

t.test('a crash loop of a config that never proved itself is left as fast as ever', async (t) => {
  const world = new SmallWorld()
  world.want(A)
  await world.run(15 * MINUTE_US)
  world.behave(B, CRASHES)
  world.want(B)
  await world.until('restart')
  const sinceUs = world.nowUs
  while (!(await hasFallenBack(world))) await world.run(SECOND_US)
  t.ok(world.nowUs - sinceUs <= 30 * SECOND_US, `${(world.nowUs - sinceUs) / SECOND_US} s`)
  world.behave(B, WELL)
  await world.run(7 * HOUR_US)
  t.equal(await world.running(), textOf(A), 'and it is not tried again by itself')
})
