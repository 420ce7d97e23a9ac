// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { ChannelState, Desired } from '../../src/decision/desired.ts'
import { effectsOf } from '../../src/decision/effects-of-step.ts'
import {
  describePause,
  findConfigMapPause,
  findNodePause,
  findPause,
  isPauseUnknown,
  latestChannelState,
} from '../../src/decision/find-pause.ts'
import { recordChannelState } from '../../src/decision/follow-assignment.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import { assess } from '../../src/decision/target.ts'
import { A, assignedTo, B, crashing, inTrial, snapshot, startsWith, wants } from './snapshots.ts'

const ON_NODE = { on: 'Node', by: 'annotation of Node n1' } as const
const ON_CONFIG_MAP = { on: 'ConfigMap', by: 'annotation of ConfigMap ns/a' } as const
const record = (of: Snapshot) => recordChannelState(assess(of))
const heard = (facts: Partial<ChannelState> = {}): ChannelState => ({ channel: 'label', paused: undefined, problem: undefined, ...facts })
const wanted = (source: typeof A, facts: Partial<ChannelState>): { desired: Desired } => ({
  desired: { ...wants(source).desired, channelState: heard(facts) },
})
const requests = (hold: 'none' | 'paused' | 'local') => ({ requests: { hold, rollback: undefined, retry: false } })
const unavailable = (reason: 'not-found' | 'forbidden', facts: Partial<ChannelState>): Desired => ({
  kind: 'config-map',
  ref: A,
  object: { kind: 'unavailable', reason, detail: '' },
  channelState: heard(facts),
})

t.test('who pauses', async (t) => {
  const paused = wanted(A, { paused: ON_NODE })
  t.equal(findPause(snapshot()), undefined)
  t.same(findPause(snapshot(paused)), { by: 'cluster', on: 'Node', detail: ON_NODE.by })
  t.same(findPause(snapshot({ ...paused, ...requests('paused') })), { by: 'node' }, 'a person on the node first')
  t.equal(findPause(snapshot({ ...paused, ...requests('local') })), undefined, 'whose reset goes before')
  t.same(findNodePause(snapshot(paused)), findPause(snapshot(paused)))
  const ofConfigMap = snapshot(wanted(A, { paused: ON_CONFIG_MAP }))
  t.match(findPause(ofConfigMap), { on: 'ConfigMap' })
  t.equal(findNodePause(ofConfigMap), undefined, 'a pause of the ConfigMap is none of the node')
  t.same(findConfigMapPause(ofConfigMap), findPause(ofConfigMap))
  t.equal(findConfigMapPause(snapshot(paused)), undefined)
  t.equal(describePause({ by: 'node' }), 'paused on the node')
  t.match(describePause({ by: 'cluster', on: 'Node', detail: 'x' }), 'paused by x')
})

t.test('a pause that was written down stands until somebody knows better', async (t) => {
  const desired: Desired = { kind: 'unknown', detail: 'not asked yet' }
  t.match(
    findPause(snapshot({ desired, recordedChannelState: heard({ paused: ON_NODE }) })),
    { by: 'cluster' },
    'after a start without an API server',
  )
  const recorded = heard({ paused: ON_CONFIG_MAP })
  t.same(latestChannelState(unavailable('forbidden', {}), recorded)?.paused, ON_CONFIG_MAP, 'the ConfigMap cannot be asked')
  t.same(latestChannelState({ kind: 'invalid', detail: '', channelState: heard({ problem: 'x' }) }, recorded), {
    ...recorded,
    problem: 'x',
  })
  const unusable: Desired = { kind: 'invalid', detail: '', channelState: heard({ problem: 'the overlay' }), isSeen: true }
  t.equal(latestChannelState(unusable, recorded)?.paused, undefined, 'it says otherwise, and only what this node lays over it is wrong')
  t.equal(latestChannelState(unavailable('not-found', {}), recorded)?.paused, undefined, 'it is gone')
  t.equal(latestChannelState(wanted(A, {}).desired, recorded)?.paused, undefined, 'it says otherwise')
  t.equal(latestChannelState(unavailable('forbidden', {}), heard({ paused: ON_NODE }))?.paused, undefined, 'the Node says otherwise')
  const both = { ...ON_NODE, configMap: ON_CONFIG_MAP.by }
  t.same(latestChannelState(unavailable('forbidden', { paused: ON_NODE }), recorded)?.paused, both, 'the Node pauses, too')
  t.same(latestChannelState(unavailable('forbidden', {}), heard({ paused: both }))?.paused, ON_CONFIG_MAP, 'until it does no more')
})

t.test('while the record is damaged, the cluster may pause this node, until it has been read', async (t) => {
  const damaged = { channelStateDamaged: true }
  const unknown: Desired = { kind: 'unknown', detail: 'not asked yet' }
  t.notOk(isPauseUnknown(snapshot({ desired: unknown })))
  t.ok(isPauseUnknown(snapshot({ ...damaged, desired: unknown })))
  t.notOk(isPauseUnknown(snapshot({ ...damaged, desired: unknown, ...requests('local') })))
  t.ok(isPauseUnknown(snapshot({ ...damaged, desired: unavailable('forbidden', {}) })))
  t.notOk(isPauseUnknown(snapshot({ ...damaged, desired: unavailable('not-found', {}) })))
  t.notOk(isPauseUnknown(snapshot({ ...damaged, ...wanted(A, {}) })))
  t.equal(findPause(snapshot({ ...damaged, desired: unknown })), undefined, 'a kubelet that fails is rolled back')
  t.equal(record(snapshot({ ...damaged, desired: unavailable('forbidden', {}) })), undefined, 'the ConfigMap may pause it')
  t.same(record(snapshot({ ...damaged, ...wanted(A, {}) })), { kind: 'record-channel', channelState: heard() })
  const nothing = { channel: undefined, paused: undefined, problem: undefined }
  t.same(record(snapshot({ ...damaged, desired: { kind: 'local', channelState: nothing } })), {
    kind: 'record-channel',
    channelState: nothing,
  })
})

t.test('what is heard is written down once, and what is not heard is not', async (t) => {
  const known = snapshot({ ...wanted(A, {}), recordedChannelState: heard() })
  t.equal(record(known), undefined)
  for (const facts of [{ channel: 'default' }, { paused: ON_NODE }, { problem: 'a tie' }] as const)
    t.same(record({ ...known, ...wanted(A, facts) }), { kind: 'record-channel', channelState: heard(facts) })
  t.same(record(snapshot(wanted(A, {}))), { kind: 'record-channel', channelState: heard() }, 'at first')
  t.equal(record(snapshot()), undefined)
  t.equal(record(snapshot({ desired: { kind: 'unknown', detail: '', channelState: heard() } })), undefined)
})

t.test('the log says what a pause keeps from happening', async (t) => {
  const before = snapshot(wanted(A, {}))
  const said = effectsOf({ kind: 'record-channel', channelState: heard({ paused: ON_NODE }) }, before)
  t.match(said.at(-1), { message: `paused by ${ON_NODE.by}: nothing is activated, restarted or rolled back until the pause is lifted` })
})

t.test('paused: assigned and judged by nobody, activated by nothing', async (t) => {
  const over = { ...assignedTo(B), recordedChannelState: heard({ paused: ON_NODE }) }
  const step = nextStep(snapshot({ ...wants(B), ...wanted(B, { paused: ON_NODE }), ...over }))
  t.match(step, { kind: 'wait', phase: 'paused', detail: /^paused by annotation of Node n1; wanted is kube-system\/b/ })
  t.match(nextStep(inTrial({ ...wanted(B, { paused: ON_NODE }), ...crashing(B), ...over, ...startsWith(B) })), {
    kind: 'wait',
    phase: 'paused',
  })
  t.match(
    nextStep(inTrial({ ...wanted(B, {}), ...crashing(B), ...startsWith(B), recordedChannelState: heard() })),
    { kind: 'condemn' },
    'as it would be',
  )
})
