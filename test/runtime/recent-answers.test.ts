// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { RuntimeAnswer, RuntimeStatus } from '../../src/ports/probes.ts'
import { RecentAnswers } from '../../src/runtime/recent-answers.ts'

const SOCKET = '/run/a.sock'
const UP: RuntimeAnswer<RuntimeStatus> = { ok: true, value: { runtimeReady: true } }
const DOWN: RuntimeAnswer<RuntimeStatus> = { ok: false, why: 'down', detail: 'Status of /run/a.sock: no answer within 10 s' }

/** A runtime whose answers come when the test says so, and a clock that goes when it says so. */
function open() {
  let nowUs = 1e9
  const questions: { socket: string; answer: (answer: RuntimeAnswer<RuntimeStatus>) => Promise<void> }[] = []
  const said: string[] = []
  const waits: number[] = []
  const sleepers: (() => void)[] = []
  let changes = 0
  let load: () => Promise<void> = async () => {}
  const log = {
    debug: () => {},
    info: (message: string) => void said.push(message),
    warn: (message: string, fields?: unknown) => void said.push(`${message}: ${JSON.stringify(fields)}`),
    error: () => {},
  }
  const answers = new RecentAnswers({
    runtime: {
      probe: async (socket) => {
        await load()
        return new Promise((resolve) => {
          const answer = async (given: RuntimeAnswer<RuntimeStatus>) => {
            resolve(given)
            await settle()
          }
          questions.push({ socket, answer })
        })
      },
    },
    clock: { now: () => ({ bootId: 'boot', monotonicUs: nowUs, wallMs: 0 }) },
    sleep: (ms) => {
      waits.push(ms)
      return new Promise((resolve) => sleepers.push(resolve))
    },
    log,
    waitMs: 2000,
    onChange: () => {
      changes++
    },
  })
  return {
    answers,
    questions,
    said,
    waits,
    changes: () => changes,
    failToLoad: () => {
      load = async () => {
        throw new Error('not there')
      }
    },
    /** Time goes by, and whoever sleeps wakes. */
    pass: async (seconds: number) => {
      nowUs += seconds * 1e6
      for (const wake of sleepers.splice(0)) wake()
      await settle()
    },
    /** Asks, and answers as soon as the question arrives. */
    ask: async (given: RuntimeAnswer<RuntimeStatus>, socket = SOCKET) => {
      const up = answers.isUp(socket)
      await settle()
      await questions.at(-1)?.answer(given)
      return up
    },
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
}

t.test('an answer holds for a few seconds', async (t) => {
  const { answers, ask, pass, questions } = open()
  t.equal(await ask(UP), true)
  await pass(2)
  t.equal(await answers.isUp(SOCKET), true)
  t.equal(questions.length, 1)
  await pass(2)
  t.equal(await ask(DOWN), false)
  t.equal(questions.length, 2)
})

t.test('a runtime that accepts connections and never answers is down, and holds a pass once for 2 s at most', async (t) => {
  const { answers, ask, pass, questions, waits, said } = open()
  t.equal(await ask(UP), true)
  await pass(60)
  waits.length = 0
  const first = answers.isUp(SOCKET)
  await pass(2)
  t.equal(await first, false)
  for (let second = 3; second < 10; second++) {
    t.equal(await answers.isUp(SOCKET), false, 'at once')
    await pass(1)
  }
  t.same(waits, [2000])
  t.equal(questions.length, 2, 'one question at a time')
  await questions[1]?.answer(DOWN)
  t.equal(await answers.isUp(SOCKET), false)
  const fields = JSON.stringify({ socket: SOCKET, detail: 'Status of /run/a.sock: no answer within 10 s' })
  t.same(said, [`the container runtime does not answer: ${fields}`])
})

t.test('a runtime that is slow, but answers, is up from its first answer on', async (t) => {
  const { answers, pass, questions, changes } = open()
  const first = answers.isUp(SOCKET)
  await pass(2)
  t.equal(await first, false)
  await pass(4)
  await questions[0]?.answer(UP)
  t.equal(changes(), 1, 'the loop is woken')
  t.equal(await answers.isUp(SOCKET), true)
  await pass(4)
  const next = answers.isUp(SOCKET)
  await pass(2)
  t.equal(await next, true, 'the last answer is still young')
  await pass(3.9)
  t.equal(await answers.isUp(SOCKET), true)
  await pass(0.1)
  t.equal(await answers.isUp(SOCKET), false, 'until it is older than a call may take')
  await questions[1]?.answer(UP)
  t.equal(await answers.isUp(SOCKET), true)
})

t.test('what says nothing of the runtime is not known', async (t) => {
  const world = open()
  t.equal(await world.ask({ ok: false, why: 'not-allowed', detail: 'permission denied' }), undefined)
  await world.pass(5)
  t.equal(await world.ask({ ok: false, why: 'not-cri', detail: 'gRPC status 12' }), undefined)
  await world.pass(5)
  world.failToLoad()
  t.equal(await world.answers.isUp(SOCKET), undefined)
})

t.test('it is said once that it does not answer, and that it answers again', async (t) => {
  const { ask, pass, said, changes } = open()
  for (const answer of [UP, UP, DOWN, DOWN, UP, UP]) {
    await ask(answer)
    await pass(4)
  }
  t.match(said, [/does not answer/, /answers again/])
  t.equal(said.length, 2)
  t.equal(changes(), 3)
})

t.test('a runtime that says that it is not ready is up, and that is said', async (t) => {
  const { ask, said } = open()
  t.equal(await ask({ ok: true, value: { runtimeReady: false } }), true)
  t.match(said, [/reports that it is not ready/])
})

t.test('two runtimes are asked side by side, and no number of sockets is remembered for ever', async (t) => {
  const { answers, ask, questions } = open()
  const both = Promise.all([answers.isUp('/a'), answers.isUp('/b')])
  await settle()
  await questions[1]?.answer(UP)
  await questions[0]?.answer(DOWN)
  t.same(await both, [false, true])
  for (let index = 0; index < 10; index++) await ask(UP, `/s${index}`)
  const before = questions.length
  await ask(UP, '/a')
  t.equal(questions.length, before + 1, 'it was forgotten')
})
