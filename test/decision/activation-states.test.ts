// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { restOnTarget } from '../../src/decision/activation-states.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { Staging } from '../../src/decision/staging-state.ts'
import { assess, type TargetSituation } from '../../src/decision/target.ts'
import { spreadDelayUs } from '../../src/decision/wait.ts'
import { describeSource } from '../../src/subject/config-source.ts'
import { recordNothing } from '../evidence/samples.ts'
import {
  A,
  A_EDITED,
  accepts,
  assignedTo,
  B,
  BOOT,
  C,
  contentOf,
  crashing,
  decide,
  GOOD,
  HOUR_US,
  health,
  hold,
  judged,
  KUBELET,
  keyOf,
  LOCAL_EVERYWHERE,
  lost,
  MINUTE_US,
  NOW_US,
  POLICY,
  READY_FOR_B,
  restartTo,
  runs,
  runsNothing,
  SECOND_US,
  snapshot,
  startsWith,
  UPGRADED_KUBELET,
  verdict,
  wants,
} from './snapshots.ts'

t.test('what may change on a drained node only waits for that', async (t) => {
  const wanted = { ...LOCAL_EVERYWHERE, ...wants(A), ...assignedTo(A), accepted: new Map([[keyOf(A), { drain: ['cgroupDriver'] }]]) }
  t.match(decide(wanted), { kind: 'wait', phase: 'drain', detail: /waits until the node is drained: it changes cgroupDriver/ })
  t.match(decide({ ...wanted, drained: false }), { phase: 'drain', detail: /waits until the node is drained: it changes cgroupDriver$/ })
  t.match(decide(wanted), { detail: /cgroupDriver; whether it is drained is not known$/ })
  t.match(decide({ ...wanted, drained: true }), { kind: 'activate', target: A })
  t.match(decide({ ...wanted, ...runs(A) }), { kind: 'activate', target: A }, 'a new version of what runs changes nothing')
  const activated = { ...wanted, ...startsWith(A) }
  t.match(decide({ ...activated, drained: true }), { kind: 'restart', to: A })
  t.match(decide({ ...activated, drained: false }), { phase: 'drain' }, 'the drain ended before kubelet was restarted')
  t.match(decide({ ...activated, ...runsNothing('auto-restart') }), { kind: 'restart', to: A }, 'where nothing runs, nothing is disturbed')
  t.match(decide({ ...activated, ...judged(verdict('local', 'confirmed')) }), { kind: 'restart', to: A }, 'nor where what runs has failed')
  const { running } = runs('local')
  if (running?.kind !== 'known') throw new Error('it runs')
  const process = { ...running, wasHealthy: true, healthySinceUs: NOW_US - 5 * MINUTE_US, unhealthySinceUs: undefined, exits: 0 }
  const recovered = { ...activated, ...runs('local'), health: health('local', { process }) }
  const failed = (facts: object) => decide({ ...recovered, ...judged(verdict('local', 'provisional', facts)) })
  t.match(failed({}), { kind: 'wait', phase: 'drain' }, 'unless it is well again')
  for (const reason of ['evidence', 'requested'] as const)
    t.match(failed({ reason }), { kind: 'restart', to: A }, 'as its health port cannot tell')
})

t.test('what changes the managers of kubelet waits until no pod has CPUs or memory to lose', async (t) => {
  const acceptance = { drain: ['maxPods'], managers: ['cpuManagerPolicy'] }
  const wanted = { ...LOCAL_EVERYWHERE, ...wants(A), ...assignedTo(A), accepted: new Map([[keyOf(A), acceptance]]) }
  const by = 'pod kube-system/dpdk is guaranteed whole CPUs'
  const none = { kind: 'none' } as const
  const detailOf = (facts: object) => decide({ ...wanted, ...facts }).kind === 'wait' && decide({ ...wanted, ...facts })
  t.match(detailOf({}), { phase: 'drain', detail: /until the node is drained: it changes maxPods, cpuManagerPolicy/ })
  t.match(detailOf({ exclusives: none }), { phase: 'drain', detail: /until the node is drained: it changes maxPods; whether/ })
  const alone = { accepted: new Map([[keyOf(A), { drain: [], managers: ['cpuManagerPolicy'] }]]) }
  t.match(decide({ ...wanted, ...alone, drained: false, exclusives: none }), { kind: 'activate' }, 'nobody has to cordon a node for it')
  t.match(detailOf({ ...alone, exclusives: { kind: 'unknown', why: 'EIO' } }), {
    phase: 'drain',
    detail: /one has is not known: EIO; the condition/,
  })
  const sick = {
    invocationId: 'i',
    key: keyOf('local'),
    wasHealthy: false,
    healthySinceUs: undefined,
    unhealthySinceUs: NOW_US - 5 * MINUTE_US,
    startedAtUs: NOW_US,
    exits: 9,
  }
  const dead = { ...wanted, ...alone, ...crashing('local', { process: sick }), ...judged(verdict('local', 'confirmed')) }
  t.match(decide(dead), { kind: 'activate', target: A }, 'nor do pods leave a kubelet that is dead')
  t.match(decide({ ...wanted, ...alone, ...runsNothing('starting') }), { phase: 'drain' }, 'one that starts is not dead')
  t.match(detailOf({ drained: true, exclusives: { kind: 'held', by } }), {
    phase: 'drain',
    detail: `${describeSource(A)} waits until no pod has CPUs, memory or devices to lose: it changes cpuManagerPolicy; ${by}; the condition Drained of its Node settles it`,
  })
  t.match(detailOf({ drained: true }), {
    phase: 'drain',
    detail: /; whether one has is not known; the condition Drained of its Node settles it$/,
  })
  const both = { accepted: new Map([[keyOf(A), { drain: [], managers: ['cpuManagerPolicy', 'memoryManagerPolicy'] }]]) }
  t.match(detailOf(both), { detail: /it changes cpuManagerPolicy, memoryManagerPolicy;/ })
  t.match(decide({ ...wanted, drained: true, exclusives: none }), { kind: 'activate', target: A })
  t.match(
    decide({ ...wanted, ...startsWith(A), drained: true, exclusives: { kind: 'held', by } }),
    { phase: 'drain' },
    'nor is kubelet restarted',
  )
  t.match(
    decide({ ...wanted, ...startsWith(A), ...crashing(A), ...judged(verdict(A, 'provisional')) }),
    { kind: 'activate', target: 'local' },
    'a fallback never waits',
  )
})

t.test('where nothing tells what a healthy kubelet runs, what is in place stays', async (t) => {
  const unreadable = { kind: 'unknown', detail: 'cannot tell what kubelet starts with' } as const
  const facts = {
    ...assignedTo(A),
    assignedContent: undefined,
    nextStart: unreadable,
    running: unreadable,
    healthz: { ok: true, detail: 'ok' },
  } as const
  const apart = {
    ...LOCAL_EVERYWHERE,
    ...facts,
    desired: { kind: 'unknown', detail: 'no answer yet' },
  } as const
  t.match(decide(apart), { kind: 'wait', phase: 'unknown', detail: /runs on with what is in place: cannot tell what kubelet starts with/ })
  t.match(decide({ ...apart, healthz: { ok: false, detail: 'refused' } }), { kind: 'activate', target: 'local' }, 'it fails')
  t.match(decide({ ...apart, ...runsNothing('auto-restart') }), { kind: 'activate', target: 'local' }, 'nothing runs')
  t.match(decide({ ...apart, nextStart: { ...unreadable, absent: true } }), { kind: 'activate', target: 'local' }, 'nothing is in place')
  t.match(decide({ ...apart, assignedContent: contentOf(A), ...judged(verdict(A, 'confirmed')) }), { kind: 'activate', target: 'local' })
  t.match(decide({ ...apart, assignedContent: contentOf(A) }), { kind: 'activate', target: A }, 'its checkpoint is back')
})

t.test('what hangs is left for what kubelet starts with next, whatever the wanted config waits for', async (t) => {
  const waiting = { ...LOCAL_EVERYWHERE, ...wants(A), ...assignedTo(A), accepted: new Map([[keyOf(A), { drain: ['cgroupDriver'] }]]) }
  const hangs = (source: typeof B | 'local', us: number, facts: Parameters<typeof runs>[1] = {}) => {
    const { running } = runs(source, facts)
    if (running?.kind !== 'known') throw new Error('it runs')
    const process = { ...running, wasHealthy: true, healthySinceUs: undefined, unhealthySinceUs: NOW_US - us, exits: 0 }
    return { ...runs(source, facts), health: health('local', { started: true, process }) }
  }
  t.match(decide({ ...waiting, ...hangs(B, 2 * MINUTE_US) }), { kind: 'restart', to: 'local' }, 'the records of what runs are lost')
  t.match(decide({ ...waiting, ...hangs(B, SECOND_US) }), { kind: 'wait', phase: 'drain' }, 'not at once')
  t.match(
    decide({ ...waiting, ...hangs('local', 2 * MINUTE_US) }),
    { kind: 'wait', phase: 'drain' },
    'another start of the same is not due',
  )
  const upgraded = { unit: { kubeletIdentity: UPGRADED_KUBELET } }
  const accepted = new Map([[keyOf(A, UPGRADED_KUBELET), { drain: ['cgroupDriver'] }]])
  const onUpgraded = { ...waiting, ...startsWith(B), accepted }
  t.match(decide({ ...onUpgraded, ...hangs(B, 2 * MINUTE_US, upgraded) }), { kind: 'restart', to: B }, 'the kubelet on disk is another one')
  t.match(decide({ ...onUpgraded, ...hangs(B, SECOND_US, upgraded) }), { kind: 'wait', phase: 'drain' }, 'which is not started at once')
})

t.test('what goes on in a pause goes on after the agent has started it, too', async (t) => {
  const { running } = runs(A)
  if (running?.kind !== 'known') throw new Error('it runs')
  const channelState = { channel: 'label' as const, paused: { on: 'ConfigMap' as const, by: 'label' }, problem: undefined }
  const paused = { ...wants(B), desired: { ...wants(B).desired, channelState }, recordedChannelState: channelState }
  const lastProcess = { content: contentOf(A), kubeletIdentity: KUBELET, invocationId: running.invocationId }
  const waiting = { ...READY_FOR_B, ...assignedTo(B), ...paused, ...startsWith(A), lastKnownGood: hold('local'), proven: undefined }
  const started = decide({ ...waiting, ...runsNothing('exited'), health: health(A, { lastProcess }) })
  t.match(started, { kind: 'restart', to: A, record: { fallback: true, goesOn: true } })
  if (started.kind !== 'restart') return
  const restarts = [{ ...started.record, outcome: { ok: true as const, detail: '' } }]
  t.match(decide({ ...waiting, ...runs(A), health: health(A), restarts }), { kind: 'prove', key: keyOf(A) }, 'and its trial too')
  const fallen = restarts.map((record) => ({ ...record, goesOn: undefined }))
  t.match(
    decide({ ...waiting, ...runs(A), health: health(A), restarts: fallen }),
    { kind: 'activate', target: 'local' },
    'no fallback does',
  )
})

t.test('what had waited for its restart goes on where it had to be started after all', async (t) => {
  const failed = [verdict(B, 'confirmed'), verdict('local', 'confirmed')]
  const accepted = new Map([[keyOf(C), { drain: ['cgroupDriver'] }]])
  const withdrawn = { ...wants(C), ...assignedTo(C), accepted, ...startsWith(A), lastKnownGood: hold(B), previous: hold('local') }
  const facts = { ...withdrawn, ...judged(...failed) }
  const started = decide({ ...facts, ...runs(B), health: health(B) })
  t.match(started, { kind: 'restart', to: A, record: { fallback: true, goesOn: true } })
  if (started.kind !== 'restart') return
  const restarts = [{ ...started.record, outcome: { ok: true as const, detail: '' } }]
  const channelState = { channel: 'label' as const, paused: { on: 'ConfigMap' as const, by: 'label' }, problem: undefined }
  const paused = { ...facts, desired: { ...wants(C).desired, channelState }, recordedChannelState: channelState }
  t.match(decide({ ...paused, ...runs(A), health: health(A), restarts }), { kind: 'promote' }, 'also in a pause that follows')
  t.match(decide({ ...facts, ...crashing(B) }), { kind: 'restart', to: A, record: { goesOn: true } }, 'also where nothing runs')
  const failedToo = { ...facts, ...judged(...failed, verdict(A, 'confirmed')), ...runs(B), health: health(B) }
  t.match(decide(failedToo), { kind: 'restart', to: A, record: { goesOn: undefined } }, 'but not what has failed itself')
})

t.test('a kubelet that is down is started with what is in place, whatever the wanted config waits for', async (t) => {
  const { running } = runs(A)
  if (running?.kind !== 'known') throw new Error('it runs')
  const last = health(A, { lastProcess: { content: contentOf(A), kubeletIdentity: KUBELET, invocationId: running.invocationId } })
  const waiting = { ...wants(B), ...assignedTo(B), accepted: new Map([[keyOf(B), { drain: ['cgroupDriver'] }]]), health: last }
  for (const activity of ['exited', 'left-down'] as const) {
    const down = { ...waiting, ...runsNothing(activity) }
    t.match(decide(down), { kind: 'restart', to: A, record: { target: keyOf(A), fallback: false, failed: true } }, activity)
    t.strictSame(Object.keys(decide(down)).sort(), ['from', 'kind', 'record', 'to'], 'and nothing is waited for')
    const again = { ...restartTo(A, { atUs: NOW_US - SECOND_US }), failed: true, outcome: { ok: true as const, detail: '' } }
    const backsOff = decide({ ...down, restarts: [again] })
    t.match(backsOff, { kind: 'wait', phase: 'restarting', detail: /in a while.*; .*waits until the node is drained/ }, 'not at once again')
    const inPause = (on: 'Node' | 'ConfigMap') => {
      const channelState = { channel: 'label' as const, paused: { on, by: on }, problem: undefined }
      return decide({ ...down, desired: { ...wants(B).desired, channelState }, recordedChannelState: channelState })
    }
    t.match(inPause('ConfigMap'), { kind: 'restart', to: A }, 'nor does a pause of the config keep it down')
    t.match(inPause('Node'), { kind: 'wait', phase: 'paused' }, 'as one of the node does')
  }
  const troubles = [{ step: 'preflight' as const, about: describeSource(B), detail: 'killed', retryAtUs: NOW_US + MINUTE_US }]
  t.match(decide({ ...waiting, accepted: new Map(), troubles, ...runsNothing('left-down') }), { kind: 'restart', to: A }, 'or for a check')
  for (const activity of ['stopped', 'auto-restart', 'starting'] as const)
    t.match(decide({ ...waiting, ...runsNothing(activity) }), { kind: 'wait', phase: 'drain' }, activity)
  const atFirst = { ...waiting, ...startsWith('local'), health: LOCAL_EVERYWHERE.health, ...runsNothing('left-down') }
  t.match(decide(atFirst), { kind: 'restart', to: 'local' }, 'local stands in for what is assigned')
  t.match(
    decide({ ...LOCAL_EVERYWHERE, ...wants('local'), ...runsNothing('left-down') }),
    { kind: 'wait', phase: 'kubelet-stopped' },
    'or is the administrator’s',
  )
})

t.test('a kubelet that runs gets no local config as its next start that somebody has put back', async (t) => {
  const waiting = { ...wants(B), ...assignedTo(B), accepted: new Map([[keyOf(B), { drain: ['cgroupDriver'] }]]), ...startsWith('local') }
  const { running } = runs(A)
  if (running?.kind !== 'known') throw new Error('it runs')
  const process = { ...running, wasHealthy: true, healthySinceUs: undefined, unhealthySinceUs: NOW_US - 2 * MINUTE_US, exits: 0 }
  const hangs = { ...runs(A), health: health('local', { process }) }
  t.match(decide({ ...waiting, ...hangs }), { kind: 'activate', target: A }, 'it hangs')
  t.match(decide({ ...waiting, ...runs(A), health: health(A) }), { kind: 'activate', target: A }, 'it is well, and may exit')
  const damaged = { assigned: { kind: 'damaged', detail: '' }, assignedContent: undefined } as const
  t.match(
    decide({ ...waiting, ...hangs, ...damaged, desired: { kind: 'unknown', detail: '' } }),
    { kind: 'activate', target: A },
    'no record',
  )
  t.match(decide({ ...waiting, ...runs('local'), health: health('local') }), { kind: 'wait' }, 'local that runs stays')
  const troubles = [{ step: 'activate' as const, about: describeSource(B), detail: 'unsettled', retryAtUs: NOW_US + SECOND_US }]
  const wanted = { ...wants(B), ...assignedTo(B), ...startsWith('local'), ...runs(B), health: health(B), troubles }
  t.match(decide(wanted), { kind: 'wait' }, 'what runs is put in place itself')
  t.match(
    decide({ ...waiting, ...hangs, ...judged(verdict(A, 'provisional')) }),
    { kind: 'restart', to: 'local' },
    'and one for which A failed',
  )
})

t.test('a kubelet that is down is not started with a local config that somebody has put back', async (t) => {
  const waiting = { ...wants(B), ...assignedTo(B), accepted: new Map([[keyOf(B), { drain: ['cgroupDriver'] }]]), health: health(A) }
  for (const activity of ['exited', 'left-down', 'auto-restart', 'failed'] as const) {
    const putBack = { ...waiting, ...startsWith('local'), ...runsNothing(activity) }
    t.match(decide(putBack), { kind: 'activate', target: A }, activity)
    const troubles = [{ step: 'activate' as const, about: describeSource(A), detail: 'disk full', retryAtUs: NOW_US + MINUTE_US }]
    t.not(decide({ ...putBack, troubles }).kind, 'activate', 'if last-known-good can be put in its place')
  }
})

t.test('what hangs is left although it is wanted, where it cannot be what kubelet starts with next', async (t) => {
  const troubles = [{ step: 'activate' as const, about: describeSource(B), detail: 'disk full', retryAtUs: NOW_US + MINUTE_US }]
  // The disk was full, so that the verdict was lost with the agent that had activated the fallback.
  const stuck = { ...wants(B), ...assignedTo(B), ...accepts(A, B), ...startsWith(A), troubles }
  const { running } = runs(B)
  if (running?.kind !== 'known') throw new Error('it runs')
  const since = (illUs: number) => ({
    ...running,
    wasHealthy: false,
    healthySinceUs: undefined,
    unhealthySinceUs: NOW_US - illUs,
    exits: 0,
  })
  const hangs = (illUs: number) => ({ ...stuck, ...runs(B), health: health(A, { process: since(illUs) }) })
  t.match(decide(hangs(SECOND_US)), { kind: 'wait' }, 'not at once')
  t.match(decide(hangs(10 * MINUTE_US)), { kind: 'restart', to: A })
})

t.test('a process that has just started is left alone, however long the ones before it were ill', async (t) => {
  const troubles = [{ step: 'activate' as const, about: describeSource(B), detail: 'it is being edited', retryAtUs: NOW_US + SECOND_US }]
  const { running } = runs(B, { startedAgoUs: SECOND_US })
  if (running?.kind !== 'known') throw new Error('it runs')
  const process = { ...running, wasHealthy: false, healthySinceUs: undefined, unhealthySinceUs: NOW_US - 2 * MINUTE_US, exits: 2 }
  const facts = {
    ...LOCAL_EVERYWHERE,
    ...wants(B),
    ...assignedTo(B),
    ...accepts(B),
    troubles,
    running,
    health: health('local', { process }),
  }
  t.match(decide(facts), { kind: 'wait' })
})

t.test('what did damage on another kubelet is left as well, whatever the wanted config waits for', async (t) => {
  const damage = verdict(B, 'confirmed', { key: keyOf(B, UPGRADED_KUBELET), damage: 'one-way' })
  const stuck = {
    ...wants(C),
    ...assignedTo(C),
    ...accepts(A),
    ...startsWith(B),
    troubles: [{ step: 'preflight' as const, about: describeSource(C), detail: 'disk full', retryAtUs: NOW_US + MINUTE_US }],
  }
  t.match(decide({ ...stuck, ...runs(A) }), { kind: 'wait' }, 'without a verdict it stays')
  t.match(decide({ ...stuck, ...runs(A), ...judged(damage) }), { kind: 'activate', target: A })
  t.match(decide({ ...stuck, ...startsWith(A), ...runs(B), ...judged(damage) }), { kind: 'restart', to: A })
})

t.test('the fallback that is made ready is the best that is left', async (t) => {
  t.match(decide(READY_FOR_B), { kind: 'activate', target: B, fallback: A })
  t.match(decide({ ...READY_FOR_B, ...judged(verdict(A, 'confirmed')), previous: hold(C) }), { fallback: C })
  t.match(decide({ ...READY_FOR_B, lastKnownGood: hold('local') }), { fallback: 'local' })
  const all = judged(verdict(A, 'provisional'), verdict('local', 'provisional'))
  t.match(decide({ ...READY_FOR_B, ...all }), { target: B, fallback: 'local' }, 'and local where nothing is')
  const returning = { ...LOCAL_EVERYWHERE, ...wants('local'), ...startsWith(A), ...runs(A), ...accepts('local') }
  t.strictSame((decide(returning) as { fallback?: unknown }).fallback, undefined, 'but not for local itself')
})

t.test('the spread', async (t) => {
  const sinceUs = NOW_US - spreadDelayUs('node-1', A_EDITED, POLICY.spreadUs) + SECOND_US
  const spread = { bootId: BOOT, source: A_EDITED, sinceUs }
  const edited = { ...wants(A_EDITED), ...assignedTo(A_EDITED), ...accepts(A, A_EDITED), spread }
  t.match(decide(edited), {
    kind: 'wait',
    phase: 'spread',
    untilUs: NOW_US + SECOND_US,
    detail: /^waits for its turn to use .*a:kubelet@2: /,
  })
  t.match(decide({ ...edited, spread: { ...spread, sinceUs: sinceUs - SECOND_US } }), { kind: 'activate', target: A_EDITED })
  const broken = { nextStart: { kind: 'unknown', detail: 'no file', absent: true } } as const
  t.match(decide({ ...edited, ...broken }), { kind: 'activate' }, 'kubelet could not start again')
  t.match(decide({ ...edited, spread: undefined }), { kind: 'activate' }, 'a change of the node’s own assignment')
  const condemned = { ...edited, ...judged(verdict(A, 'confirmed', { reason: 'requested' })) }
  t.match(decide(condemned), { kind: 'activate', target: A_EDITED }, 'the place of a config that an operator rolled back is taken at once')
  t.match(decide({ ...edited, ...runsNothing('left-down') }), { kind: 'activate' }, 'a kubelet that is down loses nothing by it')
  t.not(decide({ ...edited, ...crashing(A) }).kind, 'wait', 'what runs fails: its successor cannot come too soon')
  t.match(decide({ ...edited, accepted: new Map([[keyOf(A), { drain: [] }]]) }), { kind: 'preflight' }, 'it is judged while it waits')
  const same = contentOf(A)
  t.match(decide({ ...edited, ...wants(A_EDITED, same), ...assignedTo(A_EDITED, same) }), { kind: 'activate' }, 'nothing to restart')
  const next = { ...wants(A_EDITED, same), ...assignedTo(A_EDITED, same), ...runs(C) }
  t.match(decide({ ...edited, ...next }), { kind: 'activate' }, 'kubelet starts with these bytes anyway')
})

t.test('what is computed waits until its facts have held, where kubelet would be restarted for it', async (t) => {
  const spread = { bootId: BOOT, source: A_EDITED, sinceUs: 0, factsSinceUs: NOW_US - MINUTE_US + SECOND_US }
  const edited = { ...wants(A_EDITED), ...assignedTo(A_EDITED), ...accepts(A, A_EDITED), spread }
  t.match(decide(edited), {
    kind: 'wait',
    phase: 'spread',
    detail: /^waits to use .*: the facts that its values are computed from must have held for 1m$/,
    untilUs: NOW_US + SECOND_US,
  })
  t.match(decide({ ...edited, spread: { ...spread, factsSinceUs: NOW_US - MINUTE_US } }), { kind: 'activate', target: A_EDITED })
  t.match(decide({ ...edited, ...runsNothing('left-down') }), { kind: 'activate' }, 'kubelet does not run yet')
  t.not(decide({ ...edited, ...crashing(A) }).kind, 'wait', 'what runs fails')
  const same = contentOf(A)
  t.match(decide({ ...edited, ...wants(A_EDITED, same), ...assignedTo(A_EDITED, same) }), { kind: 'activate' }, 'nothing to restart')
})

t.test('the spread of a fall to local', async (t) => {
  const sinceUs = NOW_US - spreadDelayUs('node-1', 'local', POLICY.spreadUs) + SECOND_US
  const spread = { bootId: BOOT, source: 'local', sinceUs } as const
  const vanished = { ...LOCAL_EVERYWHERE, ...accepts('local'), ...wants('local'), ...startsWith(A), ...runs(A), health: health(A), spread }
  t.match(decide(vanished), { kind: 'wait', phase: 'spread', untilUs: NOW_US + SECOND_US })
  t.match(decide({ ...vanished, spread: { ...spread, sinceUs: sinceUs - SECOND_US } }), { kind: 'activate', target: 'local' })
  t.match(decide({ ...vanished, spread: undefined }), { kind: 'activate', target: 'local' }, 'a person unassigned this Node')
  t.not(decide({ ...vanished, ...crashing(A) }).kind, 'wait', 'what runs fails: local cannot come too soon')
  const requests = { hold: 'local', rollback: undefined, retry: false } as const
  t.match(decide({ ...vanished, requests }), { kind: 'activate', target: 'local' }, 'a reset on the node')
})

t.test('a kubelet that a person stopped', async (t) => {
  const stopped = { ...READY_FOR_B, ...runsNothing('stopped') }
  t.match(decide(stopped), { kind: 'activate', target: B }, 'its next start uses what is wanted')
  t.match(decide({ ...stopped, ...startsWith(B) }), { kind: 'wait', phase: 'kubelet-stopped' })
})

t.test('no restart beyond the hourly limit, after one without effect, or while the container runtime is silent', async (t) => {
  const spent = Array.from({ length: POLICY.restartsPerHour }, (_, index) => restartTo(GOOD, { atUs: NOW_US - (20 - index) * MINUTE_US }))
  const due = { ...READY_FOR_B, ...startsWith(B), health: health(B, { started: false }), restarts: spent }
  t.match(decide(due), { kind: 'wait', phase: 'restart-limit', detail: 'kubelet was restarted 6 times within an hour' })

  const asked = restartTo(B, { atUs: NOW_US - MINUTE_US, invocationBefore: 'invocation-0' })
  const ineffective = { ...due, health: health(B, { subjectSinceUs: NOW_US - 2 * MINUTE_US }), restarts: [asked] }
  t.match(decide(ineffective), { kind: 'wait', phase: 'ineffective' })

  t.match(decide({ ...READY_FOR_B, ...startsWith(B), health: health(B, { started: false }), runtimeUp: false }), {
    kind: 'wait',
    phase: 'runtime-down',
    detail: `the container runtime does not answer: kubelet is restarted with ${describeSource(B)} when it does, or after 10 minutes`,
  })
})

t.test('a kubelet that is well is not restarted before what its trial needs is on record', async (t) => {
  const due = { ...READY_FOR_B, ...startsWith(B), health: health(B, { started: false }) }
  t.match(decide({ ...due, evidence: recordNothing(keyOf(B), snapshot(due)) }), {
    kind: 'wait',
    phase: 'restarting',
    detail: `recording the state of the node before kubelet is restarted with ${describeSource(B)}`,
  })
  const troubles = [{ step: 'restart' as const, about: '', detail: 'disk full', retryAtUs: NOW_US + MINUTE_US }]
  t.match(decide({ ...due, troubles }), { kind: 'wait', phase: 'unknown', detail: 'the restart of kubelet could not be recorded' })
})

/** Since when the disk, or another program, has refused a step. */
function trouble(step: 'preflight' | 'activate', source: typeof B | 'local', agoUs = MINUTE_US): Snapshot['troubles'][number] {
  return { step, about: describeSource(source), detail: 'killed', retryAtUs: NOW_US + MINUTE_US, sinceUs: NOW_US - agoUs }
}

t.test('what preflight has not judged is not activated', async (t) => {
  const unjudged = { ...READY_FOR_B, accepted: new Map() }
  const what = describeSource(B)
  t.match(decide(unjudged), { kind: 'preflight', source: B })
  t.match(decide({ ...unjudged, preflightPending: new Set([keyOf(B)]) }), {
    phase: 'preflight',
    detail: `${what} is being checked before kubelet gets it`,
  })
  const failed = { ...unjudged, troubles: [trouble('preflight', B, HOUR_US)] }
  t.match(decide(failed), { phase: 'unknown', detail: `preflight of ${what} could not be carried out` })
  const absent = { nextStart: { kind: 'unknown', detail: 'no file', absent: true } } as const
  t.match(decide({ ...failed, ...absent }), { phase: 'unknown', detail: /could not be carried out$/ }, 'also where nothing is in place')
  const cannotStart = 'kubelet does not start with any config'
  t.match(decide({ ...failed, cannotStart }), { phase: 'node-at-fault', detail: cannotStart }, 'where no kubelet starts, that is why')

  t.test('but for local, which is the administrator’s, after ten minutes', async (t) => {
    const returning = { ...LOCAL_EVERYWHERE, ...wants('local'), ...startsWith(A), ...runs(A), health: health(A) }
    const returns = (...troubles: Snapshot['troubles']) => decide({ ...returning, troubles })
    t.match(returns(trouble('preflight', 'local', 10 * MINUTE_US)), { kind: 'activate', target: 'local' })
    t.match(returns(trouble('preflight', 'local', 10 * MINUTE_US - 1)), { kind: 'wait', phase: 'unknown' })
    const lately = trouble('preflight', 'local')
    t.match(returns(trouble('preflight', B, HOUR_US), lately), { kind: 'wait' }, 'that another could not be judged does not count')
    const full = { ...trouble('activate', 'local', HOUR_US), retryAtUs: NOW_US }
    t.match(returns(full, lately), { kind: 'wait' }, 'nor does a disk that was full')
    const long = trouble('preflight', 'local', HOUR_US)
    t.match(decide({ ...failed, troubles: [...failed.troubles, long] }), { kind: 'wait' }, 'and it frees no other config')
  })
})

t.test('what is wanted and could not be activated is said', async (t) => {
  t.match(decide({ ...READY_FOR_B, troubles: [trouble('activate', B)] }), {
    phase: 'unknown',
    detail: `${describeSource(B)} could not be activated`,
  })
})

t.test('a node that waits for its rollout says so, and what it does meanwhile', async (t) => {
  const staging: Staging = {
    config: 'kube-system/b',
    record: 'record',
    arrival: 'there',
    contents: [{ hash: 'hash', content: contentOf(B) }],
  }
  const staged = { ...READY_FOR_B, stagings: [staging] }
  const awaits = `${describeSource(B)} waits for its rollout: the record of its rollout has not been read yet`
  const rests = (facts: Partial<Snapshot>) => restOnTarget(assess(snapshot({ ...staged, ...facts })) as TargetSituation)
  t.match(rests({}), { phase: 'rollout', detail: awaits }, 'what runs goes on')
  t.match(rests(runsNothing('stopped')), {
    phase: 'kubelet-stopped',
    detail: new RegExp(`^kubelet is stopped; .*; ${awaits}$`),
  })
  const all = judged(verdict(A, 'provisional'), verdict('local', 'provisional'))
  t.match(rests(all), {
    phase: 'node-at-fault',
    detail: `every config failed, so the node is at fault; resting on ${describeSource(A)}; ${awaits}`,
  })
  t.match(rests({ ...runsNothing('left-down') }), { kind: 'restart', to: A }, 'what can be done comes before')

  t.test('and looks again when the first of both may have ended', async (t) => {
    const healthySinceUs = NOW_US - POLICY.trialUs + 2 * SECOND_US
    const trial = { proven: undefined, lastKnownGood: hold('local'), ...runs(A), health: health(A, { healthySinceUs }) }
    t.match(rests(trial), { kind: 'wait', untilUs: NOW_US + 2 * SECOND_US })
    t.match(rests(runsNothing('starting')), { phase: 'restarting', untilUs: NOW_US + SECOND_US })
  })

  t.test('or that its ConfigMap is paused', async (t) => {
    const channelState = { channel: 'label' as const, paused: { on: 'ConfigMap' as const, by: 'its label' }, problem: undefined }
    const paused = { ...staged, desired: { ...wants(B).desired, channelState }, recordedChannelState: channelState }
    t.match(rests(paused), { phase: 'paused', detail: `paused by its label; wanted is ${describeSource(B)}` })
  })
})

t.test('a pause has nothing to hold where only the version of what runs is new', async (t) => {
  const paused = { requests: { hold: 'paused', rollback: undefined, retry: false } } as const
  const edited = { ...wants(A_EDITED, contentOf(A)), ...assignedTo(A_EDITED, contentOf(A)), ...paused }
  t.match(decide(edited), { kind: 'wait', phase: 'settled' })
  t.match(decide({ ...edited, proven: undefined }), { kind: 'prove', key: keyOf(A) }, 'a trial ends as it would without the pause')
  t.match(decide({ ...edited, ...startsWith(B) }), { kind: 'wait', phase: 'paused' }, 'kubelet would start with something else')
})

t.test('a pause does not keep kubelet from starting again', async (t) => {
  const paused = { requests: { hold: 'paused', rollback: undefined, retry: false } } as const
  const gone = { ...paused, nextStart: { kind: 'known', held: lost(B) } } as const
  t.match(decide({ ...READY_FOR_B, ...paused }), { kind: 'wait', phase: 'paused' }, 'what is wanted is not activated')
  t.match(
    decide({ ...READY_FOR_B, ...gone, nextStart: { kind: 'known', held: lost(C) } }),
    { kind: 'activate', target: A },
    'nor where the next start is lost',
  )
  t.match(decide({ ...gone, ...runsNothing('failed') }), { kind: 'activate', target: A }, 'what is wanted has run before')
  const troubles = [trouble('activate', A), trouble('activate', 'local')]
  t.match(decide({ ...gone, ...runsNothing('failed'), troubles }), { kind: 'wait', phase: 'paused' }, 'if anything can be put in place')
  t.match(decide({ ...LOCAL_EVERYWHERE, ...wants('local'), ...gone, ...runsNothing('auto-restart') }), {
    kind: 'activate',
    target: 'local',
  })
  const unreadable = { kind: 'known', held: { ...lost(B), unreadable: true } } as const
  t.match(
    decide({ ...LOCAL_EVERYWHERE, ...wants('local'), ...paused, nextStart: unreadable }),
    { kind: 'wait', phase: 'paused' },
    'the disk may return it',
  )
})
