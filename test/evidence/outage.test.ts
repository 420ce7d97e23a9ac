// SPDX-License-Identifier: Apache-2.0
/**
 * A property: one outage of the API server, of any length and at any time of a trial, condemns no
 * config with which kubelet is well. Times are seconds after the start of the process.
 */
import fc from 'fast-check'
import t from 'tap'
import { describeMissingEvidence, findEvidenceFailure, judgeEvidence } from '../../src/evidence/judge.ts'
import type { Fact, Question, SeenFact } from '../../src/evidence/kinds.ts'
import { recordFacts } from '../../src/evidence/record.ts'
import { dueEvidence } from '../../src/evidence/schedule.ts'
import { A_IS_KEPT, POLICY, SECOND_US } from '../decision/snapshots.ts'
import {
  API_SERVER,
  ETCD,
  lease,
  node,
  pods,
  recordStory,
  runtime,
  STARTED_US,
  serving,
  snapshotOf,
  staticPods,
  unreachable,
} from './samples.ts'

interface Outage {
  readonly from: number
  readonly seconds: number
  /** Kubelet reaches the API server again so much later than the agent. */
  readonly lag: number
  /** Kubelet renews its Lease each 10 s, beginning with this one. */
  readonly phase: number
}

const BEFORE: readonly SeenFact[] = [
  node('True', { reportedAt: -100 }),
  pods(),
  runtime('answered'),
  serving(403),
  staticPods([API_SERVER, ETCD]),
]
const STEP = 5
const LONGEST = 2400

function answer(question: Question, now: number, { from, seconds, lag, phase }: Outage): SeenFact {
  const isDown = now >= from && now < from + seconds
  // A request of kubelet's fails also while it still waits to try again.
  const isCutOff = now >= from && now < from + seconds + lag
  switch (question) {
    case 'lease': {
      const ticks = Array.from({ length: Math.max(0, Math.floor((now - phase) / 10) + 1) }, (_, index) => phase + 10 * index)
      const renewals = ticks.filter((at) => at < from || at >= from + seconds + lag).length
      const renewedAt = ticks.filter((at) => at < from || at >= from + seconds + lag).at(-1) ?? phase - 10
      // The wall clock of this world stands still.
      return isDown ? unreachable('lease') : lease(String(renewals), 40, 1000 * (renewedAt - now))
    }
    case 'node': {
      const reportedAt = from <= 1 ? from + seconds + lag : 1
      // The node controller calls the node lost for a moment.
      const isLost = now >= from + seconds && isCutOff
      return isDown
        ? unreachable('node')
        : node(isLost ? 'Unknown' : 'True', { reportedAt: now < reportedAt ? -100 : reportedAt, answeredAt: now })
    }
    case 'pods':
      return isDown ? unreachable('pods') : pods()
    case 'runtime':
      return runtime('answered')
    case 'serving':
      return serving(isCutOff ? 500 : 403)
    case 'static-pods':
      // A controller exits without the API server, and kubelet pauses before it starts it again.
      return staticPods([
        API_SERVER,
        isCutOff || (now >= from && now < from + 2 * seconds + 300) ? { ...ETCD, isRunning: false, isHeld: true } : ETCD,
      ])
  }
}

/** Returns when the trial would be promoted. undefined: not within the time. */
function runTrial(outage: Outage): { readonly failure?: string; readonly promotedAt?: number; readonly requests: number } {
  let record = recordStory({ before: BEFORE })
  let writtenAtUs: number | undefined
  let shown = ''
  for (let at = 0; at <= LONGEST; at += STEP) {
    const taken = snapshotOf({ now: at })
    const { running } = taken
    if (running.kind !== 'known') throw new Error('it runs')
    const nowUs = STARTED_US + at * SECOND_US
    const { questions, write } = dueEvidence({ ...taken, evidence: record }, undefined)
    const isUp = at < outage.from || at >= outage.from + outage.seconds
    const facts = questions.map((question): Fact => ({ about: running.invocationId, atUs: nowUs, seen: answer(question, at, outage) }))
    record = recordFacts(record, {
      now: taken.now,
      nodeName: 'node-1',
      running,
      candidate: undefined,
      startDeadlineUs: POLICY.startDeadlineUs,
      healthySinceUs: undefined,
      verdicts: new Map(),
      ...A_IS_KEPT,
      proven: undefined,
      facts,
      writtenAtUs,
    })
    const snapshot = { ...taken, evidence: record }
    const requests = record.process?.requests ?? 0
    const failure = findEvidenceFailure(snapshot)
    if (failure !== undefined) return { failure: `at ${at} s: ${failure.detail}`, requests }
    // The annotation is written when an answer changes.
    const answers = judgeEvidence(snapshot)
      .map(({ answer }) => answer)
      .join()
    if (isUp && (write || answers !== shown)) writtenAtUs = nowUs + 1
    shown = answers
    if (at >= 600 && describeMissingEvidence(snapshot, running.key) === undefined) return { promotedAt: at, requests }
  }
  return { requests: record.process?.requests ?? 0 }
}

t.test('one outage of the API server condemns no good config', async (t) => {
  const outages = fc.record({
    from: fc.integer({ min: 0, max: 620 }),
    seconds: fc.oneof(fc.integer({ min: 1, max: 120 }), fc.integer({ min: 120, max: 600 })),
    lag: fc.integer({ min: 0, max: 12 }),
    phase: fc.integer({ min: 0, max: 9 }),
  })
  fc.assert(
    fc.property(outages, (outage) => {
      const { failure, promotedAt, requests } = runTrial(outage)
      if (failure !== undefined) throw new Error(failure)
      if (promotedAt === undefined) throw new Error('never promoted')
      if (promotedAt <= 605 && requests > 13) throw new Error(`${requests} requests`)
    }),
    { numRuns: 150 },
  )
  t.pass()
})
