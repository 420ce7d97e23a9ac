// SPDX-License-Identifier: Apache-2.0
/**
 * `rollout status --halt-if-not-ready` against the test API server. The command's pauses pass at
 * once, and a script of the test runs in each: it changes Nodes, and waits until the command has
 * seen that.
 */
import t, { type Test } from 'tap'
import { hashConfig } from '../../../../src/decision/rollout-hash.ts'
import { until } from '../../../until.ts'
import { NAMESPACE, type NodeFields, nodeObject, putConfigMap, startPluginWorld } from '../world.ts'

const TEXT = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 50\n'
const HASH = hashConfig({ kubelet: TEXT }, 'kubelet')
const UID = '5274a9bd-00f5'
const ANNOTATIONS = { 'kubelet-cfg-agent.io/rollout': 'pods-rollout' }
const state = (stage: number, generation = 7) => `1 ${generation} ${stage} ${HASH} ${UID} 200 0`
const MINUTE_MS = 60_000
const HALT = ['rollout', 'status', 'pods', '--halt-if-not-ready']

const source = (resourceVersion: string) => ({
  configMap: { namespace: NAMESPACE, name: 'pods', kubeletConfigKey: 'kubelet', uid: UID, resourceVersion },
})
const node = (name: string, version: '150' | '200', fields: NodeFields = {}) =>
  nodeObject(name, { config: 'pods', version, ...fields, said: { assigned: source('200'), active: source(version), ...fields.said } })

const failedNode = (name: string, reason = 'RolledBack') =>
  node(name, '150', { degraded: true, ready: ['False', reason, ''], said: { verdict: { state: 'confirmed', reason: 'crash-loop' } } })

interface Act {
  /** Of the command's clock, since its start. */
  readonly atMs: number
  play(): Promise<void> | void
}

async function startFleet(test: Test, plan = '') {
  const world = await startPluginWorld(test)
  const { server, context } = world
  putConfigMap(world, 'pods', TEXT, { ...ANNOTATIONS, ...(plan !== '' && { 'kubelet-cfg-agent.io/rollout-plan': plan }) })
  const record = {
    put: (data: Readonly<Record<string, string>>) =>
      server.objects.put({ kind: 'ConfigMap', metadata: { name: 'pods-rollout', namespace: NAMESPACE }, data }),
    get: () => server.objects.get('ConfigMap', 'pods-rollout', NAMESPACE)?.data as Record<string, string>,
  }
  record.put({ state: state(3) })
  for (const name of ['n1', 'n2', 'n3']) server.objects.put(node(name, '200'))
  for (const name of ['n4', 'n5']) server.objects.put(node(name, '150'))
  let events = 0
  let opened = 0
  const real = context.api
  context.api = {
    request: (request) => real.request(request),
    watch: (request) =>
      real.watch({
        ...request,
        onOpen() {
          request.onOpen?.()
          opened += 1
        },
        onEvent(event) {
          request.onEvent(event)
          if (event.type !== 'BOOKMARK') events += 1
        },
      }),
  }
  let passedMs = 0
  const pauses: number[] = []
  context.monotonicUs = () => passedMs * 1000
  let acts: readonly Act[] = []
  context.sleep = async (ms, end) => {
    if (end !== undefined) {
      // The watch pauses beside the command: for a moment of real time.
      pauses.push(ms)
      await new Promise((resolve) => setTimeout(resolve, 1))
      return
    }
    // Longer than it is, so that fewer looks make minutes.
    passedMs += 5 * ms
    const [next, ...rest] = acts
    if (next === undefined || passedMs < next.atMs) return
    acts = rest
    await next.play()
  }
  const untilWatched = async (count = 1) => until(() => opened >= count, 'the watch of the Nodes is open')
  /** Until the command has seen it. */
  const put = async (...objects: Parameters<typeof server.objects.put>[0][]) => {
    const before = events
    for (const object of objects) server.objects.put(object)
    await until(() => events >= before + objects.length, 'the Nodes are seen')
  }
  const putWatched: typeof put = async (...objects) => {
    await untilWatched()
    await put(...objects)
  }
  return Object.assign(world, {
    record,
    pauses,
    put,
    putWatched,
    untilWatched,
    events: () => events,
    opened: () => opened,
    passedMs: () => passedMs,
    play: (script: readonly Act[]) => {
      acts = script
    },
  })
}

const NOT_READY: NodeFields = { kubelet: 'Unknown' }

t.test('nodes that are not Ready for two minutes halt it, under a name that no Node has', async (t) => {
  const world = await startFleet(t)
  world.play([
    { atMs: 1, play: () => world.untilWatched() },
    { atMs: MINUTE_MS, play: () => world.put(node('n1', '200', NOT_READY), node('n2', '200', NOT_READY), node('n4', '150', NOT_READY)) },
    { atMs: 3 * MINUTE_MS - 20_000, play: () => void t.notMatch(world.record.get(), { 'node.guard_1': String }, 'not before two minutes') },
  ])
  const { code, out } = await world.run(...HALT, '1')
  t.equal(code, 1)
  t.match(
    out,
    /; 2 of 3 nodes hurt\nstage 3 of 5, open to 10 % of the nodes: halted; 2 of 3 nodes hurt\nHalted by rollout status: 2 of 3 nodes hurt, limit 1: n1 not ready, n2 not ready\nHurt, of 3 nodes that started it: n1 not ready, n2 not ready\n$/,
  )
  t.match(world.record.get(), { state: state(3), 'node.guard_1': '7 3 veto 2 of 3 nodes hurt, limit 1: n1 not ready, n2 not ready' })
  t.ok(world.passedMs() >= 3 * MINUTE_MS)
  t.match(await world.run('rollout', 'status', 'pods', '--once'), { code: 1, out: /Halted by rollout status: 2 of 3 nodes hurt/ })
  t.match(await world.run('rollout', 'retry', 'pods'), { code: 0 })
  t.equal((await world.run('rollout', 'status', 'pods', '--once')).code, 2, 'retry ends it')
})

t.test('programs get who is hurt', async (t) => {
  const world = await startFleet(t)
  world.play([{ atMs: 1, play: () => world.putWatched(failedNode('n3')) }])
  const { code, out } = await world.run(...HALT, '20%', '-o', 'json')
  t.equal(code, 1)
  const documents = out
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text))
  t.match(documents.at(-1), {
    progress: { halted: true },
    nodes: { limit: '20%', started: 3, hurt: [{ node: 'n3', how: 'failed' }] },
  })
})

t.test('a node that could not take it up, or was taken away, is not hurt by it; one that is gone is', async (t) => {
  const world = await startFleet(t)
  const { server } = world
  const remove = async (name: string) => {
    const before = world.events()
    server.objects.remove('Node', name)
    await until(() => world.events() > before, `${name} is seen to be gone`)
  }
  const reports = ['DownloadFailed', 'Refused'].map((reason, index) =>
    node(`n${index + 1}`, '200', { degraded: true, ready: ['False', reason, ''] }),
  )
  const marked = { spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', value: '1', effect: 'NoSchedule' }] } }
  world.play([
    { atMs: 1, play: () => world.untilWatched() },
    { atMs: MINUTE_MS, play: () => world.put(...reports, node('n3', '200', marked)) },
    { atMs: 2 * MINUTE_MS, play: () => remove('n3') },
    { atMs: 10 * MINUTE_MS, play: () => void t.notMatch(world.record.get(), { 'node.guard_1': String }) },
    { atMs: 11 * MINUTE_MS, play: () => remove('n2') },
  ])
  const { code, out } = await world.run(...HALT, '0')
  t.equal(code, 1)
  t.match(out, /Hurt, of 2 nodes that started it: n2 gone\n$/)
})

t.test('somebody else writes the record first: it is read again, and decided anew', async (t) => {
  const world = await startFleet(t, 'maxVetoes: 2')
  world.play([{ atMs: 1, play: () => world.putWatched(failedNode('n1')) }])
  const { request } = world.context.api
  let patches = 0
  world.context.api.request = async (asked) => {
    if (asked.method === 'PATCH' && asked.query?.dryRun === undefined && patches++ === 0)
      world.record.put({ state: state(4), 'node.n2': '7 3 proof' })
    return request(asked)
  }
  t.equal((await world.run(...HALT, '0')).code, 1)
  t.equal(patches, 2)
  t.match(world.record.get(), {
    state: state(4),
    'node.n2': '7 3 proof',
    'node.guard_1': /^7 4 veto 1 of 3/,
    'node.guard_2': '7 4 veto as above',
  })
})

t.test('where an edit or a retry comes first, the next generation is not halted for the nodes of the one before', async (t) => {
  const world = await startFleet(t)
  world.play([{ atMs: 1, play: () => world.putWatched(failedNode('n1')) }])
  const { request } = world.context.api
  let patches = 0
  world.context.api.request = async (asked) => {
    if (asked.method === 'PATCH' && asked.query?.dryRun === undefined && patches++ === 0) {
      world.record.put({ state: `1 8 0 ${HASH} ${UID} 300 1`, 'node.n4': '8 0 claim 3600' })
      world.play([{ atMs: 0, play: () => void world.record.put({ state: `1 8 5 ${HASH} ${UID} 300 1` }) }])
    }
    return request(asked)
  }
  t.equal((await world.run(...HALT, '0')).code, 0)
  t.equal(patches, 1)
  t.notMatch(world.record.get(), { 'node.guard_1': String })
})

t.test('in the last stage it halts no worker: it says so, and names undo', async (t) => {
  const world = await startFleet(t)
  world.record.put({ state: state(5) })
  world.play([{ atMs: 1, play: () => world.putWatched(failedNode('n1', 'NodeAtFault')) }])
  const { code, out, err } = await world.run(...HALT, '0')
  t.equal(code, 1)
  t.match(out, /finished; 1 of 3 nodes hurt\nHalted by rollout status: .*\nHurt, of 3 nodes that started it: n1 failed\n$/)
  t.equal(
    err,
    'The last stage is open, so this halts control planes, and no worker unless waves were changed in mid-rollout. To take the content back: kubectl kubelet-config undo pods\n',
  )
})

t.test('a finished rollout is followed until its last nodes have had time to be hurt', async (t) => {
  const world = await startFleet(t)
  world.record.put({ state: state(5) })
  let startedMs = 0
  world.play([
    { atMs: 1, play: () => world.untilWatched() },
    {
      atMs: MINUTE_MS,
      play: async () => {
        await world.put(node('n4', '200'), node('n5', '200'))
        startedMs = world.passedMs()
      },
    },
  ])
  t.match(await world.run(...HALT, '2%'), { code: 0, out: 'stage 5 of 5, open to all nodes: finished\n' })
  t.ok(world.passedMs() >= startedMs + 4 * MINUTE_MS)
})

t.test('a watch that is broken halts nothing, and goes on where it was', async (t) => {
  const world = await startFleet(t)
  const { server } = world
  const { watch } = world.context.api
  let isBroken = false
  let tried = 0
  world.context.api.watch = async (asked) => {
    if (!isBroken) return watch(asked)
    tried += 1
    return { kind: 'unreachable', detail: 'the connection is refused' }
  }
  world.play([
    { atMs: 1, play: () => world.untilWatched() },
    {
      atMs: MINUTE_MS,
      play: async () => {
        await world.put(node('n1', '200', NOT_READY))
        isBroken = true
        server.disconnectAll()
        await until(() => tried > 0, 'it tries to watch again')
      },
    },
    {
      atMs: 8 * MINUTE_MS,
      play: async () => {
        t.notMatch(world.record.get(), { 'node.guard_1': String })
        const before = world.opened()
        isBroken = false
        await world.untilWatched(before + 1)
      },
    },
  ])
  t.equal((await world.run(...HALT, '0')).code, 1)
  t.ok(world.passedMs() >= 9 * MINUTE_MS, 'the two minutes are of time in which the Nodes were watched')
  t.same(Math.max(...world.pauses), 60_000, 'it asks less and less often')
})

t.test('after a gap the two minutes begin anew, and Retry-After is kept', async (t) => {
  const world = await startFleet(t)
  const { server } = world
  let isBusy = false
  const busy = { kind: 'answer', status: 429, headers: { 'retry-after': '17' } } as const
  server.fault = ({ verb, target }) => (isBusy && verb === 'list' && target?.resource.kind === 'Node' ? busy : undefined)
  world.play([
    { atMs: 1, play: () => world.untilWatched() },
    { atMs: 1, play: () => world.put(node('n1', '200', NOT_READY)) },
    {
      atMs: 2 * MINUTE_MS,
      play: async () => {
        isBusy = true
        server.store.compact()
        server.disconnectAll()
        await until(() => world.pauses.includes(17_000), 'the API server is too busy')
        const before = world.opened()
        isBusy = false
        await world.untilWatched(before + 1)
      },
    },
    { atMs: 4 * MINUTE_MS - 20_000, play: () => void t.notMatch(world.record.get(), { 'node.guard_1': String }) },
  ])
  t.equal((await world.run(...HALT, '0')).code, 1)
})

t.test('before it halts, it lists the Nodes: a watch may be behind', async (t) => {
  const world = await startFleet(t)
  const { request, watch } = world.context.api
  let isBehind = false
  world.context.api.watch = (asked) => watch({ ...asked, onEvent: (event) => isBehind || asked.onEvent(event) })
  let lists = 0
  world.context.api.request = (asked) => {
    if (asked.path === '/api/v1/nodes') lists += 1
    return request(asked)
  }
  world.play([
    { atMs: 1, play: () => world.putWatched(node('n1', '200', NOT_READY)) },
    {
      atMs: MINUTE_MS,
      play: () => {
        isBehind = true
        world.server.objects.put(node('n1', '200'))
      },
    },
    { atMs: 4 * MINUTE_MS, play: () => void world.record.put({ state: state(3), 'node.n5': '7 3 veto it failed' }) },
  ])
  t.match(await world.run(...HALT, '0'), { code: 1, out: /Failed on n5: it failed\n$/ })
  t.equal(lists, 3, 'to see whether it may, to begin with, and before it halts')
  t.notMatch(world.record.get(), { 'node.guard_1': String })
})

t.test('where the API server is too busy for that list, nothing is forgotten, and it asks again later', async (t) => {
  const world = await startFleet(t)
  const { server } = world
  const busy = { kind: 'answer', status: 429, headers: { 'retry-after': '17' } } as const
  let refused: number[] = []
  let isBusy = false
  server.fault = ({ verb, target }) => {
    if (!isBusy || verb !== 'list' || target?.resource.kind !== 'Node') return undefined
    refused = [...refused, world.passedMs()]
    return busy
  }
  let freeMs = 0
  world.play([
    { atMs: 1, play: () => world.putWatched(node('n1', '200', NOT_READY)) },
    {
      atMs: MINUTE_MS,
      play: () => {
        isBusy = true
      },
    },
    {
      atMs: 5 * MINUTE_MS,
      play: () => {
        t.ok(refused.length > 2)
        for (const [index, atMs] of refused.entries())
          t.ok(index === 0 || atMs - (refused[index - 1] ?? 0) >= 17_000, 'it keeps Retry-After')
        t.notMatch(world.record.get(), { 'node.guard_1': String })
        isBusy = false
        freeMs = world.passedMs()
      },
    },
  ])
  t.equal((await world.run(...HALT, '0')).code, 1)
  t.ok(world.passedMs() < freeMs + 2 * MINUTE_MS, 'the two minutes have passed long ago')
})

t.test('where the watch ends just then, it goes on where it was before it lists the Nodes', async (t) => {
  const world = await startFleet(t)
  const { watch } = world.context.api
  let isBroken = false
  let tried = 0
  world.context.api.watch = async (asked) => {
    if (!isBroken) return watch(asked)
    tried += 1
    return { kind: 'unreachable', detail: 'the connection is refused' }
  }
  let hurtMs = 0
  world.play([
    {
      atMs: 1,
      play: async () => {
        await world.putWatched(node('n1', '200', NOT_READY))
        hurtMs = world.passedMs() + 2 * MINUTE_MS
      },
    },
    {
      atMs: 2 * MINUTE_MS + 1,
      play: async () => {
        t.equal(world.passedMs(), hurtMs)
        isBroken = true
        world.server.disconnectAll()
        await until(() => tried > 0, 'it tries to watch again')
      },
    },
    {
      atMs: 3 * MINUTE_MS + 1,
      play: async () => {
        const before = world.opened()
        isBroken = false
        await world.untilWatched(before + 1)
      },
    },
  ])
  t.equal((await world.run(...HALT, '0')).code, 1)
  t.ok(world.passedMs() < 4 * MINUTE_MS, 'the two minutes have passed')
})

t.test('before it says that all is done, it lists the Nodes: the watch may be broken, and say nothing', async (t) => {
  const world = await startFleet(t)
  const { watch } = world.context.api
  world.record.put({ state: state(5) })
  let isBehind = false
  world.context.api.watch = (asked) => watch({ ...asked, onEvent: (event) => isBehind || asked.onEvent(event) })
  world.play([
    { atMs: 1, play: () => world.putWatched(node('n4', '200'), node('n5', '200')) },
    {
      atMs: MINUTE_MS,
      play: () => {
        isBehind = true
        world.server.objects.put(node('n4', '200', NOT_READY))
      },
    },
  ])
  t.match(await world.run(...HALT, '0'), { code: 1, out: /n4 not ready\n$/ })
})

t.test('a finished rollout whose nodes wait for a window is followed until it has been open', async (t) => {
  const world = await startFleet(t, 'windows: [Mon-Sun 13:00-14:00]')
  const startMs = Date.UTC(2026, 10, 23, 12, 30)
  world.context.wallMs = () => startMs + world.passedMs()
  world.record.put({ state: state(5) })
  world.play([{ atMs: 1, play: () => world.untilWatched() }])
  t.equal((await world.run(...HALT, '2%')).code, 0)
  // At 13:00, over the spread of two minutes, and four more.
  t.ok(world.passedMs() >= 36 * MINUTE_MS && world.passedMs() < 40 * MINUTE_MS, `${world.passedMs()}`)
})

t.test('the record is read again when the API server takes it', async (t) => {
  const world = await startFleet(t)
  const busy = { kind: 'answer', status: 429, headers: { 'retry-after': '17' } } as const
  let isBusy = false
  world.server.fault = ({ target }) => (isBusy && target?.resource.kind === 'ConfigMap' ? busy : undefined)
  const waits: number[] = []
  const { sleep } = world.context
  world.context.sleep = (ms, end) => {
    if (end === undefined) waits.push(ms)
    return sleep(ms, end)
  }
  const turn = (to: boolean) => () => {
    isBusy = to
  }
  world.play([
    { atMs: 1, play: turn(true) },
    { atMs: MINUTE_MS, play: turn(false) },
    { atMs: 2 * MINUTE_MS, play: () => void world.record.put({ state: state(3), 'node.n5': '7 3 veto it failed' }) },
  ])
  t.equal((await world.run('rollout', 'status', 'pods')).code, 1)
  t.ok(waits.includes(17_000))
})

t.test('it says at once what it may not do', async (t) => {
  const world = await startFleet(t)
  world.server.authorize = ({ verb }) => verb !== 'patch'
  t.match(await world.run(...HALT, '2%'), {
    code: 2,
    out: '',
    err: /the right to patch configmaps in the namespace kube-system is missing/,
  })
  const denied = (verb: string) => new RegExp(`the right to ${verb} nodes at the cluster scope is missing`)
  world.server.authorize = ({ verb, target }) => target?.resource.kind !== 'Node' || verb !== 'watch'
  world.play([{ atMs: 0, play: () => until(() => world.server.requests.some(({ verb }) => verb === 'watch'), 'it asks') }])
  t.match(await world.run(...HALT, '2%'), { code: 2, err: denied('watch') })
  world.record.put({})
  world.server.authorize = ({ verb, target }) => target?.resource.kind !== 'Node' || verb !== 'list'
  t.match(await world.run(...HALT, '2%', '--timeout', '1m'), { code: 2, out: '', err: denied('list') }, 'before a generation has begun')
})

t.test('the time to wait is limited, and a limit is a number or a share', async (t) => {
  const world = await startFleet(t)
  t.match(await world.run('rollout', 'status', 'pods', '--watch', '--timeout', '30m'), {
    code: 2,
    err: 'the rollout is not over after 30m, and goes on\n',
  })
  t.equal(world.passedMs(), 30 * MINUTE_MS)
  t.match(await world.run('rollout', 'status', 'pods', '--watch=false'), { code: 2, err: '' })
  t.match(await world.run(...HALT, '2%', '--once'), { code: 2, err: /leave --once out/ })
  t.match(await world.run(...HALT, 'some'), { code: 2, err: /"some" is neither a number of nodes nor a percentage/ })
  world.record.put({ state: state(5) })
  t.equal((await world.run('rollout', 'status', 'pods', '--watch')).code, 0)
})

t.test('nobody can exclude who halts', async (t) => {
  const world = await startFleet(t)
  t.match(await world.run('rollout', 'exclude', 'pods', 'guard_1'), { code: 1, err: /"guard_1" is not a valid name of a Node/ })
})
