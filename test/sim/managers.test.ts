// SPDX-License-Identifier: Apache-2.0
/**
 * Nodes whose kubelet has a CPU manager: configs change its policy and are rolled back, the node
 * reboots, the agent is away, and `/run`, the state and power are lost. Kubelet never meets a state
 * with which it does not start, and another policy waits for the pods that have CPUs. The schedules
 * are those of random seeds, with other configs in them, so that the seeds themselves stay as they
 * are.
 */
import t from 'tap'
import { onOneLine } from '../../src/values/cut.ts'
import { errorMessage } from '../../src/values/errors.ts'
import { makeCrash } from './crash.ts'
import { makeNodeKind } from './node-kind.ts'
import { type Random, seededRandom } from './random.ts'
import { runSchedule } from './run.ts'
import { makeSchedule, type Schedule, type Timed, type WorldEvent } from './schedule.ts'

t.setTimeout(600_000)

const SEEDS = Number(process.env.MANAGER_SEEDS ?? 20)

function makeManagerSchedule(seed: number): Schedule {
  const random = seededRandom(seed ^ 0xc9a5)
  const events = makeSchedule(seed).events.flatMap(({ afterSeconds, event }): Timed[] => [
    { afterSeconds, event: withPolicy(event, random) },
    ...(random.chance(0.4) ? [{ afterSeconds: random.between(1, 1500), event: makeEvent(random) }] : []),
  ])
  return { seed, node: { ...makeNodeKind(seed), parts: false, managers: true }, events }
}

function withPolicy(event: WorldEvent, random: Random): WorldEvent {
  if (event.kind !== 'edit' || (event.behaviour !== 'good' && event.behaviour !== 'leaves-state')) return event
  return { ...event, behaviour: random.pick(['good', 'static-cpus', 'static-cpus', 'static-crash'] as const) }
}

const NAMES = ['red', 'blue'] as const

function makeEvent(random: Random): WorldEvent {
  const events: readonly [WorldEvent, ...WorldEvent[]] = [
    { kind: 'drain', seconds: random.between(200, 2000) },
    { kind: 'edit', name: random.pick(NAMES), behaviour: random.pick(['good', 'static-cpus', 'static-crash'] as const) },
    { kind: 'assign', name: random.pick(NAMES) },
    { kind: 'reboot' },
    { kind: 'power-loss' },
    { kind: 'lose-runtime' },
    { kind: 'lose-state', afterSeconds: random.between(0, 60) },
    { kind: 'kill-kubelet' },
    { kind: 'restart-agent', afterSeconds: random.between(1, 300) },
    { kind: 'rollback' },
    { kind: 'unassign' },
  ]
  return random.pick(events)
}

async function sweep(from: number, count: number, withCrash: boolean): Promise<{ failures: string[]; aside: number }> {
  const failures: string[] = []
  let aside = 0
  for (let seed = from; seed < from + count; seed += 1) {
    const counts: (() => number)[] = []
    const onWorld = ({ unit }: { unit: { managers: { aside: number } } }) => void counts.push(() => unit.managers.aside)
    await runSchedule(makeManagerSchedule(seed), { onWorld, ...(withCrash && { crash: makeCrash(seed) }) }).catch((error) =>
      failures.push(`seed ${seed}: ${onOneLine(errorMessage(error))}`),
    )
    for (const each of counts) aside += each()
  }
  return { failures, aside }
}

for (const withCrash of [false, true]) {
  t.test(`changes of the policy, ${withCrash ? 'with' : 'without'} a crash`, async (t) => {
    const { failures, aside } = await sweep(1, SEEDS, withCrash)
    t.same(failures, [])
    t.ok(aside >= SEEDS / 3, `${aside} states were set aside`)
  })
}

const later = (event: WorldEvent, afterSeconds = 900): Timed => ({ afterSeconds, event })
const edit = (behaviour: 'good' | 'static-cpus' | 'static-crash'): WorldEvent => ({ kind: 'edit', name: 'red', behaviour })

t.test('none, static, a rollback and none again, with a reboot and a lost /run in between', async (t) => {
  for (const activation of ['env', 'file', 'drop-in'] as const) {
    let managers = { met: 0, aside: 0 }
    const events = [
      ...[later(edit('good'), 0), later({ kind: 'assign', name: 'red' }, 1), later({ kind: 'drain', seconds: 50_000 })],
      ...[later(edit('static-cpus')), later({ kind: 'reboot' }), later({ kind: 'lose-runtime' }), later({ kind: 'kill-kubelet' }, 1)],
      ...[
        later(edit('good')),
        later(edit('static-crash')),
        later({ kind: 'power-loss' }),
        later(edit('static-cpus')),
        later({ kind: 'unassign' }),
      ],
    ]
    const settled = await runSchedule(
      { seed: 4, node: { activation, managers: true }, events },
      {
        onWorld: ({ unit }) => {
          managers = unit.managers
        },
      },
    )
    t.equal(settled.runs, 'local', activation)
    t.match(managers, { met: 0 }, activation)
    t.ok(managers.aside >= 5, `${managers.aside} states were set aside with ${activation}`)
  }
})
