// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import type { AgentPresence, CommandContext } from '../../../../src/command/agent/command.ts'
import { gatherStatus, renderStatus, statusCommand } from '../../../../src/command/agent/commands/status.ts'
import type { StatusDocument } from '../../../../src/command/agent/status-document.ts'
import type { Snapshot } from '../../../../src/decision/snapshot.ts'
import type { Verdict } from '../../../../src/decision/verdict.ts'
import { recordSample } from '../../../../src/health/fold.ts'
import type { OverlayView } from '../../../../src/overlay/read-overlay.ts'
import { mergeAround } from '../../../../src/preflight/drop-ins/merge-drop-ins.ts'
import type { MergeOrder } from '../../../../src/preflight/drop-ins/read-drop-ins.ts'
import type { LastReport } from '../../../../src/report/last-report.ts'
import { trialKey } from '../../../../src/subject/trial-key.ts'
import { following, held, IDENTITY, runningContent, snapshot, source, unit, verdictOn } from '../../../report/build.ts'
import { execute, fakeNode } from '../fake-node.ts'

const good = source('100')
const next = source('200', { uid: '5274a9bd-00f5-49fe-a395-53c08b3087db' })
/** A command does not know the assignment: it does not read the API server. */
const offline = { desired: { kind: 'unknown', detail: 'not read' }, desiredContent: undefined } as const

const settled = following(good, { ...offline, lastKnownGood: held(good), proven: trialKey('content-100', IDENTITY) })

/** As the agent would have recorded it if it first observed kubelet at this moment. */
function healthSince(content: string, atUs: number): Snapshot['health'] {
  const { now, policy } = snapshot()
  const at = { ...now, monotonicUs: atUs }
  const sample = { at, unit: unit(), running: runningContent(content), healthz: undefined, runtimeUp: undefined }
  return recordSample(undefined, sample, trialKey(content, IDENTITY), policy)
}

const worlds: Readonly<Record<string, Snapshot>> = {
  'never assigned anything': snapshot(offline),
  settled,
  'on trial': following(next, { ...offline, lastKnownGood: held(good), health: healthSince('content-200', 52e6) }),
  'waiting its turn': following(next, {
    ...offline,
    lastKnownGood: held(good),
    nextStart: { kind: 'known', held: held(good) },
    running: runningContent('content-100'),
    spread: { bootId: 'b1', source: next, sinceUs: 99e6 },
    policy: { ...snapshot().policy, spreadUs: 3600e6 },
  }),
  'rolled back': following(next, {
    ...offline,
    lastKnownGood: held(good),
    nextStart: { kind: 'known', held: held(good) },
    running: runningContent('content-100'),
    verdicts: verdictOn('content-200', { source: next, detail: 'kubelet exited 3 times: exit-code, healthz refused' }),
    restarts: [5, 10, 50].map((at) => ({
      bootId: 'b1',
      atUs: at * 1e6,
      target: 'any',
      fallback: at === 50,
      invocationBefore: 'i0',
      failed: false,
      outcome: { ok: true, detail: '' },
    })),
  }),
  'a restart is due': following(next, { ...offline, lastKnownGood: held(good), running: runningContent('content-100') }),
  'promotion is due': following(next, { ...offline, lastKnownGood: held(good), proven: trialKey('content-200', IDENTITY) }),
  'held on local': {
    ...settled,
    requests: { hold: 'local', rollback: undefined, retry: false },
  },
  paused: { ...settled, requests: { hold: 'paused', rollback: { content: 'content-100' }, retry: true } },
  'paused by the cluster, with channel label': {
    ...settled,
    desired: offline.desired,
    recordedChannelState: {
      channel: 'label',
      paused: { on: 'Node', by: 'annotation kubelet-cfg-agent.io/paused of Node node-1' },
      problem: undefined,
    },
  },
  'a tie, as last read': {
    ...settled,
    desired: offline.desired,
    recordedChannelState: { channel: 'selector', paused: undefined, problem: 'ConfigMaps a, b match with the same priority 0' },
  },
  'not wired': snapshot({
    ...offline,
    unit: unit({ wiring: { kind: 'broken', reason: 'daemon-reload-needed', detail: 'systemd has not read the drop-in' } }),
    nextStart: { kind: 'unknown', detail: 'systemd has not read the drop-in' },
  }),
  'kubelet stopped': {
    ...settled,
    unit: unit({ activity: 'stopped', summary: 'inactive (dead)', process: { kind: 'none' } }),
    running: { kind: 'none' },
  },
  'nothing can be read': snapshot({
    ...offline,
    unit: { kind: 'unknown', detail: 'systemctl: no such file' },
    assigned: { kind: 'damaged', detail: 'meta/assigned is not YAML' },
    assignedContent: undefined,
    nextStart: { kind: 'unknown', detail: 'systemctl: no such file' },
    running: { kind: 'unknown', detail: 'systemctl: no such file' },
  }),
}

async function documentOf(of: Snapshot): Promise<StatusDocument> {
  return gatherStatus(fakeNode({ snapshot: of }).context)
}

t.test('prints the status for people', async (t) => {
  for (const [name, of] of Object.entries(worlds)) t.matchSnapshot(renderStatus(await documentOf(of), false), name)
})

t.test('prints JSON for programs', async (t) => {
  const node = fakeNode({ snapshot: worlds['rolled back'] ?? settled })
  t.equal(await execute(statusCommand, node, { output: 'json' }), 0)
  t.matchSnapshot(node.out())
})

t.test('shows the remaining time of a trial', async (t) => {
  t.same((await documentOf(worlds['on trial'] ?? settled)).trial, { remainingSeconds: 552, durationSeconds: 600 })
  t.equal((await documentOf(settled)).trial, null, 'a passed trial has no remaining time')
})

t.test('shows the remaining time of a spread', async (t) => {
  const { phase, waitRemainingSeconds } = await documentOf(worlds['waiting its turn'] ?? settled)
  t.equal(phase, 'spread', 'not preflight, although only the agent knows what preflight accepted')
  t.ok(waitRemainingSeconds !== null && waitRemainingSeconds > 0 && waitRemainingSeconds <= 3600, `${waitRemainingSeconds}`)
})

t.test('shows who has a port of kubelet', async (t) => {
  const who = 'a process of uid 65534, which is not kubelet, has port 10250 of 0.0.0.0'
  const unit = async (fields: Partial<Snapshot>) => (await documentOf({ ...settled, ...fields })).unit
  t.equal((await unit({ portTaken: who })).detail, `active (running); ${who}`)
  t.equal((await unit({ healthz: { ok: 'unknown', detail: who } })).detail, `active (running); ${who}`)
})

t.test('shows a missing checkpoint', async (t) => {
  const gone = { ...settled, lastKnownGood: { source: source('50'), content: undefined } }
  const status = await documentOf(gone)
  t.match(status.lastKnownGood, { kind: 'configMap', checkpoint: 'missing' })
  t.match(renderStatus(status, false), 'checkpoint missing')
})

t.test('shows what runs if no record names it', async (t) => {
  const process = { kind: 'checkpoint', pid: 1, uid: 'u9', resourceVersion: '9', key: 'kubelet' } as const
  const active = async (fields: Partial<Snapshot>) => (await documentOf({ ...settled, running: runningContent('x'), ...fields })).active
  t.same(await active({ unit: unit({ process }) }), { kind: 'unknown', detail: 'a checkpoint that no record names: u9/9' })
  const other = { kind: 'other', pid: 1, configPath: '/etc/other.yaml' } as const
  t.same(await active({ unit: unit({ process: other }) }), { kind: 'unknown', detail: '/etc/other.yaml' })
})

t.test('shows whether the agent is running', async (t) => {
  const agent = async (presence: Parameters<typeof fakeNode>[0]) => (await gatherStatus(fakeNode(presence).context)).agent
  t.same(await agent({ agent: { kind: 'running', pid: 5 } }), { running: true, pid: 5 })
  t.same(await agent({ agent: { kind: 'running', pid: undefined } }), { running: true })
  t.same(await agent({ agent: { kind: 'running', pid: 5, isWithoutDirectory: true } }), { running: true, pid: 5, directory: 'removed' })
  t.same(await agent({ agent: { kind: 'absent' } }), { running: false })
  t.same(await agent({ agent: { kind: 'unknown', detail: '' } }), { running: null })
})

t.test('marks verdicts that no longer matter, and those alone', async (t) => {
  const failed = worlds['rolled back'] ?? settled
  const old = verdictOn('content-150', { source: source('150'), detail: 'failed long ago' })
  const otherKubelet = { ...verdictOn('content-200', { source: next }).values().next().value, key: 'content-100@kubelet-0', source: good }
  const verdicts = new Map([...failed.verdicts, ...old, ['content-100@kubelet-0', otherKubelet as Verdict]])
  const status = await documentOf({ ...failed, verdicts })
  const marked = (of: StatusDocument) =>
    of.verdicts.map(({ source: named, superseded }) => `${named.kind === 'configMap' && named.resourceVersion} ${superseded}`)
  t.same(marked(status).sort(), ['100 true', '150 true', '200 false'])
  t.match(renderStatus(status, false), /^confirmed \(superseded\) .* 150 /m)
  t.match(renderStatus(status, false), /^confirmed {2}.* 200 /m)
  const oneWay = verdictOn('content-100', { source: good, key: 'content-100@kubelet-0', damage: 'one-way' })
  t.same(marked(await documentOf({ ...settled, verdicts: oneWay })), ['100 false'], 'it holds for each kubelet')
  const lost = { ...failed, assignedContent: undefined }
  t.same(marked(await documentOf(lost)), ['200 false'], 'what is assigned, also without its checkpoint')
})

t.test('after a rollback the condemned version is not last-known-good any more', async (t) => {
  const rolledBack = {
    ...settled,
    previous: held(source('50')),
    nextStart: { kind: 'known', held: held(source('50')) },
    running: runningContent('content-50'),
    verdicts: verdictOn('content-100', { source: good, reason: 'requested' }),
  } as const
  t.match((await documentOf(rolledBack)).lastKnownGood, { resourceVersion: '50' })
})

t.test('uses colours only if enabled', async (t) => {
  const status = await documentOf(settled)
  t.match(renderStatus(status, true), '\u001b[32m')
  t.notMatch(renderStatus(status, false), '\u001b')
})

t.test('the output never controls the terminal', async (t) => {
  const text = fc.string({ unit: fc.constantFrom('\u001b', '\u0007', '\n', '\r', 'a', ' ', '\u009b') })
  await fc.assert(
    fc.asyncProperty(text, text, async (detail, summary) => {
      const of = { ...settled, verdicts: verdictOn('x', { detail }), unit: unit({ summary }) }
      return !/[^\P{Cc}\n]/u.test(renderStatus(await documentOf(of), false))
    }),
  )
  t.pass()
})

t.test('shows the overlay of this node', async (t) => {
  const overlaid = source('100', { overlay: '3f9a0c1122334455' })
  const snapshot = following(overlaid, { ...offline, lastKnownGood: held(overlaid), proven: trialKey('content-100', IDENTITY) })
  const of = (view: OverlayView) => gatherStatus(fakeNode({ snapshot, context: { readOverlay: async () => view } }).context)
  const present: OverlayView = {
    kind: 'present',
    files: ['10-a.yaml', '20-b.yaml'],
    patches: [],
    render: () => ({ ok: false, detail: 'not used' }),
  }
  const usable = await of(present)
  t.match(usable, {
    assigned: { resourceVersion: '100', overlay: '3f9a0c1122334455' },
    overlay: { state: 'usable', files: ['10-a.yaml', '20-b.yaml'] },
  })
  t.match(renderStatus(usable, false), /^Overlay {2,}10-a\.yaml, 20-b\.yaml$/m)
  t.match(renderStatus(usable, false), /^Assigned .* 100\+merged-3f9a0c11 /m)
  const unusable = await of({ kind: 'faulty', detail: '/o/10-a.yaml: it is empty' })
  t.same(unusable.overlay, { state: 'unusable', detail: '/o/10-a.yaml: it is empty' })
  t.match(renderStatus(unusable, false), /^Overlay {2,}\/o\/10-a\.yaml: it is empty$/m)
  t.notMatch(renderStatus(await of({ kind: 'none' }), false), /^Overlay/m)
})

const LOCAL = '/var/lib/kubelet/config.yaml'
const OWN = 'ConfigMap kube-system/my-node-config:kubelet'
const HEARD = { channel: 'label', paused: undefined, problem: undefined } as const

function gatherMerged(recorded: object, context: Partial<CommandContext> = {}): Promise<StatusDocument> {
  return gatherStatus(fakeNode({ snapshot: { ...settled, recordedChannelState: { ...HEARD, ...recorded } }, context }).context)
}

t.test('shows what the assigned config is merged from, and which layer each field comes from', async (t) => {
  const base = 'ConfigMap kube-system/base:kubelet'
  const fields = [
    { path: ['featureGates', 'CPUManager'], layer: base, removed: true },
    { path: ['maxPods'], layer: OWN },
    { path: ['evictionHard', 'memory.available'], layer: 'overlay 10-size.yaml' },
  ]
  const instance = '/var/lib/kubelet/instance-config.yaml'
  const part = await gatherMerged({ layers: [LOCAL, base, OWN, instance], fields })
  t.same(part.layers, [LOCAL, base, OWN, 'overlay 10-size.yaml', instance])
  const resolved = 'systemd-resolved of this node'
  t.same((await gatherMerged({ layers: [base, OWN, resolved], fields })).layers, [base, OWN, 'overlay 10-size.yaml', resolved])
  t.same(part.fields, [
    { path: 'featureGates.CPUManager', steps: ['featureGates', 'CPUManager'], layer: base, removed: true },
    { path: 'maxPods', steps: ['maxPods'], layer: OWN, removed: false },
    {
      path: 'evictionHard["memory.available"]',
      steps: ['evictionHard', 'memory.available'],
      layer: 'overlay 10-size.yaml',
      removed: false,
    },
  ])
  t.matchSnapshot(renderStatus(part, false))
  const overlaid = await gatherMerged({ fields: [{ path: ['maxPods'], layer: 'overlay 10-size.yaml' }] })
  t.match(overlaid, { layers: [OWN, 'overlay 10-size.yaml'], fields: [{ path: 'maxPods' }] })
})

t.test('shows which fields were computed, with their values and the text that computes them', async (t) => {
  const base = 'ConfigMap kube-system/pool:kubelet'
  const computed = [
    { field: 'maxPods', value: '80', layer: OWN },
    { field: 'kubeReserved.memory', value: '"512Mi"', layer: OWN },
    { field: 'podPidsLimit', value: '100', layer: base },
    { field: 'evictionHard["memory.available"]', value: '"1Gi"', layer: base },
  ]
  const fields = [
    { path: ['maxPods'], layer: OWN },
    { path: ['evictionHard'], layer: 'overlay 10-size.yaml' },
  ]
  const status = await gatherMerged({ layers: [base, OWN], fields, computed })
  t.same(status.computed, computed.slice(0, 3), 'a later layer replaces the last one')
  const text = renderStatus(status, false)
  t.match(text, `Computed from what the Node shows, by ${OWN}:\n  maxPods: 80\n  kubeReserved.memory: "512Mi"\n`)
  t.match(text, `Computed from what the Node shows, by ${base}:\n  podPidsLimit: 100\n`)
  t.same((await gatherMerged({ layers: [base], fields: [], computed })).computed, [], 'the record is about another config')
  t.notMatch(renderStatus(await gatherMerged({}), false), /Computed/)
})

t.test('what is not merged, and what an earlier agent wrote down', async (t) => {
  const whole = await gatherMerged({})
  t.match(whole, { layers: [], fields: [] })
  t.notMatch(renderStatus(whole, false), /Merged/)
  const earlier = await gatherMerged({ layers: [LOCAL, OWN] })
  t.match(earlier, { layers: [LOCAL, OWN], fields: null })
  t.match(renderStatus(earlier, false), `\nMerged from, the lowest first:\n  ${LOCAL}\n  ${OWN}\n`)
  t.match(await gatherMerged({ layers: [LOCAL, 'ConfigMap kube-system/other:kubelet'] }), { layers: [] }, 'the record is of another one')
})

t.test("shows which fields kubelet's drop-ins set, as they are now", async (t) => {
  const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
  const result = `${HEAD}maxPods: 200\npodPidsLimit: 9\nclusterDNS: [a]\n`
  const dropIn = (path: string, config: object) => ({ path, config: { ...config } })
  const merging = (order: MergeOrder): Partial<CommandContext> => ({
    checkpoints: { data: () => ({ kubelet: result }) },
    mergeHere: async (config) => ({ config: mergeAround(config, order, undefined), order }),
  })
  const recorded = {
    layers: [LOCAL, OWN],
    fields: [
      { path: ['maxPods'], layer: OWN },
      { path: ['podPidsLimit'], layer: OWN },
    ],
  }
  const above = [dropIn('/etc/d/50.conf', { maxPods: 7, apiVersion: 'v1' })]
  const fieldsOf = ({ fields }: StatusDocument) => (fields ?? []).map(({ path, layer }) => `${path} ${layer}`)
  const over = await gatherMerged(recorded, merging({ below: [], above }))
  t.same(over.layers, [LOCAL, OWN, '/etc/d/50.conf'])
  t.same(fieldsOf(over), [`podPidsLimit ${OWN}`, 'maxPods /etc/d/50.conf'])
  const base = dropIn('/etc/k.yaml', { maxPods: 1, clusterDomain: 'x' })
  const between = merging({ base, below: [dropIn('/etc/d/10.conf', { registryBurst: 3, maxPods: 4 })], above })
  const amid = await gatherMerged({}, between)
  t.same(amid.layers, ['/etc/k.yaml', '/etc/d/10.conf', OWN, '/etc/d/50.conf'])
  t.same(fieldsOf(amid), ['registryBurst /etc/d/10.conf', `podPidsLimit ${OWN}`, `clusterDNS ${OWN}`, 'maxPods /etc/d/50.conf'])
  const part = await gatherMerged(recorded, between)
  t.same(fieldsOf(part), ['registryBurst /etc/d/10.conf', `clusterDNS ${LOCAL}`, `podPidsLimit ${OWN}`, 'maxPods /etc/d/50.conf'])
  const local = { ...merging({ below: [], above }), files: { read: () => Buffer.from(result) } }
  const onLocal = await gatherStatus(fakeNode({ snapshot: snapshot(offline), context: local }).context)
  t.match(onLocal, { layers: [LOCAL, '/etc/d/50.conf'], fields: [{ path: 'maxPods', layer: '/etc/d/50.conf' }] })
})

t.test('no layer controls the terminal, and the text fits it', async (t) => {
  const text = fc.string({ unit: fc.constantFrom('\u001b', '\n', '\r', 'a', ' ', '\u009b', '\u202e'), maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(text, { minLength: 1, maxLength: 2 })), text, async (paths, layer) => {
      const status = await gatherMerged({ layers: [LOCAL, OWN], fields: paths.map((path) => ({ path, layer })) })
      const lines = renderStatus(status, false)
      return !/[\u202e]|[^\P{Cc}\n]/u.test(lines)
    }),
  )
  const many = Array.from({ length: 300 }, (_, index) => ({ path: ['featureGates', `Gate${index}`], layer: OWN }))
  const lines = renderStatus(await gatherMerged({ layers: [LOCAL, OWN], fields: many }), false).split('\n')
  const block = lines.slice(lines.indexOf('Merged from, the lowest first:'))
  t.match(block.join('\n'), /featureGates\.Gate99, 200 more, which -o\s+json lists/)
  t.same(
    block.filter((line) => line.length > 80),
    [],
  )
})

const FAILED: LastReport = {
  ...{ bootId: 'b1', nodeName: 'node-1', pid: 812, atUs: 93e6, status: 'False', reason: 'DownloadFailed' },
  message: 'kube-system/other:kubelet cannot be read: the API server forbids it (deploy/rbac/node-configmaps.yaml grants it)',
  error: 'failed to sync: failed to download config: the API server forbids it',
}

t.test('shows what the agent reported last, who said it, and how old it is', async (t) => {
  const of = (report: Partial<LastReport> | undefined, agent: AgentPresence) => {
    const lastReport = () => report && { ...FAILED, ...report }
    return gatherStatus(fakeNode({ snapshot: settled, agent, context: { lastReport } }).context)
  }
  const line = (status: StatusDocument, name: string) => new RegExp(`^${name} {2,}(.*)$`, 'm').exec(renderStatus(status, false))?.[1]
  const running = { kind: 'running', pid: 812 } as const

  const now = await of({}, running)
  t.match(now, { phase: 'settled', error: FAILED.error, reported: { reason: 'DownloadFailed', ageSeconds: 7, by: 'running-agent' } })
  t.equal(line(now, 'Reported'), `False DownloadFailed, 7s ago: ${FAILED.message}`)
  t.equal(line(now, 'Error'), FAILED.error)
  t.equal(Date.parse(now.reported?.at ?? ''), Math.floor((settled.now.wallMs - 7000) / 1000) * 1000)

  const gone = await of({}, { kind: 'absent' })
  t.equal(line(gone, 'Reported'), `False DownloadFailed, 7s ago by an agent that is gone: ${FAILED.message}`)
  t.equal(gone.error, null, 'it may have been mended since')
  t.equal((await of({}, { kind: 'running', pid: 813 })).reported?.by, 'earlier-agent', 'the present agent has not said anything yet')
  t.equal((await of({}, { kind: 'running', pid: undefined })).reported?.by, 'unknown')
  t.equal((await of({}, { kind: 'unknown', detail: '' })).reported?.by, 'unknown')

  const stuck = { ...settled, now: { ...settled.now, monotonicUs: 493e6 } }
  const failed = fakeNode({ snapshot: worlds['rolled back'] ?? settled, agent: running, context: { lastReport: () => FAILED } })
  t.equal((await gatherStatus(failed.context)).error, FAILED.error, 'what the config before failed with is past')

  const silent = await gatherStatus(fakeNode({ snapshot: stuck, agent: running, context: { lastReport: () => FAILED } }).context)
  t.match(line(silent, 'Reported'), /^False DownloadFailed, 6m40s ago \(the agent has said nothing since\): /)

  t.equal((await of({ nodeName: 'another' }, running)).reported, null)
  t.equal(line(await of(undefined, running), 'Reported'), 'nothing yet')
  t.equal(line(await of(undefined, { kind: 'absent' }), 'Reported'), 'nothing since the node booted, and no agent is running')
})

t.test('a report never controls the terminal', async (t) => {
  const text = fc.string({ unit: fc.constantFrom('\u001b', '\u0007', '\n', '\r', 'a', ' ', '\u009b', '\u202e') })
  await fc.assert(
    fc.asyncProperty(text, text, text, async (message, reason, error) => {
      const node = fakeNode({ snapshot: settled, context: { lastReport: () => ({ ...FAILED, message, reason, error }) } })
      await execute(statusCommand, node)
      await execute(statusCommand, node, { output: 'json' })
      return !/[\u202e]|[^\P{Cc}\n]/u.test(node.out())
    }),
  )
  t.pass()
})

t.test('says where kubelet itself logged another effective config', async (t) => {
  const misread = [
    { path: ['maxPods'], meant: { value: 42, isDefault: false }, running: { value: 43, isDefault: false }, because: undefined },
    { path: ['podsPerCore'], meant: undefined, running: { value: 'x'.repeat(200), isDefault: false }, because: undefined },
  ]
  const gather = (found: typeof misread | undefined) =>
    gatherStatus(fakeNode({ snapshot: settled, context: { readMisread: async () => found } }).context)
  const text = renderStatus(await gather(misread), false)
  t.match(
    text,
    /Kubelet logged another effective config at its start:\n {2}maxPods: 43 \(expected: 42\)\n {2}podsPerCore: "x{50,57}\.\.\. \(expected: not set\)\n/,
  )
  t.match(text, /please report it/)
  t.same((await gather(misread)).misread, misread)
  for (const [found, documented] of [
    [[], []],
    [undefined, null],
  ] as const) {
    const status = await gather(found && [])
    t.same(status.misread, documented)
    t.notMatch(renderStatus(status, false), /logged/)
  }
})
