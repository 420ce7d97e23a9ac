// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import {
  describeMissingEvidence,
  findEvidenceFailure,
  isBroughtBack,
  listUncompared,
  listUnknownEvidence,
} from '../../src/evidence/judge.ts'
import { ALL_REQUIRED, OPTIONAL_KINDS } from '../../src/evidence/kinds.ts'
import { A, B, contentOf, health, hold, judged, keyOf, POLICY, restartTo, runs, runsNothing, verdict } from '../decision/snapshots.ts'
import { API_SERVER, find, lease, node, refused, runtime, type Story, serving, snapshotOf, staticPods, unreachable } from './samples.ts'

const READY = [5, node('True', { reportedAt: 1, answeredAt: 5 })] as const
const LEASE = [
  [0, lease('1')],
  [30, lease('2')],
  [60, lease('3')],
] as const
/** Of the kinds that `describeMissingEvidence` names. */
function missing(story: Story) {
  const words = describeMissingEvidence(snapshotOf({ now: 600, ...story }), keyOf(B))?.split(/[ ,:]+/) ?? []
  return OPTIONAL_KINDS.filter((kind) => words.includes(kind))
}

t.test('what a trial waits for when its time is over', async (t) => {
  const cases: [what: string, missing: readonly string[], story: Story][] = [
    ['nothing was asked', [], {}],
    ['ready is enough', [], { seen: [READY, [10, refused('lease')]] }],
    ['lease is enough', [], { seen: [...LEASE, [10, refused('node')]] }],
    ['a Lease is there and was not renewed twice', ['lease', 'ready'], { seen: LEASE.slice(0, 2) }],
    ['the Node is Ready, and the Lease was read once', ['lease'], { seen: [READY, [590, lease('1')]] }],
    ['the same for two minutes, in which it could not be read again', [], { seen: [READY, [590, lease('1')]], now: 720 }],
    ['the Node is Ready, and the Lease was renewed once', [], { seen: [READY, ...LEASE.slice(0, 2)] }],
    ['the Node is there and was not reported', ['lease', 'ready'], { seen: [[5, node('True', { reportedAt: -50, answeredAt: 5 })]] }],
    [
      'it was not Ready before, and is reported',
      [],
      {
        before: [node('False')],
        seen: [
          [0, refused('lease')],
          [5, node('False', { reportedAt: 2, answeredAt: 5 })],
        ],
      },
    ],
    [
      'rights are missing for both',
      [],
      {
        seen: [
          [0, refused('lease')],
          [5, refused('node')],
        ],
      },
    ],
    [
      'the API server is down',
      [],
      {
        seen: [
          [0, unreachable('lease')],
          [5, unreachable('node')],
        ],
      },
    ],
    ['the same without a health port', ['lease', 'ready'], { seen: [[0, unreachable('lease')]], snapshot: { healthz: undefined } }],
    [
      'without a health port, and the Node is out of reach',
      ['lease', 'ready'],
      { seen: [[0, unreachable('node')]], snapshot: { healthz: undefined } },
    ],
    ['without a health port, and nothing was asked', [], { snapshot: { healthz: undefined } }],
    ['without a health port, ready', [], { seen: [READY], snapshot: { healthz: undefined } }],
    [
      'something is wrong since a moment ago',
      ['static-pods'],
      { before: [staticPods([API_SERVER])], seen: [READY, [590, staticPods([])]] },
    ],
  ]
  for (const [what, expected, story] of cases) t.same(missing(story), expected, what)
  const watched = { ...POLICY, evidence: { ...ALL_REQUIRED, lease: 'watched', ready: 'watched' } } as const
  t.same(missing({ seen: LEASE.slice(0, 2), snapshot: { policy: watched } }), [], 'neither is required')
  const leaseAlone = { ...POLICY, evidence: { ...ALL_REQUIRED, ready: 'watched' } } as const
  t.same(missing({ seen: [...LEASE.slice(0, 2), READY], snapshot: { policy: leaseAlone } }), ['lease'], 'a report is no renewal')
})

/** Nobody knows how the node was before B. */
const NOT_READY: Story = { seen: [5, 70, 590].map((at) => [at, node('False', { reportedAt: at - 3, answeredAt: at })] as const) }
const ALSO_TLS: Story = { seen: [...(NOT_READY.seen ?? []), [5, serving(401)], [70, serving(401)], [590, serving(401)]] }

t.test('a no that nobody can compare with before holds a trial, unless somebody vouches for what runs', async (t) => {
  const requests = { hold: 'none', rollback: undefined, retry: false } as const
  const promoted = (content: string): Story => ({ ...NOT_READY, snapshot: { requests: { ...requests, promote: { content } } } })
  t.same(missing(NOT_READY), ['ready'])
  t.same(listUncompared(snapshotOf({ ...NOT_READY, now: 600 })), ['ready'])
  t.same(listUncompared(snapshotOf({ seen: [READY], now: 600 })), [])
  const { answer, detail } = find('ready', { ...NOT_READY, now: 600 })
  t.equal(answer, 'unknown')
  t.match(detail, /; how that was before is not known$/)
  t.equal(find('static-pods', { before: [staticPods([API_SERVER])], seen: LOST_PODS, now: 600 }).answer, 'unknown', 'nor for long enough')
  t.same(missing(promoted(contentOf(B))), [], 'a person')
  t.same(missing(promoted(contentOf(A))), ['ready'], 'a person vouched for another config')
  t.same(missing({ ...NOT_READY, snapshot: { lastKnownGood: hold(B) } }), [], 'it was promoted here')
  const lost: Story = { ...promoted(contentOf(B)), seen: [...(NOT_READY.seen ?? []), ...LOST_PODS] }
  t.same(missing({ ...lost, before: [staticPods([API_SERVER])] }), ['static-pods'], 'nobody vouches for what is known to be wrong')
})

t.test('what is said of a trial that waits for evidence', async (t) => {
  const said = (story: Story) => describeMissingEvidence(snapshotOf({ now: 600, ...story }), keyOf(B))
  t.equal(said({ seen: [READY] }), undefined)
  t.equal(said({ ...NOT_READY, now: 300 }), undefined, 'it is not over')
  t.equal(describeMissingEvidence(snapshotOf({ ...NOT_READY, now: 600 }), keyOf(A)), undefined, 'another config is on trial')
  t.equal(said({}), undefined, 'no answer has come')
  t.equal(said({ snapshot: { evidence: undefined } }), undefined, 'nothing is recorded of the process')
  t.equal(said({ seen: LEASE.slice(0, 2) }), 'is over, but for evidence that is missing: lease, ready')
  const unknownBefore = 'no, and whether that was so before is not known: mend it, or run kubelet-cfg-agent promote'
  t.equal(said(NOT_READY), `is over, but ready says ${unknownBefore}`)
  t.equal(said(ALSO_TLS), `is over, but ready, serving say ${unknownBefore}`)
})

t.test('what the health record decides about is no failure by evidence', async (t) => {
  const ill = { health: health(B, { exits: 1 }), healthz: { ok: false, detail: 'connection refused' } } as const
  t.equal(findEvidenceFailure(snapshotOf({ seen: [READY], snapshot: ill })), undefined)
})

t.test('a proof needs no comparison only where nothing ran before', async (t) => {
  const open = (story: Story) => {
    const kinds = listUnknownEvidence(snapshotOf({ now: 600, seen: [READY], ...story })).map(({ kind }) => kind)
    return kinds.filter((kind) => kind === 'static-pods' || kind === 'pods')
  }
  const started = { restarts: [restartTo(B)] }
  t.same(open({ snapshot: started }), [])
  const compared = ['static-pods', 'pods']
  const manifests = [{ path: '/etc/kubernetes/manifests/etcd.yaml', digest: 'd', modifiedAtMs: 1000, podName: 'etcd', names: ['etcd'] }]
  const idle: Story = {
    seen: [[5, { question: 'static-pods', answer: { kind: 'found', pods: [], manifests, live: [] } }]],
    snapshot: started,
  }
  t.same(open(idle), ['static-pods'], 'a static pod that does not run may have run before, also where a person promotes the config')
  t.same(open({ snapshot: { restarts: [] } }), compared, 'who started it is not known')
  t.same(open({ snapshot: { restarts: [restartTo(B, { bootId: 'boot-0' })] } }), compared, 'nor after a boot')
  t.same(open({ snapshot: { restarts: [restartTo(A)] } }), compared, 'the agent started another config')
  t.same(open({ snapshot: started, before: [node('True')] }), compared, 'there is a baseline')
  t.same(open({ snapshot: { ...started, running: { kind: 'none' } } }), compared, 'nothing runs')
  t.same(open({ snapshot: { ...started, evidence: undefined } }), [], 'nothing was asked')
  const fallback = { ...runs(A), ...judged(verdict(B, 'provisional')), restarts: [restartTo(A)] }
  const lost: Story = { before: [staticPods([API_SERVER])], seen: [5, 300].map((at) => [at, staticPods([])] as const), snapshot: fallback }
  t.same(open(lost), ['static-pods'], 'what a fallback does not bring back is known')
  const { evidence } = snapshotOf({ before: [node('True')] })
  const ofAnother = evidence?.baseline && { ...evidence, baseline: { ...evidence.baseline, candidate: keyOf(A) } }
  t.same(open({ snapshot: { ...started, evidence: ofAnother } }), [], 'the baseline is that of another config')
  const ofDown = evidence?.baseline && { ...evidence, baseline: { ...evidence.baseline, wasDown: true } }
  t.same(open({ snapshot: { ...started, evidence: ofDown } }), [], 'it is from before a config that was down')
})

/** Since a moment ago. */
const LOST_PODS = [[590, staticPods([])]] as const

const LOST_TLS: Story = {
  before: [serving(403)],
  seen: [
    [5, serving(401)],
    [70, serving(401)],
  ],
}

const NO_TLS = [5, 70].map((at) => [at, serving('no-tls')] as const)

t.test('a no of a required kind is a failure', async (t) => {
  t.match(findEvidenceFailure(snapshotOf(LOST_TLS)), { reason: 'evidence', evidence: 'serving', damage: 'transient', detail: /^serving: / })
  t.same(missing(LOST_TLS), ['serving'], 'which no trial passes with')
  const off = { ...POLICY, evidence: { ...ALL_REQUIRED, serving: 'off' } } as const
  t.equal(findEvidenceFailure(snapshotOf({ ...LOST_TLS, snapshot: { policy: off } })), undefined)
  const both: Story = {
    before: [serving(403), staticPods([API_SERVER])],
    seen: [...(LOST_TLS.seen ?? []), [80, staticPods([{ ...API_SERVER, hash: 'x' }])]],
  }
  t.match(findEvidenceFailure(snapshotOf(both)), { evidence: 'static-pods', damage: 'one-way' }, 'one-way damage goes first')
  const sure = { ...both, seen: [...NO_TLS, ...(both.seen ?? []).slice(2)] }
  t.match(findEvidenceFailure(snapshotOf(sure)), { evidence: 'static-pods' }, 'also before what is as sure')
  const noNetwork = node('False', { reportedAt: 1, answeredAt: 5, message: 'container runtime network not ready' })
  const perhaps: Story = {
    before: [serving(403), node('True', { reportedAt: -9 }), runtime('answered')],
    seen: [...[5, 150, 310].flatMap((at) => [[at, runtime('answered')] as const, [at, noNetwork] as const]), ...NO_TLS],
    now: 320,
  }
  t.match(findEvidenceFailure(snapshotOf(perhaps)), { evidence: 'serving', doubtful: undefined }, 'what the node may have done goes last')
  const alone = { ...perhaps, seen: (perhaps.seen ?? []).slice(0, -2) }
  t.match(findEvidenceFailure(snapshotOf(alone)), { evidence: 'ready', doubtful: true })
})

/** Nobody knows what the TLS port answered before. */
const UNCOMPARED = [READY, ...[5, 590].map((at) => [at, serving(401)] as const)]

t.test('what cannot be compared holds a trial, unless the config is vouched for', async (t) => {
  const { requests } = snapshotOf({})
  const promoting = (content: string) => ({ requests: { ...requests, promote: { content } } })
  t.same(missing({ seen: UNCOMPARED }), ['serving'])
  t.same(missing({ seen: UNCOMPARED, snapshot: { lastKnownGood: hold(B) } }), [], 'it is last-known-good')
  t.same(missing({ seen: UNCOMPARED, snapshot: promoting(contentOf(B)) }), [], 'a person says so')
  t.same(missing({ seen: UNCOMPARED, snapshot: promoting(contentOf(A)) }), ['serving'], 'of this content alone')
  const lost: Story = { before: [serving(403), staticPods([API_SERVER])], seen: [READY, [590, staticPods([])]] }
  t.same(missing({ ...lost, snapshot: promoting(contentOf(B)) }), ['static-pods'], 'for what is not known alone')
})

t.test('once a config has passed its trial, only health condemns it', async (t) => {
  t.equal(findEvidenceFailure(snapshotOf({ ...LOST_TLS, snapshot: { proven: keyOf(B) } })), undefined)
})

t.test('what a config failed with has to pass, before the fallback proves anything', async (t) => {
  const failed = verdict(B, 'provisional', { reason: 'evidence', evidence: 'lease' })
  const isBack = (story: Story) => isBroughtBack(snapshotOf(story), failed)
  t.ok(isBack({ seen: LEASE }))
  t.notOk(isBack({ seen: LEASE.slice(0, 2) }))
  t.ok(isBack({ seen: LEASE.slice(0, 2), now: 600 }), 'nobody can tell: a whole trial is enough')
  t.ok(isBroughtBack(snapshotOf({}), verdict(B, 'provisional')), 'of another failure, health is enough')
  t.notOk(isBack({ seen: LEASE.slice(0, 2), now: 600, snapshot: runsNothing('failed') }), 'nothing runs')
  const off = { policy: { ...POLICY, evidence: { ...ALL_REQUIRED, lease: 'off' } } } as const
  t.notOk(isBack({ seen: LEASE, snapshot: off }), 'it is no longer asked for')
  t.ok(isBack({ seen: LEASE, snapshot: off, now: 600 }), 'and a whole trial is enough')
  t.notOk(isBack({ ...LOST_TLS, now: 600 }), 'other evidence says no')
  t.notOk(isBack({ before: [staticPods([API_SERVER])], seen: LOST_PODS, now: 600 }), 'or may be about to')
  t.ok(isBack({ ...NOT_READY, now: 600 }), 'what cannot be compared says nothing of another failure')
  const notReady = verdict(B, 'provisional', { reason: 'evidence', evidence: 'ready' })
  t.notOk(isBroughtBack(snapshotOf({ ...NOT_READY, now: 600 }), notReady), 'but of the same')
  const uncompared = snapshotOf({ seen: UNCOMPARED, now: 600 })
  t.ok(isBroughtBack(uncompared, failed), 'what cannot be compared says nothing of another kind')
  t.notOk(isBroughtBack(uncompared, { ...failed, evidence: 'serving' }), 'but of its own')
  t.notOk(isBack({ before: [staticPods([API_SERVER])], seen: [[590, staticPods([])]], now: 600 }), 'something is wrong since a moment ago')
})
