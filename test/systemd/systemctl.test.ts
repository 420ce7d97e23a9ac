// SPDX-License-Identifier: Apache-2.0
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { HeldAnswer } from '../../src/systemd/held-answer.ts'
import { Systemctl, type SystemctlOptions } from '../../src/systemd/systemctl.ts'
import { uncachedBinary } from './uncached-binary.ts'

/** Any program that exists. */
const KUBELET = '/bin/sh'
const ANSWER = `Id=kubelet.service
LoadState=loaded
ActiveState=active
SubState=running
Result=success
MainPID=77
InvocationID=aaaa
NRestarts=0
ExecMainStartTimestampMonotonic=5
ExecStart={ path=${KUBELET} ; argv[]=${KUBELET} $KUBELET_CONFIG_ARGS ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }
Environment=KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml
EnvironmentFiles=/d/kubelet.env (ignore_errors=yes)
DropInPaths=
NeedDaemonReload=no
`

/** A systemctl that is a shell script, and a /proc with one process in it. */
function world(
  t: Test,
  script: string,
  cmdline = `${KUBELET}\0--config\0/d/checkpoints/u/7/kubelet\0`,
  timeoutMs = 3600_000,
  held?: SystemctlOptions['held'],
) {
  const dir = t.testdir({ proc: { 77: { cmdline } }, answer: ANSWER })
  const systemctl = join(dir, 'systemctl')
  writeFileSync(systemctl, `#!/bin/sh\ncd ${dir}\necho "$*" >> calls\n${script}\n`, { mode: 0o755 })
  const options = {
    systemctl,
    unit: 'kubelet.service',
    envFile: '/d/kubelet.env',
    activation: 'auto',
    dynamicConfigDir: '/d',
    binary: uncachedBinary(),
  } as const
  const calls = () => readFileSync(join(dir, 'calls'), 'utf8').trim().split('\n')
  return { unit: new Systemctl({ ...options, held, procRoot: join(dir, 'proc'), timeoutMs }), calls, dir }
}

t.test('a new process is read twice, and then remembered', async (t) => {
  const { unit, calls } = world(t, 'cat answer')
  const expected = { activity: 'running', process: { kind: 'checkpoint', pid: 77, uid: 'u', resourceVersion: '7', key: 'kubelet' } }
  t.match(await unit.observe(), expected)
  t.equal(calls().length, 2)
  t.match(await unit.observe(), expected)
  t.equal(calls().length, 3, 'a later observation costs one call')
})

t.test('a process still runs if /proc shows the same pid and start time, and it is not a zombie', async (t) => {
  const { unit, calls, dir } = world(t, 'cat answer')
  const stat = (state: string, started: string) => {
    const fields = Array.from({ length: 18 }, () => '1').join(' ')
    writeFileSync(join(dir, 'proc/77/stat'), `77 (a ) b) ${state} ${fields} ${started} 2 3`)
  }
  stat('S', '4711')
  const seen = await unit.observe()
  const callsBefore = calls().length
  t.equal(unit.stillRuns(seen), true)
  stat('R', '4711')
  t.equal(unit.stillRuns(seen), true)
  stat('S', '4712')
  t.equal(unit.stillRuns(seen), false, 'the pid belongs to another process')
  stat('Z', '4711')
  t.equal(unit.stillRuns(seen), false)
  rmSync(join(dir, 'proc/77/stat'))
  t.equal(unit.stillRuns(seen), false)
  t.equal(calls().length, callsBefore, 'systemctl was not called')
  t.equal(unit.stillRuns({ kind: 'unknown', detail: '' }), false)
})

t.test('a process is unknown until systemd has named it twice', async (t) => {
  const { unit } = world(t, `sed "s/aaaa/$(wc -l < calls)/" answer`)
  t.match(await unit.observe(), { process: { kind: 'unknown', detail: 'is being restarted' } })
})

t.test('a process that is not kubelet yet is unknown', async (t) => {
  for (const [cmdline, detail] of [
    ['(kubelet)\0', `process 77 is (kubelet), not ${KUBELET}`],
    ['', 'no command line'],
  ] as const) {
    t.match(await world(t, 'cat answer', cmdline).unit.observe(), { process: { kind: 'unknown', detail } })
  }
  t.match(await world(t, 'sed s/77/78/ answer').unit.observe(), { process: { kind: 'unknown', detail: 'process 78' } })
})

t.test('k3s shows a title in place of its arguments, and its own --config before', async (t) => {
  const configDir = '/var/lib/rancher/k3s/agent/etc/kubelet.conf.d'
  for (const cmdline of ['/usr/local/bin/k3s agent\0\0\0', '/usr/local/bin/k3s\0agent\0--config=/d/checkpoints/u/7/kubelet\0', '']) {
    const { dir } = world(t, 'cat answer', cmdline)
    const k3s = join(dir, 'k3s')
    writeFileSync(k3s, '')
    writeFileSync(join(dir, 'answer'), ANSWER.replaceAll(KUBELET, k3s).replace('$KUBELET_CONFIG_ARGS', 'agent'))
    const unit = new Systemctl({
      systemctl: join(dir, 'systemctl'),
      unit: 'k3s-agent.service',
      envFile: '/d/kubelet.env',
      activation: 'drop-in',
      kubeletConfigDir: configDir,
      dynamicConfigDir: '/d',
      binary: uncachedBinary(),
      procRoot: join(dir, 'proc'),
    })
    t.match(await unit.observe(), {
      process: { kind: 'other', pid: 77, configPath: `${configDir}/00-k3s-defaults.conf` },
      localConfigPath: `${configDir}/00-k3s-defaults.conf`,
      command: { path: k3s, words: [`--config-dir=${configDir}`] },
    })
  }
})

t.test('recognises checkpoints by their path', async (t) => {
  for (const [path, kind] of [
    ['/d/checkpoints/u/7/kubelet', 'checkpoint'],
    ['/d//checkpoints/u/./7/kubelet', 'checkpoint'],
    ['/d/rendered/u/7/0123456789abcdef/kubelet', 'checkpoint'],
    ['/d/rendered/u/7/kubelet', 'other'],
    ['/d/checkpoints/u/7', 'other'],
    ['/d/checkpoints/u/7/a/b', 'other'],
    ['/d/checkpoints/../u/7/kubelet', 'other'],
    ['/var/lib/kubelet/config.yaml', 'other'],
  ] as const) {
    t.match(await world(t, 'cat answer', `${KUBELET}\0--config=${path}\0`).unit.observe(), { process: { kind } }, path)
  }
  t.match(await world(t, 'cat answer', `${KUBELET}\0`).unit.observe(), { process: { kind: 'other', configPath: undefined } })
})

t.test('reports a drop-in that names another file', async (t) => {
  const { unit, dir } = world(t, 'cat answer')
  const dropIn = join(dir, '90-kubelet-cfg-agent.conf')
  writeFileSync(dropIn, '[Service]\n# EnvironmentFile=/d/kubelet.env\nEnvironmentFile = -/old/kubelet.env\n')
  writeFileSync(
    join(dir, 'answer'),
    ANSWER.replace('/d/kubelet.env (', '/old/kubelet.env (').replace('DropInPaths=', `DropInPaths=${dropIn}`),
  )
  t.match(await unit.observe(), { wiring: { reason: 'drop-in-missing', detail: 'the drop-in names /old/kubelet.env, not /d/kubelet.env' } })
})

t.test('while the binary is missing the unit is unknown; a new binary is another kubelet', async (t) => {
  const { unit, dir } = world(t, 'cat answer', 'kubelet\0')
  const binary = join(dir, 'kubelet')
  writeFileSync(binary, 'one')
  writeFileSync(join(dir, 'answer'), ANSWER.replaceAll(KUBELET, binary))
  writeFileSync(join(dir, 'proc/77/cmdline'), `${binary}\0`)
  const identity = async () => {
    const state = await unit.observe()
    return state.kind === 'known' ? state.kubeletIdentity : state.detail
  }
  const before = await identity()
  rmSync(binary)
  t.equal(
    await identity(),
    `kubelet.service starts ${binary}, which does not exist: install kubelet, unless an upgrade is replacing it now`,
  )
  writeFileSync(binary, 'the other')
  t.not(await identity(), before)
  t.match(await identity(), /^[0-9a-f]{64}$/)
})

t.test('the unit is unknown if systemctl fails, hangs or prints garbage', async (t) => {
  t.match(await world(t, 'echo Failed to connect to bus >&2; exit 1').unit.observe(), {
    kind: 'unknown',
    detail: 'systemctl show: Failed to connect to bus',
  })
  t.match(await world(t, 'exit 3').unit.observe(), { kind: 'unknown', detail: 'exit code 3' })
  t.match(await world(t, 'echo hello').unit.observe(), { kind: 'unknown', detail: 'printed something unexpected' })
  t.match(await world(t, 'head -c 3000000 /dev/zero').unit.observe(), { kind: 'unknown', detail: 'more than 1024 KiB of output' })
  const missing = new Systemctl({
    systemctl: '/no/systemctl',
    unit: 'k.service',
    envFile: '/e',
    activation: 'auto',
    dynamicConfigDir: '/d',
    binary: uncachedBinary(),
  })
  t.match(await missing.observe(), { kind: 'unknown', detail: 'systemctl show: cannot start /no/systemctl: ENOENT' })
  t.match(await world(t, 'exec sleep 3600', '', 2000).unit.observe(), { kind: 'unknown', detail: 'timed out after 2 s' })
})

t.test('a unit that does not exist', async (t) => {
  const script = `printf 'LoadState=not-found\\nActiveState=inactive\\nSubState=dead\\nMainPID=0\\nNRestarts=0\\nExecMainStartTimestampMonotonic=0\\n'`
  t.match(await world(t, script).unit.observe(), { activity: 'not-found', wiring: { kind: 'broken' }, process: { kind: 'none' } })
})

t.test('an environment file with wildcards stands for the files that match, in the order of their names', async (t) => {
  const { unit, dir } = world(t, 'cat answer')
  const wire = (...files: string[]) => {
    const lines = files.map((file) => `EnvironmentFiles=${file} (ignore_errors=yes)\n`).join('')
    writeFileSync(join(dir, 'answer'), ANSWER.replace(/EnvironmentFiles=.*\n/, lines))
  }
  const add = (name: string, args: string) => writeFileSync(join(dir, name), `KUBELET_CONFIG_ARGS=${args}\n`)
  wire(join(dir, '*.env'), '/d/kubelet.env')
  t.match(await unit.observe(), { wiring: { kind: 'ready', configArgs: '--config=/var/lib/kubelet/config.yaml' } }, 'none matches')
  add('2.env', '--config=/own.yaml --v=2')
  add('1.env', '--config=/earlier.yaml')
  t.match(await unit.observe(), { wiring: { kind: 'ready', configArgs: '--config=/own.yaml --v=2' }, localConfigPath: '/own.yaml' })
  wire('/d/kubelet.env', join(dir, '[0-9].env'))
  t.match(await unit.observe(), { wiring: { kind: 'broken', reason: 'overridden', detail: /\/1\.env sets KUBELET_CONFIG_ARGS too/ } })
})

t.test('a shutdown is checked for only if kubelet does not run', async (t) => {
  const stopped = `case $1 in show) sed 's/=active/=inactive/; s/=running/=dead/; s/=77/=0/' answer;; *) echo stopping; exit 1;; esac`
  const { unit, calls } = world(t, stopped)
  t.match(await unit.observe(), { activity: 'stopping' })
  t.equal(calls().at(-1), 'is-system-running')
})

t.test('what systemd starts next, and what it runs now', async (t) => {
  const next = (script: string) => world(t, script).unit.readNextStart({})
  const words = ['--config=/var/lib/kubelet/config.yaml']
  t.same(await next('cat answer'), { words, mainPid: 77 })
  t.same(await next('sed s/^MainPID=.*/MainPID=0/ answer'), { words, mainPid: 0 }, 'as before the start of kubelet')
  t.equal(await next('exit 1'), undefined)
})

t.test('a unit sets state files aside where the programs of its line are there', async (t) => {
  const line = '{ path=/bin/sh ; argv[]=/bin/sh -exec $PWD/kubelet-cfg-agent set-aside ; ; ignore_errors=yes ; pid=0 }'
  const { unit, dir } = world(t, `cat answer; echo "ExecStartPre=${line}"`)
  t.match(await unit.observe(), { kind: 'known', setsStatesAside: false })
  writeFileSync(join(dir, 'kubelet-cfg-agent'), '')
  t.match(await unit.observe(), { setsStatesAside: true })
})

t.test('restart runs these commands in this order', async (t) => {
  const states = {
    running: 's/x/x/',
    failed: 's/=active/=failed/; s/=running/=failed/',
    stopped: 's/=active/=inactive/; s/=running/=dead/',
    starting: 's/=active/=activating/; s/=running/=start/',
    waiting: 's/=active/=activating/; s/=running/=auto-restart/; s/=77/=0/',
  }
  const cases = [
    ['other', 'running', 'try-restart'],
    ['failed', 'running', 'try-restart'],
    ['other', 'failed', 'start'],
    ['failed', 'failed', 'start'],
    ['other', 'stopped', 'try-restart'],
    ['failed', 'stopped', 'start'],
    ['other', 'starting', 'restart'],
    ['other', 'waiting', 'restart'],
  ] as const
  for (const [activity, state, verb] of cases) {
    const { unit, calls } = world(t, `[ $1 = show ] && sed '${states[state]}' answer; true`)
    t.strictSame(await unit.restart(activity), { ok: true })
    t.strictSame(
      calls().slice(1),
      ['reset-failed kubelet.service', `${verb} --no-block kubelet.service`],
      `${state}, observed as ${activity}`,
    )
  }
  const denied = world(t, 'echo "Access denied" >&2; exit 4')
  t.match(await denied.unit.restart('other'), {
    ok: false,
    detail: 'systemctl try-restart: Access denied (before that, systemctl reset-failed: Access denied)',
  })
  const ended = world(t, '[ $1 = try-restart ] && kill -TERM $$; true')
  t.equal(await ended.unit.restart('other'), undefined, 'an end of the command by a signal is no answer of systemd')
  const half = world(t, '[ $1 != reset-failed ]')
  t.strictSame(await half.unit.restart('other'), { ok: true }, 'restarts even if the counter could not be reset')
})

t.test('restart leaves out reset-failed if kubelet runs and has no start limit', async (t) => {
  const reset = ['reset-failed kubelet.service', 'try-restart --no-block kubelet.service']
  for (const [property, state, commands] of [
    ['StartLimitIntervalUSec=0', 's/x/x/', reset.slice(1)],
    ['StartLimitIntervalUSec=10s', 's/x/x/', reset],
    ['StartLimitIntervalUSec=infinity', 's/x/x/', reset],
    ['', 's/x/x/', reset],
    [
      'StartLimitIntervalUSec=0',
      's/=active/=activating/; s/=running/=auto-restart/; s/=77/=0/',
      ['reset-failed kubelet.service', 'restart --no-block kubelet.service'],
    ],
  ] as const) {
    const { unit, calls } = world(t, `[ $1 = show ] && sed '${state}' answer && echo ${property}; true`)
    await unit.observe()
    t.strictSame(await unit.restart('other'), { ok: true })
    t.strictSame(
      calls().filter((call) => !/^(show|is-system-running)/.test(call)),
      commands,
      `${property} ${state}`,
    )
  }
})

t.test('a kubelet that systemd gave up after the observation is started', async (t) => {
  const gaveUp = 's/=active/=failed/; s/=running/=failed/; s/=77/=0/'
  const { unit, calls, dir } = world(t, `[ $1 = show ] && sed "$(cat edit 2>/dev/null)" answer && echo StartLimitIntervalUSec=10s; true`)
  t.match(await unit.observe(), { activity: 'running' })
  writeFileSync(join(dir, 'edit'), gaveUp)
  t.strictSame(await unit.restart('other'), { ok: true })
  t.strictSame(calls().slice(-2), ['reset-failed kubelet.service', 'start --no-block kubelet.service'])
})

t.test('the environment of the agent is not passed to the command', async (t) => {
  const { unit, dir } = world(t, 'env > environment; cat answer')
  process.env.NOTIFY_SOCKET = '/run/systemd/notify'
  t.teardown(() => delete process.env.NOTIFY_SOCKET)
  await unit.observe()
  t.notMatch(readFileSync(join(dir, 'environment'), 'utf8'), 'NOTIFY_SOCKET')
})

t.test('rejects names that are not those of a service', async (t) => {
  for (const unit of [
    '',
    '-p',
    '--help',
    'kubelet',
    'kubelet.socket',
    'a b.service',
    'x;y.service',
    '../x.service',
    `${'x'.repeat(300)}.service`,
  ]) {
    t.throws(
      () => new Systemctl({ systemctl: '/s', unit, envFile: '/e', activation: 'auto', dynamicConfigDir: '/d', binary: uncachedBinary() }),
      { code: 'unit-name' },
      unit,
    )
  }
  t.ok(
    new Systemctl({
      systemctl: '/s',
      unit: 'snap.kubelet@a\\x2d.service',
      envFile: '/e',
      activation: 'auto',
      dynamicConfigDir: '/d',
      binary: uncachedBinary(),
    }),
  )
})

t.test('while systemd says nothing, a kubelet that runs is not asked about again', async (t) => {
  const now = { us: 10e6, quietSinceUs: 5e6 as number | undefined }
  const open = (script = 'cat answer') => {
    const clock = { now: () => ({ bootId: 'b', monotonicUs: now.us, wallMs: 0 }) }
    const opened = world(t, script, undefined, undefined, new HeldAnswer({ quietSinceUs: () => now.quietSinceUs }, clock))
    const stat = (started: string) => {
      const fields = Array.from({ length: 18 }, () => '1').join(' ')
      writeFileSync(join(opened.dir, 'proc/77/stat'), `77 (kubelet) S ${fields} ${started} 2 3`)
    }
    stat('4711')
    return { ...opened, stat }
  }

  t.test('until it says something', async (t) => {
    const { unit, calls } = open()
    const seen = await unit.observe()
    const asked = calls().length
    t.strictSame(await unit.observe(), seen)
    t.equal(calls().length, asked)
    now.us += 1e6
    now.quietSinceUs = now.us
    now.us += 1
    await unit.observe()
    t.equal(calls().length, asked + 1)
    await unit.observe()
    t.equal(calls().length, asked + 1)
  })

  t.test('unless its process has ended, and the signal is late or lost', async (t) => {
    const { unit, calls, stat } = open()
    await unit.observe()
    const asked = calls().length
    stat('4712')
    await unit.observe()
    t.equal(calls().length, asked + 1)
  })

  t.test('unless the agent has restarted it', async (t) => {
    const { unit, calls } = open('test "$1" = show && cat answer')
    await unit.observe()
    await unit.restart('other')
    const asked = calls().length
    await unit.observe()
    t.equal(calls().length, asked + 1)
  })

  t.test('files that the unit names are read again', async (t) => {
    const { unit, dir } = open(`sed "s|^EnvironmentFiles=.*|EnvironmentFiles=$PWD/flags (ignore_errors=yes)|" answer`)
    const before = await unit.observe()
    writeFileSync(join(dir, 'flags'), 'KUBELET_CONFIG_ARGS=--config=/elsewhere\n')
    const after = await unit.observe()
    t.match([before, after], [{ localConfigPath: '/var/lib/kubelet/config.yaml' }, { localConfigPath: '/elsewhere' }])
  })

  t.test('unless the name of the unit is an alias, or it does not run', async (t) => {
    for (const script of ['sed s/^Id=.*/Id=other.service/ answer', 'sed s/^ActiveState=.*/ActiveState=deactivating/ answer']) {
      const { unit, calls } = open(script)
      await unit.observe()
      const asked = calls().length
      await unit.observe()
      t.equal(calls().length, asked + 1)
    }
  })
})
