// SPDX-License-Identifier: Apache-2.0
import t, { type Test } from 'tap'
import { PAUSED_ANNOTATION, ROLLOUT_ANNOTATION } from '../../../src/decision/channels.ts'
import type { KubeWatchEnd } from '../../../src/ports/kube-api.ts'
import { lookUs } from '../../../src/rollout/order.ts'
import { WATCH_LIMITS } from '../../../src/source/watch-loop.ts'
import { CONFIG, RECORD, WorkerWorld } from './worker-world.ts'

function start(t: Test, random?: number): WorkerWorld {
  const world = new WorkerWorld(random)
  t.teardown(() => world.worker.stop())
  return world
}

/** n1 vetoes what the record is about. @returns the record from a while before, as in a backup */
async function vetoAfterBackup(t: Test, world: WorkerWorld) {
  world.putRecord(1)
  const backup = world.api.get(RECORD)
  for (let write = 0; write < 20; write += 1) world.putRecord(1)
  world.follow({ verdict: { reason: 'crash-loop', retry: 0 } })
  await world.run(60)
  t.match(world.api.get(RECORD)?.data, { 'node.n1': /veto/ })
  return backup
}

const claimsOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`node.w${index}`, '1 1 claim 3600']))
const FINISHED = 5
/** The stage has room for no more claims: five witnesses, and two silent ones. */
const FULL = claimsOf(7)
const isGet = (name: string, { method, path }: { method: string; path: string }) => method === 'GET' && path.endsWith(`/${name}`)

t.test('what a node asks that only waits', async (t) => {
  await t.test('is the list of its watch, and nothing else', async (t) => {
    const world = start(t)
    world.putRecord(1, FULL)
    world.follow()
    await world.run(600)
    t.match(world.turn, { kind: 'wait', detail: /stage 1/ })
    t.same(world.requests, ['GET ?'])
  })

  await t.test('comes within 30 s of the change', async (t) => {
    for (const random of [0, 0.5, 0.999]) {
      const world = start(t, random)
      world.putRecord(1, FULL)
      world.follow()
      let seconds = 0
      for (; seconds < 60 && world.requests.length === 0; seconds += 1) await world.run(1)
      t.ok(Math.abs(seconds - 30 * random) <= 2, `after ${seconds} s`)
    }
  })

  for (const [what, node] of [
    ['a canary', { canary: true }],
    ['a node on which the content failed', { verdict: { reason: 'crash-loop', retry: 0 } }],
    ['a node that has just joined', { arrival: 'joined' }],
  ] as const) {
    await t.test(`or of ${what}, within 5 s`, async (t) => {
      const world = start(t, 0.999)
      world.putRecord(1, FULL)
      world.follow(node)
      await world.run(7)
      t.not(world.requests.length, 0)
    })
  }
})

t.test('the last change comes while the record and the config are read: it is not lost', async (t) => {
  const world = start(t, 0)
  world.putRecord(1)
  // The worker would claim, but finds no room; and then the rollout is over, and no further event
  // comes.
  const changes = [() => world.putRecord(1, FULL), () => world.putRecord(FINISHED)]
  const moments = [RECORD, CONFIG]
  world.api.faultOf = (request) => {
    if (moments[0] !== undefined && isGet(moments[0], request)) {
      moments.shift()
      changes.shift()?.()
    }
    return undefined
  }
  world.follow()
  await world.run(120)
  t.same(changes, [], 'both came')
  t.match(world.turn, { kind: 'go' })
})

t.test('a record that was restored from a backup, at an older version', async (t) => {
  await t.test('a node that waits sees it', async (t) => {
    const world = start(t)
    world.putRecord(1)
    const backup = world.api.get(RECORD)
    for (let write = 0; write < 20; write += 1) world.putRecord(1, FULL)
    world.follow({ ready: { ok: false, detail: 'it waits for a drain' } })
    await world.run(60)
    t.match(world.turn, { detail: /stage 1/ })
    if (backup !== undefined) world.api.restore(RECORD, { ...backup, data: {} })
    await world.run(60)
    t.match(world.turn, { detail: /^the record was recreated or restored from a backup/ })
    await world.run(60)
    t.match(world.turn, { detail: /its rollout has not begun/ })
  })

  await t.test('a node sees it, after a long outage too, before the others stop waiting for its veto', async (t) => {
    for (const random of [0, 0.5, 0.999]) {
      const world = start(t, random)
      const backup = await vetoAfterBackup(t, world)
      world.api.faultOf = () => 'down'
      if (backup !== undefined) world.api.restore(RECORD, backup)
      await world.run(600)
      // The next request is as far away as it can be.
      const { length } = world.api.requests
      for (let second = 0; second < 120 && world.api.requests.length === length; second += 1) await world.run(1)
      world.api.faultOf = () => undefined
      await world.run(lookUs(600e6) / 1e6 - 5)
      t.match(world.api.get(RECORD)?.data, { 'node.n1': /veto/ }, `random ${random}`)
    }
  })

  await t.test('a node on which the content failed says so again', async (t) => {
    const world = start(t)
    const backup = await vetoAfterBackup(t, world)
    if (backup !== undefined) world.api.restore(RECORD, backup)
    t.notMatch(world.api.get(RECORD)?.data, { 'node.n1': /veto/ })
    await world.run(30)
    t.match(world.api.get(RECORD)?.data, { 'node.n1': /veto/ })
  })

  await t.test('a witness gives its proof again, while its rollout is on its way', async (t) => {
    const world = start(t)
    world.putRecord(1, { 'node.n1': '1 1 claim 3600' })
    const backup = world.api.get(RECORD)
    for (let write = 0; write < 20; write += 1) world.putRecord(1, { 'node.n1': '1 1 claim 3600' })
    world.follow({ runs: true, proven: true })
    await world.run(60)
    t.match(world.api.get(RECORD)?.data, { 'node.n1': /proof/ })
    if (backup !== undefined) world.api.restore(RECORD, backup)
    await world.run(60)
    t.match(world.api.get(RECORD)?.data, { 'node.n1': /proof/ })
  })
})

t.test('a pause that this node has not seen yet is found before a claim', async (t) => {
  const world = start(t)
  world.putRecord(1)
  world.follow()
  world.api.put(CONFIG, { kubelet: 'good' }, { [ROLLOUT_ANNOTATION]: RECORD, [PAUSED_ANNOTATION]: 'true' })
  await world.run(300)
  t.match(world.turn, { kind: 'wait', detail: /paused by annotation kubelet-cfg-agent.io\/paused of ConfigMap kube-system\/fleet/ })
  t.equal(world.api.get(RECORD)?.data['node.n1'], undefined)
  world.follow({ runs: true, proven: true })
  world.putRecord(1, { 'node.n1': '1 1 claim 3600' })
  await world.run(60)
  t.match(world.api.get(RECORD)?.data, { 'node.n1': /proof/ }, 'a trial that has passed is told of all the same')
})

t.test('a node that may not write the record tries more and more seldom, at last every 10 minutes', async (t) => {
  const world = start(t)
  world.putRecord(1)
  world.api.faultOf = ({ method }) => (method === 'PATCH' ? 403 : undefined)
  world.follow()
  await world.run(3600)
  const before = world.requests.length
  await world.run(3600)
  t.match(world.turn, { detail: /403 Forbidden/ })
  const later = world.requests.length - before
  t.ok(later >= 12 && later <= 45, `${later} requests in an hour`)
})

t.test('a claim falls silent by the time in which its record can be watched', async (t) => {
  /** @returns whether this node claims in place of the silent one within 40 minutes */
  async function claims(end: KubeWatchEnd, isDown: (minute: number) => boolean = () => false): Promise<boolean> {
    const world = start(t)
    world.putRecord(0, { 'node.w0': '1 0 claim 900' })
    world.follow()
    for (let minute = 0; minute < 40; minute += 2.5) {
      world.api.faultOf = () => (isDown(minute) ? 'down' : undefined)
      await world.run(WATCH_LIMITS.inactivityMs / 1000)
      world.api.endWatches(end)
    }
    return world.api.get(RECORD)?.data['node.n1'] !== undefined
  }

  t.ok(await claims({ kind: 'ended', detail: 'no data' }), 'where the server sends no bookmarks')
  t.notOk(await claims({ kind: 'ended', detail: 'no data' }, (minute) => minute >= 10), 'an outage does not count')
  t.notOk(await claims({ kind: 'unreachable', detail: 'reset' }), 'nor what may have been one')
})

t.test('a node whose reads are refused does not read again before the time for which the API server asks', async (t) => {
  const world = start(t)
  world.putRecord(1)
  world.api.faultOf = (request) => (isGet(RECORD, request) ? 429 : undefined)
  world.api.retryAfterMs = 300_000
  world.follow()
  const reads = () => world.requests.filter((request) => request === `GET /${RECORD}`).length
  for (let second = 0; second < 120 && reads() === 0; second += 1) await world.run(1)
  await world.run(299)
  t.equal(reads(), 1)
  await world.run(90)
  t.equal(reads(), 2)
})

t.test('a node that waits for a window asks nothing until it opens, and claims soon after', async (t) => {
  for (const [timeZone, hour] of [
    ['UTC', 22],
    ['Europe/Berlin', 23],
  ] as const) {
    const world = new WorkerWorld(0.5, `spread: 1s, windows: [Mon-Sun ${hour}:00-24:00], timeZone: ${timeZone}`)
    t.teardown(() => world.worker.stop())
    world.putRecord(1)
    world.follow()
    await world.run(595)
    const detail = new RegExp(`its windows are closed; the next one opens on Mon 2026-11-30 ${hour}:00 \\(${timeZone}\\)$`)
    t.match(world.turn, { kind: 'wait-until', detail })
    t.same(world.requests, ['GET ?'])
    await world.run(60)
    t.match(world.api.get(RECORD)?.data, { 'node.n1': '1 1 claim 3600' })
  }
})

t.test('until the API server has told the time, a node with windows waits', async (t) => {
  const world = new WorkerWorld(0.5, 'windows: [Mon-Sun 00:00-24:00]')
  t.teardown(() => world.worker.stop())
  world.api.serverMs = undefined
  world.putRecord(1)
  world.follow()
  await world.run(120)
  t.match(world.turn, { kind: 'wait', detail: /the API server has not told the time yet$/ })
})
