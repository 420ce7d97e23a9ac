// SPDX-License-Identifier: Apache-2.0
/**
 * Folds one observation into the health record, and writes it. The record also says what the
 * process was started with, as far as that is known when the process is first seen.
 */

import { startedSource } from '../decision/held-sources.ts'
import type { NextStart, Policy } from '../decision/snapshot.ts'
import type { KubeletExit } from '../health/exits.ts'
import { forgetIllness, type HealthRecord, recordProcess, recordSample } from '../health/fold.ts'
import { type HealthSample, isFailing } from '../health/sample.ts'
import type { RecordStore } from '../ports/store.ts'
import type { LastWords } from '../ports/unit.ts'
import { type HeldSource, LOCAL_CONTENT, nameEarlier, nameMissing } from '../subject/config-source.ts'
import { trialKey } from '../subject/trial-key.ts'
import type { KnownUnit } from '../subject/unit-state.ts'
import { isKubeletInside } from '../systemd/distribution.ts'
import { MINUTE_US } from '../values/durations.ts'
import type { KubeletObservation } from './observe-kubelet.ts'

interface HealthPorts {
  readonly records: RecordStore<'health'>
  readonly lastWords: LastWords
}

/** One look at the node, as far as the health record is about it. */
interface Look {
  readonly sample: HealthSample & Pick<KubeletObservation, 'port'>
  readonly nextStart: NextStart
  /** The disk does not return what kubelet starts with next, which may not be lost. */
  readonly isUnreadable: boolean
  readonly policy: Policy
  /** Kubelet's exits and its silence are the doing of an operator, or of its own file. */
  readonly excused: boolean
  readonly held: readonly HeldSource[]
}

export async function foldHealth(ports: HealthPorts, before: HealthRecord | undefined, look: Look): Promise<HealthRecord | undefined> {
  const { sample, nextStart, excused, held } = look
  const { unit } = sample
  if (unit.kind === 'unknown' || nextStart.kind === 'unknown') return before
  const after = recordLook(before, look, unit, nextStart.held)
  if (after === undefined) return before
  const named = nameProcess(recordPort(after, sample, unit), unit, held)
  const charged = excused ? forgetIllness(named) : { ...named, pausedExits: undefined }
  const kept = await hearLastWords(ports.lastWords, charged, sample.at.monotonicUs)
  ports.records.put('health', kept)
  return kept
}

/**
 * The record after a look that cannot read the content of the next start:
 * - Rule 5: its checkpoint is unreadable, and there is a record about another config: only the
 *   running process is recorded, so that it can still be identified after an activation.
 * - Its checkpoint is unreadable, and there is no such record: a record begins, under the name of
 *   the config's version.
 * - Its checkpoint is gone: nothing. That version may come back with other content.
 */
function recordLook(
  before: HealthRecord | undefined,
  { sample, isUnreadable, policy }: Look,
  { kubeletIdentity }: KnownUnit,
  { source, content }: HeldSource,
): HealthRecord | undefined {
  if (content !== undefined || source === 'local')
    return recordSample(before, sample, trialKey(content ?? LOCAL_CONTENT, kubeletIdentity), policy)
  if (!isUnreadable) return undefined
  const subject = trialKey(nameMissing(source), kubeletIdentity)
  const isKept = before?.bootId === sample.at.bootId && before.subject !== subject
  return isKept ? recordProcess(before, sample, kubeletIdentity) : recordSample(before, sample, subject, policy)
}

/**
 * Only while the file holds what the process was started with. A program that kubelet is a part of
 * starts before kubelet does, and may still have to write its files.
 */
function recordPort(health: HealthRecord, { running, port, healthz }: Look['sample'], unit: KnownUnit): HealthRecord {
  const { lastProcess } = health
  if (port === undefined || lastProcess === undefined || lastProcess.healthPort !== undefined) return health
  if (isKubeletInside(unit.command) && isFailing(healthz)) return health
  const isThere = running.kind === 'known' && running.lost !== true && running.content !== nameEarlier(running.invocationId)
  const isSame = running.kind === 'known' && running.invocationId === lastProcess.invocationId
  return isThere && isSame ? { ...health, lastProcess: { ...lastProcess, healthPort: port } } : health
}

/**
 * Names the process when it is first seen: the records may change before it ends. Where they name
 * only a later version with the same content, the process itself says which version it was started
 * from.
 */
function nameProcess(health: HealthRecord, { process }: KnownUnit, held: readonly HeldSource[]): HealthRecord {
  const { lastProcess } = health
  if (lastProcess === undefined || lastProcess.source !== undefined) return health
  const found = held.find(({ content }) => content === lastProcess.content)?.source
  if (found === undefined) return health
  const isVersion = found !== 'local' && process.kind === 'checkpoint' && process.uid === found.uid
  return { ...health, lastProcess: { ...lastProcess, source: isVersion ? startedSource(process, found) : found } }
}

/** Two exits can be noticed at once. */
const MOST_ASKED = 2

/**
 * Adds to the latest exits what kubelet said before it exited. It is asked for right after an exit,
 * so a settled node never pays for it.
 */
async function hearLastWords(lastWords: LastWords, health: HealthRecord, nowUs: number): Promise<HealthRecord> {
  const exits = health.recentExits ?? []
  const isWanted = ({ invocationId, words, atUs }: KubeletExit) => invocationId !== '' && words === undefined && nowUs - atUs < MINUTE_US
  const wanted = exits.slice(-MOST_ASKED).filter(isWanted)
  if (wanted.length === 0) return health
  const heard = new Map(
    await Promise.all(wanted.map(async ({ invocationId }) => [invocationId, await lastWords.of(invocationId)] as const)),
  )
  const recentExits = exits.map((exit) => {
    const words = heard.get(exit.invocationId)
    return words === undefined ? exit : { ...exit, words }
  })
  return { ...health, recentExits }
}
