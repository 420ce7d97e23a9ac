// SPDX-License-Identifier: Apache-2.0
/**
 * The Snapshot that a step leaves behind: the effects that `perform` applies to the node, folded
 * into the Snapshot instead. `plan` foresees with it, and the tests chain steps with it. Pure.
 */
import {
  type CheckpointInfo,
  type ConfigMapSource,
  type ConfigSource,
  type ContentHash,
  type HeldSource,
  nameMissing,
  nameOfKey,
  sameSource,
  sameVersion,
} from '../subject/config-source.ts'
import { identityOfKey, trialKey } from '../subject/trial-key.ts'
import type { CommandEffect, StateEffect } from './effects.ts'
import { effectsOfPreflight, effectsOfRestart, type PreflightAnswer, type RestartOutcome } from './effects-of-answer.ts'
import { effectsOf } from './effects-of-step.ts'
import { findContent } from './held-sources.ts'
import type { Put, PutValue, RecordName, SeenName } from './record-table.ts'
import type { FallbackName } from './records.ts'
import type { Snapshot } from './snapshot.ts'
import type { Action, StepOf } from './step.ts'
import type { Verdict } from './verdict.ts'

/** How the world answers the commands of a step. */
export interface CommandAnswers {
  preflight(step: StepOf<'preflight'>, snapshot: Snapshot): PreflightAnswer
  /** `after`: the Snapshot with kubelet as the restart leaves it. */
  restart(snapshot: Snapshot): { readonly outcome: RestartOutcome; readonly after: Snapshot }
}

export function carryOut(snapshot: Snapshot, step: Action, answers: CommandAnswers): Snapshot {
  return effectsOf(step, snapshot).reduce((seen, effect) => {
    switch (effect.kind) {
      case 'run-preflight':
        return foldEffects(seen, effectsOfPreflight(effect.step, answers.preflight(effect.step, seen), seen))
      case 'restart-kubelet':
        return restart(seen, effect, answers)
      default:
        return foldEffect(seen, effect)
    }
  }, snapshot)
}

function restart(snapshot: Snapshot, effect: Extract<CommandEffect, { kind: 'restart-kubelet' }>, answers: CommandAnswers): Snapshot {
  const { outcome, after } = answers.restart(snapshot)
  return foldEffects(after, effectsOfRestart(effect, outcome))
}

export function foldEffects(snapshot: Snapshot, effects: readonly StateEffect[]): Snapshot {
  return effects.reduce(foldEffect, snapshot)
}

function foldEffect(snapshot: Snapshot, effect: StateEffect): Snapshot {
  switch (effect.kind) {
    case 'append-history':
    case 'log':
    case 'keep-wordings':
    case 'stage-fallback':
      return snapshot
    case 'save-checkpoint':
    case 'replace-checkpoint':
      return storeCheckpoint(snapshot, effect)
    case 'remove-checkpoint':
      return { ...snapshot, checkpoints: snapshot.checkpoints.filter((one) => !sameVersion(one, effect.checkpoint)) }
    case 'put':
      return foldRecord(snapshot, effect)
    case 'write-verdict':
      return writeVerdict(snapshot, effect.verdict)
    case 'remove-verdict':
      return {
        ...snapshot,
        verdicts: withoutKey(snapshot.verdicts, effect.key),
        suspendedVerdicts: withoutKey(snapshot.suspendedVerdicts, effect.key),
      }
    case 'remember-acceptance':
      return { ...snapshot, accepted: new Map([...snapshot.accepted, [effect.key, effect.acceptance]]) }
    case 'forget-acceptance':
      return { ...snapshot, accepted: withoutKey(snapshot.accepted, effect.key) }
    case 'clear-request': {
      const cleared = { retry: { retry: false }, rollback: { rollback: undefined }, promote: { promote: undefined } }[effect.request]
      return { ...snapshot, requests: { ...snapshot.requests, ...cleared } }
    }
    case 'activate':
      return { ...snapshot, nextStart: { kind: 'known', held: hold(snapshot, effect.target) } }
  }
}

function writeVerdict(snapshot: Snapshot, verdict: Verdict): Snapshot {
  const [verdicts, suspendedVerdicts] = [withoutKey(snapshot.verdicts, verdict.key), withoutKey(snapshot.suspendedVerdicts, verdict.key)]
  if (verdict.suspended === true)
    return { ...snapshot, verdicts, suspendedVerdicts: new Map([...suspendedVerdicts, [verdict.key, verdict]]) }
  return { ...snapshot, verdicts: new Map([...verdicts, [verdict.key, verdict]]), suspendedVerdicts }
}

/**
 * A version that gets other data, or gets back what was lost, has that content wherever it is
 * named.
 */
function storeCheckpoint(snapshot: Snapshot, { source, content }: Extract<StateEffect, { content: ContentHash | undefined }>): Snapshot {
  const { uid, resourceVersion, overlay } = source
  const info: CheckpointInfo = { uid, resourceVersion, overlay, savedAtMs: snapshot.now.wallMs }
  const isListed = snapshot.checkpoints.some((one) => sameVersion(one, info))
  const checkpoints = isListed ? snapshot.checkpoints : [...snapshot.checkpoints, info]
  // The ConfigMap without this node's overlay: kubelet starts with none of it.
  if (content === undefined) return { ...snapshot, checkpoints, storedUnrendered: 'same' }
  const renew = (held: HeldSource): HeldSource => {
    if (!sameVersion(held.source, source)) return held
    return { source: held.source, content: sameSource(held.source, source) ? content : nameOfKey(content, held.source) }
  }
  const isOther = snapshot.storedContent !== content
  const { nextStart, lastKnownGood, previous, left, assigned, assignedContent } = snapshot
  return {
    ...snapshot,
    checkpoints,
    running: isOther ? identifyAgain(snapshot, source, content) : snapshot.running,
    storedContent: content,
    ...(isOther && {
      assignedContent: assigned.kind === 'source' ? renew({ source: assigned.source, content: assignedContent }).content : undefined,
      lastKnownGood: renew(lastKnownGood),
      previous: renew(previous),
      ...(left && { left: left.map(renew) }),
      nextStart: nextStart.kind === 'known' ? { kind: 'known', held: renew(nextStart.held) } : nextStart,
    }),
  }
}

/** The running config, once the checkpoint that it was started with is there again. */
function identifyAgain({ running }: Snapshot, source: ConfigMapSource, content: ContentHash): Snapshot['running'] {
  if (running.kind !== 'known' || running.content !== nameMissing(source)) return running
  const { lost: _, ...found } = running
  return { ...found, content, key: trialKey(content, identityOfKey(running.key)) }
}

type FoldRecords<Names extends RecordName> = { readonly [N in Names]: (snapshot: Snapshot, value: PutValue<N>) => Snapshot }

function foldRecord<N extends RecordName>(snapshot: Snapshot, { record, value }: Put<N>): Snapshot {
  const folds: Partial<FoldRecords<RecordName>> = FOLD_RECORDS
  return folds[record]?.(snapshot, value) ?? snapshot
}

const FOLD_RECORDS: FoldRecords<SeenName> = {
  assigned: (snapshot, source) => ({ ...snapshot, assigned: { kind: 'source', source }, assignedContent: findContent(snapshot, source) }),
  'last-known-good': (snapshot, source) => writeFallback(snapshot, 'last-known-good', { lastKnownGood: hold(snapshot, source) }),
  previous: (snapshot, source) => writeFallback(snapshot, 'previous', { previous: hold(snapshot, source) }),
  left: (snapshot, { sources, localConfig }) => {
    const left = sources.map((source) => hold(snapshot, source))
    return { ...snapshot, left, leftDamaged: false, triedLocalConfig: localConfig }
  },
  proven: (snapshot, proven) => ({ ...snapshot, proven: proven?.key }),
  'trial-boots': (snapshot, trialBoots) => ({ ...snapshot, trialBoots }),
  'channel-state': (snapshot, recordedChannelState) => ({ ...snapshot, recordedChannelState, channelStateDamaged: false }),
  stagings: (snapshot, stagings) => ({ ...snapshot, stagings, stagingsDamaged: false }),
  health: (snapshot, health) => ({ ...snapshot, health }),
  restarts: (snapshot, restarts) => ({ ...snapshot, restarts }),
  spread: (snapshot, spread) => ({ ...snapshot, spread }),
}

function hold(snapshot: Snapshot, source: ConfigSource): HeldSource {
  return { source, content: findContent(snapshot, source) }
}

function writeFallback(snapshot: Snapshot, name: FallbackName, held: Partial<Snapshot>): Snapshot {
  return { ...snapshot, ...held, damagedFallbacks: snapshot.damagedFallbacks?.filter((other) => other !== name) }
}

function withoutKey<T>(map: ReadonlyMap<string, T>, key: string): ReadonlyMap<string, T> {
  return new Map([...map].filter(([each]) => each !== key))
}
