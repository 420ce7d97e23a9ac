// SPDX-License-Identifier: Apache-2.0
/**
 * The rules of a rollout but for those by which stages go on, which `stage-rules.ts` has. Their
 * order is in `decide.ts`, which says when each applies. Pure. docs/rollout.md, "The rules", has R1
 * to R9.
 */

import { formatDuration } from '../values/durations.ts'
import { recordRestUs } from './order.ts'
import { freeShare, isFinished, ROLLOUT_EXCLUDE_ANNOTATION, ROLLOUT_PLAN_ANNOTATION } from './plan.ts'
import { describeStage, describeVetoes } from './progress.ts'
import { MOST_VETOES, type RolloutState } from './record.ts'
import {
  afterRestUs,
  claimAtUs,
  goes,
  keeps,
  listSilent,
  paceBeganUs,
  type Rollout,
  type Standing,
  vetoesRestoredAtUs,
  waits,
  waitsForEvidence,
  waitsForWindow,
  waitsUntil,
  withWindow,
} from './standing.ts'
import type { RolloutConfig, RolloutDecision, RolloutTurn } from './view.ts'
import { writeBegin, writeProof, writeVeto } from './write.ts'

/**
 * R4. The record was deleted and recreated, or restored. The nodes on which the content failed
 * write their vetoes again. All others wait for these, and then one of them begins.
 */
export function waitForVetoes(standing: Standing): RolloutDecision | undefined {
  const untilUs = vetoesRestoredAtUs(standing)
  if (standing.nowUs >= untilUs) return undefined
  const why = 'this node first gives nodes on which the content failed time to report it'
  return waitsUntil(untilUs, `the record was recreated or restored from a backup; ${why}`)
}

/**
 * A node that has not seen the pause yet finds it as it reads the config before a claim or a start.
 */
export function waitWhilePaused({ config: { paused } }: Standing): RolloutDecision | undefined {
  return paused === undefined ? undefined : waits(`paused by ${paused.by}`)
}

/** Halt: a veto halts for good. */
export function halt(_standing: Standing, rollout: Rollout): RolloutDecision | undefined {
  return rollout.halted ? haltedBy(rollout) : undefined
}

/**
 * Control planes halt at `maxVetoes` even when the rollout is finished: they still start one at a
 * time, so a veto still protects the next one (R8).
 */
export function haltControlPlanes({ plan }: Standing, rollout: Rollout): RolloutDecision | undefined {
  return rollout.vetoes.length >= plan.maxVetoes ? haltedBy(rollout) : undefined
}

function haltedBy({ state, vetoes }: Rollout): RolloutDecision {
  return keeps({ kind: 'halted', detail: `${describeVetoes(vetoes)}; ${describeRemedy(state.retry)}` })
}

/** @param retry with which the content failed */
function describeRemedy(retry: number): string {
  return `fix the config, or set "retry: ${retry + 1}" in its annotation ${ROLLOUT_PLAN_ANNOTATION} to try it again`
}

/** R9: silence stops only until late proofs come. */
export function waitForSilent({ plan }: Standing, { claims, finished }: Rollout): RolloutDecision | undefined {
  const silent = listSilent(claims)
  if (finished || silent.length <= plan.maxSilent) return undefined
  const names = silent.map(({ node }) => node).join(', ')
  const counts = `${silent.length} silent, maxSilent is ${plan.maxSilent}`
  const remedy = 'check these nodes; if they are gone for good, raise retry in the plan'
  return waits(`no more nodes start it: ${names} claimed it and did not report in time (${counts}); ${remedy}`)
}

/**
 * R4, begin: the record is not about what the config holds now, or `retry` was raised. R6, the
 * switch: it is, but was finished before this node came to use the config, so it proves nothing
 * about nodes such as this one.
 */
export function begin(standing: Standing): RolloutDecision | undefined {
  const { node, nowUs, rollout } = standing
  if (rollout !== undefined && !cameAfterwards(standing)) return undefined
  const why =
    rollout === undefined ? 'its rollout has not begun' : 'its rollout finished before this node used the config, so a new one begins'
  const what = withWindow(standing, why)
  if (!node.ready.ok) return waits(`${what}; this node cannot begin it now: ${node.ready.detail}`)
  const dispute = findDispute(standing)
  if (dispute !== undefined) return waits(dispute)
  const rests = node.controlPlane || isOfAnotherConfig(standing)
  const atUs = rests ? afterRestUs(standing) : claimAtUs(standing, 0)
  const shut = waitsForWindow(standing, atUs, what)
  if (shut !== undefined) return shut
  if (nowUs < atUs) return waitsUntil(atUs, `${what}; other nodes come first, then this one`)
  // A revert does not wait for evidence that cannot be read: others need no proof to follow.
  const isRevert = mayGoAgain(standing) && node.evidence.kind === 'unreadable'
  const unproven = isRevert ? undefined : waitsForEvidence(standing, what)
  if (unproven !== undefined) return unproven
  return writeBegin(standing, 'claim', { kind: 'wait', detail: `${what}; this node begins it now` })
}

/** Control planes need no new generation: they claim in every stage. */
function cameAfterwards({ node, plan, observation: { firstPosition }, rollout }: Standing): boolean {
  if (rollout === undefined || node.arrival !== 'switched' || node.controlPlane || node.promoted) return false
  // This node was among those that this rollout was for, perhaps before a reboot.
  if (node.sawUnfinished) return false
  const wasFinished = firstPosition.generation === rollout.state.generation && isFinished(plan, firstPosition.stage)
  return rollout.finished && wasFinished && rollout.mine === undefined
}

/**
 * Another node has begun something that this one does not see in the config. It is false, or nodes
 * use two keys of one ConfigMap. If each side began anew, this would never end, and each time one
 * more node would start. The admission policy allows one content for each version of the config.
 */
function findDispute({ config, record: { state } }: Standing): string | undefined {
  if (state === undefined || state.hash === config.hash || isOther(state, config)) return undefined
  if (state.configVersion !== config.resourceVersion) return undefined
  const claim = `the record says that version ${config.resourceVersion} of the config has other content (hash ${state.hash.slice(0, 12)})`
  const causes = 'nodes that use different keys of this ConfigMap, an edit of a ConfigMap under it, or a false record by a node'
  return `${claim}: possible causes are ${causes}; use one ConfigMap for each key, and edit the config`
}

/**
 * The config was recreated, or two configs use one record. The rest keeps these from alternating
 * quickly.
 */
function isOfAnotherConfig({ config, record: { state } }: Standing): boolean {
  return state !== undefined && isOther(state, config)
}

function isOther(state: RolloutState, config: RolloutConfig): boolean {
  return state.configUid !== config.uid
}

/**
 * R4, vetoes: the node reports that the content failed on it, as long as the record does not say
 * so. So a record that was deleted, recreated or restored learns it. A verdict from before `retry`
 * was raised does not count. A failure is late where it halts nothing: when the rollout is over,
 * where the content had been last-known-good here before it began, and where it failed in an
 * earlier generation that went on. Else one node could halt a revert, which all nodes need.
 */
export function tellFailure(standing: Standing): RolloutDecision | undefined {
  const { node, plan, rollout } = standing
  if (node.verdict === undefined || node.verdict.retry < plan.retry) return undefined
  const { reason, late, halted: wasHalted = false } = node.verdict
  const retry = Math.max(node.verdict.retry, rollout?.state.retry ?? 0)
  const detail = `it failed on this node: ${reason}; ${describeRemedy(retry)}`
  if (rollout === undefined) {
    const isOther = isOfOther(standing)
    const isOver = late === true || (!wasHalted && (node.workedBefore || (late === false && isOther)))
    if (isOver) return { ...keeps({ kind: 'failed', detail }), failed: isOther ? 'late' : undefined }
    const dispute = findDispute(standing)
    return dispute === undefined
      ? writeBegin(standing, 'veto', { kind: 'halted', detail })
      : keeps({ kind: 'halted', detail: `${detail}; ${dispute}` })
  }
  const { state, finished, halted, mine, vetoes } = rollout
  const turn: RolloutTurn = { kind: halted ? 'halted' : 'failed', detail }
  // A control plane lets nobody wait for the end of its claim.
  const isOfThis = mine?.kind === 'veto' || (node.controlPlane && mine?.kind === 'claim')
  const isEarlier = !isOfThis && node.broughtIn !== undefined && node.broughtIn !== state.generation
  const isOver = finished || late === true || (isEarlier && (late === undefined ? node.promoted : !wasHalted))
  // In a finished rollout, only control planes still wait: they start one at a time.
  const isTold = finished ? node.controlPlane && !isEarlier : !isOver
  if (mine?.kind === 'veto' || !isTold || vetoes.length >= MOST_VETOES) return { ...keeps(turn), failed: isOver ? 'late' : 'in-rollout' }
  return writeVeto(standing, rollout, reason, turn)
}

/** A record that was made again or restored may have lost the rollout in which it failed. */
function isOfOther({ config, record: { state }, observation: { lostUs } }: Standing): boolean {
  return state !== undefined && state.hash !== config.hash && lostUs === undefined
}

/**
 * R1, proofs: kubelet runs the content. A witness writes that its trial passed, even after its
 * deadline.
 */
export function prove(standing: Standing): RolloutDecision | undefined {
  const { node, rollout } = standing
  if (!node.runs) return undefined
  if (rollout?.mine?.kind !== 'claim') return goes('kubelet already runs it', mayBeLost(standing))
  if (!node.proven) return keeps({ kind: 'go', detail: 'kubelet already runs it; this node has not proved it yet', asks: 'proof' })
  return writeProof(standing, rollout, rollout.mine, { kind: 'go', detail: 'kubelet already runs it, and its trial has passed' })
}

/**
 * A backup that is restored may have the claim again without its proof, for which others wait. So a
 * witness looks on for a while, as long as the rollout is on its way.
 */
function mayBeLost({ nowUs, node, rollout, observation: { changedUs } }: Standing): boolean {
  return rollout?.mine?.kind === 'proof' && !rollout.finished && nowUs - changedUs < 3 * recordRestUs(node.trialUs)
}

/** R2: also after a crash between the write and the start. */
export function goOnOwnClaim(_standing: Standing, { mine }: Rollout): RolloutDecision | undefined {
  return mine?.kind === 'claim' || mine?.kind === 'proof' ? goes(`the record has this node's ${mine.kind}`, true) : undefined
}

/**
 * An administrator trusts this node with no rollout any more: it starts what the others have
 * proved. A control plane goes beside those that claim one after another.
 */
export function standAside(standing: Standing): RolloutDecision | undefined {
  const { plan, node, rollout } = standing
  if (!plan.excluded.includes(node.name)) return undefined
  const why = `the annotation ${ROLLOUT_EXCLUDE_ANNOTATION} of the config excludes this node`
  if (rollout?.finished !== true) {
    const goesAgain = rollout?.halted === false && standing.nowUs >= vetoesRestoredAtUs(standing)
    return (goesAgain ? goAgain(standing) : undefined) ?? waits(`${why}: it starts the content when the rollout is finished`)
  }
  return (node.controlPlane ? haltControlPlanes(standing, rollout) : undefined) ?? goSpread(standing, why)
}

/**
 * A node may return to a content that passed here before, even while claims of other nodes are
 * silent. Control planes are excepted, so that they do not all restart at once (R8).
 */
export function goAgain(standing: Standing): RolloutDecision | undefined {
  return mayGoAgain(standing) ? goSpread(standing, 'it has been last-known-good on this node before') : undefined
}

function mayGoAgain({ node: { promoted, controlPlane } }: Standing): boolean {
  return promoted && !controlPlane
}

/**
 * A new worker that joins a finished rollout starts at once, and waits for no window: nothing runs
 * on it yet. Older nodes may join with many others, as when the agent is installed on a whole
 * fleet.
 */
export function goFree(standing: Standing, rollout: Rollout): RolloutDecision | undefined {
  const { node, plan, place } = standing
  const { state, finished } = rollout
  if (place.share >= freeShare(plan, state.stage)) return undefined
  const detail = describeStage(plan, state.stage, rollout)
  return finished && node.arrival === 'joined' && node.young === true ? goes(detail) : goSpread(standing, detail)
}

/**
 * The rest of a window is for what a start takes from its turn on: else the last nodes of the
 * spread would lose theirs each time.
 */
const SPREAD_OF_WINDOW = 0.9

/**
 * The spread begins when this node is let go, so also when a pause, a halt or a silence is over, a
 * window opens, or an edit of the plan ends a wait. Otherwise all nodes that waited for that would
 * start at once. It is shorter than the window: else the nodes that come late in it would wait for
 * the next one each time. Nodes that the window closes on start in the next one, so a stage that
 * opens at its end starts no crowd.
 */
function goSpread(standing: Standing, detail: string): RolloutDecision {
  const { nowUs, place, plan, observation, window } = standing
  const fromUs = Math.max(observation.letGoUs ?? nowUs, paceBeganUs(standing))
  const mostUs = 'opensUs' in window ? Math.floor(SPREAD_OF_WINDOW * (window.closesUs - window.opensUs)) : Number.POSITIVE_INFINITY
  const spreadUs = Math.min(plan.spreadUs, mostUs)
  const atUs = fromUs + Math.floor(place.spread * spreadUs)
  const decision =
    waitsForWindow(standing, atUs, withWindow(standing, detail)) ??
    (nowUs < atUs ? waitsUntil(atUs, `${detail}; nodes start spread over ${formatDuration(spreadUs)}`) : goes(detail))
  return { ...decision, letGo: true }
}
