// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { LAST_IN_TABLES, NEWEST_MINOR } from '../../src/kubelet/fields.ts'
import { readDocument } from '../../src/preflight/document.ts'
import type { GuardName } from '../../src/preflight/guards.ts'
import type { InspectOptions, PartInput, PartReport, TargetNode } from '../../src/preflight/inspection.ts'
import type { JudgeRequest, KubeletJudgement } from '../../src/preflight/kubelet/judgement.ts'
import { COVERED, formatVersion, IN_TABLES } from '../../src/preflight/kubelet-version.ts'
import { NOTHING_KNOWN, type SurroundingNeeds, type Surroundings } from '../../src/preflight/node/surroundings.ts'
import { listParts, type PartSources } from '../../src/preflight/parts.ts'
import type { ChangePolicy } from '../../src/preflight/policy/check-policy.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const OPEN: ChangePolicy = { base: 'open', allow: [], deny: [], requireDrain: [] }
const OPTIONS: InspectOptions = { kubelet: undefined, version: undefined, unknownKeys: undefined, deep: 'no', node: true }
const v120 = { major: 1, minor: 20, patch: 2 }
const KUBELET = { binary: '/usr/bin/kubelet', flags: ['--v=2'] }
const nodeWith = (fields: Partial<TargetNode> = {}): TargetNode => ({ flags: [], folder: '/c', running: {}, kubeletPid: 7, ...fields })

interface World {
  readonly policy?: ChangePolicy
  readonly judgement?: KubeletJudgement
  readonly surroundings?: Partial<Surroundings>
  readonly guardsOff?: readonly GuardName[]
}

async function run(part: string, yaml: string, subject: Partial<PartInput> = {}, world: World = {}) {
  const text = `${HEAD}${yaml}`
  const read = await readDocument(text, IN_PLACE)
  if (!read.ok) throw new Error(read.detail)
  const needs: SurroundingNeeds[] = []
  const requests: JudgeRequest[] = []
  const sources: PartSources = {
    surroundings: async (requested) => {
      needs.push(requested)
      return { ...NOTHING_KNOWN, ...world.surroundings }
    },
    policy: () => world.policy ?? OPEN,
    guardsOff: () => world.guardsOff ?? [],
    judge: {
      judge: async (request) => {
        requests.push(request)
        return world.judgement ?? { kind: 'accepted', detail: 'kubelet 1.20.2 loaded and validated the config' }
      },
      forget: () => {},
    },
    signal: new AbortController().signal,
  }
  const found = listParts(sources).find(({ name }) => name === part)
  if (found === undefined) throw new Error(`no part ${part}`)
  const report = await found.run({
    kubelet: undefined,
    version: v120,
    node: undefined,
    unknownKeys: 'warn',
    config: { name: 'x.yaml', files: { kubelet: text, other: 'x' }, key: 'kubelet' },
    assigned: read.document,
    document: read.document,
    options: OPTIONS,
    yaml: IN_PLACE,
    signal: new AbortController().signal,
    ...subject,
  })
  return { report, needs, requests }
}
const rulesOf = (report: PartReport | undefined) => report?.findings.map(({ rule, severity }) => `${severity} ${rule}`)

t.test('fields: a version that the rules do not know is not judged', async (t) => {
  for (const version of [
    { major: 1, minor: 19, patch: 0 },
    { major: 1, minor: NEWEST_MINOR + 2, patch: 0 },
    { major: 2, minor: 30, patch: 0 },
  ]) {
    const { report } = await run('fields', 'maxPods: 5\n', { version })
    const only = version.minor === 19 ? '' : `: those of ${LAST_IN_TABLES.version} only warn`
    t.match(report, { outcome: 'unjudged', detail: `the rules cover ${COVERED}, not ${formatVersion(version)}${only}` })
  }
  const bad = await run('fields', 'maxPods: -1\n', { version: { major: 1, minor: NEWEST_MINOR + 2, patch: 0 } })
  t.match(bad.report, { outcome: 'refused', detail: '1 field checked against the rules of every kubelet version' })
})

t.test(
  'fields: a version that is not released is judged by its pre-release, but for what may change',
  { skip: LAST_IN_TABLES.minor === NEWEST_MINOR && 'no pre-release is in the tables' },
  async (t) => {
    const version = { major: 1, minor: LAST_IN_TABLES.minor, patch: 0 }
    const detail = `1.${LAST_IN_TABLES.minor} is not released: judged by ${LAST_IN_TABLES.version}`
    const outcomeOf = async (text: string) => (await run('fields', text, { version })).report
    t.match(await outcomeOf('maxPods: 5\n'), { outcome: 'accepted', detail })
    t.match(await outcomeOf('maxPods: -1\n'), { outcome: 'refused', detail })
    t.match(await outcomeOf('featureGates: {NoSuchGate: true}\n'), { outcome: 'unjudged', findings: [{ severity: 'warn' }] })
    t.match(await outcomeOf('featureGates: {NodeSwap: true}\n'), { outcome: 'unjudged', detail, findings: [{ severity: 'warn' }] })
  },
)

t.test('fields: what counts beside the config decides what is missing', async (t) => {
  const version = { major: 1, minor: 34, patch: 0 }
  const static_ = 'cpuManagerPolicy: static\n'
  const part = { name: 'x', files: {}, key: 'kubelet', isPart: true }
  const rules = async (text: string, subject: Partial<PartInput>) => rulesOf((await run('fields', text, { version, ...subject })).report)
  t.same(await rules(static_, { node: nodeWith() }), ['refuse fields/static-policy'])
  t.same(await rules(static_, { node: nodeWith({ flags: ['--kube-reserved=cpu=1'] }) }), [])
  t.same(await rules(static_, { node: nodeWith({ incomplete: 'others' }) }), ['warn fields/static-policy'], 'not all flags are known')
  t.same(await rules(static_, {}), ['warn fields/static-policy'])
  t.same(await rules(static_, { node: nodeWith(), config: part }), ['warn fields/static-policy'])
  const hard = 'evictionHard: {memory.available: 300Mi}\n'
  t.same(await rules(hard, { node: nodeWith() }), ['warn otherwise/eviction-defaults'])
  t.same(await rules(hard, { node: nodeWith({ flags: ['--eviction-hard=memory.available<1Gi'] }) }), [], 'the flag wins')
  const tls = 'serverTLSBootstrap: true\n'
  t.same(await rules(tls, { node: nodeWith() }), ['info otherwise/serving-certificate'])
  t.same(await rules(tls, { node: nodeWith({ running: { serverTLSBootstrap: true } }) }), [], 'it runs already')
  const running = { evictionHard: { 'memory.available': '300Mi' } }
  t.same(await rules(hard, { node: nodeWith({ running }) }), ['warn otherwise/eviction-defaults'], 'a warning stays')
  const base = { path: '/b', config: {} }
  const dropIns = { kind: 'usable', directory: '/d', order: { base, below: [], above: [] } } as const
  const merged = await rules(`mergeDefaultEvictionSettings: true\n${hard}`, { node: nodeWith(), dropIns })
  t.same(merged, ['warn otherwise/eviction-defaults'], 'kubelet adds the defaults before it merges drop-ins')
})

t.test('on a node each problem is reported by one part', async (t) => {
  const version = { major: 1, minor: 34, patch: 0 }
  const one = { kubeReserved: '{memory: 1Gi}', reservedMemory: '[{numaNode: 0, limits: {memory: 2Gi}}]', memoryManagerPolicy: 'Static' }
  const texts = [
    ...['cpuManagerPolicy: static\n', 'tlsCertFile: /c\n', 'containerRuntimeEndpoint: tcp://x:1\n', 'kubeReserved: {cpu: 200Mi}\n'],
    Object.entries(one)
      .map(([name, value]) => `${name}: ${value}\n`)
      .join(''),
    `evictionHard: {memory.available: 10%, nodefs.available: 1%, nodefs.inodesFree: 1%, imagefs.available: 1%, imagefs.inodesFree: 1%}\n${Object.entries(
      one,
    )
      .map(([name, value]) => `${name}: ${value}\n`)
      .join('')}`,
  ]
  const surroundings = { memoryBytes: 8 * 2 ** 30, onlineCpus: new Set([0, 1]), presentCpus: new Set([0, 1]), numaNodes: new Set([0]) }
  for (const text of texts) {
    const reports = await Promise.all(['fields', 'node'].map((part) => run(part, text, { version, node: nodeWith() }, { surroundings })))
    const found = reports.flatMap(({ report }) => report?.findings ?? [])
    t.equal(found.length, 1, `${text}: ${found.map(({ rule }) => rule)}`)
  }
})

t.test('node: where kubelet starts with no config, none is to blame', async (t) => {
  const version = { major: 1, minor: 38, patch: 0 }
  const range = 'kubelet:4294901760:65536\n'
  const texts = new Map([
    ['/etc/passwd', 'root:x:0:0\nkubelet:x:999:999\n'],
    ['/etc/subuid', range],
    ['/etc/subgid', range],
  ])
  const found = { paths: new Map([['/usr/bin/getsubids', 'file' as const]]), texts }
  const { report, needs } = await run('node', 'maxPods: 5\n', { version, node: nodeWith() }, { surroundings: found })
  t.match(report, { outcome: 'cannot-start', detail: /4294901760:65536 of the user kubelet in .etc.subuid ends at 4294967295/ })
  t.ok(needs.some((need) => need.texts.includes('/etc/subuid')))
  const bad = await run(
    'node',
    'authentication: {x509: {clientCAFile: /no/ca.crt}}\n',
    { version, node: nodeWith() },
    { surroundings: { ...found, paths: new Map([...found.paths, ['/no/ca.crt', 'missing' as const]]) } },
  )
  t.match(
    bad.report,
    { outcome: 'cannot-start', findings: [{ severity: 'refuse', path: ['authentication', 'x509', 'clientCAFile'] }] },
    'people see both',
  )
})

t.test('only the part that starts kubelet is slow', async (t) => {
  const parts = listParts({
    surroundings: async () => NOTHING_KNOWN,
    policy: () => OPEN,
    guardsOff: () => [],
    judge: { judge: async () => ({ kind: 'unjudged', detail: '' }), forget: () => {} },
    signal: new AbortController().signal,
  })
  t.same(
    parts.map(({ name, slow }) => `${name}${slow ? ' slow' : ''}`),
    ['drop-ins', 'fields', 'meaning', 'node', 'change', 'kubelet', 'kubelet-start slow'],
  )
})

t.test('meaning: what another kubelet would make of it, with the flags of this one', async (t) => {
  const [from, version] = [36, 37].map((minor) => ({ major: 1, minor, patch: 0 }))
  const yaml = 'memoryThrottlingFactor: 0.9\neventRecordQPS: 0\n'
  const rulesOf = async (subject: Partial<PartInput>) => {
    const { report } = await run('meaning', yaml, { from, version, ...subject })
    return report && [report.outcome, ...report.findings.map(({ rule, path }) => `${rule} ${path.join('.')}`)]
  }
  const gates = 'meaning/gate featureGates'
  t.same(await rulesOf({}), ['accepted', 'meaning/value eventRecordQPS', 'meaning/value memoryThrottlingFactor', gates])
  const flags = ['--event-qps=0', '--feature-gates=MemoryQoS=false']
  t.same(await rulesOf({ node: nodeWith({ flags }) }), ['accepted', gates], 'a flag decides')
  t.same(await rulesOf({ from: version }), ['accepted'])
  t.same(await rulesOf({ from: undefined }), undefined)
  t.same(await rulesOf({ from: 'unknown' }), ['unjudged'])
  const beta = { major: 1, minor: LAST_IN_TABLES.minor, patch: 0 }
  t.same((await rulesOf({ version: beta }))?.[0], 'accepted')
  t.match(
    (await run('meaning', yaml, { from, version: beta })).report?.detail,
    LAST_IN_TABLES.minor > NEWEST_MINOR ? new RegExp(`is not released: judged by ${LAST_IN_TABLES.version}$`) : /1\.36\.0$/,
  )
  t.same(await rulesOf({ version: { ...beta, minor: Math.max(NEWEST_MINOR, LAST_IN_TABLES.minor) + 1 } }), ['unjudged'])
})

t.test('fields: findings and version', async (t) => {
  const bad = await run('fields', 'maxPods: -1\nfoo: 1\n')
  t.equal(bad.report?.outcome, 'refused')
  t.equal(bad.report?.detail, '2 fields checked against the rules of kubelet 1.20.2')
  t.same(rulesOf(bad.report), ['refuse fields/range', 'warn fields/unknown-key'])
  const strict = await run('fields', 'foo: 1\n', { unknownKeys: 'refuse', version: undefined })
  t.match(strict.report, { outcome: 'refused', detail: '1 field checked against the rules of every kubelet version' })
})

t.test('fields: a kubelet that is newer than the tables may know a field that they lack', async (t) => {
  for (const version of [
    { major: 1, minor: NEWEST_MINOR + 1, patch: 0 },
    { major: 2, minor: 0, patch: 0 },
  ]) {
    const { report } = await run('fields', 'foo: 1\nmaxPod: 5\n', { unknownKeys: 'refuse', version })
    t.match(report, { outcome: 'unjudged' })
    t.same(rulesOf(report), ['warn fields/unlisted-key', 'warn fields/unlisted-key'])
    const problem = `foo is not in the tables of this agent, which cover ${IN_TABLES}: kubelet ${formatVersion(version)} may know it`
    t.match(report?.findings, [
      { path: ['foo'], problem },
      { path: ['maxPod'], advice: 'did you mean maxPods?' },
    ])
  }
  const many = Array.from({ length: 30 }, (_, index) => `new${index}: 1\n`).join('')
  const { report } = await run('fields', many, { unknownKeys: 'refuse', version: { major: 1, minor: NEWEST_MINOR + 1, patch: 0 } })
  t.match(report, { outcome: 'unjudged' })
  t.match(report?.findings.map(({ problem }) => problem).join(), /10 more keys that are not in the tables of this agent/)
  const older = await run('fields', 'foo: 1\n', { unknownKeys: 'refuse', version: { major: 1, minor: 19, patch: 0 } })
  t.same(rulesOf(older.report), ['refuse fields/unknown-key'])
})

t.test('fields: kubelet flags count as if they were in the config', async (t) => {
  const yaml = 'systemCgroups: /system\n'
  const flags = ['--cgroup-root=/']
  t.match((await run('fields', yaml)).report, { outcome: 'refused', findings: [{ path: ['systemCgroups'] }] })
  t.match((await run('fields', yaml, { node: nodeWith({ flags }) })).report, { outcome: 'accepted', findings: [] })
  t.match((await run('fields', yaml, { kubelet: { ...KUBELET, flags } })).report, { outcome: 'accepted' }, 'also without a node')
  const wins = await run('fields', 'maxPods: -1\n', { node: nodeWith({ flags: ['--max-pods', '64'] }) })
  t.match(wins.report, { outcome: 'accepted' }, 'and override it')
})

t.test('fields: what a flag may set is missing only where the flags are known', async (t) => {
  const yaml = 'enforceNodeAllocatable: [pods, kube-reserved]\nkubeReservedCgroup: /kube.slice\n'
  const path = ['enforceNodeAllocatable', 1]
  t.match((await run('fields', yaml)).report, {
    outcome: 'accepted',
    findings: [{ severity: 'warn', path, problem: /a flag of kubelet may supply what is missing/ }],
  })
  t.match((await run('fields', yaml, { node: nodeWith() })).report, { outcome: 'refused', findings: [{ severity: 'refuse', path }] })
  t.match((await run('fields', yaml, { node: nodeWith({ incomplete: 'more' }) })).report, { outcome: 'accepted' })
  const flags = ['--kube-reserved=cpu=100m']
  t.match((await run('fields', yaml, { node: nodeWith({ flags }) })).report, { outcome: 'accepted', findings: [] })
})

t.test('fields: a flag that sets a part of an object does not hide the rest', async (t) => {
  const version = { major: 1, minor: 24, patch: 0 }
  const withFlags = (flags: readonly string[]) => run('fields', 'logging: {verbosity: loud}\n', { version, node: nodeWith({ flags }) })
  for (const flags of [[], ['--logging-format=text']])
    t.match((await withFlags(flags)).report, { outcome: 'refused', findings: [{ rule: 'fields/type', path: ['logging', 'verbosity'] }] })
})

t.test('fields: gates of flags are not reported', async (t) => {
  const flags = ['--feature-gates=Nonsense=true,CustomCPUCFSQuotaPeriod=true']
  const { report } = await run('fields', 'cpuCFSQuotaPeriod: 10ms\n', { node: nodeWith({ flags }) })
  t.match(report, { outcome: 'accepted', findings: [] })
  const own = await run('fields', 'featureGates: {Nonsense: true}\n', { node: nodeWith({ flags }) })
  t.same(rulesOf(own.report), ['refuse fields/gate-unknown'])
})

t.test('fields: the guards of the connection to the API server', async (t) => {
  const guards = async (yaml: string, subject: Partial<PartInput> = {}, world: World = {}) =>
    rulesOf((await run('fields', yaml, subject, world)).report)
  const type = 'contentType: application/foo\n'
  const lease = 'nodeLeaseDurationSeconds: 121\n'
  t.same(await guards(type), ['refuse guard/content-type'], 'without a node')
  t.same(await guards(lease), ['refuse guard/node-lease'])
  t.same(await guards(type, { node: nodeWith() }), ['refuse guard/content-type'])
  t.same(await guards(type, { node: nodeWith({ running: { contentType: 'application/foo' } }) }), ['warn guard/content-type'], 'it runs')
  t.same(
    await guards(lease, { node: nodeWith({ running: { nodeLeaseDurationSeconds: 200 } }) }),
    ['warn guard/node-lease'],
    'it was longer',
  )
  t.same(await guards(lease, { node: nodeWith({ running: { nodeLeaseDurationSeconds: 60 } }) }), ['refuse guard/node-lease'])
  t.same(await guards('nodeLeaseDurationSeconds: 120\n'), [])
  t.same(await guards('nodeLeaseDurationSeconds: 0\n'), ['warn otherwise/zero'], 'the default')
  for (const known of ['application/json', 'application/vnd.kubernetes.protobuf', '""'])
    t.same(await guards(`contentType: ${known}\n`), [], known)
  for (const unknown of ['application/yaml', 'application/JSON', '"application/json; charset=utf-8"'])
    t.same(await guards(`contentType: ${unknown}\n`), ['refuse guard/content-type'], unknown)
  const cbor = 'contentType: application/cbor\n'
  t.same(await guards(cbor, { version: { major: 1, minor: 31, patch: 0 } }), ['refuse guard/content-type'])
  t.same(await guards(cbor, { version: { major: 1, minor: 32, patch: 0 } }), [])
  t.same(await guards(cbor, { version: undefined }), [])
  const flag = nodeWith({ flags: ['--kube-api-content-type=application/json'] })
  t.same(await guards(type, { node: flag }), [], 'a flag overrides it')
})

t.test('a refusal names the guard, and a guard that is off only warns', async (t) => {
  const yaml = 'contentType: application/foo\nnodeLeaseDurationSeconds: 1000000\n'
  const on = await run('fields', yaml)
  t.match(on.report, {
    outcome: 'refused',
    findings: [
      { path: ['contentType'], problem: /\(guardsOff: content-type would allow it\)$/, position: { line: 3, column: 1 } },
      { path: ['nodeLeaseDurationSeconds'], problem: /\(guardsOff: node-lease would allow it\)$/, position: { line: 4, column: 1 } },
    ],
  })
  const off = await run('fields', yaml, {}, { guardsOff: ['content-type', 'node-lease', 'static-pods'] })
  t.match(off.report, { outcome: 'accepted', findings: [{ severity: 'warn' }, { severity: 'warn' }] })
  t.notMatch(JSON.stringify(off.report), /guardsOff/)
  const node = nodeWith({ running: { staticPodPath: '/m' } })
  const surroundings = { manifests: new Map([['/m', 2]]) }
  const pods = await run('node', 'maxPods: 5\n', { node }, { surroundings })
  t.match(pods, {
    needs: [{ manifests: ['/m'] }],
    report: {
      outcome: 'refused',
      findings: [{ path: ['staticPodPath'], problem: /guardsOff: static-pods/, position: { line: 2, column: 1 } }],
    },
  })
  t.match((await run('node', 'maxPods: 5\n', { node }, { surroundings, guardsOff: ['static-pods'] })).report, { outcome: 'accepted' })
})

t.test('node: looks only for the facts that the config needs, and only on a node', async (t) => {
  const none = await run('node', 'failSwapOn: true\n')
  t.same([none.report, none.needs], [undefined, []])
  const swap = await run('node', 'failSwapOn: true\n', { node: nodeWith() }, { surroundings: { swapBytes: 2 ** 30 } })
  t.match(swap, { report: { outcome: 'refused', findings: [{ path: ['failSwapOn'] }] }, needs: [{ kubeletPid: 7, memory: true }] })
  t.match((await run('node', 'failSwapOn: true\n', { node: nodeWith() })).report, { outcome: 'accepted' }, 'unknown facts refuse nothing')
})

t.test('change: does not apply without a node, and cannot run if the current config is unknown', async (t) => {
  t.equal((await run('change', 'maxPods: 64\n')).report, undefined)
  const { report } = await run('change', 'maxPods: 64\n', { node: nodeWith({ running: undefined }) })
  t.match(report, { outcome: 'unjudged', findings: [] })
  for (const restriction of [{ base: 'guarded' as const }, { deny: ['maxPods'] }, { requireDrain: ['maxPods'] }]) {
    const unknown = await run(
      'change',
      'maxPods: 64\n',
      { node: nodeWith({ running: undefined }) },
      { policy: { ...OPEN, ...restriction } },
    )
    t.match(unknown.report, { outcome: 'refused', findings: [{ rule: 'policy/unseen' }] }, 'a policy with any restriction refuses')
  }
})

t.test('change: where the current config is unknown, managers with a policy may change', async (t) => {
  const fieldsOf = async (yaml: string, node: Partial<TargetNode> = {}, texts: Readonly<Record<string, string>> = {}) => {
    const subject = { node: nodeWith({ running: undefined, ...node }), version: { major: 1, minor: 34, patch: 0 } }
    const { report } = await run('change', yaml, subject, { surroundings: { texts: new Map(Object.entries(texts)) } })
    t.equal(report?.outcome, 'unjudged')
    return report?.findings.map(({ rule, path }) => `${rule} ${path.join('.')}`)
  }
  t.same(await fieldsOf('maxPods: 64\n'), [])
  t.same(await fieldsOf('cpuManagerPolicy: static\n'), ['change/managers cpuManagerPolicy'])
  t.same(await fieldsOf('cpuManagerPolicy: static\n', { kubeletPid: undefined }), [], 'no kubelet runs')
  t.same(await fieldsOf('cpuManagerPolicy: static\n', { flags: ['--cpu-manager-policy=none'] }), [], 'the flag wins')
  t.same(await fieldsOf('topologyManagerPolicy: restricted\n'), ['change/managers topologyManagerPolicy'])
  const state = (policyName: string) => ({ '/data/cpu_manager_state': JSON.stringify({ policyName }) })
  const flags = ['--root-dir=/data']
  t.same(await fieldsOf('maxPods: 64\n', { flags }, state('none')), [])
  t.same(await fieldsOf('maxPods: 64\n', { flags }, state('static')), ['change/managers cpuManagerPolicy'], 'static runs')
})

t.test('change: findings of the current policy', async (t) => {
  const node = nodeWith({ running: { maxPods: 110 } })
  t.same((await run('change', 'maxPods: 64\n', { node })).report, {
    outcome: 'accepted',
    detail: '1 field changes',
    findings: [],
    changed: ['maxPods'],
  })
  t.match((await run('change', 'maxPods: 110\n', { node })).report, { detail: '0 fields change', changed: [] })
  const denied = await run('change', 'maxPods: 64\n', { node }, { policy: { ...OPEN, deny: ['maxPods'] } })
  t.match(denied.report, { outcome: 'refused', findings: [{ rule: 'policy/deny[0]', position: { line: 3, column: 1 } }] })
})

t.test('change: a field that the tables lack may be any field, of any risk, under a policy that restricts', async (t) => {
  const version = { major: 1, minor: NEWEST_MINOR + 1, patch: 0 }
  const decide = async (policy: Partial<ChangePolicy>, given = version) =>
    rulesOf((await run('change', 'foo: 1\n', { node: nodeWith(), version: given }, { policy: { ...OPEN, ...policy } })).report)
  t.same(await decide({ deny: ['class:reboot'] }), ['refuse policy/deny[0]'])
  t.same(await decide({ base: 'guarded' }), ['refuse policy/guarded'])
  t.same(await decide({ requireDrain: ['class:drain'] }), ['info policy/require-drain'])
  t.same(await decide({ base: 'guarded', allow: ['class:restart'] }), ['refuse policy/guarded'], 'what allows has to name it')
  t.same(await decide({ base: 'guarded', allow: ['class:unknown'] }), [])
  t.same(await decide({ deny: ['staticPodPath'] }, v120), ['refuse policy/deny[0]'], 'that kubelet ignores it is what the tables say')
  t.same(await decide({}, v120), [])
})

t.test('change: the fields that change something are told, or that they are not known', async (t) => {
  const changedBy = async (text: string, given: Parameters<typeof run>[2]) => (await run('change', text, given)).report?.changed
  t.same(await changedBy('evictionHard: {memory.available: 1Gi}\nfoo: 1\n', { node: nodeWith(), version: v120 }), [
    'evictionHard.memory.available',
    'evictionHard.nodefs.available',
    'evictionHard.nodefs.inodesFree',
    'evictionHard.imagefs.available',
  ])
  const flags = { node: nodeWith({ flags: ['--max-pods=110'] }) }
  t.same(await changedBy('maxPods: 64\npodsPerCore: 1\n', flags), ['podsPerCore'], 'a flag wins over the other')
  t.equal(await changedBy('foo: 1\n', { node: nodeWith(), version: { major: 1, minor: NEWEST_MINOR + 1, patch: 0 } }), undefined)
})

t.test('change: a change that waits for a drained node is not refused', async (t) => {
  const policy = { ...OPEN, requireDrain: ['maxPods'] }
  const { report } = await run('change', 'maxPods: 64\n', { node: nodeWith() }, { policy })
  t.match(report, { outcome: 'accepted', findings: [{ rule: 'policy/require-drain', severity: 'info', path: ['maxPods'] }] })
})

t.test('change: a flag that overrides the field is named', async (t) => {
  const { report } = await run('change', 'maxPods: 64\n', { node: nodeWith({ flags: ['--max-pods=110'] }) })
  t.match(report, { outcome: 'accepted', findings: [{ rule: 'change/overridden-by-flag', severity: 'warn', problem: /--max-pods/ }] })
})

t.test('kubelet: runs with its own flags and every file', async (t) => {
  const { report, requests } = await run('kubelet', 'maxPods: 64\n', { kubelet: KUBELET })
  t.same(report, { outcome: 'accepted', detail: 'kubelet 1.20.2 loaded and validated the config', findings: [] })
  t.match(requests, [{ ...KUBELET, stage: 'load', key: 'kubelet', files: { kubelet: /maxPods/, other: 'x' } }])
})

t.test('kubelet: the deep stage runs only on request', async (t) => {
  const shallow = await run('kubelet-start', '', { kubelet: KUBELET })
  t.same([shallow.report, shallow.requests], [undefined, []])
  const deep = await run('kubelet-start', '', { kubelet: KUBELET, options: { ...OPTIONS, deep: 'demanded' } })
  t.match(deep, { report: { outcome: 'accepted' }, requests: [{ stage: 'deep' }] })
})

t.test('kubelet: the agent leaves out the deep stage where it finds no more', async (t) => {
  const start = (minor: number) =>
    run('kubelet-start', '', { kubelet: KUBELET, version: { ...v120, minor }, options: { ...OPTIONS, deep: 'if-possible' } })
  t.match(await start(27), { report: { outcome: 'accepted' }, requests: [{ stage: 'deep' }] })
  const later = await start(28)
  t.same([later.report, later.requests], [undefined, []])
})

t.test('kubelet: a version that does not know a flag of this node starts with no config', async (t) => {
  const ask = async (minor: number, words: string[], incomplete?: 'more' | 'others') => {
    const version = { major: 1, minor, patch: 0 }
    const subject = { version, options: { ...OPTIONS, version }, node: nodeWith({ flags: words, incomplete }) }
    return (await run('kubelet', '', subject)).report
  }
  const words = ['--containerd=/run/containerd/containerd.sock', '--boot_id_file', '/b', '--v=2', '--mine']
  t.same(await ask(37, words), {
    outcome: 'cannot-start',
    detail:
      "kubelet 1.37.0 does not know --containerd, --boot-id-file of this node's kubelet, and does not start with any config until its command line lacks them",
    findings: [],
  })
  t.match(await ask(37, words, 'more'), { outcome: 'cannot-start' })
  t.match(await ask(37, words, 'others'), { outcome: 'unjudged', detail: 'no kubelet 1.37.0 is available' })
  t.match(await ask(36, words), { outcome: 'unjudged', detail: 'no kubelet 1.36.0 is available' })
  t.match(await ask(99, ['--cloud-config=/c']), { outcome: 'cannot-start', detail: /lacks it$/ })
  t.match(await ask(27, ['--config-dir=/d']), { outcome: 'cannot-start' })
  t.match(await ask(28, ['--config-dir=/d']), { outcome: 'unjudged' })
})

t.test('kubelet: what it makes of the config otherwise than the rules is a fault of the rules', async (t) => {
  const v137 = { major: 1, minor: 37, patch: 2 }
  const kubelet = { ...KUBELET, flags: ['--v=2', '--max-pods=43'] }
  const check = (effective: string | undefined, part = 'kubelet') =>
    run(
      part,
      'maxPods: 64\npodsPerCore: 7\nlogging: {verbosity: 4}\n',
      { kubelet, version: v137, options: { ...OPTIONS, deep: 'demanded' } },
      { judgement: { kind: 'accepted', detail: 'accepted', effective } },
    )
  const same = 'maxPods: 43\npodsPerCore: 7\nlogging: {verbosity: 0}\n'
  const none = { outcome: 'accepted', findings: [] }
  t.match((await check(same)).report, none, 'with the flags of the probe')
  t.match((await check(undefined)).report, none, 'an older kubelet')
  t.match((await check('- 1\n')).report, none)
  t.match((await check('{')).report, none)
  const other = same.replace('7', '9')
  t.match((await check(other)).report, {
    outcome: 'accepted',
    findings: [
      {
        rule: 'kubelet/effective',
        severity: 'warn',
        path: ['podsPerCore'],
        position: { line: 4, column: 1 },
        problem: 'kubelet makes 9 of podsPerCore, and this agent expected 7',
        advice: /please report it/,
      },
    ],
  })
  t.match((await check(other, 'kubelet-start')).report, none, 'said once')
  const long = (await check(`${same}staticPodPath: /${'x'.repeat(500)}\n`)).report?.findings[0]?.problem ?? ''
  t.ok(long.length < 200)
  t.match((await check(`${same}staticPodURLHeader: {A: ['<masked>']}\n`)).report, none, 'kubelet masks it')
})

t.test('kubelet: unjudged without a kubelet', async (t) => {
  t.match((await run('kubelet', '')).report, { outcome: 'unjudged', detail: 'no kubelet is available' })
  const version = { major: 1, minor: 28, patch: 0 }
  const other = await run('kubelet', '', { version, options: { ...OPTIONS, version } })
  t.match(other.report, { outcome: 'unjudged', detail: /^no kubelet 1\.28/ })
  for (const kind of ['unjudged', 'cannot-start'] as const) {
    const judgement = { kind, detail: 'no systemd-run' }
    t.same((await run('kubelet', '', { kubelet: KUBELET }, { judgement })).report, {
      outcome: kind,
      detail: 'no systemd-run',
      findings: [],
    })
  }
})

t.test('kubelet: its message becomes a finding at the field that it names', async (t) => {
  const refuse = (message: string, part = 'kubelet') =>
    run(
      part,
      'maxPods: 64\nport: 0\n',
      { kubelet: KUBELET, options: { ...OPTIONS, deep: 'demanded' } },
      { judgement: { kind: 'refused', reason: 'load', message } },
    )
  const named = await refuse('invalid configuration: port (--port) 0 must be between 1 and 65535, inclusive')
  t.match(named.report, {
    outcome: 'refused',
    detail: '/usr/bin/kubelet would not start with this config',
    findings: [{ rule: 'kubelet/load', severity: 'refuse', reason: 'load', path: ['port'], position: { line: 4, column: 1 } }],
  })
  const unnamed = await refuse('an error without a field', 'kubelet-start')
  t.match(unnamed.report?.findings, [{ rule: 'kubelet/start', path: [], position: undefined, problem: 'an error without a field' }])
})
