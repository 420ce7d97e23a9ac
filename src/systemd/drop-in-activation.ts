// SPDX-License-Identifier: Apache-2.0
/**
 * Activation by a drop-in of kubelet's own: one file in the directory of `--config-dir`, which
 * kubelet merges over its config file. Without it, kubelet starts with its local config: that file
 * and the other drop-ins, which are never changed. The fallback is staged beside it under a name
 * that kubelet does not read; falling back is then one rename or one unlink, and works on a full
 * disk.
 *
 * After a crash at any point the file is absent or complete, and its content is in the record. The
 * order is therefore: record the target, rename, stamp.
 */
import { createHash } from 'node:crypto'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { layoutOf } from '../checkpoint/layout.ts'
import { checkSource } from '../decision/safe-names.ts'
import type { ActivationState, OnWithdrawn, Withdrawal } from '../ports/activation.ts'
import type { Files } from '../ports/files.ts'
import { type ConfigMapSource, type ConfigSource, type ContentHash, describeSource } from '../subject/config-source.ts'
import type { ReadyWiring, UnitState } from '../subject/unit-state.ts'
import { codedError } from '../values/errors.ts'
import { type ActivationParts, type InPlace, type KindOfActivation, NOT_ASKED } from './activation-kind.ts'
import { asArguments, flagValue } from './command-line.ts'
import {
  addContent,
  type DropInRecord,
  findPlaced,
  isRecorded,
  type PlacedDropIn,
  parseDropInRecord,
  renderDropInRecord,
} from './drop-in-record.ts'
import { contentToPlace, tolerateFaults } from './placed-content.ts'
import { ReplacementStamps, type Stamp, type StampRecord } from './replacement-stamps.ts'
import { readTwin, type TwinFault, type TwinPaths, writeTwin } from './twin-record.ts'
import { dropInWiring } from './wiring-kinds.ts'

/** Kubelet reads it as root, and a config may hold a secret (staticPodURLHeader). */
const MODE = 0o600
/** In place of a hash: there is no file. */
const ABSENT = 'absent'

const FORMAT = { parse: parseDropInRecord, render: renderDropInRecord }

interface Found {
  /** Empty where nothing can be read. */
  readonly record: DropInRecord
  /**
   * The config that is in place. undefined: something else wrote it, or nothing can be read of it.
   */
  readonly placed: PlacedDropIn | undefined
  readonly hasRecord: boolean
  /** A record that is there and cannot be read. */
  readonly fault: TwinFault | undefined
  /** As of `Twin`. */
  readonly isIncomplete: boolean
  readonly stamped: StampRecord
}

export class DropInActivation implements KindOfActivation {
  readonly #files: Files
  readonly #stamps: ReplacementStamps
  readonly #records: string
  readonly #dynamicConfigDir: string

  constructor({
    files,
    clock,
    dynamicConfigDir,
    runtimeDir,
  }: Pick<ActivationParts, 'files' | 'clock' | 'dynamicConfigDir' | 'runtimeDir'>) {
    this.#files = files
    this.#stamps = new ReplacementStamps(files, join(runtimeDir, 'drop-in.json'), clock)
    this.#records = join(dynamicConfigDir, 'drop-ins')
    this.#dynamicConfigDir = dynamicConfigDir
  }

  read({ path }: ReadyWiring): ActivationState {
    const bytes = this.#files.read(path)
    const hash = bytes && hashOf(bytes)
    const found = this.#find(path, hash)
    if (hash === undefined) return { kind: 'local', since: this.#stamps.since(ABSENT, true, found.stamped).since }
    const { placed, hasRecord, fault } = found
    if (placed === undefined) return describeUnplaced(path, hasRecord, fault)
    const { source } = placed
    // After a restore of etcd, a version may have other content.
    const checkpoint = this.#files.read(this.#checkpointPath(source))
    if (checkpoint !== undefined && hashOf(checkpoint) !== hash)
      return { kind: 'unknown', detail: `${path} holds what ${describeSource(source)} was before` }
    const since = this.#stamps.since(hash, false, found.stamped)
    return { kind: 'checkpoint', source, ...since, content: this.#complete(placed, found) }
  }

  /**
   * Writes the records that an earlier agent did not: the copy, and which content it is. A failed
   * write must not keep the agent from observing.
   * @returns the content of what is in place
   */
  #complete(placed: PlacedDropIn, { record, isIncomplete }: Found): ContentHash | undefined {
    const { source } = placed
    const content = placed.content ?? contentToPlace(this.#files, this.#checkpointPath(source), source.kubeletConfigKey)
    if (!isIncomplete && content === placed.content) return content
    tolerateFaults(() => this.#save(addContent(record, { ...placed, content })))
    return content
  }

  /** The file of `--config` alone: the other drop-ins are merged over every config alike. */
  readLocal(_wiring: ReadyWiring, localConfigPath: string): Buffer | undefined {
    return this.#files.read(localConfigPath)
  }

  stage(fallback: ConfigSource, { path }: ReadyWiring): void {
    if (fallback === 'local') {
      this.#files.remove(stagedPath(path))
      return
    }
    const { bytes, placed } = this.#load(fallback, path)
    if (!this.#holds(stagedPath(path), bytes)) this.#files.replace(stagedPath(path), bytes, { mode: MODE })
    const inPlace = this.#files.read(path)
    const { record, placed: target } = this.#find(path, inPlace && hashOf(inPlace))
    this.#save({ ...record, target, fallback: placed, before: undefined })
  }

  activate(target: ConfigSource, { path }: ReadyWiring, isRewording = false, runsIn?: string): void {
    if (target === 'local') {
      this.#remove(path, runsIn)
      return
    }
    const { bytes, placed } = this.#load(target, path)
    const inPlace = this.#files.read(path)
    const { record, placed: before } = this.#find(path, inPlace && hashOf(inPlace))
    // Without a record of it, something else was put in place since it was observed.
    const replacement = { hash: placed.hash, isLocal: false, isRewording: isRewording && before !== undefined, runsIn }
    const isSame = inPlace?.equals(bytes) === true
    const begun = isSame ? undefined : this.#stamps.begin(inPlace === undefined ? ABSENT : hashOf(inPlace), replacement, record.stamp)
    const next = { ...record, target: placed, before, ...(begun && { stamp: begun }) }
    this.#recordTarget(next, record, placed)
    if (isSame) return
    if (!this.#holds(stagedPath(path), bytes)) this.#files.replace(newPath(path), bytes, { mode: MODE })
    const ready = this.#holds(stagedPath(path), bytes) ? stagedPath(path) : newPath(path)
    const rename = () => this.#files.rename(ready, path)
    this.#stamps.replace(begun, replacement, rename, (stamp) => this.#save({ ...next, stamp }))
  }

  findOutside(unit: UnitState): readonly string[] {
    const paths = new Set([...this.#listRecorded(unit), ...namedBy(unit)])
    return [...paths].filter((path) => this.#files.stat(path) !== undefined)
  }

  listInPlace(): readonly InPlace[] {
    return this.findOutside(NOT_ASKED).map((path) => ({ path, fault: undefined }))
  }

  /** Both extents of a withdrawal are the same here: the file is in a directory of the machine. */
  withdraw(_extent: Withdrawal, unit: UnitState, onWithdrawn: OnWithdrawn): void {
    for (const path of this.#listRecorded(unit)) {
      const isThere = this.#files.stat(path) !== undefined
      this.#remove(path)
      if (isThere) onWithdrawn(path, 'removed')
    }
  }

  #listRecorded(unit: UnitState): readonly string[] {
    const own = (this.#files.list(this.#records) ?? []).flatMap((name) => {
      const path = parseDropInRecord(this.#files.read(join(this.#records, name))?.toString() ?? '')?.path
      return path === undefined ? [] : [path]
    })
    return [...new Set([...own, ...namedBy(unit).filter((path) => this.#find(path, undefined).hasRecord)])]
  }

  #remove(path: string, runsIn?: string): void {
    const inPlace = this.#files.read(path)
    if (inPlace !== undefined) {
      const { record, hasRecord } = this.#find(path, hashOf(inPlace))
      const replacement = { hash: ABSENT, isLocal: true, isRewording: false, runsIn }
      const begun = this.#stamps.begin(hashOf(inPlace), replacement, record.stamp)
      if (hasRecord) tolerateFaults(() => this.#save({ ...record, stamp: begun }))
      const remove = () => this.#files.remove(path)
      this.#stamps.replace(begun, replacement, remove, (stamp) => this.#keepOwn(path, stamp))
    }
    for (const left of [stagedPath(path), newPath(path), this.#recordPaths(path).copy]) this.#files.remove(left)
  }

  /** On a full disk nothing can be recorded, but a staged fallback has been recorded already. */
  #recordTarget(next: DropInRecord, known: DropInRecord, placed: PlacedDropIn): void {
    try {
      this.#save(next)
    } catch (cause) {
      if (!isRecorded(known, placed)) throw cause
    }
  }

  #load(source: ConfigMapSource, path: string): { bytes: Buffer; placed: PlacedDropIn } {
    const from = this.#checkpointPath(source)
    const bytes = this.#files.read(from)
    if (bytes === undefined) throw codedError('missing', `${from} does not exist, so it cannot become ${path}`)
    const content = contentToPlace(this.#files, from, source.kubeletConfigKey)
    return { bytes, placed: { source, hash: hashOf(bytes), content } }
  }

  #checkpointPath(source: ConfigMapSource): string {
    const check = checkSource(source)
    if (!check.ok) throw codedError(check.reason, check.detail)
    return layoutOf(this.#dynamicConfigDir).file(source)
  }

  /** @param hash of what is in place. undefined: there is no file */
  #find(path: string, hash: ContentHash | undefined): Found {
    const { records: read, faults, isIncomplete } = readTwin(this.#files, this.#recordPaths(path), FORMAT)
    // The copy names another path where its directory was copied or renamed: it is as good here.
    const records = read.map((each) => ({ ...each, path }))
    const known = hash === undefined ? undefined : records.find((each) => findPlaced(each, hash) !== undefined)
    const record = known ?? records[0] ?? { path, target: undefined, fallback: undefined, before: undefined, revision: 0 }
    const placed = hash === undefined ? undefined : findPlaced(record, hash)
    const stamps = records.length === 0 ? undefined : [record, ...records].flatMap(({ stamp }) => stamp ?? [])
    const keep = (stamp: Stamp) => (stamp.isLocal === true ? this.#keepOwn(path, stamp) : this.#save({ ...record, stamp }))
    return { record, placed, hasRecord: records.length > 0, fault: faults[0], isIncomplete, stamped: { stamps, keep } }
  }

  /** While local is in place, there is no copy. */
  #keepOwn(path: string, stamp: Stamp): void {
    const { own } = this.#recordPaths(path)
    const record = parseDropInRecord(this.#files.read(own)?.toString() ?? '')
    if (record !== undefined) this.#files.replace(own, renderDropInRecord({ ...record, stamp, revision: record.revision + 1 }))
  }

  #save(record: DropInRecord): void {
    writeTwin(this.#files, this.#recordPaths(record.path), FORMAT, record)
  }

  /** One per file: if the unit's `--config-dir` changes, the first file must be found again. */
  #recordPaths(path: string): TwinPaths {
    const own = join(this.#records, `${hashOf(Buffer.from(path)).slice(0, 16)}.json`)
    return { own, copy: join(dirname(path), `.${basename(path)}.record`) }
  }

  #holds(path: string, bytes: Buffer): boolean {
    return this.#files.read(path)?.equals(bytes) === true
  }
}

/** The name of the file is the agent's own: without a record that can be read, that was lost. */
function describeUnplaced(path: string, hasRecord: boolean, fault: TwinFault | undefined): ActivationState {
  if (fault !== undefined) {
    const detail = fault.cause?.message ?? `${fault.path} is damaged`
    return { kind: 'unknown', detail: `cannot tell what ${path} holds: ${detail}`, unrecorded: true }
  }
  if (hasRecord) return { kind: 'unknown', detail: `${path} was not written by the agent: remove it` }
  return { kind: 'unknown', detail: `${path} is there, and the record of what it holds is lost`, unrecorded: true }
}

/** The agent's file in the directory that kubelet's command names, whatever the wiring is. */
function namedBy(unit: UnitState): readonly string[] {
  if (unit.kind === 'unknown') return []
  const directory = flagValue(asArguments(unit.command?.words ?? []), 'config-dir')
  return directory !== undefined && isAbsolute(directory) ? [dropInWiring(directory).path] : []
}

/** In kubelet's directory, for the rename. Kubelet reads only names that end in `.conf`. */
function stagedPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.fallback`)
}

function newPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.new`)
}

function hashOf(bytes: Buffer): ContentHash {
  return createHash('sha256').update(bytes).digest('hex')
}
