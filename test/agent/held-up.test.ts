// SPDX-License-Identifier: Apache-2.0
/**
 * The config that runs while another one is assigned and cannot come yet: it waits for a drained
 * node, for pods, for its preflight, for its time in a spread, or for the hourly limit of restarts.
 */
import t from 'tap'
import type { TrialKey } from '../../src/subject/trial-key.ts'
import { A, A_EDITED, B, GOOD, HOUR_US, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { node } from '../evidence/samples.ts'
import { ANSWERS_WELL } from './fake-evidence.ts'
import { promote } from './promoted-world.ts'
import { SmallWorld } from './small-world.ts'

/** A is on trial after a config that has passed one. */
async function onTrial(world = new SmallWorld()): Promise<SmallWorld> {
  await promote(world, GOOD)
  world.want(A)
  await world.run(2 * MINUTE_US)
  return world
}

/** How an edit of A is held up. */
const OBSTACLES: Readonly<Record<string, (world: SmallWorld) => void>> = {
  'a drain': (world) => {
    world.drained = false
    world.preflight = ({ kubelet }) => ({ kind: 'accepted', remarks: [], drain: kubelet === textOf(A_EDITED) ? ['cgroupDriver'] : [] })
  },
  'pods with CPUs of their own': (world) => {
    world.exclusives = { kind: 'held', by: 'a pod has CPUs of its own' }
    world.preflight = ({ kubelet }) => ({
      ...{ kind: 'accepted', remarks: [], drain: [] },
      ...(kubelet === textOf(A_EDITED) && { managers: ['cpuManagerPolicy'] }),
    })
  },
  'its preflight': (world) => {
    const pending = new Set<TrialKey>()
    world.checks = {
      pending: () => pending,
      async check({ key, data: { kubelet } }) {
        if (kubelet !== textOf(A_EDITED)) return { kind: 'accepted', remarks: [], drain: [] }
        pending.add(key)
        return { kind: 'pending' }
      },
    }
  },
  'its time in a spread': (world) => {
    world.policy = { ...world.policy, spreadUs: 100 * HOUR_US }
  },
  'the hourly limit': (world) => {
    world.policy = { ...world.policy, restartsPerHour: 1 }
  },
}

const NEEDS_MORE_THAN_TIME = ['a drain', 'pods with CPUs of their own', 'its preflight']

for (const [what, holdUp] of Object.entries(OBSTACLES)) {
  t.test(`what the node does not work with is left although what replaces it waits for ${what}`, async (t) => {
    const world = await onTrial()
    world.evidence.answer('node', (nowUs) => (world.startedWith === textOf(A) ? node('False') : ANSWERS_WELL.node(nowUs)))
    holdUp(world)
    world.want(A_EDITED)
    await world.run(9 * MINUTE_US)
    t.not(await world.running(), textOf(A))
    t.match([...world.records.verdicts().values()], [{ source: A, reason: 'evidence', evidence: 'ready' }])
    if (NEEDS_MORE_THAN_TIME.includes(what)) t.equal(await world.running(), textOf(GOOD), 'which waits for nothing')
    const told = world.history.find(({ kind }) => kind === 'rolled-back')?.to ?? 'local'
    t.equal(told === 'local' ? told : textOf(told), await world.running(), 'and what is told of it is true')
  })

  t.test(`what the node works with runs on while what replaces it waits for ${what}, and is not asked about for ever`, async (t) => {
    const world = await onTrial()
    holdUp(world)
    world.want(A_EDITED)
    await world.run(12 * MINUTE_US)
    t.equal(await world.running(), textOf(A))
    const asked = world.evidence.asked.length
    await world.run(20 * MINUTE_US)
    t.equal(await world.running(), textOf(A))
    t.equal(world.records.verdicts().size, 0)
    // While the hourly limit holds the restart up, the state of the node before it is read anew.
    const again = world.evidence.asked.slice(asked).filter(({ question }) => question === 'lease')
    t.same(again, [])
  })
}

/** B waits for its restart when an edit of A takes its place, which waits for a drain. */
async function withdrawB(world: SmallWorld): Promise<void> {
  world.policy = { ...world.policy, restartsPerHour: 1 }
  world.want(B)
  await world.run(SECOND_US)
}

interface OtherInPlace {
  readonly onNode?: { readonly activation: 'file' }
  readonly change: (world: SmallWorld) => Promise<void>
}

/** What kubelet would start with next is neither what runs, nor what is wanted. */
const OTHERS_IN_PLACE: Readonly<Record<string, OtherInPlace>> = {
  'a config that waited for its restart and is wanted no longer': { change: withdrawB },
  'a local config that somebody has put back': {
    onNode: { activation: 'file' },
    change: async (world) => world.editLocal('another local config'),
  },
}

t.test('what hangs is left for last-known-good, and not for what waited for its restart and is wanted no longer', async (t) => {
  const world = await onTrial()
  await withdrawB(world)
  OBSTACLES['a drain']?.(world)
  world.want(A_EDITED)
  await world.run(SECOND_US)
  world.hangs = true
  while ((await world.running()) === textOf(A)) await world.run(SECOND_US)
  world.hangs = false
  await world.run(MINUTE_US)
  t.equal(await world.running(), textOf(GOOD))
})

for (const [what, { onNode, change }] of Object.entries(OTHERS_IN_PLACE)) {
  t.test(`what the node does not work with is left although kubelet starts next with ${what}`, async (t) => {
    const world = new SmallWorld(onNode)
    world.evidence.answer('node', (nowUs) => (world.startedWith === textOf(A) ? node('False') : ANSWERS_WELL.node(nowUs)))
    await onTrial(world)
    await change(world)
    OBSTACLES['a drain']?.(world)
    world.want(A_EDITED)
    await world.run(9 * MINUTE_US)
    t.equal(await world.running(), textOf(GOOD))
    t.match([...world.records.verdicts().values()], [{ source: A, reason: 'evidence', evidence: 'ready' }])
    t.match(world.history.find(({ kind }) => kind === 'rolled-back')?.to, GOOD, 'and what is told of it is true')
  })

  t.test(`and what is wanted does not wait for its time in a spread then, with ${what}`, async (t) => {
    const world = new SmallWorld(onNode)
    world.evidence.answer('node', (nowUs) => (world.startedWith === textOf(A) ? node('False') : ANSWERS_WELL.node(nowUs)))
    await onTrial(world)
    await change(world)
    OBSTACLES['its time in a spread']?.(world)
    world.want(A_EDITED)
    await world.run(9 * MINUTE_US)
    t.equal(await world.running(), textOf(A_EDITED))
  })

  t.test(`what the node works with runs on although kubelet starts next with ${what}`, async (t) => {
    const world = await onTrial(new SmallWorld(onNode))
    await change(world)
    OBSTACLES['a drain']?.(world)
    world.want(A_EDITED)
    await world.run(HOUR_US)
    t.equal(await world.running(), textOf(A))
    t.equal(world.records.verdicts().size, 0)
  })
}

for (const [what, holdUp] of Object.entries(OBSTACLES).filter(([what]) => what !== 'the hourly limit')) {
  t.test(`what an operator rolls back is left although what replaces it waits for ${what}`, async (t) => {
    const world = await onTrial()
    holdUp(world)
    world.want(A_EDITED)
    await world.run(MINUTE_US)
    const { nextStart } = world.snapshots.at(-1) ?? {}
    const content = nextStart?.kind === 'known' ? nextStart.held.content : undefined
    t.equal(await world.running(), textOf(A))
    world.requests = { ...world.requests, rollback: { content: content ?? '' } }
    await world.run(MINUTE_US)
    t.not(await world.running(), textOf(A))
    t.match([...world.records.verdicts().values()], [{ source: A, state: 'confirmed', reason: 'requested' }])
  })
}

t.test('what was checked as a change from what ran is checked again where somebody has started another config', async (t) => {
  const world = await promote(new SmallWorld({ activation: 'file' }), A)
  world.drained = false
  world.preflight = ({ kubelet }) => {
    const changed = kubelet === textOf(A_EDITED) && world.startedWith !== textOf(A) ? ['cgroupDriver'] : []
    return { kind: 'accepted', remarks: [], drain: changed, changed }
  }
  world.policy = { ...world.policy, spreadUs: 8 * MINUTE_US }
  world.want(A_EDITED)
  t.equal((await world.run(MINUTE_US)).phase, 'spread')
  world.editLocal('as kubeadm upgrade has written it')
  world.unit.restartByHand()
  t.equal((await world.run(8 * MINUTE_US)).phase, 'drain')
  t.equal(world.restartsAskedAtUs.length, 1, 'pods run on')
})
