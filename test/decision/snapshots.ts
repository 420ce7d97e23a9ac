// SPDX-License-Identifier: Apache-2.0
/**
 * Snapshots to decide on: by default a node that is settled on config A, and small pieces that
 * change one fact each, to be spread over it. `snapshot({ ...wants(B) })` is that node when its
 * assignment has just become B.
 */

import type { Desired } from '../../src/decision/desired.ts'
import type { RestartRecord, TrialBoots } from '../../src/decision/records.ts'
import { nextStep } from '../../src/decision/rules.ts'
import type { Policy, Snapshot } from '../../src/decision/snapshot.ts'
import type { Step } from '../../src/decision/step.ts'
import type { Verdict } from '../../src/decision/verdict.ts'
import { ALL_REQUIRED } from '../../src/evidence/kinds.ts'
import type { HealthRecord } from '../../src/health/fold.ts'
import type { ConfigMapData, ConfigMapSource, ConfigSource, ContentHash, HeldSource } from '../../src/subject/config-source.ts'
import { type TrialKey, trialKey } from '../../src/subject/trial-key.ts'
import type { KnownUnit } from '../../src/subject/unit-state.ts'
import { envWiring } from '../../src/systemd/wiring-kinds.ts'

export const SECOND_US = 1e6
export const MINUTE_US = 60e6
export const HOUR_US = 3600e6
export const NOW_US = 100 * HOUR_US
export const BOOT = 'boot-1'
export const KUBELET = 'kubelet-v1'
export const UPGRADED_KUBELET = 'kubelet-v2'
export const INVOCATION = 'invocation-1'

export const POLICY: Policy = {
  trialUs: 10 * MINUTE_US,
  startDeadlineUs: 2 * MINUTE_US,
  toleranceUs: MINUTE_US,
  crashLimit: 3,
  spreadUs: 2 * MINUTE_US,
  restartsPerHour: 6,
  whenRefused: 'stay',
  keepCheckpoints: 10,
  evidence: ALL_REQUIRED,
}

export const READY = envWiring('/var/lib/kubelet-cfg-agent/kubelet.env', '--config=/var/lib/kubelet/config.yaml')

export function configMap(name: string, resourceVersion = '1'): ConfigMapSource {
  return { namespace: 'kube-system', name, kubeletConfigKey: 'kubelet', uid: `uid-${name}`, resourceVersion }
}

export const A = configMap('a')
export const B = configMap('b')
export const C = configMap('c')
export const GOOD = configMap('good')
/** A edited in place. */
export const A_EDITED = configMap('a', '2')

/** The text of its config. */
export function textOf(source: ConfigMapSource): string {
  return `${source.name}@${source.resourceVersion}`
}

export function dataOf(source: ConfigMapSource): ConfigMapData {
  return { kubelet: textOf(source) }
}

export function contentOf(source: ConfigSource): ContentHash {
  return source === 'local' ? 'local' : `content-${textOf(source)}`
}

export function keyOf(source: ConfigSource, kubelet = KUBELET): TrialKey {
  return trialKey(contentOf(source), kubelet)
}

export function hold(source: ConfigSource, content: ContentHash | undefined = contentOf(source)): HeldSource {
  return { source, content }
}

/** A checkpoint that is gone or damaged. */
export function lost(source: ConfigMapSource): HeldSource {
  return { source, content: undefined }
}

type Piece = Partial<Snapshot>

/** The assignment that the cluster wants, its object found. */
export function wants(source: ConfigSource, content: ContentHash = contentOf(source)): Piece & { desired: Desired } {
  if (source === 'local') return { desired: { kind: 'local' }, desiredContent: undefined, storedContent: undefined }
  const { uid, resourceVersion, ...ref } = source
  const object = { kind: 'found', uid, resourceVersion, data: dataOf(source) } as const
  return { desired: { kind: 'config-map', ref, object }, desiredContent: content, storedContent: contentOf(source) }
}

export function assignedTo(source: ConfigSource, content: ContentHash | undefined = contentOf(source)): Piece {
  return { assigned: { kind: 'source', source }, assignedContent: content }
}

export function startsWith(source: ConfigSource, content: ContentHash | undefined = contentOf(source)): Piece {
  return { nextStart: { kind: 'known', held: { source, content } } }
}

function versionOf({ uid, resourceVersion, overlay }: ConfigMapSource) {
  return { uid, resourceVersion, ...(overlay !== undefined && { overlay }) }
}

interface ProcessFacts {
  readonly startedAgoUs?: number
  readonly invocationId?: string
  /** The kubelet it was started as. */
  readonly kubelet?: string
}

export function runs(source: ConfigSource, facts: ProcessFacts & { unit?: Partial<KnownUnit> } = {}): Piece {
  const startedAtUs = NOW_US - (facts.startedAgoUs ?? HOUR_US)
  const invocationId = facts.invocationId ?? INVOCATION
  const process: KnownUnit['process'] =
    source === 'local'
      ? { kind: 'other', pid: 100, configPath: '/var/lib/kubelet/config.yaml' }
      : { kind: 'checkpoint', pid: 100, ...versionOf(source), key: source.kubeletConfigKey }
  return {
    unit: unit({ invocationId, startedAtUs, process, ...facts.unit }),
    running: { kind: 'known', content: contentOf(source), key: keyOf(source, facts.kubelet), startedAtUs, invocationId },
  }
}

/** No kubelet process; what the unit does instead. */
export function runsNothing(activity: KnownUnit['activity'], facts: Partial<KnownUnit> = {}): Piece {
  return { unit: unit({ activity, summary: activity, process: { kind: 'none' }, ...facts }), running: { kind: 'none' } }
}

export function unit(facts: Partial<KnownUnit> = {}): KnownUnit {
  return {
    kind: 'known',
    activity: 'running',
    summary: 'active (running)',
    invocationId: INVOCATION,
    nRestarts: 0,
    startedAtUs: NOW_US - HOUR_US,
    kubeletIdentity: KUBELET,
    process: { kind: 'none' },
    localConfigPath: '/var/lib/kubelet/config.yaml',
    runtimeEndpoint: undefined,
    healthzFlags: {},
    command: undefined,
    wiring: READY,
    ...facts,
  }
}

/** Healthy for an hour, unless said otherwise. */
export function health(source: ConfigSource, facts: Partial<HealthRecord> = {}): HealthRecord {
  return {
    bootId: BOOT,
    subject: keyOf(source),
    subjectSinceUs: NOW_US - HOUR_US,
    starts: 1,
    started: true,
    invocationId: INVOCATION,
    wasHealthy: true,
    everHealthy: true,
    healthySinceUs: NOW_US - HOUR_US,
    unhealthySinceUs: undefined,
    lastSampleUs: NOW_US,
    excused: false,
    exits: 0,
    lastNRestarts: 0,
    lastProcess: { invocationId: INVOCATION, content: contentOf(source), kubeletIdentity: KUBELET },
    lastDetail: 'active (running), healthz ok',
    ...facts,
  }
}

export function verdict(source: ConfigSource, state: Verdict['state'], facts: Partial<Verdict> = {}): Verdict {
  const reason = state === 'refused' ? 'validate' : 'crash-loop'
  return { key: keyOf(source), state, reason, detail: 'said in a test', source, atWallMs: 0, ...facts }
}

export function judged(...verdicts: readonly Verdict[]): Piece {
  return { verdicts: new Map(verdicts.map((each) => [each.key, each])) }
}

export function accepts(...sources: readonly ConfigSource[]): Piece {
  return { accepted: new Map(sources.map((source) => [keyOf(source), { drain: [] }])) }
}

export function restartTo(source: ConfigSource, facts: Partial<RestartRecord> = {}): RestartRecord {
  return {
    bootId: BOOT,
    atUs: NOW_US - MINUTE_US,
    target: keyOf(source),
    fallback: false,
    invocationBefore: 'invocation-0',
    failed: false,
    outcome: { ok: true, detail: '' },
    ...facts,
  }
}

/** A crash loop between two automatic restarts: the exit just seen reached the limit. */
export function crashing(source: ConfigSource, facts: Partial<HealthRecord> = {}): Piece {
  const sick = { wasHealthy: false, healthySinceUs: undefined, unhealthySinceUs: NOW_US - 30 * SECOND_US, exits: POLICY.crashLimit }
  return { ...runsNothing('auto-restart', { nRestarts: 2 }), health: health(source, { ...sick, lastNRestarts: 2, ...facts }) }
}

/** A node settled on A, which is assigned and last-known-good; before A it was local. */
export function snapshot(facts: Piece = {}): Snapshot {
  const built: Snapshot = {
    now: { bootId: BOOT, monotonicUs: NOW_US, wallMs: 1_700_000_000_000 },
    nodeName: 'node-1',
    policy: POLICY,
    desired: wants(A).desired,
    desiredContent: contentOf(A),
    storedUnrendered: undefined,
    storedContent: contentOf(A),
    requests: { hold: 'none', rollback: undefined, retry: false },
    recordedChannelState: undefined,
    stagings: [],
    assigned: { kind: 'source', source: A },
    assignedContent: contentOf(A),
    lastKnownGood: hold(A),
    previous: hold('local'),
    proven: keyOf(A),
    verdicts: new Map(),
    suspendedVerdicts: new Map(),
    accepted: new Map([[keyOf(A), { drain: [] }]]),
    preflightPending: new Set(),
    basis: undefined,
    drained: undefined,
    unit: unit(),
    nextStart: { kind: 'known', held: hold(A) },
    running: { kind: 'none' },
    runtimeUp: undefined,
    restarts: [],
    spread: undefined,
    checkpoints: [],
    troubles: [],
    ...runs(A),
    health: health(A),
    healthz: { ok: true, detail: 'ok' },
    evidence: undefined,
    ...facts,
  }
  return { ...built, trialBoots: 'trialBoots' in facts ? facts.trialBoots : noteBoot(built) }
}

/** The records where A was promoted. */
export const A_IS_KEPT = { lastKnownGood: hold(A), previous: hold('local') } as const

/** If something is on trial in this boot, that has been written down. See trial-boots.test.ts. */
function noteBoot({ nextStart, now }: Snapshot): TrialBoots | undefined {
  if (nextStart.kind !== 'known' || nextStart.held.content === undefined || nextStart.held.source === 'local') return undefined
  return { content: nextStart.held.content, boots: [{ bootId: now.bootId, atWallMs: now.wallMs }] }
}

/** B assigned, activated and running for five minutes of its trial; A is what to fall back to. */
export function inTrial(facts: Piece = {}): Snapshot {
  return snapshot({
    ...wants(B),
    ...assignedTo(B),
    ...startsWith(B),
    ...accepts(A, B),
    ...runs(B, { startedAgoUs: 5 * MINUTE_US }),
    health: health(B, { healthySinceUs: NOW_US - 5 * MINUTE_US, subjectSinceUs: NOW_US - 6 * MINUTE_US }),
    restarts: [restartTo(B, { atUs: NOW_US - 5 * MINUTE_US })],
    ...facts,
  })
}

/** B failed; A, last-known-good, runs in its place and is healthy for longer than the tolerance. */
export function fallenBack(facts: Piece = {}): Snapshot {
  return snapshot({
    ...wants(B),
    ...assignedTo(B),
    ...accepts(A, B),
    ...judged(verdict(B, 'confirmed')),
    restarts: [restartTo(A, { fallback: true, atUs: NOW_US - HOUR_US })],
    ...facts,
  })
}

/** A node on which nothing was ever assigned. */
export const LOCAL_EVERYWHERE = {
  ...assignedTo('local'),
  lastKnownGood: hold('local'),
  previous: hold('local'),
  proven: undefined,
  ...startsWith('local'),
  ...runs('local'),
  health: health('local'),
}

/** B assigned and accepted; A still runs. */
export const READY_FOR_B = { ...wants(B), ...assignedTo(B), ...accepts(A, B) }

/** The step that the agent decides on for a settled node that differs by `facts`. */
export function decide(facts: Partial<Snapshot> = {}): Step {
  return nextStep(snapshot(facts))
}
