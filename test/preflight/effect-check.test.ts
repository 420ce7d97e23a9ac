import t from 'tap'
import type { HealthRecord } from '../../src/decision/health.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { KnownUnit } from '../../src/decision/unit-state.ts'
import type { KubeAnswer } from '../../src/ports/kube-api.ts'
import { type Comparison, checkSame } from '../../src/preflight/change/check-same.ts'
import { collectFlags } from '../../src/preflight/change/kubelet-flags.ts'
import { EffectCheck } from '../../src/preflight/effect-check.ts'
import { runningContent, snapshot, unit } from '../report/build.ts'

const v120 = { major: 1, minor: 20, patch: 2 }
const AWAY: KubeAnswer = { kind: 'unreachable', detail: 'nobody is there' }
const refused = (status: number): KubeAnswer => ({
  kind: 'refused',
  status,
  reason: 'x',
  detail: `no (${status})`,
  retryAfterMs: undefined,
})
const configz = (kubeletconfig: unknown): KubeAnswer => ({ kind: 'ok', object: { kubeletconfig } })
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
  answer: KubeAnswer = SAME
  asked = 0
  meant: Readonly<Record<string, unknown>> = { maxPods: 64 }
  flags: readonly string[] = []
  compare = (object: unknown): Comparison => checkSame(this.meant, object, v120, collectFlags(this.flags))
  readonly said: string[] = []
  readonly check = new EffectCheck({
    ask: async () => {
      this.asked += 1
      return this.answer
    },
    compare: async (object) => this.compare(object),
    log: {
      debug: (message) => void this.said.push(`debug ${message}`),
      info: (message) => void this.said.push(`info ${message}`),
      warn: (message) => void this.said.push(`warn ${message}`),
      error: (message) => void this.said.push(`error ${message}`),
    },
    clock: { now: () => ({ bootId: 'boot-1', monotonicUs: this.nowUs, wallMs: 0 }) },
  })

  /** A pass of the loop, a minute later. */
  async pass(of: Snapshot = after()): Promise<void> {
    this.nowUs += MINUTE_US
    this.check.decided(of)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

t.test('only a process that is well, and was started with one of our configs', async (t) => {
  const world = new World()
  for (const of of [
    after('i1', { health: undefined }),
    after('i1', { health: { ...WELL, healthySinceUs: undefined } }),
    after('i1', { running: { kind: 'none' } }),
    after('i1', { unit: { kind: 'unknown', detail: 'no systemctl' } }),
    after('i1', { unit: unit() }),
  ])
    await world.pass(of)
  t.equal(world.asked, 0)
  await world.pass()
  t.equal(world.asked, 1)
})

t.test('a kubelet that runs what was meant is asked once, and nobody hears of it', async (t) => {
  const world = new World()
  await world.pass()
  await world.pass()
  t.equal(world.asked, 1)
  t.same(world.said, ['debug kubelet runs what was meant'])
  await world.pass(after('i2'))
  t.equal(world.asked, 2, 'the next process is another one')
})

t.test('a difference is a warning once per process, with the flag that makes it', async (t) => {
  const world = new World()
  world.answer = OTHER
  world.flags = ['--max-pods=110']
  await world.pass()
  await world.pass()
  const warning = 'warn kubelet runs something else than its config says: maxPods is 110, not 64 (--max-pods)'
  t.same(world.said, [warning])
  await world.pass(after('i2'))
  t.same(world.said, [warning, warning])
  t.equal(world.asked, 2)
})

t.test('a difference that nothing explains is said all the same', async (t) => {
  const world = new World()
  world.answer = configz({ maxPods: 64, eventBurst: 11 })
  await world.pass()
  t.match(world.said, [/eventBurst is 11, not 10 \(default\)$/])
})

t.test('of many differences the first few', async (t) => {
  const world = new World()
  world.meant = { evictionHard: Object.fromEntries(Array.from({ length: 13 }, (_, index) => [`signal${index}`, '1'])) }
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
  t.match(world.said, [/field0 is not set, not 1; .*field9 is not set, not 1 and 3 more$/])
})

t.test('a server that is away is asked again, but not at every look', async (t) => {
  const world = new World()
  for (const answer of [AWAY, refused(503)]) {
    world.answer = answer
    await world.pass()
  }
  t.same([world.asked, world.said], [2, []])
  world.answer = OTHER
  world.nowUs -= MINUTE_US
  await world.pass()
  t.equal(world.asked, 2, 'within a minute of the last time')
  await world.pass()
  t.equal(world.asked, 3)
  t.match(world.said, [/^warn /])
})

t.test('that it may not be asked is said once, whatever is restarted', async (t) => {
  const world = new World()
  world.answer = refused(403)
  for (const process of ['i1', 'i1', 'i2', 'i3']) await world.pass(after(process))
  t.equal(world.asked, 3)
  t.same(world.said, ['info what kubelet runs is not compared with what was meant: /configz cannot be read: no (403)'])
})

t.test('an answer that says nothing', async (t) => {
  const world = new World()
  world.answer = { kind: 'ok', object: {} }
  await world.pass()
  await world.pass(after('i2'))
  t.match(world.said, [/^info .*says nothing of kubeletconfig$/])
  t.equal(world.said.length, 1)
})

t.test('a comparison that breaks keeps nobody waiting', async (t) => {
  const world = new World()
  world.compare = () => {
    throw new Error('disk')
  }
  await world.pass()
  t.same(world.said, ['debug what kubelet runs could not be compared'])
  await world.pass(after('i2'))
  t.equal(world.asked, 2)
})
