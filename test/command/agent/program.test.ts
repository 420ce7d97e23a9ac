// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { AgentStart, CommandContext } from '../../../src/command/agent/command.ts'
import { COMMANDS } from '../../../src/command/agent/command-list.ts'
import { type AgentWorld, agentProgram, prepareAgent } from '../../../src/command/agent/program.ts'
import { runProgram } from '../../../src/command/run-program.ts'
import type { ConfigFile } from '../../../src/settings/resolve-settings.ts'
import type { Settings } from '../../../src/settings/settings.ts'
import { fakeNode } from './fake-node.ts'

async function run(args: string, fields: Partial<AgentWorld> & { node?: CommandContext } = {}) {
  const node = fakeNode()
  const world: AgentWorld = {
    version: '1.2.3',
    platform: 'node 24.0.0, linux/x64',
    terminal: node.context.terminal,
    env: () => ({}),
    readConfigFile: async (path) => ({ kind: 'absent', path }),
    openNode: () => fields.node ?? node.context,
    runAgent: async () => 0,
    ...fields,
  }
  const code = await runProgram(args.split(' ').filter(Boolean), agentProgram(COMMANDS), {
    terminal: world.terminal,
    version: world.version,
    prepare: (command, line) => prepareAgent(world, command, line),
  })
  return { code, out: node.out(), err: node.err() }
}

/** The command line is invalid usage, and the message says why. */
async function refuses(t: Test, args: string, message: string): Promise<void> {
  const result = await run(args)
  t.match(result, { code: 2, out: '' }, args)
  t.ok(result.err.includes(message), `${args}: ${result.err}`)
}

t.test('help', async (t) => {
  t.matchSnapshot((await run('--help')).out, 'of the program')
  for (const { name } of COMMANDS) {
    const help = await run(`${name} --help`)
    t.match(help, { code: 0, err: '' })
    t.matchSnapshot(help.out, `of ${name}`)
    t.equal((await run(`help ${name}`)).out, help.out, `help ${name}`)
  }
})

t.test('a missing command is invalid usage and shows the help', async (t) => {
  t.match(await run(''), { code: 2, out: '', err: 'Usage: kubelet-cfg-agent <command>' })
})

t.test('version', async (t) => {
  t.same(await run('version'), { code: 0, out: 'kubelet-cfg-agent 1.2.3 (node 24.0.0, linux/x64)\n', err: '' })
  t.same(await run('--version'), { code: 0, out: 'kubelet-cfg-agent 1.2.3\n', err: '' })
  const badFile: ConfigFile = { kind: 'unreadable', path: '/x', detail: '' }
  t.equal((await run('version', { readConfigFile: async () => badFile })).code, 0, 'it needs no settings')
})

t.test('rejects unknown names with the nearest known one', async (t) => {
  const cases = {
    stats: 'stats: unknown command; the nearest known one is status',
    '--versoin': '--versoin: unknown flag; the nearest known one is --version',
    'run --trail-duration 5m': '--trail-duration: unknown flag; the nearest known one is --trial-duration',
    'run --trail-duration=5m': '--trail-duration: unknown flag; the nearest known one is --trial-duration',
    'run --adopt=maybe': '--adopt: "maybe" is neither true nor false',
    'status --out json': '--out: unknown flag; the nearest known one is --output',
    'status --spread 5m': '--spread: only the command run takes this flag',
    'status now': 'now: unexpected argument',
    'status -o yaml': '-o: "yaml" is not one of table, json',
    'preflight-upgrade --kubelet=': '--kubelet: is empty: give a value, or leave it out',
    'validate --kubelet-version= x.yaml': '--kubelet-version: is empty: give a value, or leave it out',
    'diff --against= x.yaml': '--against: is empty: give a value, or leave it out',
    'generate --from-file=': '--from-file: is empty: give a value, or leave it out',
    'history -n 0': '-n: 0 is out of range: from 1 to 1000000',
    'run --kubeconfig': '--kubeconfig: needs a value',
    'status --deep': '--deep: only the commands validate, preflight-upgrade take this flag',
  }
  for (const [args, message] of Object.entries(cases)) await refuses(t, args, message)
})

t.test('check --settings refuses settings that a reload would refuse', async (t) => {
  const file: ConfigFile = { kind: 'unreadable', path: '/etc/x.yaml', detail: 'duplicate key spread at line 3, column 1' }
  t.match(await run('check --settings', { readConfigFile: async () => file }), {
    code: 2,
    err: '/etc/x.yaml: duplicate key spread at line 3',
  })
  t.match(await run('check --settings'), { code: 0 })
})

t.test('release runs with settings with which the agent does not start, if commands can use theirs', async (t) => {
  const value = {
    apiVersion: 'kubelet-cfg-agent.io/v1alpha1',
    kind: 'AgentConfiguration',
    kubeletUnit: 'k3s.service',
    spread: 'x',
    newKey: 1,
  }
  const file: ConfigFile = { kind: 'document', path: '/etc/x.yaml', value }
  const opened: Settings[] = []
  const node = fakeNode()
  const openNode = (settings: Settings) => {
    opened.push(settings)
    return node.context
  }
  const { err } = await run('release', { readConfigFile: async () => file, openNode })
  t.match(err, /^kubelet-cfg-agent release: ignores an invalid setting: \/etc\/x\.yaml: newKey: unknown key/)
  t.match(opened, [{ kubeletUnit: 'k3s.service' }])
  for (const args of ['status', 'release --kubelet-unit other.service'])
    t.match(await run(args, { readConfigFile: async () => file, openNode }), { code: 2, err: 'newKey: unknown key' }, args)
  const bad = { ...value, dynamicConfigDir: 'not absolute' }
  const unreadable: ConfigFile = { kind: 'unreadable', path: '/etc/x.yaml', detail: 'it has a duplicate key' }
  for (const unusable of [{ ...file, value: bad }, { ...file, value: { ...value, kind: 'Other' } }, unreadable])
    t.match(await run('release', { readConfigFile: async () => unusable, openNode }), { code: 2 })
  t.equal(opened.length, 1)
})

t.test('set-aside, as the unit of kubelet runs it, needs no setting but its flags', async (t) => {
  const line = readFileSync('systemd/kubelet.service.d/90-kubelet-cfg-agent.conf', 'utf8')
  const args = / \{\} (set-aside .*) \\;$/m.exec(line)?.[1]?.replace('%n', 'kubelet.service') ?? ''
  const head = { apiVersion: 'kubelet-cfg-agent.io/v1alpha1', kind: 'AgentConfiguration', kubeletUnit: 'k3s.service' }
  const opened: Settings[] = []
  const openNode = (settings: Settings) => {
    opened.push(settings)
    return fakeNode().context
  }
  const runWith = (text: string, file: ConfigFile) => run(text, { readConfigFile: async () => file, openNode })
  const documents = [{ spread: 'banana' }, { systemctl: 'not absolute' }, { kind: 'Other' }].map(
    (fields): ConfigFile => ({ kind: 'document', path: '/etc/x.yaml', value: { ...head, ...fields } }),
  )
  const unusable: readonly ConfigFile[] = [...documents, { kind: 'unreadable', path: '/etc/x.yaml', detail: 'it has a duplicate key' }]
  for (const file of unusable) t.match(await runWith(args, file), { code: 0, err: /ignores an invalid setting/ })
  t.same(
    opened.map(({ kubeletUnit }) => kubeletUnit),
    unusable.map(() => 'kubelet.service'),
  )
  const wrong = await runWith('set-aside --kubelet-unit=', { kind: 'absent', path: '/etc/x.yaml' })
  t.match(wrong, { code: 2, err: '--kubelet-unit: is empty' })
  for (const file of unusable.slice(1)) t.match(await runWith('set-aside', file), { code: 2 }, 'of which unit is not known')
})

t.test('arguments', async (t) => {
  const node = fakeNode({ context: { readInput: async (path) => ({ kind: 'unreadable', code: `read ${path}` }) } })
  t.match(await run('validate kubelet.yaml', { node: node.context }), { code: 2, err: 'kubelet.yaml cannot be read: read kubelet.yaml' })
  const cases = {
    validate: 'FILE|-|configmap/NAME: is missing',
    'validate a b c': 'b: unexpected argument',
    'validate --strcit a': '--strcit: unknown flag; the nearest known one is --strict',
    'validate --strict=yes a': '--strict: "yes" is neither true nor false',
    'validate confgmap/x': 'did you mean configmap/x?',
    'validate --kubelet-version new a': '--kubelet-version: "new" is not a kubelet version',
    'validate -o yaml a': '-o: "yaml" is not one of table, json, sarif',
    'diff --against configmap/ a': '--against: configmap/: "" is not a valid name of a ConfigMap',
    'generate now': 'now: unexpected argument',
    'generate --offline --all': '--all and --offline exclude each other',
    'generate --offline --kubelet-version 1.36': '--kubelet-version and --offline exclude each other',
    'generate --offline --from-file x': '--from-file and --offline exclude each other',
  }
  for (const [args, message] of Object.entries(cases)) await refuses(t, args, message)
  const unsure = await run('validate --strcit a')
  t.notMatch(unsure.err, /missing|unexpected/, 'the argument may belong to the unknown flag')
})

t.test('a command for which 1 is a result exits with 2 on a failure', async (t) => {
  const failing = (args: string) => run(args, { openNode: () => Promise.reject(new TypeError('a bug')) })
  t.match(await failing('validate x'), { code: 2, err: /TypeError: a bug/ })
  t.match(await failing('diff'), { code: 2 })
  t.match(await failing('plan'), { code: 1 })
})

t.test('reports all problems together', async (t) => {
  const file: ConfigFile = { kind: 'document', path: '/c.yaml', value: { apiVersion: 'v1', trialDuraton: '1m' } }
  const result = await run('run --config /c.yaml --crash-limt 1 --crash-limit 0 extra --spread 5', {
    env: () => ({ KUBELET_CFG_AGENT_LOGLEVEL: 'info' }),
    readConfigFile: async () => file,
  })
  t.equal(result.code, 2)
  t.matchSnapshot(result.err)
})

t.test('run passes the settings to the agent and returns its exit code', async (t) => {
  let started: AgentStart | undefined
  let limit = '4'
  const result = await run('run --trial-duration 30s --adopt', {
    env: () => ({ KUBELET_CFG_AGENT_CRASH_LIMIT: limit }),
    runAgent: async (start) => {
      started = start
      return 1
    },
  })
  t.equal(result.code, 1)
  t.match(started, { settings: { trialUs: 30e6, adopt: true, crashLimit: 4 } })
  t.equal((await run('--trial-duration 40s run', { runAgent: async ({ settings }) => (settings.trialUs === 40e6 ? 1 : 0) })).code, 1)
  t.equal((await run('run --adopt=false', { runAgent: async ({ settings }) => (settings.adopt ? 0 : 1) })).code, 1)
  limit = '5'
  t.match(await started?.reread(), { ok: true, settings: { trialUs: 30e6, crashLimit: 5 } }, 'a reread keeps the flags')
  limit = 'many'
  t.match(await started?.reread(), { ok: false, problems: ['KUBELET_CFG_AGENT_CRASH_LIMIT: "many" is not a whole number'] })
})

t.test('commands get the node of the settings', async (t) => {
  const node = fakeNode()
  let opened: string | undefined
  const result = await run('pause --dynamic-config-dir /d', {
    openNode: (settings) => {
      opened = settings.dynamicConfigDir
      return node.context
    },
  })
  t.equal(result.code, 0)
  t.equal(opened, '/d')
  t.same(node.actions, ['hold paused'])
})

t.test('reports a failure, and the stack of a bug', async (t) => {
  const failing = (error: Error) => run('pause', { openNode: () => Promise.reject(error) })
  const denied = Object.assign(new Error('cannot write /d/requests/hold'), { code: 'EACCES' })
  t.same(await failing(denied), { code: 1, out: '', err: 'kubelet-cfg-agent pause: cannot write /d/requests/hold; run this as root\n' })
  const wrapped = new Error('cannot write', { cause: Object.assign(new Error('x'), { code: 'ENOSPC' }) })
  t.match((await failing(wrapped)).err, /pause: cannot write\n$/)
  t.match(await failing(new TypeError('undefined is not an object')), { code: 1, err: /TypeError: undefined is not an object\n.*at /s })
})
