/**
 * Evidence `pods`: no pod that ran before was refused at admission or evicted since for what the
 * config changes, and the restart brought no such pressure. Whether pods are ready is not judged:
 * until Kubernetes 1.34 every restart resets it (KEP-4781), and applications fail for reasons of
 * their own. Pure.
 */
import { type KindStanding, no, perhapsNo, unknown, yes } from './evidence.ts'
import { type Cause, findCause, isKubeletsReason } from './evidence-causes.ts'
import type { FailedPod, NoAnswer, PodsAnswer } from './evidence-facts.ts'
import type { Baseline, EvidenceView, LostPod, PodsSeen } from './evidence-state.ts'
import type { TrialKey } from './trial-key.ts'

const MOST_KNOWN = 1000
const MOST_LOST = 20

/** @param wallMs the clock of the node when they were listed */
export function recordPods({ pods, serverMs }: PodsAnswer, wallMs: number): Pick<Baseline, 'podsAtMs' | 'podsAtWallMs' | 'failedPods'> {
  // In a shortened list, an old failed pod that is not on it would look like a new failure.
  if (pods.length > MOST_KNOWN) return {}
  return { podsAtMs: serverMs, podsAtWallMs: wallMs, failedPods: pods.map(({ uid }) => uid) }
}

/**
 * @param key that runs
 * @returns undefined: it was not asked
 */
export function foldPods(
  before: PodsSeen | undefined,
  answer: PodsAnswer | NoAnswer,
  atUs: number,
  baseline: Baseline | undefined,
  key: TrialKey,
): PodsSeen | undefined {
  if (answer.kind === 'not-asked') return before
  if (answer.kind !== 'found') return { ...(before ?? { lost: [], sinceUs: atUs }), lastUs: atUs, problem: answer.detail }
  const { lost: known = [], unexplained = [] } = before ?? {}
  const isKnown = (pod: FailedPod) => [...known, ...unexplained].some(({ name }) => name === pod.name)
  const added = answer.pods
    .filter((pod) => isLost(pod, baseline) && !isKnown(pod))
    .map((pod) => ({ name: pod.name, reason: pod.reason, cause: causeOf(pod, baseline, key) }))
  const explained = added.filter(({ cause }) => cause.kind !== 'node').map(describeLost)
  // Where the list is full, one that the config lost counts for more than one that it may have.
  const lost = [...known, ...explained].sort((a, b) => Number(a.field === undefined) - Number(b.field === undefined)).slice(0, MOST_LOST)
  const others = [...unexplained, ...added.filter(({ cause }) => cause.kind === 'node').map(describeLost)].slice(0, MOST_LOST)
  const sinceUs = before !== undefined && known.length > 0 ? before.sinceUs : atUs
  return { lost, ...(others.length > 0 && { unexplained: others }), sinceUs, lastUs: atUs, problem: '' }
}

/**
 * It had been admitted before the baseline, and has failed since. Each clock is compared with
 * itself.
 */
function isLost({ uid, reason, createdAtMs, startedAtMs }: FailedPod, baseline: Baseline | undefined): boolean {
  if (baseline?.podsAtMs === undefined || baseline.podsAtWallMs === undefined || startedAtMs === undefined) return false
  const isOlder = startedAtMs < baseline.podsAtWallMs && (createdAtMs === undefined || createdAtMs < baseline.podsAtMs)
  return isKubeletsReason(reason) && isOlder && baseline.failedPods?.includes(uid) !== true
}

/** Pressure from before the restart evicts whatever the config is. */
function causeOf({ reason, message }: FailedPod, baseline: Baseline | undefined, key: TrialKey): Cause {
  if (baseline === undefined) return { kind: 'unclear' }
  const isOlder = reason === 'Evicted' && (baseline.pressure ?? []).length > 0
  return isOlder ? { kind: 'node' } : findCause(reason, message, baseline, key)
}

function describeLost({ name, reason, cause }: { name: string; reason: string; cause: Cause }): LostPod {
  return { name, reason, ...(cause.kind === 'config' && { field: cause.field }) }
}

/** A fallback does not bring back what the config before it lost. */
export function judgePods({ process, baseline, isCandidate }: EvidenceView): KindStanding {
  const { pods, node } = process
  if (!isCandidate || baseline === undefined) return unknown('judged for the assigned config only')
  const pressure = (node?.newPressure ?? []).map((type) => ({ type, cause: findCause(type, type, baseline, process.key) }))
  const brought = pressure.filter(({ cause }) => cause.kind === 'config')
  const lost = pods?.lost.filter(({ field }) => field !== undefined) ?? []
  if (brought.length > 0) return no(describePressure(brought))
  if (pods !== undefined && lost.length > 0) return no(describePods(lost), pods.sinceUs)
  const unclear = pressure.filter(({ cause }) => cause.kind === 'unclear')
  const untold = `; whether a change of the config did that is not known`
  if (unclear.length > 0) return perhapsNo(`${describePressure(unclear)}${untold}`)
  if (pods === undefined) return unknown('not read yet')
  if (pods.lost.length > 0) return perhapsNo(`${describePods(pods.lost)}${untold}`, pods.sinceUs)
  if (pods.problem !== '') return unknown(pods.problem)
  if (baseline.podsAtMs === undefined) return unknown('which pods ran before is not known')
  const others = [...(pods.unexplained ?? []).map(({ name, reason }) => `${name} (${reason})`), ...pressure.map(({ type }) => type)]
  const seen = 'no pod that ran before was refused or evicted'
  return yes(others.length === 0 ? seen : `${seen} for what the config changes; none of it explains ${listSome(others)}`)
}

function describePressure(pressure: readonly { readonly type: string; readonly cause: Cause }[]): string {
  const types = pressure.map(({ type }) => type).join(', ')
  const [first] = pressure
  return `the restart brought ${types}${first?.cause.kind === 'config' ? `: ${first.cause.field} has changed` : ''}`
}

function describePods(pods: readonly LostPod[]): string {
  const [first] = pods
  const why = first?.field === undefined ? '' : `: ${first.field} has changed`
  return `a pod that ran before was lost: ${listSome(pods.map(({ name, reason }) => `${name} (${reason})`))}${why}`
}

function listSome([first = '', ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first} and ${others.length} more`
}
