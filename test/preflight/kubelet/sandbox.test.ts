// SPDX-License-Identifier: Apache-2.0
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: systemd's syntax
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import t from 'tap'
import { type HowFar, isPlainPath, placesIn, UNREACHABLE_KUBECONFIG } from '../../../src/preflight/kubelet/judgement.ts'
import { readSandboxEnd, sandboxArguments } from '../../../src/preflight/kubelet/sandbox.ts'

const limits = { memoryMiB: 100, seconds: { load: 3, deep: 9 } }
const make = (goal: HowFar) => sandboxArguments('u.service', goal, '/d/scratch', ['/usr/bin/kubelet', '--node-labels=a=$b${c}'], limits)
const made = make('to-runtime')

t.test('the command follows the options, with dollar signs escaped', async (t) => {
  t.strictSame(made.slice(made.indexOf('--')), ['--', '/usr/bin/kubelet', '--node-labels=a=$$b$${c}'])
  t.ok(made.slice(0, made.indexOf('--')).every((word) => word.startsWith('--')))
  t.ok(['--unit=u.service', '--pipe', '--wait', '--collect', '--no-ask-password'].every((option) => made.includes(option)))
})

t.test('the properties that confine a probe', async (t) => {
  for (const property of [
    'PrivateNetwork=yes',
    'ProtectSystem=strict',
    'ProtectHome=read-only',
    'ReadOnlyPaths=/run -/dev/shm -/dev/mqueue -/dev/hugepages',
    'CapabilityBoundingSet=',
    'NoNewPrivileges=yes',
    'RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK',
    'MemoryMax=100M',
    'RuntimeMaxSec=9',
    'TemporaryFileSystem=/d/scratch:size=16M,mode=0700',
  ])
    t.ok(made.includes(`--property=${property}`), property)
  t.notOk(made.some((option) => /User=|PrivateUsers|PrivateTmp|ProtectHome=(?!read-only)|ReadWritePaths/.test(option)))
})

t.test('a probe reaches sockets only where it looks for a container runtime, and not those of the node', async (t) => {
  for (const [goal, reaches] of [
    ['to-kubeconfig', false],
    ['to-runtime', false],
    ['not-far', false],
    ['beside-runtime', true],
  ] as const) {
    const properties = make(goal)
    t.equal(
      properties.some((property) => /^--property=RestrictAddressFamilies=.*AF_UNIX/.test(property)),
      reaches,
      goal,
    )
    const hidden = properties.find((property) => property.startsWith('--property=InaccessiblePaths=')) ?? ''
    for (const path of ['/run/dbus', '/run/systemd/private', '/run/containerd', '/run/crio'])
      t.equal(hidden.split(/[= ]/).includes(`-${path}`), reaches, `${goal}: ${path}`)
    t.ok(properties.includes(`--property=RuntimeMaxSec=${goal === 'to-kubeconfig' ? 3 : 9}`), goal)
  }
})

t.test('how the sandbox ended', async (t) => {
  const output = (result: string, status = 'exited/status=1') =>
    `Running as unit: u.service\nFinished with result: fake\n${'x'.repeat(9)}\nFinished with result: ${result}\nMain processes terminated with: code=${status}\nService runtime: 1s\n`
  t.strictSame(readSandboxEnd(output('exit-code')), { kind: 'ended' })
  t.strictSame(readSandboxEnd(output('exit-code', 'exited/status=255')), { kind: 'ended' })
  t.strictSame(readSandboxEnd(output('success', 'exited/status=0')), { kind: 'ended' })
  t.match(readSandboxEnd(output('timeout', 'killed/status=TERM')), { kind: 'interrupted', detail: 'time limit' })
  t.match(readSandboxEnd(output('oom-kill', 'killed/status=KILL')), { kind: 'interrupted', detail: 'memory' })
  t.match(readSandboxEnd(output('signal', 'killed/status=KILL')), { kind: 'interrupted', detail: 'signal' })
  t.match(readSandboxEnd(output('exit-code', 'exited/status=226')), { kind: 'interrupted', detail: 'status 226' })
  t.match(readSandboxEnd('Running as unit: u.service\n'), { kind: 'interrupted' })
  t.strictSame(readSandboxEnd('Failed to connect to bus: No such file or directory\n'), {
    kind: 'not-started',
    detail: 'Failed to connect to bus: No such file or directory',
  })
  t.strictSame(readSandboxEnd(''), { kind: 'not-started', detail: 'it printed nothing' })
})

t.test('paths that are safe in a property', async (t) => {
  for (const path of ['/run/kubelet-cfg-agent', '/tmp/a_b-c.d@e+f,g']) t.ok(isPlainPath(path), path)
  for (const path of ['run', '', '/a b', '/a:b', '/a%b', '/a"b', '/a\\b', '/a\nb', '/a$b']) t.notOk(isPlainPath(path), path)
  const load = placesIn('/d', 'k', 'load')
  t.ok(load.kubeconfig.startsWith(`${load.scratch}/`), 'nobody else can create the missing kubeconfig')
  t.equal(JSON.parse(UNREACHABLE_KUBECONFIG).clusters[0].cluster.server, 'https://127.0.0.1:1')
})

const ANALYZE = '/usr/bin/systemd-analyze'
t.test(
  'every system call group has a name that systemd knows',
  { skip: existsSync(ANALYZE) ? false : `${ANALYZE} is not installed` },
  async (t) => {
    const filter = made.find((option) => option.startsWith('--property=SystemCallFilter='))?.split('~')[1] ?? ''
    for (const group of filter.split(' ')) t.match(execFileSync(ANALYZE, ['syscall-filter', group], { encoding: 'utf8' }), group)
  },
)
