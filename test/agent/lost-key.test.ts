// SPDX-License-Identifier: Apache-2.0
/**
 * The checkpoint of the assigned config lost the file that kubelet reads. Preflight would refuse
 * it, as it refuses a ConfigMap without the key, and nothing is wrong with the config.
 */
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import { A, B, MINUTE_US } from '../decision/snapshots.ts'
import { promote } from './promoted-world.ts'
import { SmallWorld } from './small-world.ts'

const NO_ANSWER = { kind: 'unknown', detail: 'the API server does not answer' } as const

async function settledOnA(kind: 'env' | 'drop-in'): Promise<SmallWorld> {
  const world = await promote(new SmallWorld({ activation: kind }), A)
  world.preflight = (data) =>
    'kubelet' in data ? { kind: 'accepted', remarks: [], drain: [] } : { kind: 'refused', reason: 'load', detail: 'the key is missing' }
  return world
}

for (const kind of ['env', 'drop-in'] as const) {
  t.test(`${kind}: a config that lost its file is not refused`, async (t) => {
    const world = await settledOnA(kind)
    world.desired = NO_ANSWER
    new DurableFiles(world.disk).removeTree(world.checkpoints.path(A))
    for (const run of ['kept', 'lost']) {
      t.not((await world.run(5 * MINUTE_US)).phase, 'refused', `/run is ${run}`)
      world.forgetRun()
      world.restartAgent()
    }
    t.equal(world.records.verdicts().size, 0)
    world.want(A)
    await world.run(5 * MINUTE_US)
    t.match(world.snapshots.at(-1), { nextStart: { held: { source: A } }, running: { kind: 'known' } })
    t.equal(world.restartsAskedAtUs.length, 1)
    t.ok(world.unit.healthy)
  })

  t.test(`${kind}: a config without the key is refused, also where nobody tells that again`, async (t) => {
    const world = await settledOnA(kind)
    world.want(B, { other: 'text' })
    t.match(await world.run(5 * MINUTE_US), { phase: 'refused' })
    world.desired = NO_ANSWER
    world.reboot()
    t.match(await world.run(5 * MINUTE_US), { phase: 'refused' })
    t.equal(world.restartsAskedAtUs.length, 1)
  })
}
