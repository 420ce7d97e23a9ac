// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { ALL_REQUIRED, API_QUESTIONS, type Question, type SeenFact } from '../../src/evidence/kinds.ts'
import type { ConfigMapSource, ConfigSource } from '../../src/subject/config-source.ts'
import { A, B, C, configMap, HOUR_US, MINUTE_US, SECOND_US, textOf } from '../decision/snapshots.ts'
import { ETCD, lease, node, refused, serving, staticPods, unreachable } from '../evidence/samples.ts'
import { ANSWERS_WELL, type Answer } from './fake-evidence.ts'
import { SmallWorld } from './small-world.ts'

const TRIAL_US = 11 * MINUTE_US

async function worldOn(source: ConfigMapSource): Promise<SmallWorld> {
  const world = new SmallWorld()
  world.want(source)
  await world.run(TRIAL_US + 4 * MINUTE_US)
  return world
}

/** Sets the answer while kubelet runs one of these configs. */
function answerOn(world: SmallWorld, sources: readonly ConfigSource[], question: Question, seen: SeenFact): void {
  const texts = sources.map((source) => (source === 'local' ? source : textOf(source)))
  world.evidence.answer(question, (nowUs) => {
    return texts.includes(world.startedWith ?? '') ? seen : ANSWERS_WELL[question](nowUs)
  })
}

/** For another reason than the config. */
const NOT_READY: Answer = (nowUs) => {
  const ms = Math.floor(nowUs / 1000)
  return node('False', { reportedAtMs: ms, serverMs: ms })
}

/** A pod that ran before it was evicted. */
function evicted(startedAtMs: number, nowUs: number): SeenFact {
  const message = 'The node was low on resource: memory. '
  const pod = { uid: 'p', name: 'default/p', reason: 'Evicted', message, createdAtMs: startedAtMs, startedAtMs }
  return { question: 'pods', answer: { kind: 'found', pods: [pod], serverMs: Math.floor(nowUs / 1000) } }
}

const told = (world: SmallWorld) => world.history.map(({ kind, from, to }) => `${kind} ${nameOf(from)} -> ${nameOf(to)}`)
const nameOf = (source: ConfigSource | undefined) => (source === undefined ? '?' : source === 'local' ? 'local' : textOf(source))
const verdictOn = (world: SmallWorld, source: ConfigMapSource) =>
  [...world.records.verdicts().values()].find((verdict) => textOf(source) === nameOf(verdict.source))

t.test('a good config is promoted, and its trial costs the API server at most 13 requests', async (t) => {
  const world = await worldOn(A)
  t.same(world.record('last-known-good'), A)
  const requests = world.evidence.asked.filter(({ question }) => API_QUESTIONS.includes(question))
  t.ok(requests.length <= 13, `${requests.length}`)
  const [before] = requests
  t.not(before?.about.invocationId, requests.at(-1)?.about.invocationId, 'the first are about the process before the restart')
})

t.test('an answer that takes a moment is not asked for a second time', async (t) => {
  const world = new SmallWorld()
  world.evidence.answersAfterUs = SECOND_US / 2
  world.want(A)
  await world.run(TRIAL_US + 4 * MINUTE_US)
  t.same(world.record('last-known-good'), A)
  const { asked } = world.evidence
  const again = asked.filter(({ question, atUs }, index) => {
    const before = asked.slice(0, index).findLast((each) => each.question === question)
    return before !== undefined && before.about.invocationId === asked[index]?.about.invocationId && atUs - before.atUs < 5 * SECOND_US
  })
  t.same(
    again.map(({ question }) => question),
    [],
  )
})

t.test('an API server that was away until the end of a trial is asked again when it is back', async (t) => {
  const world = await worldOn(A)
  world.want(B)
  // From when the Lease was read for the first time.
  const [fromUs, toUs] = [world.nowUs + 5 * SECOND_US, world.nowUs + 10 * MINUTE_US + 5 * SECOND_US]
  const isAway = (nowUs: number) => nowUs > fromUs && nowUs < toUs
  for (const question of ['lease', 'node', 'pods'] as const)
    world.evidence.answer(question, (nowUs) => (isAway(nowUs) ? unreachable(question) : ANSWERS_WELL[question](nowUs)))
  await world.run(TRIAL_US)
  t.same(world.record('last-known-good'), B)
})

t.test('nothing is asked once the node is settled', async (t) => {
  const world = await worldOn(A)
  const asked = world.evidence.asked.length
  await world.run(60 * MINUTE_US)
  t.equal(world.evidence.asked.length, asked)
})

t.test('a config that cuts kubelet off the API server is rolled back, although kubelet is healthy', async (t) => {
  const world = await worldOn(A)
  world.want(B)
  answerOn(world, [B], 'lease', lease('1'))
  answerOn(world, [B], 'node', node('Unknown'))
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
  t.same(told(world).slice(-2), ['rolled-back b@1 -> a@1', 'restarting b@1 -> a@1'])
  const verdict = verdictOn(world, B)
  t.match(verdict, { reason: 'evidence', evidence: 'lease', damage: 'transient', detail: /^lease: kubelet did not renew its Lease/ })
  await world.run(5 * MINUTE_US)
  t.equal(verdictOn(world, B)?.state, 'confirmed', 'the fallback renews its Lease')
  t.ok(world.unit.healthy)
})

t.test('in a trial of hours too, a config with which kubelet does not renew its Lease is rolled back', async (t) => {
  const world = await worldOn(A)
  world.policy = { ...world.policy, trialUs: 180 * MINUTE_US }
  const isOfServer = ({ question }: { question: string }) => ['lease', 'node', 'pods'].includes(question)
  const before = world.evidence.asked.filter(isOfServer).length
  world.want(B)
  answerOn(world, [B], 'lease', lease('1'))
  const untilUs = world.nowUs + 190 * MINUTE_US
  while (verdictOn(world, B) === undefined && world.nowUs < untilUs) await world.run(5 * SECOND_US)
  t.match(verdictOn(world, B), { reason: 'evidence', evidence: 'lease' })
  const requests = world.evidence.asked.filter(isOfServer).length - before
  t.ok(requests <= 17, `${requests} requests`)
})

t.test('an API server that takes no writes condemns nothing, and promotes nothing that never reached it', async (t) => {
  const world = await worldOn(A)
  world.want(B)
  world.evidence.canWrite = false
  answerOn(world, [B], 'lease', lease('1'))
  answerOn(world, [B], 'node', node('Unknown'))
  const wait = await world.run(30 * MINUTE_US)
  t.equal(await world.running(), textOf(B))
  t.same(world.record('last-known-good'), A)
  t.match(wait, { phase: 'in-trial', detail: /^trial of .* is over, but for evidence that is missing: lease, ready$/ })
  world.evidence.answer('lease', ANSWERS_WELL.lease)
  await world.run(15 * MINUTE_US)
  t.same(world.record('last-known-good'), B)
})

t.test('an API server that is down, and rights that are missing, condemn nothing', async (t) => {
  for (const answer of [unreachable, refused]) {
    const world = await worldOn(A)
    world.want(B)
    for (const question of ['lease', 'node', 'pods'] as const) answerOn(world, [B], question, answer(question))
    await world.run(TRIAL_US)
    t.same(world.record('last-known-good'), B)
  }
})

t.test('what no config brings back is the fault of the node', async (t) => {
  const world = await worldOn(A)
  world.want(B)
  answerOn(world, [A, B, 'local'], 'serving', serving(401))
  // The baseline: it was well until the restart.
  let isWell = true
  const broken = serving(401)
  world.evidence.answer('serving', (nowUs) => (isWell ? ANSWERS_WELL.serving(nowUs) : broken))
  await world.until('restart')
  isWell = false
  const wait = await world.run(12 * MINUTE_US)
  t.equal(wait.phase, 'node-at-fault')
  t.same(world.record('last-known-good'), A)
  t.ok(
    [...world.records.verdicts().values()].every(({ state }) => state === 'provisional'),
    'nothing is confirmed',
  )
  isWell = true
  await world.run(5 * MINUTE_US)
  t.ok(
    [...world.records.verdicts().values()].every(({ suspended }) => suspended === true),
    'nothing stays condemned when it is back',
  )
  await world.run(TRIAL_US + 5 * MINUTE_US)
  t.same(world.record('last-known-good'), B)
  t.equal(world.records.verdicts().size, 0, 'and all is forgiven once it has passed')
})

t.test('a config that loses static pods is left, and never tried again', async (t) => {
  const world = await worldOn(A)
  const manifests = { etcd: 'd2' }
  world.evidence.answer('static-pods', () => staticPods(world.startedWith === textOf(B) ? [] : [ETCD], manifests))
  world.want(B)
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
  t.match(verdictOn(world, B), { state: 'confirmed', evidence: 'static-pods', damage: 'one-way' })
  await world.run(12 * 60 * MINUTE_US)
  t.equal(told(world).filter((line) => line === 'restarting a@1 -> b@1').length, 1)
})

t.test('what is only watched, or off, rolls nothing back', async (t) => {
  for (const level of ['watched', 'off'] as const) {
    const world = await worldOn(A)
    world.policy = { ...world.policy, evidence: { ...ALL_REQUIRED, serving: level } }
    world.want(B)
    answerOn(world, [B], 'serving', serving(401))
    await world.run(TRIAL_US)
    t.same(world.record('last-known-good'), B)
    t.equal(
      world.evidence.asked.some(({ question, atUs }) => question === 'serving' && atUs > world.nowUs - 10 * MINUTE_US),
      level === 'watched',
    )
  }
})

t.test('an agent that is restarted in the middle of a trial knows what was there before', async (t) => {
  const world = await worldOn(A)
  world.want(B)
  answerOn(world, [B], 'serving', serving(401))
  await world.run(30 * SECOND_US)
  world.restartAgent()
  await world.run(3 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
  t.match(verdictOn(world, B), { evidence: 'serving' })
})

t.test('answers that come at once delay a restart by no pass and no report', async (t) => {
  const world = await worldOn(A)
  world.want(B)
  await world.until('activate')
  const [from, waited] = [world.steps.length, world.evidence.waitedMs.length]
  await world.until('restart')
  t.same(
    world.steps.slice(from).map(({ kind }) => kind),
    ['restart'],
  )
  t.equal(world.evidence.waitedMs.length - waited, 1, 'the pass waits for them')
})

t.test('a restart waits for the baseline for a few seconds, and a fallback does not wait', async (t) => {
  const world = await worldOn(A)
  world.evidence.isMute = true
  world.want(B)
  const sinceUs = world.nowUs
  await world.run(MINUTE_US)
  t.equal(await world.running(), textOf(B))
  const waitedUs = (world.restartsAskedAtUs.at(-1) ?? 0) - sinceUs
  t.ok(waitedUs >= 5 * SECOND_US && waitedUs < 8 * SECOND_US, `${waitedUs}`)
  world.behave(C, { exitsAfterUs: 0.4 * SECOND_US })
  world.want(C)
  await world.run(5 * MINUTE_US)
  const condemned = world.steps.findIndex((step) => step.kind === 'condemn')
  const next = world.steps.slice(condemned + 1).find(({ kind }) => kind === 'wait' || kind === 'restart')
  t.equal(next?.kind, 'restart')
})

t.test('a baseline that was not answered before its agent ended is asked for again', async (t) => {
  const world = await worldOn(A)
  answerOn(world, [B], 'serving', serving(401))
  world.evidence.isMute = true
  world.want(B)
  await world.run(2 * SECOND_US)
  t.equal(await world.running(), textOf(A))
  world.advance(MINUTE_US)
  world.evidence.isMute = false
  world.evidence.answersAfterUs = SECOND_US / 2
  world.restartAgent()
  await world.run(3 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
  t.match(verdictOn(world, B), { evidence: 'serving' })
})

t.test('a baseline that was not answered before its config was withdrawn is asked for again', async (t) => {
  const world = await worldOn(A)
  answerOn(world, [B], 'serving', serving(401))
  world.evidence.isMute = true
  world.want(B)
  await world.run(2 * SECOND_US)
  world.want(A)
  await world.run(MINUTE_US)
  t.equal(await world.running(), textOf(A))
  world.evidence.isMute = false
  world.want(B)
  await world.run(3 * MINUTE_US)
  t.equal(await world.running(), textOf(A))
  t.match(verdictOn(world, B), { evidence: 'serving' })
})

t.test('how the node was hours ago is compared with nothing', async (t) => {
  const world = await worldOn(A)
  world.evidence.answer('pods', () => unreachable('pods'))
  world.want(B)
  await world.run(2 * SECOND_US)
  world.want(A)
  await world.run(3 * HOUR_US)
  t.equal(await world.running(), textOf(A))
  world.evidence.answer('node', NOT_READY)
  world.evidence.answersAfterUs = 7 * SECOND_US
  world.want(B)
  await world.run(8 * MINUTE_US)
  t.equal(await world.running(), textOf(B))
})

t.test('what kubelet did with one config is not charged to the next one, which systemd started', async (t) => {
  const world = await worldOn(A)
  const startedAtMs = Math.floor(world.nowUs / 1000) - 60_000
  world.behave(B, { healthyAfterUs: 2 * SECOND_US, exitsAfterUs: 30 * SECOND_US })
  world.want(B)
  await world.run(34 * SECOND_US)
  world.evidence.answer('pods', (nowUs) => evicted(startedAtMs, nowUs))
  world.want(C)
  await world.until('activate')
  world.advance(15 * SECOND_US)
  world.restartAgent()
  await world.run(5 * MINUTE_US)
  t.equal(await world.running(), textOf(C))
  t.equal(verdictOn(world, C), undefined)
})

t.test('what passed its trial leaves nothing to bring back', async (t) => {
  const world = await worldOn(A)
  world.policy = { ...world.policy, trialUs: 2 * MINUTE_US }
  world.want(B)
  await world.run(MINUTE_US)
  world.evidence.isMute = true
  world.want(C)
  await world.run(2 * SECOND_US)
  t.equal(await world.running(), textOf(B), 'C waits for its baseline')
  world.want(B)
  await world.run(2 * SECOND_US)
  world.evidence.isMute = false
  await world.run(3 * MINUTE_US)
  t.same(world.record('last-known-good'), B)
  world.evidence.answer('node', NOT_READY)
  await world.run(2 * MINUTE_US)
  world.want(C)
  await world.run(8 * MINUTE_US)
  t.equal(await world.running(), textOf(C))
})

t.test('an agent that ends again and again does not hold up a restart for ever', async (t) => {
  const world = await worldOn(A)
  world.evidence.isMute = true
  world.want(B)
  for (let restart = 0; restart < 160; restart += 1) {
    await world.run(4 * SECOND_US)
    world.restartAgent()
  }
  t.equal(await world.running(), textOf(B))
})

t.test('without an answer, a trial is promoted as before', async (t) => {
  const world = await worldOn(A)
  world.evidence.isMute = true
  world.want(B)
  await world.run(TRIAL_US)
  t.same(world.record('last-known-good'), B)
})

t.test('a trial of a few seconds is promoted too', async (t) => {
  const world = new SmallWorld()
  world.policy = { ...world.policy, trialUs: 5 * SECOND_US, startDeadlineUs: 4 * SECOND_US, toleranceUs: 2 * SECOND_US }
  world.want(A)
  await world.run(30 * SECOND_US)
  t.same(world.record('last-known-good'), A)
})

t.test('a hundred refusals do not bring back what did damage that no restart undoes', async (t) => {
  const world = await worldOn(A)
  const startedAtMs = world.nowUs / 1000 - (5 * HOUR_US) / 1000
  world.evidence.answer('pods', (nowUs) => (world.startedWith === textOf(B) ? evicted(startedAtMs, nowUs) : ANSWERS_WELL.pods(nowUs)))
  world.preflight = () => ({ kind: 'accepted', remarks: [], drain: [], changed: ['evictionHard.memory.available'] })
  world.want(B)
  await world.run(30 * MINUTE_US)
  t.match(verdictOn(world, B), { state: 'confirmed', damage: 'one-way' })
  world.preflight = ({ kubelet }) =>
    kubelet?.startsWith('bad') ? { kind: 'refused', reason: 'validate', detail: 'no' } : { kind: 'accepted', remarks: [], drain: [] }
  for (let index = 0; index <= 100; index += 1) {
    world.want(configMap(`bad${index}`))
    await world.run(MINUTE_US)
  }
  const restarts = world.restartsAskedAtUs.length
  world.want(B)
  t.match(await world.run(5 * MINUTE_US), { phase: 'fallen-back' })
  t.equal(world.restartsAskedAtUs.length, restarts)
})

/** A pod that ran before fails with this in the trial of B, which changes these fields. */
async function losesPod(reason: string, message: string, changed: readonly string[] | undefined): Promise<SmallWorld> {
  const world = await worldOn(A)
  world.preflight = () => ({ kind: 'accepted', remarks: [], drain: [], ...(changed && { changed }) })
  const startedAtMs = world.nowUs / 1000 - (5 * HOUR_US) / 1000
  const pod = { uid: 'p', name: 'default/p', reason, message, createdAtMs: startedAtMs, startedAtMs }
  world.evidence.answer('pods', (nowUs) => {
    const isLost = world.startedWith === textOf(B)
    return { question: 'pods', answer: { kind: 'found', pods: isLost ? [pod] : [], serverMs: Math.floor(nowUs / 1000) } }
  })
  world.want(B)
  await world.run(15 * MINUTE_US)
  return world
}

t.test('a pod that fails for what the config does not change condemns nothing', async (t) => {
  const rows: readonly (readonly [reason: string, message: string])[] = [
    ['Evicted', 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 52Mi. '],
    ['Evicted', 'The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi. '],
    ['UnexpectedAdmissionError', 'Pod Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu'],
    ['NodeAffinity', 'Pod was rejected: Predicate NodeAffinity failed'],
  ]
  for (const [reason, message] of rows) {
    const world = await losesPod(reason, message, ['hairpinMode'])
    t.equal(verdictOn(world, B), undefined, reason)
    t.same(world.record('last-known-good'), B, reason)
  }
})

/** Kubelet refused a pod just before B, and the API server shows it a minute later. */
async function seesLate(): Promise<SmallWorld> {
  const world = await worldOn(A)
  world.preflight = () => ({ kind: 'accepted', remarks: [], drain: [], changed: ['kubeReserved.cpu'] })
  const refusedAtMs = Math.floor(world.nowUs / 1000)
  const pod = { uid: 'j', name: 'batch/job-1', reason: 'OutOfcpu', message: '', createdAtMs: refusedAtMs - 2000, startedAtMs: refusedAtMs }
  world.evidence.answer('pods', (nowUs) => {
    const serverMs = Math.floor(nowUs / 1000)
    const isSeen = serverMs - (world.startedWith === textOf(A) ? 60_000 : 0) >= refusedAtMs
    return { question: 'pods', answer: { kind: 'found', pods: isSeen ? [pod] : [], serverMs } }
  })
  await world.run(20 * SECOND_US)
  world.want(B)
  await world.run(15 * MINUTE_US)
  return world
}

t.test('a pod that had failed before the restart, which a server with a late cache did not show, condemns nothing', async (t) => {
  const doubted = await seesLate()
  t.match(verdictOn(doubted, B), { state: 'provisional', damage: 'transient', doubtful: true })
  await doubted.run(2 * HOUR_US)
  t.same(doubted.record('last-known-good'), B)
})

t.test('where nobody knows what the config changes, a pod that fails is a doubt: the config is tried again', async (t) => {
  const world = await losesPod('OutOfcpu', '', undefined)
  t.match(verdictOn(world, B), { state: 'provisional', damage: 'transient', doubtful: true })
  t.equal(await world.running(), textOf(A))
  world.evidence.answer('pods', ANSWERS_WELL.pods)
  await world.run(2 * HOUR_US)
  t.same(world.record('last-known-good'), B)
})

/** A good config B is on trial, and the pod network is away for a time. */
async function losesNetwork(fromUs: number, forUs: number): Promise<SmallWorld> {
  const world = await worldOn(A)
  world.want(B)
  await world.until('restart')
  const startsUs = world.nowUs + fromUs
  const message = 'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized'
  world.evidence.answer('node', (nowUs) => {
    const ms = Math.floor(nowUs / 1000)
    const isAway = nowUs >= startsUs && nowUs < startsUs + forUs
    return isAway ? node('False', { reportedAtMs: ms, serverMs: ms, message }) : ANSWERS_WELL.node(nowUs)
  })
  await world.run(12 * HOUR_US)
  return world
}

t.test('the pod network that is away for a time in a first trial condemns nothing for good', async (t) => {
  for (const [from, minutes] of [
    [4, 8],
    [1, 15],
    [9, 3],
  ] as const) {
    const world = await losesNetwork(from * MINUTE_US, minutes * MINUTE_US)
    t.equal(await world.running(), textOf(B), `from ${from} min for ${minutes} min`)
    t.same(world.record('last-known-good'), B)
    t.ok(world.restartsAskedAtUs.length <= 8, `${world.restartsAskedAtUs.length} restarts`)
  }
})

t.test('a config with which the pod network is away each time is condemned in the end', async (t) => {
  const world = await worldOn(A)
  world.evidence.answer('node', (nowUs) => {
    const ms = Math.floor(nowUs / 1000)
    const message = 'container runtime network not ready: cni plugin not initialized'
    return world.startedWith === textOf(B) ? node('False', { reportedAtMs: ms, serverMs: ms, message }) : ANSWERS_WELL.node(nowUs)
  })
  world.want(B)
  await world.run(20 * MINUTE_US)
  t.match(verdictOn(world, B), { state: 'provisional', doubtful: true })
  await world.run(12 * HOUR_US)
  t.match(verdictOn(world, B), { state: 'confirmed', evidence: 'ready', retrials: 3 })
  t.equal(await world.running(), textOf(A))
})
