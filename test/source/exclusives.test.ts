// SPDX-License-Identifier: Apache-2.0
/** Whether a pod has CPUs or memory of its own. */
import t from 'tap'
import type { Exclusives } from '../../src/decision/snapshot.ts'
import type { KubeAnswer, KubeRequest } from '../../src/ports/kube-api.ts'
import { NodeExclusives } from '../../src/source/exclusives.ts'
import { unit } from '../decision/snapshots.ts'

const UID = '3f2b6f0e-0000-4000-8000-000000000001'
const ok = (object: unknown): KubeAnswer => ({ kind: 'ok', object })
const pods = (...items: readonly unknown[]) => ok({ kind: 'PodList', items })
const NONE = { kind: 'none' } as const
const held = (by: string) => ({ kind: 'held', by })

interface PodFacts {
  readonly cpu?: string
  readonly qosClass?: string
  readonly annotations?: Readonly<Record<string, string>>
}

function pod(name: string, { cpu = '100m', qosClass = 'Guaranteed', annotations = {} }: PodFacts = {}) {
  const resources = { requests: { cpu }, limits: { cpu } }
  return {
    metadata: { namespace: 'kube-system', name, uid: UID, annotations },
    spec: { containers: [{ resources }] },
    status: { qosClass },
  }
}

const SETTLED = () => new Promise((resolve) => setImmediate(resolve))

async function find(
  list: KubeAnswer,
  files: Readonly<Record<string, string | Error>> = {},
  words: readonly string[] = [],
): Promise<Exclusives | undefined> {
  const { exclusives, kubelet } = open(list, files, words)
  exclusives.find(kubelet)
  await SETTLED()
  return exclusives.find(kubelet)
}

function open(list: KubeAnswer, files: Readonly<Record<string, string | Error>> = {}, words: readonly string[] = []) {
  const world = { list, nowUs: 0, requests: [] as KubeRequest[], changes: 0 }
  const exclusives = new NodeExclusives({
    api: {
      request: async (request) => {
        world.requests.push(request)
        return world.list
      },
    },
    files: {
      read: (path) => {
        const text = files[path]
        if (text instanceof Error) throw text
        return text === undefined ? undefined : Buffer.from(text)
      },
    },
    nodeName: 'node-1',
    clock: { now: () => ({ bootId: 'b', monotonicUs: world.nowUs, wallMs: 0 }) },
    onChange: () => {
      world.changes += 1
    },
  })
  return { world, exclusives, kubelet: unit({ command: { path: '/usr/bin/kubelet', words } }) }
}

t.test('a pod that is guaranteed whole CPUs', async (t) => {
  t.same(await find(pods()), NONE)
  t.same(await find(pods(pod('a'))), NONE, 'a share of a CPU')
  t.same(await find(pods(pod('a', { cpu: '2', qosClass: 'Burstable' }))), NONE)
  t.same(await find(pods(pod('a'), pod('b', { cpu: '2' }))), held('pod kube-system/b is guaranteed whole CPUs'))
  t.same(await find(pods(pod('b', { cpu: '2000m' }))), held('pod kube-system/b is guaranteed whole CPUs'))
  const whole = { ...pod('c'), spec: { containers: [], resources: { limits: { cpu: 1 } } } }
  t.same(await find(pods(whole)), held('pod kube-system/c is guaranteed whole CPUs'), 'as a pod')
})

const CPU = '/var/lib/kubelet/cpu_manager_state'
const MEMORY = '/var/lib/kubelet/memory_manager_state'
const stateOf = (uid: string) => JSON.stringify({ policyName: 'static', defaultCpuSet: '0', entries: { [uid]: {} } })

t.test('a pod in a state file', async (t) => {
  t.same(await find(pods(), { [CPU]: '{"policyName":"static","defaultCpuSet":"0-3"}' }), NONE)
  t.same(await find(pods(pod('a')), { [CPU]: stateOf(UID) }), held('pod kube-system/a has CPUs of its own'))
  t.same(await find(pods(), { [CPU]: stateOf('gone') }), held('pod with UID gone has CPUs of its own'))
  t.same(await find(pods(pod('a')), { [MEMORY]: stateOf(UID) }), held('pod kube-system/a has memory of its own'))
  t.same(await find(pods(pod('a')), { [MEMORY]: stateOf('gone') }), NONE, 'kubelet has not forgotten it yet')
  const mirror = pod('static', { annotations: { 'kubernetes.io/config.hash': 'abc' } })
  t.same(await find(pods(mirror), { [MEMORY]: stateOf('abc') }), held('pod kube-system/static has memory of its own'))
  t.same(await find(pods(), { '/data/cpu_manager_state': stateOf('x') }, ['--root-dir=/data']), held('pod with UID x has CPUs of its own'))
})

t.test('what is not known is not none', async (t) => {
  t.equal(await find({ kind: 'unreachable', detail: 'no connection' }), undefined)
  t.equal(await find(ok({ kind: 'Table', items: [] })), undefined)
  t.equal(await find(ok({ kind: 'PodList', items: [], metadata: { continue: 'more' } })), undefined, 'there are more')
  t.equal(await find(pods(), { [CPU]: '{"policyNa' }), undefined)
  t.equal(await find(pods(), { [MEMORY]: new Error('EIO') }), undefined)
})

t.test('asks for the pods of this node that have not ended, again after a while, and an old answer counts no more', async (t) => {
  const { world, exclusives, kubelet } = open(pods())
  t.equal(exclusives.find(kubelet), undefined)
  await SETTLED()
  t.same(exclusives.find(kubelet), NONE)
  t.equal(world.changes, 1)
  t.match(world.requests, [{ path: '/api/v1/pods', query: { fieldSelector: /^spec\.nodeName=node-1,/ } }])
  world.nowUs = 11e6
  exclusives.find(kubelet)
  await SETTLED()
  t.equal(world.requests.length, 2)
  t.equal(world.changes, 1, 'nothing has changed')
  world.nowUs += 31e6
  t.equal(exclusives.find(kubelet), undefined)
})
