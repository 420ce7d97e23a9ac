// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { perform } from '../../src/agent/perform.ts'
import { contentHash } from '../../src/checkpoint/content.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Action, StepOf } from '../../src/decision/step.ts'
import { findSpreadTurn, spreadDelayUs } from '../../src/decision/wait.ts'
import {
  A,
  B,
  contentOf,
  dataOf,
  HOUR_US,
  health,
  hold,
  keyOf,
  NOW_US,
  POLICY,
  READY,
  restartTo,
  snapshot,
  startsWith,
  verdict,
} from '../decision/snapshots.ts'
import { SmallWorld } from './small-world.ts'

/**
 * Carries out a step after a look at the world that shows what the step needs; `facts` say
 * otherwise.
 */
async function carryOut(world: SmallWorld, step: Action, facts: Partial<Snapshot> = {}): Promise<void> {
  const now = world.observationPorts().clock.now()
  const seen = { now, verdicts: world.records.verdicts(), accepted: world.effectPorts().accepted, spread: world.runtime.get('spread') }
  await perform(world.effectPorts(), step, snapshot({ ...seen, ...(step.kind === 'assign' && lookAtCheckpoints(world, step)), ...facts }))
}

function lookAtCheckpoints({ checkpoints }: SmallWorld, { source, data, rendered }: StepOf<'assign'>): Partial<Snapshot> {
  const { uid, resourceVersion, overlay: _, ...ref } = source
  const key = source.kubeletConfigKey
  const unrendered = checkpoints.content({ ...source, overlay: undefined })
  return {
    desired: { kind: 'config-map', ref, object: { kind: 'found', uid, resourceVersion, data } },
    desiredContent: contentHash(rendered ?? data, key),
    storedContent: checkpoints.content(source),
    storedUnrendered: unrendered === undefined ? 'missing' : unrendered === contentHash(data, key) ? 'same' : 'differs',
  }
}

/** A world in which A is saved and recorded everywhere. */
function settled(): SmallWorld {
  const world = new SmallWorld()
  for (const source of [A, B]) world.checkpoints.save(source.uid, source.resourceVersion, dataOf(source))
  for (const name of ['assigned', 'last-known-good'] as const) world.records.put(name, A)
  return world
}

const ASSIGN_B = { kind: 'assign', source: B, data: dataOf(B), shared: true } as const
const ACTIVATE_B = { kind: 'activate', target: B, fallback: A, wiring: READY } as const
const PROMOTE_B = { kind: 'promote', target: { source: B, content: contentOf(B) }, previous: A } as const
const RESTART = { kind: 'restart', record: restartTo(B, { outcome: undefined }), from: A, to: B, failed: false } as const

t.test('every step done twice leaves what it leaves when done once', async (t) => {
  const steps: Action[] = [
    { kind: 'forgive', drop: [keyOf(B)], requested: true, why: 'x' },
    { kind: 'drop-rollback' },
    ASSIGN_B,
    { kind: 'reset-to-local', from: A, shared: false },
    { kind: 'condemn', verdict: verdict(B, 'provisional'), next: A, requested: true },
    { kind: 'confirm', verdicts: [verdict(B, 'provisional')] },
    { kind: 'preflight', source: B, key: keyOf(B), data: undefined, fallback: false },
    ACTIVATE_B,
    { kind: 'prove', key: keyOf(B) },
    PROMOTE_B,
    { kind: 'forget-fallback', record: 'last-known-good', source: A },
    { kind: 'prune', checkpoints: [{ uid: B.uid, resourceVersion: B.resourceVersion, savedAtMs: 0 }] },
  ]
  for (const step of steps) {
    const world = settled()
    const seen = async () => ({ ...(await worldState(world)), accepted: [...world.effectPorts().accepted] })
    await carryOut(world, step)
    const once = await seen()
    await carryOut(world, step)
    t.same(await seen(), once, step.kind)
  }
})

async function worldState(world: SmallWorld) {
  return {
    assigned: world.record('assigned'),
    lastKnownGood: world.record('last-known-good'),
    previous: world.record('previous'),
    proven: world.records.get('proven')?.key,
    verdicts: [...world.records.verdicts()],
    checkpoints: world.checkpoints.list().map(({ uid, resourceVersion }) => `${uid}/${resourceVersion}`),
    next: world.observationPorts().activation.read(READY),
    requests: world.requests,
  }
}

t.test('assign: the checkpoint first, the record last, so that no record names what does not exist', async (t) => {
  const world = new SmallWorld()
  world.diskFails = (step) => step.path.includes('/meta/')
  await t.rejects(carryOut(world, ASSIGN_B), { code: 'ENOSPC' })
  t.ok(world.checkpoints.content(B))
  t.equal(world.record('assigned'), 'local')

  const other = new SmallWorld()
  other.diskFails = (step) => step.path.includes('/checkpoints')
  await t.rejects(carryOut(other, ASSIGN_B), { code: 'ENOSPC' })
  t.equal(other.record('assigned'), 'local')
})

t.test('assign: the spread begins with an edit in place', async (t) => {
  const world = new SmallWorld()
  const turn = () =>
    findSpreadTurn(
      { nodeName: 'node-1', now: world.observationPorts().clock.now(), spread: world.runtime.get('spread'), policy: POLICY },
      B,
    )
  await carryOut(world, { ...ASSIGN_B, shared: false })
  t.match(turn(), { kind: 'go' })
  await carryOut(world, ASSIGN_B)
  t.match(turn(), { kind: 'wait-until', atUs: world.nowUs + spreadDelayUs('node-1', B, POLICY.spreadUs) })
  await carryOut(world, { ...ASSIGN_B, source: A, data: dataOf(A), shared: false })
  await carryOut(world, { ...ASSIGN_B, shared: false })
  t.match(turn(), { kind: 'go' }, 'which has no say when the node’s own assignment comes back to it')
})

t.test('assign: the same version with other content', async (t) => {
  const world = settled()
  const before = world.checkpoints.content(A)
  const again = { ...ASSIGN_B, source: A, data: { kubelet: 'other bytes' } }
  world.disk.full = true
  await t.rejects(carryOut(world, again), { code: 'ENOSPC' })
  t.equal(world.checkpoints.content(A), before, 'the old one stays until the new one is ready')
  world.disk.full = false
  await carryOut(world, again)
  t.same(world.checkpoints.data(A.uid, A.resourceVersion), { kubelet: 'other bytes' })
  t.match({ lkg: world.record('last-known-good'), proven: world.records.get('proven')?.key }, { lkg: 'local', proven: undefined })
})

t.test('preflight', async (t) => {
  const step = { kind: 'preflight', source: B, key: keyOf(B), data: undefined, fallback: false } as const
  t.test('accepted: remembered', async (t) => {
    const world = settled()
    world.preflight = (data) => ({ kind: 'accepted', drain: [], remarks: [`saw ${data.kubelet}`] })
    await carryOut(world, step)
    t.ok(world.effectPorts().accepted.has(keyOf(B)))
    t.ok(world.log.said.includes('saw b@1'), 'the checkpoint was judged')
  })
  t.test('refused: a verdict, and a line of history', async (t) => {
    const world = settled()
    world.preflight = () => ({ kind: 'refused', reason: 'validate', detail: 'kubeAPIQPS is negative' })
    await carryOut(world, { ...step, data: dataOf(B) })
    t.match(world.records.verdicts().get(keyOf(B)), { state: 'refused', reason: 'validate', source: B })
    t.match(world.history, [{ kind: 'rejected', from: B, why: 'kubeAPIQPS is negative' }])
    t.notOk(world.effectPorts().accepted.has(keyOf(B)))
  })
  t.test('refused again: no news', async (t) => {
    const world = settled()
    world.preflight = () => ({ kind: 'refused', reason: 'validate', detail: 'no such file' })
    await carryOut(world, { ...step, data: dataOf(B) })
    world.basis = 'later'
    await carryOut(world, { ...step, data: dataOf(B) })
    t.equal(world.history.length, 1)
    t.match(world.records.verdicts().get(keyOf(B)), { state: 'refused', basis: 'later' })
  })
  t.test('accepted after a refusal: the verdict goes, and history says so', async (t) => {
    const world = settled()
    world.preflight = () => ({ kind: 'refused', reason: 'validate', detail: 'no such file' })
    await carryOut(world, { ...step, data: dataOf(B) })
    world.preflight = () => ({ kind: 'accepted', remarks: [], drain: ['cgroupDriver'] })
    await carryOut(world, { ...step, data: dataOf(B) })
    t.notOk(world.records.verdicts().has(keyOf(B)))
    t.match(world.history.at(-1), { kind: 'retrying', to: B })
    t.strictSame(world.effectPorts().accepted.get(keyOf(B)), { drain: ['cgroupDriver'], basis: 'basis' })
  })
  t.test('it rests on the settings from before the check', async (t) => {
    const world = settled()
    const check = async () => {
      world.basis = 'later'
      return { kind: 'accepted', remarks: [], drain: [] } as const
    }
    world.checks = { check, pending: () => new Set() }
    await carryOut(world, { ...step, data: dataOf(B) })
    t.match(world.effectPorts().accepted.get(keyOf(B)), { basis: 'basis' })
  })
  t.test('pending: nothing is remembered yet', async (t) => {
    const world = settled()
    world.preflight = () => ({ kind: 'pending' })
    await carryOut(world, step)
    t.notOk(world.effectPorts().accepted.has(keyOf(B)))
    t.equal(world.records.verdicts().size, 0)
  })
  t.test('no checkpoint: an error that says so', async (t) => {
    await t.rejects(carryOut(new SmallWorld(), step), /cannot be read; it is downloaded again/)
  })
})

t.test('activate', async (t) => {
  t.test('the fallback is ready before the target is active', async (t) => {
    const world = settled()
    world.diskFails = (step) => step.path.includes('.fallback')
    await t.rejects(carryOut(world, ACTIVATE_B), { code: 'ENOSPC' })
    t.match(world.observationPorts().activation.read(READY), { kind: 'local' })
  })
  t.test('so that falling back works on a full disk', async (t) => {
    const world = settled()
    await carryOut(world, ACTIVATE_B)
    world.disk.full = true
    await carryOut(world, { ...ACTIVATE_B, target: A, fallback: undefined })
    t.match(world.observationPorts().activation.read(READY), { source: A })
  })
  t.test('and a fallback that was not made ready ends on local', async (t) => {
    const world = settled()
    await carryOut(world, { ...ACTIVATE_B, fallback: 'local' })
    world.disk.full = true
    await t.rejects(carryOut(world, { ...ACTIVATE_B, target: A, fallback: undefined }, startsWith(B)), { code: 'ENOSPC' })
    t.match(world.observationPorts().activation.read(READY), { kind: 'local' })
  })
})

t.test('restart', async (t) => {
  t.test('is recorded before it is asked, and its outcome after', async (t) => {
    const world = settled()
    let whenAsked: unknown
    world.systemctl = () => {
      whenAsked = [...(world.runtime.get('restarts') ?? []), world.runtime.get('health')?.started, world.history.length]
      return { ok: false, detail: 'no bus' }
    }
    const old = restartTo(A, { atUs: world.nowUs - 2 * HOUR_US })
    await carryOut(world, RESTART, { restarts: [old, { ...old, bootId: 'boot-0' }], health: health(B, { started: false }) })
    t.match(whenAsked, [old, { target: keyOf(B), outcome: undefined }, true, 1])
    t.match(world.runtime.get('restarts'), [old, { outcome: { ok: false, detail: 'no bus' } }])
    t.ok(world.log.said.includes('systemd refused to restart kubelet'))
  })
  t.test('a request that was cut off stays without an outcome, and nothing was refused', async (t) => {
    const world = settled()
    world.systemctl = () => undefined
    await carryOut(world, RESTART)
    t.match(world.runtime.get('restarts'), [{ target: keyOf(B), outcome: undefined }])
    t.notOk(world.log.said.includes('systemd refused to restart kubelet'))
  })
  t.test('history says truly where to', async (t) => {
    const world = settled()
    await carryOut(world, RESTART)
    t.match(world.history, [{ kind: 'restarting', from: A, to: B }])
  })
})

t.test('promote: previous first, so that what was last-known-good is never lost between the two', async (t) => {
  const world = settled()
  world.diskFails = (step) => step.path.includes('last-known-good')
  await t.rejects(carryOut(world, PROMOTE_B), { code: 'ENOSPC' })
  t.same([world.record('last-known-good'), world.record('previous')], [A, A])
  world.diskFails = () => false
  await carryOut(world, PROMOTE_B)
  t.same([world.record('last-known-good'), world.record('previous')], [B, A])
})

t.test('a requested rollback is done with the verdict that it asked for, and with no other', async (t) => {
  const world = settled()
  world.requests = { ...world.requests, rollback: { content: 'x' } }
  await carryOut(world, { kind: 'condemn', verdict: verdict(B, 'provisional'), next: A, requested: false })
  t.ok(world.requests.rollback, 'nobody asked for this one')
  await carryOut(world, { kind: 'confirm', verdicts: [verdict(B, 'provisional')] })
  t.match(world.records.verdicts().get(keyOf(B)), { state: 'confirmed' })
  await carryOut(world, { kind: 'condemn', verdict: verdict(A, 'confirmed'), next: undefined, requested: true })
  t.equal(world.requests.rollback, undefined)
  t.match(world.history, [
    { kind: 'rolled-back', from: B, to: A },
    { kind: 'rolled-back', from: A, to: undefined },
  ])
})

t.test('forgive: verdicts and exits go, the request only when it was one', async (t) => {
  const world = settled()
  world.requests = { ...world.requests, retry: true }
  world.records.writeVerdict(verdict(B, 'confirmed'))
  const facts = { health: health(A, { exits: 7 }) }
  await carryOut(world, { kind: 'forgive', drop: [keyOf(B)], requested: false, why: 'x' }, facts)
  t.equal(world.records.verdicts().size, 0)
  t.equal(world.runtime.get('health')?.exits, 0)
  t.ok(world.requests.retry)
  await carryOut(world, { kind: 'forgive', drop: [], requested: true, why: 'x' }, facts)
  t.notOk(world.requests.retry)
})

t.test('a fallback that is lost becomes local by itself, and a reset makes every record local and proves nothing', async (t) => {
  const world = settled()
  await carryOut(world, { kind: 'forget-fallback', record: 'last-known-good', source: A })
  t.equal(world.record('last-known-good'), 'local')
  t.same(world.record('assigned'), A)
  world.records.put('previous', B)
  world.records.put('proven', { key: keyOf(A) })
  await carryOut(world, { kind: 'reset-to-local', from: A, shared: false }, { now: { bootId: 'boot-1', monotonicUs: NOW_US, wallMs: 0 } })
  t.same([world.record('assigned'), world.record('last-known-good'), world.record('previous')], ['local', 'local', 'local'])
  t.equal(world.records.get('proven')?.key, keyOf(A), 'what goes on while local is refused keeps its proof')
  world.records.put('assigned', A)
  await carryOut(world, { kind: 'reset-to-local', from: A, shared: false }, { running: { kind: 'none' } })
  t.equal(world.records.get('proven')?.key, undefined, 'what comes back has its whole trial again')
})

t.test('assign with an overlay', async (t) => {
  const overlaid = { ...B, overlay: '0123456789abcdef' }
  const rendered = { kubelet: 'b@1 with more' }
  const step = { ...ASSIGN_B, source: overlaid, rendered }
  t.test('the ConfigMap as it came, what the overlay makes of it, and then the record', async (t) => {
    const world = new SmallWorld()
    world.diskFails = ({ path }) => path.includes('/rendered')
    await t.rejects(carryOut(world, step), { code: 'ENOSPC' })
    t.match({ assigned: world.record('assigned'), saved: world.checkpoints.data(B.uid, '1') }, { assigned: 'local', saved: dataOf(B) })
    world.diskFails = () => false
    await carryOut(world, step)
    t.strictSame(world.checkpoints.data(B.uid, '1', overlaid.overlay), rendered)
    t.strictSame(world.record('assigned'), overlaid)
    await carryOut(world, step)
    t.equal(world.checkpoints.list().length, 2)
  })
  t.test('history says what was changed', async (t) => {
    const world = settled()
    await carryOut(world, step, { assigned: { kind: 'source', source: B } })
    t.match(world.history, [{ kind: 'assigned', why: "this node's overlay makes something else of it" }])
  })
  t.test('a checkpoint that kubelet may start with is never filled beneath it with what was not judged', async (t) => {
    for (const facts of [
      { nextStart: { kind: 'known', held: hold(B) } },
      { lastKnownGood: hold(B) },
      { nextStart: { kind: 'unknown', detail: '' } },
    ] as const) {
      const world = new SmallWorld()
      await carryOut(world, step, facts)
      t.equal(world.checkpoints.data(B.uid, '1'), undefined)
      t.strictSame(world.record('assigned'), overlaid)
      t.match(world.log.said.join('\n'), /kubelet may start with/)
      t.notMatch(world.log.said.join('\n'), /has on disk/, 'nothing is there')
    }
    const world = new SmallWorld()
    world.checkpoints.save(B.uid, '1', { kubelet: 'before the restore' })
    await carryOut(world, step)
    t.strictSame(world.checkpoints.data(B.uid, '1'), { kubelet: 'before the restore' })
  })
})
