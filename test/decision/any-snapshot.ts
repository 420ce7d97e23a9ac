// SPDX-License-Identifier: Apache-2.0
/**
 * Snapshots of every shape, sensible or not: whatever can be read must be decided on. And what a
 * step does to one, for chains of steps.
 */
import fc from 'fast-check'
import { carryOut } from '../../src/decision/carry-out.ts'
import type { Desired } from '../../src/decision/desired.ts'
import type { RecordState, RestartRecord } from '../../src/decision/records.ts'
import type { NextStart, Snapshot, Trouble } from '../../src/decision/snapshot.ts'
import type { Action } from '../../src/decision/step.ts'
import type { Verdict } from '../../src/decision/verdict.ts'
import { type HealthRecord, recordSample } from '../../src/health/fold.ts'
import type { Running } from '../../src/health/sample.ts'
import { type ConfigSource, type HeldSource, sameSource } from '../../src/subject/config-source.ts'
import { trialKey } from '../../src/subject/trial-key.ts'
import type { UnitActivity, UnitState, Wiring } from '../../src/subject/unit-state.ts'
import {
  A,
  A_EDITED,
  B,
  BOOT,
  C,
  contentOf,
  HOUR_US,
  hold,
  KUBELET,
  lost,
  NOW_US,
  POLICY,
  READY,
  SECOND_US,
  snapshot,
  UPGRADED_KUBELET,
  unit,
  verdict,
  wants,
} from './snapshots.ts'

const CONFIG_MAPS = [A, A_EDITED, B, C]
const STEP_KINDS = [
  'assign',
  'preflight',
  'activate',
  'restart',
  'prove',
  'promote',
  'prune',
  'condemn',
  'confirm',
  'reset-to-local',
] as const

const source = fc.constantFrom<ConfigSource>('local', ...CONFIG_MAPS)
const ago = fc.oneof(fc.integer({ min: 0, max: 5 * 60e6 }), fc.integer({ min: 0, max: 3 * HOUR_US }))
const kubelet = fc.constantFrom(KUBELET, KUBELET, KUBELET, UPGRADED_KUBELET)
const invocation = fc.constantFrom('i-1', 'i-2')
/** A_EDITED may be A with other metadata. */
const sameBytes = fc.boolean()

const desired: fc.Arbitrary<Desired> = fc.oneof(
  fc.constant<Desired>({ kind: 'unknown', detail: 'api away' }),
  fc.constant<Desired>({ kind: 'invalid', detail: 'no subfield' }),
  source.map((wanted) => wants(wanted).desired),
  fc.constantFrom(...CONFIG_MAPS).map(({ uid: _uid, resourceVersion: _version, ...ref }): Desired => {
    return { kind: 'config-map', ref, object: { kind: 'unavailable', reason: 'not-found', detail: '' } }
  }),
)

const wiring: fc.Arbitrary<Wiring> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Wiring>(READY) },
  fc
    .constantFrom('drop-in-missing' as const, 'daemon-reload-needed' as const, 'overridden' as const, 'dynamic-config-dir' as const)
    .map((reason): Wiring => ({ kind: 'broken', reason, detail: reason })),
)

const activity = fc.oneof(
  { weight: 3, arbitrary: fc.constant<UnitActivity>('running') },
  fc.constantFrom<UnitActivity>('starting', 'auto-restart', 'stopped', 'failed', 'stopping', 'not-found'),
)

const health = fc.record({
  subject: source,
  kubelet,
  started: fc.boolean(),
  wasHealthy: fc.boolean(),
  everHealthy: fc.boolean(),
  invocationId: invocation,
  state: fc.constantFrom('healthy', 'ill', 'neither'),
  sinceAgo: ago,
  subjectAgo: ago,
  lastAgo: fc.constantFrom(0, 0, 0, 30 * SECOND_US, HOUR_US),
  exits: fc.nat(5),
  lastProcess: fc.option(source),
  bootId: fc.constantFrom(BOOT, BOOT, 'boot-0'),
})

const facts = fc.record({
  desired,
  sameBytes,
  assigned: fc.oneof({ weight: 5, arbitrary: source }, fc.constant('damaged' as const)),
  lastKnownGood: source,
  previous: source,
  next: fc.oneof({ weight: 5, arbitrary: source }, fc.constant('unknown' as const)),
  process: fc.oneof({ weight: 4, arbitrary: source }, fc.constantFrom('none' as const, 'unknown' as const, 'other' as const)),
  lostVersions: fc.subarray(CONFIG_MAPS, { maxLength: 2 }),
  /** The content on disk under the desired version: its own, none, or another's. */
  stored: fc.oneof({ weight: 4, arbitrary: fc.constant('own' as const) }, fc.constant('none' as const), fc.constantFrom(...CONFIG_MAPS)),
  proven: fc.option(fc.tuple(source, kubelet)),
  /** Minutes ago. */
  trialBoots: fc.option(fc.tuple(source, fc.array(fc.nat(90), { maxLength: 5 }))),
  verdicts: fc.array(fc.tuple(source, kubelet, fc.constantFrom<Verdict['state']>('refused', 'provisional', 'confirmed')), { maxLength: 5 }),
  accepted: fc.subarray(CONFIG_MAPS),
  pending: fc.subarray(CONFIG_MAPS),
  drain: fc.constantFrom<readonly string[]>([], [], ['cgroupDriver']),
  drained: fc.constantFrom(undefined, false, true),
  basis: fc.constantFrom(undefined, 'now'),
  unitKnown: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.constant(false)),
  activity,
  wiring,
  kubelet,
  startedAs: kubelet,
  startedAgo: ago,
  invocationId: invocation,
  nRestarts: fc.nat(5),
  health: fc.option(health),
  runtimeUp: fc.constantFrom(undefined, undefined, true, false),
  restarts: fc.array(
    fc.record({
      target: source,
      agoUs: ago,
      fallback: fc.boolean(),
      failed: fc.boolean(),
      before: invocation,
      ok: fc.constantFrom(undefined, true, false),
    }),
    { maxLength: 8 },
  ),
  spread: fc.option(fc.tuple(fc.constantFrom(...CONFIG_MAPS), ago)),
  hold: fc.constantFrom('none' as const, 'none' as const, 'none' as const, 'paused' as const, 'local' as const),
  rollback: fc.option(source),
  retry: fc.constantFrom(false, false, false, true),
  oldCheckpoints: fc.nat(3),
  trouble: fc.option(fc.tuple(fc.constantFrom(...STEP_KINDS), fc.integer({ min: -60e6, max: 60e6 }))),
})

type Facts = typeof facts extends fc.Arbitrary<infer T> ? T : never

export const anySnapshot: fc.Arbitrary<Snapshot> = facts.map(buildSnapshot)

function buildSnapshot(of: Facts): Snapshot {
  const bytesOf = (one: ConfigSource) => (of.sameBytes && one === A_EDITED ? contentOf(A) : contentOf(one))
  const wanted =
    of.desired.kind === 'config-map' && of.desired.object.kind === 'found' ? { ...of.desired.ref, ...of.desired.object } : undefined
  const wantedSource = wanted && (CONFIG_MAPS.find((one) => sameSource(one, wanted)) ?? B)
  const held = (one: ConfigSource): HeldSource => {
    if (one === 'local') return hold(one)
    const disk = one === wantedSource ? of.stored : 'own'
    if (disk === 'none' || of.lostVersions.includes(one)) return lost(one)
    return hold(one, bytesOf(disk === 'own' ? one : disk))
  }
  const assigned: RecordState = of.assigned === 'damaged' ? { kind: 'damaged', detail: '' } : { kind: 'source', source: of.assigned }
  const nextStart: NextStart = of.next === 'unknown' ? { kind: 'unknown', detail: '' } : { kind: 'known', held: held(of.next) }
  const verdicts = of.verdicts.map(([one, on, state]) => verdict(one, state, { key: trialKey(bytesOf(one), on) }))
  const unitState = buildUnit(of)
  return snapshot({
    desired: of.desired,
    desiredContent: wantedSource && bytesOf(wantedSource),
    storedContent: wantedSource && held(wantedSource).content,
    requests: {
      hold: of.hold,
      rollback: of.rollback === null ? undefined : { content: bytesOf(of.rollback) },
      retry: of.retry,
    },
    assigned,
    assignedContent: of.assigned === 'damaged' ? undefined : held(of.assigned).content,
    lastKnownGood: held(of.lastKnownGood),
    previous: held(of.previous),
    proven: of.proven === null ? undefined : trialKey(bytesOf(of.proven[0]), of.proven[1]),
    trialBoots: of.trialBoots === null ? undefined : buildTrialBoots(of.trialBoots, bytesOf),
    verdicts: new Map(verdicts.map((each) => [each.key, each])),
    accepted: new Map(of.accepted.map((one) => [trialKey(bytesOf(one), of.kubelet), { drain: of.drain, basis: of.basis }])),
    preflightPending: new Set(of.pending.map((one) => trialKey(bytesOf(one), of.kubelet))),
    basis: of.basis,
    drained: of.drained,
    unit: unitState,
    nextStart,
    running: buildRunning(of, bytesOf),
    health: of.health === null ? undefined : buildHealth(of.health, bytesOf, of.nRestarts),
    runtimeUp: of.runtimeUp,
    restarts: of.restarts.map((one): RestartRecord => {
      const outcome = one.ok === undefined ? undefined : { ok: one.ok, detail: '' }
      const { fallback, failed } = one
      const target = trialKey(bytesOf(one.target), of.kubelet)
      return { bootId: BOOT, atUs: NOW_US - one.agoUs, target, fallback, failed, invocationBefore: one.before, outcome }
    }),
    spread: of.spread === null ? undefined : { bootId: BOOT, source: of.spread[0], sinceUs: NOW_US - of.spread[1] },
    checkpoints: Array.from({ length: of.oldCheckpoints }, (_, index) => ({
      uid: 'old',
      resourceVersion: String(index),
      savedAtMs: index,
    })),
    policy: { ...POLICY, keepCheckpoints: 1 },
    troubles: of.trouble === null ? [] : [buildTrouble(of.trouble)],
  })
}

function buildTrialBoots(
  [one, minutesAgo]: NonNullable<Facts['trialBoots']>,
  bytesOf: (one: ConfigSource) => string,
): NonNullable<Snapshot['trialBoots']> {
  const { wallMs } = snapshot().now
  const boots = minutesAgo.map((minutes) => ({ bootId: minutes === 0 ? BOOT : `boot-${minutes}-ago`, atWallMs: wallMs - minutes * 60e3 }))
  return { content: bytesOf(one), boots }
}

function buildTrouble([step, inUs]: readonly [Trouble['step'], number]): Trouble {
  return { step, about: '', detail: 'no space left on device', retryAtUs: NOW_US + inUs }
}

function buildUnit(of: Facts): UnitState {
  if (!of.unitKnown) return { kind: 'unknown', detail: 'systemctl failed' }
  const { activity: is, wiring: how, invocationId, nRestarts } = of
  return unit({
    activity: is,
    summary: is,
    wiring: how,
    invocationId,
    nRestarts,
    kubeletIdentity: of.kubelet,
    startedAtUs: NOW_US - of.startedAgo,
  })
}

function buildRunning(of: Facts, bytesOf: (one: ConfigSource) => string): Running {
  if (!of.unitKnown || of.process === 'unknown') return { kind: 'unknown', detail: '' }
  if (of.process === 'none' || of.activity !== 'running') return { kind: 'none' }
  const content = of.process === 'other' ? 'other:/etc/kubelet.yaml' : bytesOf(of.process)
  return {
    kind: 'known',
    content,
    key: trialKey(content, of.startedAs),
    startedAtUs: NOW_US - of.startedAgo,
    invocationId: of.invocationId,
  }
}

function buildHealth(of: NonNullable<Facts['health']>, bytesOf: (one: ConfigSource) => string, nRestarts: number): HealthRecord {
  const sinceUs = NOW_US - of.sinceAgo
  const { lastProcess, started, wasHealthy, everHealthy, invocationId, exits, bootId } = of
  return {
    bootId,
    subject: trialKey(bytesOf(of.subject), of.kubelet),
    subjectSinceUs: NOW_US - of.subjectAgo,
    starts: 1 + exits,
    started,
    invocationId,
    wasHealthy,
    everHealthy,
    healthySinceUs: of.state === 'healthy' ? sinceUs : undefined,
    unhealthySinceUs: of.state === 'ill' ? sinceUs : undefined,
    lastSampleUs: NOW_US - of.lastAgo,
    exits,
    lastNRestarts: nRestarts,
    lastProcess: lastProcess === null ? undefined : { invocationId, content: bytesOf(lastProcess), kubeletIdentity: KUBELET },
    lastDetail: 'active (running)',
    excused: false,
  }
}

/** The next look after the step was carried out, kubelet and time standing still. */
export function look(before: Snapshot, step: Action, refuses: (key: string) => boolean): Snapshot {
  return fold(
    carryOut(before, step, {
      preflight: ({ key }, { basis, now }) => ({
        result: refuses(key) ? { kind: 'refused', reason: 'validate', detail: 'refused' } : { kind: 'accepted', remarks: [], drain: [] },
        basis,
        at: now,
      }),
      restart: (after) => ({ outcome: { ok: true }, after }),
    }),
  )
}

function fold(seen: Snapshot): Snapshot {
  const { unit: is, nextStart, running, health: before, runtimeUp, now, policy } = seen
  if (is.kind === 'unknown' || nextStart.kind === 'unknown' || nextStart.held.content === undefined) return seen
  const subject = trialKey(nextStart.held.content, is.kubeletIdentity)
  return { ...seen, health: recordSample(before, { at: now, unit: is, running, healthz: undefined, runtimeUp }, subject, policy) }
}
