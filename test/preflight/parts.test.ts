import t from 'tap'
import type { InspectOptions, NodeToAsk, PartInput, PartReport } from '../../src/preflight/inspection.ts'
import type { JudgeRequest, KubeletJudgement } from '../../src/preflight/kubelet/judgement.ts'
import { NOTHING_KNOWN, type SurroundingNeeds, type Surroundings } from '../../src/preflight/node/surroundings.ts'
import { listParts, type PartSources } from '../../src/preflight/parts.ts'
import type { ChangePolicy } from '../../src/preflight/policy/check-policy.ts'
import { readDocument } from '../../src/preflight/read-document.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const OPEN: ChangePolicy = { base: 'open', allow: [], deny: [], requireDrain: [] }
const OPTIONS: InspectOptions = { kubelet: undefined, version: undefined, unknownKeys: undefined, deep: 'no', node: true }
const v120 = { major: 1, minor: 20, patch: 2 }
const KUBELET = { binary: '/usr/bin/kubelet', flags: ['--v=2'] }
const nodeWith = (fields: Partial<NodeToAsk> = {}): NodeToAsk => ({ flags: [], folder: '/c', running: {}, kubeletPid: 7, ...fields })

interface World {
  readonly policy?: ChangePolicy
  readonly judgement?: KubeletJudgement
  readonly surroundings?: Partial<Surroundings>
}

async function ask(part: string, yaml: string, subject: Partial<PartInput> = {}, world: World = {}) {
  const text = `${HEAD}${yaml}`
  const read = await readDocument(text)
  if (!read.ok) throw new Error(read.detail)
  const needs: SurroundingNeeds[] = []
  const judged: JudgeRequest[] = []
  const sources: PartSources = {
    surroundings: async (asked) => {
      needs.push(asked)
      return { ...NOTHING_KNOWN, ...world.surroundings }
    },
    policy: () => world.policy ?? OPEN,
    judge: {
      judge: async (request) => {
        judged.push(request)
        return world.judgement ?? { kind: 'accepted', detail: 'kubelet 1.20.2 loaded and validated it' }
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
    document: read.document,
    options: OPTIONS,
    ...subject,
  })
  return { report, needs, judged }
}
const rulesOf = (report: PartReport | undefined) => report?.findings.map(({ rule, severity }) => `${severity} ${rule}`)

t.test('only what starts kubelet takes long', async (t) => {
  const parts = listParts({
    surroundings: async () => NOTHING_KNOWN,
    policy: () => OPEN,
    judge: { judge: async () => ({ kind: 'unjudged', detail: '' }), forget: () => {} },
    signal: new AbortController().signal,
  })
  t.same(
    parts.map(({ name, slow }) => `${name}${slow ? ' slow' : ''}`),
    ['fields', 'node', 'change', 'kubelet', 'kubelet-start slow'],
  )
})

t.test('fields: what is wrong, and for which kubelet', async (t) => {
  const bad = await ask('fields', 'maxPods: -1\nfoo: 1\n')
  t.equal(bad.report?.outcome, 'refused')
  t.equal(bad.report?.detail, '2 fields held against the rules of kubelet 1.20.2')
  t.same(rulesOf(bad.report), ['refuse fields/range', 'warn fields/unknown-key'])
  const strict = await ask('fields', 'foo: 1\n', { unknownKeys: 'refuse', version: undefined })
  t.match(strict.report, { outcome: 'refused', detail: '1 field held against the rules of every kubelet' })
})

t.test('fields: a flag of kubelet counts as if the config had it', async (t) => {
  const yaml = 'systemCgroups: /system\n'
  const flags = ['--cgroup-root=/']
  t.match((await ask('fields', yaml)).report, { outcome: 'refused', findings: [{ path: ['systemCgroups'] }] })
  t.match((await ask('fields', yaml, { node: nodeWith({ flags }) })).report, { outcome: 'accepted', findings: [] })
  t.match((await ask('fields', yaml, { kubelet: { ...KUBELET, flags } })).report, { outcome: 'accepted' }, 'without a node too')
  const wins = await ask('fields', 'maxPods: -1\n', { node: nodeWith({ flags: ['--max-pods', '64'] }) })
  t.match(wins.report, { outcome: 'accepted' }, 'and wins over it')
})

t.test('fields: what a flag sets within an object hides nothing else of it', async (t) => {
  const version = { major: 1, minor: 24, patch: 0 }
  const of = (flags: readonly string[]) => ask('fields', 'logging: {verbosity: loud}\n', { version, node: nodeWith({ flags }) })
  for (const flags of [[], ['--logging-format=text']])
    t.match((await of(flags)).report, { outcome: 'refused', findings: [{ rule: 'fields/type', path: ['logging', 'verbosity'] }] })
})

t.test('fields: what flags say of gates is no doing of the config', async (t) => {
  const flags = ['--feature-gates=Nonsense=true,CustomCPUCFSQuotaPeriod=true']
  const { report } = await ask('fields', 'cpuCFSQuotaPeriod: 10ms\n', { node: nodeWith({ flags }) })
  t.match(report, { outcome: 'accepted', findings: [] })
  const own = await ask('fields', 'featureGates: {Nonsense: true}\n', { node: nodeWith({ flags }) })
  t.same(rulesOf(own.report), ['refuse fields/gate-unknown'])
})

t.test('node: asked of what the config needs, and only on a node', async (t) => {
  const none = await ask('node', 'failSwapOn: true\n')
  t.same([none.report, none.needs], [undefined, []])
  const swap = await ask('node', 'failSwapOn: true\n', { node: nodeWith() }, { surroundings: { swapBytes: 2 ** 30 } })
  t.match(swap, { report: { outcome: 'refused', findings: [{ path: ['failSwapOn'] }] }, needs: [{ kubeletPid: 7, memory: true }] })
  t.match((await ask('node', 'failSwapOn: true\n', { node: nodeWith() })).report, { outcome: 'accepted' }, 'nothing follows from nothing')
})

t.test('change: no business without a node, and nothing to say where nobody knows what runs', async (t) => {
  t.equal((await ask('change', 'maxPods: 64\n')).report, undefined)
  const { report } = await ask('change', 'maxPods: 64\n', { node: nodeWith({ running: undefined }) })
  t.match(report, { outcome: 'unjudged', findings: [] })
  for (const restriction of [{ base: 'guarded' as const }, { deny: ['maxPods'] }, { requireDrain: ['maxPods'] }]) {
    const unseen = await ask('change', 'maxPods: 64\n', { node: nodeWith({ running: undefined }) }, { policy: { ...OPEN, ...restriction } })
    t.match(
      unseen.report,
      { outcome: 'refused', findings: [{ rule: 'policy/unseen' }] },
      'a policy that restricts anything does not let it pass',
    )
  }
})

t.test('change: the policy as it is now', async (t) => {
  const node = nodeWith({ running: { maxPods: 110 } })
  t.same((await ask('change', 'maxPods: 64\n', { node })).report, { outcome: 'accepted', detail: '1 field changes', findings: [] })
  t.match((await ask('change', 'maxPods: 110\n', { node })).report, { detail: '0 fields change' })
  const denied = await ask('change', 'maxPods: 64\n', { node }, { policy: { ...OPEN, deny: ['maxPods'] } })
  t.match(denied.report, { outcome: 'refused', findings: [{ rule: 'policy/deny[0]', position: { line: 3, column: 1 } }] })
})

t.test('change: what waits for a drained node is said, and refuses nothing', async (t) => {
  const policy = { ...OPEN, requireDrain: ['maxPods'] }
  const { report } = await ask('change', 'maxPods: 64\n', { node: nodeWith() }, { policy })
  t.match(report, { outcome: 'accepted', findings: [{ rule: 'policy/require-drain', severity: 'info', path: ['maxPods'] }] })
})

t.test('change: a flag that wins is named', async (t) => {
  const { report } = await ask('change', 'maxPods: 64\n', { node: nodeWith({ flags: ['--max-pods=110'] }) })
  t.match(report, { outcome: 'accepted', findings: [{ rule: 'change/overridden-by-flag', severity: 'warn', problem: /--max-pods/ }] })
})

t.test('kubelet: asked with its own flags and every file', async (t) => {
  const { report, judged } = await ask('kubelet', 'maxPods: 64\n', { kubelet: KUBELET })
  t.same(report, { outcome: 'accepted', detail: 'kubelet 1.20.2 loaded and validated it', findings: [] })
  t.match(judged, [{ ...KUBELET, stage: 'load', key: 'kubelet', files: { kubelet: /maxPods/, other: 'x' } }])
})

t.test('kubelet: the deep look only where it was asked for', async (t) => {
  const shallow = await ask('kubelet-start', '', { kubelet: KUBELET })
  t.same([shallow.report, shallow.judged], [undefined, []])
  const deep = await ask('kubelet-start', '', { kubelet: KUBELET, options: { ...OPTIONS, deep: 'demanded' } })
  t.match(deep, { report: { outcome: 'accepted' }, judged: [{ stage: 'deep' }] })
})

t.test('kubelet: where there is none, nobody says it was accepted', async (t) => {
  t.match((await ask('kubelet', '')).report, { outcome: 'unjudged', detail: 'no kubelet is at hand' })
  const version = { major: 1, minor: 28, patch: 0 }
  const other = await ask('kubelet', '', { version, options: { ...OPTIONS, version } })
  t.match(other.report, { outcome: 'unjudged', detail: /^no kubelet 1\.28/ })
  const judgement = { kind: 'unjudged', detail: 'no systemd-run' } as const
  t.same((await ask('kubelet', '', { kubelet: KUBELET }, { judgement })).report, {
    outcome: 'unjudged',
    detail: 'no systemd-run',
    findings: [],
  })
})

t.test('kubelet: its words become a finding at the field that they name', async (t) => {
  const refuse = (words: string, part = 'kubelet') =>
    ask(
      part,
      'maxPods: 64\nport: 0\n',
      { kubelet: KUBELET, options: { ...OPTIONS, deep: 'demanded' } },
      { judgement: { kind: 'refused', reason: 'load', words } },
    )
  const named = await refuse('invalid configuration: port (--port) 0 must be between 1 and 65535, inclusive')
  t.match(named.report, {
    outcome: 'refused',
    detail: '/usr/bin/kubelet would not start with it',
    findings: [{ rule: 'kubelet/load', severity: 'refuse', reason: 'load', path: ['port'], position: { line: 4, column: 1 } }],
  })
  const unnamed = await refuse('it does not like this', 'kubelet-start')
  t.match(unnamed.report?.findings, [{ rule: 'kubelet/start', path: [], position: undefined, problem: 'it does not like this' }])
})
