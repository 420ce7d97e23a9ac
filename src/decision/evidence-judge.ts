/**
 * Judges the evidence about the process that runs. Pure. `docs/evidence.md` has the table of what
 * counts as yes, no and unknown.
 */
import { healthOfRunning } from '../health/process.ts'
import { cutToBytes, onOneLine } from '../values/cut.ts'
import { wallMsAt } from '../values/durations.ts'
import type { CheckpointInfo, ConfigSource } from './config-source.ts'
import {
  type Damage,
  EVIDENCE_KINDS,
  type EvidenceFinding,
  type EvidenceKind,
  type KindStanding,
  levelOf,
  no,
  unknown,
  yes,
} from './evidence.ts'
import { findBaseline, hadLostPods, withEarlier } from './evidence-baseline.ts'
import { judgeLease } from './evidence-lease.ts'
import { judgePods } from './evidence-pods.ts'
import { judgeReady, NOT_READY_US } from './evidence-ready.ts'
import { judgeRuntime } from './evidence-runtime.ts'
import { judgeServing } from './evidence-serving.ts'
import type { EvidenceView, ProcessEvidence } from './evidence-state.ts'
import { judgeStaticPods } from './evidence-static-pods.ts'
import type { Snapshot } from './snapshot.ts'
import { measureTrial } from './trial.ts'
import { contentOfKey } from './trial-key.ts'

/** A part of it comes from the API server and from the container runtime. */
const DETAIL_BYTES = 600
const NOTHING = unknown('nothing was asked about this process')

/** One finding for each kind that is not switched off. */
export function judgeEvidence(snapshot: Snapshot): readonly EvidenceFinding[] {
  const view = viewEvidence(snapshot)
  return EVIDENCE_KINDS.filter((kind) => levelOf(snapshot.policy.evidence, kind) !== 'off').map((kind): EvidenceFinding => {
    const standing = judgeKind(kind, snapshot, view)
    const { answer, sinceUs, isDoubtful = false, isUncompared = false } = standing
    const mayBeNodes = standing.mayBeNodes === true || (answer === 'no' && mayBeOfBoot(kind, view))
    const detail = cutToBytes(onOneLine(standing.detail), DETAIL_BYTES)
    const damage = mayBeNodes ? 'transient' : damageOf(kind, view)
    return { kind, answer, detail, sinceUs, damage, mayBeNodes, isDoubtful, isUncompared }
  })
}

/**
 * Only the config that the baseline was taken before can do damage. A fallback may fail to mend it,
 * and so may a config that replaced one on trial.
 */
function damageOf(kind: EvidenceKind, view: EvidenceView | undefined): Damage {
  if (view?.isCandidate !== true) return 'transient'
  const isOwn = kind === 'pods' || (kind === 'static-pods' && !view.hadLostPods)
  return isOwn ? 'one-way' : 'transient'
}

/** What was there before a boot, and is gone, may be late, or the doing of the boot. */
function mayBeOfBoot(kind: EvidenceKind, view: EvidenceView | undefined): boolean {
  return view?.baseline?.beforeBoot === true && COMPARED.includes(kind)
}

/** The kinds that say no only of what the baseline has otherwise. It has no pods after a boot. */
const COMPARED: readonly EvidenceKind[] = ['runtime', 'ready', 'serving', 'static-pods']

/** undefined: nothing is known of the process that runs. */
export function viewEvidence(snapshot: Snapshot): EvidenceView | undefined {
  const { evidence, running, policy, now } = snapshot
  const process = evidence?.process
  if (running.kind !== 'known' || process === undefined || evidence?.bootId !== now.bootId) return undefined
  if (process.invocationId !== running.invocationId) return undefined
  const found = findBaseline(evidence, snapshot)
  const baseline = found && withEarlier(found)
  const isCandidate = baseline !== undefined && contentOfKey(baseline.candidate) === running.content
  const isAtEnd = measureTrial(snapshot, running.key)?.remainingUs === 0
  const servesFromUs = findServing(snapshot, process)
  const takenUs = found === undefined || found.beforeBoot === true ? process.sinceUs : found.sinceUs
  return {
    process,
    baseline,
    isCandidate,
    notReadyByMs: findNotReadyBy(snapshot, Math.min(process.sinceUs, takenUs)),
    hadLostPods: found !== undefined && hadLostPods(found),
    policy,
    servesFromUs,
    renewsFromUs: findRenewing(snapshot),
    isAtEnd,
  }
}

/**
 * What the node was before the first config that was not promoted arrived is no such config's
 * doing. A config's checkpoint is saved before kubelet gets it, and may be saved anew later. In the
 * first minutes of a boot, a node is not Ready in any case. undefined: not known.
 *
 * @param startedUs the first start that is known of what runs, or before it
 */
function findNotReadyBy({ checkpoints, lastKnownGood, previous, now }: Snapshot, startedUs: number): number | undefined {
  const isPromoted = (each: CheckpointInfo) => [lastKnownGood, previous].some(({ source }) => isCheckpointOf(each, source))
  const times = checkpoints.filter((each) => !isPromoted(each)).map(({ savedAtMs }) => savedAtMs)
  const byMs = Math.min(...times, wallMsAt(startedUs, now)) - NOT_READY_US / 1000
  return times.length === 0 || byMs < wallMsAt(0, now) ? undefined : byMs
}

function isCheckpointOf({ uid, resourceVersion, overlay }: CheckpointInfo, source: ConfigSource): boolean {
  return source !== 'local' && source.uid === uid && source.resourceVersion === resourceVersion && source.overlay === overlay
}

/**
 * Kubelet opens its TLS port and its health port together (`run` and `startKubelet` in
 * cmd/kubelet/app/server.go). Until then the start deadline decides, not the evidence. So it does
 * where there is no health port, or none is known.
 */
function findServing({ healthz, health, policy }: Snapshot, { sinceUs }: ProcessEvidence): number | undefined {
  return healthz === undefined || healthz.ok === 'unknown' ? sinceUs + policy.startDeadlineUs : health?.healthySinceUs
}

/**
 * A gap between two looks begins the time of a healthy process anew. What does not answer on its
 * health port is the business of kind `healthz`. Where that port is not known, neither is a gap.
 */
function findRenewing(snapshot: Snapshot): number | undefined {
  const process = healthOfRunning(snapshot)
  return process !== undefined && snapshot.healthz?.ok !== 'unknown' ? (process.healthySinceUs ?? Number.POSITIVE_INFINITY) : undefined
}

function judgeKind(kind: EvidenceKind, snapshot: Snapshot, view: EvidenceView | undefined): KindStanding {
  if (kind === 'process') return judgeProcess(snapshot)
  if (kind === 'healthz') return judgeHealthz(snapshot)
  if (view === undefined) return NOTHING
  switch (kind) {
    case 'runtime':
      return judgeRuntime(view)
    case 'lease':
      return judgeLease(view)
    case 'ready':
      return judgeReady(view, judgeRuntime(view))
    case 'serving':
      return judgeServing(view)
    case 'static-pods':
      return judgeStaticPods(view)
    case 'pods':
      return judgePods(view)
  }
}

/** What the health record says. It decides about a failure by itself: see `findFailure`. */
function judgeProcess({ unit, running, health }: Snapshot): KindStanding {
  if (unit.kind === 'unknown') return unknown('systemd does not answer')
  if (unit.activity === 'failed') return no('systemd gave kubelet up')
  if (health !== undefined && health.exits > 0) return no(`kubelet exited ${health.exits} times`)
  if (running.kind !== 'known') return unknown(`kubelet is ${unit.summary}`)
  return yes('kubelet runs and did not exit', running.startedAtUs)
}

function judgeHealthz({ unit, running, healthz, health }: Snapshot): KindStanding {
  if (unit.kind === 'unknown' || running.kind !== 'known') return unknown('no kubelet process is known')
  if (healthz === undefined) return unknown('kubelet has no health port')
  if (healthz.ok === 'unknown') return unknown(healthz.detail)
  const unverified = healthz.unverified === undefined ? '' : ` (not verified: ${healthz.unverified})`
  const detail = `/healthz${healthz.ok ? ' answers 200' : `: ${healthz.detail}`}${unverified}`
  return healthz.ok ? yes(detail, health?.healthySinceUs) : no(detail, health?.unhealthySinceUs)
}
