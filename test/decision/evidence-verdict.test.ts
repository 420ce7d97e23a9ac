import t from 'tap'
import { ALL_REQUIRED } from '../../src/decision/evidence.ts'
import { findEvidenceFailure, isBroughtBack, listMissingEvidence } from '../../src/decision/evidence-verdict.ts'
import { API_SERVER, lease, node, refused, type Story, serving, snapshotOf, staticPods, unreachable } from './evidence-samples.ts'
import { B, keyOf, POLICY, verdict } from './snapshots.ts'

const READY = [5, node('True', { reportedAt: 1, answeredAt: 5 })] as const
const LEASE = [
  [0, lease('1')],
  [30, lease('2')],
  [60, lease('3')],
] as const
const missing = (story: Story) => listMissingEvidence(snapshotOf({ now: 600, ...story }))

t.test('what a trial waits for when its time is over', async (t) => {
  const cases: [what: string, missing: readonly string[], story: Story][] = [
    ['nothing was asked', [], {}],
    ['ready is enough', [], { seen: [READY, [10, refused('lease')]] }],
    ['lease is enough', [], { seen: [...LEASE, [10, refused('node')]] }],
    ['a Lease is there and was not renewed twice', ['lease', 'ready'], { seen: LEASE.slice(0, 2) }],
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
})

const LOST_TLS: Story = {
  before: [serving(403)],
  seen: [
    [5, serving(401)],
    [70, serving(401)],
  ],
}

t.test('a no of a required kind is a failure', async (t) => {
  t.match(findEvidenceFailure(snapshotOf(LOST_TLS)), { reason: 'evidence', evidence: 'serving', damage: 'transient', detail: /^serving: / })
  const off = { ...POLICY, evidence: { ...ALL_REQUIRED, serving: 'off' } } as const
  t.equal(findEvidenceFailure(snapshotOf({ ...LOST_TLS, snapshot: { policy: off } })), undefined)
  const both: Story = {
    before: [serving(403), staticPods([API_SERVER])],
    seen: [...(LOST_TLS.seen ?? []), [80, staticPods([{ ...API_SERVER, hash: 'x' }])]],
  }
  t.match(findEvidenceFailure(snapshotOf(both)), { evidence: 'static-pods', damage: 'one-way' }, 'one-way damage goes first')
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
})
