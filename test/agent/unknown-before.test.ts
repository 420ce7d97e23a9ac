// SPDX-License-Identifier: Apache-2.0
/**
 * A state of the node before a config that is not known neither condemns that config nor promotes
 * it: B does harm that only evidence sees, and the agent cannot compare, or has lost the state that
 * it compares with.
 */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { API_QUESTIONS, type SeenFact } from '../../src/evidence/kinds.ts'
import type { ConfigSource } from '../../src/subject/config-source.ts'
import { A, B, C, HOUR_US, MINUTE_US, SECOND_US, textOf, UPGRADED_KUBELET } from '../decision/snapshots.ts'
import { lease, node, serving, staticPods } from '../evidence/samples.ts'
import { ANSWERS_WELL } from './fake-evidence.ts'
import { SmallWorld } from './small-world.ts'

/** Of the trial of A alone. */
const SHORT_US = MINUTE_US
/** Longer than a trial, and the looks after it. */
const TRIAL_US = 12 * MINUTE_US
const LONG_US = 40 * MINUTE_US
const ETCD = { hash: 'h1', name: 'kube-system/etcd-node-1', isRunning: true, startedAtMs: 1000 }
const HARMS = ['ready', 'static-pods', 'serving'] as const
type Harm = (typeof HARMS)[number]

const isOnB = (world: SmallWorld) => world.startedWith === textOf(B)
const notReady = (nowUs: number, facts: { readonly transitionMs?: number; readonly message?: string } = {}): SeenFact => {
  const ms = Math.floor(nowUs / 1000)
  return node('False', { reportedAtMs: ms, serverMs: ms, ...facts })
}
const busy: SeenFact = { question: 'node', answer: { kind: 'unreachable', detail: 'the API server answers 429', busy: true } }
/** The API server cannot be reached at all. */
const UNREACHED = API_QUESTIONS.map((question) => ({ question, answer: { kind: 'unreachable', detail: 'no route to host' } }) as SeenFact)
const verdicts = (world: SmallWorld) => [...world.records.verdicts().values()]

/** A is last-known-good, and B does this harm for as long as it runs. */
async function worldWhereBHarms(harm: Harm): Promise<SmallWorld> {
  const world = new SmallWorld()
  const { policy } = world
  world.policy = { ...policy, trialUs: SHORT_US }
  world.evidence.answer('static-pods', () => staticPods(harm === 'static-pods' && isOnB(world) ? [] : [ETCD], { etcd: 'd' }))
  if (harm === 'ready') world.evidence.answer('node', (nowUs) => (isOnB(world) ? notReady(nowUs) : ANSWERS_WELL.node(nowUs)))
  if (harm === 'serving') world.evidence.answer('serving', () => serving(isOnB(world) ? 401 : 403))
  world.want(A)
  await world.run(6 * MINUTE_US)
  t.same(world.record('last-known-good'), A)
  world.policy = policy
  return world
}

async function runUntil(world: SmallWorld, isSo: () => boolean): Promise<void> {
  for (const endUs = world.nowUs + LONG_US; !isSo(); await world.run(20 * SECOND_US))
    if (world.nowUs > endUs) throw new Error('it does not come to that')
}

const condemned = (world: SmallWorld) => runUntil(world, () => verdicts(world).length > 0)
const promoted = (world: SmallWorld, source: ConfigSource) =>
  runUntil(world, () => isDeepStrictEqual(world.record('last-known-good'), source))

async function startB(world: SmallWorld): Promise<void> {
  world.want(B)
  for (let second = 0; !isOnB(world); second += 1) {
    if (second > 120) throw new Error('B does not start')
    await world.run(SECOND_US)
  }
}

const INTERRUPTIONS: Readonly<Record<string, (world: SmallWorld) => void>> = {
  'a restart by a person': (world) => world.unit.restartByHand(),
  'a reboot': (world) => world.reboot(),
  'an upgrade of kubelet': (world) => {
    world.kubeletIdentity = UPGRADED_KUBELET
    world.unit.restartByHand()
  },
  'a loss of /run': (world) => {
    world.forgetRun()
    world.restartAgent()
  },
}

for (const harm of HARMS)
  for (const [what, interrupt] of Object.entries(INTERRUPTIONS))
    t.test(`${harm}: a config that harms is left in spite of ${what}`, async (t) => {
      const world = await worldWhereBHarms(harm)
      await startB(world)
      await world.run(harm === 'ready' ? 3 * MINUTE_US : 20 * SECOND_US)
      t.equal(await world.running(), textOf(B), 'it is still on trial')
      interrupt(world)
      await condemned(world)
      t.same(world.record('last-known-good'), A)
      t.match(
        verdicts(world).find(({ source }) => source !== 'local' && textOf(source) === textOf(B)),
        { reason: 'evidence', evidence: harm },
      )
    })

t.test('what is gone after a boot may be late', async (t) => {
  t.test('so the config that ran then is doubted, and passes when it is tried again', async (t) => {
    const world = await worldWhereBHarms('ready')
    world.evidence.answer('node', ANSWERS_WELL.node)
    await startB(world)
    await world.run(MINUTE_US)
    rebootWithLatePods(world)
    await condemned(world)
    await world.run(MINUTE_US)
    t.equal(await world.running(), textOf(A))
    t.match(verdicts(world), [{ state: 'provisional', evidence: 'static-pods', damage: 'transient', doubtful: true }])
    await promoted(world, B)
  })
  t.test('so is the config that takes its place', async (t) => {
    const world = await worldWhereBHarms('ready')
    await startB(world)
    await world.run(MINUTE_US)
    rebootWithLatePods(world)
    world.want(C)
    await condemned(world)
    t.match(verdicts(world), [{ source: C, evidence: 'static-pods', doubtful: true }])
  })
  t.test('and a fallback is not left for it', async (t) => {
    const world = await worldWhereBHarms('ready')
    const message = 'container runtime network not ready'
    world.evidence.answer('node', (nowUs) => (isOnB(world) ? notReady(nowUs, { message }) : ANSWERS_WELL.node(nowUs)))
    await startB(world)
    await condemned(world)
    await world.run(MINUTE_US)
    t.match(verdicts(world), [{ source: B, state: 'provisional' }])
    rebootWithLatePods(world)
    await world.run(8 * MINUTE_US)
    t.equal(await world.running(), textOf(A))
    t.match(
      verdicts(world).map(({ source }) => source),
      [B],
    )
  })
})

/** The static pods run 200 s after the boot. */
function rebootWithLatePods(world: SmallWorld): void {
  world.reboot()
  const bootUs = world.nowUs
  world.evidence.answer('static-pods', (nowUs) => staticPods(nowUs < bootUs + 200 * SECOND_US ? [] : [ETCD], { etcd: 'd' }))
}

t.test('an API server that is too busy to answer delays the restart, for a minute at most', async (t) => {
  const world = await worldWhereBHarms('ready')
  const wantedUs = world.nowUs
  const answerFor = (seconds: number) =>
    world.evidence.answer('node', (nowUs) => {
      if (nowUs < wantedUs + seconds * SECOND_US) return busy
      return isOnB(world) ? notReady(nowUs) : ANSWERS_WELL.node(nowUs)
    })
  answerFor(12)
  await startB(world)
  const waitedUs = (world.restartsAskedAtUs.at(-1) ?? 0) - wantedUs
  t.ok(waitedUs >= 12 * SECOND_US && waitedUs < 20 * SECOND_US, `${waitedUs}`)
  const asked = world.evidence.asked.filter(({ question, atUs }) => question === 'node' && atUs >= wantedUs && atUs < wantedUs + waitedUs)
  t.ok(asked.length <= 6, `asked ${asked.length} times`)
  await condemned(world)
  t.match(verdicts(world), [{ evidence: 'ready' }])
  t.same(world.record('last-known-good'), A)
})

t.test('what the API server kept kubelet from showing is not how the node was before', async (t) => {
  const silent: SeenFact = { question: 'serving', answer: { kind: 'no-tls', detail: 'no answer in time', isSilent: true } }
  for (const waiting of [serving(500), silent])
    for (const [seconds, held] of [
      [12, false],
      [120, true],
    ] as const) {
      const world = await worldWhereBHarms('serving')
      const wantedUs = world.nowUs
      const isBusy = (nowUs: number) => nowUs < wantedUs + seconds * SECOND_US
      world.evidence.answer('node', (nowUs) => (isBusy(nowUs) ? busy : ANSWERS_WELL.node(nowUs)))
      world.evidence.answer('serving', (nowUs) => (isOnB(world) ? serving(401) : isBusy(nowUs) ? waiting : serving(403)))
      await startB(world)
      await world.run(TRIAL_US)
      t.same(world.record('last-known-good'), A)
      t.match(verdicts(world), held ? [] : [{ source: B, evidence: 'serving' }])
    }
  for (const ready of ['Unknown', 'absent'] as const) {
    const world = await worldWhereBHarms('ready')
    const wantedUs = world.nowUs
    world.evidence.answer('node', (nowUs) => {
      const ms = Math.floor(nowUs / 1000)
      if (isOnB(world)) return notReady(nowUs)
      return nowUs < wantedUs ? ANSWERS_WELL.node(nowUs) : node(ready, { reportedAtMs: ms, serverMs: ms })
    })
    await startB(world)
    const wait = await world.run(TRIAL_US)
    t.match(wait, { phase: 'in-trial', detail: /not known/ }, ready)
    t.same(world.record('last-known-good'), A)
  }
})

t.test('a port that takes the node for an anonymous user is no yes where it is not known how it was before', async (t) => {
  const anonymous: SeenFact = { question: 'serving', answer: { kind: 'answered', status: 403, user: 'system:anonymous' } }
  for (const next of [B, C]) {
    const world = await worldWhereBHarms('serving')
    world.evidence.answer('serving', () => (world.startedWith === textOf(A) ? serving(403) : anonymous))
    await startB(world)
    await world.run(15 * SECOND_US)
    world.forgetRun()
    world.disk.unlink('/state/meta/baseline')
    world.restartAgent()
    await world.run(20 * SECOND_US)
    world.want(next)
    await world.run(TRIAL_US)
    t.equal(await world.running(), textOf(next))
    t.same(world.record('last-known-good'), A)
  }
})

t.test('a config that came while the API server was too busy all the time is held, until a person says so', async (t) => {
  const world = await worldWhereBHarms('ready')
  const wantedUs = world.nowUs
  world.evidence.answer('node', (nowUs) => {
    if (nowUs < wantedUs + 2 * MINUTE_US) return busy
    return isOnB(world) ? notReady(nowUs) : ANSWERS_WELL.node(nowUs)
  })
  await startB(world)
  const waitedUs = (world.restartsAskedAtUs.at(-1) ?? 0) - wantedUs
  t.ok(waitedUs >= 60 * SECOND_US && waitedUs < 70 * SECOND_US, `${waitedUs}`)
  const wait = await world.run(TRIAL_US)
  t.equal(await world.running(), textOf(B), 'nothing is condemned by what is not known')
  t.same(world.record('last-known-good'), A)
  t.match(wait, { phase: 'in-trial', detail: /is over, but ready says no, .*not known.*kubelet-cfg-agent promote/ })
  world.requests = { ...world.requests, promote: { content: 'content-of-another' } }
  await world.run(MINUTE_US)
  t.equal(world.requests.promote, undefined, 'a request that names another config is dropped')
  t.same(world.record('last-known-good'), A)
  const { running } = world.snapshots.at(-1) ?? {}
  world.requests = { ...world.requests, promote: { content: running?.kind === 'known' ? running.content : '' } }
  await world.run(MINUTE_US)
  t.same(world.record('last-known-good'), B)
  t.equal(world.requests.promote, undefined, 'the request is done')
})

t.test('a config that is held is promoted once the node is well', async (t) => {
  const world = await worldWhereBHarms('ready')
  world.evidence.answer('node', () => busy)
  await startB(world)
  world.evidence.answer('node', (nowUs) => notReady(nowUs))
  await world.run(TRIAL_US)
  t.same(world.record('last-known-good'), A)
  world.evidence.answer('node', ANSWERS_WELL.node)
  await promoted(world, B)
})

t.test('a trial that is held does not pass because the answers about it are lost', async (t) => {
  for (const isReached of [true, false]) {
    const world = await worldWhereBHarms('ready')
    world.evidence.answer('node', () => busy)
    await startB(world)
    world.evidence.answer('node', (nowUs) => notReady(nowUs))
    await world.run(2 * TRIAL_US)
    t.same(world.record('last-known-good'), A)
    world.runtime.put('evidence', { bootId: 'of-no-boot' })
    world.disk.unlink('/state/meta/baseline')
    world.evidence.answersAfterUs = SECOND_US
    if (!isReached) for (const seen of UNREACHED) world.evidence.answer(seen.question, () => seen)
    world.restartAgent()
    const first = await world.run(80 * SECOND_US)
    t.match(first, { phase: 'in-trial', detail: isReached ? /ready says no/ : /evidence that is missing: lease, ready, pods/ })
    for (const { question } of UNREACHED)
      world.evidence.answer(question, (nowUs) => (question === 'node' ? notReady(nowUs) : ANSWERS_WELL[question](nowUs)))
    const wait = await world.run(TRIAL_US)
    t.same(world.record('last-known-good'), A)
    t.match(wait, { phase: 'in-trial', detail: /is over, but ready says no, .*not known/ })
    t.same(verdicts(world), [])
  }
})

t.test('a fallback does not wait for an API server that is too busy', async (t) => {
  const world = await worldWhereBHarms('ready')
  await startB(world)
  world.evidence.answer('node', () => busy)
  world.behave(B, { exitsAfterUs: 0.4 * SECOND_US })
  world.unit.restartByHand()
  await world.run(30 * SECOND_US)
  t.equal(await world.running(), textOf(A))
})

t.test('a config on trial proves no illness of the node', async (t) => {
  t.test('the next one is compared with the node before both', async (t) => {
    const world = await worldWhereBHarms('ready')
    await startB(world)
    world.evidence.answer('node', (nowUs) => notReady(nowUs))
    await world.run(2 * MINUTE_US)
    world.want(C)
    await condemned(world)
    t.match(verdicts(world), [{ source: C, evidence: 'ready' }])
  })
  t.test('also where kubelet was down when the next one came', async (t) => {
    const world = await worldWhereBHarms('ready')
    world.behave(B, { healthyAfterUs: 2 * SECOND_US, exitsAfterUs: 20 * SECOND_US })
    await startB(world)
    world.evidence.answer('node', (nowUs) => (world.startedWith === textOf(C) ? notReady(nowUs) : ANSWERS_WELL.node(nowUs)))
    while ((await world.running()) !== undefined) await world.run(SECOND_US)
    world.want(C)
    await condemned(world)
    t.match(verdicts(world), [{ source: C, evidence: 'ready' }])
    await world.run(MINUTE_US)
    t.equal(await world.running(), textOf(A))
  })
  t.test('and held where that is not known', async (t) => {
    const world = await worldWhereBHarms('ready')
    await startB(world)
    world.evidence.answer('node', (nowUs) => notReady(nowUs))
    await world.run(2 * MINUTE_US)
    world.forgetRun()
    world.disk.unlink('/state/meta/baseline')
    world.restartAgent()
    world.want(C)
    await world.run(TRIAL_US)
    t.equal(await world.running(), textOf(C))
    t.same(world.record('last-known-good'), A, 'C does not pass over what B may have done')
  })
})

t.test('a node that was not Ready before is known to have been so', async (t) => {
  t.test('under a promoted config', async () => {
    const world = await worldWhereBHarms('ready')
    world.evidence.answer('node', (nowUs) => notReady(nowUs))
    await startB(world)
    await promoted(world, B)
  })
  t.test('but not by a moment after a start', async (t) => {
    const world = await worldWhereBHarms('ready')
    world.reboot()
    const bootUs = world.nowUs
    const transitionMs = Math.floor(bootUs / 1000) - 10_000
    const isLate = () => world.nowUs < bootUs + 20 * SECOND_US || isOnB(world)
    world.evidence.answer('node', (nowUs) => (isLate() ? notReady(nowUs, { transitionMs }) : ANSWERS_WELL.node(nowUs)))
    await startB(world)
    const wait = await world.run(TRIAL_US)
    t.match(wait, { phase: 'in-trial', detail: /not known/ })
    t.same(world.record('last-known-good'), A)
  })
  t.test('by the time since when it is not Ready', async (t) => {
    for (const [isOlder, expected] of [
      [true, B],
      [false, A],
    ] as const) {
      const world = await worldWhereBHarms('ready')
      const sinceMs = Math.floor(world.nowUs / 1000) + (isOlder ? -400_000 : -200_000)
      world.evidence.answer('node', () => busy)
      await startB(world)
      world.evidence.answer('node', (nowUs) => notReady(nowUs, { transitionMs: sinceMs }))
      await world.run(TRIAL_US)
      t.same(world.record('last-known-good'), expected)
    }
  })
})

t.test('a config that is tried again is compared with the node before its first try', async (t) => {
  const world = await worldWhereBHarms('ready')
  let untilUs = 0
  world.evidence.answer('node', (nowUs) => {
    // The pod network is back long after B has gone.
    if (isOnB(world)) untilUs = nowUs + 12 * MINUTE_US
    return nowUs < untilUs ? notReady(nowUs, { message: 'container runtime network not ready' }) : ANSWERS_WELL.node(nowUs)
  })
  world.want(B)
  await world.run(4 * HOUR_US)
  t.same(world.record('last-known-good'), A)
  t.equal(await world.running(), textOf(A))
  t.match(verdicts(world), [{ source: B, evidence: 'ready', retrials: 2 }])
})

t.test('a kubelet that renews its Lease too seldom for its cluster is no good, though it is healthy', async (t) => {
  for (const [duration, expected, requests] of [
    [40, B, 13],
    [160, B, 13],
    [600, A, 19],
    [3600, A, 19],
  ] as const) {
    const world = await worldWhereBHarms('static-pods')
    const every = duration / 4
    let sinceUs = 0
    const agoUs = (nowUs: number) => (nowUs - sinceUs) % (every * SECOND_US)
    world.evidence.answer('static-pods', ANSWERS_WELL['static-pods'])
    world.evidence.answer('lease', (nowUs) =>
      isOnB(world)
        ? lease(`b${Math.floor((nowUs - sinceUs) / SECOND_US / every)}`, duration, (nowUs - agoUs(nowUs)) / 1000)
        : ANSWERS_WELL.lease(nowUs),
    )
    world.evidence.answer('node', (nowUs) => {
      if (!isOnB(world)) return ANSWERS_WELL.node(nowUs)
      const reportedAtMs = Math.floor((nowUs - ((nowUs - sinceUs) % (5 * MINUTE_US))) / 1000)
      return node(agoUs(nowUs) > 50 * SECOND_US ? 'Unknown' : 'True', { reportedAtMs, serverMs: Math.floor(nowUs / 1000) })
    })
    await startB(world)
    sinceUs = world.nowUs
    await (expected === B ? promoted(world, B) : condemned(world))
    await world.run(MINUTE_US)
    t.same(world.record('last-known-good'), expected, `each ${every} s`)
    const untilUs = expected === A ? (world.restartsAskedAtUs.at(-1) ?? 0) : world.nowUs
    const asked = world.evidence.asked.filter(
      ({ question, atUs }) => atUs >= sinceUs - 10 * SECOND_US && atUs < untilUs && API_QUESTIONS.includes(question),
    )
    t.ok(asked.length <= requests, `${asked.length} requests, each ${every} s`)
    if (expected === A) t.match(verdicts(world), [{ reason: 'evidence', evidence: duration === 600 ? 'ready' : /ready|lease/ }])
  }
})
