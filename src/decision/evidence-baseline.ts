/**
 * Chooses the baseline that the running process is compared with. It belongs to the content of a
 * config, on whatever kubelet. Pure.
 */
import { type ContentHash, LOCAL_CONTENT } from './config-source.ts'
import { isKnownUser } from './evidence-serving.ts'
import type { Baseline, EarlierState, EvidenceRecord, StaticPodBefore } from './evidence-state.ts'
import { isSameManifest, joinIdle, MOST_PODS, markNewer } from './evidence-static-pods.ts'
import type { Snapshot } from './snapshot.ts'
import { contentOfKey, hasPassed, identityOfKey } from './trial-key.ts'

export type BaselineFacts = Pick<Snapshot, 'running' | 'verdicts' | 'proven' | 'lastKnownGood' | 'previous'>

/**
 * A baseline concerns the config it was taken before, and the fallbacks from it: they have to bring
 * back what was there. After a trial that passed, or a boot, it is too old for that.
 */
function concernsRunning({ candidate, invocationId, beforeBoot, earlier }: Baseline, facts: BaselineFacts): boolean {
  const { running, verdicts } = facts
  if (running.kind !== 'known' || invocationId === running.invocationId) return false
  const content = contentOfKey(candidate)
  if (content === running.content) return !isProven(facts, content) || hasPassed(facts, running.key)
  if (beforeBoot === true || earlier?.beforeBoot === true) return false
  return [...verdicts].some(([key, { state }]) => state === 'provisional' && contentOfKey(key) === content && !hasPassed(facts, key))
}

/** Whether it passed its trial last, on whatever kubelet. */
function isProven({ proven }: BaselineFacts, content: ContentHash): boolean {
  return proven !== undefined && contentOfKey(proven) === content
}

/** Whether local runs, or what has been promoted here. What is wrong then is not its doing. */
export function runsPromoted({ running, proven, lastKnownGood, previous }: BaselineFacts): boolean {
  if (running.kind !== 'known') return false
  const { content } = running
  return content === LOCAL_CONTENT || proven === running.key || [lastKnownGood, previous].some((each) => each.content === content)
}

/**
 * Whether a baseline is still of use: for what runs, or for what is assigned, before its trial is
 * over.
 */
export function isBaselineNeeded(baseline: Baseline, facts: BaselineFacts & Pick<Snapshot, 'assignedContent'>): boolean {
  const content = contentOfKey(baseline.candidate)
  return !isProven(facts, content) && (content === facts.assignedContent || concernsRunning(baseline, facts))
}

/** undefined: there is none. */
export function findBaseline(evidence: EvidenceRecord | undefined, facts: BaselineFacts): Baseline | undefined {
  return [evidence?.baseline, evidence?.displaced].find((each) => each !== undefined && concernsRunning(each, facts))
}

/**
 * The baseline that concerns what runs, where another one has taken its place: for a config that
 * may be withdrawn before it is started. It is for a trial that is not over.
 *
 * @param baseline that the record will have
 */
export function findDisplaced(
  record: EvidenceRecord | undefined,
  baseline: Baseline | undefined,
  facts: BaselineFacts,
): Baseline | undefined {
  if (facts.running.kind !== 'known') return record?.displaced
  if (baseline !== undefined && concernsRunning(baseline, facts)) return undefined
  const isNeeded = (each: Baseline) => !isProven(facts, contentOfKey(each.candidate)) && concernsRunning(each, facts)
  return [record?.baseline, record?.displaced].find((each) => each !== undefined && isNeeded(each))
}

/**
 * What a config that replaces one on trial has to bring back: how the node was before that one.
 *
 * @returns undefined: what runs is not on trial, or has no baseline
 */
export function findEarlier(record: Pick<EvidenceRecord, 'baseline' | 'displaced'>, facts: BaselineFacts): EarlierState | undefined {
  const { running } = facts
  if (running.kind !== 'known' || runsPromoted(facts)) return undefined
  const concerns = ({ candidate, invocationId }: Baseline) =>
    contentOfKey(candidate) === running.content && invocationId !== running.invocationId
  const found = [record.baseline, record.displaced].find((each) => each !== undefined && concerns(each))
  if (found === undefined) return undefined
  const { ready, serving, endpoint, staticPods, idle, ofPromoted, beforeBoot } = withEarlier(found)
  const isSameKubelet = found.kubelet === undefined || found.kubelet === identityOfKey(running.key)
  const known = {
    ready,
    serving,
    endpoint,
    ...(idle && { idle }),
    ...(ofPromoted === true && { ofPromoted }),
    ...(beforeBoot === true && { beforeBoot }),
  }
  return { ...known, staticPods: isSameKubelet ? staticPods : staticPods?.map(markNewer) }
}

/** The baseline, with what has to be brought back in place of what was broken by then. */
export function withEarlier(baseline: Baseline): Baseline {
  const { earlier } = baseline
  if (earlier === undefined) return baseline
  // Under a config on trial, only what was well is known.
  const { ready, serving } = earlier.ofPromoted === true ? earlier : baseline
  return {
    ...baseline,
    ...(earlier.ofPromoted === true && { ofPromoted: true }),
    ...(earlier.beforeBoot === true && { beforeBoot: true }),
    ready: [earlier, baseline].some((each) => each.ready === 'True') ? 'True' : ready,
    serving: [earlier.serving, baseline.serving].find(isKnownUser) ?? serving,
    endpoint: isMoveDone(baseline) ? baseline.endpoint : (earlier.endpoint ?? baseline.endpoint),
    staticPods: joinStaticPods(earlier.staticPods, baseline.staticPods),
    idle: joinIdle(earlier.idle, baseline.idle),
  }
}

/** A move to another container runtime broke nothing where that one answered. */
function isMoveDone({ endpoint, isRuntimeSilent }: Baseline): boolean {
  return endpoint !== undefined && isRuntimeSilent === false
}

/** Whether static pods had been lost, or replaced, before the baseline was taken. */
export function hadLostPods({ earlier, staticPods }: Baseline): boolean {
  const joined = joinStaticPods(earlier?.staticPods, staticPods) ?? []
  return earlier?.staticPods !== undefined && joined.some(({ hash }) => !staticPods?.some((pod) => pod.hash === hash))
}

/** A pod whose manifest changed in between is the later one. */
function joinStaticPods(
  earlier: readonly StaticPodBefore[] | undefined,
  later: readonly StaticPodBefore[] | undefined,
): readonly StaticPodBefore[] | undefined {
  if (earlier === undefined || later === undefined) return earlier ?? later
  const kept = earlier.filter((pod) => {
    const successor = later.find(({ name }) => name === pod.name)
    return successor === undefined || isSameManifest(successor.manifest, pod.manifest)
  })
  const added = later.filter(({ name }) => !kept.some((pod) => pod.name === name))
  return [...kept, ...added].slice(0, MOST_PODS)
}
