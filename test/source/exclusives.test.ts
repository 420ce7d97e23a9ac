// SPDX-License-Identifier: Apache-2.0
/** Whether a pod has something to lose by a change of kubelet's managers. */
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

const SETTLED = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
const CPU_POLICY = ['cpuManagerPolicy']

interface Asked {
  readonly files?: Readonly<Record<string, string | Error>>
  readonly words?: readonly string[]
  readonly fields?: readonly string[]
  readonly node?: KubeAnswer
  readonly kubelet?: Parameters<typeof unit>[0]
}

async function find(list: KubeAnswer | 'no API', asked: Asked = {}): Promise<Exclusives | undefined> {
  const { exclusives, kubelet } = open(list, asked)
  exclusives.find(kubelet, asked.fields ?? CPU_POLICY)
  await SETTLED()
  return exclusives.find(kubelet, asked.fields ?? CPU_POLICY)
}

const nodeOf = (spec: object, type = 'Ready') =>
  ok({ kind: 'Node', metadata: { name: 'node-1' }, spec, status: { conditions: [{ type, status: 'True' }] } })
const PROCESS = { kind: 'other', pid: 1, configPath: undefined } as const

function open(list: KubeAnswer | 'no API', { files = {}, words = [], node = nodeOf({}), kubelet }: Asked = {}) {
  const world = { list, node, cached: undefined as KubeAnswer | undefined, nowUs: 0, requests: [] as KubeRequest[], changes: 0 }
  const answer = async (request: KubeRequest): Promise<KubeAnswer> => {
    world.requests.push(request)
    if (request.path !== '/api/v1/pods') return world.node
    if (world.list === 'no API') throw new Error('there is none')
    return request.query?.resourceVersion === '0' ? (world.cached ?? world.list) : world.list
  }
  const exclusives = new NodeExclusives({
    api: list === 'no API' ? undefined : { request: answer },
    files: {
      read: (path) => {
        const text = files[path]
        if (text instanceof Error) throw text
        return text === undefined ? undefined : Buffer.from(text)
      },
    },
    nodeName: 'node-1',
    clock: { now: () => ({ bootId: 'b', monotonicUs: world.nowUs, wallMs: 0 }) },
    random: () => 0.5,
    onChange: () => {
      world.changes += 1
    },
  })
  return { world, exclusives, kubelet: unit({ process: PROCESS, command: { path: '/usr/bin/kubelet', words }, ...kubelet }) }
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
  t.same(await find(pods(), { files: { [CPU]: '{"policyName":"static","defaultCpuSet":"0-3"}' } }), NONE)
  t.same(await find(pods(pod('a')), { files: { [CPU]: stateOf(UID) } }), held('pod kube-system/a has CPUs of its own'))
  t.same(await find(pods(), { files: { [CPU]: stateOf('gone') } }), held('pod with UID gone has CPUs of its own'))
  t.same(await find(pods(pod('a')), { files: { [MEMORY]: stateOf(UID) } }), held('pod kube-system/a has memory of its own'))
  t.same(await find(pods(pod('a')), { files: { [MEMORY]: stateOf('gone') } }), NONE, 'kubelet has not forgotten it yet')
  const mirror = pod('static', { annotations: { 'kubernetes.io/config.hash': 'abc' } })
  t.same(await find(pods(mirror), { files: { [MEMORY]: stateOf('abc') } }), held('pod kube-system/static has memory of its own'))
  t.same(
    await find(pods(), { files: { '/data/cpu_manager_state': stateOf('x') }, words: ['--root-dir=/data'] }),
    held('pod with UID x has CPUs of its own'),
  )
})

t.test('by the field that changes', async (t) => {
  const small = pods(pod('agent'))
  t.same(await find(small, { fields: ['topologyManagerPolicy'] }), NONE)
  t.same(await find(small, { fields: ['memoryManagerPolicy'] }), held('pod kube-system/agent is guaranteed memory'))
  t.same(await find(small, { fields: ['cpuManagerPolicy', 'reservedMemory'] }), held('pod kube-system/agent is guaranteed memory'))
  const resources = { limits: { 'example.com/gpu': 1 } }
  const gpu = pods({ ...pod('gpu', { qosClass: 'BestEffort' }), spec: { containers: [{ resources }] } })
  t.same(await find(gpu), NONE)
  t.same(await find(gpu, { fields: ['topologyManagerScope'] }), held('pod kube-system/gpu has devices'))
})

t.test('what kubelet allocated counts until a resize is done', async (t) => {
  const resized = pod('db', { cpu: '1500m' })
  const containerStatuses = [{ allocatedResources: { cpu: '2' } }]
  const list = pods({ ...resized, status: { ...resized.status, containerStatuses } })
  t.same(await find(list), held('pod kube-system/db is guaranteed whole CPUs'))
})

t.test('a condition of the Node settles it, whatever a pod has', async (t) => {
  const files = { [CPU]: stateOf(UID) }
  for (const type of ['Drained', 'MaintenanceInProgress'])
    t.same(await find(pods(pod('a', { cpu: '2' })), { files, node: nodeOf({}, type) }), NONE, type)
})

t.test('a new node waits for nobody', async (t) => {
  const ordinary = pods(pod('web', { qosClass: 'Burstable' }), pod('proxy'))
  const files = { [CPU]: '{"policyName":"none","defaultCpuSet":""}' }
  t.same(await find(ordinary, { files }), NONE, 'it is not cordoned')
  const { exclusives, world, kubelet } = open(pods(), { kubelet: { process: { kind: 'none' } } })
  t.same(exclusives.find(kubelet, CPU_POLICY), NONE, 'no kubelet has run on it')
  t.equal(world.requests.length, 0)
  const missing: KubeAnswer = { kind: 'refused', status: 404, reason: 'NotFound', detail: '', retryAfterMs: undefined }
  t.same(await find(pods(), { node: missing }), NONE, 'it is not registered')
})

t.test('where pods cannot be listed, the state files alone tell', async (t) => {
  const files = { [CPU]: stateOf('x') }
  t.same(await find('no API'), NONE)
  t.same(await find('no API', { files }), held('pod with UID x has CPUs of its own'))
  const memory = { files: { [MEMORY]: stateOf('x') }, fields: ['memoryManagerPolicy'] }
  t.same(await find('no API', memory), held('pod with UID x has memory of its own'), 'nobody can say that it has ended')
  const forbidden: KubeAnswer = {
    kind: 'refused',
    status: 403,
    reason: 'Forbidden',
    detail: '403: cannot list pods',
    retryAfterMs: undefined,
  }
  const { world, exclusives, kubelet } = open(forbidden)
  const look = async (fields = CPU_POLICY) => {
    exclusives.find(kubelet, fields)
    await SETTLED()
    return exclusives.find(kubelet, fields)
  }
  t.equal(await look(), undefined, 'an API server that has just started refuses what it grants later')
  world.nowUs = 76e6
  t.same(await look(), NONE)
  world.list = pods(pod('a', { cpu: '2' }))
  world.nowUs = 152e6
  t.match(await look(), { kind: 'held' })
  const why = 'its name is not known: the agent may not list pods (403: cannot list pods)'
  t.same(await find(forbidden, { files }), held(`pod with UID x has CPUs of its own; ${why}`))
})

t.test('no state file tells of devices', async (t) => {
  const fields = ['topologyManagerPolicy']
  const nobodyKnows = (detail: string) => ({ kind: 'unknown', why: `only the API server knows which pods have devices, and ${detail}` })
  t.same(await find('no API', { fields }), nobodyKnows('there is none'))
  const refused: KubeAnswer = { kind: 'refused', status: 403, reason: 'Forbidden', detail: '403', retryAfterMs: undefined }
  t.same(await find(refused, { fields }), nobodyKnows('the agent may not list pods (403)'))
  t.same(await find(refused, { fields, node: nodeOf({}, 'Drained') }), NONE)
})

t.test('a look for other fields is no answer for these', async (t) => {
  const { world, exclusives, kubelet } = open(pods(pod('small')))
  const look = async (fields: readonly string[]) => {
    exclusives.find(kubelet, fields)
    await SETTLED()
    return exclusives.find(kubelet, fields)
  }
  t.same(await look(['memoryManagerPolicy']), held('pod kube-system/small is guaranteed memory'))
  world.cached = pods(pod('small'))
  world.list = pods(pod('small'), pod('large', { cpu: '2' }))
  world.nowUs = 5e6
  t.equal(exclusives.find(kubelet, CPU_POLICY), undefined)
  await SETTLED()
  t.same(exclusives.find(kubelet, CPU_POLICY), held('pod kube-system/large is guaranteed whole CPUs'), 'asked again at once')
})

t.test('what is not known is not none', async (t) => {
  const unknown = (why: string) => ({ kind: 'unknown', why })
  const strange = unknown('pods cannot be listed: an answer of the API server is not what was requested')
  t.same(await find({ kind: 'unreachable', detail: 'no connection' }), unknown('pods cannot be listed: no connection'))
  t.same(await find(ok({ items: [] })), strange, 'a list of what is not said')
  t.same(await find(ok({ kind: 'Table', items: [] })), strange)
  t.same(await find(ok({ kind: 'PodList', items: [], metadata: { continue: 'more' } })), strange, 'a list without an end')
  t.same(await find(pods(), { node: ok({ kind: 'Pod' }) }), strange)
  t.same(await find(pods(), { files: { [CPU]: '{"policyNa' } }), unknown(`${CPU} cannot be read`))
  t.same(await find(pods(), { files: { [MEMORY]: new Error('EIO') } }), unknown(`${MEMORY} cannot be read`))
  const nowhere = unknown("kubelet's root directory is not known")
  t.same(await find(pods(), { kubelet: { command: undefined } }), nowhere)
  t.same(await find(pods(), { kubelet: { command: undefined, process: { kind: 'none' } } }), nowhere)
  t.same(await find(pods(), { words: ['--root-dir=data'] }), nowhere, 'it begins in a directory that is not known')
  t.same(await find(pods({ ...pod('new', { cpu: '2' }), status: {} })), unknown('pod kube-system/new has no QoS class'))
})

t.test('pods are listed from the watch cache, and consistently before nobody has something to lose', async (t) => {
  const { world, exclusives, kubelet } = open(pods(pod('a', { cpu: '2' })))
  const look = async () => {
    world.requests.length = 0
    exclusives.find(kubelet, CPU_POLICY)
    await SETTLED()
    const lists = world.requests.filter(({ path }) => path === '/api/v1/pods')
    return lists.map(({ query }) => (query?.resourceVersion === '0' ? 'cached' : 'consistent'))
  }
  t.equal(exclusives.find(kubelet, CPU_POLICY), undefined)
  await SETTLED()
  t.match(world.requests[1], { query: { fieldSelector: /^spec\.nodeName=node-1,/, resourceVersion: '0' } })
  t.equal(world.changes, 1)
  world.nowUs = 59e6
  t.same(await look(), [], 'nobody drains the node')
  world.nowUs = 61e6
  world.node = nodeOf({ unschedulable: true })
  t.same(await look(), ['cached'])
  world.nowUs += 11e6
  world.cached = pods()
  t.same(await look(), ['cached', 'consistent'])
  t.same(exclusives.find(kubelet, CPU_POLICY), held('pod kube-system/a is guaranteed whole CPUs'), 'the watch cache is ahead of nobody')
  world.nowUs += 11e6
  world.list = pods()
  t.same(await look(), ['cached', 'consistent'])
  t.same(exclusives.find(kubelet, CPU_POLICY), NONE)
  world.nowUs += 11e6
  t.same(await look(), ['cached'], 'confirmed for a minute')
  world.nowUs += 61e6
  t.equal(exclusives.find(kubelet, CPU_POLICY), undefined, 'an old answer counts no more')
})

t.test('an API server that asks for patience gets it', async (t) => {
  const busy: KubeAnswer = { kind: 'refused', status: 429, reason: '', detail: 'busy', retryAfterMs: 30_000 }
  const { world, exclusives, kubelet } = open(busy)
  exclusives.find(kubelet, CPU_POLICY)
  await SETTLED()
  world.requests.length = 0
  world.nowUs = 29e6
  exclusives.find(kubelet, CPU_POLICY)
  t.equal(world.requests.length, 0)
  world.nowUs = 40e6
  exclusives.find(kubelet, CPU_POLICY)
  t.equal(world.requests.length, 1)
})
