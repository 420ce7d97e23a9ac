// SPDX-License-Identifier: Apache-2.0
/** What a node tells the worker of its rollouts of itself. */
import t from 'tap'
import type { NodeTraits, RolloutAnnotations } from '../../src/decision/desired.ts'
import { hashConfig } from '../../src/decision/rollout-hash.ts'
import { describeRolloutSubject } from '../../src/decision/rollout-subject.ts'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { StagedContent, Staging } from '../../src/decision/staging-state.ts'
import { DEFAULT_PLAN } from '../../src/rollout/plan.ts'
import {
  A,
  accepts,
  assignedTo,
  B,
  C,
  contentOf,
  dataOf,
  HOUR_US,
  health,
  judged,
  KUBELET,
  keyOf,
  MINUTE_US,
  NOW_US,
  POLICY,
  restartTo,
  runs,
  runsNothing,
  SECOND_US,
  snapshot,
  startsWith,
  UPGRADED_KUBELET,
  unit,
  verdict,
  wants,
} from './snapshots.ts'

type Facts = Partial<Snapshot>

const HASH = hashConfig(dataOf(B), B.kubeletConfigKey)
const SYSTEMD_IS_SILENT = { unit: { kind: 'unknown', detail: 'systemd does not answer' } } as const

interface Rollout {
  readonly annotations?: RolloutAnnotations | undefined
  readonly traits?: NodeTraits
  readonly staging?: Partial<Staging>
  readonly staged?: Partial<StagedContent>
  /** Contents of before. */
  readonly before?: readonly StagedContent[]
}

/** B is assigned and accepted, and goes by a rollout; A runs. */
function rolledOut({ annotations = { record: 'record', plan: undefined }, traits, staging, staged, before = [] }: Rollout = {}): Facts {
  const { desired } = wants(B)
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') throw new Error('nothing is assigned')
  const contents = [...before, { hash: HASH, content: contentOf(B), ...staged }]
  return {
    ...wants(B),
    desired: { ...desired, object: { ...desired.object, rollout: annotations }, ...(traits && { node: traits }) },
    ...assignedTo(B),
    ...accepts(A, B),
    stagings: [{ config: 'kube-system/b', record: 'record', arrival: 'there', waves: DEFAULT_PLAN.waves, contents, ...staging }],
  }
}

const describe = (facts: Facts, rollout?: Rollout) => describeRolloutSubject(snapshot({ ...rolledOut(rollout), ...facts }))
const nodeOf = (facts: Facts, rollout?: Rollout) => describe(facts, rollout)?.node

t.test('there is a rollout where the content that the cluster has now is the one that was assigned last', async (t) => {
  t.match(describe({}), { config: { name: 'b' }, record: 'record' })
  t.equal(describe({ desired: { kind: 'local' } }), undefined)
  t.equal(describe({ desired: { kind: 'unknown', detail: 'timeout' } }), undefined)
  t.equal(describe({ assigned: { kind: 'damaged', detail: 'cut short' } }), undefined)
  t.equal(describe({ stagings: [] }), undefined, 'it has none')
  t.equal(describe({ desiredContent: contentOf(C) }), undefined, 'an edit that is not assigned yet')
  t.equal(describe({ desiredContent: undefined }), undefined)
})

t.test('what the cluster says of the rollout is handed on', async (t) => {
  const seen = { uid: B.uid, resourceVersion: B.resourceVersion }
  const annotations = { record: 'record', plan: 'waves: [100]' }
  t.strictSame(describe({}, { annotations })?.seen, { ...seen, plan: 'waves: [100]' })
  t.strictSame(describe({}, { annotations: { ...annotations, excluded: 'windows' } })?.seen, {
    ...seen,
    plan: 'waves: [100]',
    excluded: 'windows',
  })
  const { desired } = rolledOut()
  if (desired?.kind !== 'config-map' || desired.object.kind !== 'found') return t.fail('it is assigned')
  const { rollout: _, ...object } = desired.object
  const without = describe({ desired: { ...desired, object } })
  t.equal(without?.record, undefined, 'no annotation says anything any more')
  t.strictSame(without?.seen, { ...seen, plan: undefined })
  t.equal(describe({})?.assignment, 0)
  t.equal(describe({}, { staging: { assignment: 3 } })?.assignment, 3)
})

t.test('what is not known of the Node makes it no canary and no control plane', async (t) => {
  const { uid, canary, controlPlane } = nodeOf({}) ?? {}
  t.strictSame({ uid, canary, controlPlane }, { uid: '', canary: false, controlPlane: false })
  const traits = { uid: 'uid-node', canary: true, controlPlane: true }
  t.match(nodeOf({}, { traits }), traits)
})

t.test('a node that has no usable plan is neither young nor in a zone', async (t) => {
  const traits = {
    uid: 'uid',
    canary: false,
    controlPlane: false,
    createdMs: snapshot().now.wallMs,
    labels: { 'topology.kubernetes.io/zone': 'a' },
  }
  t.match(nodeOf({}, { traits }), { young: true })
  const node = nodeOf({}, { traits, annotations: { record: 'record', plan: 'stages: nonsense' } })
  t.strictSame([node?.young, node?.zone], [undefined, undefined])
  const old = { ...traits, createdMs: snapshot().now.wallMs - 15 * 60_000 }
  t.equal(nodeOf({}, { traits: old })?.young, undefined, 'it is a quarter of an hour old')
})

t.test('what the node keeps of the rollout is handed on', async (t) => {
  t.strictSame([nodeOf({})?.sawUnfinished, 'zones' in (nodeOf({}) ?? {})], [false, false])
  const zones = { label: 'zone', zones: ['a', 'b'] }
  t.match(nodeOf({}, { staging: { sawUnfinished: true, waves: [50, 100], zones } }), { sawUnfinished: true, waves: [50, 100], zones })
})

t.test('a claim lasts for a start and two trials, and for four hours at most', async (t) => {
  t.equal(nodeOf({})?.claimSeconds, 120 + 2 * 600 + 120)
  t.equal(nodeOf({ policy: { ...POLICY, trialUs: 3 * HOUR_US } })?.claimSeconds, 4 * 3600)
})

t.test('other nodes are told of a failure that is confirmed, and of damage that cannot be undone', async (t) => {
  const told = (facts: Facts) => nodeOf(facts)?.verdict !== undefined
  t.equal(told({}), false)
  t.equal(told(judged(verdict(B, 'confirmed'))), true)
  t.equal(told(judged(verdict(B, 'provisional', { damage: 'one-way' }))), true)
  t.equal(told(judged(verdict(B, 'provisional', { damage: 'transient' }))), false, 'the node itself may be at fault')
  t.equal(told(judged(verdict(B, 'refused'))), false, 'kubelet never ran it')
  const harmful = judged(verdict(B, 'confirmed', { damage: 'one-way' }))
  t.equal(told({ ...harmful, ...SYSTEMD_IS_SILENT }), false, 'nothing is told while the unit cannot be read')
})

t.test('what kubelet runs, and has proved', async (t) => {
  const onB: Facts = { ...startsWith(B), ...runs(B), health: health(B) }
  const proved = { staged: { proved: true } }
  const is = (facts: Facts, rollout?: Rollout) => {
    const { runs, proven } = nodeOf(facts, rollout) ?? {}
    return { runs, proven }
  }
  t.strictSame(is({}), { runs: false, proven: false })
  t.strictSame(is(onB), { runs: true, proven: false })
  t.strictSame(is({ ...onB, proven: keyOf(B) }), { runs: true, proven: false }, 'the evidence was not known')
  t.strictSame(is({ ...onB, proven: keyOf(B) }, proved), { runs: true, proven: true })
  t.strictSame(is({ ...onB, proven: keyOf(B, UPGRADED_KUBELET) }, proved), { runs: true, proven: false }, 'on another kubelet')
  t.strictSame(is({ ...onB, ...runsNothing('auto-restart'), proven: keyOf(B) }, proved), { runs: false, proven: false }, 'nothing runs')
  const overlaid = { ...proved, before: [{ hash: HASH, content: contentOf(A) }] }
  t.strictSame(is({}, overlaid), { runs: true, proven: false }, 'with another overlay')
  const hidden = { ...proved, before: [{ hash: 'of an earlier text', content: contentOf(B) }] }
  t.strictSame(is({ ...onB, proven: keyOf(B) }, hidden), { runs: true, proven: true }, 'an overlay hides what the cluster has edited')
  t.strictSame(is({ proven: keyOf(A) }, proved), { runs: false, proven: false }, 'something else has')
})

t.test('what was last-known-good on this kubelet', async (t) => {
  const promoted = (facts: Facts, staged: Partial<StagedContent>) => nodeOf(facts, { staged })?.promoted
  t.equal(promoted({}, { promoted: true, promotedOn: KUBELET }), true)
  t.equal(promoted({}, { promotedOn: KUBELET }), false)
  t.equal(promoted({}, { promoted: true, promotedOn: UPGRADED_KUBELET }), false)
  t.equal(promoted(SYSTEMD_IS_SILENT, { promoted: true }), false, 'the kubelet is not known')
})

t.test('evidence is not read while the unit cannot be', async (t) => {
  t.strictSame(nodeOf(SYSTEMD_IS_SILENT)?.evidence, { kind: 'unread' })
  t.strictSame(nodeOf(runsNothing('failed'))?.evidence, { kind: 'readable' })
})

t.test('whether nothing but its turn keeps a node from starting the content', async (t) => {
  const ready = (facts: Facts) => nodeOf(facts)?.ready
  const blocked = (why: string) => ({ ok: false, detail: `kubelet cannot be restarted with kube-system/b:kubelet@1 now: ${why}` })
  t.strictSame(ready({}), { ok: true })
  t.strictSame(ready({ accepted: new Map() }), { ok: false, detail: 'the agent is still preparing this content (preflight)' })
  t.strictSame(ready({ unit: unit({ activity: 'starting', process: { kind: 'none' } }), running: { kind: 'none' } }), { ok: true })
  const restarts = Array.from({ length: POLICY.restartsPerHour }, () => restartTo(A, { atUs: NOW_US - 5 * MINUTE_US }))
  t.strictSame(ready({ restarts }), blocked('the limit of restarts per hour is reached'))
  t.strictSame(
    ready({ runtimeUp: false, health: health(A, { runtimeDownSinceUs: NOW_US - SECOND_US }) }),
    blocked('the container runtime does not answer'),
  )
  t.strictSame(ready({ ...runsNothing('auto-restart'), health: health(B) }), blocked('kubelet needs no restart'))
  const inVain = [restartTo(B, { invocationBefore: 'invocation-0', atUs: NOW_US - MINUTE_US })]
  const { running, unit: known } = runs(A, { startedAgoUs: 30 * SECOND_US })
  t.strictSame(
    ready({ unit: known, running, restarts: inVain, health: health(B) } as Facts),
    blocked('kubelet was restarted and still runs another config'),
  )
})
