// SPDX-License-Identifier: Apache-2.0
/**
 * Recognizes a config that the cluster assigns as one that is here already, in other bytes: a
 * comment, quotes or the order of keys has changed. Before it is assigned, its text is compared as
 * kubelet decodes it with those that the records, the running process and kubelet's next start
 * name, and with those that failed. A text that is not recognized then stays another content.
 */

import type { Desired } from '../decision/desired.ts'
import type { Verdict } from '../decision/verdict.ts'
import type { SeenProcess } from '../health/process.ts'
import type { Running } from '../health/sample.ts'
import type { Checkpoints, Records } from '../ports/store.ts'
import type { CheckpointFile, ConfigMapData, ContentHash, HeldSource } from '../subject/config-source.ts'
import { contentOfKey, type TrialKey, trialKey } from '../subject/trial-key.ts'
import type { UnitState } from '../subject/unit-state.ts'

/** The contents that are known as another one. */
export interface KnownAlike {
  of(content: ContentHash): ContentHash
  add(content: ContentHash, same: ContentHash): void
  /** Writes what could not be written before. */
  write(): void
}

interface RecognizerParts {
  readonly alike: KnownAlike
  readonly checkpoints: Pick<Checkpoints, 'content' | 'data'>
  /** The hash of the bytes. */
  readonly hashOf: (data: ConfigMapData, key: string) => ContentHash
  readonly isSameConfig: (a: string, b: string) => Promise<boolean>
}

export class ContentRecognizer {
  readonly #parts: RecognizerParts
  /** The last content that was compared, and what it differs from: parsing takes time. */
  #last: { readonly content: ContentHash; readonly differsFrom: Set<ContentHash> } | undefined

  constructor(parts: RecognizerParts) {
    this.#parts = parts
  }

  /** The content by which this data is known. */
  contentOf(data: ConfigMapData, key: string): ContentHash {
    return this.#parts.alike.of(this.#parts.hashOf(data, key))
  }

  /**
   * @param files what is here, in the order of preference
   * @param named contents that anything is known of
   */
  async recognize(data: ConfigMapData, key: string, files: readonly CheckpointFile[], named: readonly ContentHash[]): Promise<void> {
    const { alike, checkpoints, hashOf } = this.#parts
    alike.write()
    const content = hashOf(data, key)
    // Where the records were lost, it may be known as a content that nothing names any more.
    if (alike.of(content) !== content && named.includes(alike.of(content))) return
    const here = files.filter((file) => file.kubeletConfigKey === key)
    const contents = here.map((file) => checkpoints.content(file))
    if (contents.includes(content)) return
    if (this.#last?.content !== content) this.#last = { content, differsFrom: new Set() }
    for (const [index, file] of here.entries()) {
      const other = contents[index]
      if (other === undefined || this.#last.differsFrom.has(other)) continue
      if (await this.#isSame(data, file)) return alike.add(content, other)
      this.#last.differsFrom.add(other)
    }
  }

  /** All other files count by their bytes: a config may refer to them. */
  async #isSame(data: ConfigMapData, { uid, resourceVersion, overlay, kubeletConfigKey: key }: CheckpointFile): Promise<boolean> {
    const other = this.#parts.checkpoints.data(uid, resourceVersion, overlay)
    const [text, otherText] = [textOf(data, key), other && textOf(other, key)]
    if (other === undefined || text === undefined || otherText === undefined) return false
    const names = Object.keys(data)
    const isRestSame =
      names.length === Object.keys(other).length && names.every((name) => name === key || textOf(data, name) === textOf(other, name))
    // A parser that cannot run now leaves a doubt, and in doubt the two differ.
    return isRestSame && (await this.#parts.isSameConfig(text, otherText).catch(() => false))
  }
}

/** `__proto__` is a valid key. */
function textOf(data: ConfigMapData, key: string): string | undefined {
  return Object.hasOwn(data, key) ? data[key] : undefined
}

/** The config that the cluster wants, and those that are here. */
interface Assignment {
  readonly desired: Desired
  readonly unit: UnitState
  readonly running: Running
  readonly held: readonly HeldSource[]
  /** The process that was seen last in this boot. The records may have moved on since. */
  readonly lastProcess: Pick<SeenProcess, 'source' | 'content'> | undefined
}

/**
 * A new version is compared with what is here, and with what failed: the verdict holds for another
 * wording, too. Not with what was refused and never ran: nothing runs it, and the reasons for a
 * refusal name lines of the text. While systemd does not answer, a refusal by any kubelet counts: a
 * version can be assigned then, and once it is, it is recognized no more.
 */
export async function recognizeDesired(ports: RecognitionPorts, assignment: Assignment): Promise<void> {
  const { recognize, contentOf, records } = ports
  const { desired, unit, running, held, lastProcess } = assignment
  if (desired.kind !== 'config-map' || desired.object.kind !== 'found') return
  const data = desired.object.rendered?.data ?? desired.object.data
  const key = desired.ref.kubeletConfigKey
  const known = contentOf(data, key)
  const here = [...held, ...(lastProcess === undefined ? [] : [lastProcess])]
  const inUse = [...(running.kind === 'known' ? [running] : []), ...here].flatMap(({ content }) => content ?? [])
  // A content that is in use keeps its name, whatever else is the same.
  if (inUse.includes(known)) return recognize(data, key, [], [known])
  const verdicts = records.verdicts()
  const isRefused = refusedOn(verdicts, unit)
  const failed = [...verdicts.values()].map(({ source, key: trial }) => ({ source, content: contentOfKey(trial) }))
  const files = [...here, ...failed].flatMap(({ source, content }) => {
    return source === undefined || source === 'local' || content === undefined || isRefused(content) ? [] : [source]
  })
  const named = [...inUse, ...failed.map(({ content }) => content)]
  const perhaps = listPerhapsRunning(ports, assignment, key).filter((file) => {
    const content = ports.checkpoints.content(file)
    return content !== undefined && !isRefused(content)
  })
  await recognize(data, key, [...files, ...perhaps], named)
}

/**
 * The checkpoint that the process was started with, as its command line names it. No record may
 * name it: the records have moved on, and those in /run can be lost. Where nothing tells what runs,
 * it may be any checkpoint.
 */
function listPerhapsRunning({ checkpoints }: RecognitionPorts, { unit, lastProcess }: Assignment, key: string): readonly CheckpointFile[] {
  if (unit.kind === 'unknown')
    return lastProcess === undefined ? checkpoints.list().map((each) => ({ ...each, kubeletConfigKey: key })) : []
  if (unit.process.kind !== 'checkpoint') return []
  const { uid, resourceVersion, overlay, key: processKey } = unit.process
  return [{ uid, resourceVersion, kubeletConfigKey: processKey, ...(overlay !== undefined && { overlay }) }]
}

/** One that has failed before is compared, so that another wording has no more tries than it. */
function refusedOn(verdicts: ReadonlyMap<TrialKey, Verdict>, unit: UnitState): (content: ContentHash) => boolean {
  const isRefused = (verdict: Verdict | undefined) => verdict?.state === 'refused' && verdict.former === undefined
  if (unit.kind === 'known') return (content) => isRefused(verdicts.get(trialKey(content, unit.kubeletIdentity)))
  const refused = [...verdicts.values()].filter(isRefused).map(({ key }) => contentOfKey(key))
  return (content) => refused.includes(content)
}

export interface RecognitionPorts {
  /** The content that a checkpoint of this data would have. */
  readonly contentOf: (data: ConfigMapData, key: string) => ContentHash
  /**
   * Afterwards `contentOf` knows this data as one of these checkpoints, where it differs only in
   * bytes.
   */
  readonly recognize: ContentRecognizer['recognize']
  readonly records: Pick<Records, 'verdicts'>
  readonly checkpoints: Pick<Checkpoints, 'list' | 'content'>
}
