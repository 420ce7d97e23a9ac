// SPDX-License-Identifier: Apache-2.0
import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  type CommandEnd,
  type CommandOptions,
  type CommandResult,
  describeEnd,
  describeFailure,
  runCommand,
  runCommandSync,
  succeeded,
} from '../../src/process/run-command.ts'

// Starts many processes.
t.setTimeout(240_000)

const LIMITS = { timeoutMs: 60_000, maxOutputBytes: 1 << 16 }
const node = (program: string) => ['-e', program] as const
/** Prints `bytes` to a stream, then waits to be killed. */
const flood = (stream: 'stdout' | 'stderr', bytes: number) =>
  node(`process.${stream}.write('x'.repeat(${bytes})); setInterval(() => {}, 1000)`)
const HANG = node('setInterval(() => {}, 1000)')

/** The two variants, under one test each. */
const VARIANTS = [
  ['runCommand', runCommand],
  ['runCommandSync', async (...parameters: Parameters<typeof runCommandSync>): Promise<CommandResult> => runCommandSync(...parameters)],
] as const

for (const [name, run] of VARIANTS) {
  t.test(`${name}: exit codes and output`, async (t) => {
    t.strictSame(await run('/bin/true', [], LIMITS), { end: { kind: 'exited', code: 0 }, stdout: '', stderr: '' })
    t.match(await run('/bin/false', [], LIMITS), { end: { kind: 'exited', code: 1 } })
    const program = node(`process.stdout.write('out'); process.stderr.write('é'); process.exitCode = 7`)
    t.strictSame(await run(process.execPath, program, LIMITS), { end: { kind: 'exited', code: 7 }, stdout: 'out', stderr: 'é' })
  })

  t.test(`${name}: arguments are passed as they are, without a shell`, async (t) => {
    const args = ['$HOME', 'a b', '; exit 3', '*', '']
    const { stdout } = await run(process.execPath, ['-p', 'JSON.stringify(process.argv.slice(1))', '--', ...args], LIMITS)
    t.strictSame(JSON.parse(stdout), args)
  })

  t.test(`${name}: a command that exceeds its time is killed`, async (t) => {
    // This program never ends by itself.
    t.match(await run(process.execPath, HANG, { ...LIMITS, timeoutMs: 100 }), { end: { kind: 'timed-out', timeoutMs: 100 } })
  })

  t.test(`${name}: a command that prints too much is killed, on either stream`, async (t) => {
    for (const stream of ['stdout', 'stderr'] as const) {
      const result = await run(process.execPath, flood(stream, 5000), { ...LIMITS, maxOutputBytes: 1000 })
      t.strictSame(result.end, { kind: 'too-much-output', maxOutputBytes: 1000 }, stream)
      t.ok(result[stream].length <= 1000, 'the output is cut at the limit')
    }
    const { end, stdout } = await run(process.execPath, node(`process.stdout.write('x'.repeat(1000))`), { ...LIMITS, maxOutputBytes: 1000 })
    t.strictSame(end, { kind: 'exited', code: 0 }, 'exactly the limit is not too much')
    t.equal(stdout.length, 1000)
  })

  t.test(`${name}: a command that cannot be started`, async (t) => {
    const directory = t.testdir({ plain: 'no program' })
    for (const [file, code] of [
      ['/no/such/command', 'ENOENT'],
      [join(directory, 'plain'), 'EACCES'],
    ] as const) {
      t.strictSame(await run(file, [], LIMITS), { end: { kind: 'not-started', file, code }, stdout: '', stderr: '' })
    }
    t.match(await run('/bin/true', ['x'.repeat(4 << 20)], LIMITS), { end: { kind: 'not-started', code: 'E2BIG' } })
    t.match(await run('/bin/true', ['a\0b'], LIMITS), { end: { kind: 'not-started', code: 'ERR_INVALID_ARG_VALUE' } })
  })

  t.test(`${name}: a command that a signal ends`, async (t) => {
    const program = node(`process.stderr.write('dying', () => process.kill(process.pid, 'SIGKILL'))`)
    t.strictSame(await run(process.execPath, program, LIMITS), {
      end: { kind: 'signalled', signal: 'SIGKILL' },
      stdout: '',
      stderr: 'dying',
    })
  })

  t.test(`${name}: env replaces the environment; without it the command inherits`, async (t) => {
    process.env.RUN_COMMAND_TEST = 'inherited'
    t.teardown(() => delete process.env.RUN_COMMAND_TEST)
    const print = node(`process.stdout.write(String(process.env.RUN_COMMAND_TEST))`)
    t.match(await run(process.execPath, print, LIMITS), { stdout: 'inherited' })
    t.match(await run(process.execPath, print, { ...LIMITS, env: { PATH: '/bin' } }), { stdout: 'undefined' })
    t.match(await run('true', [], { ...LIMITS, env: { PATH: '/nowhere' } }), { end: { kind: 'not-started', code: 'ENOENT' } })
  })

  t.test(`${name}: standard input is empty`, async (t) => {
    t.match(await run('/bin/cat', [], LIMITS), { end: { kind: 'exited', code: 0 }, stdout: '' })
  })
}

t.test('standard input and working directory', async (t) => {
  t.match(await runCommand('/bin/cat', [], { ...LIMITS, input: 'to be read' }), { stdout: 'to be read' })
  t.match(await runCommand('/bin/pwd', [], { ...LIMITS, cwd: '/' }), { stdout: '/\n' })
  const unread = await runCommand('/bin/true', [], { ...LIMITS, input: 'x'.repeat(1 << 20) })
  t.ok(succeeded(unread), 'input that the command does not read is no failure')
})

t.test('of much output the first and the last lines are kept, and the command goes on', async (t) => {
  const keep = (program: string, limits = {}) =>
    runCommand(process.execPath, node(program), { ...LIMITS, maxOutputBytes: 1000, keepsEnds: true, ...limits })
  const lines = (count: number) => `for (let at = 0; at < ${count}; at++) console.error('line ' + at)`
  const all = (await keep(lines(120))).stderr
  t.equal(all, Array.from({ length: 120 }, (_, at) => `line ${at}\n`).join(''), 'as much as the limit')
  const { end, stderr } = await keep(`${lines(100_000)}; process.exitCode = 3`)
  t.strictSame(end, { kind: 'exited', code: 3 })
  t.match(stderr, /^line 0\n(?:line \d+\n)+line 99999\n$/)
  t.ok(stderr.length > 900 && stderr.length <= 1000, String(stderr.length))
  t.match(await keep(`process.stdout.write('x'.repeat(5000))`), { stdout: '' }, 'no part of a line')
  t.match(await keep(`${lines(5)}; setInterval(() => {}, 1000)`, { timeoutMs: 1000 }), { end: { kind: 'timed-out' } })
  t.match(await keep('', { signal: AbortSignal.abort() }), { end: { kind: 'aborted' } })
  t.match(await runCommand('/no/such', [], { ...LIMITS, keepsEnds: true }), { end: { kind: 'not-started', code: 'ENOENT' } })
  t.match(await keep(`process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)`), {
    end: { kind: 'signalled', signal: 'SIGTERM' },
  })
})

t.test('a command that is killed is let go, though another process has its output', async (t) => {
  for (const keepsEnds of [true, false]) {
    const run = (limits: Partial<CommandOptions>) =>
      runCommand('/bin/sh', ['-c', 'echo said >&2; sleep 20 & wait'], { ...LIMITS, keepsEnds, ...limits })
    const begun = performance.now()
    const timedOut = await run({ timeoutMs: 1000 })
    t.strictSame(timedOut, { end: { kind: 'timed-out', timeoutMs: 1000 }, stdout: '', stderr: 'said\n' })
    const aborted = await run({ signal: AbortSignal.timeout(1000) })
    t.strictSame(aborted, { end: { kind: 'aborted' }, stdout: '', stderr: 'said\n' })
    t.ok(performance.now() - begun < 15_000, 'as long as the other process lives')
  }
})

t.test('without a free file descriptor, a command is not started', async (t) => {
  const program = `
    import { openSync } from 'node:fs'
    import { runCommand } from '${new URL('../../src/process/run-command.ts', import.meta.url)}'
    try {
      for (;;) openSync('/dev/null')
    } catch {}
    const run = (keepsEnds) => runCommand('/bin/true', [], { timeoutMs: 60_000, maxOutputBytes: 1000, keepsEnds })
    console.log(JSON.stringify([await run(true), await run(false)]))
    process.exit()`
  const node = [process.execPath, ...process.execArgv, '--input-type=module', '-e', program]
  const { end, stdout, stderr } = await runCommand('/bin/sh', ['-c', 'ulimit -n 64; exec "$@"', 'sh', ...node], LIMITS)
  t.strictSame(end, { kind: 'exited', code: 0 }, stderr)
  const notStarted = { end: { kind: 'not-started', file: '/bin/true', code: 'EMFILE' }, stdout: '', stderr: '' }
  t.strictSame(JSON.parse(stdout), [notStarted, notStarted])
})

t.test('an aborted command is killed', async (t) => {
  const controller = new AbortController()
  const running = runCommand(process.execPath, HANG, { ...LIMITS, signal: controller.signal })
  setTimeout(() => controller.abort(), 50)
  t.match(await running, { end: { kind: 'aborted' } })
  t.match(
    await runCommand(process.execPath, HANG, { ...LIMITS, signal: controller.signal }),
    { end: { kind: 'aborted' } },
    'before it starts',
  )
})

/** A process in uninterruptible sleep, which does not call back until it wakes. */
function fallAsleep() {
  const seen = { started: 0, unreferenced: 0, wake: () => {} }
  const unref = () => {
    seen.unreferenced += 1
  }
  const execute = (...[, , , callback]: Parameters<NonNullable<Parameters<typeof runCommand>[3]>>): ChildProcess => {
    seen.started += 1
    seen.wake = () => callback(null, '', '')
    return { unref } as ChildProcess
  }
  return { seen, execute }
}

t.test('a command that does not end when it is killed is left behind', async (t) => {
  const { seen, execute } = fallAsleep()
  const begun = performance.now()
  const result = await runCommand('journalctl', [], { ...LIMITS, timeoutMs: 100 }, execute)
  t.strictSame(result, { end: { kind: 'timed-out', timeoutMs: 100 }, stdout: '', stderr: '' })
  t.ok(performance.now() - begun >= 500, 'it has a moment to end')
  t.equal(seen.unreferenced, 1)
  seen.wake()
})

t.test('commands that are left behind do not add up', async (t) => {
  const { seen, execute } = fallAsleep()
  const run = (file = 'journalctl') => runCommand(file, [], { ...LIMITS, timeoutMs: 100 }, execute)
  const timedOut = { end: { kind: 'timed-out', timeoutMs: 100 }, stdout: '', stderr: '' }
  t.strictSame(await run(), timedOut)
  const { wake } = seen
  for (const started of [2, 3, 4, 5]) {
    t.strictSame(await run(), timedOut)
    t.equal(seen.started, started, 'it may be stuck for a reason of its own')
  }
  t.strictSame(await run(), timedOut)
  t.equal(seen.started, 5, 'the next would sleep too')
  const other = run('systemctl')
  t.equal(seen.started, 6, 'another program may well work')
  seen.wake()
  t.match(await other, { end: { kind: 'exited' } })
  wake()
  const again = run()
  t.equal(seen.started, 7, 'the disk is there again')
  seen.wake()
  t.match(await again, { end: { kind: 'exited' } })
})

t.test('open files are handed to a command, which shares them', async (t) => {
  const path = join(t.testdir({ file: '' }), 'file')
  const descriptor = openSync(path, 'a')
  const program = node(`require('node:fs').writeSync(3, 'written by the child')`)
  t.match(runCommandSync(process.execPath, program, { ...LIMITS, descriptors: [descriptor] }), { end: { kind: 'exited', code: 0 } })
  closeSync(descriptor)
  t.equal(readFileSync(path, 'utf8'), 'written by the child')
})

t.test('only exit code 0 is success', async (t) => {
  const result = (end: CommandEnd): CommandResult => ({ end, stdout: '', stderr: '' })
  t.equal(succeeded(result({ kind: 'exited', code: 0 })), true)
  t.equal(succeeded(result({ kind: 'exited', code: 1 })), false)
  t.equal(succeeded(result({ kind: 'aborted' })), false)
})

t.test('how ends are described', async (t) => {
  const ends: [CommandEnd, string][] = [
    [{ kind: 'exited', code: 3 }, 'exit code 3'],
    [{ kind: 'signalled', signal: 'SIGSEGV' }, 'killed by SIGSEGV'],
    [{ kind: 'timed-out', timeoutMs: 1500 }, 'timed out after 1.5 s'],
    [{ kind: 'too-much-output', maxOutputBytes: 1 << 20 }, 'more than 1024 KiB of output'],
    [{ kind: 'aborted' }, 'aborted'],
    [{ kind: 'not-started', file: '/no/command', code: 'ENOENT' }, 'cannot start /no/command: ENOENT'],
  ]
  for (const [end, text] of ends) {
    t.equal(describeEnd(end), text)
    t.equal(describeFailure({ end, stdout: 'ignored', stderr: ' \n' }), text)
  }
  const stderr = `\n${'x'.repeat(600)}\n`
  t.equal(describeFailure({ end: { kind: 'exited', code: 1 }, stdout: '', stderr }), 'x'.repeat(500), "the command's own message, cut")
  t.equal(describeFailure({ end: { kind: 'timed-out', timeoutMs: 2000 }, stdout: '', stderr }), 'timed out after 2 s')
})
