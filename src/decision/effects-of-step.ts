// SPDX-License-Identifier: Apache-2.0
/**
 * `effectsOf`: everything a step does, in order. Pure, and the only place that says so: `perform`
 * applies the effects, `plan` and the tests' model fold them. Each effect is idempotent, so a step
 * that is cut off is done again from its beginning.
 *
 * History precedes the effect, so that a crash can repeat a line but never lose one.
 */

import { listUncompared, listUnknownEvidence } from '../evidence/judge.ts'
import { expectAnotherTry, expectStart } from '../health/fold.ts'
import { type ConfigSource, describeSource, type HeldSource, LOCAL_CONTENT } from '../subject/config-source.ts'
import { contentOfKey, hasPassed, identityOfKey } from '../subject/trial-key.ts'
import { describeChannel } from './channels.ts'
import type { ClusterPause } from './desired.ts'
import { dropCharges, type Effect, endTrialBoots, forgetLeft, history, log, putRestarts } from './effects.ts'
import { assign, leave, prepareWayBack, startSpread } from './effects-of-assign.ts'
import { mark, markActivated, markRequested, stage } from './effects-of-staging.ts'
import { findContent } from './held-sources.ts'
import { put } from './record-table.ts'
import { excuseRestarts } from './restart-limit.ts'
import { keepRestarts } from './restarts.ts'
import type { Snapshot } from './snapshot.ts'
import { CONDEMNED } from './staging.ts'
import type { StagedContent } from './staging-state.ts'
import { nameSource, restartingMessage } from './status-texts.ts'
import type { Action, StepOf } from './step.ts'
import { findSuspended, findVerdict, type Verdict } from './verdict.ts'

type EffectsOf = { readonly [K in Action['kind']]: (step: StepOf<K>, snapshot: Snapshot) => readonly Effect[] }

export function effectsOf(step: Action, snapshot: Snapshot): readonly Effect[] {
  const effects = EFFECTS[step.kind] as (step: Action, snapshot: Snapshot) => readonly Effect[]
  return effects(step, snapshot)
}

const KEPT_BY_PAUSE: Readonly<Record<ClusterPause['on'], string>> = {
  Node: 'nothing is activated, restarted or rolled back until the pause is lifted',
  ConfigMap: 'no other version of it is activated until the pause is lifted; one that fails is rolled back all the same',
}

const EFFECTS: EffectsOf = {
  forgive: ({ drop, suspend = [], keep = [], requested, why }, snapshot) => [
    history('retrying', undefined, undefined, why),
    // A config that an operator requests on the node needs no turn in a rollout. Marked while the
    // verdicts still say what was requested.
    ...(requested ? markRequested(snapshot, drop) : []),
    // First: without a verdict, one of the others would be a fallback that proves these.
    ...keep.map((verdict): Effect => ({ kind: 'write-verdict', verdict })),
    ...suspend.map((verdict): Effect => ({ kind: 'write-verdict', verdict: { ...verdict, suspended: true } })),
    ...drop.map((key): Effect => ({ kind: 'remove-verdict', key })),
    ...dropCharges(snapshot),
    ...(requested && snapshot.restarts.length > 0 ? putRestarts(excuseRestarts(snapshot.restarts)) : []),
    log('info', 'dropped verdicts: their configs may be tried again', { why, verdicts: drop.length + suspend.length }),
    ...(requested ? [{ kind: 'clear-request', request: 'retry' } as const] : []),
  ],

  'drop-rollback': () => [
    log('info', 'rollback was requested, but the config it names is no longer in use'),
    { kind: 'clear-request', request: 'rollback' },
  ],

  'drop-promote': () => [
    log('info', 'a promotion was requested, but the config it names is not on trial any more'),
    { kind: 'clear-request', request: 'promote' },
  ],

  assign,

  'reset-to-local': ({ from, shared }, snapshot) => {
    const isRequested = snapshot.requests.hold === 'local'
    // The desired state names no channel any more: the record says which one assigned before.
    const channel = snapshot.recordedChannelState?.channel ?? 'config-source'
    const isUpstream = channel === 'config-source'
    const removed = isUpstream ? 'Node.Spec.ConfigSource was removed' : `no longer assigned by ${describeChannel(channel)}`
    const why = isRequested ? 'reset was requested on the node' : removed
    const subject = isUpstream && !isRequested ? 'Node.Spec.ConfigSource is empty' : why
    const { proven, running } = snapshot
    const keepsProof = running.kind === 'known' && running.key === proven && running.content !== LOCAL_CONTENT
    return [
      log('info', `${subject}, will reset assigned and last-known-good to defaults`),
      history('assigned', from, 'local', why),
      // A return that is cut off after `assigned` was written goes on by the turn that it had.
      ...(from === 'local' ? [] : startSpread('local', shared, snapshot)),
      // Written before `assigned`, so that nothing is lost. A return that is cut off after that
      // stays as it is.
      ...(from === 'local' ? [] : leave(snapshot)),
      put('assigned', 'local'),
      // A config that is assigned later has a whole trial again, even if it passed one before. A
      // config that goes on because local is refused keeps its proof.
      ...(keepsProof ? [] : [put('proven', undefined)]),
      put('last-known-good', 'local'),
      put('previous', 'local'),
      ...endTrialBoots(snapshot),
    ]
  },

  'forget-left': ({ key, wiring }, snapshot) => [
    ...drop(findSuspended(snapshot, key)),
    // Local is in place: this takes away what was staged for the way back.
    { kind: 'activate', target: 'local', wiring, orElseLocal: false, isRewording: false },
    ...forgetLeft(snapshot),
    put('proven', undefined),
    log('info', 'kubelet has been healthy with its local config for a whole trial: the return to it is over'),
  ],

  // The new name first: a crash between the two loses no verdict.
  'rename-kubelet': ({ verdicts, proven }) => [
    ...verdicts.flatMap(({ former, verdict }): Effect[] => [
      { kind: 'write-verdict', verdict },
      { kind: 'remove-verdict', key: former },
    ]),
    ...(proven === undefined ? [] : [put('proven', { key: proven })]),
    log('info', 'renamed kubelet in the records of an earlier agent: they identify it by its content now', { verdicts: verdicts.length }),
  ],

  'open-records': ({ lastKnownGood }) => [put('last-known-good', lastKnownGood), put('assigned', 'local')],

  'record-channel': ({ channelState }, { recordedChannelState: before }) => {
    const { paused } = channelState
    const isNew = paused !== undefined && paused.by !== before?.paused?.by
    return [
      put('channel-state', channelState),
      ...(isNew ? [log('info', `paused by ${paused.by}: ${KEPT_BY_PAUSE[paused.on]}`)] : []),
      ...(paused === undefined && before?.paused !== undefined ? [log('info', 'the cluster no longer pauses this node')] : []),
    ]
  },

  'record-staging': ({ source, object }, snapshot) => stage(snapshot, source, object),

  condemn: ({ verdict, next, requested }, snapshot) => {
    const fields = { source: verdict.source, next, reason: verdict.reason, detail: verdict.detail }
    const from = describeSource(verdict.source)
    return [
      history('rolled-back', verdict.source, next, verdict.detail),
      { kind: 'write-verdict', verdict },
      requested
        ? log('warn', `rolling back from ${from} as requested on the node`, fields)
        : next === undefined
          ? log('error', 'config failed, and every other config has failed too', fields)
          : log('error', `config failed, rolling back from ${from} to ${describeSource(next)}`, fields),
      ...(requested ? [{ kind: 'clear-request', request: 'rollback' } as const] : []),
      // Last: what the disk may refuse, and what a later pass makes up for.
      ...(snapshot.trialBoots?.content === contentOfKey(verdict.key) ? endTrialBoots(snapshot) : []),
      ...mark(snapshot, contentOfKey(verdict.key), CONDEMNED),
    ]
  },

  'record-boot': ({ trialBoots }) => [put('trial-boots', trialBoots)],

  confirm: ({ verdicts }) =>
    verdicts.flatMap((verdict): Effect[] => [
      { kind: 'write-verdict', verdict: { ...verdict, state: 'confirmed' } },
      log('info', 'verdict confirmed: kubelet is healthy without this config', { source: verdict.source, reason: verdict.reason }),
    ]),

  'try-again': ({ source, failure, record }, { health, restarts, now, policy }) => {
    const earlier = keepRestarts(restarts, now)
    const expected = health && expectAnotherTry(health, now.monotonicUs, policy, record !== undefined)
    const why = `it had passed its trial here, so it is tried once more before it is given up: ${failure.detail}`
    return [
      history(record === undefined ? 'retrying' : 'restarting', source, source, why),
      ...(record === undefined ? [] : putRestarts([...earlier, record])),
      ...(expected === undefined ? [] : [put('health', expected)]),
      log('warn', `config failed and is tried once more: ${describeSource(source)}`, {
        source,
        reason: failure.reason,
        detail: failure.detail,
      }),
      ...(record === undefined ? [] : [{ kind: 'restart-kubelet', record, earlier, health: expected } as const]),
    ]
  },

  'retry-failed': ({ verdict, number, of, recovered }, snapshot) => {
    const healthy = recovered === true ? 'kubelet is healthy with it again' : 'another config has been healthy for a while'
    const why = `it had failed, and is tried again now that ${healthy} (${number} of ${of})`
    return [
      history('retrying', undefined, verdict.source, why),
      // Of another start, the config has a whole trial again, with all the evidence.
      ...(recovered !== true && hasPassed(snapshot, verdict.key) ? [put('proven', undefined)] : []),
      { kind: 'write-verdict', verdict: { ...verdict, retrials: number, suspended: true } },
      ...dropCharges(snapshot, contentOfKey(verdict.key)),
      log('info', `config is tried again: ${describeSource(verdict.source)}`, {
        source: verdict.source,
        reason: verdict.reason,
        number,
        of,
      }),
    ]
  },

  preflight: (step) => [{ kind: 'run-preflight', step }],

  activate: ({ target, fallback, wiring }, snapshot) => [
    ...markActivated(snapshot, target),
    ...(fallback === undefined || target === 'local' ? [] : [{ kind: 'stage-fallback', fallback, wiring } as const]),
    {
      kind: 'activate',
      target,
      wiring,
      orElseLocal: fallback === undefined && target !== 'local' && !mayBeInPlace(snapshot, target) && !isNextSound(snapshot),
      isRewording: isRewordingInPlace(snapshot, target),
      runsIn: findRunsIn(snapshot, target),
    },
    log('info', `activated ${describeSource(target)}: kubelet uses it at its next start`, { source: target }),
    ...(target === 'local' ? prepareWayBack(snapshot, fallback, wiring) : []),
  ],

  restart: ({ record, from, to }, { accepted, restarts, health, now, policy }) => {
    const earlier = keepRestarts(restarts, now)
    const expected = expectStart(health, now.monotonicUs, policy)
    // Preflight accepted the others as a change from what runs now. After the restart they are
    // another change.
    const others = [...accepted.keys()].filter((key) => key !== record.target)
    return [
      ...others.map((key): Effect => ({ kind: 'forget-acceptance', key })),
      history('restarting', from, to, record.fallback ? 'falling back' : 'the wanted config has changed'),
      ...putRestarts([...earlier, record]),
      ...(expected === undefined ? [] : [put('health', expected)]),
      log('info', restartingMessage(to), { from, to }),
      { kind: 'restart-kubelet', record, earlier, health: expected },
    ]
  },

  prove: ({ key }, snapshot) => [
    // Also where an earlier trial of it left another answer.
    ...mark(snapshot, contentOfKey(key), {
      proved: listUnknownEvidence(snapshot).length === 0,
      ...(contentOfKey(key) === snapshot.lastKnownGood.content && { promotedOn: identityOfKey(key) }),
    }),
    put('proven', { key }),
    // The config did not fail again: the node had been at fault.
    ...dropAcquitted(findSuspended(snapshot, key)),
    log('debug', 'trial passed', { key }),
    ...(snapshot.requests.promote === undefined ? [] : promoteAsRequested(snapshot)),
    ...endTrialBoots(snapshot),
  ],

  // previous first: what was last-known-good is named by a record at every moment.
  promote: ({ target: { source, content }, previous }, snapshot) => [
    history('promoted', snapshot.lastKnownGood.source, source, 'trial passed'),
    ...mark(snapshot, content, { promoted: true, ...promotedOn(snapshot) }),
    // Before the record that ends the step: cut off in between, the rest is done again.
    ...forgetLeft(snapshot),
    ...(previous === undefined ? [] : [put('previous', previous)]),
    put('last-known-good', source),
    log('info', `updated last-known-good config to ${nameSource(source)}`, { source }),
  ],

  'forget-fallback': ({ record, source }, snapshot) => {
    const next = record === 'last-known-good' && isSound(snapshot, snapshot.previous) ? snapshot.previous.source : 'local'
    const why = `the checkpoint of ${describeSource(source)} is gone and cannot be downloaded again: ${record} is ${describeSource(next)} from now on`
    return [
      history('set-aside', source, next, why),
      // If the same content is assigned again, it has a whole trial again.
      ...(record === 'last-known-good' ? [put('proven', undefined)] : []),
      put(record, next),
      log('error', why, { source }),
    ]
  },

  prune: ({ checkpoints }) =>
    checkpoints.flatMap((checkpoint): Effect[] => {
      const { uid, resourceVersion, overlay } = checkpoint
      return [{ kind: 'remove-checkpoint', checkpoint }, log('debug', 'old checkpoint removed', { uid, resourceVersion, overlay })]
    }),
}

function drop(verdict: Verdict | undefined): readonly Effect[] {
  return verdict === undefined ? [] : [{ kind: 'remove-verdict', key: verdict.key }]
}

function dropAcquitted(suspended: Verdict | undefined): readonly Effect[] {
  return suspended?.acquitted === true ? drop(suspended) : []
}

/** Ends the request. To a rollout, this proves nothing: evidence that is missing stays missing. */
function promoteAsRequested(snapshot: Snapshot): readonly Effect[] {
  const unknown = listUncompared(snapshot)
  return [
    ...(unknown.length === 0
      ? []
      : [log('warn', 'the trial passed as requested on the node, although how the node was before is not known', { unknown })]),
    { kind: 'clear-request', request: 'promote' },
  ]
}

/** The kubelet with which the trial passed. */
function promotedOn({ proven }: Snapshot): Partial<StagedContent> {
  return proven === undefined ? {} : { promotedOn: identityOfKey(proven) }
}

/** Whether the config that kubelet starts with next has this content already, in other bytes. */
function isRewordingInPlace(snapshot: Snapshot, target: ConfigSource): boolean {
  const { nextStart } = snapshot
  if (target === 'local' || nextStart.kind === 'unknown' || nextStart.held.content === undefined) return false
  return nextStart.held.content === findContent(snapshot, target)
}

/** Kubelet runs the config of its next start, which has not failed: local would be no better. */
function isNextSound(snapshot: Snapshot): boolean {
  const { nextStart: next, running } = snapshot
  return next.kind === 'known' && running.kind === 'known' && next.held.content === running.content && isSound(snapshot, next.held)
}

/** A config that has a checkpoint, and is not known to fail. */
function isSound(snapshot: Snapshot, { content }: HeldSource): boolean {
  return content !== undefined && snapshot.unit.kind === 'known' && findVerdict(snapshot, content, snapshot.unit) === undefined
}

/** Kubelet runs it, and nothing tells that something else is in place. */
function mayBeInPlace(snapshot: Snapshot, target: ConfigSource): boolean {
  return snapshot.nextStart.kind === 'unknown' && findRunsIn(snapshot, target) !== undefined
}

/** The invocation of the kubelet that runs it already. */
function findRunsIn(snapshot: Snapshot, target: ConfigSource): string | undefined {
  const { running } = snapshot
  return running.kind === 'known' && running.content === findContent(snapshot, target) ? running.invocationId : undefined
}
