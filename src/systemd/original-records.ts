// SPDX-License-Identifier: Apache-2.0
/**
 * The record of a config file that the agent replaces, together with the file that is in its place:
 * the record is kept twice, and the file says which of the two counts.
 */
import { createHash } from 'node:crypto'
import { join, normalize } from 'node:path'
import type { Files } from '../ports/files.ts'
import { type ConfigSource, type ContentHash, sameSource } from '../subject/config-source.ts'
import type { UnitState } from '../subject/unit-state.ts'
import { codedError } from '../values/errors.ts'
import { isStamp, type Stamp, type StampRecord } from './replacement-stamps.ts'
import { readTwin, type TwinFault, type TwinPaths, writeTwin } from './twin-record.ts'
import { readyPath } from './wiring-kinds.ts'

const FORMAT = { parse: parseOriginalRecord, render: renderOriginalRecord }

/** The file that is in place, and the record of it. */
export interface Found {
  /** undefined: there is none, or it lost its content. */
  readonly bytes: Buffer | undefined
  readonly hash: ContentHash | undefined
  /** undefined: nothing was ever recorded. */
  readonly record: OriginalRecord | undefined
  /** undefined: something else wrote it. */
  readonly meaning: Placed | undefined
  /** As of `Twin`. */
  readonly isIncomplete: boolean
  readonly stamped: StampRecord
}

export class OriginalRecords {
  readonly #files: Files
  readonly #keptDir: string

  /** @param keptDir of the originals, in the agent's own directory */
  constructor(files: Files, keptDir: string) {
    this.#files = files
    this.#keptDir = keptDir
  }

  /** An error: it cannot be told what is in place, and unknown never means local. */
  find(configPath: string): Found | Error {
    const there = this.#files.read(configPath)
    const { records: read, faults, isIncomplete } = readTwin(this.#files, this.#pathsOf(configPath), FORMAT)
    // The copy names another path where its directory was copied or renamed: it is as good here.
    const records = read.map((each) => ({ ...each, configPath }))
    const bytes = there !== undefined && isBlank(there, records) ? undefined : there
    const hash = bytes && hashOf(bytes)
    const record = (hash === undefined ? undefined : chooseRecord(records, hash)) ?? records[0]
    const meaning = record && hash !== undefined ? findMeaning(record, hash) : undefined
    const [fault] = meaning !== undefined || (hash === undefined && record !== undefined) ? [] : faults
    if (fault !== undefined) return describeFault(fault, configPath)
    return { bytes, hash, record, meaning, isIncomplete, stamped: this.#stampsOf(record, records) }
  }

  mustFind(configPath: string): Found {
    const found = this.find(configPath)
    if (found instanceof Error) throw found
    return found
  }

  save(record: OriginalRecord): void {
    writeTwin(this.#files, this.#pathsOf(record.configPath), FORMAT, record)
  }

  /** While local is in place, there is no copy. */
  #stampsOf(record: OriginalRecord | undefined, records: readonly OriginalRecord[]): StampRecord {
    const stamps = record && [record, ...records].flatMap(({ stamp }) => stamp ?? [])
    return { stamps, keep: (stamp) => record && this.keepStamp(record, stamp) }
  }

  keepStamp(record: OriginalRecord, stamp: Stamp): void {
    if (stamp.isLocal !== true) this.save({ ...record, stamp })
    else this.#saveOwn(record.configPath, (own) => ({ ...own, stamp }))
  }

  #saveOwn(configPath: string, change: (own: OriginalRecord) => OriginalRecord | undefined): void {
    const { own: path } = this.#pathsOf(configPath)
    const own = parseOriginalRecord(this.#files.read(path)?.toString() ?? '')
    const changed = own && change(own)
    if (own !== undefined && changed !== undefined)
      this.#files.replace(path, renderOriginalRecord({ ...changed, revision: own.revision + 1 }))
  }

  /** The original is in place, and needs neither what is ready to replace it nor the copy. */
  clear(configPath: string): void {
    const ready = (['local', 'fallback'] as const).map((kind) => readyPath(configPath, kind))
    for (const path of [...ready, this.#pathsOf(configPath).copy]) this.#files.remove(path)
  }

  /**
   * Where another kind of activation takes over: no content is the agent's any more, since somebody
   * may write the same one into the file. The original stays on record.
   */
  disown(configPath: string): void {
    this.clear(configPath)
    this.#saveOwn(configPath, (own) =>
      listClaims(own).length === 0 ? undefined : { ...own, target: undefined, fallback: undefined, before: undefined },
    )
  }

  /** The config files with a record, in the agent's own directory or beside what the unit names. */
  list(unit: UnitState): readonly string[] {
    const own = (this.#files.list(this.#keptDir) ?? []).flatMap((name) => {
      const record = parseOriginalRecord(this.#files.read(join(this.#keptDir, name, 'record.json'))?.toString() ?? '')
      return record === undefined ? [] : [record.configPath]
    })
    const named = unit.kind === 'known' && unit.localConfigPath !== undefined ? [normalize(unit.localConfigPath)] : []
    return [...new Set([...own, ...named.filter((path) => this.#files.stat(this.#pathsOf(path).copy) !== undefined)])]
  }

  /**
   * The directory of the originals: one per config file, so that the first is not lost if the
   * unit's `--config` changes.
   */
  directoryOf(configPath: string): string {
    return join(this.#keptDir, hashOf(Buffer.from(configPath)).slice(0, 16))
  }

  #pathsOf(configPath: string): TwinPaths {
    return { own: join(this.directoryOf(configPath), 'record.json'), copy: readyPath(configPath, 'record') }
  }
}

/** Nobody has written this: a power loss can leave a file without content, or one of zeros. */
function isBlank(bytes: Buffer, records: readonly OriginalRecord[]): boolean {
  if (records.length === 0 || !bytes.every((byte) => byte === 0)) return false
  return chooseRecord(records, hashOf(bytes)) === undefined
}

function describeFault({ path, cause }: TwinFault, configPath: string): Error {
  const advice = 'restore the original there and remove the record'
  return (
    cause ?? codedError('record-damaged', `${path} is damaged, so the agent cannot tell whether ${configPath} is the original: ${advice}`)
  )
}

export function hashOf(bytes: Buffer): ContentHash {
  return createHash('sha256').update(bytes).digest('hex')
}

/**
 * The record of a config file that the `file` activation replaces: which original is stored, and
 * which source each content belongs to that may be in place. A fallback is recorded when it is
 * staged, so falling back writes nothing here and works on a full disk.
 */
export interface OriginalRecord {
  readonly configPath: string
  readonly original: Original
  /** The last target of an activation. */
  readonly target: Placed | undefined
  /** The staged fallback. */
  readonly fallback: Placed | undefined
  /**
   * The file that was in place when `target` was recorded; it still is if the replacement did not
   * happen.
   */
  readonly before: Placed | undefined
  /** undefined: recorded by an agent that kept it in /run alone. */
  readonly stamp?: Stamp | undefined
  /** As in `twin-record.ts`. */
  readonly revision: number
}
interface Original {
  /** SHA-256 of the original's bytes, and the name under which it is stored. */
  readonly hash: ContentHash
  readonly mode: number
  readonly uid: number
  readonly gid: number
}
/** A source, and the SHA-256 of its file that kubelet reads. */
export interface Placed {
  readonly source: ConfigSource
  readonly hash: ContentHash
  /**
   * The content of the whole checkpoint. undefined: not known, or recorded by an agent that did not
   * record it.
   */
  readonly content?: ContentHash | undefined
}

/**
 * The source that this content belongs to. undefined: neither the agent's nor the original, so
 * something else wrote it.
 */
export function findMeaning(record: OriginalRecord, hash: ContentHash): Placed | undefined {
  const placed = listClaims(record).find((known) => known.hash === hash)
  return placed ?? (hash === record.original.hash ? { source: 'local', hash } : undefined)
}

/** The contents that count as put in place by the agent. */
function listClaims({ target, fallback, before }: OriginalRecord): readonly Placed[] {
  return [target, fallback, before].filter((known) => known !== undefined)
}

/**
 * Chooses from the two records of a file, the newer first: the one that knows this content. Content
 * that the agent has put in place is never taken for the original, whatever the other record says.
 */
function chooseRecord(records: readonly OriginalRecord[], hash: ContentHash): OriginalRecord | undefined {
  const known = records.filter((record) => findMeaning(record, hash) !== undefined)
  return known.find((record) => findMeaning(record, hash)?.source !== 'local') ?? known[0]
}

export function recordStaged(record: OriginalRecord, fallback: Placed, inPlace: ContentHash | undefined): OriginalRecord {
  const current = inPlace === undefined ? undefined : findMeaning(record, inPlace)
  return { ...record, target: current, fallback, before: undefined }
}

/** Adds what an earlier agent did not record. */
export function recordContent(record: OriginalRecord, { source, hash, content }: Placed): OriginalRecord {
  const add = (known: Placed | undefined) => (known?.hash === hash && sameSource(known.source, source) ? { ...known, content } : known)
  return { ...record, target: add(record.target), fallback: add(record.fallback), before: add(record.before) }
}

/** Whether the record maps this content to this source. */
export function means(record: OriginalRecord, { source, hash }: Placed): boolean {
  const meaning = findMeaning(record, hash)
  return meaning !== undefined && sameSource(meaning.source, source)
}

export function renderOriginalRecord({ configPath, original, target, fallback, before, stamp, revision }: OriginalRecord): string {
  return `${JSON.stringify({ configPath, original, target, fallback, before, stamp, revision }, undefined, 2)}\n`
}

/**
 * undefined: damaged. Only the agent writes it, completely or not at all, so only its outline is
 * checked.
 */
export function parseOriginalRecord(text: string): OriginalRecord | undefined {
  try {
    const { configPath, original, target, fallback, before, stamp, revision = 0 } = JSON.parse(text) as Partial<OriginalRecord>
    if (typeof configPath !== 'string' || !/^[0-9a-f]{64}$/.test(original?.hash ?? '') || original === undefined) return undefined
    if (![original.mode, original.uid, original.gid, revision].every(Number.isInteger)) return undefined
    return { configPath, original, target, fallback, before, ...(isStamp(stamp) && { stamp }), revision }
  } catch {
    return undefined
  }
}
