// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { CommandContext } from '../../../../src/command/agent/command.ts'
import { planCommand } from '../../../../src/command/agent/commands/plan.ts'
import type { Desired } from '../../../../src/decision/desired.ts'
import { hashObject } from '../../../../src/decision/rollout-hash.ts'
import type { Snapshot } from '../../../../src/decision/snapshot.ts'
import type { Staging } from '../../../../src/decision/staging-state.ts'
import { trialKey } from '../../../../src/subject/trial-key.ts'
import { following, held, IDENTITY, runningContent, snapshot, source, unit } from '../../../report/build.ts'
import { execute, fakeNode } from '../fake-node.ts'

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const good = source('100')
const next = source('200')

const wanting = (text: string, of = next): Pick<Snapshot, 'desired' | 'desiredContent' | 'storedContent'> => ({
  desired: {
    kind: 'config-map',
    ref: of,
    object: { kind: 'found', uid: of.uid, resourceVersion: of.resourceVersion, data: { kubelet: text } },
  },
  desiredContent: `content-${of.resourceVersion}`,
  storedContent: undefined,
})

const settled = following(good, { lastKnownGood: held(good), proven: trialKey('content-100', IDENTITY) })

async function plan(of: Snapshot, options: Record<string, string> = {}, context: Partial<CommandContext> = {}) {
  const observed: (Desired | undefined)[] = []
  const node = fakeNode({
    snapshot: of,
    context: {
      fetchDesired: async () => of.desired,
      observe: async (desired) => {
        observed.push(desired)
        return of
      },
      checkpoints: { data: () => ({ kubelet: `${HEAD}maxPods: 110\n` }) },
      files: { read: () => Buffer.from(HEAD) },
      readLocalConfig: async () => ({ kind: 'found', path: '/var/lib/kubelet/config.yaml', text: HEAD }),
      ...context,
    },
  })
  const code = await execute(planCommand, node, options)
  t.same(observed, [of.desired], 'observes the node with the assignment of the cluster')
  t.same(node.actions, [], 'leaves no request')
  return { code, out: node.out(), err: node.err() }
}

const worlds: Readonly<Record<string, Snapshot>> = {
  'a new version': { ...settled, ...wanting(`${HEAD}maxPods: 64\n`), policy: { ...settled.policy, spreadUs: 600e6 } },
  'another config': { ...settled, ...wanting(`${HEAD}maxPods: 64\n`, source('7', { name: 'other', uid: 'uid-2' })) },
  'a config that preflight refuses': { ...settled, ...wanting(`${HEAD}kubeAPIQPS: -1\nmaxPod: 64\n`) },
  'nothing to do': { ...settled, ...wanting(`${HEAD}maxPods: 110\n`, good), storedContent: 'content-100' },
  'back to local': { ...settled, desired: { kind: 'local' }, desiredContent: undefined },
  paused: { ...settled, ...wanting(`${HEAD}maxPods: 64\n`), requests: { hold: 'paused', rollback: undefined, retry: false } },
  'the API server is away': { ...settled, desired: { kind: 'unknown', detail: 'Node node-1 cannot be read: connection refused' } },
  'the ConfigMap is gone': {
    ...settled,
    desired: { kind: 'config-map', ref: next, object: { kind: 'unavailable', reason: 'not-found', detail: 'it does not exist' } },
  },
  'not wired': snapshot({
    ...wanting(HEAD),
    unit: unit({ wiring: { kind: 'broken', reason: 'daemon-reload-needed', detail: 'systemd has not read the drop-in' } }),
    nextStart: { kind: 'unknown', detail: 'systemd has not read the drop-in' },
  }),
  'kubelet stopped': {
    ...settled,
    ...wanting(`${HEAD}maxPods: 64\n`),
    unit: unit({ activity: 'stopped', summary: 'inactive (dead)', process: { kind: 'none' } }),
    running: { kind: 'none' },
  },
}

t.test('a return to a local config that kubelet refuses restarts nothing', async (t) => {
  const back = { ...settled, desired: { kind: 'local' }, desiredContent: undefined } as const
  const found = (text: string) => ({ readLocalConfig: async () => ({ kind: 'found', path: '/etc/kubelet.yaml', text }) as const })
  t.match((await plan(back, {}, found(`${HEAD}kubeAPIQPS: -1\n`))).out, /then +refused.*\n.*not restarted/)
  t.match((await plan(back, {}, found(HEAD))).out, /restart kubelet to use local/)
})

t.test('prints the plan for people', async (t) => {
  for (const [name, of] of Object.entries(worlds)) t.matchSnapshot((await plan(of)).out, name)
})

t.test('prints JSON for programs', async (t) => {
  const { code, out } = await plan(worlds['a new version'] ?? settled, { output: 'json' })
  t.equal(code, 0)
  t.matchSnapshot(out)
})

t.test('shows whether and when kubelet is restarted', async (t) => {
  const restartOf = async (name: string) => JSON.parse((await plan(worlds[name] ?? settled, { output: 'json' })).out).restart
  const spread = await restartOf('a new version')
  t.equal(spread.due, true)
  t.ok(spread.afterSeconds > 0 && spread.afterSeconds <= 600)
  t.same(await restartOf('another config'), { due: true, afterSeconds: 0 })
  for (const name of [
    'a config that preflight refuses',
    'nothing to do',
    'paused',
    'the API server is away',
    'not wired',
    'kubelet stopped',
  ])
    t.same(await restartOf(name), { due: false, afterSeconds: null }, name)
})

t.test('exit codes', async (t) => {
  for (const [name, of] of Object.entries(worlds))
    t.equal((await plan(of)).code, name === 'the API server is away' || name === 'the ConfigMap is gone' ? 1 : 0, name)
})

t.test('shows the zones that the node has seen the content with first', async (t) => {
  const { desired, ...wanted } = wanting(`${HEAD}maxPods: 64\n`)
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is wanted')
  const object = { ...desired.object, rollout: { record: 'rollouts', plan: 'zones: [a, b]' } }
  const hash = hashObject(object, next.kubeletConfigKey)
  const shown = async (kept: Partial<Staging>) => {
    const staged = { content: wanted.desiredContent ?? '', hash }
    const staging = { config: `${next.namespace}/${next.name}`, record: 'rollouts', arrival: 'there', contents: [staged], ...kept } as const
    return (await plan({ ...settled, ...wanted, desired: { ...desired, object }, stagings: [staging] })).out
  }
  t.match(await shown({}), /Zones +a, b \(/)
  t.match(await shown({ waves: [100], zones: { label: 'rack', zones: ['r1'] } }), /Zones +r1 \(rack\)/)
  t.notMatch(await shown({ waves: [100] }), /Zones/)
})

t.test('runs preflight as the agent does', async (t) => {
  const inspected: unknown[] = []
  const inspect: CommandContext['inspect'] = async (config, options) => {
    inspected.push({ config, options })
    return { outcome: 'refused', findings: [], parts: [{ part: 'kubelet', outcome: 'refused', detail: 'kubelet says no' }] }
  }
  const of = worlds['a new version'] ?? settled
  const { out } = await plan(of, {}, { inspect })
  t.match(inspected, [
    {
      config: { key: 'kubelet', files: { kubelet: /maxPods: 64/ } },
      options: { node: true, deep: 'if-possible', kubelet: undefined, version: undefined, from: 'running' },
    },
  ])
  t.match(out, 'Kubelet is not restarted.')
  const content = runningContent('content-100')
  t.match(out, /refused: .*@100/, `${content.kind}`)
})

t.test('a kubelet that would start with no config is left alone', async (t) => {
  const parts = [{ part: 'kubelet', outcome: 'cannot-start', detail: 'unknown flag: --x' }] as const
  const inspect: CommandContext['inspect'] = async () => ({ outcome: 'unjudged', findings: [], parts })
  const { out } = await plan(worlds['a new version'] ?? settled, {}, { inspect })
  t.match(out, 'Kubelet is not restarted.')
  t.match(out, /check .*: not possible/)
  t.match(out, /unknown: the kubelet on disk would not start with any config: unknown flag: --x; correct its flags/)
  t.match(out, /kubelet {2}cannot start {2}unknown flag: --x/)
})

t.test('says which layer a field comes from', async (t) => {
  const merged = `${HEAD}maxPods: 200\nkubeAPIQPS: -1\n`
  const wanted = wanting(merged)
  if (wanted.desired.kind !== 'config-map' || wanted.desired.object.kind !== 'found') throw new Error('it is found')
  const object = { ...wanted.desired.object, data: { kubelet: 'maxPods: 200\n' }, base: { kind: 'local', text: 'local' } as const }
  const rendered = { overlay: '0123456789abcdef', data: { kubelet: merged } }
  const part = { ...settled, ...wanted, desired: { ...wanted.desired, object: { ...object, rendered } } }
  const local = { readLocalConfig: async () => ({ kind: 'found', path: '/etc/kubelet.yaml', text: `${HEAD}kubeAPIQPS: -1\n` }) as const }
  const { changes, preflight } = JSON.parse((await plan(part, { output: 'json' }, local)).out)
  const layerOf = (entries: readonly { path: unknown; layer?: string }[], field: string) =>
    entries.find(({ path }) => JSON.stringify(path).includes(field))?.layer
  t.equal(layerOf(changes, 'maxPods'), 'ConfigMap kube-system/my-node-config:kubelet')
  t.equal(layerOf(changes, 'kubeAPIQPS'), '/etc/kubelet.yaml')
  t.equal(layerOf(preflight.findings, 'kubeAPIQPS'), '/etc/kubelet.yaml', JSON.stringify(preflight))
})

t.test('a change that needs a drained node restarts nothing yet', async (t) => {
  const drain = { rule: 'policy/require-drain', severity: 'info', reason: 'validate', path: ['maxPods'], position: undefined } as const
  const findings = [{ ...drain, problem: 'maxPods changes only on a drained node', advice: undefined }]
  const { out } = await plan(
    worlds['another config'] ?? settled,
    {},
    { inspect: async () => ({ outcome: 'accepted', findings, parts: [] }) },
  )
  t.match(out, /then +drain: .*waits until the node is drained: it changes maxPods/)
  t.match(out, 'Kubelet is not restarted.')
})

t.test('the output never controls the terminal', async (t) => {
  const of = { ...settled, desired: { kind: 'unknown', detail: 'a\u001b[2J\u202eb' } as const, unit: unit({ summary: '\u0007' }) }
  t.notMatch((await plan(of)).out, /[^\P{Cc}\n]|\u202e/u)
})

t.test('says once what a change does not do', async (t) => {
  const of = { ...settled, ...wanting(`${HEAD}providerID: x://1\n`) }
  const effect = /changing providerID has no effect on a registered Node/g
  t.equal((await plan(of)).out.match(effect)?.length, 1, 'with the changes')
  const problem = 'changing providerID has no effect on a registered Node'
  const finding = {
    rule: 'change/registration',
    severity: 'warn',
    reason: 'validate',
    path: ['providerID'],
    position: undefined,
    problem,
  } as const
  const inspect: CommandContext['inspect'] = async () => ({ outcome: 'accepted', findings: [{ ...finding, advice: undefined }], parts: [] })
  t.equal((await plan(of, {}, { inspect })).out.match(effect)?.length, 1, 'with the findings')
})
