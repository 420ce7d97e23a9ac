// SPDX-License-Identifier: Apache-2.0
/**
 * The effects of assigning a version of a ConfigMap: its checkpoint is saved, and `meta/assigned`
 * moves to it. Also the further effects of a return to local. Pure.
 */

import {
  type ConfigMapSource,
  type ConfigSource,
  describeSource,
  LOCAL_CONTENT,
  sameRef,
  sameVersion,
  withoutOverlay,
} from '../subject/config-source.ts'
import type { ReadyWiring } from '../subject/unit-state.ts'
import { describeChannel } from './channels.ts'
import type { Channel, Desired } from './desired.ts'
import { dropCharges, type Effect, forgetLeft, history, log } from './effects.ts'
import { stage } from './effects-of-staging.ts'
import { fallbackSources } from './held-sources.ts'
import { chooseLeft, isLocalAssigned, listLeft } from './left.ts'
import { put } from './record-table.ts'
import type { Snapshot } from './snapshot.ts'
import { nameSource } from './status-texts.ts'
import type { StepOf } from './step.ts'
import { findSharedSpread } from './wait.ts'

export function assign(step: StepOf<'assign'>, snapshot: Snapshot): readonly Effect[] {
  const { source } = step
  const { desired, storedContent, desiredContent } = snapshot
  const channel = channelOf(desired)
  const assigned = snapshot.assigned.kind === 'source' ? snapshot.assigned.source : undefined
  const isStored = storedContent !== undefined && storedContent === desiredContent
  const subject = channel === 'config-source' ? 'Node.Spec.ConfigSource is non-empty' : `assigned by ${describeChannel(channel)}`
  return [
    log('info', `${subject}, will checkpoint source and update config if necessary`),
    ...(isStored ? [log('info', `checkpoint already exists for ${nameSource(source)}`)] : []),
    history('assigned', assigned, source, explainAssignment(assigned, source, snapshot.desired)),
    ...saveUnrendered(step, snapshot),
    ...saveContent(step, snapshot),
    ...startSpread(source, step.shared, snapshot, factsSinceOf(desired)),
    // Before the version is assigned, so that none is taken for one without a rollout.
    ...(desired.kind === 'config-map' && desired.object.kind === 'found' ? stage(snapshot, source, desired.object) : []),
    // From here on this content is compared with no other one, so what was found has to be durable.
    { kind: 'keep-wordings' },
    put('assigned', source),
    // The configs that a damaged record named are lost, and must not keep checkpoints from being
    // pruned.
    ...(snapshot.leftDamaged === true ? forgetLeft(snapshot) : []),
    // The verdicts on what kubelet did before may be lost with the record. Last: where it cannot be
    // written, this is done again and again.
    ...(snapshot.assigned.kind === 'damaged' ? dropCharges(snapshot) : []),
    // Until now local was the administrator's, and no config could fail with what befell it.
    ...(isLocalAssigned(snapshot) && listLeft(snapshot).length === 0 ? dropCharges(snapshot, LOCAL_CONTENT) : []),
  ]
}

function channelOf({ channelState }: Desired): Channel {
  return channelState?.channel ?? 'config-source'
}

function explainAssignment(before: ConfigSource | undefined, source: ConfigMapSource, desired: Desired): string {
  if (before !== undefined && before !== 'local' && sameRef(before, source)) {
    const isSame = sameVersion(withoutOverlay(before), withoutOverlay(source))
    if (!isSame || before.overlay === source.overlay) return 'ConfigMap was updated'
    const { mergedFrom, factsSinceUs } = desired.kind === 'config-map' && desired.object.kind === 'found' ? desired.object : {}
    const what = factsSinceUs !== undefined ? "this node's overlay, or what its Node shows" : "this node's overlay"
    return mergedFrom !== undefined
      ? `a base or a layer of it, or ${what}, was updated: this node makes something else of it`
      : `${what} makes something else of it`
  }
  const channel = channelOf(desired)
  return channel === 'config-source' ? 'Node.Spec.ConfigSource was updated' : `assigned by ${describeChannel(channel)}`
}

/**
 * Saves the content that kubelet is to start with: the ConfigMap's data, or the result of merging
 * it on this node.
 */
function saveContent({ source, data, rendered }: StepOf<'assign'>, snapshot: Snapshot): readonly Effect[] {
  const { storedContent, desiredContent: content } = snapshot
  // The same content, perhaps in other bytes: a checkpoint is never rewritten.
  if (storedContent !== undefined && storedContent === content) return []
  const saved = { source, data: rendered ?? data, content }
  if (storedContent === undefined) return [{ kind: 'save-checkpoint', ...saved }]
  const why = 'the cluster gave this version other content, as after a restored etcd'
  return [...demote(source, snapshot), { kind: 'replace-checkpoint', ...saved, why }]
}

/**
 * The trial proved the content that is replaced, not the new one: no fallback names the new content
 * before its own trial.
 */
function demote(source: ConfigMapSource, { previous, lastKnownGood }: Snapshot): readonly Effect[] {
  const fallback = sameVersion(previous.source, source) ? 'local' : previous.source
  return [
    ...(fallback === previous.source ? [] : [put('previous', fallback)]),
    ...(sameVersion(lastKnownGood.source, source) ? [put('proven', undefined), put('last-known-good', fallback)] : []),
  ]
}

/**
 * The ConfigMap as the cluster has it, beside what this node makes of it. Kubelet does not start
 * with it, so it is saved only where nothing is, and never under a name that kubelet may start
 * with: preflight has not checked this content.
 */
function saveUnrendered({ source, data }: StepOf<'assign'>, snapshot: Snapshot): readonly Effect[] {
  if (source.overlay === undefined || snapshot.storedUnrendered === 'same') return []
  const unrendered = withoutOverlay(source)
  const what = describeSource(unrendered)
  if (snapshot.storedUnrendered === 'differs')
    return [log('warn', `the checkpoint of ${what} differs from what the cluster has, and is left unchanged`, { source: unrendered })]
  if (snapshot.storedUnrendered === 'unreadable')
    return [log('warn', `the checkpoint of ${what} cannot be read, and is left unchanged`, { source: unrendered })]
  const fallbacks = fallbackSources(snapshot)
  if (snapshot.nextStart.kind === 'unknown' || fallbacks.some((held) => sameVersion(held.source, unrendered)))
    return [log('warn', `no checkpoint of ${what} is saved: kubelet may start with it, and it was not checked`, { source: unrendered })]
  return [{ kind: 'save-checkpoint', source: unrendered, data, content: undefined }]
}

/**
 * If the Node's own assignment changed, this node does not wait for its turn, even if it waited for
 * this version before.
 * @param factsSinceUs since when the facts that values are computed from have held
 */
export function startSpread(source: ConfigSource, shared: boolean, snapshot: Snapshot, factsSinceUs?: number): readonly Effect[] {
  const { now, policy, spread, assigned } = snapshot
  if (!shared && spread === undefined && factsSinceUs === undefined) return []
  // A record that was damaged meanwhile is no change of the Node's own.
  if (assigned.kind === 'damaged' && findSharedSpread(snapshot, source) !== undefined) return []
  // An agent that does not know `own` finds a spread that is over.
  const own = { sinceUs: now.monotonicUs - policy.spreadUs, own: true }
  const since = { ...(shared ? { sinceUs: now.monotonicUs } : own), ...(factsSinceUs !== undefined && { factsSinceUs }) }
  return [put('spread', { bootId: now.bootId, source, ...since })]
}

function factsSinceOf(desired: Desired): number | undefined {
  return desired.kind === 'config-map' && desired.object.kind === 'found' ? desired.object.factsSinceUs : undefined
}

/** Records the configs that a return to local leaves. */
export function leave(snapshot: Snapshot): readonly Effect[] {
  const sources = chooseLeft(snapshot)
  return sources.length === 0 ? forgetLeft(snapshot) : [put('left', { sources })]
}

/**
 * Local takes away what was staged, so this comes after it. Last: local may be the last resort on a
 * disk that is full.
 */
export function prepareWayBack(snapshot: Snapshot, fallback: ConfigSource | undefined, wiring: ReadyWiring): readonly Effect[] {
  const left = isLocalAssigned(snapshot) ? listLeft(snapshot).flatMap(({ source }) => (source === 'local' ? [] : [source])) : []
  if (left.length === 0) return []
  const { localConfig, proven } = snapshot
  return [
    ...(proven === undefined ? [] : [put('proven', undefined)]),
    put('left', { sources: left, ...(localConfig !== undefined && { localConfig }) }),
    ...(fallback === undefined ? [] : [{ kind: 'stage-fallback', fallback, wiring } as const]),
  ]
}
