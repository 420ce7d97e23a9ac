// SPDX-License-Identifier: Apache-2.0
/**
 * Activation by replacing the config file that the unit's `--config` names. The original is stored
 * in the dynamic config directory and restored, byte for byte, for local. If anything else changes
 * the file, its new content becomes the new original. Each replacement is one rename of a complete
 * file with the owner, mode and SELinux context of the file it replaces. The fallback and the
 * original are staged beside it, so falling back works on a full disk. Relative paths in a config
 * resolve to another directory here than in its checkpoint.
 *
 * A program with kubelet inside has a `--config` too, which is not kubelet's: a file of another
 * kind is left alone. A file that the agent has put there itself may be of any kind.
 *
 * After a crash at any point the file is complete, and its content is in the record or is the
 * original's. The order is therefore: store the original, record the target, rename, stamp.
 */
import { dirname, join } from 'node:path'
import { layoutOf } from '../checkpoint/layout.ts'
import { checkSource } from '../decision/safe-names.ts'
import { findOtherKind, KIND } from '../kubelet/decode.ts'
import type { ActivationState, OnWithdrawn, Withdrawal } from '../ports/activation.ts'
import type { Clock } from '../ports/clock.ts'
import type { FileFacts, Files } from '../ports/files.ts'
import { type ConfigMapSource, type ConfigSource, type ContentHash, describeSource, LOCAL } from '../subject/config-source.ts'
import type { ReadyWiring, UnitState } from '../subject/unit-state.ts'
import { codedError } from '../values/errors.ts'
import { type ActivationParts, type InPlace, type KindOfActivation, NOT_ASKED } from './activation-kind.ts'
import type { FileOwnership } from './file-ownership.ts'
import {
  type Found,
  findMeaning,
  hashOf,
  means,
  type OriginalRecord,
  OriginalRecords,
  type Placed,
  recordContent,
  recordStaged,
} from './original-records.ts'
import { contentToPlace, tolerateFaults } from './placed-content.ts'
import { ReplacementStamps } from './replacement-stamps.ts'
import { fileWiring, readyPath } from './wiring-kinds.ts'

/** A file that something else changed more recently may still be incomplete. */
const SETTLED_MS = 2000
/** How many originals are kept, earlier ones included: an operator may want one back. */
const KEPT_ORIGINALS = 5

interface Kept {
  readonly record: OriginalRecord
  readonly inPlace: ContentHash | undefined
}

export class FileActivation implements KindOfActivation {
  readonly #files: Files
  readonly #ownership: FileOwnership
  readonly #clock: Clock
  readonly #stamps: ReplacementStamps
  readonly #records: OriginalRecords
  readonly #dynamicConfigDir: string

  constructor({ files, ownership, clock, dynamicConfigDir, runtimeDir }: Omit<ActivationParts, 'envFile'>) {
    this.#files = files
    this.#ownership = ownership
    this.#clock = clock
    this.#stamps = new ReplacementStamps(files, join(runtimeDir, 'config-file.json'), clock)
    this.#records = new OriginalRecords(files, join(dynamicConfigDir, 'local'))
    this.#dynamicConfigDir = dynamicConfigDir
  }

  read({ path: configPath }: ReadyWiring): ActivationState {
    const found = this.#records.find(configPath)
    if (found instanceof Error) return { kind: 'unknown', detail: found.message, unrecorded: true }
    const { hash, meaning } = found
    if (hash === undefined) return { kind: 'unknown', detail: `${configPath} does not exist or has no content`, absent: true }
    const { source } = meaning ?? LOCAL
    const { since, foundAt } = this.#stamps.since(hash, source === 'local', found.stamped)
    if (source === 'local') return { kind: 'local', since }
    if (this.#isReplaced(source, hash)) return { kind: 'unknown', detail: `${configPath} holds what ${describeSource(source)} was before` }
    return { kind: 'checkpoint', source, since, content: this.#complete(source, found), ...(foundAt && { foundAt }) }
  }

  /**
   * Writes the records that an earlier agent did not: the copy, the original beside it, and which
   * content it is. A failed write must not keep the agent from observing.
   * @returns the content of what is in place
   */
  #complete(source: ConfigMapSource, { record, meaning, isIncomplete }: Found): ContentHash | undefined {
    if (record === undefined || meaning === undefined) return undefined
    const content = meaning.content ?? contentToPlace(this.#files, this.#checkpointPath(source), source.kubeletConfigKey)
    if (this.#files.stat(readyPath(record.configPath, 'local')) === undefined) this.#keepLocalReady(record)
    if (isIncomplete || content !== meaning.content)
      tolerateFaults(() => this.#records.save(recordContent(record, { ...meaning, content })))
    return content
  }

  /** After a restore of etcd, a version may have other content. */
  #isReplaced(source: ConfigMapSource, hash: ContentHash): boolean {
    const bytes = this.#files.read(this.#checkpointPath(source))
    return bytes !== undefined && hashOf(bytes) !== hash
  }

  /**
   * The file that is in place, unless the agent has put it there: then the original that is kept.
   */
  readLocal({ path: configPath }: ReadyWiring): Buffer | undefined {
    const found = this.#records.mustFind(configPath)
    const { record, bytes } = found
    if (record === undefined) return bytes
    // Without the file, the original is what kubelet gets for local.
    return bytes === undefined || isAgents(found) ? this.#load('local', record).bytes : bytes
  }

  stage(fallback: ConfigSource, { path: configPath }: ReadyWiring): void {
    const { record, inPlace } = this.#keepReplaceable(configPath)
    const staged = this.#load(fallback, record)
    const local = this.#load('local', record).bytes
    this.#keepAgain(record, local)
    // Local is always staged: it is the last resort if the fallback fails too.
    this.#prepare(readyPath(configPath, 'local'), local, record)
    if (fallback !== 'local') this.#prepare(readyPath(configPath, 'fallback'), staged.bytes, record)
    this.#records.save(recordStaged(record, staged.placed, inPlace))
  }

  activate(target: ConfigSource, { path: configPath }: ReadyWiring, isRewording = false, runsIn?: string): void {
    const found = this.#records.mustFind(configPath)
    if (target === 'local' && found.record === undefined && found.bytes !== undefined) return
    // For local, what is in place stays, unless it is the agent's.
    const { record, inPlace } = target === 'local' ? this.#keepOriginal(configPath) : this.#keepReplaceable(configPath)
    const { bytes, placed } = this.#load(target, record)
    const before = inPlace === undefined ? undefined : findMeaning(record, inPlace)
    // Without a record of it, or as local, something else was put in place since it was observed.
    const isAgentsInPlace = before !== undefined && before.source !== 'local'
    const replacement = { hash: placed.hash, isLocal: target === 'local', isRewording: isRewording && isAgentsInPlace, runsIn }
    const begun = inPlace === placed.hash ? undefined : this.#stamps.begin(inPlace, replacement, record.stamp)
    const next = { ...record, target: placed, before, ...(begun && { stamp: begun }) }
    this.#recordPlaced(next, record, placed)
    if (inPlace === placed.hash) {
      if (target === 'local') this.#records.clear(configPath)
      return
    }
    if (target !== 'local') this.#keepLocalReady(record)
    const ready = ['local', 'fallback'] as const
    const staged = ready.map((kind) => readyPath(configPath, kind)).find((path) => this.#isReady(path, bytes, record))
    const from = staged ?? this.#write(configPath, bytes, record)
    const rename = () => this.#files.rename(from, configPath)
    this.#stamps.replace(begun, replacement, rename, (stamp) => this.#records.keepStamp(next, stamp))
    if (target === 'local') this.#records.clear(configPath)
  }

  /**
   * The original that is kept may be lost with the agent's directory, and the one in place is about
   * to be replaced. But a full disk must not keep a node from falling back.
   */
  #keepLocalReady(record: OriginalRecord): void {
    tolerateFaults(() => this.#prepare(readyPath(record.configPath, 'local'), this.#loadOriginal(record), record))
  }

  findOutside(unit: UnitState): readonly string[] {
    return this.#findInPlace(unit).map(({ path }) => path)
  }

  listInPlace(): readonly InPlace[] {
    return this.#findInPlace(NOT_ASKED)
  }

  #findInPlace(unit: UnitState): readonly InPlace[] {
    return this.#records.list(unit).flatMap((path): readonly InPlace[] => {
      const found = this.#records.find(path)
      if (found instanceof Error) return [{ path, fault: found }]
      return isAgents(found) ? [{ path, fault: undefined }] : []
    })
  }

  /**
   * Both extents of a withdrawal are the same here: this kind of activation always replaces a file.
   */
  withdraw(_extent: Withdrawal, unit: UnitState, onWithdrawn: OnWithdrawn): void {
    for (const configPath of this.#records.list(unit)) {
      const found = this.#records.find(configPath)
      // Without the file, only its record says what the original is.
      if (found instanceof Error || found.hash === undefined) continue
      if (isAgents(found)) {
        this.activate('local', fileWiring(configPath))
        onWithdrawn(configPath, 'restored')
      }
      tolerateFaults(() => this.#records.disown(configPath))
    }
  }

  /** On a full disk nothing can be recorded, but a staged fallback has been recorded already. */
  #recordPlaced(next: OriginalRecord, known: OriginalRecord, placed: Placed): void {
    try {
      this.#records.save(next)
    } catch (cause) {
      if (!means(known, placed)) throw cause
    }
  }

  #keepReplaceable(configPath: string): Kept {
    const found = this.#records.mustFind(configPath)
    // Where the agent has put a config before, the file is kubelet's, whatever somebody made of it.
    const isNew = found.record === undefined && found.bytes !== undefined
    const kind = isNew ? findOtherKind(found.bytes.toString('utf8')) : undefined
    if (kind !== undefined) throw codedError('other-kind', describeOtherKind(configPath, kind))
    return this.#keepOriginal(configPath)
  }

  /** Stores the file in place as the original, unless the agent itself has put it there. */
  #keepOriginal(configPath: string): Kept {
    const facts = this.#files.stat(configPath)
    if (facts !== undefined && facts.kind !== 'file')
      throw codedError('no-file', `${configPath} is not a regular file: name the file itself in --config`)
    const { record, bytes, hash: inPlace, meaning } = this.#records.mustFind(configPath)
    if (record !== undefined && meaning !== undefined) return { record, inPlace }
    const ageMs = facts === undefined ? Number.POSITIVE_INFINITY : this.#clock.now().wallMs - facts.mtimeMs
    if (record !== undefined && ageMs >= 0 && ageMs < SETTLED_MS)
      throw codedError('unsettled', `${configPath} was changed a moment ago, not by the agent, and may still be incomplete`)
    if (facts === undefined || bytes === undefined || inPlace === undefined) {
      if (record === undefined) throw codedError('no-file', `${configPath} does not exist, so there is nothing to replace or restore`)
      return { record, inPlace: undefined }
    }
    return { record: this.#keep(configPath, bytes, inPlace, facts), inPlace }
  }

  #keep(configPath: string, bytes: Buffer, hash: ContentHash, { mode, uid, gid }: FileFacts): OriginalRecord {
    const directory = this.#records.directoryOf(configPath)
    this.#files.makeDirectory(directory)
    this.#files.replace(join(directory, hash), bytes)
    const original = { hash, mode: mode & 0o7777, uid, gid }
    const record = { configPath, original, target: undefined, fallback: undefined, before: undefined, revision: 0 }
    this.#records.save(record)
    const originals = (this.#files.list(directory) ?? []).filter((name) => /^[0-9a-f]{64}$/.test(name) && name !== hash)
    const keptAtMs = (name: string) => this.#files.stat(join(directory, name))?.mtimeMs ?? 0
    const old = originals.sort((a, b) => keptAtMs(b) - keptAtMs(a)).slice(KEPT_ORIGINALS - 1)
    for (const name of old) this.#files.remove(join(directory, name))
    return record
  }

  #load(source: ConfigSource, record: OriginalRecord): { bytes: Buffer; placed: Placed } {
    if (source === 'local') return { bytes: this.#loadOriginal(record), placed: { source, hash: record.original.hash } }
    const path = this.#checkpointPath(source)
    const bytes = this.#files.read(path)
    if (bytes === undefined) throw codedError('missing', `${path} does not exist, so it cannot replace ${record.configPath}`)
    return { bytes, placed: { source, hash: hashOf(bytes), content: contentToPlace(this.#files, path, source.kubeletConfigKey) } }
  }

  /** Where the kept one is lost with the agent's directory, it is staged, or in place. */
  #loadOriginal({ configPath, original }: OriginalRecord): Buffer {
    const kept = join(this.#records.directoryOf(configPath), original.hash)
    for (const path of [kept, readyPath(configPath, 'local'), configPath]) {
      const bytes = this.#files.read(path)
      if (bytes !== undefined && hashOf(bytes) === original.hash) return bytes
    }
    const isLost = this.#files.stat(kept) === undefined
    throw codedError(
      isLost ? 'missing' : 'original-damaged',
      `${kept}, the stored original of ${configPath}, is ${isLost ? 'lost' : 'damaged'}: write a good config to ${configPath}`,
    )
  }

  #keepAgain({ configPath, original }: OriginalRecord, bytes: Buffer): void {
    const kept = join(this.#records.directoryOf(configPath), original.hash)
    if (this.#files.read(kept)?.equals(bytes) === true) return
    this.#files.makeDirectory(dirname(kept))
    this.#files.replace(kept, bytes)
  }

  #checkpointPath(source: ConfigMapSource): string {
    const check = checkSource(source)
    if (!check.ok) throw codedError(check.reason, check.detail)
    return layoutOf(this.#dynamicConfigDir).file(source)
  }

  /** A staged file gets its name last, and so always has its owner and context. */
  #prepare(path: string, bytes: Buffer, record: OriginalRecord): void {
    if (!this.#isReady(path, bytes, record)) this.#files.rename(this.#write(record.configPath, bytes, record), path)
  }

  #isReady(path: string, bytes: Buffer, record: OriginalRecord): boolean {
    const found = this.#files.stat(path)
    const { mode, uid, gid } = this.#attributes(record)
    if (found === undefined || (found.mode & 0o7777) !== mode || found.uid !== uid || found.gid !== gid) return false
    return this.#files.read(path)?.equals(bytes) === true
  }

  #write(configPath: string, bytes: Buffer, record: OriginalRecord): string {
    const path = readyPath(configPath, 'new')
    const { mode, uid, gid } = this.#attributes(record)
    this.#files.replace(path, bytes, { mode })
    const exists = this.#files.stat(configPath) !== undefined
    this.#ownership.give(path, { uid, gid }, exists ? configPath : dirname(configPath))
    return path
  }

  /**
   * The mode and owner of the file in place, so that a chmod of the administrator persists; the
   * original's if it is missing.
   */
  #attributes({ configPath, original }: OriginalRecord): { mode: number; uid: number; gid: number } {
    const facts = this.#files.stat(configPath)
    return facts === undefined ? original : { mode: facts.mode & 0o7777, uid: facts.uid, gid: facts.gid }
  }
}

function describeOtherKind(configPath: string, kind: string): string {
  const advice = `name a file of kind ${KIND} in kubelet's --config, or run the agent where kubelet has a unit of its own`
  return `${configPath} is a ${kind}, which kubelet does not read, so the agent does not replace it: ${advice}`
}

function isAgents({ meaning }: Found): boolean {
  return meaning !== undefined && meaning.source !== 'local'
}
