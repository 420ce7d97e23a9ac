// SPDX-License-Identifier: Apache-2.0
/**
 * /run is lost while kubelet has yet to be restarted into what is in place. Where `--config` names
 * the same file whatever is in it, only the time at which that was put there tells that kubelet
 * does not run it.
 */
import { dirname } from 'node:path'
import t from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import type { ActivationKind } from '../../src/subject/unit-state.ts'
import { A, B, C, MINUTE_US, textOf } from '../decision/snapshots.ts'
import { CRASHES, SmallWorld } from './small-world.ts'

const TRIAL_US = MINUTE_US
/** Longer than a trial and its evidence. */
const LONG_US = 3 * MINUTE_US

/** A is promoted and runs. */
async function settledOnA(activation: ActivationKind): Promise<SmallWorld> {
  const world = new SmallWorld({ activation })
  world.policy = { ...world.policy, trialUs: TRIAL_US }
  world.want(A)
  await world.run(LONG_US)
  return world
}

const REFUSED = () => ({ ok: false, detail: 'refused' })
/** Why kubelet is not restarted into what is in place. */
const OBSTACLES: Readonly<Record<string, (world: SmallWorld) => void>> = {
  'systemd refuses the restart': (world) => {
    world.systemctl = REFUSED
  },
  'the hour has had its restarts': (world) => {
    world.policy = { ...world.policy, restartsPerHour: 1 }
  },
}

/** As an agent leaves the records that keeps no stamps in them. */
function stripStamps(world: SmallWorld): void {
  const files = new DurableFiles(world.disk)
  const outside = dirname(world.placePath)
  const paths = ['/state/drop-ins', ...(files.list('/state/local') ?? []).map((name) => `/state/local/${name}`), outside]
    .flatMap((directory) => (files.list(directory) ?? []).map((name) => `${directory}/${name}`))
    .filter((path) => /record|drop-ins/.test(path))
  for (const path of paths) {
    const { stamp: _, ...record } = JSON.parse(files.read(path)?.toString() ?? '{}')
    files.replace(path, JSON.stringify(record))
  }
}

function loseRun(world: SmallWorld): void {
  world.forgetRun()
  world.restartAgent()
  world.systemctl = undefined
}

t.test('file: somebody replaces the config that runs, the agent puts it back, and /run is lost: no restart', async (t) => {
  const world = await settledOnA('file')
  world.editLocal('# edited')
  await world.run(MINUTE_US)
  t.equal(world.disk.read(world.placePath).toString(), textOf(A))
  loseRun(world)
  const restarts = world.restartsAskedAtUs.length
  await world.run(LONG_US)
  t.equal(world.restartsAskedAtUs.length, restarts)
  t.equal(await world.running(), textOf(A))
})

for (const kind of ['file', 'drop-in'] as const) {
  for (const [why, obstruct] of Object.entries(OBSTACLES).slice(kind === 'file' ? 0 : 1)) {
    t.test(`${kind}: ${why}, and /run is lost: the config runs before it is promoted`, async (t) => {
      const world = await settledOnA(kind)
      obstruct(world)
      world.want(B)
      await world.run(MINUTE_US)
      t.equal(await world.running(), textOf(A))
      loseRun(world)
      const restarts = world.restartsAskedAtUs.length
      await world.run(LONG_US)
      t.equal(await world.running(), textOf(B))
      t.same(world.record('last-known-good'), B)
      t.equal(world.restartsAskedAtUs.length, restarts + 1)
    })
  }

  t.test(`${kind}: the same on the way back to local`, async (t) => {
    const world = await settledOnA(kind)
    world.systemctl = REFUSED
    world.want('local')
    await world.run(MINUTE_US)
    loseRun(world)
    await world.run(LONG_US)
    t.equal(await world.running(), 'local')
  })

  t.test(`${kind}: the same while the node falls back`, async (t) => {
    const world = await settledOnA(kind)
    world.behave(B, CRASHES)
    world.want(B)
    while (world.steps.at(-1)?.kind !== 'restart') await world.pass()
    world.systemctl = REFUSED
    world.advance(MINUTE_US)
    await world.run(MINUTE_US)
    loseRun(world)
    await world.run(LONG_US)
    t.equal(await world.running(), textOf(A))
    t.same(world.record('last-known-good'), A)
    t.match([...world.records.verdicts().values()], [{ source: B }], 'what failed is B')
  })

  t.test(`${kind}: what runs already is restarted for nothing by no loss of /run`, async (t) => {
    const world = await settledOnA(kind)
    world.want(B)
    await world.run(MINUTE_US)
    for (let losses = 0; losses < 2; losses += 1) {
      loseRun(world)
      await world.run(MINUTE_US)
    }
    t.equal(world.restartsAskedAtUs.length, 2)
    t.equal(await world.running(), textOf(B))
  })

  t.test(`${kind}: nor is what runs and was put in place again`, async (t) => {
    const world = await settledOnA(kind)
    world.systemctl = REFUSED
    world.want(B)
    await world.run(MINUTE_US)
    world.want(A)
    await world.run(MINUTE_US)
    loseRun(world)
    const restarts = world.restartsAskedAtUs.length
    await world.run(LONG_US)
    t.equal(world.restartsAskedAtUs.length, restarts)
    t.equal(await world.running(), textOf(A))
  })

  t.test(`${kind}: nor local, that was to be left and is assigned again`, async (t) => {
    const world = new SmallWorld({ activation: kind })
    world.systemctl = REFUSED
    world.want(A)
    await world.run(MINUTE_US)
    world.want('local')
    await world.run(MINUTE_US)
    const restarts = world.restartsAskedAtUs.length
    loseRun(world)
    await world.run(LONG_US)
    t.equal(world.restartsAskedAtUs.length, restarts)
    t.equal(await world.running(), 'local')
  })

  t.test(`${kind}: nothing tells when it was put in place: it is not promoted before it has run, after one restart`, async (t) => {
    const world = await settledOnA(kind)
    world.systemctl = REFUSED
    world.want(B)
    await world.run(MINUTE_US)
    stripStamps(world)
    loseRun(world)
    world.requests = { ...world.requests, hold: 'paused' }
    const restarts = world.restartsAskedAtUs.length
    await world.run(LONG_US)
    t.equal(world.restartsAskedAtUs.length, restarts, 'nor restarted in a pause')
    t.same(world.record('last-known-good'), A)
    world.requests = { ...world.requests, hold: 'none' }
    await world.run(MINUTE_US)
    t.equal(world.restartsAskedAtUs.length, restarts + 1)
    loseRun(world)
    await world.run(LONG_US)
    t.equal(world.restartsAskedAtUs.length, restarts + 1, 'and no other one, whatever else is lost')
    t.equal(await world.running(), textOf(B))
    t.same(world.record('last-known-good'), B)
  })

  t.test(`${kind}: nothing tells that, and the config in place has passed its trial: no restart`, async (t) => {
    const world = await settledOnA(kind)
    stripStamps(world)
    loseRun(world)
    await world.run(LONG_US)
    t.equal(world.restartsAskedAtUs.length, 1)
    world.want(C)
    await world.run(LONG_US)
    t.same(world.record('last-known-good'), C)
    t.equal(world.restartsAskedAtUs.length, 2)
  })

  t.test(`${kind}: an agent of another version left no stamp, and the node boots: one restart at most`, async (t) => {
    const world = await settledOnA(kind)
    world.want(B)
    await world.run(MINUTE_US)
    stripStamps(world)
    world.reboot()
    // Kubelet is up before the agent looks.
    world.advance(MINUTE_US)
    await world.run(LONG_US)
    t.equal(world.restartsAskedAtUs.length, 3)
    t.same(world.record('last-known-good'), B)
    world.reboot()
    world.advance(MINUTE_US)
    await world.run(2 * MINUTE_US)
    t.equal(world.restartsAskedAtUs.length, 3)
  })

  t.test(`${kind}: an agent of another version left no stamp, and /run tells: none is needed later`, async (t) => {
    const world = await settledOnA(kind)
    world.want(B)
    await world.run(MINUTE_US)
    stripStamps(world)
    world.restartAgent()
    await world.run(MINUTE_US)
    loseRun(world)
    await world.run(LONG_US)
    t.equal(world.restartsAskedAtUs.length, 2)
    t.same(world.record('last-known-good'), B)
  })
}
