// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { PreflightResult } from '../../src/decision/verdict.ts'
import type { PreflightRequest } from '../../src/ports/preflight.ts'
import { AgentPreflight, toResult } from '../../src/preflight/agent-preflight.ts'
import type { Finding, Report } from '../../src/preflight/finding.ts'
import { COVERED } from '../../src/preflight/kubelet-version.ts'
import { identityOfKey, trialKey } from '../../src/subject/trial-key.ts'
import { LimitError } from '../../src/values/errors.ts'
import { snapshot, source, unit } from '../report/build.ts'

const ACCEPTED: Report = { outcome: 'accepted', findings: [], parts: [] }
const finding = (fields: Partial<Finding>): Finding => ({
  rule: 'fields/range',
  severity: 'refuse',
  reason: 'validate',
  path: [],
  position: undefined,
  problem: 'it is bad',
  advice: undefined,
  ...fields,
})
const REFUSED: Report = { outcome: 'refused', findings: [finding({})], parts: [] }
const YES: PreflightResult = { kind: 'accepted', remarks: [], drain: [] }
const NO: PreflightResult = { kind: 'refused', reason: 'validate', detail: 'it is bad' }
const PENDING: PreflightResult = { kind: 'pending' }
const MINUTE_US = 60e6

/** The report of preflight on a kubelet that is newer than the tables. */
const NEWER: Report = {
  outcome: 'accepted',
  findings: [],
  parts: [
    { part: 'fields', outcome: 'unjudged', detail: `the rules cover ${COVERED}, not 1.99.0` },
    { part: 'kubelet', outcome: 'accepted', detail: 'kubelet 1.99.0 loaded and validated the config' },
  ],
}

const candidate = (key = 'key-1', fields: Partial<PreflightRequest> = {}): PreflightRequest => ({
  source: source(),
  data: {},
  key,
  fallback: false,
  unit: unit(),
  basePath: '/base',
  ...fields,
})

/** The test decides when checks finish, and when the loop's wait is over. */
class World {
  nowUs = 0
  bootId = 'boot-1'
  settings: unknown = { depth: 'start' }
  forgotten = 0
  done = 0
  readonly inspected: string[] = []
  readonly signals: AbortSignal[] = []
  readonly timed: number[] = []
  readonly slept: number[] = []
  readonly end = new AbortController()
  readonly #checks: PromiseWithResolvers[] = []
  readonly #sleeps: (() => void)[] = []
  readonly preflight = new AgentPreflight({
    inspect: ({ key }, signal) => {
      this.inspected.push(key)
      this.signals.push(signal)
      const check = withResolvers()
      this.#checks.push(check)
      return check.promise
    },
    decode: async () => ({ ...YES, remarks: ['decoded'] }),
    settings: () => this.settings,
    forget: () => {
      this.forgotten += 1
    },
    onDone: () => {
      this.done += 1
    },
    onTimed: (seconds) => void this.timed.push(seconds),
    clock: { now: () => ({ bootId: this.bootId, monotonicUs: this.nowUs, wallMs: 0 }) },
    signal: this.end.signal,
    sleep: (ms) => {
      this.slept.push(ms)
      return new Promise((resolve) => this.#sleeps.push(resolve))
    },
  })

  /** Checks a candidate, with a wait that is over at once. */
  async hurry(candidate: PreflightRequest): Promise<PreflightResult> {
    const result = this.preflight.check(candidate)
    for (const wake of this.#sleeps.splice(0)) wake()
    return result
  }

  async finish(which: number, report: Report | Error): Promise<void> {
    const check = this.#checks[which]
    if (check === undefined) throw new Error(`no check ${which} was started`)
    if (report instanceof Error) check.reject(report)
    else check.resolve(report)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
interface PromiseWithResolvers {
  readonly promise: Promise<Report>
  resolve(report: Report): void
  reject(error: Error): void
}
function withResolvers(): PromiseWithResolvers {
  let resolve: (report: Report) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<Report>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

t.test('a short check returns its result at once', async (t) => {
  const world = new World()
  const answer = world.preflight.check(candidate())
  t.same([...world.preflight.pending()], ['key-1'])
  await world.finish(0, ACCEPTED)
  t.same(await answer, YES)
  t.same([...world.preflight.pending()], [])
  t.same(world.slept, [700], 'how long the loop waits')
  t.equal(world.done, 0, 'it has the result, and need not be woken')
})

t.test('a long check is pending, continues, and returns its result at the next call', async (t) => {
  const world = new World()
  t.same(await world.hurry(candidate()), PENDING)
  t.same(await world.hurry(candidate()), PENDING)
  t.same([...world.preflight.pending()], ['key-1'])
  t.equal(world.done, 0)
  await world.finish(0, REFUSED)
  t.equal(world.done, 1)
  t.same([...world.preflight.pending()], [])
  t.same(await world.preflight.check(candidate()), NO)
  t.same(world.inspected, ['key-1'], 'checked once')
})

t.test('the time of a check is told, whatever its result, and not that of one that was ended', async (t) => {
  const world = new World()
  for (const result of [ACCEPTED, REFUSED, new LimitError('too much')]) {
    await world.hurry(candidate())
    world.nowUs += 2.5e6
    await world.finish(world.inspected.length - 1, result)
    await world.preflight.check(candidate())
  }
  t.same(world.timed, [2.5, 2.5, 2.5])
  await world.hurry(candidate('old'))
  world.preflight.decided(snapshot({ desiredContent: 'new' }))
  await world.finish(3, ACCEPTED)
  t.equal(world.timed.length, 3)
})

t.test('a result is returned once; the next call checks again', async (t) => {
  const world = new World()
  await world.hurry(candidate())
  await world.finish(0, REFUSED)
  await world.preflight.check(candidate())
  t.same(await world.hurry(candidate()), PENDING)
  await world.finish(1, ACCEPTED)
  t.same(await world.preflight.check(candidate()), YES)
  t.same(world.inspected, ['key-1', 'key-1'])
})

t.test('one check runs at a time', async (t) => {
  const world = new World()
  await world.hurry(candidate('a'))
  await world.hurry(candidate('b'))
  t.same([...world.preflight.pending()], ['a', 'b'])
  t.same(world.inspected, ['a'], 'the other waits')
  await world.finish(0, REFUSED)
  t.same(await world.preflight.check(candidate('a')), NO)
  t.same(world.inspected, ['a', 'b'])
  await world.finish(1, ACCEPTED)
  t.same(await world.preflight.check(candidate('b')), YES)
})

t.test('a check ends when its config is no longer wanted', async (t) => {
  const world = new World()
  const wanted = (content: string) => snapshot({ desiredContent: content })
  const keyOf = (content: string) => trialKey(content, unit().kubeletIdentity)
  await world.hurry(candidate(keyOf('old')))
  await world.hurry(candidate(keyOf('waits')))
  world.preflight.decided(wanted('old'))
  t.same([...world.preflight.pending()], [keyOf('old')], 'one that had not started is gone')
  t.notOk(world.signals[0]?.aborted)
  world.preflight.decided(snapshot({ unit: { kind: 'unknown', detail: 'no systemd' } }))
  t.notOk(world.signals[0]?.aborted, 'not while kubelet is unknown')
  world.preflight.decided(wanted('new'))
  t.ok(world.signals[0]?.aborted)
  t.same([...world.preflight.pending()], [])
  await world.hurry(candidate(keyOf('new')))
  t.equal(world.inspected.length, 1, 'the next one starts when the other has ended')
  await world.finish(0, REFUSED)
  t.equal(world.done, 0, 'nobody waits for the result')
  t.same(world.inspected, [keyOf('old'), keyOf('new')])
  await world.finish(1, ACCEPTED)
  t.same(await world.preflight.check(candidate(keyOf('new'))), YES)
})

t.test('what is assigned, and what kubelet may fall back to, is still wanted', async (t) => {
  const world = new World()
  await world.hurry(candidate(trialKey('held', unit().kubeletIdentity)))
  world.preflight.decided(snapshot({ assigned: { kind: 'source', source: source() }, assignedContent: 'held', desiredContent: 'other' }))
  t.equal(world.preflight.pending().size, 1)
})

t.test('a fallback is only decoded', async (t) => {
  const world = new World()
  t.match(await world.preflight.check(candidate('key-1', { fallback: true })), { kind: 'accepted', remarks: ['decoded'] })
  t.same([world.inspected, world.slept, [...world.preflight.pending()]], [[], [], []])
})

t.test('a check that fails says nothing about the config, and runs again at the next call', async (t) => {
  const world = new World()
  await world.hurry(candidate())
  await world.finish(0, new Error('the helper ended: exit code 1'))
  t.same([...world.preflight.pending()], [])
  t.equal(world.done, 1)
  await t.rejects(world.preflight.check(candidate()), { message: 'the helper ended: exit code 1' })
  t.same(await world.hurry(candidate()), PENDING)
  await world.finish(1, ACCEPTED)
  t.same(await world.preflight.check(candidate()), YES)
})

t.test('a kubelet that would start with no config gets none, and the config gets no verdict', async (t) => {
  const world = new World()
  const kubelet = { part: 'kubelet', outcome: 'cannot-start', detail: 'unknown flag: --container-runtime' } as const
  for (const outcome of ['unjudged', 'refused'] as const) {
    await world.hurry(candidate())
    await world.finish(world.inspected.length - 1, { ...REFUSED, outcome, parts: [kubelet] })
    await t.rejects(
      world.preflight.check(candidate()),
      { message: /would not start with any config: unknown flag: --container-runtime; correct its flags/ },
      outcome,
    )
    t.match(world.preflight.obstacle(identityOfKey(candidate().key)), /^the kubelet on disk would not start with any config/)
    t.equal(world.preflight.obstacle('another kubelet'), undefined)
  }
  await world.hurry(candidate())
  await world.finish(2, { ...ACCEPTED, parts: [{ part: 'source', outcome: 'unjudged', detail: 'in doubt' }] })
  await world.preflight.check(candidate())
  t.ok(world.preflight.obstacle(identityOfKey(candidate().key)), 'kubelet was not asked')
  await world.hurry(candidate())
  await world.finish(3, ACCEPTED)
  t.same(await world.preflight.check(candidate()), YES)
  t.equal(world.preflight.obstacle(identityOfKey(candidate().key)), undefined)
})

t.test('a config that takes too much time or memory is refused', async (t) => {
  const world = new World()
  await world.hurry(candidate())
  await world.finish(0, new LimitError('it took too much memory'))
  t.same(await world.preflight.check(candidate()), {
    kind: 'refused',
    reason: 'validate',
    detail: 'preflight failed: it took too much memory',
  })
})

t.test('a check that ends with the agent has no result', async (t) => {
  const world = new World()
  const answer = world.preflight.check(candidate())
  world.end.abort()
  t.ok(world.signals[0]?.aborted)
  await world.finish(0, new LimitError('aborted'))
  t.same(await answer, PENDING)
  t.equal(world.done, 0)
})

t.test('the basis changes with settings, boot, and every ten minutes', async (t) => {
  const world = new World()
  const first = world.preflight.basis()
  t.match(first, /^[0-9a-f]{16}$/)
  world.nowUs = 10 * MINUTE_US - 1
  t.equal(world.preflight.basis(), first)
  world.nowUs = 10 * MINUTE_US
  t.not(world.preflight.basis(), first)
  world.nowUs = 0
  t.equal(world.preflight.basis(), first)
  world.bootId = 'boot-2'
  t.not(world.preflight.basis(), first)
  world.bootId = 'boot-1'
  world.settings = { depth: 'rules' }
  t.not(world.preflight.basis(), first)
})

t.test('remembered judgements are dropped when the basis changes, and only then', async (t) => {
  const world = new World()
  await world.hurry(candidate('a'))
  t.equal(world.forgotten, 1)
  await world.hurry(candidate('b'))
  t.equal(world.forgotten, 1)
  world.nowUs = 10 * MINUTE_US
  await world.hurry(candidate('a'))
  t.equal(world.forgotten, 1, 'not before the next check starts')
  await world.hurry(candidate('c'))
  t.equal(world.forgotten, 2)
})

t.test('a result that was not collected expires with its basis', async (t) => {
  const later = async (change: (world: World) => PreflightRequest) => {
    const world = new World()
    await world.hurry(candidate())
    await world.finish(0, REFUSED)
    const result = await world.hurry(change(world))
    return { result, checks: world.inspected.length }
  }
  t.same(await later(() => candidate()), { result: NO, checks: 1 })
  const old = await later((world) => {
    world.nowUs = 10 * MINUTE_US
    return candidate()
  })
  t.same(old, { result: PENDING, checks: 2 })
  const set = await later((world) => {
    world.settings = {}
    return candidate()
  })
  t.same(set, { result: PENDING, checks: 2 })
  const moved = await later(() => candidate('key-1', { basePath: '/other' }))
  t.same(moved, { result: PENDING, checks: 2 }, 'and with the running config')
})

t.test('results that nobody collects are dropped; pending checks are kept', async (t) => {
  const world = new World()
  const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`)
  for (const [index, key] of keys.entries()) {
    await world.hurry(candidate(key))
    if (index < 19) await world.finish(index, REFUSED)
  }
  t.same([...world.preflight.pending()], ['key-19'], 'a pending check is kept')
  for (const key of keys.slice(-8, -1)) t.same(await world.preflight.check(candidate(key)), NO, key)
  t.equal(world.inspected.length, 20, 'the latest results are kept')
  t.same(await world.hurry(candidate('key-11')), PENDING, 'an older candidate is checked again')
  await world.finish(19, ACCEPTED)
  t.same(await world.preflight.check(candidate('key-19')), YES)
  t.equal(world.inspected.length, 21)
})

t.test('turns a report into a result', async (t) => {
  const warning = finding({ severity: 'warn', path: ['maxPod'], problem: 'no such field', position: { line: 3, column: 1 } })
  const drain = finding({ severity: 'info', rule: 'policy/require-drain', path: ['evictionHard', 'memory.available'] })
  const note = finding({ severity: 'info', problem: 'by the way' })
  const parts = [
    { part: 'fields', outcome: 'accepted', detail: 'fine' },
    { part: 'kubelet', outcome: 'unjudged', detail: 'no systemd' },
  ] as const
  t.same(toResult({ outcome: 'accepted', findings: [warning, drain, note], parts }), {
    kind: 'accepted',
    remarks: ['maxPod (line 3, column 1): no such field', 'the kubelet check could not run: no systemd'],
    drain: ['evictionHard["memory.available"]'],
  })
  const managers = finding({ severity: 'info', rule: 'change/managers', path: ['cpuManagerPolicy'] })
  const both = finding({ severity: 'info', rule: 'policy/require-drain', path: ['cpuManagerPolicy'] })
  t.same(
    toResult({ outcome: 'accepted', findings: [drain, both, managers], parts: [] }),
    { ...YES, drain: ['evictionHard["memory.available"]', 'cpuManagerPolicy'], managers: ['cpuManagerPolicy'] },
    'named once, whoever asks for the drain',
  )
  const change = { part: 'change', outcome: 'accepted', detail: '1 field changes', changed: ['maxPods'] } as const
  t.same(toResult({ outcome: 'accepted', findings: [], parts: [change] }), { ...YES, changed: ['maxPods'] })
  t.same(toResult({ outcome: 'unjudged', findings: [], parts: [] }), YES, 'an unjudged config is not refused')
  t.same(toResult({ ...REFUSED, findings: [warning, finding({ reason: 'load' })] }), { ...NO, reason: 'load' })
})

t.test("on a kubelet that the rules do not cover, the agent goes by kubelet's own judgement, and says so", async (t) => {
  t.same(toResult(NEWER), {
    kind: 'accepted',
    remarks: [`the fields check could not run: the rules cover ${COVERED}, not 1.99.0`],
    drain: [],
  })
})
