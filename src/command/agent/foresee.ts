// SPDX-License-Identifier: Apache-2.0
/**
 * The future of a node, step by step, if all goes well. Each step is the agent's own decision about
 * the node as the step before leaves it. Pure. The list ends where the agent would wait for
 * something that only time or kubelet can tell; a wait that ends by itself (a turn in a spread, the
 * hourly limit) is passed through.
 */
import { type CommandAnswers, carryOut } from '../../decision/carry-out.ts'
import { nextVisibleStep } from '../../decision/rules.ts'
import type { Snapshot } from '../../decision/snapshot.ts'
import type { Step, Wait } from '../../decision/step.ts'
import type { PreflightResult, Verdict } from '../../decision/verdict.ts'
import { type TrialKey, trialKey } from '../../subject/trial-key.ts'
import { explain } from './explain.ts'

interface ForeseenStep {
  readonly step: Step
  /** From now. */
  readonly afterUs: number
}

export interface Foresight {
  /** Waits among them are passed through. */
  readonly steps: readonly ForeseenStep[]
  /** Where the agent comes to rest. */
  readonly rest: Wait
  readonly end: Snapshot
}

/** More would be a circle. */
const MOST_STEPS = 40

/** Preflight's answers about contents on this kubelet. */
export interface Foretold {
  /** undefined: preflight accepts the content. */
  refusal(key: TrialKey): Verdict | undefined
  /** Why the content cannot be checked, so that the agent waits. undefined: it can. */
  obstacle(key: TrialKey): string | undefined
  /** Fields that wait for a drained node. */
  drain(key: TrialKey): readonly string[]
}

export function foresee(start: Snapshot, foretold: Foretold): Foresight {
  const steps: ForeseenStep[] = []
  const answers = answersFrom(foretold)
  let snapshot = start
  for (let count = 0; count < MOST_STEPS; count += 1) {
    const step = nextVisibleStep(snapshot)
    const afterUs = snapshot.now.monotonicUs - start.now.monotonicUs
    if (step.kind === 'wait') {
      const { waitRemainingUs } = explain(snapshot)
      // In a rollout, a turn depends on what other nodes write until then.
      if (step.phase === 'rollout') return { steps, rest: step, end: snapshot }
      if (waitRemainingUs === undefined || waitRemainingUs === 0) return { steps, rest: step, end: snapshot }
      steps.push({ step, afterUs })
      snapshot = passTime(snapshot, waitRemainingUs)
    } else {
      steps.push({ step, afterUs })
      const obstacle = step.kind === 'preflight' && !step.fallback ? foretold.obstacle(step.key) : undefined
      if (obstacle !== undefined)
        return { steps, rest: { kind: 'wait', phase: 'unknown', detail: obstacle, untilUs: snapshot.now.monotonicUs }, end: snapshot }
      snapshot = carryOut(snapshot, step, answers)
    }
  }
  const rest: Wait = { kind: 'wait', phase: 'unknown', detail: 'the agent would not come to rest', untilUs: snapshot.now.monotonicUs }
  return { steps, rest, end: snapshot }
}

/** Kubelet's health stays what it was last seen to be. */
function passTime(snapshot: Snapshot, us: number): Snapshot {
  const { now, health } = snapshot
  const monotonicUs = now.monotonicUs + us
  return {
    ...snapshot,
    now: { ...now, monotonicUs, wallMs: now.wallMs + us / 1000 },
    health: health && { ...health, lastSampleUs: health.lastSampleUs + us },
  }
}

function answersFrom({ refusal, drain }: Foretold): CommandAnswers {
  return {
    preflight({ key, source }, { basis, localConfig, now }) {
      const verdict = refusal(key)
      const result: PreflightResult =
        verdict === undefined
          ? { kind: 'accepted', remarks: [], drain: drain(key) }
          : { kind: 'refused', reason: verdict.reason === 'load' ? 'load' : 'validate', detail: verdict.detail }
      return { result, basis, at: now, ...(source === 'local' && { localConfig }) }
    },
    restart: (snapshot) => ({ outcome: { ok: true }, after: startKubelet(snapshot) }),
  }
}

/** Kubelet comes up with what it starts with next. Whether it stays healthy is not known. */
function startKubelet(snapshot: Snapshot): Snapshot {
  const { unit, nextStart, now } = snapshot
  if (unit.kind !== 'known' || nextStart.kind !== 'known' || nextStart.held.content === undefined) return snapshot
  const { content } = nextStart.held
  const invocationId = `after ${unit.invocationId}`
  const startedAtUs = now.monotonicUs
  return {
    ...snapshot,
    unit: { ...unit, activity: 'running', summary: 'active (running)', invocationId, startedAtUs },
    running: { kind: 'known', content, key: trialKey(content, unit.kubeletIdentity), startedAtUs, invocationId },
    health: undefined,
  }
}
