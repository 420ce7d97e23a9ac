// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import {
  asksForJobs,
  describeDown,
  describeStay,
  explainDown,
  findStartObstacle,
  hasOwnStartFailed,
  hasStarted,
} from '../../src/decision/why-down.ts'
import type { HealthRecord } from '../../src/health/fold.ts'
import type { UnitActivity, UnitDown } from '../../src/subject/unit-state.ts'
import {
  A,
  B,
  BOOT,
  health,
  INVOCATION,
  KUBELET,
  keyOf,
  NOW_US,
  restartTo,
  runs,
  runsNothing,
  snapshot,
  UPGRADED_KUBELET,
  unit,
} from './snapshots.ts'

/** As systemd shows it after the stop of a running kubelet. */
const STOPPED: UnitDown = { name: 'kubelet.service', activeExitUs: NOW_US - 300, mainExitUs: NOW_US - 200, inactiveEnterUs: NOW_US - 100 }
const CLEAN: UnitDown = { ...STOPPED, activeExitUs: NOW_US - 100 }

interface Facts {
  readonly down?: Partial<UnitDown>
  readonly invocationId?: string
  readonly nRestarts?: number
  /** When the agent requested a restart. */
  readonly ownUs?: number
  readonly ok?: boolean
  /** Nobody knows what became of the request. */
  readonly unanswered?: boolean
  /** It was a start of a unit that systemd had given up. */
  readonly failed?: boolean
  /** No answer came in time. */
  readonly late?: boolean
  readonly invocationBefore?: string
  readonly first?: number
  readonly takenDownOf?: string
  readonly lastProcess?: HealthRecord['lastProcess']
  readonly noHealth?: boolean
}

function seen({
  down,
  invocationId = INVOCATION,
  nRestarts = 0,
  ownUs,
  ok = true,
  unanswered = false,
  failed = false,
  late,
  invocationBefore = INVOCATION,
  first = 0,
  takenDownOf,
  noHealth = false,
  ...facts
}: Facts) {
  const known = unit({ activity: 'stopped', invocationId, nRestarts, down: { ...STOPPED, ...down } })
  const outcome = unanswered ? undefined : { ok, detail: '', mayBeTaken: late }
  const own = ownUs === undefined ? [] : [restartTo(B, { atUs: ownUs, invocationBefore, failed, outcome })]
  const record = noHealth ? undefined : health(A, { firstNRestarts: first, lastNRestarts: first, takenDownOf, ...facts })
  const past = { health: record, restarts: own, now: { bootId: BOOT } }
  const explained = explainDown(known, past)
  return { activity: explained.activity, own: hasOwnStartFailed(explained, past), asks: asksForJobs(known, past) }
}

const BEFORE_US = NOW_US - 400
const LATER_US = NOW_US - 50

t.test("the agent's own job ended for a dependency", async (t) => {
  t.match(seen({ ownUs: BEFORE_US, down: { dependencyFailedUs: NOW_US } }), { activity: 'left-down', own: true, asks: true })
  t.match(seen({ ownUs: BEFORE_US }), { activity: 'stopped', own: false, asks: true }, 'a person has canceled it')
  t.match(seen({ ownUs: NOW_US - 10, down: { dependencyFailedUs: NOW_US - 20 } }), { activity: 'stopped' }, 'that was another one')
  t.match(seen({ down: { dependencyFailedUs: NOW_US } }), { activity: 'stopped', asks: false }, "a person's")
  const others = { ownUs: BEFORE_US, invocationBefore: 'earlier', down: { dependencyFailedUs: NOW_US } }
  t.match(seen(others), { activity: 'stopped', asks: false }, 'kubelet has been started since')
  const unanswered = { ownUs: BEFORE_US, ok: false, down: { dependencyFailedUs: NOW_US } }
  t.match(seen({ ...unanswered, late: true }), { activity: 'left-down', own: true, asks: true }, 'no answer came in time')
  t.match(seen(unanswered), { activity: 'stopped', own: false, asks: false }, "systemd refused it: a person's")
  const since = { invocationId: 'later', ownUs: BEFORE_US, invocationBefore: INVOCATION, down: { dependencyFailedUs: NOW_US } }
  t.match(seen(since), { activity: 'stopped', asks: false }, 'kubelet has been started since it ran as what was restarted')
  t.match(seen({ ownUs: BEFORE_US, down: { dependencyFailedUs: BEFORE_US } }), { activity: 'left-down', own: true }, 'at once')
  const bound = { ownUs: BEFORE_US, down: { dependencyFailedUs: BEFORE_US - 1, endedWith: 'containerd.service' } }
  t.match(seen(bound), { activity: 'left-down', own: false }, 'it is down for something else')
})

t.test('systemd forgets a unit that no other needs', async (t) => {
  const forgotten = { invocationId: '', down: { activeExitUs: 0, mainExitUs: 0, inactiveEnterUs: 0, dependencyFailedUs: NOW_US } }
  t.match(seen({ ...forgotten, ownUs: BEFORE_US }), { activity: 'left-down', own: true })
  t.match(seen({ ...forgotten, ownUs: BEFORE_US, invocationBefore: 'earlier' }), { activity: 'stopped' })
  t.match(seen(forgotten), { activity: 'stopped' }, 'or has never started it')
  const unstarted = { ...forgotten, down: { ...forgotten.down, endedWith: 'containerd.service' } }
  t.match(seen(unstarted), { activity: 'stopped' }, 'whatever became of the units that it requires')
  for (const unknown of [{ noHealth: true }, { lastProcess: undefined }])
    t.match(seen({ ...forgotten, ownUs: BEFORE_US, ...unknown }), { activity: 'stopped' }, 'nobody knows what ran before')
})

t.test("systemd's own restart ended for a dependency", async (t) => {
  t.match(seen({ nRestarts: 1, down: { dependencyFailedUs: LATER_US } }), { activity: 'left-down', own: false, asks: true })
  t.match(seen({ nRestarts: 1 }), { activity: 'stopped' }, 'a person has stopped it in the queue')
  t.match(seen({ nRestarts: 1, down: { dependencyFailedUs: NOW_US - 150 } }), { activity: 'stopped' }, 'that was before')
  t.match(seen({ nRestarts: 2, first: 2, down: { dependencyFailedUs: LATER_US } }), { activity: 'stopped' }, 'it counted none')
  const others = { nRestarts: 1, invocationId: 'later', down: { dependencyFailedUs: LATER_US } }
  t.match(seen(others), { activity: 'stopped', asks: false }, 'it counted that of a process that was not seen')
  t.match(seen({ nRestarts: 1, noHealth: true, down: { dependencyFailedUs: LATER_US } }), { activity: 'stopped', asks: false })
})

t.test('its process ended by itself', async (t) => {
  t.match(seen({ down: CLEAN }), { activity: 'exited', asks: false })
  t.match(seen({ down: { ...CLEAN, mainExitUs: 0 } }), { activity: 'exited' })
  t.match(seen({ down: { ...CLEAN, mainExitUs: CLEAN.activeExitUs } }), { activity: 'exited' }, 'at one moment')
  t.match(seen({ down: { ...CLEAN, mainExitUs: NOW_US } }), { activity: 'stopped' })
  t.match(seen({ down: { mainExitUs: NOW_US - 400 } }), { activity: 'stopped' }, 'somebody stopped it while it waited for its restart')
  for (const own of [{ ownUs: BEFORE_US }, { ownUs: LATER_US, unanswered: true }])
    t.match(seen({ down: CLEAN, ...own }), { activity: 'exited' }, 'nobody has canceled that start')
  t.match(seen({ down: { ...CLEAN, activeExitUs: 0, inactiveEnterUs: 0, mainExitUs: 0 } }), { activity: 'stopped' }, 'it was never active')
  const start = { down: CLEAN, ownUs: LATER_US, failed: true }
  t.match(seen(start), { activity: 'stopped' }, 'a person has canceled the start')
  t.match(seen({ ...start, ok: false }), { activity: 'exited' }, 'systemd refused the start')
  t.match(seen({ ...start, failed: false }), { activity: 'exited' }, 'a restart of a unit that was down started nothing')
  t.match(seen({ down: { ...CLEAN, dependencyFailedUs: NOW_US }, ownUs: LATER_US }), { activity: 'left-down', own: true })
})

t.test('a unit that it was bound to took it with it', async (t) => {
  t.match(seen({ down: { endedWith: 'containerd.service' } }), { activity: 'left-down', own: false })
  t.match(seen({ takenDownOf: INVOCATION }), { activity: 'left-down' }, 'it has ended once more since, or was started')
  t.match(seen({ takenDownOf: 'earlier' }), { activity: 'stopped' }, 'kubelet has been started since')
})

t.test('what somebody has barred stays down', async (t) => {
  for (const barred of ['masked', 'disabled'] as const) {
    t.match(seen({ down: { ...CLEAN, barred } }), { activity: 'stopped' })
    t.match(seen({ nRestarts: 1, down: { dependencyFailedUs: LATER_US, barred } }), { activity: 'stopped', asks: false })
    const queued = unit({ activity: 'left-down', down: { ...STOPPED, barred } })
    t.match(explainDown(queued, { health: undefined, restarts: [], now: { bootId: BOOT } }), { activity: 'stopped' })
  }
  const own = { ownUs: BEFORE_US, down: { dependencyFailedUs: NOW_US } }
  t.match(seen({ ...own, down: { ...own.down, barred: 'masked' } }), { activity: 'stopped', own: false, asks: false })
  t.match(seen({ ...own, down: { ...own.down, barred: 'disabled' } }), { activity: 'left-down', own: true, asks: true }, 'it ran')
})

t.test('a unit that is not down is as it is', async (t) => {
  const running = unit()
  const past = { health: health(A), restarts: [restartTo(B, { invocationBefore: INVOCATION })], now: { bootId: BOOT } }
  t.equal(explainDown(running, past), running)
  const untold = unit({ activity: 'left-down', down: undefined })
  t.equal(explainDown(untold, past), untold, 'nothing tells how it came down')
  t.equal(hasOwnStartFailed(untold, past), false)
  t.match(describeDown(untold), 'a unit that kubelet requires failed')
  for (const barred of ['masked', 'disabled'] as const) {
    const failed = unit({ activity: 'failed', down: { ...STOPPED, barred } })
    t.equal(explainDown(failed, past), failed, `systemd gave it up: ${barred}`)
  }
  t.equal(asksForJobs(running, past), false)
})

t.test('of a unit that the agent starts again, the message says why it is down, and how to keep it down', async (t) => {
  const said = (activity: UnitActivity, down?: Partial<UnitDown>) => describeDown(unit({ activity, down: { ...STOPPED, ...down } }))
  const keep = '(kubelet-cfg-agent pause keeps it down)'
  t.equal(said('exited'), `kubelet ended without an error, and systemd does not start it again ${keep}`)
  t.equal(said('left-down'), `a unit that kubelet requires failed, and systemd does not start kubelet again ${keep}`)
  const named = said('left-down', { endedWith: 'containerd.service' })
  t.equal(named, `containerd.service failed, and systemd does not start kubelet again ${keep}`)
  t.equal(said('failed'), 'systemd gave kubelet up')
})

t.test('of a unit that the agent leaves as it is, the message names the command that starts it', async (t) => {
  const said = (activity: UnitActivity, down: Partial<UnitDown> = {}, invocationId = INVOCATION) =>
    describeStay(unit({ activity, invocationId, down: { ...STOPPED, ...down } }), 'local')
  const start = 'systemctl start kubelet.service starts it with local'
  t.equal(said('stopped'), `kubelet is stopped; ${start}`)
  t.equal(said('stopped', {}, ''), `kubelet has not been started since the boot; ${start}`)
  t.equal(said('stopped', { barred: 'disabled' }), `kubelet is stopped, and kubelet.service is disabled; ${start}`)
  t.equal(said('stopped', { barred: 'masked' }), `kubelet.service is masked; systemctl unmask kubelet.service && ${start}`)
  t.equal(said('exited'), `kubelet ended without an error, and nothing starts it again; ${start}`)
  t.equal(said('left-down'), `kubelet is down since a unit that it requires failed; ${start}`)
  t.equal(describeStay(unit({ activity: 'stopped', down: undefined }), 'local'), 'kubelet is stopped; its next start uses local')
})

t.test('a masked unit is nothing that the agent starts, however it came down', async (t) => {
  const down = (barred: UnitDown['barred']) => unit({ activity: 'left-down', down: { ...STOPPED, barred } })
  const past = { health: undefined, restarts: [], now: { bootId: BOOT } }
  t.match(explainDown(down('masked'), past), { activity: 'stopped' })
  t.match(explainDown(down(undefined), past), { activity: 'left-down' })
})

t.test('a kubelet has started where it was healthy here, now or when a config passed its trial', async (t) => {
  const healthy = { subject: keyOf(A), everHealthy: true }
  const other = keyOf(B, UPGRADED_KUBELET)
  t.equal(hasStarted(KUBELET, { proven: keyOf(B), health: undefined }), true)
  t.equal(hasStarted(KUBELET, { proven: other, health: healthy }), true)
  t.equal(hasStarted(KUBELET, { proven: undefined, health: { ...healthy, everHealthy: false } }), false)
  t.equal(hasStarted(KUBELET, { proven: other, health: { ...healthy, subject: other } }), false, 'that was another kubelet')
  t.equal(hasStarted(KUBELET, { proven: undefined, health: undefined }), false)
})

t.test('a kubelet that starts with no config is an obstacle, unless one from before an upgrade still runs', async (t) => {
  const find = (facts: object) => findStartObstacle(snapshot({ cannotStart: 'its file is damaged', ...facts }))
  t.equal(find({}), 'its file is damaged')
  t.equal(find(runsNothing('failed')), 'its file is damaged')
  t.equal(find(runs(A, { kubelet: UPGRADED_KUBELET })), undefined)
  const unknown = { unit: { kind: 'unknown', detail: 'no bus' } }
  t.equal(find({ ...runs(A, { kubelet: UPGRADED_KUBELET }), ...unknown }), 'its file is damaged', 'nobody knows which is installed')
})
