/**
 * Evidence `pods`: no pod that ran before was refused at admission or evicted since, and the
 * restart brought no pressure. Whether pods are ready is not judged: until Kubernetes 1.34 every
 * restart resets it (KEP-4781), and applications fail for reasons of their own. Pure.
 */
import { type KindStanding, no, unknown, yes } from './evidence.ts'
import type { FailedPod, NoAnswer, PodsAnswer } from './evidence-facts.ts'
import type { Baseline, EvidenceView, PodsSeen } from './evidence-state.ts'

const MOST_KNOWN = 1000
const MOST_LOST = 20
/** `podEphemeralStorageMessageFmt` and its siblings, pkg/kubelet/eviction/helpers.go. */
const OWN_LIMIT = /^(Pod ephemeral local storage usage exceeds|Container \S+ exceeded its local ephemeral storage|Usage of EmptyDir volume)/
const LOST = /^(OutOf\w*|UnexpectedAdmissionError|NodeAffinity|Evicted)$/

/** @param wallMs the clock of the node when they were listed */
export function recordPods({ pods, serverMs }: PodsAnswer, wallMs: number): Pick<Baseline, 'podsAtMs' | 'podsAtWallMs' | 'failedPods'> {
  // In a shortened list, an old failed pod that is not on it would look like a new failure.
  if (pods.length > MOST_KNOWN) return {}
  return { podsAtMs: serverMs, podsAtWallMs: wallMs, failedPods: pods.map(({ uid }) => uid) }
}

/** undefined: it was not asked. */
export function foldPods(
  before: PodsSeen | undefined,
  answer: PodsAnswer | NoAnswer,
  atUs: number,
  baseline: Baseline | undefined,
): PodsSeen | undefined {
  if (answer.kind === 'not-asked') return before
  if (answer.kind !== 'found') return { ...(before ?? { lost: [], sinceUs: atUs }), lastUs: atUs, problem: answer.detail }
  const known = before?.lost ?? []
  const isKnown = (pod: FailedPod) => known.some(({ name }) => name === pod.name)
  const added = answer.pods.filter((pod) => isLost(pod, baseline) && !isKnown(pod))
  const lost = [...known, ...added.map(({ name, reason }) => ({ name, reason }))].slice(0, MOST_LOST)
  return { lost, sinceUs: before !== undefined && known.length > 0 ? before.sinceUs : atUs, lastUs: atUs, problem: '' }
}

/**
 * It had been admitted before the baseline, and has failed since. Each clock is compared with
 * itself.
 */
function isLost(pod: FailedPod, baseline: Baseline | undefined): boolean {
  const { uid, reason, createdAtMs, startedAtMs } = pod
  if (baseline?.podsAtMs === undefined || baseline.podsAtWallMs === undefined || startedAtMs === undefined) return false
  if (!LOST.test(reason) || isNodesOwn(pod, baseline)) return false
  const isOlder = startedAtMs < baseline.podsAtWallMs && (createdAtMs === undefined || createdAtMs < baseline.podsAtMs)
  return isOlder && baseline.failedPods?.includes(uid) !== true
}

/** Evicted since the pod took more than its own limit, or by pressure from before the restart. */
function isNodesOwn({ reason, message }: FailedPod, { pressure = [] }: Baseline): boolean {
  return reason === 'Evicted' && (pressure.length > 0 || OWN_LIMIT.test(message))
}

/** A fallback does not bring back what the config before it lost. */
export function judgePods({ process, baseline, isCandidate }: EvidenceView): KindStanding {
  const { pods, node } = process
  if (!isCandidate) return unknown('judged for the assigned config only')
  if (node !== undefined && node.newPressure.length > 0) return no(`the restart brought ${node.newPressure.join(', ')}`)
  if (pods === undefined) return unknown('not read yet')
  if (pods.lost.length > 0) {
    const [first, ...others] = pods.lost
    const more = others.length === 0 ? '' : ` and ${others.length} more`
    return no(`a pod that ran before was lost: ${first?.name} (${first?.reason})${more}`, pods.sinceUs)
  }
  if (pods.problem !== '') return unknown(pods.problem)
  if (baseline?.podsAtMs === undefined) return unknown('which pods ran before is not known')
  return yes('no pod that ran before was refused or evicted')
}
