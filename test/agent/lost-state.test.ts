// SPDX-License-Identifier: Apache-2.0
/**
 * The running config is known by kubelet's command line, also where the files that it names are
 * gone. Unknown never means local, and a healthy kubelet is not restarted for a lost file.
 */
import t, { type Test } from 'tap'
import { DurableFiles } from '../../src/checkpoint/files.ts'
import type { ActivationKind } from '../../src/subject/unit-state.ts'
import { ACTIVATION_KINDS } from '../../src/systemd/activation-kinds.ts'
import { A, A_EDITED, B, C, HOUR_US, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { promote } from './promoted-world.ts'
import { CRASHES, LOCAL_TEXT, SmallWorld } from './small-world.ts'

const NO_ANSWER = { kind: 'unknown', detail: 'the API server does not answer' } as const

/** A is promoted and runs; the API server is away. */
async function settledOnA(activation: ActivationKind = 'env'): Promise<SmallWorld> {
  const world = new SmallWorld({ activation })
  world.want(A)
  await world.run(15 * MINUTE_US)
  world.desired = NO_ANSWER
  return world
}

function remove(world: SmallWorld, ...paths: readonly string[]): void {
  for (const path of paths) new DurableFiles(world.disk).removeTree(path)
}

const CHECKPOINTS = '/state/checkpoints'
const EVERYTHING = ['/state']

/** `run`: what was seen of the process is lost too. */
function restartAgent(world: SmallWorld, run: 'kept' | 'lost'): void {
  if (run === 'lost') world.forgetRun()
  world.restartAgent()
}

async function isUntouched(t: Test, world: SmallWorld, restarts = 1): Promise<void> {
  t.equal(world.restartsAskedAtUs.length, restarts, 'kubelet is not restarted')
  t.ok(world.unit.healthy)
}

/** The next start uses a file outside the directory. */
const isElsewhere = (kind: ActivationKind) => kind !== 'env'

function localInPlace(world: SmallWorld, kind: ActivationKind): string | undefined {
  return kind === 'file' ? new DurableFiles(world.disk).read(world.placePath)?.toString() : LOCAL_TEXT
}

for (const kind of ACTIVATION_KINDS) {
  for (const run of ['kept', 'lost'] as const) {
    t.test(`${kind}: the whole directory is lost while kubelet runs, with /run ${run}`, async (t) => {
      const world = await settledOnA(kind)
      remove(world, ...EVERYTHING)
      restartAgent(world, run)
      t.match(await world.run(HOUR_US), { phase: 'unknown', detail: /meta\/assigned/ })
      await isUntouched(t, world)

      t.test('the cluster still assigns it: it is downloaded again', async (t) => {
        world.want(A)
        await world.run(MINUTE_US)
        t.same(world.record('assigned'), A)
        t.equal(await world.running(), textOf(A))
        await world.run(15 * MINUTE_US)
        t.same(world.record('last-known-good'), A, 'it passes its trial again')
        await isUntouched(t, world)
      })

      t.test('and local is what it was', async (t) => {
        world.want('local')
        await world.run(5 * MINUTE_US)
        t.equal(await world.running(), 'local')
        t.equal(localInPlace(world, kind), LOCAL_TEXT)
        await isUntouched(t, world, 2)
      })
    })

    t.test(`${kind}: the checkpoint of what runs is lost, with /run ${run}`, async (t) => {
      const world = await settledOnA(kind)
      remove(world, CHECKPOINTS)
      restartAgent(world, run)
      await world.run(HOUR_US)
      await isUntouched(t, world)
      const next = isElsewhere(kind) ? A : 'local'
      t.match(world.snapshots.at(-1)?.nextStart, { held: { source: next } }, 'its next start uses something that exists')
      world.want(A)
      await world.run(MINUTE_US)
      t.equal(await world.running(), textOf(A), 'it is downloaded again')
      t.match(world.snapshots.at(-1)?.nextStart, { held: { source: A } })
      t.equal((await world.run(MINUTE_US)).phase, 'settled')
      await isUntouched(t, world)
    })
  }

  t.test(`${kind}: the directory is lost, and the cluster says local: local is followed`, async (t) => {
    const world = await settledOnA(kind)
    remove(world, ...EVERYTHING)
    world.restartAgent()
    await world.run(MINUTE_US)
    world.want('local')
    await world.run(MINUTE_US)
    t.equal(await world.running(), 'local')
    t.equal(localInPlace(world, kind), LOCAL_TEXT, "the administrator's config is back")
    await isUntouched(t, world, 2)
  })

  t.test(`${kind}: the directory is lost, and the cluster assigns another config`, async (t) => {
    const world = await settledOnA(kind)
    remove(world, ...EVERYTHING)
    restartAgent(world, 'lost')
    await world.run(MINUTE_US)
    world.want(B)
    await world.run(MINUTE_US)
    t.equal(await world.running(), textOf(B))
    await isUntouched(t, world, 2)
    world.want('local')
    await world.run(MINUTE_US)
    t.equal(localInPlace(world, kind), LOCAL_TEXT, 'what the agent put in place never becomes local')
  })

  t.test(`${kind}: the directory is lost, and the node boots again while the API server is away`, async (t) => {
    const world = await settledOnA(kind)
    remove(world, ...EVERYTHING)
    world.reboot()
    await world.run(5 * MINUTE_US)
    const runs = isElsewhere(kind) ? textOf(A) : 'local'
    t.equal(await world.running(), runs)
    t.match(world.snapshots.at(-1), isElsewhere(kind) ? { assigned: { kind: 'damaged' }, nextStart: { held: { source: A } } } : {})
    await isUntouched(t, world)
    world.want(A)
    await world.run(5 * MINUTE_US)
    t.equal(await world.running(), textOf(A))
    await isUntouched(t, world, isElsewhere(kind) ? 1 : 2)
  })

  t.test(`${kind}: the directory is lost, and then the config fails: the node falls back to local`, async (t) => {
    const world = await settledOnA(kind)
    remove(world, ...EVERYTHING)
    restartAgent(world, 'lost')
    await world.run(MINUTE_US)
    world.behave(A, CRASHES)
    world.unit.kill()
    await world.run(5 * MINUTE_US)
    t.equal(await world.running(), 'local')
    t.equal(localInPlace(world, kind), LOCAL_TEXT)
    t.ok(world.unit.healthy)
  })
}

for (const kind of ['file', 'drop-in'] as const) {
  for (const run of ['kept', 'lost'] as const) {
    t.test(`${kind}: the directory is lost after another wording of the config took its place, with /run ${run}`, async (t) => {
      const text = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 50\n'
      const world = new SmallWorld({ activation: kind })
      world.want(A, { kubelet: text })
      await world.run(15 * MINUTE_US)
      world.want(A_EDITED, { kubelet: `# the same\n${text}` })
      await world.run(MINUTE_US)
      t.match(new DurableFiles(world.disk).read(world.placePath)?.toString(), '# the same', 'it is in place')
      await isUntouched(t, world)
      world.desired = NO_ANSWER
      remove(world, ...EVERYTHING)
      restartAgent(world, run)
      await world.run(MINUTE_US)
      world.want(A_EDITED, { kubelet: `# the same\n${text}` })
      await world.run(15 * MINUTE_US)
      t.same(world.record('last-known-good'), A_EDITED)
      await isUntouched(t, world)
    })
  }
}

t.test('file: an edit by the administrator after the loss is the local config, and is never overwritten by an older one', async (t) => {
  const world = await settledOnA('file')
  remove(world, ...EVERYTHING)
  world.restartAgent()
  await world.run(MINUTE_US)
  world.editLocal('edited')
  await world.run(MINUTE_US)
  world.want(B)
  await world.run(MINUTE_US)
  t.equal(await world.running(), textOf(B))
  world.want('local')
  await world.run(MINUTE_US)
  t.equal(localInPlace(world, 'file'), 'edited')
})

t.test('file: what is only in place goes on while a typo is assigned, and is not promoted', async (t) => {
  const world = await settledOnA('file')
  remove(world, ...EVERYTHING)
  restartAgent(world, 'lost')
  world.preflight = (data) =>
    Object.values(data).includes('typo')
      ? { kind: 'refused', reason: 'load', detail: 'no YAML' }
      : { kind: 'accepted', remarks: [], drain: [] }
  world.want(B, { kubelet: 'typo' })
  t.match(await world.run(HOUR_US), { phase: 'refused' })
  t.equal(world.record('last-known-good'), 'local')
  await isUntouched(t, world)
})

t.test('drop-in: a file in its place without any record is unknown, and not local', async (t) => {
  const world = await settledOnA('drop-in')
  const record = world.placePath.replace(/[^/]*$/, '.$&.record')
  remove(world, ...EVERYTHING, record)
  restartAgent(world, 'lost')
  t.match(await world.run(HOUR_US), { phase: 'unknown' })
  t.match(world.snapshots.at(-1)?.assigned, { kind: 'damaged' })
  await isUntouched(t, world)
  world.want(A)
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
})

t.test('the records are lost, and the file that names the next start is not', async (t) => {
  const world = await settledOnA()
  remove(world, '/state/meta')
  world.unit.stop()
  restartAgent(world, 'lost')
  await world.run(MINUTE_US)
  t.match(world.snapshots.at(-1), { assigned: { kind: 'damaged' }, nextStart: { held: { source: A } } })
})

t.test('a kubelet that crashes after its checkpoint was lost starts with what is there', async (t) => {
  const world = await settledOnA()
  remove(world, CHECKPOINTS)
  await world.run(MINUTE_US)
  await isUntouched(t, world)
  world.unit.kill()
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), 'local')
  await isUntouched(t, world, 2)
  world.want(A)
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), textOf(A), 'and goes back when it is there again')
  await isUntouched(t, world, 3)
})

t.test('a fallback that runs and whose checkpoint is lost is left alone too', async (t) => {
  const world = await settledOnA()
  world.behave(B, CRASHES)
  world.want(B)
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
  const restarts = world.restartsAskedAtUs.length
  remove(world, `${CHECKPOINTS}/${A.uid}`)
  await world.run(HOUR_US)
  await isUntouched(t, world, restarts)
  t.match(world.snapshots.at(-1)?.nextStart, { held: { source: 'local' } })
})

t.test('nothing was ever assigned: an empty directory means local', async (t) => {
  const world = new SmallWorld()
  world.desired = NO_ANSWER
  t.equal((await world.run(MINUTE_US)).phase, 'settled')
  t.match(world.snapshots.at(-1)?.assigned, { kind: 'source', source: 'local' })
  const files = new DurableFiles(world.disk)
  for (const name of ['assigned', 'last-known-good']) t.equal(files.read(`/state/meta/${name}`)?.length, 0, `meta/${name} shows it`)
})

t.test('a power loss during `rm -rf` leaves the checkpoint without the file that kubelet reads', async (t) => {
  const world = await settledOnA()
  world.preflight = (data) =>
    Object.keys(data).length > 0
      ? { kind: 'accepted', remarks: [], drain: [] }
      : { kind: 'refused', reason: 'load', detail: 'the key is missing' }
  remove(world, '/state/meta', world.checkpoints.path(A))
  world.reboot()
  const steps = world.steps.length
  await world.run(5 * MINUTE_US)
  t.match(world.steps[steps], { kind: 'activate', target: 'local' }, 'the next start uses something that exists, before all else')
  t.equal(world.records.verdicts().size, 0, 'nothing is refused that nobody assigned')
  t.equal(await world.running(), 'local')
  world.want(A)
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), textOf(A), 'it is downloaded again')
})

t.test('a checkpoint loses the file that kubelet reads while kubelet runs', async (t) => {
  const world = await settledOnA()
  remove(world, world.checkpoints.path(A), '/state/meta/assigned')
  restartAgent(world, 'lost')
  await world.run(5 * MINUTE_US)
  await isUntouched(t, world)
  t.match(world.snapshots.at(-1)?.nextStart, { held: { source: 'local' } })
  world.want(A)
  await world.run(MINUTE_US)
  t.match(world.snapshots.at(-1)?.nextStart, { held: { source: A } })
  await isUntouched(t, world)
})

t.test('a refused config that took the place of what runs, with the same version, restarts nothing', async (t) => {
  const world = await settledOnA()
  world.preflight = (data) =>
    Object.values(data).includes(textOf(A))
      ? { kind: 'accepted', remarks: [], drain: [] }
      : { kind: 'refused', reason: 'load', detail: 'no YAML' }
  // An operator, or a program, has made kubelet start with its local config.
  remove(world, '/state/kubelet.env')
  world.want(A, { kubelet: 'restored' })
  await world.run(10 * MINUTE_US)
  await isUntouched(t, world)
  t.equal(world.startedWith, textOf(A))
})

t.test('the directory is lost just after a fault of the node, and the exits of that fault condemn nothing', async (t) => {
  const world = await settledOnA()
  world.nodeFault = true
  world.unit.kill()
  const wait = await world.run(10 * MINUTE_US)
  t.equal(wait.phase, 'node-at-fault')
  world.nodeFault = false
  while (!world.unit.healthy) await world.run(SECOND_US)
  t.ok((world.runtime.get('health')?.recentExits?.length ?? 0) >= 10, 'the exits are on record')
  const restarts = world.restartsAskedAtUs.length
  remove(world, ...EVERYTHING)
  world.restartAgent()
  await world.run(HOUR_US)
  await isUntouched(t, world, restarts)
  world.want(A)
  await world.run(15 * MINUTE_US)
  t.same(world.record('last-known-good'), A)
  world.unit.kill()
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), textOf(A), 'nor does the next exit')
  t.equal(world.records.verdicts().size, 0)
})

t.test(
  'the checkpoint of last-known-good is lost: the config before it takes its place, not a local config that does not run',
  async (t) => {
    const world = await promote(await settledOnA(), B)
    world.behave('local', CRASHES)
    world.behave(C, CRASHES)
    world.want(C)
    await world.until('assign')
    remove(world, `${CHECKPOINTS}/${B.uid}`)
    await world.run(2 * MINUTE_US)
    t.equal(await world.running(), textOf(A))
    t.same(world.record('last-known-good'), A)
    t.match(
      world.history.find(({ kind }) => kind === 'set-aside'),
      { from: B, to: A, why: /last-known-good is kube-system\/a:kubelet@1 from now on$/ },
    )
    t.equal([...world.records.verdicts().values()].filter(({ source }) => source === 'local').length, 0, 'which was not tried')
  },
)
