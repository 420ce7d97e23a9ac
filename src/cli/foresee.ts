/**
 * What the agent would do from here on, step by step, if everything goes well: the decision that the agent runs on, asked again after each step for the node
 * as that step would leave it. Pure. It ends where the agent would wait for something that only time or kubelet can tell; a wait that ends by itself
 * (a turn in a spread, the hourly limit) is passed through.
 */
import type { ConfigSource, ContentHash, HeldSource } from '../decision/config-source.ts'
import { LOCAL, LOCAL_CONTENT, sameSource, sameVersion } from '../decision/config-source.ts'
import { nextStep } from '../decision/next-step.ts'
import type { Snapshot } from '../decision/snapshot.ts'
import type { Step, StepOf, Wait } from '../decision/step.ts'
import type { TrialKey } from '../decision/trial-key.ts'
import { trialKey } from '../decision/trial-key.ts'
import type { Verdict } from '../decision/verdict.ts'
import { explain } from './explain.ts'

export interface ForeseenStep {
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

/** What preflight says of a content on this kubelet. */
export interface Foretold {
  /** undefined: it accepts it. */
  refusal(key: TrialKey): Verdict | undefined
  /** Fields that wait for a drained node. */
  drain(key: TrialKey): readonly string[]
}

export function foresee(start: Snapshot, foretold: Foretold): Foresight {
  const steps: ForeseenStep[] = []
  let snapshot = start
  for (let count = 0; count < MOST_STEPS; count += 1) {
    const step = nextStep(snapshot)
    const afterUs = snapshot.now.monotonicUs - start.now.monotonicUs
    if (step.kind === 'wait') {
      const { waitRemainingUs } = explain(snapshot)
      if (waitRemainingUs === undefined || waitRemainingUs === 0) return { steps, rest: step, end: snapshot }
      steps.push({ step, afterUs })
      snapshot = passTime(snapshot, waitRemainingUs)
    } else {
      steps.push({ step, afterUs })
      snapshot = apply(snapshot, step, foretold)
    }
  }
  const rest: Wait = { kind: 'wait', phase: 'unknown', detail: 'this goes on and on', untilUs: snapshot.now.monotonicUs }
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

/** As `perform` does it, on paper. */
function apply(snapshot: Snapshot, step: Exclude<Step, Wait>, foretold: Foretold): Snapshot {
  const { requests, verdicts } = snapshot
  switch (step.kind) {
    case 'forgive': {
      const kept = [...verdicts].filter(([key]) => !step.keys.includes(key))
      const health = snapshot.health && { ...snapshot.health, exits: 0 }
      return { ...snapshot, verdicts: new Map(kept), health, requests: step.asked ? { ...requests, retry: false } : requests }
    }
    case 'record-channel':
      return { ...snapshot, recordedChannelState: step.channelState }
    case 'drop-rollback':
      return { ...snapshot, requests: { ...requests, rollback: undefined } }
    case 'assign':
      return assign(snapshot, step)
    case 'reset-to-local':
      return {
        ...snapshot,
        assigned: { kind: 'source', source: 'local' },
        assignedContent: LOCAL_CONTENT,
        lastKnownGood: LOCAL,
        previous: LOCAL,
        proven: undefined,
      }
    case 'condemn':
      return {
        ...withVerdicts(snapshot, [step.verdict]),
        requests: step.asked ? { ...requests, rollback: undefined } : requests,
      }
    case 'confirm':
      return withVerdicts(
        snapshot,
        step.verdicts.map((verdict) => ({ ...verdict, state: 'confirmed' })),
      )
    case 'preflight': {
      const verdict = foretold.refusal(step.key)
      if (verdict !== undefined) return withVerdicts(snapshot, [{ ...verdict, basis: snapshot.basis }])
      const verdicts = new Map([...snapshot.verdicts].filter(([key, { state }]) => key !== step.key || state !== 'refused'))
      return {
        ...snapshot,
        verdicts,
        accepted: new Map([...snapshot.accepted, [step.key, { drain: foretold.drain(step.key), basis: snapshot.basis }]]),
      }
    }
    case 'activate':
      return { ...snapshot, nextStart: { kind: 'known', held: { source: step.target, content: contentOf(snapshot, step.target) } } }
    case 'restart':
      return restart(snapshot, step)
    case 'prove':
      return { ...snapshot, proven: step.key }
    case 'promote': {
      const { target, previous } = step
      return { ...snapshot, lastKnownGood: target, previous: previous === undefined ? snapshot.previous : snapshot.lastKnownGood }
    }
    case 'forget-fallback':
      return step.record === 'previous' ? { ...snapshot, previous: LOCAL } : { ...snapshot, lastKnownGood: LOCAL, proven: undefined }
    case 'prune': {
      const gone = new Set(step.checkpoints)
      return { ...snapshot, checkpoints: snapshot.checkpoints.filter((checkpoint) => !gone.has(checkpoint)) }
    }
  }
}

function assign(snapshot: Snapshot, { source, inPlace }: StepOf<'assign'>): Snapshot {
  const { now, policy, desiredContent, storedContent, previous, lastKnownGood, checkpoints, nextStart } = snapshot
  const replaces = storedContent !== undefined && storedContent !== desiredContent
  const fallback = replaces && sameVersion(previous.source, source) ? LOCAL : previous
  const lost = replaces && sameVersion(lastKnownGood.source, source)
  const sinceUs = inPlace ? now.monotonicUs : now.monotonicUs - policy.spreadUs
  // A version that was given out again with other content, or whose checkpoint was lost: what names it, holds that from now on.
  const renewed = nextStart.kind === 'known' && sameVersion(nextStart.held.source, source)
  const { uid, resourceVersion, overlay } = source
  const version = { uid, resourceVersion, overlay }
  const isSaved = checkpoints.some((saved) => saved.uid === uid && saved.resourceVersion === resourceVersion && saved.overlay === overlay)
  return {
    ...snapshot,
    assigned: { kind: 'source', source },
    assignedContent: desiredContent,
    storedContent: desiredContent,
    nextStart: renewed ? { kind: 'known', held: { source: nextStart.held.source, content: desiredContent } } : nextStart,
    previous: fallback,
    lastKnownGood: lost ? fallback : lastKnownGood,
    proven: lost ? undefined : snapshot.proven,
    spread: inPlace || snapshot.spread !== undefined ? { bootId: now.bootId, source, sinceUs } : undefined,
    checkpoints: isSaved ? checkpoints : [...checkpoints, { ...version, savedAtMs: now.wallMs }],
  }
}

/** Kubelet comes up with what it starts with next; whether it stays healthy, nobody knows. */
function restart(snapshot: Snapshot, { record }: StepOf<'restart'>): Snapshot {
  const { unit, nextStart, now, restarts } = snapshot
  if (unit.kind !== 'known' || nextStart.kind !== 'known' || nextStart.held.content === undefined) return snapshot
  const { content } = nextStart.held
  const invocationId = `after ${unit.invocationId}`
  const startedAtUs = now.monotonicUs
  return {
    ...snapshot,
    unit: { ...unit, activity: 'running', summary: 'active (running)', invocationId, startedAtUs },
    running: { kind: 'known', content, key: trialKey(content, unit.kubeletIdentity), startedAtUs, invocationId },
    restarts: [...restarts, { ...record, outcome: { ok: true, detail: '' } }],
    health: undefined,
  }
}

function withVerdicts(snapshot: Snapshot, added: readonly Verdict[]): Snapshot {
  return { ...snapshot, verdicts: new Map([...snapshot.verdicts, ...added.map((verdict) => [verdict.key, verdict] as const)]) }
}

function contentOf(snapshot: Snapshot, source: ConfigSource): ContentHash | undefined {
  if (source === 'local') return LOCAL_CONTENT
  const { assigned, assignedContent, lastKnownGood, previous, nextStart } = snapshot
  const held: HeldSource[] = [lastKnownGood, previous]
  if (assigned.kind === 'source') held.unshift({ source: assigned.source, content: assignedContent })
  if (nextStart.kind === 'known') held.push(nextStart.held)
  return held.find((one) => sameSource(one.source, source))?.content
}
