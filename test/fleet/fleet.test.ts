// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { contentOf } from './content.ts'
import { runFleet } from './fleet-world.ts'
import { plainTraits, runOneEdit } from './one-edit.ts'
import { randomSchedule, scheduleWithoutTroubles } from './random-schedule.ts'
import type { Schedule } from './schedule.ts'

const SCHEDULES = 250
const MINUTE = 60_000_000

t.setTimeout(600_000)

t.test(`${SCHEDULES} schedules of small fleets keep the invariants`, async (t) => {
  for (let seed = 1; seed <= SCHEDULES; seed += 1) {
    try {
      runFleet(randomSchedule(seed))
    } catch (error) {
      t.fail(`seed ${seed}: ${error instanceof Error ? error.message : String(error)} (npm run sim:fleet -- --seed ${seed})`)
    }
  }
})

t.test('schedules that once broke an invariant', async (t) => {
  // An agent without contact that saw the annotation go believed itself in contact from then on.
  runFleet(scheduleWithoutTroubles(700202907))
  // A backup brought back a generation from before `retry` was raised.
  runFleet(scheduleWithoutTroubles(700202899))
  t.pass('no invariant is broken')
})

t.test('what failed late, after a backup took back its generation, is vetoed when a node begins it anew', async (t) => {
  const schedule = scheduleWithoutTroubles(700202899)
  const config = 'green-config'
  const joins = { kind: 'join', node: { traits: { ...plainTraits(99), joined: true }, config } } as const
  const events: Schedule['events'] = [
    ...schedule.events,
    { atSeconds: 15_900, event: { kind: 'resume', config } },
    { atSeconds: 16_000, event: joins },
  ]
  const world = runFleet({ ...schedule, events })
  t.match(world.record(config).data.state, /^1 2 0 .* 1$/, 'the node that joined began the next generation')
  t.ok(Object.values(world.record(config).data).filter((words) => words.startsWith('2 ') && words.includes(' veto')).length >= 5)
})

t.test('a good content reaches all nodes, within a time that follows from the plan', async (t) => {
  for (const [nodes, minutes] of [
    [1, 1],
    [3, 12],
    [10, 23],
    [300, 56],
  ] as const) {
    const { reached, minutes: took, writes } = runOneEdit({ seed: 1, nodes, nature: { kind: 'good' } })
    t.equal(reached, nodes)
    t.ok(took <= minutes, `the last of ${nodes} starts after ${took} minutes`)
    t.ok(writes <= 42, `${writes} writes`)
  }
})

t.test('three control planes go one after another, each after a rest', async (t) => {
  const { reached, minutes } = runOneEdit({ seed: 1, nodes: 3, controlPlanes: 3, nature: { kind: 'good' } })
  t.equal(reached, 3)
  t.ok(minutes > 50 && minutes < 53, `the last starts after ${minutes} minutes`)
})

t.test('a content that fails everywhere is started by one node, also with lost answers', async (t) => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const outcome = runOneEdit({ seed, nodes: 40, lost: 0.1, nature: { kind: 'fails', share: 1, afterUs: MINUTE } })
    t.match(outcome, { started: 1, failed: 1, reached: 0, isHalted: true })
  }
})

t.test('a content that was halted is started by nobody more after its record was made again', async (t) => {
  const config = 'node-config'
  const events = [
    { atSeconds: 600, event: { kind: 'delete-record', config } },
    { atSeconds: 601, event: { kind: 'api-down', forSeconds: 20 } },
    { atSeconds: 610, event: { kind: 'make-record', config } },
  ] as const
  for (let seed = 1; seed <= 10; seed += 1) {
    const nature = { kind: 'fails', share: 1, afterUs: MINUTE } as const
    const { started, isHalted } = runOneEdit({ seed, nodes: 40, canaries: true, nature, events })
    t.same({ started, isHalted }, { started: 1, isHalted: true }, `seed ${seed}`)
  }
})

t.test('an edit of the waves starts a halted content on nobody more', async (t) => {
  const nature = { kind: 'fails', share: 0.05, afterUs: MINUTE } as const
  const event = { kind: 'plan', config: 'node-config', text: 'waves: [25%, 100%]' } as const
  for (const seed of [2, 6]) {
    const halted = runOneEdit({ seed, nodes: 100, nature })
    const edited = runOneEdit({ seed, nodes: 100, nature, events: [{ atSeconds: 10 * 3600, event }] })
    t.match(halted, { isHalted: true })
    t.match(edited, { started: halted.started, isHalted: true }, `seed ${seed}`)
  }
})

t.test('nodes that a pause kept are spread when it is resumed', async (t) => {
  const config = 'node-config'
  const events = [
    { atSeconds: 900, event: { kind: 'pause', config } },
    { atSeconds: 3600, event: { kind: 'resume', config } },
  ] as const
  const planText = 'waves: [100%], witnesses: 1, spread: 10m'
  const { reached, minutes } = runOneEdit({ seed: 1, nodes: 40, nature: { kind: 'good' }, planText, events })
  t.equal(reached, 40)
  t.ok(minutes > 64, `the last starts ${minutes - 59} minutes after the resumption`)
})

t.test('a content that kills its nodes is started by one node, and by maxSilent more', async (t) => {
  for (const maxSilent of [0, 1, 3]) {
    const nature = { kind: 'kills', share: 1, afterUs: MINUTE } as const
    const outcome = runOneEdit({ seed: 1, nodes: 40, planText: `maxSilent: ${maxSilent}`, nature })
    t.match(outcome, { started: 1 + maxSilent, reached: 0 })
  }
})

/** Half of the nodes come to a config by a label, long after its rollout has finished. */
function labelSchedule(events: Schedule['events']): { readonly schedule: Schedule; readonly hash: string } {
  const good = contentOf('of the others', { kind: 'good' })
  const nodes = Array.from({ length: 60 }, (_, index) => ({ traits: plainTraits(index), config: index < 30 ? 'old' : 'new-config' }))
  const labelled = nodes.slice(0, 30).map((_, index) => index)
  const schedule: Schedule = {
    seed: 1,
    nodes,
    configs: [
      { name: 'old', content: contentOf('old', { kind: 'good' }), planText: undefined },
      { name: 'new-config', content: contentOf('finished', { kind: 'good' }), planText: undefined },
    ],
    settled: true,
    faults: { lost: 0, latencyUs: [10_000, 100_000] },
    backgroundFailures: 0,
    policy: true,
    events: [
      { atSeconds: 60, event: { kind: 'edit', config: 'new-config', content: good } },
      { atSeconds: 5 * 3600, event: { kind: 'assign', nodes: labelled, config: 'new-config' } },
      ...events,
    ],
    restSeconds: 6 * 3600,
  }
  return { schedule, hash: good.hash }
}

t.test('a label on all nodes at once goes in stages, although the config was finished long ago', async (t) => {
  const { schedule, hash } = labelSchedule([])
  const world = runFleet(schedule)
  const late = (world.ledger.starts.get(hash) ?? []).filter(({ atUs }) => atUs > 5 * 60 * MINUTE)
  t.equal(late.length, 30)
  const within = (minutes: number) => late.filter(({ atUs }) => atUs < (5 * 60 + minutes) * MINUTE).length
  t.same([within(9), within(19)], [1, 6])
})

t.test('a node that waited for that, and was rebooted when it was over, does not begin it once more', async (t) => {
  const began = (events: Schedule['events']) => {
    const { schedule, hash } = labelSchedule(events)
    return runFleet(schedule).ledger.begins.get(hash)
  }
  t.equal(began([]), 2)
  for (let node = 0; node < 30; node += 3) {
    const down = { atSeconds: 5 * 3600 + 600, event: { kind: 'agent-down', node, forSeconds: 7200 } } as const
    const reboot = { atSeconds: 7 * 3600, event: { kind: 'reboot', node } } as const
    t.equal(began([down, reboot]), 2, `node ${node}`)
  }
})

t.test('a content that kills most of its nodes stops at its witnesses', async (t) => {
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    const { started } = runOneEdit({ seed, nodes: 200, nature: { kind: 'kills', share: 0.9, afterUs: MINUTE } })
    t.ok(started <= 3 + 7, `${started} started it`)
  }
})

t.test('a node that an administrator excludes starts what the others have proved to the end', async (t) => {
  const config = 'node-config'
  const { name } = plainTraits(7)
  for (const atSeconds of [30, 120, 1500]) {
    const events = [{ atSeconds, event: { kind: 'exclude', config, name } }] as const
    t.equal(runOneEdit({ seed: 1, nodes: 40, nature: { kind: 'good' }, events }).reached, 40, `after ${atSeconds} s`)
  }
  const events = [{ atSeconds: 30, event: { kind: 'exclude', config, name } }] as const
  const nature = { kind: 'fails', share: 1, afterUs: MINUTE } as const
  t.match(runOneEdit({ seed: 1, nodes: 40, nature, events }), { started: 1, isHalted: true })
  const { reached } = runOneEdit({ seed: 1, nodes: 10, nature: { kind: 'good' }, events })
  t.equal(reached, 9, 'where all nodes are witnesses, the last stage never opens')
})

t.test('dead nodes stop nothing', async (t) => {
  const { reached } = runOneEdit({ seed: 1, nodes: 100, dead: 0.2, nature: { kind: 'good' } })
  t.equal(reached, 80)
})

t.test('nodes that vanish in a wave stop it while their claims are silent, until they are excluded', async (t) => {
  const config = 'node-config'
  for (const how of ['dead', 'deleted', 'scaled-down'] as const) {
    const vanish = { atSeconds: 900, event: { kind: 'vanish', config, of: 'started', count: 6, how, seed: 1 } } as const
    const edit = { seed: 1, nodes: 100, nature: { kind: 'good' } } as const
    const stopped = runOneEdit({ ...edit, events: [vanish] })
    t.match(stopped, { isHalted: false })
    t.ok(stopped.started < 20, `${how}: ${stopped.started} started it`)
    const excluded = { atSeconds: 4 * 3600, event: { kind: 'exclude-gone', config } } as const
    const { reached, started } = runOneEdit({ ...edit, events: [vanish, excluded] })
    t.equal(reached, 94, how)
    t.ok(started >= 94)
  }
})

t.test('a content that makes Nodes NotReady and passes its trials reaches all of them', async (t) => {
  const { reached, isHalted } = runOneEdit({ seed: 1, nodes: 40, nature: { kind: 'sickens', share: 1, afterUs: MINUTE } })
  t.same({ reached, isHalted }, { reached: 40, isHalted: false }, 'a rollout alone does not notice')
})

t.test('an API server that refuses most requests delays a rollout, and stops it for no longer', async (t) => {
  const overload = { kind: 'overload', forSeconds: 3600, share: 0.9, retryAfterSeconds: 5 } as const
  // All is healed soon after the last event.
  const events = [
    { atSeconds: 300, event: overload },
    { atSeconds: 4000, event: { kind: 'backup' } },
  ] as const
  const calm = runOneEdit({ seed: 1, nodes: 40, nature: { kind: 'good' } })
  const { reached, minutes, tooMany } = runOneEdit({ seed: 1, nodes: 40, nature: { kind: 'good' }, events })
  t.equal(reached, 40)
  t.ok(tooMany > 100, `${tooMany} requests were refused`)
  t.ok(minutes > calm.minutes && minutes < calm.minutes + 60, `${minutes} minutes instead of ${calm.minutes}`)
})

t.test('zones go one after another, but for the witnesses that prove the next one', async (t) => {
  const zones = ['a', 'b', 'c']
  const zoneOf = (index: number) => zones[index % 3]
  const planText = 'waves: [1%, 33%, 66%, 100%], zones: [a, b, c]'
  const { reached, starts } = runOneEdit({ seed: 1, nodes: 300, nature: { kind: 'good' }, planText, zoneOf })
  t.equal(reached, 300)
  const of = (zone: number) => starts.filter(({ node }) => Number(node.slice(5, 10)) % 3 === zone)
  const opens = (zone: number) => Math.min(...of(zone).flatMap(({ by, minutes }) => (by === 'share' ? [minutes] : [])))
  for (const zone of [1, 2]) {
    const early = of(zone).filter(({ minutes }) => minutes < opens(zone)).length
    t.ok(early > 0 && early <= 5 + 2, `${early} nodes of zone ${zone} start before it opens`)
    t.ok(opens(zone) > opens(zone - 1))
  }
  t.equal(of(2).filter(({ minutes }) => minutes < opens(1)).length, 0)
})

t.test('a zone that is empty, and one that is dead, block nothing', async (t) => {
  const planText = 'waves: [1%, 33%, 66%, 100%], zones: [nobody, dead, b], rest: 5m'
  // Nodes that are dead from the beginning are the last ones.
  const zoneOf = (index: number) => (index < 40 ? 'b' : 'dead')
  const { reached, minutes } = runOneEdit({ seed: 1, nodes: 60, dead: 1 / 3, nature: { kind: 'good' }, planText, zoneOf })
  t.equal(reached, 40)
  t.ok(minutes < 100, `the last starts after ${minutes} minutes`)
})

t.test('a window in the hour that is skipped does not open that night, and the next night all goes on', async (t) => {
  const planText = 'windows: [Mon-Sun 02:00-03:00], timeZone: Europe/Berlin, waves: [100%], witnesses: 1'
  // Saturday at noon: the clocks change in the night.
  const startMs = Date.UTC(2027, 2, 27, 11)
  const { reached, starts } = runOneEdit({ seed: 1, nodes: 40, nature: { kind: 'good' }, planText, startMs, restHours: 60 })
  t.equal(reached, 40)
  const hours = starts.map(({ minutes }) => (minutes + 1) / 60)
  t.ok(Math.min(...hours) >= 37 && Math.max(...hours) < 38, `from ${Math.min(...hours)} to ${Math.max(...hours)} hours after noon`)
  const now = `${planText}, now: ${contentOf('1 edited', { kind: 'good' }).hash.slice(0, 12)}`
  t.ok(runOneEdit({ seed: 1, nodes: 40, nature: { kind: 'good' }, planText: now, startMs, restHours: 60 }).minutes < 60)
})

t.test('a guard halts a content that makes Nodes NotReady, also one that looks late', async (t) => {
  const edit = { seed: 1, nodes: 300, nature: { kind: 'sickens', share: 0.3, afterUs: MINUTE } } as const
  const guard = { kind: 'guard', config: 'node-config', limit: '2%', forSeconds: 24 * 3600 } as const
  const started = [10, 300].map((everySeconds) => {
    const outcome = runOneEdit({ ...edit, events: [{ atSeconds: 1, event: { ...guard, everySeconds } }] })
    t.match(outcome, { isHalted: true })
    return outcome.started
  })
  t.ok(Number(started[0]) < 10 && Number(started[1]) < 40, `${started.join(' and ')} of 300 started it`)
  const good = runOneEdit({ ...edit, nature: { kind: 'good' }, events: [{ atSeconds: 1, event: { ...guard, everySeconds: 10 } }] })
  t.match(good, { reached: 300, isHalted: false })
  const events = [
    { atSeconds: 1, event: { ...guard, everySeconds: 10, limit: '90%' } },
    { atSeconds: 900, event: { kind: 'vanish', config: 'node-config', of: 'started', count: 6, how: 'scaled-down', seed: 1 } },
  ] as const
  t.match(runOneEdit({ ...edit, nature: { kind: 'good' }, events }), { isHalted: false }, 'an autoscaler hurts nobody')
})

t.test('retry ends what a guard has halted', async (t) => {
  const config = 'node-config'
  const vanish = { kind: 'vanish', config, of: 'started', count: 3, how: 'dead', seed: 1 } as const
  const guard = { kind: 'guard', config, limit: '2%', everySeconds: 10, forSeconds: 3600 } as const
  const events = [
    { atSeconds: 1, event: guard },
    { atSeconds: 900, event: vanish },
  ] as const
  t.match(runOneEdit({ seed: 1, nodes: 60, nature: { kind: 'good' }, events }), { isHalted: true })
  const again = [...events, { atSeconds: 7200, event: { kind: 'retry', config } } as const]
  t.match(runOneEdit({ seed: 1, nodes: 60, nature: { kind: 'good' }, events: again }), { isHalted: false, reached: 57 })
})

t.test('a spread that is longer than the window ends with it, so that the next one brings the rest', async (t) => {
  const planText = 'windows: [Mon-Sun 22:00-24:00], spread: 6h, waves: [100%], witnesses: 1'
  const startMs = Date.UTC(2026, 10, 30, 12)
  const { reached, minutes } = runOneEdit({ seed: 1, nodes: 60, nature: { kind: 'good' }, planText, startMs, restHours: 80 })
  t.equal(reached, 60)
  t.ok(minutes < 36 * 60, `the last starts after ${minutes} minutes`)
})

t.test('an edit that lets nodes go at once starts no crowd', async (t) => {
  const plan = 'waves: [50%, 100%], witnesses: 1, spread: 2h'
  const startMs = Date.UTC(2026, 10, 30, 22)
  const night = `${plan}, windows: [Mon-Sun 22:00-23:00]`
  const config = 'node-config'
  const hash = contentOf('1 edited', { kind: 'good' }).hash
  const edits: readonly (readonly [before: string, event: Schedule['events'][number]['event']])[] = [
    [night, { kind: 'now', config, hash }],
    [night, { kind: 'plan', config, text: plan }],
  ]
  for (const [planText, event] of edits) {
    const events = [{ atSeconds: 5 * 3600, event }]
    const { reached, starts } = runOneEdit({ seed: 1, nodes: 200, nature: { kind: 'good' }, planText, startMs, events, restHours: 40 })
    t.equal(reached, 200, planText)
    const perMinute = new Map<number, number>()
    for (const { minutes } of starts) perMinute.set(Math.floor(minutes), (perMinute.get(Math.floor(minutes)) ?? 0) + 1)
    const most = Math.max(...perMinute.values())
    t.ok(most < 12, `${most} of 200 start in one minute: ${JSON.stringify(event)}`)
  }
})
