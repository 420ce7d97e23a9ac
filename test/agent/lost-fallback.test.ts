// SPDX-License-Identifier: Apache-2.0
/**
 * The record of last-known-good is lost while that stands in for a config that failed. It goes on,
 * and is on record again once it has passed its trial: local only replaces what has failed.
 */
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { ACTIVATION_KINDS } from '../../src/systemd/activation-kinds.ts'
import { A, B, C, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { promote, promoted, runsAndStaysOn } from './promoted-world.ts'
import { CRASHES, SmallWorld } from './small-world.ts'

const RECORD = '/state/meta/last-known-good'

function remove(world: SmallWorld, ...paths: readonly string[]): void {
  for (const path of paths) new DurableFiles(world.disk).removeTree(path)
}

const DAMAGES: Readonly<Record<string, (world: SmallWorld) => void>> = {
  empty: (world) => world.disk.plant(RECORD, ''),
  truncated: (world) => world.disk.plant(RECORD, world.disk.read(RECORD).subarray(0, 60)),
  'written by a newer agent': (world) => world.disk.plant(RECORD, `${world.disk.read(RECORD).toString()}    newer: field\n`),
  'unreadable for a minute': (world) => {
    world.disk.readFaultOf = (path) => (path === RECORD ? 'EIO' : undefined)
  },
  'gone, as are /run and what passed': (world) => {
    remove(world, RECORD, '/state/meta/proven')
    world.forgetRun()
  },
}

for (const kind of ACTIVATION_KINDS) {
  for (const [what, damage] of Object.entries(DAMAGES)) {
    if (kind !== 'env' && what !== 'empty') continue
    for (const how of ['restartAgent', 'reboot'] as const) {
      t.test(`${kind}: the record is ${what}: ${how}`, async (t) => {
        const world = await promote(new SmallWorld({ activation: kind }), C, A)
        world.behave(B, CRASHES)
        world.behave('local', CRASHES)
        world.want(B)
        await world.run(5 * MINUTE_US)
        const restarts = world.restartsAskedAtUs.length
        damage(world)
        world[how]()
        // A record that cannot be read stops the first passes.
        for (let seconds = 0; seconds < 60; seconds += 5) await world.run(5 * SECOND_US).catch(() => world.advance(5 * SECOND_US))
        world.disk.readFaultOf = undefined
        await world.run(20 * MINUTE_US)
        await runsAndStaysOn(t, world, A)
        t.equal(world.restartsAskedAtUs.length, restarts, 'kubelet is not restarted')
        t.same([world.record('last-known-good'), world.record('previous')], [A, C], 'and it is on record again')

        // So the next config that fails leads back to it.
        world.behaveWith('bad', CRASHES)
        world.want({ ...B, resourceVersion: '2' }, { kubelet: 'bad' })
        await world.run(5 * MINUTE_US)
        await runsAndStaysOn(t, world, A)
        t.equal(world.restartsAskedAtUs.length, restarts + 2)
      })
    }
  }
}

/** B, which was promoted after A, fails, and so would local. */
async function fallenBack(): Promise<SmallWorld> {
  const world = await promoted(A, B)
  world.behave(B, CRASHES)
  world.behave('local', CRASHES)
  world.unit.kill()
  await world.run(5 * MINUTE_US)
  return world
}

t.test('the record of previous is lost while that stands in for last-known-good', async (t) => {
  const world = await fallenBack()
  await runsAndStaysOn(t, world, A)
  const restarts = world.restartsAskedAtUs.length
  world.disk.plant('/state/meta/previous', '')
  world.restartAgent()
  await world.run(4 * MINUTE_US)
  await runsAndStaysOn(t, world, A)
  t.equal(world.restartsAskedAtUs.length, restarts)
})

t.test('a config on its own trial, which nobody wants any more, does not take the place of the record', async (t) => {
  const world = await promoted(A)
  world.behave(C, CRASHES)
  world.want(C)
  await world.run(5 * MINUTE_US)
  world.want(B)
  await world.run(3 * MINUTE_US)
  await runsAndStaysOn(t, world, B)
  world.disk.plant(RECORD, '')
  world.restartAgent()
  world.want(C)
  await world.run(30 * MINUTE_US)
  t.not(await world.running(), textOf(B), 'B is left')
  t.notSame(world.record('last-known-good'), B)
})

t.test('what passed its trial is on record again before another config takes its place', async (t) => {
  const world = await promoted(A)
  world.behave('local', CRASHES)
  world.disk.plant(RECORD, '')
  world.behaveWith('bad', CRASHES)
  world.want({ ...B, resourceVersion: '9' }, { kubelet: 'bad' })
  world.reboot()
  await world.run(30 * MINUTE_US)
  await runsAndStaysOn(t, world, A)
})

t.test('and what stands in has time for its trial before what it stands in for is tried again', async (t) => {
  const world = await fallenBack()
  for (const record of [RECORD, '/state/meta/previous']) world.disk.plant(record, '')
  world.restartAgent()
  await world.run(30 * MINUTE_US)
  await runsAndStaysOn(t, world, A)
})

t.test('nothing is promoted while nobody knows what is assigned', async (t) => {
  const world = await promoted(A)
  world.want(B)
  await world.run(3 * MINUTE_US)
  for (const record of [RECORD, '/state/meta/assigned']) world.disk.plant(record, '')
  world.desired = { kind: 'unknown', detail: 'the API server does not answer' }
  world.restartAgent()
  await world.run(30 * MINUTE_US)
  await runsAndStaysOn(t, world, B)
  t.equal(world.history.filter(({ kind }) => kind === 'promoted').length, 1)
})
