// SPDX-License-Identifier: Apache-2.0
/**
 * Which configs this node has: what the running kubelet was started with, what it starts with next,
 * what the records name, and the local config. Pure.
 */

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { RecordState, SourceName } from '../decision/records.ts'
import type { NextStart } from '../decision/snapshot.ts'
import type { HealthRecord } from '../health/fold.ts'
import type { SeenProcess } from '../health/process.ts'
import type { Running } from '../health/sample.ts'
import type { Activation, ActivationStamp, ActivationState } from '../ports/activation.ts'
import type { LocalConfigView } from '../ports/assignment-source.ts'
import type { Checkpoints, Records } from '../ports/store.ts'
import {
  type CheckpointFile,
  type ConfigMapSource,
  type ConfigSource,
  type ContentHash,
  type HeldSource,
  isMissing,
  LOCAL,
  LOCAL_CONTENT,
  nameEarlier,
  nameMissing,
  nameOther,
} from '../subject/config-source.ts'
import { contentOfKey, type TrialKey, trialKey } from '../subject/trial-key.ts'
import type { KnownUnit, UnitState } from '../subject/unit-state.ts'
import { errorMessage } from '../values/errors.ts'

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

/**
 * A damaged record names nothing that could be downloaded, so this fallback is local, where nothing
 * better runs: kubelet can always be started with that.
 */
export function holdFallback(record: RecordState, checkpoints: CheckpointContents): HeldSource {
  if (record.kind === 'damaged' || record.source === 'local') return LOCAL
  return hold(record.source, checkpoints)
}

export function hold(source: ConfigMapSource, checkpoints: CheckpointContents): HeldSource {
  const content = checkpoints.contentToStart(source)
  const held = { source, content }
  return content === undefined && checkpoints.isUnreadable(source) ? { ...held, unreadable: true } : held
}

interface Recorded {
  /** The configs that the records name. */
  readonly named: readonly ConfigMapSource[]
  /** The content of last-known-good, now and before, and of what ran before a return to local. */
  readonly passed: readonly (ContentHash | undefined)[]
}

/**
 * The config of a process is recorded when the process is first seen. A checkpoint that is
 * replaced or a binary that is upgraded later changes nothing.
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
  const startedFrom = process.kind === 'checkpoint' ? { kubeletConfigKey: process.key, ...process } : undefined
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
 * A config that is neither local nor a checkpoint at hand gets a name that no content has. So it
 * equals nothing.
 */
function identifyContent(
  unit: KnownUnit,
  process: Exclude<KnownUnit['process'], { kind: 'none' | 'unknown' }>,
  { activation, passed }: { readonly activation: ActivationState } & Pick<Recorded, 'passed'>,
  bootId: string,
  checkpoints: CheckpointContents,
): ContentHash {
  if (process.kind === 'checkpoint') return contentOrName({ kubeletConfigKey: process.key, ...process }, checkpoints)
  if (hasFixedFlag(unit) && activation.kind !== 'unknown') {
    const wasStartedBefore = (stamp: ActivationStamp | undefined) => stamp?.bootId === bootId && isEarlier(unit, stamp)
    // A process that started before the file was in place does not run what the file holds now.
    if (wasStartedBefore(activation.since)) return nameEarlier(unit.invocationId)
    if (activation.kind === 'local') return LOCAL_CONTENT
    const content = holdActivated(activation, checkpoints).content ?? nameMissing(activation.source)
    // Where nobody knows that, a config that has never passed its trial may never have run.
    return wasStartedBefore(activation.foundAt) && !passed.includes(content) ? nameEarlier(unit.invocationId) : content
  }
  return process.configPath === unit.localConfigPath ? LOCAL_CONTENT : nameOther(process.configPath)
}

/** The process was started with what was in place before, as far as the stamp tells. */
function isEarlier({ startedAtUs, invocationId }: KnownUnit, { monotonicUs, runsIn }: ActivationStamp): boolean {
  return startedAtUs < monotonicUs && invocationId !== runsIn
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

type CheckpointReads = Pick<Checkpoints, 'content' | 'hasKey' | 'isUnreadable' | 'knownAs'>

/**
 * The content of each checkpoint, read once for one observation. A disk that fails at times would
 * otherwise show the same checkpoint lost in one place and there in another, and what runs would
 * differ from itself.
 */
export interface CheckpointContents extends Pick<Checkpoints, 'content' | 'isUnreadable' | 'knownAs'> {
  /**
   * The same, of a checkpoint that kubelet can start with. undefined also: the file that it reads
   * is gone.
   */
  contentToStart(file: CheckpointFile): ContentHash | undefined
}

export function readContentOnce(checkpoints: CheckpointReads): CheckpointContents {
  const content = once((file) => checkpoints.content(file))
  const hasKey = once((file) => checkpoints.hasKey(file))
  return {
    content,
    contentToStart(file) {
      const found = content(file)
      return found !== undefined && hasKey(file) ? found : undefined
    },
    isUnreadable: (file) => checkpoints.isUnreadable(file),
    knownAs: (content) => checkpoints.knownAs(content),
  }
}

function once<T>(read: (file: CheckpointFile) => T): (file: CheckpointFile) => T {
  const known = new Map<string, { readonly found: T }>()
  return (file) => {
    const name = nameOf(file)
    const before = known.get(name)
    if (before !== undefined) return before.found
    const found = read(file)
    known.set(name, { found })
    return found
  }
}

function nameOf({ uid, resourceVersion, overlay, kubeletConfigKey }: CheckpointFile): string {
  return `${uid}\n${resourceVersion}\n${overlay ?? ''}\n${kubeletConfigKey}`
}

/** The signs that a checkpoint was assigned once. */
interface Traces {
  readonly unit: UnitState
  readonly activation: ActivationState
  /** The process that was seen last in this boot. */
  readonly lastProcess: Pick<SeenProcess, 'source'> | undefined
}

/**
 * An empty record may be all that a disk has kept of another one. No record means that nothing was
 * ever assigned. But where kubelet runs, ran in this boot or starts with a checkpoint of this
 * directory, or may run one, the record was lost: what it said is then unknown. Only previous may
 * never have been written.
 */
export function readSourceRecord(records: Pick<Records, 'read'>, name: SourceName, traces: Traces): RecordState {
  const record = records.read(name)
  if (record.kind === 'damaged' || !isInUse(traces)) return record
  const isLost = record.absent === true && name !== 'previous'
  if (isLost) return { kind: 'damaged', detail: `meta/${name} is lost, and kubelet uses a checkpoint of this directory` }
  if (record.unconfirmed !== true) return record
  return { kind: 'damaged', detail: `meta/${name} is empty, nothing says that local was recorded, and kubelet uses a checkpoint` }
}

function isInUse({ unit, activation, lastProcess }: Traces): boolean {
  if (unit.kind === 'known' && unit.process.kind === 'checkpoint') return true
  if (activation.kind === 'checkpoint' || (activation.kind === 'unknown' && activation.unrecorded === true)) return true
  // The file that it was started with held something else until then.
  const since = activation.kind === 'local' ? activation.since : undefined
  if (since !== undefined && unit.kind === 'known' && isEarlier(unit, since)) return true
  return lastProcess?.source !== undefined && lastProcess.source !== 'local'
}

/**
 * The content of an assigned ConfigMap that lacks its key, so that it is refused. Where neither the
 * cluster nor a verdict knows that content, the checkpoint has lost the file of the key.
 */
export function findKeyless(
  assigned: RecordState,
  checkpoints: Pick<CheckpointContents, 'content'>,
  judged: readonly TrialKey[],
  desiredContent: ContentHash | undefined,
): ContentHash | undefined {
  if (assigned.kind === 'damaged' || assigned.source === 'local') return undefined
  const content = checkpoints.content(assigned.source)
  return content === desiredContent || judged.some((key) => contentOfKey(key) === content) ? content : undefined
}

/** The ConfigMaps that the records name. */
export function listNamedSources(assigned: RecordState, ...fallbacks: readonly ConfigSource[]): readonly ConfigMapSource[] {
  const sources = [...(assigned.kind === 'source' ? [assigned.source] : []), ...fallbacks]
  return sources.flatMap((source) => (source === 'local' ? [] : [source]))
}

/** As much as a ConfigMap can hold. */
const MOST_BYTES = 1 << 20

/** Reads it through the activation, which may have put another file in its place. */
export function readLocalConfig(activation: Pick<Activation, 'readLocal'>, unit: UnitState): LocalConfigView {
  if (unit.kind === 'unknown') return { kind: 'unknown', detail: unit.detail }
  const { wiring, localConfigPath: path } = unit
  if (wiring.kind === 'broken') return { kind: 'unknown', detail: wiring.detail }
  const unusable = (detail: string, why?: 'none' | 'missing'): LocalConfigView => ({ kind: 'unusable', detail, ...(why && { why }) })
  if (path === undefined) return unusable("kubelet has no local config: its unit has no --config without the agent's", 'none')
  try {
    const bytes = activation.readLocal(wiring, path)
    if (bytes === undefined) return unusable(`${path} does not exist`, 'missing')
    if (bytes.length > MOST_BYTES) return unusable(`${path} has more than ${MOST_BYTES} bytes`)
    if (!isUtf8(bytes)) return unusable(`${path} is not valid UTF-8`)
    return { kind: 'found', path, text: bytes.toString('utf8'), ...(wiring.laysOverLocal && { staysBelow: true }) }
  } catch (error) {
    return unusable(errorMessage(error))
  }
}

/** `Snapshot.localConfig`: of a file that cannot be read, why. undefined: nobody knows. */
export function identifyLocal(view: LocalConfigView): string | undefined {
  if (view.kind === 'unknown') return undefined
  const what = view.kind === 'found' ? ['found', view.path, view.text] : [view.kind, view.detail]
  return createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 16)
}
