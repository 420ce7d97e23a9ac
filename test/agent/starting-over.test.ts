// SPDX-License-Identifier: Apache-2.0
/** A pass of the loop that still waits when the agent has to end, or to start over. */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { live, runAgent } from '../../src/compose/agent.ts'
import { resolveSettings } from '../../src/settings/resolve-settings.ts'
import { BootClock } from '../../src/systemd/boot-clock.ts'
import { Heartbeat } from '../../src/systemd/heartbeat.ts'
import type { Supervision } from '../../src/systemd/notify.ts'
import { silentLog } from '../checkpoint/silent-log.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { until } from '../until.ts'

t.setTimeout(120_000)

/** Longer than the agent waits for a pass when it ends. */
const SLOW = `#!/bin/sh
cd "$(dirname "$0")"
echo begun >> calls
sleep 2
echo over >> calls
`

interface More {
  readonly adopt?: 'true'
  readonly kubeconfig?: string
  /** Whether a setting says how the node is called. */
  readonly isNamed?: false
}

/**
 * An agent that has not begun to live. It follows a directory, or else the cluster of this
 * kubeconfig. Empty: the file does not exist.
 */
function prepare(t: Test, systemctl: string, more: More = {}) {
  const directory = t.testdir({ manifests: {}, state: {}, run: {} })
  const path = (name: string) => join(directory, name)
  writeFileSync(path('systemctl'), systemctl, { mode: 0o755 })
  const { kubeconfig, isNamed = true, ...others } = more
  if (kubeconfig) writeFileSync(path('kubelet.conf'), kubeconfig)
  const flags = {
    ...(isNamed && { nodeName: 'worker-1' }),
    ...(kubeconfig === undefined ? { manifestDir: path('manifests') } : { kubeconfig: path('kubelet.conf') }),
    dynamicConfigDir: path('state'),
    runtimeDir: path('run'),
    envFile: path('state/kubelet.env'),
    systemctl: path('systemctl'),
    systemBus: path('no-bus'),
    ...others,
  }
  const resolved = resolveSettings({ flags, env: {}, file: { kind: 'absent', path: '' } })
  if (!resolved.ok) throw new Error(resolved.problems.join())
  const { settings } = resolved
  const clock = new BootClock()
  const stop = new AbortController()
  const world = {
    liveSettings: { current: () => settings, reread: async () => {}, onReread: () => {} },
    heartbeat: new Heartbeat({ clock, watchdogUs: undefined, send: () => {} }),
    clock,
    yaml: IN_PLACE,
    standIn: [],
    helperProgram: { command: ['/bin/false'], env: {} },
    yamlChild: '',
    log: silentLog(),
  }
  return { world, stop, path, resolved }
}

/** One life of an agent, whose first pass waits for a slow systemctl. */
async function start(t: Test, more: More = {}) {
  const { world, stop, path } = prepare(t, SLOW, more)
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const life = live(world, stop.signal)
  const calls = () => (existsSync(path('calls')) ? readFileSync(path('calls'), 'utf8').trim().split('\n') : [])
  await until(() => calls().length > 0, 'the first pass asks systemd')
  return { life, stop, calls, binding: path('state/meta/cluster') }
}

/** Each change of that directory wakes the agent. */
function untilSeen(path: (name: string) => string, isSeen: () => boolean): Promise<void> {
  return until(
    () => {
      writeFileSync(path('state/requests/none'), String(Math.random()))
      return isSeen()
    },
    'the agent sees it',
    100,
  )
}

t.test('state of another node is not opened before the pass that works with the old one is over', async (t) => {
  const { life, calls, binding } = await start(t)
  writeFileSync(binding, JSON.stringify({ nodeName: 'worker-2', caHashes: [] }))
  mock.timers.tick(60_000)
  t.match(await life, /another cluster or machine/)
  t.equal(calls().at(-1), 'over')
})

t.test('an agent that is told to end does not wait for it, nor for how kubelet calls its node', async (t) => {
  for (const more of [{}, { isNamed: false }] as const) {
    const { life, stop, calls } = await start(t, more)
    stop.abort('SIGTERM')
    t.equal(await life, 'SIGTERM')
    t.same(calls(), ['begun'])
    mock.timers.reset()
  }
})

/** An API server that accepts connections, and says nothing. */
async function startSilentServer(t: Test) {
  const connections = new Set<Socket>()
  const server = createServer((socket) => {
    connections.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of connections) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const cluster = { name: 'c', cluster: { server: `https://127.0.0.1:${address.port}` } }
  const user = { name: 'u', user: { token: 'secret' } }
  const context = { name: 'x', context: { cluster: 'c', user: 'u' } }
  const kubeconfig = { clusters: [cluster], users: [user], contexts: [context], 'current-context': 'x' }
  return { kubeconfig: JSON.stringify(kubeconfig), connections }
}

t.test('an API server that says nothing does not keep the agent from its first pass', async (t) => {
  const { kubeconfig, connections } = await startSilentServer(t)
  const { world, stop, path } = prepare(t, '#!/bin/sh\n>"$(dirname "$0")/asked"\nexit 1\n', { kubeconfig })
  const life = live(world, stop.signal)
  await until(() => connections.size > 0 && existsSync(path('asked')), 'systemd is asked, and the server does not answer')
  stop.abort('SIGTERM')
  t.equal(await life, 'SIGTERM')
})

t.test('an agent that is told to end does not wait for an API server that says nothing', async (t) => {
  const { kubeconfig, connections } = await startSilentServer(t)
  const { world, stop } = prepare(t, '#!/bin/sh\nexit 1\n', { kubeconfig })
  const life = live(world, stop.signal)
  await until(() => connections.size > 0, 'the agent connects')
  stop.abort('SIGTERM')
  t.equal(await life, 'SIGTERM')
})

t.test('an agent without a kubeconfig looks at its node all the same', async (t) => {
  const { world, stop, path } = prepare(t, '#!/bin/sh\n>"$(dirname "$0")/asked"\nexit 1\n', { kubeconfig: '' })
  const life = live(world, stop.signal)
  await until(() => existsSync(path('asked')), 'systemd is asked')
  stop.abort('SIGTERM')
  t.equal(await life, 'SIGTERM')
})

t.test('a signal to reload never finds the agent without an answer to it', async (t) => {
  const { world, path, resolved } = prepare(t, '#!/bin/sh\nexit 1\n')
  let removed = 0
  const onRemove = (name: string | symbol) => {
    if (name === 'SIGHUP') removed += 1
  }
  const listeners = process.listenerCount('SIGHUP')
  process.on('removeListener', onRemove)
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => {
    mock.timers.reset()
    process.off('removeListener', onRemove)
    process.off('SIGHUP', process.listeners('SIGHUP').at(-1) ?? (() => {}))
  })
  const start = { settings: { ...resolved.settings, logLevel: 'error' } as const, reread: async () => resolved }
  const ended = runAgent(start, { ...world, supervision: { socket: undefined, connected: undefined, watchdogUs: undefined } })
  const binding = path('state/meta/cluster')
  const isOurs = () => existsSync(binding) && readFileSync(binding, 'utf8').includes('worker-1')
  await until(() => isOurs() && existsSync(path('state/requests')), 'it lives')
  writeFileSync(binding, JSON.stringify({ nodeName: 'worker-2', caHashes: [] }))
  await until(() => {
    mock.timers.tick(60_000)
    return isOurs()
  }, 'it starts over')
  t.equal(process.listenerCount('SIGHUP'), listeners + 1)
  t.equal(removed, 0)
  process.listeners('SIGTERM').at(-1)?.('SIGTERM')
  t.equal(await ended, 0)
})

t.test('without an agent that looks, no state file is said to fit', async (t) => {
  const { world, path, resolved } = prepare(t, SLOW)
  const flag = path('state/states-fit')
  writeFileSync(flag, '')
  const start = { settings: { ...resolved.settings, logLevel: 'error' } as const, reread: async () => resolved }
  const ended = runAgent(start, { ...world, supervision: { socket: undefined, connected: undefined, watchdogUs: undefined } })
  t.teardown(() => process.off('SIGHUP', process.listeners('SIGHUP').at(-1) ?? (() => {})))
  await until(() => existsSync(path('calls')), 'the first pass asks systemd')
  t.notOk(existsSync(flag), 'it has not looked yet')
  writeFileSync(flag, '')
  process.listeners('SIGTERM').at(-1)?.('SIGTERM')
  t.equal(await ended, 0)
  t.notOk(existsSync(flag), 'it has ended')
})

t.test('an agent whose directory is removed ends for systemd to make it again, and the next one stays', async (t) => {
  const { world, path, resolved } = prepare(t, '#!/bin/sh\necho asked >> "$(dirname "$0")/calls"\nexit 1\n')
  const start = { settings: { ...resolved.settings, logLevel: 'error' } as const, reread: async () => resolved }
  const countCalls = () => (existsSync(path('calls')) ? readFileSync(path('calls')).length / 'asked\n'.length : 0)
  const messages = openSync('/dev/null', 'w')
  t.teardown(() => closeSync(messages))
  const supervised = { socket: path('notify'), connected: messages, watchdogUs: undefined }
  /** @returns the exit code of an agent that is told to end when it has looked without directory */
  const loseDirectory = async (supervision: Supervision) => {
    let code: number | undefined
    const ended = runAgent(start, { ...world, supervision }).then((exit) => {
      code = exit
    })
    const wake = process.listeners('SIGHUP').at(-1) ?? (() => {})
    await until(() => existsSync(path('state/requests')), 'it lives')
    rmSync(path('state'), { recursive: true })
    const before = countCalls()
    await until(
      () => {
        wake('SIGHUP')
        return code !== undefined || countCalls() > before + 10
      },
      'it looks again, or ends',
      100,
    )
    process.off('SIGHUP', wake)
    process.listeners('SIGTERM').at(-1)?.('SIGTERM')
    await ended
    return code
  }
  t.equal(await loseDirectory({ ...supervised, socket: undefined }), 0, 'nothing would start it again')
  t.equal(await loseDirectory(supervised), 1)
  t.equal(await loseDirectory(supervised), 0, 'within 10 minutes')
})

/** A kubelet that is stopped. */
const unitWith = (flags: string) => `Id=kubelet.service
LoadState=loaded
ActiveState=inactive
SubState=dead
Result=success
MainPID=0
InvocationID=
NRestarts=0
ExecMainStartTimestampMonotonic=0
ExecStart={ path=/bin/true ; argv[]=/bin/true --config=/etc/kubelet.yaml ${flags} ; ignore_errors=no ; start_time=[n/a] }
Environment=
DropInPaths=
NeedDaemonReload=no
`

t.test('an agent whose directory is removed knows nothing that a decision needs', async (t) => {
  const { world, stop, path } = prepare(t, '#!/bin/sh\n[ "$1" = show ] && cat "$(dirname "$0")/answer"\n')
  writeFileSync(path('answer'), unitWith(''))
  const end = () => stop.abort('SIGTERM')
  t.equal(await live({ ...world, supervised: { held: { isUnlinked: () => true }, end } }, stop.signal), 'SIGTERM')
  t.match(world.log.said.join(), /unknown: \S+state was removed while the agent ran/)
})

t.test('as soon as systemd says how kubelet calls its node, an agent of another name starts over', async (t) => {
  const { world, stop, path } = prepare(t, '#!/bin/sh\n[ "$1" = show ] && cat "$(dirname "$0")/answer"\n', { isNamed: false })
  // The look of each minute comes too late.
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  let why: string | undefined
  void live(world, stop.signal).then((reason) => {
    why = reason
  })
  await until(() => existsSync(path('state/requests')), 'it lives')
  writeFileSync(path('answer'), unitWith('--hostname-override=worker-9'))
  await untilSeen(path, () => why !== undefined)
  t.match(why, /kubelet's flag .* names another node/)
})

t.test('the store of a kubelet that still uses it stays, and is taken over when kubelet does not any more', async (t) => {
  const { world, stop, path } = prepare(t, '#!/bin/sh\n[ "$1" = show ] && cat "$(dirname "$0")/answer"\n', { adopt: 'true' })
  mkdirSync(path('state/store/meta'), { recursive: true })
  writeFileSync(path('answer'), unitWith(`--dynamic-config-dir=${path('state')}`))
  let why: string | undefined
  void live(world, stop.signal).then((reason) => {
    why = reason
  })
  await until(() => world.log.said.length > 0, 'the agent says why')
  t.match(world.log.said[0], /is not taken over yet: kubelet runs with --dynamic-config-dir=/)
  await until(() => existsSync(path('state/requests')), 'it lives')
  t.ok(existsSync(path('state/store/meta')))
  writeFileSync(path('answer'), unitWith(''))
  await untilSeen(path, () => why !== undefined)
  t.match(why, /no longer uses its own dynamic configuration/)
  t.ok(existsSync(path('state/store/meta')))
  const next = live(world, stop.signal)
  await until(() => existsSync(path('state/store.adopted-1/meta')), 'the next life takes it over')
  stop.abort('SIGTERM')
  t.equal(await next, 'SIGTERM')
})
