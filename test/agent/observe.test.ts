// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { type ObservationPorts, observe } from '../../src/agent/observe.ts'
import type { RunName } from '../../src/decision/record-table.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Acceptance } from '../../src/decision/verdict.ts'
import { PORT_NOT_KNOWN } from '../../src/health/sample.ts'
import type { ActivationState } from '../../src/ports/activation.ts'
import type { ConfigSource } from '../../src/subject/config-source.ts'
import type { KubeletProcess, UnitState } from '../../src/subject/unit-state.ts'
import { fileWiring } from '../../src/systemd/wiring-kinds.ts'
import {
  A,
  B,
  BOOT,
  health,
  INVOCATION,
  KUBELET,
  keyOf,
  NOW_US,
  POLICY,
  SECOND_US,
  UPGRADED_KUBELET,
  unit,
  wants,
} from '../decision/snapshots.ts'
import { heldBy } from '../kubelet/held-by.ts'
import { MemoryRecords } from './memory-runtime.ts'

const LOCAL_PATH = '/var/lib/kubelet/config.yaml'
const CHECKPOINTS = new Map([
  ['uid-a/1', 'content-a@1'],
  ['uid-b/1', 'content-b@1'],
])

interface Scene {
  readonly unit?: UnitState
  readonly activation?: ActivationState
  readonly lastKnownGood?: ConfigSource
  readonly assigned?: Snapshot['assigned']
  readonly health?: ReturnType<typeof health>
  readonly desired?: Snapshot['desired']
  readonly healthz?: boolean
  /** Content that the disk does not return may not be lost. */
  readonly isUnreadable?: boolean
  /** Of the config file that kubelet was started with. undefined: the disk does not return it. */
  readonly portInFile?: number | 'none' | undefined
  /** The endpoint that every config names. Default: each another. */
  readonly endpoint?: string | undefined
  /** The socket of the runtime that this node seems to have. */
  readonly default?: string
  readonly accepted?: ObservationPorts['accepted']
  /** Sockets whose runtimes answer. */
  readonly up?: readonly string[]
}

/** The agent's observation over one still scene, and what they looked at. */
function open(scene: Scene) {
  const looked: string[] = []
  const run = new MemoryRecords()
  if (scene.health !== undefined) run.put('health', scene.health)
  const observation: ObservationPorts = {
    nodeName: 'node-1',
    policy: () => POLICY,
    clock: { now: () => ({ bootId: BOOT, monotonicUs: NOW_US, wallMs: 0 }) },
    assignment: { desired: () => scene.desired ?? { kind: 'unknown', detail: '' } },
    checkpoints: {
      content: ({ uid, resourceVersion }) => CHECKPOINTS.get(`${uid}/${resourceVersion}`),
      path: ({ uid, resourceVersion, kubeletConfigKey }) => `/c/${uid}/${resourceVersion}/${kubeletConfigKey}`,
      hasKey: () => true,
      knownAs: (content) => content,
      keepKnownAs: () => {},
      isUnreadable: () => scene.isUnreadable ?? false,
      data: () => undefined,
      list: () => [],
      save: () => {},
      replace: () => {},
      remove: () => {},
    },
    records: {
      read: (name) => {
        if (name === 'assigned') return scene.assigned ?? { kind: 'source', source: A }
        return { kind: 'source', source: name === 'last-known-good' ? (scene.lastKnownGood ?? 'local') : 'local' }
      },
      get: (name) => run.get(name as RunName) as never,
      put: (name, value) => run.put(name as 'health', value as never),
      verdicts: () => new Map(),
      writeVerdict: () => {},
      removeVerdict: () => {},
    },
    requests: { read: () => ({ hold: 'none', rollback: undefined, retry: false }) },
    unit: { observe: async () => scene.unit ?? running(CHECKPOINT_A), stillRuns: () => false },
    activation: { read: () => scene.activation ?? ACTIVATED_A, readLocal: () => undefined },
    configFacts: {
      of: async ({ path }) => {
        const port = 'portInFile' in scene ? scene.portInFile : 10248
        const runtimeEndpoint = 'endpoint' in scene ? scene.endpoint : `unix://${path}.sock`
        return port === undefined ? undefined : { healthz: port === 'none' ? port : { host: '127.0.0.1', port }, runtimeEndpoint }
      },
    },
    portHolders: heldBy(),
    probe: {
      healthz: async ({ host, port }) => {
        looked.push(`${host}:${port}`)
        return { ok: scene.healthz ?? true, detail: '' }
      },
    },
    runtimeProbe: {
      isUp: async (socket) => {
        looked.push(socket)
        return scene.up?.includes(socket) === true
      },
    },
    recognize: async () => {},
    contentOf: (data, key) => `content of ${key} in ${Object.keys(data)}`,
    defaultRuntimeSocket: () => scene.default,
    accepted: scene.accepted ?? new Map(),
    preflight: undefined,
    drain: {
      isDrained: () => {
        looked.push('drain')
        return false
      },
      findExclusives: (_, fields) => {
        looked.push(...fields)
        return { kind: 'none' }
      },
    },
    lastWords: { of: async () => undefined },
    jobs: { dependencyFailedUs: async () => undefined },
  }
  return { look: () => observe(observation, []), looked, written: () => run.get('health') }
}

const CHECKPOINT_A: KubeletProcess = { kind: 'checkpoint', pid: 1, uid: A.uid, resourceVersion: '1', key: 'kubelet' }
const ACTIVATED_A: ActivationState = { kind: 'checkpoint', source: A, since: undefined }
const LOCAL_ACTIVE: ActivationState = { kind: 'local', since: undefined }

function running(process: KubeletProcess, facts: Partial<ReturnType<typeof unit>> = {}) {
  return unit({ process, ...facts })
}

function withHealth(record: Snapshot['health']): Pick<Scene, 'health'> {
  return record === undefined ? {} : { health: record }
}

/** The record with another name in it. */
function rename(record: Snapshot['health'], from: string, to: string): Snapshot['health'] {
  return record && JSON.parse(JSON.stringify(record).replaceAll(from, to))
}

async function runningIn(scene: Scene): Promise<Snapshot['running']> {
  return (await open(scene).look()).running
}

t.test('what runs', async (t) => {
  t.match(await runningIn({}), { kind: 'known', content: 'content-a@1', key: keyOf(A), invocationId: INVOCATION })
  const local: KubeletProcess = { kind: 'other', pid: 1, configPath: LOCAL_PATH }
  t.match(await runningIn({ unit: running(local) }), { content: 'local', key: keyOf('local') })
  t.match(await runningIn({ unit: running({ ...local, configPath: '/etc/other.yaml' }) }), { content: 'other:/etc/other.yaml' })
  t.match(await runningIn({ unit: running({ ...local, configPath: undefined }) }), { content: 'other:none' })
  const noLocal = running({ ...local, configPath: undefined }, { localConfigPath: undefined })
  t.match(await runningIn({ unit: noLocal }), { content: 'local' }, 'a kubelet that was provisioned without a file')
  const gone: KubeletProcess = { kind: 'checkpoint', pid: 1, uid: 'gone', resourceVersion: '1', key: 'kubelet' }
  t.match(await runningIn({ unit: running(gone) }), { content: 'missing:gone/1/kubelet', lost: true }, 'differs from everything')
  t.same(await runningIn({ unit: running({ kind: 'none' }) }), { kind: 'none' })
  t.same(await runningIn({ unit: running({ kind: 'unknown', detail: 'x' }) }), { kind: 'unknown', detail: 'x' })
  t.same(await runningIn({ unit: { kind: 'unknown', detail: 'bus' } }), { kind: 'unknown', detail: 'bus' })
})

t.test('a drain is asked for by fields that wait for it, and pods by managers, on whatever node', async (t) => {
  const local: KubeletProcess = { kind: 'other', pid: 1, configPath: LOCAL_PATH }
  const askedFor = async (acceptance: Acceptance, process: KubeletProcess = local) => {
    const { look, looked } = open({ unit: running(process), accepted: new Map([[keyOf(A), acceptance]]) })
    const { drained, exclusives } = await look()
    return { drained, exclusives, asked: looked.filter((what) => what === 'drain' || what === 'cpuManagerPolicy') }
  }
  const managers = ['cpuManagerPolicy']
  t.same(await askedFor({ drain: [] }), { drained: undefined, exclusives: undefined, asked: [] })
  t.same(await askedFor({ drain: ['maxPods'] }), { drained: false, exclusives: undefined, asked: ['drain'] })
  t.same(await askedFor({ drain: [], managers }), { drained: undefined, exclusives: { kind: 'none' }, asked: managers })
  t.same(await askedFor({ drain: ['maxPods'], managers }), { drained: false, exclusives: { kind: 'none' }, asked: ['drain', ...managers] })
  t.same((await askedFor({ drain: ['maxPods'], managers }, CHECKPOINT_A)).asked, [], 'it runs already')
})

t.test('is fixed when it is first seen: a checkpoint replaced, or a kubelet upgraded under it, changes nothing', async (t) => {
  const seen = health(A, { lastProcess: { invocationId: INVOCATION, content: 'the old bytes', kubeletIdentity: 'kubelet-v0' } })
  const old = { content: 'the old bytes', key: 'the old bytes@kubelet-v0', lost: true }
  t.match(await runningIn({ health: seen }), old, 'but kubelet could not be started with it again')
  t.match(await runningIn({ health: { ...seen, bootId: 'boot-0' } }), { content: 'content-a@1' }, 'in this boot')
  t.match(
    await runningIn({ health: seen, unit: running(CHECKPOINT_A, { invocationId: 'i-2' }) }),
    { content: 'content-a@1' },
    'of that process',
  )
})

t.test('where the file itself is replaced', async (t) => {
  const wiring = fileWiring(LOCAL_PATH)
  const process: KubeletProcess = { kind: 'other', pid: 1, configPath: LOCAL_PATH }
  const scene = (sinceUs: number, startedAtUs: number, bootId = BOOT): Scene => ({
    unit: running(process, { wiring, startedAtUs }),
    activation: { ...ACTIVATED_A, since: { bootId, monotonicUs: sinceUs } },
  })
  t.match(await runningIn(scene(NOW_US - SECOND_US, NOW_US)), { content: 'content-a@1' }, 'started after it was in place')
  t.match(await runningIn(scene(NOW_US, NOW_US - SECOND_US)), { content: `before:${INVOCATION}` }, 'started before')
  t.match(await runningIn(scene(NOW_US, NOW_US - SECOND_US, 'boot-0')), { content: 'content-a@1' }, 'in place since before the boot')
  const back: Scene = { unit: running(process, { wiring }), activation: { kind: 'local', since: undefined } }
  t.match(await runningIn(back), { content: 'local' })
})

t.test('what kubelet starts with next', async (t) => {
  const next = async (activation: ActivationState, facts: Scene = {}) => (await open({ ...facts, activation }).look()).nextStart
  t.same(await next(ACTIVATED_A), { kind: 'known', held: { source: A, content: 'content-a@1' } })
  t.same(await next(LOCAL_ACTIVE), { kind: 'known', held: { source: 'local', content: 'local' } })
  t.same(await next({ kind: 'unknown', detail: 'garbage' }), { kind: 'unknown', detail: 'garbage' })
  const broken = running(CHECKPOINT_A, { wiring: { kind: 'broken', reason: 'overridden', detail: 'x' } })
  t.same(await next(ACTIVATED_A, { unit: broken }), { kind: 'unknown', detail: 'x' }, 'unless the unit does not ask us')
})

t.test('each record comes with the content of its checkpoint, and one that is damaged with none', async (t) => {
  const seen = await open({ lastKnownGood: B, desired: wants(A).desired }).look()
  t.same(seen.lastKnownGood, { source: B, content: 'content-b@1' })
  t.same(seen.previous, { source: 'local', content: 'local' })
  t.equal(seen.assignedContent, 'content-a@1')
  t.equal(seen.desiredContent, 'content of kubelet in kubelet')
  const damaged = await open({ assigned: { kind: 'damaged', detail: 'x' } }).look()
  t.equal(damaged.assignedContent, undefined)
  t.equal((await open({ desired: { kind: 'local' } }).look()).desiredContent, undefined)
})

t.test('a look asks the health port and the container runtimes that configs and flags name, where they matter', async (t) => {
  const looksAt = async (scene: Scene) => {
    const world = open(scene)
    await world.look()
    return world.looked
  }
  t.same(await looksAt({}), ['127.0.0.1:10248'], 'the port of the config that runs; the runtime is not asked while all is well')
  t.same(await looksAt({ portInFile: 'none' }), [], 'none')
  t.same(await looksAt({ unit: running(CHECKPOINT_A, { healthzFlags: { port: 1, address: '::1' } }) }), ['::1:1'], 'flags win')
  t.same(await looksAt({ unit: running(CHECKPOINT_A, { healthzFlags: { port: 0 } }) }), [], 'also to say that there is none')
  t.same(
    await looksAt({ healthz: false }),
    ['127.0.0.1:10248', `${LOCAL_PATH}.sock`, '/c/uid-a/1/kubelet.sock'],
    'the runtime that the fallback names, and that of the candidate',
  )
  t.same(await looksAt({ healthz: false, lastKnownGood: B }), ['127.0.0.1:10248', '/c/uid-b/1/kubelet.sock', '/c/uid-a/1/kubelet.sock'])
  t.same(await looksAt({ healthz: false, lastKnownGood: A }), ['127.0.0.1:10248', '/c/uid-a/1/kubelet.sock'], 'once, if they are the same')
  const flag = running({ kind: 'none' }, { runtimeEndpoint: 'unix:///run/crio.sock' })
  t.same(await looksAt({ unit: flag }), ['/run/crio.sock'], 'or the one that a flag gives')
  t.same(await looksAt({ unit: running({ kind: 'none' }, { runtimeEndpoint: 'tcp://10.0.0.1:1' }) }), [], 'or none that could be asked')
  t.same(await looksAt({ activation: LOCAL_ACTIVE }), ['127.0.0.1:10248', `${LOCAL_PATH}.sock`], 'and before a restart')
  const dockershim = running({ kind: 'none' }, { runtimeEndpoint: 'unix:///var/run/dockershim.sock' })
  t.same(await looksAt({ unit: dockershim }), [], "kubelet's own socket tells nothing of the runtime")
})

t.test('the health port is that of the process, whatever its file holds by now', async (t) => {
  const first = open({})
  await first.look()
  t.match(first.written()?.lastProcess, { healthPort: { host: '127.0.0.1', port: 10248 } }, 'recorded when the process is first seen')
  const later = open({ ...withHealth(first.written()), portInFile: 10348 })
  t.match(await later.look(), { healthz: { ok: true } })
  t.same(later.looked, ['127.0.0.1:10248'], 'a restore of etcd gave the version another content')
  const none = open({ portInFile: 'none' })
  t.equal((await none.look()).healthz, undefined)
  t.equal((await open({ ...withHealth(none.written()), portInFile: 10248 }).look()).healthz, undefined, 'that it has none is recorded, too')
})

t.test('k3s writes the files of its kubelet after its own start: their port counts once it answers', async (t) => {
  const unit = running(CHECKPOINT_A, { command: { path: '/usr/local/bin/k3s', words: ['agent'] } })
  const early = open({ unit, healthz: false })
  await early.look()
  t.equal(early.written()?.lastProcess?.healthPort, undefined)
  const later = open({ ...withHealth(early.written()), unit, portInFile: 10348 })
  t.match(await later.look(), { healthz: { ok: true } })
  t.same(later.looked, ['127.0.0.1:10348'])
  t.match(later.written()?.lastProcess, { healthPort: { port: 10348 } })
})

t.test('a health port that cannot be known is neither probed nor taken for none', async (t) => {
  const seen = (content: string) => withHealth(health(A, { lastProcess: { invocationId: INVOCATION, content, kubeletIdentity: KUBELET } }))
  const unread = open({ portInFile: undefined })
  t.equal((await unread.look()).healthz, PORT_NOT_KNOWN, 'the disk does not return the file')
  t.equal(unread.written()?.healthySinceUs, undefined)
  t.equal(unread.written()?.lastProcess?.healthPort, undefined, 'it is asked for again')
  const replaced = open(seen('content-before'))
  t.equal((await replaced.look()).healthz, PORT_NOT_KNOWN, 'a record of an earlier agent, and the checkpoint holds other content')
  t.same(
    replaced.looked.filter((asked) => asked.startsWith('127.0.0.1')),
    [],
    'the port of that one is not asked',
  )
  t.match(await open(seen('content-a@1')).look(), { healthz: { ok: true } }, 'a record of an earlier agent, and the same checkpoint')
  const rewritten = open({
    ...seen(`before:${INVOCATION}`),
    unit: running({ kind: 'other', pid: 1, configPath: LOCAL_PATH }, { wiring: fileWiring(LOCAL_PATH) }),
  })
  t.equal((await rewritten.look()).healthz, PORT_NOT_KNOWN, 'the file was changed after kubelet had started')
})

t.test('the container runtimes of fallback and candidate', async (t) => {
  const see = async (scene: Scene) => {
    const { runtimeUp, changesRuntime, targetRuntimeUp } = await open(scene).look()
    return [runtimeUp, changesRuntime, targetRuntimeUp]
  }
  const ill: Scene = { healthz: false }
  t.same(await see({}), [undefined, undefined, undefined], 'they are not asked while kubelet is well')
  t.same(await see({ ...ill, up: ['/c/uid-a/1/kubelet.sock'] }), [false, true, true], 'a move to another runtime')
  t.same(await see({ ...ill, up: [`${LOCAL_PATH}.sock`] }), [true, true, false], 'to one that is dead')
  t.same(await see({ ...ill, endpoint: 'unix:///run/c.sock', up: ['/run/c.sock'] }), [true, false, undefined], 'no move')
  const flagged = running(CHECKPOINT_A, { runtimeEndpoint: '/var/run/c.sock' })
  t.same(await see({ ...ill, unit: flagged, up: ['/run/c.sock'] }), [true, false, undefined], 'a flag wins over both')
  t.same(await see({ ...ill, unit: flagged, activation: { kind: 'unknown', detail: '' } }), [false, undefined, undefined])
  const replaced = running(CHECKPOINT_A, { wiring: fileWiring(LOCAL_PATH) })
  const kept = `${fileWiring(LOCAL_PATH).keptLocalPath}.sock`
  t.same(await see({ ...ill, unit: replaced, up: [kept] }), [true, true, false], 'the agent keeps the local config beside its own')
  const guess: Scene = { ...ill, endpoint: undefined, default: '/run/d.sock', up: ['/run/d.sock'] }
  const nowhere: ActivationState = { kind: 'unknown', detail: '' }
  t.same(await see({ ...guess, unit: replaced, activation: nowhere }), [true, undefined, undefined], 'nobody knows where local is')
  const before = running({ kind: 'other', pid: 1, configPath: LOCAL_PATH })
  t.same(await see({ ...guess, unit: before, portInFile: undefined }), [true, undefined, undefined], 'files that cannot be read')
  t.same(await see({ ...guess, unit: before }), [true, false, undefined], 'files that name none')
  t.same(await see({ ...ill, endpoint: undefined }), [undefined, undefined, undefined], 'none is known')
  t.same(await see({ ...ill, endpoint: undefined, default: '/run/d.sock' }), [false, false, undefined])
})

t.test('each look is folded into the record', async (t) => {
  const world = open({})
  t.match(await world.look(), { health: { subject: keyOf(A), healthySinceUs: NOW_US } })
  t.match(world.written(), { subject: keyOf(A) })
  const upgraded = open({ unit: running(CHECKPOINT_A, { kubeletIdentity: UPGRADED_KUBELET }), health: health(A) })
  t.match(await upgraded.look(), { health: { subject: keyOf(A, UPGRADED_KUBELET) } })
})

t.test('health is not recorded while the unit or the next start is unknown', async (t) => {
  const before = health(A)
  for (const scene of [{ unit: { kind: 'unknown', detail: '' } }, { activation: { kind: 'unknown', detail: '' } }] as const) {
    t.equal((await open({ ...scene, health: before }).look()).health, before)
  }
})

t.test('a process that was first seen while its checkpoint was gone is known again when that is back', async (t) => {
  const lastProcess = { invocationId: INVOCATION, content: 'missing:uid-a/1/kubelet', kubeletIdentity: 'kubelet-v1' }
  const seen = await open({ health: health(A, { lastProcess }) }).look()
  t.match(seen.running, { content: 'content-a@1', key: keyOf(A) })
  t.notHas(seen.running, { lost: true })
  t.match(seen.health?.lastProcess, { content: 'content-a@1', source: A })
  const still = await runningIn({ health: health(A, { lastProcess: { ...lastProcess, content: 'missing:uid-z/1/kubelet' } }) })
  t.match(still, { content: 'missing:uid-z/1/kubelet', lost: true }, 'and no other')
})

t.test('what runs is recorded also while the disk does not return the next start', async (t) => {
  const wiring = fileWiring(LOCAL_PATH)
  const unit = running({ kind: 'other', pid: 1, configPath: LOCAL_PATH }, { wiring, startedAtUs: NOW_US - SECOND_US })
  const gone: Scene = { unit, activation: { ...ACTIVATED_A, source: { ...A, uid: 'gone' } }, isUnreadable: true }
  const first = open(gone)
  t.match(await first.look(), { running: { content: 'missing:gone/1/kubelet' } })
  t.match(first.written()?.lastProcess, { invocationId: INVOCATION, content: 'missing:gone/1/kubelet' })
  const moved: ActivationState = { kind: 'local', since: { bootId: BOOT, monotonicUs: NOW_US } }
  const later = open({ ...withHealth(first.written()), unit, activation: moved })
  t.match((await later.look()).running, { content: 'missing:gone/1/kubelet' }, 'an activation since then changes nothing')
  const back = open({ ...withHealth(rename(first.written(), 'missing:gone', 'missing:uid-a')), unit, activation: ACTIVATED_A })
  t.match(await back.look(), {
    running: { content: 'content-a@1' },
    health: { subject: keyOf(A), lastProcess: { content: 'content-a@1' } },
  })
  const earlier = health(A, { lastProcess: { invocationId: 'i-0', content: 'content-a@1', kubeletIdentity: KUBELET } })
  const other = await open({ ...gone, health: earlier }).look()
  t.same(
    other.health,
    { ...earlier, lastProcess: { invocationId: INVOCATION, content: 'missing:gone/1/kubelet', kubeletIdentity: KUBELET } },
    'and nothing else changes in the record of another config',
  )
  const lost = open({ ...gone, isUnreadable: false })
  t.match(await lost.look(), { running: { content: 'missing:gone/1/kubelet' } })
  t.equal(lost.written(), undefined, 'a version that is gone may come back with other content')
})

t.test('no record of what is assigned', async (t) => {
  const lost = { assigned: { kind: 'source', source: 'local', absent: true } } as const
  const assignedIn = async (scene: Scene) => (await open({ ...lost, ...scene }).look()).assigned
  const said = { kind: 'source', source: 'local' } as const
  const local = running({ kind: 'other', pid: 1, configPath: LOCAL_PATH })
  t.same(await assignedIn({ unit: local, activation: LOCAL_ACTIVE }), { ...said, absent: true }, 'nothing was ever assigned')
  t.match(await assignedIn({ activation: LOCAL_ACTIVE }), { kind: 'damaged' }, 'lost: kubelet runs a checkpoint')
  t.match(await assignedIn({ unit: local }), { kind: 'damaged' }, 'lost: kubelet starts with a checkpoint next')
  t.same(await assignedIn({ assigned: said }), said, 'not lost: the record says local')
})
