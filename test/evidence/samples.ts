// SPDX-License-Identifier: Apache-2.0
/**
 * A process on trial that is asked for evidence, and what it is answered. Times are seconds after
 * its start.
 */

import type { Snapshot } from '../../src/decision/snapshot.ts'
import { judgeEvidence } from '../../src/evidence/judge.ts'
import type { EvidenceFinding, EvidenceKind, EvidenceRecord, Fact, SeenFact } from '../../src/evidence/kinds.ts'
import type { FailedPod } from '../../src/evidence/pods.ts'
import type { NodeAnswer } from '../../src/evidence/ready.ts'
import { recordFacts } from '../../src/evidence/record.ts'
import type { StaticPod } from '../../src/evidence/static-pods.ts'
import type { Running } from '../../src/health/sample.ts'
import {
  A,
  B,
  BOOT,
  C,
  health,
  hold,
  inTrial,
  KUBELET,
  keyOf,
  MINUTE_US,
  NOW_US,
  POLICY,
  runs,
  SECOND_US,
  snapshot,
} from '../decision/snapshots.ts'

/** The process of A, from which the baseline is taken. */
const BEFORE = 'invocation-0'
export const STARTED_US = NOW_US - 5 * MINUTE_US
/** The wall clock of the node when the process starts, which is wrong by a year. */
const NODE_MS = 1_768_000_000_000

/** The one before that, where A was on trial itself. */
const EARLIER = 'invocation-earlier'

export interface Story {
  /** Answers about the process before A, which was on trial. undefined: it was not. */
  readonly earlier?: readonly SeenFact[]
  /** Answers about the process before the restart, on its own trial. */
  readonly tried?: readonly SeenFact[]
  /** The same for the baseline. undefined: there was none. */
  readonly before?: readonly SeenFact[] | undefined
  /** The fields that B changes. undefined: not known. */
  readonly changed?: readonly string[] | undefined
  readonly seen?: readonly (readonly [atSeconds: number, seen: SeenFact])[]
  /** Of the process before the restart. */
  readonly keyBefore?: string
  /** A write of the agent's own that succeeded. */
  readonly writtenAt?: number
  /** Nobody looked from the first of these times to the second. */
  readonly unseen?: readonly [fromSeconds: number, toSeconds: number]
  /** When it is judged: the trial is over after 600 s. Default: 300 s. */
  readonly now?: number
  readonly snapshot?: Partial<Snapshot>
}

/** The evidence of a Snapshot before anything is answered in it. */
export function recordNothing(candidate: string | undefined, { evidence, now, nodeName, running, ...kept }: Snapshot): EvidenceRecord {
  return recordFacts(evidence, {
    now,
    nodeName,
    running,
    candidate,
    startDeadlineUs: POLICY.startDeadlineUs,
    healthySinceUs: undefined,
    verdicts: new Map(),
    proven: undefined,
    lastKnownGood: kept.lastKnownGood,
    previous: kept.previous,
    facts: [],
    writtenAtUs: undefined,
  })
}

export function recordStory({
  earlier,
  tried = [],
  before,
  changed,
  seen = [],
  writtenAt,
  unseen,
  keyBefore = keyOf(A),
}: Story): EvidenceRecord {
  const common = {
    nodeName: 'node-1',
    startDeadlineUs: POLICY.startDeadlineUs,
    healthySinceUs: 0,
    verdicts: new Map(),
    proven: undefined,
    // A was promoted, unless it was on trial itself.
    lastKnownGood: earlier === undefined ? hold(A) : { source: C, content: 'content-0' },
    previous: hold('local'),
  }
  const recordAnswers = (
    record: EvidenceRecord | undefined,
    candidate: string | undefined,
    of: Running & { kind: 'known' },
    seenBefore: readonly SeenFact[],
  ) =>
    recordFacts(record, {
      ...common,
      now: { bootId: BOOT, monotonicUs: STARTED_US - SECOND_US, wallMs: NODE_MS - 1000 },
      running: of,
      candidate,
      changes: changed && { from: of.content, fields: changed },
      facts: seenBefore.map((each): Fact => ({ about: of.invocationId, atUs: STARTED_US - SECOND_US, seen: each })),
      writtenAtUs: undefined,
    })
  const ranBefore = { kind: 'known', content: 'content-a@1', key: keyBefore, startedAtUs: 0, invocationId: BEFORE } as const
  const ranEarlier = { ...ranBefore, content: 'content-0', key: `content-0@${KUBELET}`, invocationId: EARLIER } as const
  const onTrial = earlier && recordAnswers(undefined, keyBefore, ranEarlier, earlier)
  const afterTrial = tried.length === 0 ? onTrial : recordAnswers(onTrial, undefined, ranBefore, tried)
  const baseline = before === undefined ? undefined : recordAnswers(afterTrial, keyOf(B), ranBefore, before)
  const { running } = runs(B, { startedAgoUs: 5 * MINUTE_US })
  if (running === undefined) throw new Error('B runs')
  const now = { bootId: BOOT, monotonicUs: STARTED_US, wallMs: 0 }
  const [unseenFrom = 0, unseenTo = 0] = unseen ?? []
  const look = (record: EvidenceRecord | undefined, at: number, answers: readonly SeenFact[]) => {
    const atUs = STARTED_US + at * SECOND_US
    const writtenAtUs = writtenAt !== undefined && writtenAt <= at ? STARTED_US + writtenAt * SECOND_US : undefined
    const unseenUs = at < unseenTo ? undefined : (unseenTo - unseenFrom) * SECOND_US
    const facts = answers.map((each) => ({ about: 'invocation-1', atUs, seen: each }))
    const moment = { now: { ...now, monotonicUs: atUs }, unseenUs, writtenAtUs }
    return recordFacts(record, { ...common, ...moment, running, candidate: undefined, facts })
  }
  const looks = seen.reduce((record, [at, each]) => look(record, at, [each]), look(baseline, 0, []))
  return unseen === undefined ? looks : look(looks, Math.max(unseenTo, seen.at(-1)?.[0] ?? 0), [])
}

export function snapshotOf(story: Story): Snapshot {
  const nowUs = STARTED_US + (story.now ?? 300) * SECOND_US
  return {
    ...snapshot(inTrial()),
    now: { bootId: BOOT, monotonicUs: nowUs, wallMs: 0 },
    health: health(B, { healthySinceUs: STARTED_US, lastSampleUs: nowUs }),
    evidence: recordStory(story),
    ...story.snapshot,
  }
}

export function find(kind: EvidenceKind, story: Story): EvidenceFinding {
  const found = judgeEvidence(snapshotOf(story)).find((finding) => finding.kind === kind)
  if (found === undefined) throw new Error(`no finding of ${kind}`)
  return found
}

/** @param renewedAtMs by the clock of the node. undefined: the Lease does not say */
export function lease(resourceVersion: string, durationSeconds = 40, renewedAtMs?: number): SeenFact {
  return { question: 'lease', answer: { kind: 'found', resourceVersion, durationSeconds, renewedAtMs } }
}

/** @param reportedAt seconds after the start of the process, by the server's clock */
export function node(ready: NodeAnswer['ready'], facts: Partial<NodeAnswer> & { reportedAt?: number; answeredAt?: number } = {}): SeenFact {
  const { reportedAt, answeredAt, ...rest } = facts
  const ms = (seconds: number) => 1_800_000_000_000 + 1000 * seconds
  return {
    question: 'node',
    answer: {
      kind: 'found',
      ready,
      message: ready === 'False' ? 'a volume plugin failed' : 'kubelet is posting ready status',
      reportedAtMs: reportedAt === undefined ? undefined : ms(reportedAt),
      serverMs: answeredAt === undefined ? undefined : ms(answeredAt),
      pressure: [],
      ...rest,
    },
  }
}

export function runtime(kind: 'answered' | 'silent', endpoint = '/run/containerd/containerd.sock'): SeenFact {
  return { question: 'runtime', answer: { kind, endpoint, detail: kind === 'answered' ? '' : 'no answer within 10 s' } }
}

export function serving(status: number | 'no-tls' | 'silent' | 'no-certificate', user = 'system:node:node-1'): SeenFact {
  if (status === 'silent') return { question: 'serving', answer: { kind: 'no-tls', detail: 'no answer within 5 s', isSilent: true } }
  if (status === 'no-certificate') return { question: 'serving', answer: { kind: 'no-certificate', detail: 'tls alert internal error' } }
  if (status === 'no-tls') return { question: 'serving', answer: { kind: 'no-tls', detail: 'connection refused' } }
  return { question: 'serving', answer: { kind: 'answered', status, user: status === 403 ? user : undefined } }
}

export const API_SERVER: StaticPod = { hash: 'hash-1', name: 'kube-system/kube-apiserver-node-1', isRunning: true, startedAtMs: 2000 }
export const ETCD: StaticPod = { hash: 'hash-2', name: 'kube-system/etcd-node-1', isRunning: true, startedAtMs: 2000 }

/** @param digests of the manifests, by their name */
export function staticPods(
  pods: readonly StaticPod[],
  digests: Readonly<Record<string, string>> = { 'kube-apiserver': 'd1', etcd: 'd2' },
): SeenFact {
  const manifests = Object.entries(digests).map(([name, digest]) => ({
    path: `/etc/kubernetes/manifests/${name}.yaml`,
    digest,
    modifiedAtMs: 1000,
    names: [name],
  }))
  // One that tests lose.
  return { question: 'static-pods', answer: { kind: 'found', pods, manifests, live: ['default/b'] } }
}

/** @param startedAt seconds after the start of the process: by default long before it */
export function pods(
  ...failed: readonly (readonly [uid: string, reason: string, startedAt?: number, facts?: Partial<FailedPod>])[]
): SeenFact {
  const serverMs = 1_800_000_000_000 - 1000
  const list = failed.map(([uid, reason, startedAt = -9999, facts]): FailedPod => {
    const createdAtMs = serverMs + 1000 * Math.min(startedAt, 0) - 9000
    return { uid, name: `default/${uid}`, reason, message: '', createdAtMs, startedAtMs: NODE_MS + 1000 * startedAt, ...facts }
  })
  return { question: 'pods', answer: { kind: 'found', pods: list, serverMs } }
}

export function refused(question: 'node' | 'lease' | 'pods'): SeenFact {
  return { question, answer: { kind: 'forbidden', detail: '403 Forbidden' } }
}

export function unreachable(question: 'node' | 'lease' | 'pods'): SeenFact {
  return { question, answer: { kind: 'unreachable', detail: 'connect ETIMEDOUT' } }
}
