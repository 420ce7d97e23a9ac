// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { Snapshot } from '../../src/decision/snapshot.ts'
import type { EvidenceFinding, EvidenceKind, SeenFact } from '../../src/evidence/kinds.ts'
import { dueEvidence } from '../../src/evidence/schedule.ts'
import type { StaticPod } from '../../src/evidence/static-pods.ts'
import { type HealthAnswer, PORT_NOT_KNOWN } from '../../src/health/sample.ts'
import { B, health, keyOf, MINUTE_US, NOW_US, POLICY, runsNothing, SECOND_US, unit } from '../decision/snapshots.ts'
import {
  API_SERVER,
  ETCD,
  find,
  lease,
  node,
  pods,
  refused,
  runtime,
  STARTED_US,
  type Story,
  serving,
  snapshotOf,
  staticPods,
  unreachable,
} from './samples.ts'
import { NO } from './views.ts'

/** `perhaps`: a no that the node may have caused. `uncompared`: nobody knows how it was before. */
type Expected = 'yes' | 'no' | 'perhaps' | 'unknown' | 'doubtful' | 'uncompared'
type Row = readonly [what: string, expected: Expected, story: Story]

function check(kind: EvidenceKind, rows: readonly Row[]): void {
  for (const [what, expected, story] of rows) {
    t.test(`${kind} is ${expected}: ${what}`, async (t) => {
      const { detail, ...finding } = find(kind, story)
      t.equal(nameStanding(finding), expected, detail)
    })
  }
}

function nameStanding({ answer, isDoubtful, isUncompared, mayBeNodes }: Omit<EvidenceFinding, 'detail'>): Expected {
  if (isUncompared) return 'uncompared'
  if (isDoubtful) return 'doubtful'
  return mayBeNodes ? 'perhaps' : answer
}

check('process', [
  ['kubelet runs', 'yes', {}],
  ['it exited', 'no', { snapshot: { health: health(B, { exits: 1 }) } }],
  ['systemd gave kubelet up', 'no', { snapshot: runsNothing('failed') }],
  ['systemd does not answer', 'unknown', { snapshot: { unit: { kind: 'unknown', detail: '' } } }],
  ['kubelet is starting', 'unknown', { snapshot: runsNothing('starting') }],
])

check('healthz', [
  ['200', 'yes', {}],
  ['no answer', 'no', { snapshot: { healthz: { ok: false, detail: 'connection refused' } } }],
  ['no health port', 'unknown', { snapshot: { healthz: undefined } }],
  ['no process', 'unknown', { snapshot: { ...runsNothing('starting'), unit: unit({ activity: 'starting' }) } }],
])

const SAME = [runtime('answered')]
check('runtime', [
  ['it answers', 'yes', { before: SAME, seen: [[5, runtime('answered')]] }],
  [
    'silent for a minute at another endpoint',
    'no',
    {
      before: SAME,
      seen: [
        [5, runtime('silent', '/run/crio.sock')],
        [70, runtime('silent', '/run/crio.sock')],
      ],
    },
  ],
  ['silent for a moment at another endpoint', 'doubtful', { before: SAME, seen: [[5, runtime('silent', '/run/crio.sock')]] }],
  [
    'silent for a moment at another endpoint, before and after a minute in which nobody looked',
    'doubtful',
    { before: SAME, seen: [5, 70].map((at) => [at, runtime('silent', '/run/crio.sock')] as const), unseen: [6, 69] },
  ],
  [
    'silent for a moment at another endpoint, at the end of the trial',
    'doubtful',
    { before: SAME, seen: [[590, runtime('silent', '/run/crio.sock')]], now: 600 },
  ],
  [
    'silent at the same endpoint',
    'unknown',
    {
      before: SAME,
      seen: [
        [5, runtime('silent')],
        [290, runtime('silent')],
      ],
    },
  ],
  [
    'silent, and the endpoint before is not known',
    'uncompared',
    {
      seen: [
        [5, runtime('silent')],
        [290, runtime('silent')],
      ],
    },
  ],
  [
    'it answers again',
    'yes',
    {
      before: SAME,
      seen: [
        [5, runtime('silent', '/b')],
        [70, runtime('answered', '/b')],
      ],
    },
  ],
  ['not asked', 'unknown', { before: SAME }],
])

/**
 * @param seconds after its start: a look after a gap, in which nothing was seen, begins the time
 * anew. undefined: it is not healthy.
 */
function healthySince(
  seconds: number | undefined,
  healthz: HealthAnswer = { ok: true, detail: 'ok' },
): Pick<Snapshot, 'health' | 'healthz'> {
  const healthySinceUs = seconds === undefined ? undefined : STARTED_US + seconds * SECOND_US
  const process = {
    key: keyOf(B),
    invocationId: 'invocation-1',
    startedAtUs: STARTED_US,
    wasHealthy: true,
    healthySinceUs,
    unhealthySinceUs: undefined,
    exits: 0,
  }
  return { healthz, health: health(B, { healthySinceUs, process }) }
}

const SILENT = [0, 60, 120, 181].map((at) => [at, lease('1')] as const)
check('lease', [
  [
    'two renewals',
    'yes',
    {
      seen: [
        [0, lease('1')],
        [30, lease('2')],
        [60, lease('3')],
      ],
    },
  ],
  [
    'one renewal',
    'unknown',
    {
      seen: [
        [0, lease('1')],
        [30, lease('2')],
      ],
    },
  ],
  ['no renewal for a minute after the start deadline, while the agent can write', 'no', { seen: SILENT, writtenAt: 150 }],
  ['the agent cannot write either', 'unknown', { seen: SILENT }],
  ['the agent could write only before', 'unknown', { seen: SILENT, writtenAt: 100 }],
  ['no renewal for less than that', 'doubtful', { seen: [...SILENT.slice(0, 3), [170, lease('1')]], writtenAt: 150 }],
  ['no renewal before the start deadline', 'unknown', { seen: SILENT.slice(0, 3), writtenAt: 60 }],
  ['the node was suspended all the while, and kubelet with it', 'doubtful', { seen: SILENT, writtenAt: 150, snapshot: healthySince(175) }],
  [
    'so it was, and the health port is off',
    'doubtful',
    { seen: SILENT, writtenAt: 150, snapshot: { ...healthySince(175), healthz: undefined } },
  ],
  ['kubelet is not healthy', 'unknown', { seen: SILENT, writtenAt: 150, snapshot: healthySince(undefined, { ok: false, detail: '500' }) }],
  ['the health port is not known', 'no', { seen: SILENT, writtenAt: 150, snapshot: healthySince(undefined, PORT_NOT_KNOWN) }],
  ['kubelet has been healthy again for long since', 'no', { seen: SILENT, writtenAt: 150, snapshot: healthySince(110) }],
  ['so it has, without a health port', 'no', { seen: SILENT, writtenAt: 150, snapshot: { ...healthySince(110), healthz: undefined } }],
  ['a long duration has longer', 'doubtful', { seen: SILENT.map(([at]) => [at, lease('1', 200)] as const), writtenAt: 150 }],
  ['and ends', 'no', { seen: [0, 150, 300, 430].map((at) => [at, lease('1', 200)] as const), writtenAt: 200, now: 430 }],
  [
    'it was renewed and is no longer',
    'no',
    {
      seen: [
        [0, lease('1')],
        [30, lease('2')],
        [60, lease('3')],
        [200, lease('3')],
      ],
      writtenAt: 150,
    },
  ],
  [
    'the API server is back for a moment only',
    'doubtful',
    {
      seen: [
        [0, lease('1')],
        [60, unreachable('lease')],
        [200, lease('1')],
        [230, lease('1')],
      ],
      writtenAt: 201,
    },
  ],
  [
    'the API server is back for long',
    'no',
    {
      seen: [
        [0, lease('1')],
        [60, unreachable('node')],
        [200, lease('1')],
        [261, lease('1')],
      ],
      writtenAt: 230,
    },
  ],
  [
    'an outage may have begun when the agent had just written',
    'doubtful',
    {
      seen: [
        [0, lease('1')],
        [30, lease('2')],
        [360, lease('3')],
        [580, lease('3')],
      ],
      writtenAt: 361,
      now: 580,
    },
  ],
  [
    'an outage may have ended when the agent has just written',
    'doubtful',
    {
      seen: [
        [0, lease('1')],
        [30, lease('2')],
        [360, lease('3')],
        [580, lease('3')],
      ],
      writtenAt: 575,
      now: 580,
    },
  ],
  [
    'seen for the first time long after the API server came back: what was before is not known',
    'unknown',
    {
      seen: [
        [0, unreachable('lease')],
        [60, unreachable('lease')],
        [125, node('True')],
        [290, lease('1')],
      ],
      writtenAt: 290,
    },
  ],
  ['the agent may not read it', 'unknown', { seen: [[0, refused('lease')]], writtenAt: 150 }],
  [
    'the API server is down',
    'unknown',
    {
      seen: [
        [0, lease('1')],
        [200, unreachable('lease')],
      ],
      writtenAt: 150,
    },
  ],
])

const WAS_READY = [node('True', { reportedAt: -100 })]
const notReady = (at: number) => [at, node('False', { reportedAt: 2, answeredAt: at })] as const
const NOT_READY = [10, 100, 200, 311].map(notReady)
const SUSPENDED = [10, 3600].map(notReady)
const says = (message: string) => NOT_READY.map(([at]) => [at, node('False', { reportedAt: 2, answeredAt: at, message })] as const)
const SHORT_TRIAL = { policy: { ...POLICY, trialUs: 15 * SECOND_US } }
const AT_FIRST = [3, 12].map((at) => [at, node('False', { reportedAt: 2, answeredAt: at })] as const)
/** A was on trial itself when the baseline was taken, and nothing is known of the node before A. */
const UNPROVEN: Story = { earlier: [], before: [node('False')] }
/** Renewed last at 150 s. The clock of the node stands still here: -50,000 is 50 s ago. */
const UNKNOWN: NonNullable<Story['seen']> = [
  [5, lease('0', 600, -4000)],
  [200, node('Unknown', { reportedAt: 2, answeredAt: 200 })],
  [200, lease('1', 600, -50_000)],
  [240, node('Unknown', { reportedAt: 2, answeredAt: 240 })],
  [240, lease('1', 600, -90_000)],
]

check('ready', [
  ['Ready, as the new process reports', 'yes', { before: WAS_READY, seen: [[5, node('True', { reportedAt: 1, answeredAt: 5 })]] }],
  [
    'a server of 1.20 has one time for all reports: another heartbeat is of the new process',
    'yes',
    {
      before: WAS_READY,
      seen: [
        [5, node('True', { reportedAt: -100, answeredAt: 5, heartbeat: '2026-01-01T00:00:01Z' })],
        [15, node('True', { reportedAt: -100, answeredAt: 15, heartbeat: '2026-01-01T00:00:11Z' })],
      ],
    },
  ],
  [
    'the same heartbeat may be of the process before',
    'unknown',
    {
      before: WAS_READY,
      seen: [5, 15].map((at) => [at, node('True', { reportedAt: -100, answeredAt: at, heartbeat: '2026-01-01T00:00:01Z' })] as const),
    },
  ],
  ['Ready without a baseline', 'yes', { seen: [[5, node('True', { reportedAt: 1, answeredAt: 5 })]] }],
  [
    'Ready, but only the old process said so',
    'unknown',
    { before: WAS_READY, seen: [[5, node('True', { reportedAt: -100, answeredAt: 5 })]] },
  ],
  [
    'Ready, reported since the baseline, of a server without a clock',
    'yes',
    { before: WAS_READY, seen: [[5, node('True', { reportedAt: 1 })]] },
  ],
  [
    'Ready again, reported since the first look, without a baseline',
    'yes',
    {
      seen: [
        [5, node('True', { reportedAt: -9 })],
        [99, node('True', { reportedAt: 50 })],
      ],
    },
  ],
  ['not Ready for five minutes', 'no', { before: WAS_READY, seen: NOT_READY }],
  ['not Ready for less', 'doubtful', { before: WAS_READY, seen: NOT_READY.slice(0, 3) }],
  ['not Ready for five minutes, hours ago', 'doubtful', { before: WAS_READY, seen: NOT_READY, unseen: [312, 9000], now: 9000 }],
  [
    'not Ready before and after an hour in which nobody looked',
    'doubtful',
    { before: WAS_READY, seen: SUSPENDED, unseen: [12, 3590], now: 3600 },
  ],
  ['and five minutes later', 'no', { before: WAS_READY, seen: [...SUSPENDED, notReady(3900)], unseen: [12, 3590], now: 3900 }],
  [
    'not Ready for a minute at the end',
    'no',
    { before: WAS_READY, seen: [540, 600].map((at) => [at, node('False', { reportedAt: 530, answeredAt: at })] as const), now: 600 },
  ],
  [
    'not Ready for a moment at the end',
    'doubtful',
    { before: WAS_READY, seen: [[590, node('False', { reportedAt: 580, answeredAt: 590 })]], now: 600 },
  ],
  [
    'the runtime was down until a moment ago',
    'doubtful',
    {
      before: [...WAS_READY, ...SAME],
      seen: [
        [200, runtime('silent')],
        ...[300, 420, 520, 580].map(
          (at) => [at, node('False', { reportedAt: 230, answeredAt: at, message: 'PLEG is not healthy' })] as const,
        ),
        [590, runtime('answered')],
      ],
      now: 600,
    },
  ],
  [
    // Kubelet 1.20 reports so first after each start, and 10 s later that it is Ready.
    'not Ready at the end of a trial that is shorter than kubelet takes to settle',
    'doubtful',
    { before: WAS_READY, seen: AT_FIRST, now: 20, snapshot: SHORT_TRIAL },
  ],
  [
    'not Ready for a minute, at the end of a short trial',
    'no',
    { before: WAS_READY, seen: [...AT_FIRST, [65, node('False', { reportedAt: 60, answeredAt: 65 })]], now: 65, snapshot: SHORT_TRIAL },
  ],
  ['it was not Ready before', 'unknown', { before: [node('False', { reportedAt: -100 })], seen: NOT_READY }],
  ['nobody knows how it was before', 'uncompared', { seen: NOT_READY }],
  ['a config on trial was there before, and nobody knows how it was before that', 'uncompared', { ...UNPROVEN, seen: NOT_READY }],
  ['not Ready before a config on trial', 'unknown', { ...UNPROVEN, earlier: [node('False')], seen: NOT_READY }],
  ['Unknown at one look', 'doubtful', { before: WAS_READY, seen: UNKNOWN.slice(0, 3), writtenAt: 201 }],
  ['Unknown at two looks, and the agent could write', 'no', { before: WAS_READY, seen: UNKNOWN, writtenAt: 201 }],
  ['Unknown at two looks, and the agent could not write', 'doubtful', { before: WAS_READY, seen: UNKNOWN }],
  ['Unknown before, too', 'unknown', { before: [node('Unknown')], seen: UNKNOWN, writtenAt: 201 }],
  ['Unknown, and nobody knows how it was before', 'uncompared', { seen: UNKNOWN, writtenAt: 201 }],
  [
    'Unknown, and the Lease is renewed in time',
    'unknown',
    { before: WAS_READY, seen: UNKNOWN.map(([at, seen]) => [at, seen.question === 'lease' ? lease('1', 600, -9000) : seen] as const) },
  ],
  [
    'Ready again after it was Unknown, while the Lease is renewed too seldom',
    'doubtful',
    { before: WAS_READY, seen: [...UNKNOWN, [280, node('True', { reportedAt: 279, answeredAt: 280 })]], writtenAt: 201 },
  ],
  ['Ready is Unknown', 'unknown', { before: WAS_READY, seen: [[300, node('Unknown', { reportedAt: 2, answeredAt: 300 })]] }],
  [
    'the network is not ready, and the runtime is down',
    'unknown',
    {
      before: [...WAS_READY, ...SAME],
      seen: [[5, runtime('silent')], ...says('container runtime network not ready: cni config uninitialized')],
    },
  ],
  [
    'the network is not ready, and the runtime answers',
    'perhaps',
    {
      before: [...WAS_READY, ...SAME],
      seen: [[5, runtime('answered')], ...says('container runtime network not ready: cni config uninitialized')],
    },
  ],
  [
    'the runtime is down at another endpoint',
    'no',
    { before: [...WAS_READY, ...SAME], seen: [[5, runtime('silent', '/b')], ...says('container runtime is down')] },
  ],
  [
    'the API server is down, and the Node was Ready before that',
    'unknown',
    {
      before: WAS_READY,
      seen: [
        [5, node('True', { reportedAt: 2, answeredAt: 5 })],
        [400, unreachable('node')],
      ],
    },
  ],
  ['the agent may not read it', 'unknown', { before: WAS_READY, seen: [[5, refused('node')]] }],
  [
    'the API server is down, and the Node was not Ready before that',
    'doubtful',
    {
      before: WAS_READY,
      seen: [
        [5, node('False', { reportedAt: 2, answeredAt: 5 })],
        [400, unreachable('node')],
      ],
    },
  ],
  ['Ready again', 'yes', { before: WAS_READY, seen: [...NOT_READY, [320, node('True', { reportedAt: 315, answeredAt: 320 })]] }],
])

const KNOWN = [serving(403)]
const REFUSED = [5, 70].map((at) => [at, serving(401)] as const)
const STRANGER = [6, { question: 'serving', answer: { kind: 'not-asked', detail: 'uid 65534 has it', isStrangers: true } }] as const
const NO_TLS = [5, 100].map((at) => [at, serving('no-tls')] as const)
const UNAUTHORIZED: SeenFact = {
  question: 'node',
  answer: { kind: 'refused', detail: 'the API server answers 401 Unauthorized', isUnauthorized: true },
}

/** Kubelet's port answers 401, and the API server says nothing against the certificate. */
function withCertificate(valid: { readonly fromMs: number; readonly untilMs: number }): NonNullable<Story['seen']> {
  const refused: SeenFact = { question: 'serving', answer: { kind: 'answered', status: 401, user: undefined, valid } }
  return [
    [5, refused],
    [40, node('True')],
    [70, refused],
  ]
}

check('serving', [
  [
    'no answer yet at the end of a trial that is shorter than kubelet takes to settle',
    'doubtful',
    { before: KNOWN, seen: [[0, serving('no-tls')]], now: 16, snapshot: SHORT_TRIAL },
  ],
  ['403 to the node', 'yes', { before: KNOWN, seen: [[5, serving(403)]] }],
  ['200', 'yes', { before: KNOWN, seen: [[5, serving(200)]] }],
  [
    '403 became 401',
    'no',
    {
      before: KNOWN,
      seen: [
        [5, serving(401)],
        [40, node('True')],
        [70, serving(401)],
      ],
    },
  ],
  [
    '403 became 401 before a minute in which nobody looked',
    'doubtful',
    {
      before: KNOWN,
      unseen: [41, 69],
      seen: [
        [5, serving(401)],
        [40, node('True')],
        [70, serving(401)],
      ],
    },
  ],
  [
    '403 became 401, and nobody has asked the API server since',
    'doubtful',
    {
      before: KNOWN,
      seen: [
        [2, node('True')],
        [5, serving(401)],
        [590, serving(401)],
      ],
      now: 600,
    },
  ],
  [
    '403 became 401, and the API server does not answer',
    'doubtful',
    {
      before: KNOWN,
      seen: [
        [5, serving(401)],
        [40, unreachable('node')],
        [590, serving(401)],
      ],
      now: 600,
    },
  ],
  [
    '403 became 401, and the API server refuses the certificate, too',
    'unknown',
    {
      before: KNOWN,
      seen: [
        [5, serving(401)],
        [40, UNAUTHORIZED],
        [70, serving(401)],
      ],
    },
  ],
  [
    '403 became 401, and the API server had refused the certificate for a while',
    'no',
    {
      before: KNOWN,
      seen: [
        [5, serving(401)],
        [40, UNAUTHORIZED],
        [70, node('True')],
        [90, serving(401)],
      ],
    },
  ],
  ['401 with a certificate that has run out', 'unknown', { before: KNOWN, seen: withCertificate({ fromMs: -9, untilMs: 0 }) }],
  [
    '401 with a certificate that is not valid yet, as by a clock that was set back',
    'unknown',
    { before: KNOWN, seen: withCertificate({ fromMs: 9, untilMs: 99 }) },
  ],
  ['401 with a certificate that is valid', 'no', { before: KNOWN, seen: withCertificate({ fromMs: -9, untilMs: 99 }) }],
  ['401 as before', 'unknown', { before: [serving(401)], seen: REFUSED }],
  ['401, and nobody knows how it was before', 'uncompared', { seen: REFUSED }],
  ['401 as under a config on trial', 'uncompared', { earlier: [], before: [serving(401)], seen: REFUSED }],
  ['401 for a moment', 'doubtful', { before: KNOWN, seen: [[5, serving(401)]] }],
  ['no answer for a moment at the end of the trial', 'doubtful', { before: KNOWN, seen: [[590, serving('no-tls')]], now: 600 }],
  [
    'it waits for its serving certificate to be approved',
    'doubtful',
    { before: KNOWN, seen: [5, 70, 599].map((at) => [at, serving('no-certificate')] as const), now: 600 },
  ],
  [
    '403 to an anonymous user, of the node before',
    'no',
    {
      before: KNOWN,
      seen: [
        [5, serving(403, 'system:anonymous')],
        [40, node('True')],
        [70, serving(403, 'system:anonymous')],
      ],
    },
  ],
  [
    '403 to an anonymous user, as before',
    'yes',
    { before: [serving(403, 'system:anonymous')], seen: [[5, serving(403, 'system:anonymous')]] },
  ],
  [
    '500, with the API server reachable',
    'no',
    {
      before: KNOWN,
      seen: [
        [5, serving(500)],
        [40, node('True')],
        [70, serving(500)],
      ],
    },
  ],
  [
    '500, with an API server that answers each 10 s, as in a short trial',
    'no',
    {
      before: KNOWN,
      seen: [5, 15, 25, 35, 45, 55, 65].flatMap((at) => [
        [at, serving(500)],
        [at + 5, node('True')],
      ]),
    },
  ],
  [
    '500, and the API server has answered each 10 s since it was away for a moment',
    'doubtful',
    {
      before: KNOWN,
      seen: [
        [5, serving(500)],
        [40, node('True')],
        [60, unreachable('node')],
        [65, node('True')],
        [75, serving(500)],
      ],
    },
  ],
  [
    '500, and the API server was not asked meanwhile',
    'doubtful',
    {
      before: KNOWN,
      seen: [
        [4, node('True')],
        [5, serving(500)],
        [270, serving(500)],
      ],
    },
  ],
  [
    '500, and the API server answers again since a moment ago',
    'doubtful',
    {
      before: KNOWN,
      seen: [
        [4, node('True')],
        [5, serving(500)],
        [265, node('True')],
        [270, serving(500)],
      ],
    },
  ],
  [
    '500, with the API server down',
    'unknown',
    {
      before: KNOWN,
      seen: [
        [4, unreachable('node')],
        [5, serving(500)],
        [70, serving(500)],
      ],
    },
  ],
  [
    'TLS without an answer, with the API server down: kubelet waits for it',
    'unknown',
    {
      before: KNOWN,
      seen: [
        [4, unreachable('node')],
        [5, serving('silent')],
        [70, serving('silent')],
      ],
    },
  ],
  [
    'TLS without an answer, and the API server was not asked meanwhile',
    'doubtful',
    {
      before: KNOWN,
      seen: [
        [2, node('True')],
        [5, serving('silent')],
        [270, serving('silent')],
      ],
      now: 300,
    },
  ],
  [
    'TLS without an answer, with the API server reachable',
    'no',
    {
      before: KNOWN,
      seen: [
        [5, serving('silent')],
        [40, node('True')],
        [70, serving('silent')],
      ],
    },
  ],
  [
    'no TLS',
    'no',
    {
      before: KNOWN,
      seen: [
        [5, serving('no-tls')],
        [70, serving('no-tls')],
      ],
    },
  ],
  [
    'no answer of a kubelet that is still starting',
    'doubtful',
    { before: KNOWN, seen: NO_TLS, now: 100, snapshot: { health: health(B, { healthySinceUs: undefined }) } },
  ],
  [
    'no answer of a kubelet that took long to start, and is healthy since a moment ago',
    'doubtful',
    { before: KNOWN, seen: NO_TLS, now: 110, snapshot: { health: health(B, { healthySinceUs: STARTED_US + 90 * SECOND_US }) } },
  ],
  [
    'no answer before the start deadline, without a health port',
    'doubtful',
    { before: KNOWN, seen: NO_TLS, snapshot: { healthz: undefined } },
  ],
  [
    'no answer after the start deadline, without a health port',
    'no',
    { before: KNOWN, seen: [...NO_TLS, [190, serving('no-tls')]], snapshot: { healthz: undefined } },
  ],
  [
    'no TLS before either',
    'unknown',
    {
      before: [serving('no-tls')],
      seen: [
        [5, serving('no-tls')],
        [70, serving('no-tls')],
      ],
    },
  ],
  [
    '401 before too',
    'unknown',
    {
      before: [serving(401)],
      seen: [
        [5, serving(401)],
        [70, serving(401)],
      ],
    },
  ],
  [
    'no client certificate',
    'unknown',
    { before: KNOWN, seen: [[5, { question: 'serving', answer: { kind: 'not-asked', detail: 'nothing to ask' } }]] },
  ],
  ['another process has the port', 'doubtful', { before: KNOWN, seen: [[5, serving(403)], STRANGER] }],
  ['another process had the port', 'yes', { before: KNOWN, seen: [STRANGER, [8, serving(403)]] }],
])

const BOTH = [staticPods([API_SERVER, ETCD])]
const gone = (...at: readonly number[]) => at.map((each) => [each, staticPods([ETCD])] as const)
const moved = { ...API_SERVER, hash: 'hash-9' }
/** Each of the manifests has both names. */
function alike(isNameKnown: boolean, seen = [API_SERVER, ETCD], digest = 'd2'): SeenFact {
  const manifests = ['kube-apiserver', 'etcd'].map((podName) => ({
    path: `/etc/kubernetes/manifests/${podName}.yaml`,
    digest: podName === 'etcd' ? digest : 'd1',
    modifiedAtMs: 1000,
    ...(isNameKnown && { podName }),
    names: ['kube-apiserver', 'etcd'],
  }))
  return { question: 'static-pods', answer: { kind: 'found', pods: seen, manifests, live: [] } }
}
/** A manifest without names, as of a pod that may complete. */
function completes(seen: readonly StaticPod[]): SeenFact {
  const manifests = [{ path: '/etc/kubernetes/manifests/job.yaml', digest: 'd1', modifiedAtMs: 1000, names: [] }]
  return { question: 'static-pods', answer: { kind: 'found', pods: seen, manifests, live: [] } }
}
check('static-pods', [
  ['they run', 'yes', { before: BOTH, seen: [[5, staticPods([API_SERVER, ETCD])]] }],
  ['there were none', 'yes', { before: [staticPods([])], seen: [[5, staticPods([])]] }],
  ['one is missing for long', 'no', { before: BOTH, seen: gone(5, 60, 156) }],
  ['one is missing for less', 'doubtful', { before: BOTH, seen: gone(5, 60, 150) }],
  ['one is missing for less, and nobody looked at the rest', 'doubtful', { before: BOTH, seen: gone(5, 60, 156), unseen: [61, 155] }],
  [
    'one has a ready sandbox, whose containers ended by themselves',
    'doubtful',
    { before: BOTH, seen: [5, 156].map((at) => [at, staticPods([{ ...API_SERVER, isRunning: false, isHeld: true }, ETCD])] as const) },
  ],
  [
    'one is missing again after nobody could tell',
    'doubtful',
    {
      before: BOTH,
      seen: [...gone(5), [60, { question: 'static-pods', answer: { kind: 'not-asked', detail: 'no answer within 10 s' } }], ...gone(156)],
    },
  ],
  [
    'it was replaced by another version of kubelet, which computes another hash',
    'unknown',
    { keyBefore: 'content-a@1@kubelet-0', before: BOTH, seen: [[5, staticPods([moved, ETCD])]] },
  ],
  [
    'it was replaced, but its manifest had been changed before the restart',
    'unknown',
    { before: [staticPods([{ ...API_SERVER, startedAtMs: 0 }, ETCD])], seen: [[5, staticPods([moved, ETCD])]] },
  ],
  [
    'one has no running container for long',
    'no',
    { before: BOTH, seen: [5, 156].map((at) => [at, staticPods([{ ...API_SERVER, isRunning: false }, ETCD])] as const) },
  ],
  ['one was missing and is back', 'yes', { before: BOTH, seen: [...gone(5, 100), [110, staticPods([API_SERVER, ETCD])]] }],
  ['its manifest was removed', 'unknown', { before: BOTH, seen: [5, 156].map((at) => [at, staticPods([ETCD], { etcd: 'd2' })] as const) }],
  [
    'its manifest was changed',
    'unknown',
    { before: BOTH, seen: [5, 156].map((at) => [at, staticPods([moved, ETCD], { 'kube-apiserver': 'd7', etcd: 'd2' })] as const) },
  ],
  ['it was replaced, although its manifest is the same', 'no', { before: BOTH, seen: [[5, staticPods([moved, ETCD])]] }],
  [
    'it was replaced, and is back',
    'no',
    {
      before: BOTH,
      seen: [
        [5, staticPods([moved, ETCD])],
        [9, staticPods([API_SERVER, ETCD])],
      ],
    },
  ],
  [
    'one is missing, and another manifest has a container of its name',
    'no',
    { before: [alike(true)], seen: [5, 156].map((at) => [at, alike(true, [ETCD])] as const) },
  ],
  [
    'one is missing, and each manifest that may be its own is unchanged',
    'no',
    { before: [alike(false)], seen: [5, 156].map((at) => [at, alike(false, [ETCD])] as const) },
  ],
  [
    'one is missing, and one of the manifests that may be its own was changed',
    'unknown',
    { before: [alike(false)], seen: [5, 156].map((at) => [at, alike(false, [ETCD], 'd7')] as const) },
  ],
  [
    'it was replaced, and several manifests may be its own',
    'unknown',
    { before: [alike(false)], seen: [[5, alike(false, [moved, ETCD])]] },
  ],
  [
    'no runtime to ask',
    'unknown',
    { before: BOTH, seen: [[5, { question: 'static-pods', answer: { kind: 'not-asked', detail: 'nothing to ask' } }]] },
  ],
  ['nobody knows which ran before, and one does not run', 'uncompared', { seen: [[156, alike(true, [ETCD])]] }],
  [
    'the question before the restart had no answer, and one does not run',
    'uncompared',
    { before: [node('True')], seen: [[156, alike(true, [ETCD])]] },
  ],
  ['nobody knows which ran before, and a file that is of no pod has none', 'unknown', { seen: gone(5, 156) }],
  ['nobody knows which ran before, and all run', 'unknown', { seen: [[5, alike(true)]] }],
  ['it did not run before under what was promoted, and does not run', 'yes', { before: [staticPods([ETCD])], seen: gone(5, 156) }],
  [
    'it did not run before under a config on trial, and does not run',
    'uncompared',
    { earlier: [], before: [staticPods([ETCD])], seen: gone(5, 156) },
  ],
  ['it did not run before, and runs', 'yes', { before: [staticPods([ETCD])], seen: [[5, staticPods([API_SERVER, ETCD])]] }],
  [
    'it did not run before, and another one is missing',
    'no',
    { before: [staticPods([ETCD])], seen: [5, 156].map((at) => [at, staticPods([])] as const) },
  ],
  ['its manifest may be of a pod that completes', 'yes', { before: [completes([ETCD])], seen: [[5, completes([ETCD])]] }],
])

const LISTED = [pods(['c', 'Evicted']), staticPods([])]
const MANY = Array.from({ length: 1001 }, (_, index) => [`pod-${index}`, 'Evicted'] as const)
const LOW_ON_MEMORY = 'The node was low on resource: memory. '
const PRESSED = node('True', { reportedAt: 10, answeredAt: 20, pressure: ['DiskPressure'] })
check('serving', [
  [
    'no TLS before the start deadline, where the health port is not known',
    'doubtful',
    { before: KNOWN, seen: [5, 70].map((at) => [at, serving('no-tls')] as const), snapshot: { healthz: PORT_NOT_KNOWN } },
  ],
])
check('pods', [
  ['none failed', 'yes', { before: LISTED, seen: [[60, pods()]] }],
  ...['OutOfcpu', 'OutOfmemory', 'OutOfpods', 'UnexpectedAdmissionError', 'NodeAffinity', 'Evicted'].map(
    (reason): Row => [reason, 'perhaps', { before: LISTED, seen: [[60, pods(['b', reason])]] }],
  ),
  ['pressure on the node', 'perhaps', { before: LISTED, seen: [[60, pods(['b', 'Evicted', -9999, { message: LOW_ON_MEMORY }])]] }],
  [
    'one was evicted from a node that was under pressure before',
    'yes',
    { before: [node('True', { reportedAt: -9, pressure: ['DiskPressure'] }), ...LISTED], seen: [[60, pods(['b', 'Evicted'])]] },
  ],
  [
    'one that came later was refused, by a clock that was set back meanwhile',
    'yes',
    { before: LISTED, seen: [[60, pods(['d', 'OutOfcpu', -3600, { createdAtMs: 1_800_000_000_000 + 20_000 }])]] },
  ],
  ['more had failed before than are remembered', 'unknown', { before: [pods(...MANY)], seen: [[60, pods(...MANY)]] }],
  [
    'one was evicted for what no field is known to cause',
    'perhaps',
    { changed: ['maxPods'], before: LISTED, seen: [[60, pods(['b', 'Evicted'])]] },
  ],
  ['a field changed whose name begins alike', 'yes', { changed: ['maxPodsLater'], before: LISTED, seen: [[60, pods(['b', 'OutOfpods'])]] }],
  ['one failed by itself', 'yes', { before: LISTED, seen: [[60, pods(['b', 'Error'])]] }],
  ['one that had been evicted before', 'yes', { before: LISTED, seen: [[60, pods(['c', 'Evicted'])]] }],
  ['one that came later was refused', 'yes', { before: LISTED, seen: [[60, pods(['d', 'OutOfcpu', 20])]] }],
  [
    'one that was evicted is deleted by now',
    'perhaps',
    {
      before: LISTED,
      seen: [
        [60, pods(['b', 'Evicted'])],
        [90, pods()],
      ],
    },
  ],
  ['pressure with the restart', 'perhaps', { before: [...WAS_READY, ...LISTED], seen: [[20, PRESSED]] }],
  [
    'pressure as before',
    'yes',
    {
      before: [node('True', { reportedAt: -9, pressure: ['DiskPressure'] }), ...LISTED],
      seen: [
        [20, PRESSED],
        [60, pods()],
      ],
    },
  ],
  [
    'pressure long after the restart',
    'yes',
    {
      before: [...WAS_READY, ...LISTED],
      seen: [
        [60, pods()],
        [200, node('True', { reportedAt: 190, answeredAt: 200, pressure: ['DiskPressure'] })],
      ],
    },
  ],
  ['the agent may not list pods', 'unknown', { before: LISTED, seen: [[60, refused('pods')]] }],
  ['nobody knows which ran before', 'unknown', { seen: [[60, pods(['b', 'Evicted'])]] }],
])

/** The judgement about a failed pod, or about pressure, where the config changes these fields. */
function blame(changed: readonly string[] | undefined, reason: string, message: string): string {
  const lost = pods(['b', reason, -9999, { message }])
  const { answer, damage, mayBeNodes } = find('pods', { before: [...WAS_READY, ...LISTED], changed, seen: [[60, lost]] })
  return answer === 'no' ? `${damage}${mayBeNodes ? ', perhaps' : ''}` : answer
}

t.test('401 where the API server is never asked is a doubt', async (t) => {
  const story: Story = {
    before: [serving(403)],
    seen: [
      [5, serving(401)],
      [70, serving(401)],
    ],
  }
  t.match(find('serving', story), { answer: NO, damage: 'transient', mayBeNodes: true })
})

t.test('a pod that failed speaks against the config only where a changed field can be the cause', async (t) => {
  const rows: readonly (readonly [reason: string, message: string, field: string])[] = [
    ['OutOfcpu', '', 'kubeReserved.cpu'],
    ['OutOfcpu', '', 'reservedSystemCPUs'],
    ['OutOfmemory', '', 'evictionHard.memory.available'],
    ['OutOfephemeral-storage', '', 'systemReserved.ephemeral-storage'],
    ['OutOfpods', '', 'podsPerCore'],
    ['Preempting', 'Preempted in order to admit critical pod', 'maxPods'],
    ['UnexpectedAdmissionError', 'preemption: error finding a set of pods to preempt: no set of running pods found', 'podsPerCore'],
    ['UnexpectedAdmissionError', 'Allocate failed due to not enough cpus available to satisfy request: requested=4', 'cpuManagerPolicy'],
    ['UnexpectedAdmissionError', 'Allocate failed due to [memorymanager] failed to get the default NUMA affinity', 'reservedMemory'],
    ['UnexpectedAdmissionError', 'Allocate failed due to [memorymanager] failed to find the default preferred hint', 'memoryManagerPolicy'],
    ['TopologyAffinityError', 'Resources cannot be allocated with Topology locality', 'topologyManagerPolicy'],
    ['SMTAlignmentError', '', 'cpuManagerPolicyOptions'],
    ['EmptyPodSharedPoolError', '', 'topologyManagerScope'],
    ['SysctlForbidden', 'forbidden sysctl: "net.core.somaxconn" not allowlisted', 'allowedUnsafeSysctls'],
    ['PodFeatureUnsupported', '', 'featureGates.NodeDeclaredFeatures'],
    ['PodLevelResourcesNotSupported', '', 'featureGates.PodLevelResources'],
    ['Evicted', LOW_ON_MEMORY, 'evictionSoft.memory.available'],
    ['Evicted', LOW_ON_MEMORY, 'evictionHard'],
    [
      'Evicted',
      'The node was low on resource: ephemeral-storage. Threshold quantity: 10Gi, available: 9Gi. ',
      'evictionHard.imagefs.available',
    ],
    ['Evicted', 'The node was low on resource: inodes. ', 'evictionHard.nodefs.inodesFree'],
    ['Evicted', 'The node had condition: [DiskPressure MemoryPressure]. ', 'kubeReserved.memory'],
    ...[
      'systemReserved.memory',
      'enforceNodeAllocatable',
      'cgroupsPerQOS',
      'qosReserved',
      'memorySwap.swapBehavior',
      'failSwapOn',
      'kernelMemcgNotification',
    ].map((field) => ['Evicted', LOW_ON_MEMORY, field] as const),
    ...['imageMinimumGCAge', 'containerLogMaxSize', 'podLogsDir', 'containerRuntimeEndpoint', 'imageServiceEndpoint'].map(
      (field) => ['Evicted', 'The node was low on resource: inodes. ', field] as const,
    ),
    ['Evicted', 'The node was low on resource: pids. ', 'podPidsLimit'],
    ['Evicted', 'Usage of EmptyDir volume "cache" exceeds the limit "1Gi". ', 'localStorageCapacityIsolation'],
  ]
  for (const [reason, message, field] of rows) {
    t.equal(blame([field], reason, message), 'one-way', `${reason} ${field}`)
    t.equal(
      blame(['hairpinMode', 'logging.verbosity', 'evictionMaxPodGracePeriod'], reason, message),
      'yes',
      `${reason}, and nothing changed that can cause it`,
    )
    t.equal(blame(undefined, reason, message), 'transient, perhaps', `${reason}, and nobody knows what changed`)
    if (!field.startsWith('featureGates'))
      t.equal(blame(['featureGates.Some'], reason, message), 'transient, perhaps', `${reason}, and a gate changed`)
  }
})

t.test('what a reservation takes from pods is its own resource, and no other', async (t) => {
  const resources = ['cpu', 'memory', 'ephemeral-storage']
  for (const resource of resources) {
    for (const field of [`kubeReserved.${resource}`, `systemReserved.${resource}`]) {
      for (const short of resources) {
        const expected = short === resource ? 'one-way' : 'yes'
        t.equal(blame([field], `OutOf${short}`, ''), expected, `${field}: OutOf${short}`)
      }
      t.equal(blame([field], 'Preempting', 'Preempted in order to admit critical pod'), 'one-way', field)
    }
  }
  t.equal(blame(['evictionHard.nodefs.available'], 'OutOfephemeral-storage', ''), 'one-way')
})

t.test('a threshold evicts for its own signal, and for no other', async (t) => {
  const signals = {
    memory: ['memory.available'],
    'ephemeral-storage': ['nodefs.available', 'imagefs.inodesFree', 'containerfs.available'],
    pids: ['pid.available'],
  }
  const resources = Object.keys(signals)
  for (const [resource, own] of Object.entries(signals)) {
    const fields = ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim'].flatMap((map) =>
      own.map((signal) => `${map}.${signal}`),
    )
    for (const low of resources) {
      const message = `The node was low on resource: ${low}. `
      for (const field of fields) t.equal(blame([field], 'Evicted', message), low === resource ? 'one-way' : 'yes', `${field}: ${message}`)
    }
    const message = `The node was low on resource: ${resource}. `
    t.equal(blame(['evictionPressureTransitionPeriod'], 'Evicted', message), 'one-way', message)
  }
})

t.test('what an eviction quotes of a container is not the limit of a pod', async (t) => {
  const message = `${LOW_ON_MEMORY}Usage of EmptyDir volume "cache" exceeds the limit "1Gi". `
  t.equal(blame(['localStorageCapacityIsolation'], 'Evicted', message), 'yes')
})

t.test('what no field can cause fails nothing, and is told', async (t) => {
  const every = ['maxPods', 'kubeReserved.cpu', 'evictionHard.memory.available', 'cpuManagerPolicy', 'staticPodPath']
  const rows: readonly (readonly [reason: string, message: string])[] = [
    ['NodeAffinity', 'Predicate NodeAffinity failed'],
    ['UnexpectedAdmissionError', 'Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu'],
    ['UnexpectedAdmissionError', 'Allocate failed due to requested number of devices unavailable for example.com/cpu. Requested: 1'],
    ['OutOfnvidia.com/gpu', ''],
    ['Evicted', 'Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. '],
    ['Evicted', 'Container main exceeded its local ephemeral storage limit "1Gi". '],
    ['Evicted', 'The node was low on resource: ephemeral-storage. '],
  ]
  for (const [reason, message] of rows) {
    const lost = pods(['b', reason, -9999, { message }])
    const { answer, detail } = find('pods', { before: LISTED, changed: every, seen: [[60, lost]] })
    t.equal(answer, 'yes', `${reason} ${message}`)
    t.match(detail, `default/b (${reason})`)
  }
})

t.test('pressure that came with the restart speaks against a config that changes its thresholds', async (t) => {
  const story = {
    before: [...WAS_READY, ...LISTED],
    seen: [
      [20, PRESSED],
      [60, pods()],
    ],
  } as const
  t.match(find('pods', { ...story, changed: ['evictionHard.nodefs.available'] }), { answer: NO, damage: 'one-way', mayBeNodes: false })
  t.match(find('pods', { ...story, changed: ['maxPods'] }), { answer: 'yes', detail: /DiskPressure/ })
  for (const [type, field] of [
    ['MemoryPressure', 'evictionHard.memory.available'],
    ['PIDPressure', 'podPidsLimit'],
  ] as const) {
    const pressed = node('True', { reportedAt: 10, answeredAt: 20, pressure: [type] })
    const under = (changed: readonly string[]) =>
      find('pods', {
        before: story.before,
        changed,
        seen: [
          [20, pressed],
          [60, pods()],
        ],
      }).answer
    t.equal(under([field]), 'no', type)
    t.equal(under(['evictionHard.nodefs.available']), 'yes', type)
  }
  t.match(find('pods', story), { answer: NO, damage: 'transient', mayBeNodes: true })
  t.match(find('pods', { ...story, changed: ['maxPods', 'featureGates.Some'] }), { answer: NO, damage: 'transient', mayBeNodes: true })
})

t.test('another kubelet than before may itself have refused a pod', async (t) => {
  const lost = pods(['b', 'OutOfpods'])
  const story = { before: [...LISTED], changed: ['maxPods'], keyBefore: 'content-a@1@other', seen: [[60, lost]] } as const
  t.match(find('pods', story), { answer: NO, damage: 'transient', mayBeNodes: true })
})

t.test('a record of an earlier boot, or about another process, says nothing', async (t) => {
  const story: Story = { before: KNOWN, seen: [[5, serving(403)]] }
  t.equal(find('serving', { ...story, snapshot: { now: { bootId: 'boot-2', monotonicUs: NOW_US, wallMs: 0 } } }).answer, 'unknown')
  const running = {
    kind: 'known',
    content: 'content-b@1',
    key: 'x',
    startedAtUs: NOW_US - MINUTE_US,
    invocationId: 'invocation-9',
  } as const
  t.equal(find('serving', { ...story, snapshot: { running } }).answer, 'unknown')
})

t.test('what others wrote is shown on one line, bounded, without control characters', async (t) => {
  const hostile = `\u001b[2J\u009b31m\r\nkubelet is fine${'x'.repeat(10_000)}`
  const name = `kube-system/${hostile}`
  const stories: readonly (readonly [EvidenceKind, Story])[] = [
    ['ready', { before: WAS_READY, seen: [[10, node('False', { reportedAt: 2, answeredAt: 10, message: hostile })]] }],
    ['pods', { before: LISTED, seen: [[60, pods(['b', 'Evicted', -9999, { name }])]] }],
    ['static-pods', { before: [staticPods([{ ...ETCD, name }], {})], seen: [[60, staticPods([], {})]] }],
    ['runtime', { before: SAME, seen: [[5, runtime('silent', hostile)]] }],
  ]
  for (const [kind, story] of stories) {
    const { detail } = find(kind, story)
    t.notMatch(detail, /\p{Cc}/u, kind)
    t.ok(Buffer.byteLength(detail) <= 600, `${kind}: ${detail.length}`)
  }
})

t.test('the agent writes where a Lease is in doubt, and a Lease is not in doubt after a suspend', async (t) => {
  const writes = (sinceSeconds: number) =>
    dueEvidence(snapshotOf({ seen: SILENT, now: 185, snapshot: healthySince(sinceSeconds) }), undefined).write
  t.equal(writes(4), true)
  t.equal(writes(175), false)
})
