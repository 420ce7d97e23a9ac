// SPDX-License-Identifier: Apache-2.0
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Notifier, takeSupervision } from '../../src/systemd/notify.ts'

t.test('removes the variables of systemd from the environment', async (t) => {
  const listen = { LISTEN_PID: '42', LISTEN_FDS: '2', LISTEN_FDNAMES: 'other:notify', LISTEN_PIDFDID: '7' }
  const env = { PATH: '/bin', NOTIFY_SOCKET: '/run/systemd/notify', WATCHDOG_USEC: '180000000', WATCHDOG_PID: '42', ...listen }
  t.same(takeSupervision(env, 42), { socket: '/run/systemd/notify', connected: 4, watchdogUs: 180e6 })
  t.same(env, { PATH: '/bin' })
  t.same(takeSupervision({}, 42), { socket: undefined, connected: undefined, watchdogUs: undefined })
  t.match(takeSupervision({ ...listen }, 41), { connected: undefined }, 'descriptors of another process')
  t.match(takeSupervision({ ...listen, LISTEN_FDNAMES: 'other:else' }, 42), { connected: undefined })
})

t.test('where systemd has connected to its socket, a message is a write', async (t) => {
  const directory = t.testdir()
  const connected = openSync(join(directory, 'messages'), 'a')
  t.teardown(() => closeSync(connected))
  const notifier = new Notifier({ socket: '/run/socket', connected, log: SILENT, command: '/none' })
  notifier.send({ READY: '1', STATUS: 'settled: local' })
  await notifier.settled()
  t.equal(readFileSync(join(directory, 'messages'), 'utf8'), 'READY=1\nSTATUS=settled: local')
})

t.test('a write that fails is made up for by systemd-notify', async (t) => {
  const { calls, directory } = world(t, 'echo "$*" >> calls')
  const connected = openSync(join(directory, 'systemd-notify'), 'r')
  t.teardown(() => closeSync(connected))
  const notifier = new Notifier({ socket: '/run/socket', connected, log: SILENT, command: join(directory, 'systemd-notify') })
  notifier.send({ READY: '1' })
  await notifier.settled()
  t.same(calls(), ['READY=1'])
})

t.test('a watchdog for another process is ignored', async (t) => {
  const cases: [Record<string, string>, number | undefined][] = [
    [{ WATCHDOG_USEC: '3000000' }, 3e6],
    [{ WATCHDOG_USEC: '3000000', WATCHDOG_PID: '42' }, 3e6],
    [{ WATCHDOG_USEC: '3000000', WATCHDOG_PID: '41' }, undefined],
    [{ WATCHDOG_USEC: '0' }, undefined],
    [{ WATCHDOG_USEC: 'infinity' }, undefined],
    [{ WATCHDOG_USEC: '' }, undefined],
  ]
  for (const [env, watchdogUs] of cases)
    t.same(takeSupervision({ ...env }, 42), { socket: undefined, connected: undefined, watchdogUs }, JSON.stringify(env))
})

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** With a shell script as systemd-notify. */
function world(t: Test, script: string, socket: string | undefined = '/run/socket', timeoutMs = 3600_000) {
  const directory = t.testdir()
  const command = join(directory, 'systemd-notify')
  writeFileSync(command, `#!/bin/sh\ncd ${directory}\n${script}\n`, { mode: 0o755 })
  const logged: string[] = []
  const note = (message: string) => void logged.push(message)
  const log = { debug: note, info: note, warn: note, error: note }
  const calls = () => (existsSync(join(directory, 'calls')) ? readFileSync(join(directory, 'calls'), 'utf8').trim().split('\n') : [])
  return { notifier: new Notifier({ socket, log, command, timeoutMs }), calls, logged, directory }
}

t.test('passes one argument per variable, and the socket only to the child', async (t) => {
  const { notifier, calls } = world(t, 'for each; do echo "$each" >> calls; done; echo "$NOTIFY_SOCKET" >> calls')
  notifier.send({ READY: '1', STATUS: 'settled: kube-system/a:kubelet@1' })
  await notifier.settled()
  t.same(calls(), ['READY=1', 'STATUS=settled: kube-system/a:kubelet@1', '/run/socket'])
  t.equal(process.env.NOTIFY_SOCKET, undefined)
})

t.test('starts nothing without a socket', async (t) => {
  const logged: string[] = []
  const note = (message: string) => void logged.push(message)
  const notifier = new Notifier({ socket: undefined, log: { debug: note, info: note, warn: note, error: note }, command: '/none' })
  notifier.send({ READY: '1' })
  await notifier.settled()
  t.same(logged, [], 'a missing program would be logged')
})

t.test('runs one child at a time and merges the messages that come meanwhile', async (t) => {
  const { notifier, calls } = world(t, 'echo "$*" >> calls; true')
  notifier.send({ READY: '1', STATUS: 'one' })
  notifier.send({ WATCHDOG: '1', STATUS: 'two' })
  notifier.send({ STATUS: 'three' })
  await notifier.settled()
  t.same(calls(), ['READY=1 STATUS=one', 'WATCHDOG=1 STATUS=three'])
})

t.test('logs a failure once, and its end once', async (t) => {
  const { notifier, logged, directory } = world(t, 'if [ ! -e well ]; then echo "no such socket" >&2; exit 1; fi')
  for (let count = 0; count < 3; count++) {
    notifier.send({ WATCHDOG: '1' })
    await notifier.settled()
  }
  t.same(logged, ['cannot notify systemd that the agent works: no such socket'])
  writeFileSync(join(directory, 'well'), '')
  notifier.send({ WATCHDOG: '1' })
  await notifier.settled()
  t.same(logged.slice(1), ['systemd can be notified again'])
})

t.test('kills a child that hangs', async (t) => {
  const { notifier, logged } = world(t, 'exec sleep 3600', '/run/socket', 50)
  notifier.send({ WATCHDOG: '1' })
  await notifier.settled()
  t.same(logged, ['cannot notify systemd that the agent works: timed out after 0.05 s'])
})

t.test('a missing program is logged and does no harm', async (t) => {
  const logged: string[] = []
  const log = { debug() {}, info() {}, warn: (message: string) => void logged.push(message), error() {} }
  const notifier = new Notifier({ socket: '/run/socket', log, command: '/does/not/exist' })
  notifier.send({ READY: '1' })
  await notifier.settled()
  t.match(logged, [/cannot notify systemd .*ENOENT/])
})
