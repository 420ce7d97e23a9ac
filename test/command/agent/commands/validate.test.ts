// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import type { CommandContext } from '../../../../src/command/agent/command.ts'
import { validateCommand } from '../../../../src/command/agent/commands/validate.ts'
import { EMPTY_LOCAL } from '../../../../src/command/open-part.ts'
import { LAST_IN_TABLES, NEWEST_MINOR } from '../../../../src/kubelet/fields.ts'
import { mergeAround } from '../../../../src/preflight/drop-ins/merge-drop-ins.ts'
import type { Report } from '../../../../src/preflight/finding.ts'
import type { InspectedConfig, InspectOptions } from '../../../../src/preflight/inspection.ts'
import { COVERED } from '../../../../src/preflight/kubelet-version.ts'
import { unit } from '../../../report/build.ts'
import { execute, type FakeNode, fakeNode } from '../fake-node.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const BAD = `${HEAD}maxPod: 110\nkubeAPIQPS: -1\nmaxPods: 64\nmaxPods: 65\nstaticPodURLHeader:\n  Authorization: [s3cret]\nstaticPodURL: https://x/\n`

function nodeWith(text: string | Buffer, context: Partial<CommandContext> = {}): FakeNode {
  return fakeNode({ context: { readInput: async () => ({ kind: 'read', bytes: Buffer.from(text) }), ...context } })
}

async function validate(text: string | Buffer, options: Record<string, string> = {}, context: Partial<CommandContext> = {}) {
  const node = nodeWith(text, context)
  const code = await execute(validateCommand, node, options, ['kubelet.yaml'])
  return { code, out: node.out(), err: node.err() }
}

/** Records what the command passes to preflight. */
async function record(options: Record<string, string>, context: Partial<CommandContext> = {}) {
  const inspected: { config: InspectedConfig; options: InspectOptions }[] = []
  const report: Report = { outcome: 'accepted', findings: [], parts: [] }
  const inspect: CommandContext['inspect'] = async (config, given) => {
    inspected.push({ config, options: given })
    return report
  }
  const { code } = await validate('x', options, { inspect, ...context })
  return { code, inspected: inspected[0] }
}

t.test('prints findings for people', async (t) => {
  const bad = await validate(BAD)
  t.equal(bad.code, 1)
  t.matchSnapshot(bad.out, 'refused')
  t.matchSnapshot((await validate(`${HEAD}maxPods: 64\n`)).out, 'accepted')
  t.matchSnapshot((await validate('a: [\n')).out, 'not YAML')
  const colored = fakeNode({ color: true, context: { readInput: async () => ({ kind: 'read', bytes: Buffer.from(BAD) }) } })
  await execute(validateCommand, colored, {}, ['x'])
  t.matchSnapshot(colored.out(), 'in colour')
})

t.test('prints JSON and SARIF for programs', async (t) => {
  const { code, out } = await validate(BAD, { output: 'json' })
  t.equal(code, 1)
  t.matchSnapshot(out)
  t.match(JSON.parse((await validate(BAD, { output: 'sarif' })).out), { version: '2.1.0', runs: [{ results: [{}, {}, {}] }] })
})

t.test('the plan of a rollout that a ConfigMap brings along', async (t) => {
  const NAMED = '    kubelet-cfg-agent.io/rollout: a-rollout\n'
  const withPlan = (plan: string, record: string) =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations:\n    kubelet-cfg-agent.io/rollout-plan: "${plan}"\n${record}` +
    `data:\n  kubelet: |\n    apiVersion: kubelet.config.k8s.io/v1beta1\n    kind: KubeletConfiguration\n    maxPods: 64\n`
  const check = async (plan: string, record = NAMED) => {
    const { code, out } = await validate(withPlan(plan, record), { output: 'json' })
    const { findings, parts } = JSON.parse(out)
    return { code, findings, part: parts.find(({ part }: { part: string }) => part === 'rollout') }
  }
  t.match(await check('spread: 5m, windows: [Mon-Fri 22:00-05:00], timeZone: Europe/Berlin'), {
    ...{ code: 0, findings: [], part: { outcome: 'accepted' } },
  })
  t.match(await check('windows: [Sun 02:00-03:00], timeZone: Europe/Berlin'), {
    code: 0,
    findings: [{ rule: 'rollout/window', severity: 'warn', problem: /Sun 02:00-03:00 on Sun 2027-03-28 does not open/ }],
  })
  t.match(await check('witness: 2'), {
    code: 1,
    findings: [{ rule: 'rollout/plan', severity: 'refuse', problem: /"witness" is not a setting/ }],
  })
  const nowhere = await check('windows: [Sun 02:00-03:00], timeZone: Europe/Nowhere')
  t.match(nowhere, { code: 1, findings: [{ rule: 'rollout/time-zone', severity: 'refuse' }], part: { outcome: 'refused' } })
  t.match(await check('witness: 2', ''), { code: 0, findings: [{ rule: 'rollout/plan', severity: 'warn' }] }, 'no rollout is begun')
  t.match(await check('witness: 2', NAMED.replace('a-rollout', '"off"')), { code: 0, findings: [], part: undefined }, 'nobody waits')
  t.equal((await validate(`${HEAD}maxPods: 64\n`)).out.includes('rollout'), false)
})

t.test('off the node, a part of a config is not refused for what is under it', async (t) => {
  const part = (lines: string) =>
    `apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  kubelet:\n    config:\n      imageGCHighThresholdPercent: 70\n${lines}`
  const elsewhere = { unit: { observe: async () => unit({ activity: 'not-found' }) } }
  const { code, out } = await validate(part(''), { 'kubelet-version': '1.34' }, elsewhere)
  t.equal(code, 0)
  t.match(out, /:6:7: warning: .*imageGCLowThresholdPercent .* \(the node's local config or a flag of kubelet may supply what is missing\)/)
  t.equal((await validate(part('      maxPods: -1\n'), { 'kubelet-version': '1.34' }, elsewhere)).code, 1)
})

t.test('--from says what another kubelet reads in another way', async (t) => {
  const text = `${HEAD}eventRecordQPS: 0\n`
  const { code, out } = await validate(text, { 'kubelet-version': '1.37', from: '1.36' })
  t.equal(code, 0)
  t.match(out, /:3:1: warning: eventRecordQPS changes its meaning: .* 5 events a second; to kubelet 1\.37: 0: no limit \[meaning\/value\]/)
  t.match(out, /^meaning +accepted +compared with what it means to kubelet 1\.36\.0$/m)
  t.notMatch((await validate(text, { 'kubelet-version': '1.37' })).out, /meaning/)
  t.equal((await validate(text, { from: '1.36' })).code, 2, 'to which kubelet is not known')
  t.equal((await validate(text, { 'kubelet-version': '1.37', from: '1.19' })).code, 2)
})

t.test('no output contains a secret', async (t) => {
  for (const output of ['table', 'json', 'sarif']) t.notMatch((await validate(BAD, { output })).out, /s3cret/, output)
})

t.test('exit codes: accepted, refused, not checked', async (t) => {
  const answer = async (outcome: Report['outcome']) =>
    (await validate('x', {}, { inspect: async () => ({ outcome, findings: [], parts: [] }) })).code
  t.same(await Promise.all((['accepted', 'refused', 'unjudged'] as const).map(answer)), [0, 1, 2])
  t.equal((await validate(`${HEAD}maxPod: 1\n`)).code, 0)
  t.equal((await validate(`${HEAD}maxPod: 1\n`, { strict: 'true' })).code, 1)
  t.equal((await validate(HEAD, { kubelet: '/opt/kubelet' })).code, 2, 'the named kubelet did not check the config')
})

t.test('a misspelt feature gate is refused for each version that the rules cover, without a kubelet', async (t) => {
  const text = `${HEAD}featureGates:\n  GracefulNodeShutdwon: true\n`
  for (const version of ['1.20', '1.28', '1.29', '1.34', `1.${NEWEST_MINOR}`]) {
    const { code, out } = await validate(text, { strict: 'true', 'kubelet-version': version })
    t.equal(code, 1, version)
    t.match(out, /4:3: error: .*unrecognized feature gate: GracefulNodeShutdwon \[fields\/gate-unknown\]/)
    t.match(out, /did you mean GracefulNodeShutdown\?/)
  }
})

t.test('a version that the rules do not cover cannot be judged', async (t) => {
  for (const version of ['1.19', `1.${NEWEST_MINOR + 2}`, '2.0']) {
    const { code, out } = await validate(`${HEAD}maxPods: 5\n`, { 'kubelet-version': version })
    t.equal(code, 2, version)
    t.match(out, new RegExp(`^fields +not checked +the rules cover ${COVERED}, not `, 'm'))
  }
})

t.test(
  'the exit code says whether a version that is not released was judged',
  { skip: LAST_IN_TABLES.minor === NEWEST_MINOR && 'no pre-release is in the tables' },
  async (t) => {
    const ask = (lines: string) => validate(`${HEAD}${lines}\n`, { 'kubelet-version': `1.${LAST_IN_TABLES.minor}` })
    const judged = `1.${LAST_IN_TABLES.minor} is not released: judged by ${LAST_IN_TABLES.version}`
    for (const [lines, code, outcome] of [
      ['maxPods: 5', 0, 'accepted'],
      ['maxPods: -1', 1, 'refused'],
      ['featureGates: {NodeSwap: true}', 2, 'not checked'],
    ] as const) {
      const result = await ask(lines)
      t.equal(result.code, code, lines)
      t.match(result.out, new RegExp(`^fields +${outcome} +${judged}$`, 'm'), lines)
    }
  },
)

t.test('a file that cannot be read is not checked', async (t) => {
  const result = await validate('', {}, { readInput: async () => ({ kind: 'unreadable', code: 'EISDIR' }) })
  t.same(result, { code: 2, out: '', err: 'kubelet-cfg-agent validate: kubelet.yaml is a directory: name a file in it\n' })
})

t.test('passes the options to preflight', async (t) => {
  t.match(await record({}), {
    inspected: { options: { kubelet: undefined, version: undefined, unknownKeys: undefined, deep: 'no', node: true } },
  })
  const given = { kubelet: '../kubelet', 'kubelet-version': '1.28', strict: 'true', deep: 'true' }
  const version = { major: 1, minor: 28, patch: 0 }
  t.match(await record(given), { inspected: { options: { kubelet: '../kubelet', version, unknownKeys: 'refuse', deep: 'demanded' } } })
})

t.test('a machine without kubelet is not a node', async (t) => {
  const isNode = async (state: Awaited<ReturnType<CommandContext['unit']['observe']>>) =>
    (await record({}, { unit: { observe: async () => state } })).inspected?.options.node
  t.equal(await isNode(unit()), true)
  t.equal(await isNode(unit({ activity: 'stopped' })), true)
  t.equal(await isNode(unit({ activity: 'not-found' })), false)
  t.equal(await isNode({ kind: 'unknown', detail: 'no systemctl' }), false)
})

t.test('hostile input', async (t) => {
  const cases: Readonly<Record<string, string | Buffer>> = {
    empty: '',
    binary: Buffer.from([0, 1, 2, 3, 0x7f]),
    'not UTF-8': Buffer.from([0x61, 0xff]),
    'a bomb': `a: &a [x, x, x, x]\n${'bcdefghij'.replace(/./g, (name, index: number) => `${name}: &${name} [${`*${'abcdefghij'[index]},`.repeat(9)}]\n`)}`,
    deep: '['.repeat(100_000),
    'one long line': `{${'"x": 1,'.repeat(100_000)}`,
    'a text': 'hello',
    'many problems': `${HEAD}${Array.from({ length: 5000 }, (_, index) => `unknown${index}: 1\n`).join('')}`,
  }
  for (const [name, text] of Object.entries(cases)) {
    const result = await validate(text)
    t.ok(result.code === 1 || name === 'many problems', name)
    t.ok(result.out.length < 100_000, `${name}: ${result.out.length} characters`)
    t.notMatch(result.out, /[^\P{Cc}\n]/u, name)
  }
  const large = await validate('', {}, { readInput: async () => ({ kind: 'too-large' }) })
  t.match(large, { code: 1, out: /source\/too-large/ })
})

t.test('the output never controls the terminal', async (t) => {
  const text = fc.string({ unit: fc.constantFrom('\u001b', '\u0007', '\r', 'a', ' ', '\u009b', '\u202e', '\n') })
  await fc.assert(
    fc.asyncProperty(text, text, text, async (source, problem, name) => {
      const finding = {
        rule: `x/${problem}`,
        severity: 'warn',
        reason: 'load',
        path: [name],
        position: { line: 1, column: 1 },
        problem,
        advice: problem,
      } as const
      const part = { part: name, outcome: 'accepted', detail: problem } as const
      const inspect = async () => ({ outcome: 'accepted', findings: [finding], parts: [part] }) as const
      const { out } = await validate(source, {}, { inspect })
      return !/[^\P{Cc}\n]|\u202e/u.test(out)
    }),
  )
  t.pass()
})

t.test('of a part, each finding says which layer its field comes from', async (t) => {
  const annotations = { 'kubelet-cfg-agent.io/base': 'local' }
  const data = { kubelet: 'kubeAPIQPS: -1\nmaxPod: 7\n' }
  const part = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'p', annotations }, data }
  const path = '/var/lib/kubelet/config.yaml'
  const context: Partial<CommandContext> = {
    readLocalConfig: async () => ({ kind: 'found', path, text: `${HEAD}podPidLimit: 9\n` }),
  }
  const json = JSON.parse((await validate(JSON.stringify(part), { output: 'json' }, context)).out)
  const layerOf = (name: string) => json.findings.find((finding: { path: string }) => finding.path === name)?.layer
  t.equal(layerOf('podPidLimit'), path)
  t.equal(layerOf('maxPod'), 'kubelet.yaml')
  t.match(
    (await validate(JSON.stringify(part), {}, context)).out,
    /podPidLimit.*\n(?:.*\n)*? +(= )?from \/var\/lib\/kubelet\/config.yaml\n/,
  )
  const whole = JSON.parse((await validate(BAD, { output: 'json' })).out)
  t.notOk(whole.findings.some((finding: object) => 'layer' in finding))
})

t.test('shows which layer each field of a merged config comes from', async (t) => {
  const annotations = { 'kubelet-cfg-agent.io/base': 'local' }
  const data = { kubelet: 'maxPods: 200\nevictionHard: {nodefs.available: null}\nfeatureGates: {A: true}\n' }
  const part = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'p', annotations }, data })
  const path = '/var/lib/kubelet/config.yaml'
  const readLocalConfig = async () => ({ kind: 'found', path, text: `${HEAD}evictionHard: {nodefs.available: 10%, a: "1"}\n` }) as const
  const order = { below: [], above: [{ path: '/etc/kubelet.d/50.conf', config: { maxPods: 7, readOnlyPort: 0 } }] }
  const mergeHere: CommandContext['mergeHere'] = async (config) => ({ config: mergeAround(config, order, undefined), order })
  const context = { readLocalConfig, mergeHere, unit: { observe: async () => unit() } }
  const json = JSON.parse((await validate(part, { output: 'json' }, context)).out)
  t.same(json.layers, [path, 'kubelet.yaml', '/etc/kubelet.d/50.conf'])
  t.same(json.fields, [
    {
      path: 'evictionHard["nodefs.available"]',
      steps: ['evictionHard', 'nodefs.available'],
      layer: 'kubelet.yaml',
      removed: true,
    },
    { path: 'featureGates.A', steps: ['featureGates', 'A'], layer: 'kubelet.yaml', removed: false },
    { path: 'maxPods', steps: ['maxPods'], layer: '/etc/kubelet.d/50.conf', removed: false },
    { path: 'readOnlyPort', steps: ['readOnlyPort'], layer: '/etc/kubelet.d/50.conf', removed: false },
  ])
  t.matchSnapshot((await validate(part, {}, context)).out)
  const elsewhere = JSON.parse(
    (await validate(part, { output: 'json' }, { ...context, unit: { observe: async () => unit({ activity: 'not-found' }) } })).out,
  )
  t.same(elsewhere.layers, [EMPTY_LOCAL.path, 'kubelet.yaml'], 'a machine that is no node has no local config and no drop-ins')
  const whole = JSON.parse((await validate(`${HEAD}maxPods: 5\n`, { output: 'json' }, context)).out)
  t.same(whole.layers, ['kubelet.yaml', '/etc/kubelet.d/50.conf'])
  t.match(JSON.parse((await validate(`${HEAD}maxPods: 5\n`, { output: 'json' })).out), { layers: [], fields: [] })
})

t.test('a finding about a value of a drop-in names the drop-in, one about what it overrides the layer below', async (t) => {
  const annotations = { 'kubelet-cfg-agent.io/base': 'local' }
  const part = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'p', annotations }, data: { kubelet: 'maxPods: 5\n' } }
  const order = { below: [], above: [{ path: '/etc/kubelet.d/50.conf', config: { maxPods: -1 } }] }
  const finding = { severity: 'warn', reason: 'validate', path: ['maxPods'], position: undefined, problem: 'x', advice: undefined } as const
  const { out } = await validate(
    JSON.stringify(part),
    { output: 'json' },
    {
      readLocalConfig: async () => ({ kind: 'found', path: '/var/lib/kubelet/config.yaml', text: HEAD }),
      mergeHere: async (config) => ({ config: mergeAround(config, order, undefined), order }),
      inspect: async () => ({
        outcome: 'accepted',
        parts: [],
        findings: ['fields/range', 'drop-ins/overridden'].map((rule) => ({ ...finding, rule })),
      }),
    },
  )
  t.match(JSON.parse(out).findings, [{ layer: '/etc/kubelet.d/50.conf' }, { layer: 'kubelet.yaml' }])
})

t.test('computes values for the Node of --node, for this one, or reads only how', async (t) => {
  const text = 'apiVersion: kubelet-cfg-agent.io/v1alpha1\nkind: ComputedKubeletConfiguration\ncomputed: {maxPods: node.cpus * 20}\n'
  const node = { kind: 'Node', metadata: { name: 'n1' }, status: { capacity: { cpu: '4' } } }
  const validateFor = (object: unknown, config = text, options = {}) => {
    const readInput: CommandContext['readInput'] = async (path) =>
      ({ kind: 'read', bytes: Buffer.from(path === 'node.json' ? JSON.stringify(object) : config) }) as const
    return validate('', { node: 'node.json', ...options }, { readInput })
  }
  t.match(await validateFor(node), { code: 0, out: /^Computed from the Node:\n {2}maxPods: 80\n\n/ })
  t.match(JSON.parse((await validateFor(node, text, { output: 'json' })).out), { computed: [{ field: 'maxPods', value: 80 }] })
  t.match(await validateFor({ ...node, status: {} }), {
    code: 2,
    err: /kubelet.yaml: kubelet: computed maxPods at line 3.*field not found: cpus/,
  })
  t.match(await validateFor({ ...node, status: { capacity: { cpu: '1' } } }, text.replace('* 20', '- 2')), { code: 1, out: /maxPods/ })
  t.match(await validateFor({ kind: 'Pod' }), { code: 2, err: /node.json is no Node as JSON/ })
  t.match(await validate(text), { code: 0, out: /^Its values are computed on each node, and left out here: give a Node with --node/ })
  t.match(await validate(text.replace('* 20', '*')), { code: 2, err: /computed maxPods/ })
  const manifest = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  kubelet: |\n${text.replace(/^/gm, '    ')}\n`
  t.match(await validateFor(node, manifest), { code: 0, out: /maxPods: 80/ })
})
