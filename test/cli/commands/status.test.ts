import fc from 'fast-check'
import t from 'tap'
import type { AgentPresence } from '../../../src/cli/command.ts'
import { gatherStatus, statusCommand } from '../../../src/cli/commands/status.ts'
import type { StatusDocument } from '../../../src/cli/status-document.ts'
import { renderStatus } from '../../../src/cli/status-text.ts'
import { recordSample } from '../../../src/decision/health-record.ts'
import type { Snapshot } from '../../../src/decision/snapshot.ts'
import { trialKey } from '../../../src/decision/trial-key.ts'
import type { Verdict } from '../../../src/decision/verdict.ts'
import type { OverlayView } from '../../../src/overlay/view.ts'
import type { LastReport } from '../../../src/report/last-report.ts'
import { following, held, IDENTITY, runningContent, snapshot, source, unit, verdictOn } from '../../report/build.ts'
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
  t.match(renderStatus(usable, false), /^Assigned .* 100\+overlay-3f9a0c11 /m)
  const unusable = await of({ kind: 'faulty', detail: '/o/10-a.yaml: it is empty' })
  t.same(unusable.overlay, { state: 'unusable', detail: '/o/10-a.yaml: it is empty' })
  t.match(renderStatus(unusable, false), /^Overlay {2,}\/o\/10-a\.yaml: it is empty$/m)
  t.notMatch(renderStatus(await of({ kind: 'none' }), false), /^Overlay/m)
})

t.test('shows what a part is merged from, as it was read last', async (t) => {
  const layers = ['/var/lib/kubelet/config.yaml', 'ConfigMap kube-system/more-pods:kubelet']
  const of = (recordedChannelState: Snapshot['recordedChannelState']) =>
    gatherStatus(fakeNode({ snapshot: { ...settled, recordedChannelState } }).context)
  const heard = { channel: 'label', paused: undefined, problem: undefined } as const
  const part = await of({ ...heard, layers })
  t.same(part.layers, layers)
  t.match(renderStatus(part, false), /^Merged from {2,}\/var\/lib\/kubelet\/config\.yaml, ConfigMap kube-system\/more-pods:kubelet$/m)
  const whole = await of(heard)
  t.same(whole.layers, [])
  t.notMatch(renderStatus(whole, false), /^Merged/m)
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
