// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { CommandContext } from '../../../../src/command/agent/command.ts'
import { diffCommand } from '../../../../src/command/agent/commands/diff.ts'
import type { Desired } from '../../../../src/decision/desired.ts'
import { mergeAround } from '../../../../src/preflight/drop-ins/merge-drop-ins.ts'
import type { MergeOrder } from '../../../../src/preflight/drop-ins/read-drop-ins.ts'
import type { Finding } from '../../../../src/preflight/finding.ts'
import type { ConfigChange, InspectOptions } from '../../../../src/preflight/inspection.ts'
import { following, found, snapshot, source } from '../../../report/build.ts'
import { execute, fakeNode } from '../fake-node.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const FILES: Readonly<Record<string, string>> = {
  '/var/lib/kubelet/config.yaml': `${HEAD}maxPods: 110\nevictionHard: {memory.available: 100Mi}\n`,
  'new.yaml': `${HEAD}evictionHard:\n  memory.available: 200Mi\nreadOnlyPort: 0\n`,
  'same.json': JSON.stringify({
    evictionHard: { 'memory.available': '100Mi' },
    maxPods: 110,
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
  }),
  'bad.yaml': 'a: [\n',
  'aks.yaml': 'podMaxPids: 5\n',
}

async function diff(
  candidate: string | undefined,
  options: Record<string, string> = {},
  context: Partial<CommandContext> = {},
  color = false,
) {
  const node = fakeNode({
    color,
    context: {
      readInput: async (path = '-') =>
        FILES[path] === undefined ? { kind: 'unreadable', code: 'ENOENT' } : { kind: 'read', bytes: Buffer.from(FILES[path]) },
      files: { read: (path) => (FILES[path] === undefined ? undefined : Buffer.from(FILES[path])) },
      ...context,
    },
  })
  const code = await execute(diffCommand, node, options, candidate === undefined ? [] : [candidate])
  return { code, out: node.out(), err: node.err() }
}

t.test('compares what runs here with a file', async (t) => {
  const result = await diff('new.yaml')
  t.match(result, { code: 1, err: '' })
  t.matchSnapshot(result.out)
  t.matchSnapshot((await diff('new.yaml', {}, {}, true)).out, 'in colour')
  t.matchSnapshot((await diff('new.yaml', { output: 'json' })).out, 'as JSON')
})

t.test('says where kubelet logged other values than its files and flags have', async (t) => {
  const side = (value: number) => ({ value, isDefault: false })
  const readMisread = async () => [{ path: ['maxPods'], meant: side(110), running: side(99), because: undefined }]
  const { code, out, err } = await diff('same.json', { output: 'json' }, { readMisread })
  t.equal(code, 0)
  t.match(JSON.parse(out), { changes: [] })
  t.match(err, /^Kubelet logged another effective config at its start:\n {2}maxPods: 99 \(expected: 110\)\n/)
  t.equal((await diff('same.json', { against: 'new.yaml' }, { readMisread })).err, '', 'what runs is not compared')
})

t.test('order, notation and comments do not matter', async (t) => {
  t.same(await diff('same.json'), { code: 0, out: '/var/lib/kubelet/config.yaml -> same.json: no difference\n', err: '' })
  t.match(JSON.parse((await diff('same.json', { output: 'json' })).out), { kind: 'ConfigDiff', changes: [] })
})

t.test('compares two files without a node', async (t) => {
  const observe = async () => Promise.reject(new Error('this is not a node'))
  t.match(await diff('new.yaml', { against: 'same.json' }, { observe }), { code: 1, out: /^same.json -> new.yaml: 1 field differs/ })
})

t.test('compares with what the cluster assigns', async (t) => {
  const diffDesired = (desired: Desired) => diff(undefined, {}, { fetchDesired: async () => desired })
  const desired = found(source())
  const data = { kubelet: FILES['new.yaml'] ?? '' }
  const assigned: Desired =
    desired.kind === 'config-map' && desired.object.kind === 'found' ? { ...desired, object: { ...desired.object, data } } : desired
  t.match(await diffDesired(assigned), { code: 1, out: /-> configmap\/kube-system\/my-node-config:kubelet: 1 field differs/ })
  t.match(await diffDesired(desired), { code: 2, err: /no such key/ })
  t.match(await diffDesired({ kind: 'local' }), { code: 0, out: /no difference/ })
  t.match(await diffDesired({ kind: 'unknown', detail: 'no answer' }), {
    code: 2,
    err: /the config that is assigned to this node is unknown: no answer/,
  })
})

t.test('what a relative path names is a part of the field', async (t) => {
  const text = `${HEAD}staticPodPath: pods.yaml\n`
  const desired = found(source())
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return t.fail()
  const { object } = desired
  const differ = (pods: string, mergeHere?: CommandContext['mergeHere']) =>
    diff(
      undefined,
      {},
      {
        observe: async () => following(source()),
        fetchDesired: async () => ({ ...desired, object: { ...object, data: { kubelet: text, 'pods.yaml': pods } } }),
        checkpoints: { data: () => ({ kubelet: text, 'pods.yaml': 'hush' }) },
        ...(mergeHere && { mergeHere }),
      },
    )
  t.match(await differ('hush'), { code: 0, out: /no difference/ })
  const changed = await differ('hushed')
  t.match(changed, { code: 1, out: /staticPodPath +"pods\.yaml \(sha256 \w+… +"pods\.yaml \(sha256 \w+… +static-pods/ })
  t.notMatch(changed.out, 'hush')
  t.match(
    await differ('hushed', async (config) => ({ config, order: undefined, isElsewhere: true })),
    { code: 0 },
    'kubelet reads it elsewhere',
  )
})

t.test('of a bare config the other keys are not known, and that is no difference', async (t) => {
  const bare = (path: string) => Buffer.from(`${HEAD}staticPodPath: ${path}\n`)
  const differ = (path: string, context: Partial<CommandContext> = {}) =>
    diff(
      'bare.yaml',
      {},
      {
        observe: async () => following(source()),
        checkpoints: { data: () => ({ kubelet: bare('pods.yaml').toString(), 'pods.yaml': 'hush' }) },
        readInput: async () => ({ kind: 'read', bytes: bare(path) }),
        ...context,
      },
    )
  t.match(await differ('pods.yaml'), { code: 0, out: /-> bare\.yaml \(its other keys are not known here\): no difference/ })
  const other = await differ('other.yaml')
  t.match(other, { code: 1, out: /staticPodPath/ })
  t.notMatch(other.out, 'no such key')
  t.notMatch((await differ('/etc/pods')).out, 'not known')
  const local = { observe: async () => snapshot(), files: { read: () => bare('pods.yaml') } }
  t.match(await differ('pods.yaml', local), { code: 1, out: /staticPodPath/ }, 'beside the local config it is another file')
})

t.test('compares what kubelet makes of both with its drop-ins, unless two files are given', async (t) => {
  const order = { below: [], above: [{ path: '/etc/kubelet.d/50.conf', config: { readOnlyPort: 10255 } }] }
  const mergeHere: CommandContext['mergeHere'] = async (config) => ({ config: { ...config, readOnlyPort: 10255 }, order })
  const { out } = await diff('new.yaml', {}, { mergeHere })
  t.match(out, "/var/lib/kubelet/config.yaml with kubelet's drop-ins -> new.yaml with kubelet's drop-ins: 1 field differs")
  t.notMatch(out, 'readOnlyPort')
  t.match(await diff('new.yaml', { against: 'same.json' }, { mergeHere }), { out: /^same.json -> new.yaml: 1 field differs/ })
})

t.test('fails if a config is unknown', async (t) => {
  t.match(await diff('bad.yaml'), { code: 2, out: '', err: /bad\.yaml: / })
  t.match(await diff('none.yaml'), { code: 2, out: '', err: /none\.yaml does not exist/ })
  t.match(await diff('new.yaml', { against: 'bad.yaml' }), { code: 2, err: /bad\.yaml: / })
  const lost = snapshot({ unit: { kind: 'unknown', detail: 'no systemctl' } })
  t.match(await diff('new.yaml', {}, { observe: async () => lost }), { code: 2, err: /no systemctl; give another one with --against/ })
})

t.test('shows risks, their meaning and the policy', async (t) => {
  const change = (fields: Partial<ConfigChange>): ConfigChange => ({
    path: ['x'],
    before: 1,
    after: 2,
    risk: 'restart',
    meaning: 'kubelet is restarted',
    policy: { outcome: 'allowed', rule: undefined },
    ...fields,
  })
  const changes = [
    change({}),
    change({
      path: ['cpuManagerPolicy'],
      risk: 'drain',
      meaning: 'drain first',
      policy: { outcome: 'drain', rule: 'policy/requireDrain[0]' },
    }),
    change({ path: ['staticPodPath'], before: 'x'.repeat(500), after: '\u001b[2J', policy: { outcome: 'denied', rule: 'policy/guarded' } }),
  ]
  const { out } = await diff('new.yaml', {}, { compare: async () => changes })
  t.matchSnapshot(out)
  t.notMatch(out, /[^\P{Cc}\n]/u)
})

t.test('passes on the version for defaults', async (t) => {
  const versions: unknown[] = []
  const compare: CommandContext['compare'] = async (_before, _after, version) => {
    versions.push(version)
    return []
  }
  await diff('new.yaml', { 'kubelet-version': '1.28' }, { compare })
  await diff('new.yaml', {}, { compare })
  t.same(versions, [{ major: 1, minor: 28, patch: 0 }, undefined])
})

t.test('of a part, each field says which layer it comes from', async (t) => {
  const annotations = { 'kubelet-cfg-agent.io/base': 'local' }
  const part = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'p', annotations }, data: { kubelet: 'maxPods: 200\n' } }
  const context: Partial<CommandContext> = {
    readInput: async () => ({ kind: 'read', bytes: Buffer.from(JSON.stringify(part)) }),
    readLocalConfig: async () => ({ kind: 'found', path: '/var/lib/kubelet/config.yaml', text: `${HEAD}maxPods: 110\npodPidsLimit: 9\n` }),
  }
  const { out } = await diff('part.json', { output: 'json' }, context)
  t.match(JSON.parse(out).changes, [
    { path: 'maxPods', after: 200, layer: 'part.json' },
    { path: 'podPidsLimit', after: 9, layer: '/var/lib/kubelet/config.yaml' },
  ])
  const text = (await diff('part.json', {}, context)).out
  t.match(text, / RISK +FROM +POLICY/)
  t.match(text, /maxPods +110 +200 .* part\.json /)
})

t.test('a field that a drop-in of kubelet sets comes from that', async (t) => {
  const annotations = { 'kubelet-cfg-agent.io/base': 'local' }
  const data = { kubelet: 'maxPods: 200\npodPidsLimit: 9\nenforceNodeAllocatable: []\nregistryBurst: 5\n' }
  const part = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'p', annotations }, data }
  const before = { below: [], above: [] }
  const dropIns = (base: MergeOrder['base']): MergeOrder => ({
    ...{ base, below: base === undefined ? [] : [{ path: '/etc/d/10.conf', config: { eventBurst: 3, registryBurst: 3 } }] },
    above: [{ path: '/etc/d/50.conf', config: { maxPods: 300, podsPerCore: 4 } }],
  })
  const layersWith = async (order: MergeOrder, text = JSON.stringify(part)) => {
    const context: Partial<CommandContext> = {
      readInput: async () => ({ kind: 'read', bytes: Buffer.from(text) }),
      readLocalConfig: async () => ({
        kind: 'found',
        path: '/var/lib/kubelet/config.yaml',
        text: `${HEAD}enforceNodeAllocatable: [pods]\n`,
      }),
      mergeHere: async (config, place) => {
        const here = place === 'local' ? before : order
        return { config: mergeAround(config, here, undefined), order: here }
      },
    }
    const { changes } = JSON.parse((await diff('part.json', { output: 'json' }, context)).out)
    return Object.fromEntries(changes.map(({ path, layer }: { path: string; layer?: string }) => [path, layer]))
  }
  t.same(await layersWith(dropIns(undefined)), {
    maxPods: '/etc/d/50.conf',
    podPidsLimit: 'part.json',
    registryBurst: 'part.json',
    podsPerCore: '/etc/d/50.conf',
  })
  t.match(await layersWith(dropIns({ path: '/etc/k.yaml', config: { kubeAPIQPS: 6 } })), {
    maxPods: '/etc/d/50.conf',
    podPidsLimit: 'part.json',
    registryBurst: 'part.json',
    eventBurst: '/etc/d/10.conf',
    kubeAPIQPS: '/etc/k.yaml',
  })
  t.match(await layersWith(dropIns(undefined), `${HEAD}podPidsLimit: 9\n`), { podPidsLimit: 'part.json', maxPods: '/etc/d/50.conf' })
})

t.test('says what a change does not do on a registered Node', async (t) => {
  const readInput = async () =>
    ({
      kind: 'read',
      bytes: Buffer.from(`${HEAD}registerWithTaints: [{key: gpu, effect: NoSchedule}]\nserverTLSBootstrap: true\n`),
    }) as const
  const { out } = await diff('x.yaml', { 'kubelet-version': '1.34' }, { readInput })
  t.matchSnapshot(out)
  const { changes } = JSON.parse((await diff('x.yaml', { output: 'json' }, { readInput })).out)
  t.match(
    changes.filter(({ effect }: { effect?: unknown }) => effect !== undefined),
    [
      { path: 'serverTLSBootstrap', effect: { problem: /until its request is approved/, advice: /kubectl certificate approve/ } },
      { path: 'registerWithTaints', risk: 'registration', effect: { problem: /no effect on a registered Node/, advice: /gpu:NoSchedule/ } },
    ],
  )
})

t.test('says what kubelet would do at once, and what it skips, of what is for this node', async (t) => {
  const asked: InspectOptions[] = []
  const finding = (rule: string): Finding => ({
    ...{
      rule,
      severity: 'warn',
      reason: 'validate',
      path: [],
      position: { line: 3, column: 1 },
      problem: `${rule} is found`,
      advice: 'mend it',
    },
  })
  const inspect: CommandContext['inspect'] = async (_, options) => {
    asked.push(options)
    const findings = ['node/eviction', 'guard/eviction', 'node/port', 'drop-ins/skipped', 'drop-ins/overridden'].map(finding)
    return { outcome: 'accepted', findings, parts: [] }
  }
  const { code, out } = await diff('same.json', {}, { inspect })
  t.equal(code, 0, 'no field differs')
  t.matchSnapshot(out)
  t.match(asked, [{ parts: ['drop-ins', 'node'], deep: 'no', node: true }])
  t.match(JSON.parse((await diff('same.json', { output: 'json' }, { inspect })).out).findings, [
    { rule: 'node/eviction', position: null },
    { rule: 'guard/eviction' },
    { rule: 'drop-ins/skipped' },
  ])
  t.notMatch((await diff('same.json', { against: 'new.yaml' }, { inspect })).out, 'is found')
  const observe = async () => ({ kind: 'unknown', detail: 'no systemctl' }) as const
  t.notMatch((await diff('same.json', {}, { inspect, unit: { observe } })).out, 'is found', 'this is no node')
})

t.test('says what to write where the file belongs to another tool', async (t) => {
  const err = /aks\.yaml: this is a custom kubelet configuration of AKS, and no KubeletConfiguration: write .*podMaxPids is podPidsLimit/
  t.match(await diff('aks.yaml'), { code: 2, err })
})
