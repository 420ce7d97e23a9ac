// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { rolloutPolicyModule } from '../../../../scripts/docs/rollout-policy.ts'
import { raiseRetry } from '../../../../src/command/plugin/commands/rollout-change.ts'
import { findDifferences, listRolloutObjects } from '../../../../src/command/plugin/rollout-objects.ts'
import { hashConfig } from '../../../../src/decision/rollout-hash.ts'
import { parseDocuments } from '../../../../src/kubelet/yaml.ts'
import { NAMESPACE, type PluginWorldOptions, putConfigMap, startPluginWorld } from '../world.ts'

const TEXT = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 50\n'
const HASH = hashConfig({ kubelet: TEXT }, 'kubelet')
const ANNOTATIONS = { 'kubelet-cfg-agent.io/rollout': 'pods-rollout' }
const state = (stage: number) => `1 7 ${stage} ${HASH} 5274a9bd-00f5 200 0`

async function startRollout(test: Test, options: PluginWorldOptions = {}) {
  const world = await startPluginWorld(test, options)
  putConfigMap(world, 'pods', TEXT, ANNOTATIONS)
  const putRecord = (data: Readonly<Record<string, string>>) =>
    world.server.objects.put({ kind: 'ConfigMap', metadata: { name: 'pods-rollout', namespace: NAMESPACE }, data })
  putRecord({})
  const annotationsOf = () => world.server.objects.get('ConfigMap', 'pods', NAMESPACE)?.metadata.annotations
  return Object.assign(world, { putRecord, annotationsOf })
}

t.test('a rollout is followed to its end: a line for each change', async (t) => {
  const world = await startRollout(t)
  const steps = [
    { state: state(0), 'node.n1': '7 0 claim 3600' },
    { state: state(0), 'node.n1': '7 0 claim 3600' },
    { state: state(1), 'node.n1': '7 0 proof', 'node.n2': '7 1 proof' },
    { state: state(5) },
  ]
  world.context.sleep = async () => void world.putRecord(steps.shift() ?? {})
  const { code, out } = await world.run('rollout', 'status', 'pods')
  t.equal(code, 0)
  t.matchSnapshot(out)
})

t.test('programs get a document for each change', async (t) => {
  const world = await startRollout(t, { isWatched: true })
  const steps = [{ state: state(0), 'node.n1': '7 0 claim 3600' }, { state: state(0), 'node.n1': '7 0 claim 3600' }, { state: state(5) }]
  world.context.sleep = async () => void world.putRecord(steps.shift() ?? {})
  const { code, out } = await world.run('rollout', 'status', 'pods', '-o', 'json')
  t.equal(code, 0)
  const documents = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.match(documents, [
    { kind: 'ConfigRolloutStatus', config: 'kube-system/pods', paused: false, excluded: [], progress: null },
    { progress: { stage: 0, lastStage: 5, claimed: ['n1'], finished: false } },
    { progress: { stage: 5, finished: true } },
  ])
  t.equal(documents.length, 3)
  const yaml = await world.run('rollout', 'status', 'pods', '-o', 'yaml', '--once')
  t.match(yaml.out, /^---\n[\s\S]*kind: ConfigRolloutStatus\n/)
})

t.test('on a terminal it is one line with a bar', async (t) => {
  const { run, putRecord } = await startRollout(t, { isWatched: true })
  putRecord({ state: state(3), 'node.n1': '7 3 proof', 'node.n2': '7 3 claim 60' })
  const { code, out } = await run('rollout', 'status', 'pods', '--once')
  t.equal(code, 2, 'under way')
  t.matchSnapshot(out)
})

t.test('windows that are closed, and what zones do not promise', async (t) => {
  const world = await startRollout(t)
  const today = new Date().getUTCDay()
  const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
  const later = days[(today + 3) % 7]
  const show = async (plan: string, ...options: string[]) => {
    putConfigMap(world, 'pods', TEXT, { ...ANNOTATIONS, 'kubelet-cfg-agent.io/rollout-plan': plan })
    world.putRecord({ state: state(2) })
    return (await world.run('rollout', 'status', 'pods', '--once', ...options)).out
  }
  const plan = `zones: [a, b], witnesses: 3, windows: [${later} 22:00-24:00]`
  t.match(await show(plan), new RegExp(`0 of 3 proofs; its windows are closed; the next one opens on ${later} `))
  t.match(await show(plan), /^Up to 5 nodes of the next zone start before a stage opens it\.$/m)
  t.match(await show(`${plan}, now: ${HASH}`), /: the plan lets this content start now$/m)
  t.notMatch(await show(`${plan}, now: ${HASH}`), /closed/)
  const document = JSON.parse(await show(plan, '-o', 'json'))
  t.match(document, {
    hash: HASH,
    plan: { zones: { names: ['a', 'b'] }, restSeconds: 0, windows: { state: 'closed', timeZone: 'UTC', skipped: [] } },
  })
})

t.test('a halted rollout exits with 1 and names the node', async (t) => {
  const { run, putRecord } = await startRollout(t)
  putRecord({ state: state(0), 'node.n3': '7 0 veto crash-loop: kubelet exited \u001b[2J3 times' })
  t.match(await run('rollout', 'status', 'pods'), {
    code: 1,
    out: 'stage 0 of 5, open to witnesses only: halted\nFailed on n3: crash-loop: kubelet exited ?[2J3 times\n',
  })
})

t.test('after a retry, what was halted is no longer', async (t) => {
  const { run, putRecord } = await startRollout(t)
  putRecord({ state: state(0), 'node.n3': '7 0 veto it failed' })
  t.equal((await run('rollout', 'status', 'pods', '--once')).code, 1)
  t.equal((await run('rollout', 'retry', 'pods')).code, 0)
  t.equal((await run('rollout', 'status', 'pods', '--once')).code, 2, 'no node has begun it again')
})

t.test('a finished rollout is not done while the config is paused', async (t) => {
  const world = await startRollout(t)
  world.putRecord({ state: state(5) })
  putConfigMap(world, 'pods', TEXT, { ...ANNOTATIONS, 'kubelet-cfg-agent.io/paused': 'true' })
  const paused = /^stage 5 of 5, open to all nodes: finished; the config is paused\n/
  t.match(await world.run('rollout', 'status', 'pods', '--once'), { code: 2, out: paused })
  world.onSleep = () => putConfigMap(world, 'pods', TEXT, ANNOTATIONS)
  const { code, out } = await world.run('rollout', 'status', 'pods')
  t.equal(code, 0)
  t.match(out, paused)
  t.match(out, /\nstage 5 of 5, open to all nodes: finished\n$/)
})

t.test('who is silent shows over time', async (t) => {
  const world = await startRollout(t)
  world.putRecord({ state: state(0), 'node.n1': '7 0 claim 60' })
  let passed = 0
  world.onSleep = (ms) => {
    passed += ms
    if (passed === 90_000) world.putRecord({ state: state(0), 'node.n1': '7 0 claim 60', 'node.n2': '7 0 veto it failed' })
  }
  t.match(await world.run('rollout', 'status', 'pods'), { code: 1, out: /Did not report in time: n1\n/ })
})

t.test('what cannot be told exits with 2', async (t) => {
  const world = await startRollout(t)
  const { run, server } = world
  putConfigMap(world, 'plain', TEXT)
  t.match(await run('rollout', 'status', 'plain'), { code: 2, err: /has no rollout: kubectl kubelet-config rollout init plain makes one/ })
  t.match(await run('rollout', 'status', 'none'), { code: 2, err: /ConfigMap kube-system\/none does not exist/ })
  putConfigMap(world, 'pods', TEXT, { ...ANNOTATIONS, 'kubelet-cfg-agent.io/rollout-plan': 'waves: no' })
  t.match(await run('rollout', 'status', 'pods'), { code: 2, err: /rollout-plan of the config cannot be used: waves is "no"/ })
  putConfigMap(world, 'pods', TEXT, ANNOTATIONS)
  server.objects.remove('ConfigMap', 'pods-rollout', NAMESPACE)
  t.match(await run('rollout', 'status', 'pods'), { code: 2, err: /pods-rollout does not exist/ })
  server.authorize = () => false
  t.match(await run('rollout', 'status', 'pods'), { code: 2, err: /the right to get configmaps in the namespace kube-system is missing/ })
})

t.test('an outage is waited out', async (t) => {
  const world = await startRollout(t)
  world.putRecord({ state: state(5) })
  world.server.fault = () => ({ kind: 'disconnect' })
  world.onSleep = () => {
    world.server.fault = undefined
  }
  t.match(await world.run('rollout', 'status', 'pods'), {
    code: 0,
    out: /^cannot get configmaps pods: .*\nstage 5 of 5, open to all nodes: finished\n$/,
  })
})

async function startPart(test: Test) {
  const world = await startRollout(test)
  const text = 'maxPods: 50\n'
  const base = 'other-ns/common'
  const putPart = (over: string) => putConfigMap(world, 'pods', text, { ...ANNOTATIONS, 'kubelet-cfg-agent.io/base': over })
  putPart(base)
  world.server.objects.put({ kind: 'ConfigMap', metadata: { name: 'common', namespace: 'other-ns' }, data: { kubelet: TEXT } })
  const hash = hashConfig({ kubelet: text }, 'kubelet', { base, under: [{ base: undefined, text: TEXT }] })
  world.putRecord({ state: state(5).replace(HASH, hash) })
  return Object.assign(world, { putPart })
}

t.test('the rollout of a part whose base cannot be read: nobody can tell how far it is', async (t) => {
  const { run, server, putPart } = await startPart(t)
  t.match(await run('rollout', 'status', 'pods'), { code: 0, out: /finished/ })
  server.authorize = ({ path }) => !path.includes('/other-ns/')
  t.match(await run('rollout', 'status', 'pods'), {
    code: 2,
    out: '',
    err: /the base ConfigMap other-ns\/common of ConfigMap kube-system\/pods may not be read: grant get of configmaps in the namespace other-ns/,
  })
  server.authorize = () => true
  server.objects.remove('ConfigMap', 'common', 'other-ns')
  t.match(await run('rollout', 'status', 'pods'), {
    code: 2,
    out: '',
    err: /the base ConfigMap other-ns\/common .* does not exist: create it/,
  })
  putPart('kube-system/pods')
  t.match(await run('rollout', 'status', 'pods'), { code: 2, out: '', err: /ConfigMap kube-system\/pods: .*the bases form a cycle/ })
})

t.test('an outage at the base is waited out too', async (t) => {
  const world = await startPart(t)
  world.server.fault = ({ path }) => (path.includes('/other-ns/') ? { kind: 'answer', status: 503 } : undefined)
  t.match(await world.run('rollout', 'status', 'pods', '--once'), { code: 2, out: '', err: /other-ns\/common of .* cannot be read: .*503/ })
  world.onSleep = () => {
    world.server.fault = undefined
  }
  t.match(await world.run('rollout', 'status', 'pods'), {
    code: 0,
    out: /^the base ConfigMap other-ns\/common of .* cannot be read: .*\nstage 5 of 5, open to all nodes: finished\n$/,
  })
})

t.test('pause, resume and retry', async (t) => {
  const { run, annotationsOf, putRecord } = await startRollout(t)
  putRecord({ state: state(1) })
  t.equal((await run('rollout', 'pause', 'pods')).code, 0)
  t.match(annotationsOf(), { 'kubelet-cfg-agent.io/paused': 'true' })
  t.match((await run('rollout', 'status', 'pods', '--once')).out, /0 of 5 proofs; the config is paused\n/)
  t.equal((await run('rollout', 'resume', 'pods')).code, 0)
  t.notMatch(annotationsOf(), { 'kubelet-cfg-agent.io/paused': 'true' })
  t.match(await run('rollout', 'retry', 'pods'), { code: 0, out: /begins again \(retry: 1\)/ })
  t.match(annotationsOf(), { 'kubelet-cfg-agent.io/rollout-plan': 'retry: 1' })
  t.match((await run('rollout', 'retry', 'pods')).out, /retry: 2/)
})

t.test('exclude and include', async (t) => {
  const { run, putRecord, annotationsOf, server } = await startRollout(t)
  const excluded = () => new Map(Object.entries(annotationsOf() ?? {})).get('kubelet-cfg-agent.io/rollout-exclude')
  server.objects.put({ kind: 'Node', metadata: { name: 'n3' } })
  putRecord({ state: state(0), 'node.n3': '7 0 veto it failed' })
  t.equal((await run('rollout', 'status', 'pods', '--once')).code, 1)
  t.match(await run('rollout', 'exclude', 'pods', 'n3'), {
    code: 0,
    out: /^Node n3 takes no part in the rollouts of kube-system\/pods\.\n$/,
    err: '',
  })
  t.equal(excluded(), 'n3')
  t.match(await run('rollout', 'status', 'pods', '--once'), { code: 2, out: /^(?!.*halted).*\nExcluded: n3\n$/ })
  t.match(await run('rollout', 'exclude', 'pods', 'n9'), { code: 0, err: /there is no Node of this name/ })
  t.match(await run('rollout', 'exclude', 'pods', 'n3'), { code: 0 })
  t.equal(excluded(), 'n3,n9')
  t.match(await run('rollout', 'include', 'pods', 'n3'), { code: 0, out: /takes part .* again/ })
  t.match(await run('rollout', 'include', 'pods', 'n3'), { code: 1, err: /does not exclude the Node n3/ })
  t.equal((await run('rollout', 'status', 'pods', '--once')).code, 1, 'what it wrote counts again')
  t.match(await run('rollout', 'include', 'pods', 'n9'), { code: 0 })
  t.equal(excluded(), undefined)
})

t.test('retry is raised above that of the record, also after an earlier plan was put back', async (t) => {
  const { run, annotationsOf, putRecord, server } = await startRollout(t)
  putRecord({ state: state(0).replace(/0$/, '4'), 'node.n3': '7 0 veto it failed' })
  t.match(await run('rollout', 'retry', 'pods'), { code: 0, out: /begins again \(retry: 5\)/ })
  t.match(annotationsOf(), { 'kubelet-cfg-agent.io/rollout-plan': 'retry: 5' })
  putRecord({ state: 'what is this' })
  t.match(await run('rollout', 'retry', 'pods'), { code: 1, err: /the record kube-system\/pods-rollout cannot be used: "state" is/ })
  server.objects.remove('ConfigMap', 'pods-rollout', NAMESPACE)
  t.match(await run('rollout', 'retry', 'pods'), { code: 0, out: /retry: 6/ })
})

t.test('retry leaves the rest of a plan as it is', async (t) => {
  t.same(raiseRetry('waves: [5%, 100%], witnesses: 3', 0), { text: 'waves: [5%, 100%], witnesses: 3, retry: 1', retry: 1 })
  t.same(raiseRetry('witnesses: 3\nretry: 9\n', 0), { text: 'witnesses: 3\nretry: 10\n', retry: 10 })
  t.same(raiseRetry('witnesses: 3\nspread: 1m\n', 0), { text: 'witnesses: 3\nspread: 1m\nretry: 1', retry: 1 })
  t.throws(() => raiseRetry('retry: soon', 0), /cannot be used/)
})

t.test('init makes what is missing, and says what was there', async (t) => {
  const world = await startPluginWorld(t)
  const { run, server } = world
  putConfigMap(world, 'pods', TEXT)
  t.match(await run('rollout', 'init', 'pods'), { code: 1, err: /give --yes/ })
  t.equal(server.objects.get('ConfigMap', 'pods-rollout', NAMESPACE), undefined)
  const { code, out } = await run('rollout', 'init', 'pods', '--plan', 'witnesses: 3', '--yes')
  t.equal(code, 0)
  t.match(
    out,
    /Made ConfigMap pods-rollout\.\nMade Role .*\nMade RoleBinding .*\nMade ValidatingAdmissionPolicy .*\nMade ValidatingAdmissionPolicyBinding /,
  )
  t.match(server.objects.get('ConfigMap', 'pods', NAMESPACE)?.metadata.annotations, {
    'kubelet-cfg-agent.io/rollout': 'pods-rollout',
    'kubelet-cfg-agent.io/rollout-plan': 'witnesses: 3',
  })
  t.match((await run('rollout', 'init', 'pods', '--yes')).out, /ConfigMap pods-rollout exists already, and is left as it is\./)
  t.match(await run('rollout', 'status', 'pods', '--once'), { code: 2, out: 'the rollout has not begun\n' })
  t.match(await run('rollout', 'init', 'pods', '--plan', 'witness: 3', '--yes'), { code: 2, err: /"witness" is not a setting/ })
})

t.test('init does not take what exists for what is wanted', async (t) => {
  const world = await startPluginWorld(t)
  const { run, server } = world
  putConfigMap(world, 'pods', TEXT)
  const recordOf = () => server.objects.get('ConfigMap', 'pods', NAMESPACE)?.metadata.annotations
  t.equal((await run('rollout', 'init', 'pods', '--yes')).code, 0)
  const other = await run('rollout', 'init', 'pods', '--record', 'r2', '--yes')
  t.equal(other.code, 1)
  t.match(
    other.err,
    /^Role kubelet-cfg-agent:rollout:pods in the namespace kube-system differs: rules\[0\]\.resourceNames must include "r2", and is \["pods-rollout"\]\n/,
  )
  t.match(other.err, /\nValidatingAdmissionPolicyBinding kubelet-cfg-agent-rollout-pods differs: spec\.matchResources\..*must include "r2"/)
  t.match(other.err, /ConfigMap kube-system\/pods was not changed: .*or delete them, and run the command again\n$/)
  t.match(recordOf(), { 'kubelet-cfg-agent.io/rollout': 'pods-rollout' }, 'the agents may read the record that it names')
  const account = await run('rollout', 'init', 'pods', '--agents', 'serviceaccount', '--yes')
  t.match(account, { code: 1, err: /^RoleBinding .* differs: subjects\[0\]\.kind must be "ServiceAccount", and is "Group"/ })
  server.objects.edit('ConfigMap', 'pods-rollout', NAMESPACE, (record) => ({ ...record, immutable: true }))
  t.match(await run('rollout', 'init', 'pods', '--yes'), { code: 1, err: /^ConfigMap pods-rollout .* differs: immutable must not be set/ })
  putConfigMap(world, 'config', TEXT)
  t.match((await run('rollout', 'init', 'pods', '--record', 'config', '--yes')).err, /^ConfigMap config .* differs: it holds a config/)
  server.authorize = ({ verb, path }) => verb !== 'get' || !path.includes('/roles/')
  t.match(await run('rollout', 'init', 'pods', '--yes'), { code: 1, err: /the right to get roles in the namespace kube-system is missing/ })
})

t.test('init does not take the record of another config', async (t) => {
  const world = await startRollout(t)
  const { run, putRecord, server } = world
  putConfigMap(world, 'other', TEXT)
  const uid = server.objects.get('ConfigMap', 'pods', NAMESPACE)?.metadata.uid
  putRecord({ state: state(1).replace('5274a9bd-00f5', String(uid)) })
  t.match(await run('rollout', 'init', 'other', '--record', 'pods-rollout', '--yes'), {
    code: 1,
    err: /^ConfigMap pods-rollout in the namespace kube-system differs: it is about another config, .*: give --record another name, or empty it\n/,
  })
  t.notMatch(server.objects.get('ConfigMap', 'other', NAMESPACE)?.metadata.annotations, ANNOTATIONS)
  putConfigMap(world, 'pods', TEXT)
  t.match(await run('rollout', 'init', 'pods', '--yes'), { code: 0 }, 'its own record, which it does not name any more')
  putRecord({ state: state(1) })
  t.match(await run('rollout', 'init', 'pods', '--yes'), { code: 0 }, 'it names this record')
})

t.test('a policy of another version is left, and said', async (t) => {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'pods', TEXT)
  t.equal((await world.run('rollout', 'init', 'pods', '--yes')).err, '')
  world.server.objects.edit('ValidatingAdmissionPolicy', 'kubelet-cfg-agent-rollout', undefined, (policy) => ({
    ...policy,
    spec: { ...(policy.spec as object), validations: [] },
  }))
  t.match(await world.run('rollout', 'init', 'pods', '--yes'), {
    code: 0,
    err: /^Note: ValidatingAdmissionPolicy kubelet-cfg-agent-rollout is not the one of this version: .*deploy\/admission\/rollout\.yaml/,
  })
})

t.test('each config has its own admission binding', async (t) => {
  const world = await startPluginWorld(t)
  const { run, server } = world
  const configs = [
    ['gpu', 'nodes'],
    ['kube-system', 'gpu-nodes'],
    ['kube-system', 'gpu.nodes'],
    ['gpu', 'a.nodes'],
    ['kube-system', 'gpu.a.nodes'],
  ] as const
  for (const [namespace, name] of configs) {
    server.objects.put({ kind: 'ConfigMap', metadata: { name, namespace }, data: { kubelet: TEXT } })
    t.match(await run('rollout', 'init', name, '-n', namespace, '--yes'), { code: 0, err: '' })
  }
  const bindings = server.objects.list('ValidatingAdmissionPolicyBinding')
  const paramOf = (spec: unknown) => (spec as { paramRef: { name: string; namespace: string } }).paramRef
  t.same(
    new Set(bindings.map(({ spec }) => `${paramOf(spec).namespace}/${paramOf(spec).name}`)),
    new Set(configs.map(([namespace, name]) => `${namespace}/${name}`)),
  )
  t.ok(server.objects.get('ValidatingAdmissionPolicyBinding', 'kubelet-cfg-agent-rollout-gpu-nodes'), 'as in deploy/')
})

t.test('init on a server without admission policies goes on without', async (t) => {
  const world = await startPluginWorld(t)
  putConfigMap(world, 'pods', TEXT)
  world.server.fault = ({ path }) =>
    path.includes('admissionregistration')
      ? { kind: 'answer', status: 404, headers: { 'content-type': 'text/plain' }, body: '404 page not found\n' }
      : undefined
  t.match(await world.run('rollout', 'init', 'pods', '--yes'), {
    code: 0,
    err: /has no ValidatingAdmissionPolicy: it needs Kubernetes 1\.30/,
  })
})

const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')
const documents = (path: string) => {
  const parsed = parseDocuments(read(path))
  return parsed.ok ? parsed.documents.map(({ value }) => value as { metadata: object }) : []
}

t.test('what init makes is what deploy/ has', async (t) => {
  t.equal(
    read('src/command/plugin/generated/rollout-policy.ts'),
    rolloutPolicyModule(read('deploy/admission/rollout.yaml')),
    'run npm run docs',
  )
  const names = { namespace: NAMESPACE, config: 'node-config', record: 'node-config-rollout', agents: 'nodes' } as const
  const [, role, roleBinding, policy, binding] = listRolloutObjects(names).map(({ body }) => ({ ...body }))
  const [ownRole, ownBinding] = documents('deploy/rbac/rollout.yaml')
  t.match(role, { ...ownRole, metadata: { namespace: NAMESPACE } })
  const subjects = (value: unknown) => (value as { subjects: unknown[] }).subjects
  t.same([subjects(roleBinding)[0]], [subjects(ownBinding)[0]])
  const [other] = listRolloutObjects({ ...names, agents: 'serviceaccount' })
    .slice(2, 3)
    .map(({ body }) => subjects(body)[0])
  t.same(other, subjects(ownBinding)[1])
  t.same([policy, binding], documents('deploy/admission/rollout.yaml'))
})

t.test('what exists may grant more, and has the defaults of the API server', async (t) => {
  const names = { namespace: NAMESPACE, config: 'node-config', record: 'node-config-rollout' }
  const [role, ownBinding] = documents('deploy/rbac/rollout.yaml')
  const [policy, binding] = documents('deploy/admission/rollout.yaml') as unknown as { spec: Record<string, Record<string, unknown>> }[]
  const selectors = { namespaceSelector: {}, objectSelector: {}, matchPolicy: 'Equivalent' }
  const { spec } = binding ?? { spec: {} }
  const rules = (match: object | undefined) => (match as { resourceRules: object[] }).resourceRules
  const scoped = (match: object | undefined) => ({
    ...selectors,
    ...match,
    resourceRules: rules(match).map((rule) => ({ ...rule, scope: '*' })),
  })
  const found = [
    {},
    role,
    { ...ownBinding, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'kubelet-cfg-agent:rollout:node-config' } },
    { spec: { ...policy?.spec, matchConstraints: scoped(policy?.spec.matchConstraints) } },
    { spec: { ...spec, matchResources: scoped(spec.matchResources) } },
  ]
  for (const agents of ['nodes', 'serviceaccount'] as const)
    for (const [index, { body }] of listRolloutObjects({ ...names, agents }).entries())
      t.same(findDifferences(body, found[index], undefined), [], body.kind)
  const [, , , , last] = listRolloutObjects({ ...names, agents: 'nodes' })
  const differences = (other: unknown) => last && findDifferences(last.body, other, undefined)
  const narrow = { spec: { ...spec, matchResources: { ...spec.matchResources, objectSelector: { matchLabels: { a: 'b' } } } } }
  t.same(differences(narrow), ['spec.matchResources.objectSelector must not be set, and is {"matchLabels":{"a":"b"}}'])
  t.match(differences({}), [/^spec must be \{"policyName":.{180,}…, and is not set$/])
})
