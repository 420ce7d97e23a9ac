// SPDX-License-Identifier: Apache-2.0
/**
 * The content of the files in `fixtures/0.1.0/`, which are frozen: the agent of that version wrote
 * them. Every field is there that it could write.
 */

import type { ChannelState } from '../../src/decision/desired.ts'
import type { PutValue } from '../../src/decision/record-table.ts'
import type { RestartRecord, SpreadRecord, Transition, TrialBoots } from '../../src/decision/records.ts'
import type { RolloutKnowledge, Staging } from '../../src/decision/staging-state.ts'
import type { Verdict } from '../../src/decision/verdict.ts'
import type { EvidenceRecord, KeptBaseline } from '../../src/evidence/kinds.ts'
import type { HealthRecord } from '../../src/health/fold.ts'
import type { ConfigMapSource } from '../../src/subject/config-source.ts'

export const SOURCE: ConfigMapSource = {
  namespace: 'kube-system',
  name: 'fleet',
  kubeletConfigKey: 'kubelet',
  uid: '5274a9bd-cda5-4a6b-a8f2-7f1d4b3c1a90',
  resourceVersion: '212',
}
export const OVERLAID: ConfigMapSource = { ...SOURCE, resourceVersion: '240', overlay: '0123456789abcdef' }
const HASH = 'ab'.repeat(32)
const OTHER_HASH = 'cd'.repeat(32)
const KUBELET = '77aa'
const KEY = `${HASH}@${KUBELET}`
const BOOT = '6c8a1d8e-0b5c-4f5e-9d0c-3f1f0c2b7a11'

export const PROVEN = KEY

export const BOOTS: TrialBoots = {
  content: HASH,
  boots: [
    { bootId: BOOT, atWallMs: 1_700_000_000_000, paused: true },
    { bootId: 'b2', atWallMs: 1_700_000_100_000 },
  ],
}

export const HEARD: ChannelState = {
  channel: 'selector',
  paused: { on: 'ConfigMap', by: 'annotation of ConfigMap kube-system/fleet' },
  problem: 'two ConfigMaps select this Node',
  nodeHash: HASH,
  layers: ['/etc/kubernetes/kubelet.yaml', 'ConfigMap kube-system/fleet:kubelet'],
  fields: [
    { path: ['evictionHard', 'memory.available'], layer: 'ConfigMap kube-system/fleet:kubelet' },
    { path: ['maxPods'], layer: 'overlay', removed: true },
  ],
}

export const ROLLOUTS: readonly Staging[] = [
  {
    config: 'kube-system/fleet',
    record: 'fleet-rollout',
    arrival: 'switched',
    assignment: 2,
    sawUnfinished: true,
    waves: [1, 10, 100],
    contents: [
      {
        hash: OTHER_HASH,
        content: HASH,
        retry: 1,
        proved: true,
        promoted: true,
        promotedOn: KUBELET,
        failed: 'late',
        started: true,
        requested: true,
        ownEdit: false,
      },
      { hash: HASH, content: OTHER_HASH },
    ],
  },
  {
    config: 'kube-system/other',
    record: 'other-rollout',
    arrival: 'there',
    contents: [{ hash: HASH, content: HASH, failed: 'in-rollout' }],
  },
  { config: 'kube-system/third', record: 'third-rollout', arrival: 'joined', contents: [] },
]

const VERDICT = { source: SOURCE, atWallMs: 1_700_000_000_000, detail: 'kubelet exited 3 times' } as const

export const VERDICTS: readonly Verdict[] = [
  {
    ...VERDICT,
    key: KEY,
    state: 'provisional',
    reason: 'crash-loop',
    bootId: BOOT,
    damage: 'transient',
    doubtful: true,
    retrials: 2,
    acquitted: true,
    leavesState: true,
    yielded: true,
    suspended: true,
  },
  { ...VERDICT, key: 'k2@1', state: 'confirmed', reason: 'evidence', evidence: 'static-pods', damage: 'one-way', source: OVERLAID },
  { ...VERDICT, key: 'k3@1', state: 'refused', reason: 'validate', basis: 'settings' },
  { ...VERDICT, key: 'k4@1', state: 'refused', reason: 'load' },
  { ...VERDICT, key: 'k5@1', state: 'provisional', reason: 'start-deadline' },
  { ...VERDICT, key: 'k6@1', state: 'provisional', reason: 'ill-health', source: 'local' },
  { ...VERDICT, key: 'k7@1', state: 'provisional', reason: 'reboots' },
  { ...VERDICT, key: 'k8@1', state: 'confirmed', reason: 'requested' },
]

export const SAME = { content: OTHER_HASH, same: HASH }
export const CLUSTER = { nodeName: 'node-1', caHashes: [HASH, OTHER_HASH], machineHash: HASH }
export const WARNINGS = { key: KEY, warnings: ['maxPods: 500 is more than was tested'] }

export const HEALTH: HealthRecord = {
  bootId: BOOT,
  subject: KEY,
  subjectSinceUs: 1,
  starts: 3,
  started: true,
  startedSinceUs: 2,
  invocationId: 'i1',
  wasHealthy: true,
  everHealthy: true,
  healthySinceUs: 3,
  unhealthySinceUs: 4,
  lastSampleUs: 5,
  excused: true,
  beganExcused: true,
  runtimeDownSinceUs: 6,
  exits: 1,
  pausedExits: 2,
  excusedExits: { count: 1, sinceUs: 7 },
  lastNRestarts: 8,
  firstNRestarts: 9,
  lastProcess: {
    invocationId: 'i1',
    content: HASH,
    kubeletIdentity: KUBELET,
    source: OVERLAID,
    healthPort: { host: '127.0.0.1', port: 10248 },
  },
  process: {
    key: KEY,
    invocationId: 'i1',
    startedAtUs: 10,
    wasHealthy: true,
    healthySinceUs: 11,
    unhealthySinceUs: 12,
    exits: 1,
  },
  recentExits: [
    { key: KEY, invocationId: 'i0', startedAtUs: 13, atUs: 14, words: 'failed to load kubelet config file' },
    { key: KEY, invocationId: 'i1', atUs: 15 },
  ],
  restartedFrom: 'i0',
  restartDueUntilUs: 16,
  startedByOthers: true,
  triedAgainUs: 17,
  lastDetail: 'connection refused',
}

export const RESTARTS: readonly RestartRecord[] = [
  {
    bootId: BOOT,
    atUs: 1,
    target: KEY,
    fallback: false,
    exempt: true,
    invocationBefore: 'i0',
    failed: true,
    outcome: { ok: false, detail: 'timed out' },
  },
  { bootId: BOOT, atUs: 2, target: 'k2@1', fallback: true, invocationBefore: 'i1', failed: false, outcome: undefined },
]

export const SPREAD: SpreadRecord = { bootId: BOOT, source: SOURCE, sinceUs: 5 }

const MANIFEST = { path: '/etc/kubernetes/manifests/etcd.yaml', digest: HASH }
const SERVING = { status: 401, user: 'system:node:node-1' }
const STATIC_POD = { hash: HASH, name: 'kube-system/etcd-node-1', manifest: { ...MANIFEST, isNewer: true, others: [MANIFEST] } }

const BASELINE = {
  candidate: KEY,
  invocationId: 'i0',
  sinceUs: 1,
  awaitedSinceUs: 2,
  kubelet: KUBELET,
  answered: ['lease', 'node'],
  unread: [{ question: 'pods', kind: 'forbidden', detail: 'pods is forbidden', atUs: 3 }],
  ready: 'True',
  reportedAtMs: 4,
  pressure: ['DiskPressure'],
  podsAtMs: 5,
  podsAtWallMs: 6,
  failedPods: ['default/web'],
  serving: SERVING,
  endpoint: 'unix:///run/containerd/containerd.sock',
  isRuntimeSilent: true,
  staticPods: [STATIC_POD],
  earlier: { ready: 'True', serving: SERVING, endpoint: 'unix:///run/containerd/containerd.sock', staticPods: [STATIC_POD] },
} as const

const IDLE = { ...MANIFEST, names: ['etcd'], isLasting: true }
const KEPT = { ...BASELINE, changed: ['maxPods'], idle: [IDLE], ofPromoted: true, beforeBoot: true }

export const KEPT_BASELINE: KeptBaseline = {
  bootId: BOOT,
  baseline: { ...KEPT, earlier: { ...BASELINE.earlier, idle: [IDLE], ofPromoted: true, beforeBoot: true } },
  displaced: KEPT,
}

export const LEFT: PutValue<'left'> = { sources: [OVERLAID, SOURCE], localConfig: HASH }

export const EVIDENCE: EvidenceRecord = {
  bootId: BOOT,
  baseline: BASELINE,
  displaced: BASELINE,
  process: {
    invocationId: 'i1',
    key: KEY,
    sinceUs: 1,
    requests: 2,
    requestsSinceUs: 3,
    answeredUs: { lease: 4, node: 5 },
    reachableSinceUs: 6,
    writtenAtUs: 7,
    lease: {
      resourceVersion: '9',
      durationSeconds: 40,
      renewals: 2,
      sameSinceUs: 8,
      lastUs: 9,
      provenAtUs: 10,
      problem: '',
    },
    node: {
      ready: 'True',
      message: '',
      readySinceUs: 11,
      lastUs: 12,
      firstReportedAtMs: 13,
      firstHeartbeat: '2026-01-01T00:00:00Z',
      reportedAtUs: 14,
      provenAtUs: 15,
      newPressure: ['PIDPressure'],
      problem: '',
    },
    pods: { lost: [{ name: 'default/web', reason: 'Evicted' }], sinceUs: 16, lastUs: 17, problem: '' },
    runtime: { endpoint: 'e', answers: true, sinceUs: 18, lastUs: 19, detail: '', wasSilent: true, hasAnswered: true },
    serving: { status: 401, noCertificate: true, user: 'u', detail: '', sinceUs: 20, lastUs: 21, serverUpSinceUs: 22 },
    staticPods: {
      missing: [{ name: 'kube-system/etcd-node-1', sinceUs: 23 }],
      replaced: ['a'],
      held: ['b'],
      excused: ['c'],
      provenAtUs: 24,
      lastUs: 25,
      problem: '',
    },
  },
  runsControlPlane: true,
}

const POSITION = { configUid: SOURCE.uid, hash: HASH, retry: 1, generation: 2, stage: 3 }

export const OBSERVATION: PutValue<'observation'> = {
  bootId: BOOT,
  observation: {
    recordUid: 'r',
    assignment: 2,
    contactUs: 1,
    changedUs: 2,
    resourceVersion: '7',
    firstPosition: POSITION,
    position: POSITION,
    positionSinceUs: 3,
    letGoUs: 4,
    lostUs: 5,
    claims: { 'node-2': { generationAndStage: '2/3', sinceContactUs: 6 } },
  },
}

export const TURN: RolloutKnowledge = {
  config: 'kube-system/fleet',
  hash: HASH,
  turn: { kind: 'go', detail: 'stage 1 of 3', asks: 'proof', unready: 'it is being checked' },
  confirmedAtUs: 1,
  failed: 'in-rollout',
  progress: {
    generation: 1,
    stage: 1,
    lastStage: 3,
    openPercent: 10,
    proofs: 1,
    needed: 2,
    claimed: ['node-2'],
    silent: ['node-3'],
    vetoes: [{ node: 'node-4', reason: 'crash-loop: 3 times' }],
    finished: false,
    halted: true,
  },
}

/** Of the kinds `file` and `drop-in`. */
const PLACED = { target: { source: OVERLAID, hash: HASH, content: OTHER_HASH }, fallback: { source: SOURCE, hash: OTHER_HASH } }
export const ORIGINAL = {
  configPath: '/var/lib/kubelet/config.yaml',
  original: { hash: HASH, mode: 0o644, uid: 0, gid: 0 },
  ...PLACED,
  before: { source: 'local', hash: HASH },
  revision: 4,
} as const
export const DROP_IN = {
  path: '/etc/kubernetes/kubelet.conf.d/99-agent.conf',
  ...PLACED,
  before: { source: SOURCE, hash: HASH },
  revision: 4,
}
export const ENV_ARGS = '--config=/var/lib/kubelet/config.yaml --v=2'

export const HISTORY: readonly Transition[] = (
  [
    ['assigned', 'local', SOURCE],
    ['restarting', 'local', SOURCE],
    ['promoted', 'local', SOURCE],
    ['rejected', OVERLAID, undefined],
    ['rolled-back', OVERLAID, SOURCE],
    ['retrying', undefined, undefined],
    ['set-aside', undefined, undefined],
    ['download-failed', undefined, OVERLAID],
    ['invalid', undefined, undefined],
    ['synced', undefined, OVERLAID],
  ] as const
).map(([kind, from, to], index) => ({
  atNs: `${1_700_000_000_000_000_000n + BigInt(index)}`,
  ...(index === 9 && { wallMs: 1_600_000_000_000 }),
  ...{ kind, from, to },
  why: 'because',
}))
