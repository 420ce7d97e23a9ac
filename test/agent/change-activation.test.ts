// SPDX-License-Identifier: Apache-2.0
/** The operator selects another kind of activation while kubelet runs a config of the agent. */
import { dirname } from 'node:path'
import t from 'tap'
import { ACTIVATION_KINDS } from '../../src/systemd/activation-kinds.ts'
import { A, B, SECOND_US, textOf } from '../decision/snapshots.ts'
import { CRASHES, LOCAL_TEXT, SmallWorld } from './small-world.ts'

/** A is last-known-good, by a file that the agent put into a directory of the machine. */
async function openOutside(activation: 'file' | 'drop-in') {
  const world = new SmallWorld({ activation })
  world.editLocal(LOCAL_TEXT)
  world.disk.plant('/etc/kubelet.conf.d/README', '')
  world.want(A)
  await world.run(1200 * SECOND_US)
  const former = world.placePath
  const makeReadOnly = () => {
    world.disk.faultOf = ({ path }) => (dirname(path) === dirname(former) ? 'EROFS' : undefined)
  }
  return { world, former, makeReadOnly }
}

for (const from of ACTIVATION_KINDS) {
  for (const to of ACTIVATION_KINDS.filter((kind) => kind !== from)) {
    t.test(`from ${from} to ${to}: kubelet is not restarted for the same content, and local is what it was`, async (t) => {
      const world = new SmallWorld({ activation: from })
      world.editLocal(LOCAL_TEXT)
      world.disk.plant('/etc/kubelet.conf.d/README', '')
      world.want(A)
      await world.run(1200 * SECOND_US)
      t.strictSame(world.record('last-known-good'), A)
      const restarts = world.restartsAskedAtUs.length
      const former = world.placePath

      world.changeActivation(to)
      t.match(await world.run(60 * SECOND_US), { phase: 'settled' })
      t.equal(world.restartsAskedAtUs.length, restarts)
      t.match(world.disk.read(world.placePath).toString(), to === 'env' ? /--config=/ : textOf(A))
      if (from === 'file') t.equal(world.disk.read(former).toString(), LOCAL_TEXT)
      else t.equal(world.disk.stat(former), undefined)

      world.want('local')
      await world.run(60 * SECOND_US)
      t.equal(world.record('last-known-good'), 'local')
      t.equal(world.disk.read('/var/lib/kubelet/config.yaml').toString(), LOCAL_TEXT)
    })
  }
}

for (const from of ['file', 'drop-in'] as const) {
  const to = from === 'file' ? 'drop-in' : 'file'

  t.test(`from ${from} to ${to}: while the former config cannot be taken away, kubelet starts with no new one`, async (t) => {
    const { world, former, makeReadOnly } = await openOutside(from)
    makeReadOnly()
    world.changeActivation(to)
    await world.run(60 * SECOND_US)
    world.behave(B, CRASHES)
    world.want(B)
    await world.run(120 * SECOND_US)
    await world.unit.restart('other')
    await world.run(600 * SECOND_US)
    t.not(world.startedWith, textOf(B))
    t.match(world.snapshots.at(-1)?.troubles, [{ step: 'activate', detail: /EROFS/ }])
    t.match(world.snapshots.at(-1)?.nextStart, { kind: 'unknown', detail: former })

    world.disk.faultOf = () => undefined
    world.want(A)
    await world.run(1200 * SECOND_US)
    t.equal(await world.running(), textOf(A))
    t.match(world.snapshots.at(-1)?.nextStart, { kind: 'known', held: { source: A } })
  })

  t.test(`from ${from} to ${to}: where the new kind cannot be written, the fallback that runs stays in place`, async (t) => {
    const { world, former } = await openOutside(from)
    world.behave(B, CRASHES)
    world.want(B)
    await world.run(1200 * SECOND_US)
    t.equal(await world.running(), textOf(A))
    world.changeActivation(to)
    world.disk.faultOf = ({ kind, path }) => (kind === 'write' && dirname(path) === dirname(world.placePath) ? 'EROFS' : undefined)
    await world.run(60 * SECOND_US)
    t.match(world.snapshots.at(-1)?.troubles, [{ step: 'activate', detail: /EROFS/ }])
    t.equal(world.disk.read(former).toString(), textOf(A))
  })

  t.test(`from ${from} to ${to}: what is left of the former kind keeps no kubelet in a crash loop`, async (t) => {
    const { world, former, makeReadOnly } = await openOutside(from)
    const record = world.disk.list('/state').filter((name) => ['local', 'drop-ins'].includes(name))
    t.equal(record.length, 1)
    const saved = saveTree(world, `/state/${record[0]}`)
    world.changeActivation(to)
    await world.run(60 * SECOND_US)
    // As an agent left it that took the former one away last.
    for (const [path, text] of saved) world.disk.plant(path, text)
    world.disk.plant(former, textOf(A))
    makeReadOnly()

    world.behave(B, CRASHES)
    world.want(B)
    await world.run(600 * SECOND_US)
    t.match([...world.records.verdicts().values()], [{ source: B, state: 'confirmed' }])
    t.equal(await world.running(), textOf(A))
    t.equal(world.disk.read(former).toString(), textOf(A))
    const named = world.log.said.filter((line) => line.includes(former))
    t.strictSame(named.length, 1, 'it is said once')
  })
}

function saveTree(world: SmallWorld, path: string): readonly (readonly [string, string])[] {
  return world.disk.list(path).flatMap((name) => {
    const each = `${path}/${name}`
    return world.disk.stat(each)?.kind === 'directory' ? saveTree(world, each) : [[each, world.disk.read(each).toString()] as const]
  })
}
