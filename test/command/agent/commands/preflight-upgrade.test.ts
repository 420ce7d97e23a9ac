// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { CommandContext } from '../../../../src/command/agent/command.ts'
import { preflightUpgradeCommand } from '../../../../src/command/agent/commands/preflight-upgrade.ts'
import type { Snapshot } from '../../../../src/decision/snapshot.ts'
import type { Finding, Report } from '../../../../src/preflight/finding.ts'
import type { InspectOptions } from '../../../../src/preflight/inspection.ts'
import type { ConfigMapSource } from '../../../../src/subject/config-source.ts'
import { held, runningContent, snapshot, source, unit } from '../../../report/build.ts'
import { execute, fakeNode } from '../fake-node.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
/** 1.33 removed the gate. */
const ASSIGNED = `${HEAD}maxPods: 64\nfeatureGates:\n  CPUManager: true\n`
const IGNORED = `${HEAD}maxPods: 64\nmaxPod: 3\n`
const LOCAL = `${HEAD}maxPods: 110\n`

const assigned = source('212')
const good = source('150')
const DATA: Readonly<Record<string, string>> = { '212': ASSIGNED, '150': IGNORED }

function node(fields: Partial<Snapshot> = {}, context: Partial<CommandContext> = {}, color = false) {
  const seen = snapshot({
    unit: unit({ process: { kind: 'checkpoint', pid: 7, uid: assigned.uid, resourceVersion: '212', key: 'kubelet' } }),
    assigned: { kind: 'source', source: assigned },
    assignedContent: 'content-212',
    nextStart: { kind: 'known', held: held(assigned) },
    lastKnownGood: held(good),
    previous: { source: 'local', content: 'local' },
    running: runningContent('content-212'),
    ...fields,
  })
  const checkpoints: CommandContext['checkpoints'] = {
    data: (_, resourceVersion) => (DATA[resourceVersion] === undefined ? undefined : { kubelet: DATA[resourceVersion] }),
  }
  const files: CommandContext['files'] = { read: () => Buffer.from(LOCAL) }
  return fakeNode({ snapshot: seen, color, context: { checkpoints, files, ...context } })
}

async function preflight(options: Record<string, string>, ...fields: Parameters<typeof node>) {
  const fake = node(...fields)
  const code = await execute(preflightUpgradeCommand, fake, options)
  return { code, out: fake.out(), err: fake.err(), actions: fake.actions }
}

const report = (outcome: Report['outcome'], findings: readonly Finding[] = []): Report => ({
  outcome,
  findings,
  parts: [{ part: 'kubelet', outcome, detail: 'as it is' }],
})

t.test('what a version refuses, ignores, and where the node would fall back to', async (t) => {
  const { code, out, actions } = await preflight({ 'kubelet-version': '1.36' })
  t.equal(code, 1)
  t.matchSnapshot(out)
  t.match(out, /unrecognized feature gate: CPUManager/)
  t.same(actions, [])
  const { code: same, out: text } = await preflight({ 'kubelet-version': '1.36', output: 'json' })
  t.equal(same, 1)
  t.match(JSON.parse(text), {
    kind: 'UpgradeReport',
    outcome: 'refused',
    fallback: 'kube-system/my-node-config:kubelet@150',
    configs: [
      { kind: 'ValidationReport', roles: ['assigned', 'active'], outcome: 'refused', ignores: [] },
      { roles: ['last-known-good'], outcome: 'accepted', ignores: ['maxPod'] },
      { candidate: '/var/lib/kubelet/config.yaml', roles: ['previous', 'local'], outcome: 'accepted', ignores: [] },
    ],
  })
})

t.test('what means something else to the new kubelet is named with both meanings', async (t) => {
  const files: CommandContext['files'] = { read: () => Buffer.from(`${HEAD}memoryThrottlingFactor: 0.9\n`) }
  const { out } = await preflight({ 'kubelet-version': '1.37' }, {}, { files })
  t.match(
    out,
    /config\.yaml:3:1: warning: memoryThrottlingFactor changes its meaning: to kubelet 1\.34: no pod is throttled, .*; to kubelet 1\.37: 0\.9: /,
  )
  t.notMatch((await preflight({ 'kubelet-version': '1.34' }, {}, { files })).out, /meaning\//, 'the same minor')
})

t.test('every config is checked with the kubelet and the depth that are asked for', async (t) => {
  const asked: [string, InspectOptions][] = []
  const inspect: CommandContext['inspect'] = async ({ name }, options) => {
    asked.push([name, options])
    return { ...report('accepted'), parts: ['kubelet', 'kubelet-start'].map((part) => ({ part, outcome: 'accepted', detail: '' })) }
  }
  const { code, out } = await preflight({ kubelet: '/opt/new/kubelet', deep: 'true' }, {}, { inspect })
  t.equal(code, 0)
  t.match(out, /This kubelet accepts every config of this node\.\n$/)
  const options = { kubelet: '/opt/new/kubelet', version: undefined, from: 'running', unknownKeys: 'warn', deep: 'demanded', node: true }
  t.same(
    asked,
    ['kube-system/my-node-config:kubelet@212', 'kube-system/my-node-config:kubelet@150', '/var/lib/kubelet/config.yaml'].map((name) => [
      name,
      options,
    ]),
  )
})

t.test("the node's change policy does not refuse what another kubelet takes", async (t) => {
  const denied: Finding = {
    rule: 'policy/guarded',
    severity: 'refuse',
    reason: 'validate',
    path: ['maxPods'],
    position: undefined,
    problem: 'maxPods must not change on this node',
    advice: undefined,
  }
  const inspect: CommandContext['inspect'] = async () => ({
    outcome: 'refused',
    findings: [denied, { ...denied, rule: 'drop-ins/no-effect' }],
    parts: [
      { part: 'fields', outcome: 'accepted', detail: '' },
      { part: 'change', outcome: 'refused', detail: '' },
      { part: 'drop-ins', outcome: 'refused', detail: '' },
    ],
  })
  const { code, out } = await preflight({}, {}, { inspect })
  t.equal(code, 0)
  t.notMatch(out, /must not change|^change|^drop-ins/m)
})

t.test('exit codes: a refusal decides, then what could not be checked', async (t) => {
  const answer = async (...outcomes: readonly Report['outcome'][]) => {
    const left = [...outcomes]
    const { code, out } = await preflight({}, {}, { inspect: async () => report(left.shift() ?? 'accepted') })
    return [code, out.trim().split('\n').slice(-2).join(' ')]
  }
  t.same((await answer('accepted', 'accepted', 'accepted'))[0], 0)
  t.match(await answer('accepted', 'refused', 'unjudged'), [1, /refuses \S+@150\. Not checked: \/var/])
  t.match(await answer('accepted', 'unjudged', 'accepted'), [2, /Not checked: \S+@150\.$/])
  t.match(await answer('refused', 'refused', 'accepted'), [1, /fall back to \/var\/lib\/kubelet\/config\.yaml\.$/])
  t.match(await answer('refused', 'refused', 'refused'), [1, /Nothing that this node could fall back to is accepted\.$/])
})

t.test('a kubelet that is demanded and cannot judge leaves a config unchecked', async (t) => {
  const inspect: CommandContext['inspect'] = async () => ({
    outcome: 'unjudged',
    findings: [],
    parts: [
      { part: 'fields', outcome: 'accepted', detail: '' },
      { part: 'kubelet', outcome: 'unjudged', detail: 'there is no kubelet at /none' },
    ],
  })
  t.match(await preflight({ kubelet: '/none' }, {}, { inspect }), { code: 2, out: /there is no kubelet at \/none/ })
})

t.test('the same content counts once, and a checkpoint that is gone is not checked', async (t) => {
  const settled = { lastKnownGood: held(assigned), previous: held(good) }
  t.match(JSON.parse((await preflight({ output: 'json' }, settled)).out).configs, [
    { roles: ['assigned', 'active', 'last-known-good'] },
    { roles: ['previous'] },
    { roles: ['local'] },
  ])
  const gone: ConfigMapSource = source('99')
  const lost = await preflight({ 'kubelet-version': '1.30' }, { lastKnownGood: { source: gone, content: undefined } })
  t.match(lost, { code: 2, out: /source +not checked +its checkpoint is missing/ })
})

t.test('a machine that is no node, and a kubelet without a config', async (t) => {
  t.match(await preflight({}, { unit: unit({ activity: 'not-found' }) }), { code: 2, out: '', err: /has no kubelet: .*validate/ })
  t.match(await preflight({}, { unit: { kind: 'unknown', detail: 'no bus' } }), { code: 2, err: /no bus/ })
  const nothing = {
    unit: unit({ localConfigPath: undefined }),
    assigned: { kind: 'source', source: 'local' } as const,
    running: { kind: 'none' } as const,
  }
  const local = { source: 'local', content: 'local' } as const
  t.match(await preflight({}, { ...nothing, lastKnownGood: local, previous: local }), { code: 2, err: /no config file/ })
})
