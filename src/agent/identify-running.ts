/** Which content the running kubelet was started with, and which it starts with next. */
import {
  type CheckpointFile,
  type ConfigMapSource,
  type ContentHash,
  type HeldSource,
  isMissing,
  LOCAL,
  LOCAL_CONTENT,
  nameEarlier,
  nameMissing,
  nameOther,
} from '../decision/config-source.ts'
import type { NextStart } from '../decision/snapshot.ts'
import { trialKey } from '../decision/trial-key.ts'
import type { KnownUnit, UnitState } from '../decision/unit-state.ts'
import type { HealthRecord } from '../health/fold.ts'
import type { Running } from '../health/sample.ts'
import type { ActivationStamp, ActivationState } from '../ports/activation.ts'
import type { CheckpointContents } from './content-once.ts'

export function resolveNextStart(activation: ActivationState, checkpoints: CheckpointContents): NextStart {
  switch (activation.kind) {
    case 'unknown':
      return activation
    case 'local':
      return { kind: 'known', held: LOCAL }
    case 'checkpoint':
      return { kind: 'known', held: holdActivated(activation, checkpoints) }
  }
}

/** A file in place that outlives its checkpoint still holds its content. */
function holdActivated({ source, content }: Extract<ActivationState, { kind: 'checkpoint' }>, checkpoints: CheckpointContents): HeldSource {
  const stored = checkpoints.contentToStart(source)
  if (stored !== undefined || content === undefined) return { source, content: stored }
  return { source, content: checkpoints.knownAs(content), onlyInPlace: true }
}

export interface Recorded {
  /** What the records name. */
  readonly named: readonly ConfigMapSource[]
  /** What is last-known-good or was, and what ran before a return to local. */
  readonly passed: readonly (ContentHash | undefined)[]
}

/**
 * What a process runs is recorded when the process is first seen. A checkpoint that is replaced or
 * a binary that is upgraded later changes nothing.
 *
 * @param health the record of this boot
 */
export function identifyRunning(
  unit: UnitState,
  health: HealthRecord | undefined,
  activation: ActivationState,
  bootId: string,
  checkpoints: CheckpointContents,
  { named, passed }: Recorded,
): Running {
  if (unit.kind === 'unknown') return { kind: 'unknown', detail: unit.detail }
  const { process } = unit
  if (process.kind === 'none') return { kind: 'none' }
  if (process.kind === 'unknown') return process
  const seen = health?.lastProcess?.invocationId === unit.invocationId ? health.lastProcess : undefined
  // Kubelet's command line does not tell it, and what is in place could not be read.
  if (seen === undefined && hasFixedFlag(unit) && activation.kind === 'unknown') return activation
  const startedFrom = process.kind === 'checkpoint' ? { ...process, kubeletConfigKey: process.key } : undefined
  const content =
    seen === undefined
      ? identifyContent(unit, process, { activation, passed }, bootId, checkpoints)
      : findAgain(seen.content, startedFrom === undefined ? named : [startedFrom, ...named], checkpoints)
  const source = startedFrom ?? seen?.source ?? 'local'
  // After a restore of etcd, the same version may hold other content by now.
  const isLost = isMissing(content) || (source !== 'local' && checkpoints.contentToStart(source) !== content)
  const key = trialKey(content, seen?.kubeletIdentity ?? unit.kubeletIdentity)
  const { startedAtUs, invocationId } = unit
  return { kind: 'known', content, key, startedAtUs, invocationId, ...(isLost && { lost: true }) }
}

function hasFixedFlag({ wiring }: KnownUnit): boolean {
  return wiring.kind === 'ready' && wiring.configFlagIsFixed
}

/**
 * What is neither local nor a checkpoint at hand gets a name that no content has, so it equals
 * nothing.
 */
function identifyContent(
  unit: KnownUnit,
  process: Exclude<KnownUnit['process'], { kind: 'none' | 'unknown' }>,
  { activation, passed }: { readonly activation: ActivationState } & Pick<Recorded, 'passed'>,
  bootId: string,
  checkpoints: CheckpointContents,
): ContentHash {
  if (process.kind === 'checkpoint') return contentOrName({ ...process, kubeletConfigKey: process.key }, checkpoints)
  if (hasFixedFlag(unit) && activation.kind !== 'unknown') {
    const wasStartedBefore = (stamp: ActivationStamp | undefined) =>
      stamp !== undefined && stamp.bootId === bootId && unit.startedAtUs < stamp.monotonicUs
    // A process that started before the file was in place does not run what the file holds now.
    if (wasStartedBefore(activation.since)) return nameEarlier(unit.invocationId)
    if (activation.kind === 'local') return LOCAL_CONTENT
    const content = holdActivated(activation, checkpoints).content ?? nameMissing(activation.source)
    // Where nobody knows that, a config that has never passed its trial may never have run.
    return wasStartedBefore(activation.foundAt) && !passed.includes(content) ? nameEarlier(unit.invocationId) : content
  }
  return process.configPath === unit.localConfigPath ? LOCAL_CONTENT : nameOther(process.configPath)
}

/** Where the bytes are gone, the version still says which content it is. */
function contentOrName(file: CheckpointFile, checkpoints: CheckpointContents): ContentHash {
  return checkpoints.contentToStart(file) ?? nameMissing(file)
}

/**
 * The content of a process that was first seen while its checkpoint was gone, once it is there
 * again.
 */
function findAgain(content: ContentHash, files: readonly CheckpointFile[], checkpoints: CheckpointContents): ContentHash {
  const file = isMissing(content) ? files.find((each) => nameMissing(each) === content) : undefined
  return file === undefined ? content : contentOrName(file, checkpoints)
}
