// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { HealthRecord } from '../../src/health/fold.ts'
import type { ConfigzAnswer } from '../../src/ports/preflight.ts'
import { type Comparison, checkSame } from '../../src/preflight/change/check-same.ts'
import { collectFlags } from '../../src/preflight/change/kubelet-flags.ts'
import { EffectCheck } from '../../src/preflight/effect-check.ts'
import type { KnownUnit } from '../../src/subject/unit-state.ts'
import { dropInWiring } from '../../src/systemd/wiring-kinds.ts'
import { runningContent, snapshot, source, unit } from '../report/build.ts'

const v120 = { major: 1, minor: 20, patch: 2 }
const AWAY: ConfigzAnswer = { kind: 'unreachable', detail: 'no server' }
const refused = (status: number): ConfigzAnswer => ({ kind: 'refused', by: 'api-server', status, detail: `no (${status})` })
const configz = (kubeletconfig: unknown): ConfigzAnswer => ({ kind: 'ok', object: { kubeletconfig } })
const SAME = configz({ maxPods: 64 })
const OTHER = configz({ maxPods: 110 })
const MINUTE_US = 60e6

const process: KnownUnit['process'] = { kind: 'checkpoint', pid: 7, uid: 'uid-1', resourceVersion: '1', key: 'kubelet' }
const WELL: HealthRecord = {
  bootId: 'boot-1',
  subject: 'key',
  subjectSinceUs: 0,
  starts: 1,
  started: true,
  invocationId: 'i1',
  wasHealthy: true,
  everHealthy: true,
  healthySinceUs: 5,
  unhealthySinceUs: undefined,
  lastSampleUs: 6,
  excused: false,
  exits: 0,
  lastNRestarts: 0,
  lastProcess: undefined,
  lastDetail: '',
}

function after(invocationId = 'i1', fields: Partial<Snapshot> = {}): Snapshot {
  const running = runningContent('content')
  return snapshot({
    unit: unit({ invocationId, process }),
    running: running.kind === 'known' ? { ...running, invocationId } : running,
    health: WELL,
    ...fields,
  })
}

class World {
  nowUs = 0
  answer: ConfigzAnswer = SAME
  requests = 0
  configured: Readonly<Record<string, unknown>> = { maxPods: 64 }
  flags: readonly string[] = []
  readonly paths: (string | undefined)[] = []
  compare = (object: unknown): Comparison => checkSame(this.configured, object, v120, collectFlags(this.flags))
  readonly logged: string[] = []
  readonly compared: number[] = []
  readonly check = new EffectCheck({
    ask: async () => {
      this.requests += 1
      return this.answer
    },
    compare: async (object, _unit, path) => {
      this.paths.push(path)
      return this.compare(object)
    },
    findPath: () => '/the/config',
    onCompared: (differences) => void this.compared.push(differences),
    log: {
      debug: (message) => void this.logged.push(`debug ${message}`),
      info: (message) => void this.logged.push(`info ${message}`),
      warn: (message) => void this.logged.push(`warn ${message}`),
      error: (message) => void this.logged.push(`error ${message}`),
    },
    clock: { now: () => ({ bootId: 'boot-1', monotonicUs: this.nowUs, wallMs: 0 }) },
  })

  /** A pass of the loop, a minute later. */
  async pass(state: Snapshot = after()): Promise<void> {
    this.nowUs += MINUTE_US
    this.check.decided(state)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

t.test('compares only a healthy process that was started with a checkpoint', async (t) => {
  const world = new World()
  for (const state of [
    after('i1', { health: undefined }),
    after('i1', { health: { ...WELL, healthySinceUs: undefined } }),
    after('i1', { running: { kind: 'none' } }),
    after('i1', { unit: { kind: 'unknown', detail: 'no systemctl' } }),
    after('i1', { unit: unit() }),
  ])
    await world.pass(state)
  t.equal(world.requests, 0)
  await world.pass()
  t.equal(world.requests, 1)
})

t.test('where --config is always the same, the content says that a checkpoint runs', async (t) => {
  const world = new World()
  const other: KnownUnit['process'] = { kind: 'other', pid: 7, configPath: '/etc/config.yaml' }
  const state = after()
  const content = state.running.kind === 'known' ? state.running.content : ''
  const nextStart = { kind: 'known', held: { source: source(), content } } as const
  await world.pass({ ...state, unit: unit({ invocationId: 'i1', process: other, wiring: dropInWiring('/etc/kubelet.d') }), nextStart })
  t.strictSame(world.paths, ['/the/config'])
  await world.pass({ ...state, unit: unit({ invocationId: 'i1', process: other, wiring: dropInWiring('/etc/kubelet.d') }) })
  t.equal(world.paths.length, 1, 'the local config is not compared')
})

t.test('a process whose config matches is compared once, and logged only at level debug', async (t) => {
  const world = new World()
  await world.pass()
  await world.pass()
  t.equal(world.requests, 1)
  t.same(world.logged, ["debug kubelet's running config matches its config file"])
  await world.pass(after('i2'))
  t.equal(world.requests, 2, 'the next process is compared again')
})

t.test('a difference is logged once for each process, with the flag that causes it', async (t) => {
  const world = new World()
  world.answer = OTHER
  world.flags = ['--max-pods=110']
  await world.pass()
  await world.pass()
  const warning = "warn kubelet's running config differs from its config file: maxPods is 110, not 64 (--max-pods)"
  t.same(world.logged, [warning])
  await world.pass(after('i2'))
  t.same(world.logged, [warning, warning])
  t.equal(world.requests, 2)
})

t.test('the fields that differ are counted for the process that runs', async (t) => {
  const world = new World()
  world.answer = OTHER
  await world.pass()
  await world.pass()
  t.same(world.compared, [0, 1])
  await world.pass(after('i2', { unit: unit() }))
  t.same(world.compared, [0, 1, 0], 'the count of another process does not stay')
  world.answer = SAME
  await world.pass(after('i3'))
  t.same(world.compared, [0, 1, 0, 0, 0])
})

t.test('a difference without a known cause is logged too', async (t) => {
  const world = new World()
  world.answer = configz({ maxPods: 64, eventBurst: 11 })
  await world.pass()
  t.match(world.logged, [/eventBurst is 11, not 10 \(default\)$/])
})

t.test('of many differences the first ten are named', async (t) => {
  const world = new World()
  world.configured = { evictionHard: Object.fromEntries(Array.from({ length: 13 }, (_, index) => [`signal${index}`, '1'])) }
  world.answer = configz({ evictionHard: {} })
  world.compare = () => ({
    ok: true,
    differences: Array.from({ length: 13 }, (_, index) => ({
      path: [`field${index}`],
      meant: { value: 1, isDefault: false },
      running: undefined,
      because: undefined,
    })),
  })
  await world.pass()
  t.match(world.logged, [/field0 is not set, not 1; .*field9 is not set, not 1 and 3 more$/])
})

t.test('an unavailable server is retried, but not more than once a minute', async (t) => {
  const world = new World()
  for (const answer of [AWAY, refused(503)]) {
    world.answer = answer
    await world.pass()
  }
  t.same([world.requests, world.logged], [2, []])
  world.answer = OTHER
  world.nowUs -= MINUTE_US
  await world.pass()
  t.equal(world.requests, 2, 'less than a minute after the last request')
  await world.pass()
  t.equal(world.requests, 3)
  t.match(world.logged, [/^warn /])
})

t.test('a refused request is logged once, not for each process', async (t) => {
  const world = new World()
  world.answer = refused(403)
  for (const process of ['i1', 'i1', 'i2', 'i3']) await world.pass(after(process))
  t.equal(world.requests, 3)
  t.same(world.logged, ["info kubelet's running config is not compared with its config file: cannot read /configz: no (403)"])
})

t.test('a port that does not prove to be kubelet is logged once, and asked again only at the next process', async (t) => {
  const world = new World()
  world.answer = { kind: 'unproven', detail: 'another certificate' }
  for (const process of ['i1', 'i1', 'i2']) await world.pass(after(process))
  t.equal(world.requests, 2)
  t.same(world.logged, ["info kubelet's running config is not compared with its config file: cannot read /configz: another certificate"])
})

t.test('a response without kubeletconfig', async (t) => {
  const world = new World()
  world.answer = { kind: 'ok', object: {} }
  await world.pass()
  await world.pass(after('i2'))
  t.match(world.logged, [/^info .*has no kubeletconfig$/])
  t.equal(world.logged.length, 1)
})

t.test('a comparison that throws is logged at level debug', async (t) => {
  const world = new World()
  world.compare = () => {
    throw new Error('disk')
  }
  await world.pass()
  t.same(world.logged, ["debug kubelet's running config is not compared with its config file"])
  await world.pass(after('i2'))
  t.equal(world.requests, 2)
})
