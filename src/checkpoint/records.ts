// SPDX-License-Identifier: Apache-2.0
/**
 * The records of `RECORDS`, each in one file. Those under `meta/` survive reboots. A read that
 * finds one that cannot be parsed sets it aside and logs that; its content is never guessed. A
 * source that a newer agent may have written stays where it is. Those of the present boot are in
 * the runtime directory.
 *
 * Upstream: `fsstore.go` in Kubernetes 1.20 `pkg/kubelet/kubeletconfig/checkpoint/store`: an empty
 * file means local.
 */

import { join } from 'node:path'
import { entryOf, type GotValue, type PutValue, type RecordName, type RunName } from '../decision/record-table.ts'
import { type RecordState, SOURCE_NAMES, type SourceName } from '../decision/records.ts'
import { checkSource } from '../decision/safe-names.ts'
import type { Verdict } from '../decision/verdict.ts'
import type { Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import type { RecordStore, Records } from '../ports/store.ts'
import type { ConfigSource } from '../subject/config-source.ts'
import type { TrialKey } from '../subject/trial-key.ts'
import { parseJson } from '../values/json-shape.ts'
import { FileError } from './file-error.ts'
import type { Layout } from './layout.ts'
import { RecordFiles, type RecordFilesOptions } from './record-files.ts'
import { isConfirmed, type Marked, parseMarker, parseSource, renderMarker, serializeSource } from './serialize.ts'
import { KeptVerdicts } from './verdicts.ts'

const ABSENT: RecordState = { kind: 'source', source: 'local', absent: true }

/** A record that cannot be written, since a name in it is not safe. */
class RecordError extends Error {
  override readonly name = 'RecordError'
  readonly code = 'unsafe-name'
}

interface RecordsOptions extends RecordFilesOptions {
  readonly layout: Layout
  /** The records of this boot. */
  readonly run: RecordStore<RunName>
}

export class FileRecords implements Records {
  readonly #files: Files
  readonly #layout: Layout
  readonly #meta: RecordFiles
  readonly #verdicts: KeptVerdicts
  readonly #run: RecordStore

  constructor(options: RecordsOptions) {
    this.#files = options.files
    this.#layout = options.layout
    this.#meta = new RecordFiles(options)
    this.#verdicts = new KeptVerdicts(this.#meta, options)
    // `place` tells which names it is asked for.
    this.#run = options.run as RecordStore
  }

  get<N extends Exclude<RecordName, SourceName>>(name: N): GotValue<N> {
    const { place, shape, forbids } = entryOf(name)
    if (place === 'run') return this.#run.get(name)
    const path = this.#layout.record(name)
    const parsed = this.#meta.loadJson(path, shape)
    if (parsed?.ok === true) return parsed.value as GotValue<N>
    const isDamaged = forbids === true && (parsed !== undefined || this.#meta.explainAbsence(path) !== undefined)
    return (isDamaged ? 'damaged' : undefined) as GotValue<N>
  }

  put<N extends RecordName>(name: N, value: PutValue<N>): void {
    const { place, spare } = entryOf(name)
    if (place === 'run') this.#run.put(name, value)
    else if (spare !== undefined) this.#tryTo(spare, name, () => this.#write(name, value))
    else {
      this.#verdicts.write()
      this.#write(name, value)
    }
  }

  #write<N extends RecordName>(name: N, value: PutValue<N>): void {
    if (isSourceName(name)) this.#writeSource(name, value as ConfigSource)
    else if (value === undefined) this.#files.remove(this.#layout.record(name))
    else this.#meta.replace(this.#layout.record(name), JSON.stringify(value))
  }

  #tryTo(spare: string, name: RecordName, write: () => void): void {
    try {
      write()
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      this.#meta.logOnce(`${spare}: ${cause.message}`, `${name} ${cause.code}`)
    }
  }

  read(name: SourceName): RecordState {
    const path = this.#layout.record(name)
    const parsed = this.#meta.load(path, parseSource)
    if (parsed === undefined) return this.#absent(path)
    if (parsed.ok) return { kind: 'source', source: parsed.source, ...(!this.#isConfirmed(name, parsed.source) && { unconfirmed: true }) }
    const detail = `${path}: ${parsed.detail}`
    const isForeign = 'isForeign' in parsed && parsed.isForeign === true
    if (!isForeign) this.#meta.setAside(path, parsed.detail)
    const what = isForeign ? 'is not understood' : 'is lost'
    if (isForeign || name !== 'assigned') this.#meta.logOnce(`${name} ${what} and is unknown until it is written again: ${detail}`)
    return { kind: 'damaged', detail }
  }

  /**
   * In a new directory, a missing file means local. A damaged one that was set aside stays unknown
   * until it is written again.
   */
  #absent(path: string): RecordState {
    const detail = this.#meta.explainAbsence(path)
    return detail === undefined ? ABSENT : { kind: 'damaged', detail }
  }

  has(name: SourceName): boolean {
    return this.#files.stat(this.#layout.record(name)) !== undefined
  }

  #writeSource(name: SourceName, source: ConfigSource): void {
    const check = source === 'local' ? undefined : checkSource(source)
    if (check?.ok === false) throw new RecordError(`cannot record ${name}: ${check.detail}; rename it in the cluster`)
    // First: without the marker, an empty record may be what a disk has left of another one.
    this.markLocal({ name, source })
    this.#meta.replace(this.#layout.record(name), serializeSource(source))
  }

  /**
   * Writes the marker. Records of an agent that wrote no marker are marked as this agent reads
   * them.
   *
   * @param written what one of the records will say
   */
  markLocal(written?: { readonly name: SourceName; readonly source: ConfigSource }): void {
    const isLocal = (name: SourceName) =>
      name === written?.name ? written.source === 'local' : this.#sourceIn(name) === 'local' && this.#isConfirmed(name, 'local')
    if (written !== undefined || SOURCE_NAMES.some((name) => this.has(name)))
      this.#meta.replace(this.#layout.localMarker, renderMarker(SOURCE_NAMES.filter(isLocal), this.#marked()))
  }

  #isConfirmed(name: SourceName, source: ConfigSource): boolean {
    return source !== 'local' || isConfirmed(name, this.#marked(), (each) => this.#sourceIn(each))
  }

  /** undefined: there is no marker. */
  #marked(): Marked | undefined {
    const found = this.#meta.load(this.#layout.localMarker, (bytes) => parseMarker(bytes) ?? new Set<string>())
    return found === undefined || 'has' in found ? found : new Set()
  }

  /** undefined: there is no such record, or it is damaged. */
  #sourceIn(name: SourceName): ConfigSource | undefined {
    const parsed = this.#meta.load(this.#layout.record(name), parseSource)
    return parsed?.ok === true ? parsed.source : undefined
  }

  verdicts(): ReadonlyMap<TrialKey, Verdict> {
    return this.#verdicts.all()
  }

  writeVerdict(verdict: Verdict): void {
    this.#verdicts.add(verdict)
  }

  removeVerdict(key: TrialKey): void {
    this.#verdicts.remove(key)
  }
}

function isSourceName(name: RecordName): name is SourceName {
  return SOURCE_NAMES.some((each) => each === name)
}

/**
 * The records of the present boot, in `/run/kubelet-cfg-agent`. No failure here stops the agent: a
 * record that cannot be written is kept in memory, and an invalid one counts as absent.
 */
export class FileRuntimeRecords implements RecordStore<RunName> {
  readonly #files: Files
  readonly #directory: string
  readonly #log: Log
  /** The records that could not be written; they replace their files until they can. */
  readonly #unwritten = new Map<RunName, string>()

  constructor(files: Files, directory: string, log: Log) {
    this.#files = files
    this.#directory = directory
    this.#log = log
  }

  get<N extends RunName>(name: N): GotValue<N> {
    const unwritten = this.#unwritten.get(name)
    const bytes = unwritten === undefined ? this.#read(this.#pathOf(name)) : Buffer.from(unwritten)
    return (bytes && parseJson(bytes, entryOf(name).shape)) as GotValue<N>
  }

  /** With those that could not be written before: health is written at each look. */
  put<N extends RunName>(name: N, value: PutValue<N>): void {
    this.#write(name, JSON.stringify(value))
    for (const [other, text] of [...this.#unwritten]) if (other !== name) this.#write(other, text)
  }

  #write(name: RunName, text: string): void {
    const path = this.#pathOf(name)
    try {
      if (this.#read(path)?.equals(Buffer.from(text)) !== true) {
        this.#files.makeDirectory(this.#directory)
        // Only atomicity matters here; durability costs nothing, because /run is a tmpfs.
        this.#files.replace(path, text)
      }
      this.#unwritten.delete(name)
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      const { file } = entryOf(name)
      if (!this.#unwritten.has(name))
        this.#log.warn(`the record ${file} is only in memory and would be lost if the agent ended: ${cause.message}`)
      this.#unwritten.set(name, text)
    }
  }

  #pathOf(name: RunName): string {
    return join(this.#directory, entryOf(name).file)
  }

  /** undefined: there is none, or it cannot be read. */
  #read(path: string): Buffer | undefined {
    try {
      return this.#files.read(path)
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      return undefined
    }
  }
}
