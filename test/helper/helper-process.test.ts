// SPDX-License-Identifier: Apache-2.0
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { HelperProcess } from '../../src/helper/helper-process.ts'
import { LimitError } from '../../src/values/errors.ts'
import { isNumber, isText } from '../../src/values/json-shape.ts'

// Each test starts a process or two.
t.setTimeout(120_000)

/** Answers with what a method of this name would; `pid` tells one process from the next. */
const PROGRAM = `
import { createInterface } from 'node:readline'
const say = (reply) => process.stdout.write(JSON.stringify(reply) + '\\n')
const kept = []
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, args, context, memory, cancel } = JSON.parse(line)
  const answer = (result) => say({ id, ok: true, result, memory: (memory ?? 0) + 1 })
  if (cancel !== undefined) kept.push(cancel)
  else if (method === 'pid') answer(process.pid)
  else if (method === 'echo') answer(args[0])
  else if (method === 'context') answer(context)
  else if (method === 'memory') answer(memory)
  else if (method === 'variable') answer(process.env[args[0]] ?? '')
  else if (method === 'cancelled') answer(kept.length)
  else if (method === 'fail') say({ id, ok: false, detail: 'it cannot' })
  else if (method === 'die') process.kill(process.pid, 'SIGKILL')
  else if (method === 'garbage') process.stdout.write('Segmentation fault\\n')
  else if (method === 'flood') process.stdout.write('x'.repeat(17 << 20))
  else if (method === 'spin') for (;;) {}
  else if (method === 'grow') { const all = []; for (;;) all.push(new Array(1e5).fill(all.length)) }
}).on('close', () => process.exit(0))
`

function open(t: Test, options: Partial<ConstructorParameters<typeof HelperProcess>[0]> = {}): HelperProcess {
  const program = join(t.testdir({}), 'helper.mjs')
  writeFileSync(program, PROGRAM)
  const command = [process.execPath, '--max-old-space-size=40', program]
  const helper = new HelperProcess({ command, context: () => 'where it runs', idleMs: 60_000, ...options })
  t.teardown(() => helper.end())
  return helper
}

async function untilEnded(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const asPid = { check: isNumber, limitMs: 60_000 }
const asText = { check: isText, limitMs: 60_000 }

t.test('one process answers several questions, in any order, each with its own answer', async (t) => {
  const helper = open(t)
  const [first, text, second] = await Promise.all([
    helper.ask('pid', [], asPid),
    helper.ask('echo', ['\u{1F600} é\n'], asText),
    helper.ask('pid', [], asPid),
  ])
  t.equal(first, second)
  t.not(first, process.pid)
  t.equal(text, '\u{1F600} é\n')
  t.equal(await helper.ask('context', [], asText), 'where it runs')
})

t.test('it has the environment of the agent, for the plugins of the kubeconfig and the switches of the client', async (t) => {
  t.teardown(() => void delete process.env.DISABLE_HTTP2)
  process.env.DISABLE_HTTP2 = '1'
  t.equal(await open(t).ask('variable', ['DISABLE_HTTP2'], asText), '1')
})

t.test('it gets variables of its own, which the agent itself does not have', async (t) => {
  const helper = open(t, { env: { NODE_COMPILE_CACHE: t.testdir({}), NOT_THERE: undefined } })
  t.equal(await helper.ask('variable', ['NODE_COMPILE_CACHE'], asText), t.testdirName)
  t.equal(await helper.ask('variable', ['NOT_THERE'], asText), '')
  t.equal(process.env.NODE_COMPILE_CACHE, undefined)
})

t.test('what a helper wants kept reaches the next one', async (t) => {
  const helper = open(t)
  await helper.ask('echo', [''], asText)
  await t.rejects(helper.ask('die', [], asText), /^the helper ended: killed by SIGKILL/)
  t.equal(await helper.ask('memory', [], asPid), 1)
})

t.test('a failure is an error, and the helper goes on', async (t) => {
  const helper = open(t)
  const pid = await helper.ask('pid', [], asPid)
  await t.rejects(helper.ask('fail', [], asText), { message: 'it cannot' })
  await t.rejects(helper.ask('echo', [1], asText), { message: 'the helper gave no valid answer to echo' })
  t.equal(await helper.ask('pid', [], asPid), pid)
})

for (const [how, message] of [
  ['die', /^the helper ended: killed by SIGKILL/],
  ['garbage', /^the helper printed an invalid answer/],
  ['flood', /^the helper ended: a line of more than 16777216 characters/],
  ['grow', /^the helper ended: it took too much memory/],
] as const) {
  t.test(`a helper that does this takes all questions with it, and the next question starts another: ${how}`, async (t) => {
    const helper = open(t)
    const pid = await helper.ask('pid', [], asPid)
    const waiting = helper.ask('nothing', [], asText)
    await Promise.all([t.rejects(helper.ask(how, [], asText), message), t.rejects(waiting, message)])
    t.not(await helper.ask('pid', [], asPid), pid)
  })
}

t.test('a helper that does not answer in time is ended', async (t) => {
  const helper = open(t)
  const pid = await helper.ask('pid', [], asPid)
  await t.rejects(helper.ask('nothing', [], { ...asText, limitMs: 50 }), /^no answer to nothing within 0.05 s/)
  t.not(await helper.ask('pid', [], asPid), pid)
})

t.test('what takes too long is to blame for it only where nothing else was asked', async (t) => {
  const helper = open(t)
  const tooLong = { ...asText, limitMs: 50 }
  const late = 'no answer to nothing within 0.05 s'
  await t.rejects(helper.ask('nothing', [], tooLong), new LimitError(late))
  const other = helper.ask('nothing', [], asText)
  await Promise.all([t.rejects(helper.ask('nothing', [], tooLong), new Error(late)), t.rejects(other, new Error(late))])
  const stopper = new AbortController()
  const cancelled = helper.ask('nothing', [], { ...asText, signal: stopper.signal })
  stopper.abort()
  await t.rejects(cancelled)
  await t.rejects(helper.ask('nothing', [], tooLong), new Error(late), 'it may still be busy with what is not wanted any more')
})

t.test('a question that is no longer asked is cancelled, and the helper goes on', async (t) => {
  const helper = open(t)
  const pid = await helper.ask('pid', [], asPid)
  const stopper = new AbortController()
  const asked = helper.ask('nothing', [], { ...asText, signal: stopper.signal })
  stopper.abort()
  await t.rejects(asked, /^aborted/)
  t.equal(await helper.ask('cancelled', [], asPid), 1)
  t.equal(await helper.ask('pid', [], asPid), pid)
  await t.rejects(helper.ask('pid', [], { ...asPid, signal: stopper.signal }), /^aborted/)
})

t.test('a helper with nothing to do ends', async (t) => {
  const helper = open(t, { idleMs: 1 })
  const pid = await helper.ask('pid', [], asPid)
  await untilEnded(pid)
  t.not(await helper.ask('pid', [], asPid), pid)
})

t.test('a program that cannot be started is an error', async (t) => {
  const helper = open(t, { command: ['/nonexistent/node'] })
  await t.rejects(helper.ask('pid', [], asPid), /^the helper ended: cannot start \/nonexistent\/node: ENOENT/)
})

t.test('the end of the agent is the end of its helper', async (t) => {
  const helper = open(t)
  const waiting = helper.ask('nothing', [], asText)
  helper.end()
  await t.rejects(waiting, /^the agent ends/)
})

t.test('a request that is not wanted any more holds others up until its own limit at most', async (t) => {
  const helper = open(t)
  const first = await helper.ask('pid', [], asPid)
  const stopper = new AbortController()
  const spinning = helper.ask('spin', [], { check: isText, limitMs: 500, signal: stopper.signal })
  stopper.abort()
  await t.rejects(spinning, { message: 'aborted' })
  const behind = helper.ask('pid', [], asPid)
  await t.rejects(behind, { name: 'Error', message: 'no answer to spin within 0.5 s' }, 'which says nothing about the one behind')
  t.not(await helper.ask('pid', [], asPid), first)
})
