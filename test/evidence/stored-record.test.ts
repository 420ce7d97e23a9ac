// SPDX-License-Identifier: Apache-2.0
/** What is read of a stored record: one in which a single value has another type is none. */
import t from 'tap'
import {
  type Baseline,
  type EarlierState,
  type EvidenceRecord,
  isEvidenceKind,
  isEvidenceRecord,
  isKeptBaseline,
  type ProcessEvidence,
  QUESTIONS,
} from '../../src/evidence/kinds.ts'

const STATIC_POD = {
  hash: 'h',
  name: 'kube-system/etcd-node-1',
  manifest: { path: '/m/etcd.yaml', digest: 'd', isNewer: true, others: [{ path: '/m/e.yaml', digest: 'e' }] },
}
const TAKEN: Required<Omit<EarlierState, 'ofTry'>> = {
  ready: 'True',
  reportedAtMs: 1,
  pressure: ['DiskPressure'],
  podsAtMs: 1,
  podsAtWallMs: 1,
  failedPods: ['uid'],
  endpoint: '/run/a.sock',
  isRuntimeSilent: true,
  serving: { status: 403, user: 'system:node:node-1' },
  staticPods: [STATIC_POD],
  livePods: ['default/a'],
  idle: [{ path: '/m/a.yaml', digest: 'd', names: ['a'], isLasting: true }],
  ofPromoted: true,
  beforeBoot: true,
}
const EARLIER: Required<EarlierState> = { ...TAKEN, ofTry: 'ready' }
const BASELINE: Required<Baseline> = {
  ...TAKEN,
  candidate: 'content@kubelet',
  invocationId: 'i',
  sinceUs: 1,
  awaitedSinceUs: 1,
  kubelet: 'kubelet',
  changed: ['maxPods'],
  answered: ['node'],
  wasDown: true,
  unread: [{ question: 'pods', kind: 'refused', detail: 'x', atUs: 1, busy: true, hasFailed: true }],
  earlier: EARLIER,
}
const LOST = { name: 'default/a', reason: 'Evicted', field: 'maxPods', mayBeOlder: true }
const PROCESS: Required<ProcessEvidence> = {
  invocationId: 'i',
  key: 'content@kubelet',
  sinceUs: 1,
  requests: 1,
  requestsSinceUs: 1,
  reachableSinceUs: 1,
  unauthorizedUs: 1,
  writtenAtUs: 1,
  unseenUs: 1,
  answeredUs: { node: 1, lease: 1, pods: 1, runtime: 1, serving: 1, 'static-pods': 1 },
  answeredInPause: ['node'],
  node: {
    ready: 'True',
    message: 'x',
    readySinceUs: 1,
    lastUs: 1,
    firstReportedAtMs: 1,
    firstHeartbeat: 'x',
    transitionMs: 1,
    unknownUs: 1,
    reportedAtUs: 1,
    provenAtUs: 1,
    newPressure: ['DiskPressure'],
    problem: '',
  },
  lease: {
    resourceVersion: '1',
    durationSeconds: 40,
    renewals: 1,
    sameSinceUs: 1,
    lastUs: 1,
    renewedUs: 1,
    slowUs: 1,
    provenAtUs: 1,
    problem: '',
  },
  pods: { lost: [LOST], unexplained: [LOST], sinceUs: 1, lastUs: 1, problem: '' },
  runtime: { endpoint: '/run/a.sock', answers: true, sinceUs: 1, lastUs: 1, detail: '', wasSilent: true, hasAnswered: true },
  serving: {
    status: 403,
    noCertificate: false,
    isSilent: true,
    user: 'x',
    isOutdated: true,
    detail: '',
    sinceUs: 1,
    lastUs: 1,
    serverUpSinceUs: 1,
  },
  servingTaken: 'x',
  staticPods: {
    missing: [{ name: 'x', sinceUs: 1 }],
    replaced: ['x'],
    held: ['x'],
    excused: ['x'],
    idle: ['x'],
    provenAtUs: 1,
    lastUs: 1,
    problem: '',
  },
}
const RECORD: Required<EvidenceRecord> = { bootId: 'b', baseline: BASELINE, displaced: BASELINE, process: PROCESS, runsControlPlane: true }

/** Each copy in which one value has another type, and where it is. */
function* spoil(value: unknown, path = ''): Generator<readonly [path: string, spoilt: unknown]> {
  yield [path, typeof value === 'number' ? 'a text' : 7]
  if (typeof value !== 'object' || value === null) return
  for (const [name, inner] of Object.entries(value)) {
    for (const [where, spoilt] of spoil(inner, `${path}/${name}`)) {
      yield [where, Array.isArray(value) ? [spoilt] : { ...value, [name]: spoilt }]
    }
  }
}

t.test('a record is read only where each value has its type', async (t) => {
  t.ok(isEvidenceRecord(RECORD))
  for (const [path, spoilt] of spoil(RECORD)) t.notOk(isEvidenceRecord(spoilt), path)
  const { bootId, baseline, displaced } = RECORD
  const kept = { bootId, baseline, displaced }
  t.ok(isKeptBaseline(kept))
  for (const [path, spoilt] of spoil(kept)) t.notOk(isKeptBaseline(spoilt), path)
})

t.test('which words a record may have', async (t) => {
  const withUnread = (facts: object) =>
    isEvidenceRecord({ ...RECORD, baseline: { ...BASELINE, unread: [{ ...BASELINE.unread?.[0], ...facts }] } })
  for (const kind of ['refused', 'forbidden', 'unreachable', 'not-asked']) t.equal(withUnread({ kind }), true, kind)
  t.equal(withUnread({ kind: 'other' }), false)
  for (const question of QUESTIONS) t.equal(withUnread({ question }), true, question)
  t.equal(withUnread({ question: 'ready' }), false, 'that is a kind, and no question')
  t.equal(isEvidenceRecord({ ...RECORD, baseline: { ...BASELINE, answered: ['ready'] } }), false)
  const kinds = ['process', 'healthz', 'runtime', 'lease', 'ready', 'serving', 'static-pods', 'pods']
  t.same([...kinds, 'node', ''].map(isEvidenceKind), [...kinds.map(() => true), false, false])
})
