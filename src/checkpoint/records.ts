/**
 * The records under `meta/`: the assigned, last-known-good and previous sources, what was proven,
 * the baseline, and the verdicts. They survive reboots, so each is one file that is replaced as a
 * whole. A read that finds a record that cannot be parsed sets it aside and logs that; its content
 * is never guessed. A source that a newer agent may have written stays where it is.
 *
 * Upstream: `fsstore.go` in Kubernetes 1.20 `pkg/kubelet/kubeletconfig/checkpoint/store`: an empty
 * file means local.
 */
import type { ConfigSource } from '../decision/config-source.ts'
import { type ChannelState, isChannelState } from '../decision/desired.ts'
import {
  isLeft,
  isProven,
  isRestartRecord,
  isTrialBoots,
  type LeftRecord,
  RECORD_NAMES,
  type RecordName,
  type RecordState,
  type RestartRecord,
  type TrialBoots,
} from '../decision/records.ts'
import { checkSource } from '../decision/safe-names.ts'
import { isStagings, type Staging } from '../decision/staging-state.ts'
import type { TrialKey } from '../decision/trial-key.ts'
import { keepVerdicts, type Verdict } from '../decision/verdict.ts'
import { isKeptBaseline, type KeptBaseline } from '../evidence/kinds.ts'
import type { Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import type { Records } from '../ports/store.ts'
import { errorMessage } from '../values/errors.ts'
import type { Check } from '../values/json-shape.ts'
import { DamagedRecords } from './damaged-records.ts'
import { FileError, isDamage } from './file-error.ts'
import type { LastingFaults } from './lasting-faults.ts'
import type { Layout } from './layout.ts'
import { type Damaged, type Json, loadJson } from './loaded-json.ts'
import { isConfirmed, type Marked, parseMarker, renderMarker } from './local-marker.ts'
import { type LogOnce, logErrorsOnce } from './log-once.ts'
import { parseVerdicts } from './parse-verdicts.ts'
import { ParsedOnce } from './parsed-once.ts'
import { RecordError } from './record-error.ts'
import { parseSource, serializeSource } from './serialize.ts'
import type { OnSetAside } from './set-aside.ts'

const ABSENT: RecordState = { kind: 'source', source: 'local', absent: true }

export interface RecordsOptions {
  readonly files: Files
  readonly layout: Layout
  readonly log: Log
  readonly onSetAside: OnSetAside
  readonly faults: LastingFaults
}

export class FileRecords implements Records {
  readonly #files: Files
  readonly #layout: Layout
  readonly #logOnce: LogOnce
  readonly #damaged: DamagedRecords
  readonly #faults: LastingFaults
  /** The verdicts as last read, valid while their file keeps its identity. */
  #read: { readonly identity: string | undefined; readonly verdicts: ReadonlyMap<TrialKey, Verdict> } | undefined
  /** Of verdicts that a newer agent wrote, what is written again in their place. */
  #originals: ReadonlyMap<Verdict, unknown> = new Map()
  /** The verdicts that could not be written; they are in force until they can. */
  #unwritten: ReadonlyMap<TrialKey, Verdict> | undefined
  readonly #parsed = new ParsedOnce()

  constructor({ files, layout, log, onSetAside, faults }: RecordsOptions) {
    this.#files = files
    this.#layout = layout
    this.#logOnce = logErrorsOnce(log)
    this.#damaged = new DamagedRecords({ files, meta: layout.meta, log, onSetAside, faults })
    this.#faults = faults
  }

  read(name: RecordName): RecordState {
    const path = this.#layout.record(name)
    const parsed = this.#load(path, parseSource)
    if (parsed === undefined) return this.#absent(path)
    if (parsed.ok) return { kind: 'source', source: parsed.source, ...(!this.#isConfirmed(name, parsed.source) && { unconfirmed: true }) }
    const detail = `${path}: ${parsed.detail}`
    const isForeign = 'isForeign' in parsed && parsed.isForeign === true
    if (!isForeign) this.#damaged.setAside(path, parsed.detail)
    const what = isForeign ? 'is not understood' : 'is lost'
    const counts = name === 'assigned' ? 'is unknown' : 'counts as local'
    if (isForeign || name !== 'assigned') this.#logOnce(`${name} ${what} and ${counts} until it is written again: ${detail}`)
    return { kind: 'damaged', detail }
  }

  has(name: RecordName): boolean {
    return this.#files.stat(this.#layout.record(name)) !== undefined
  }

  write(name: RecordName, source: ConfigSource): void {
    this.#writeVerdicts()
    const check = source === 'local' ? undefined : checkSource(source)
    if (check?.ok === false) throw new RecordError(`cannot record ${name}: ${check.detail}; rename it in the cluster`)
    // First: without the marker, an empty record may be what a disk has left of another one.
    this.markLocal({ name, source })
    this.#put(this.#layout.record(name), serializeSource(source))
  }

  /**
   * What an agent that wrote no marker has left is marked as this one understands it.
   *
   * @param written what one of the records will say
   */
  markLocal(written?: { readonly name: RecordName; readonly source: ConfigSource }): void {
    const isLocal = (name: RecordName) =>
      name === written?.name ? written.source === 'local' : this.#sourceIn(name) === 'local' && this.#isConfirmed(name, 'local')
    if (written !== undefined || RECORD_NAMES.some((name) => this.has(name)))
      this.#put(this.#layout.localMarker, renderMarker(RECORD_NAMES.filter(isLocal), this.#marked()))
  }

  #isConfirmed(name: RecordName, source: ConfigSource): boolean {
    return source !== 'local' || isConfirmed(name, this.#marked(), (each) => this.#sourceIn(each))
  }

  /** undefined: there is no marker. */
  #marked(): Marked | undefined {
    const found = this.#load(this.#layout.localMarker, (bytes) => parseMarker(bytes) ?? new Set<string>())
    return found === undefined || 'has' in found ? found : new Set()
  }

  /** undefined: there is no such record, or it is damaged. */
  #sourceIn(name: RecordName): ConfigSource | undefined {
    const parsed = this.#load(this.#layout.record(name), parseSource)
    return parsed?.ok === true ? parsed.source : undefined
  }

  left(): LeftRecord | 'damaged' | undefined {
    return this.#readOrDamaged(this.#layout.left, isLeft)
  }

  writeLeft({ sources, localConfig }: LeftRecord): void {
    this.#writeVerdicts()
    this.#put(this.#layout.left, JSON.stringify({ sources, localConfig }))
  }

  proven(): TrialKey | undefined {
    return this.#readJson(this.#layout.proven, isProven)?.key
  }

  writeProven(key: TrialKey | undefined): void {
    this.#writeVerdicts()
    if (key === undefined) this.#files.remove(this.#layout.proven)
    else this.#put(this.#layout.proven, JSON.stringify({ key }))
  }

  trialBoots(): TrialBoots | undefined {
    return this.#readJson(this.#layout.trialBoots, isTrialBoots)
  }

  writeTrialBoots(trialBoots: TrialBoots | undefined): void {
    this.#writeVerdicts()
    if (trialBoots === undefined) this.#files.remove(this.#layout.trialBoots)
    else this.#put(this.#layout.trialBoots, JSON.stringify(trialBoots))
  }

  baseline(): KeptBaseline | undefined {
    return this.#readJson(this.#layout.baseline, isKeptBaseline)
  }

  writeBaseline(kept: KeptBaseline | undefined): void {
    this.#keep(this.#layout.baseline, kept, 'the state of the node before the config on trial would be lost with the boot')
  }

  restart(): RestartRecord | undefined {
    return this.#readJson(this.#layout.restart, isRestartRecord)
  }

  writeRestart(record: RestartRecord | undefined): void {
    this.#keep(this.#layout.restart, record, 'the last restart of kubelet would be lost with /run')
  }

  /** Of what the agent can do without. */
  #keep(path: string, value: object | undefined, otherwise: string): void {
    try {
      if (value === undefined) this.#files.remove(path)
      else this.#put(path, JSON.stringify(value))
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      this.#logOnce(`${otherwise}: ${cause.message}`, `${path} ${cause.code}`)
    }
  }

  channelState(): ChannelState | 'damaged' | undefined {
    return this.#readOrDamaged(this.#layout.channelState, isChannelState)
  }

  writeChannelState({ channel, paused, problem, nodeHash, layers, fields }: ChannelState): void {
    this.#writeVerdicts()
    this.#put(this.#layout.channelState, JSON.stringify({ channel, paused, problem, nodeHash, layers, fields }))
  }

  stagings(): readonly Staging[] | 'damaged' {
    return this.#readOrDamaged(this.#layout.stagings, isStagings) ?? []
  }

  writeStagings(stagings: readonly Staging[]): void {
    this.#writeVerdicts()
    this.#put(this.#layout.stagings, JSON.stringify(stagings))
  }

  verdicts(): ReadonlyMap<TrialKey, Verdict> {
    this.#writeVerdicts()
    if (this.#unwritten !== undefined) return this.#unwritten
    const path = this.#layout.verdicts
    try {
      const identity = this.#files.stat(path)?.identity
      if (this.#read?.identity === identity) this.#faults.worked(path)
      else this.#read = { identity, verdicts: new Map(this.#readVerdicts().map((verdict) => [verdict.key, verdict])) }
    } catch (cause) {
      // Those that were read stay in force: nobody else changes the file.
      if (!isDamage(cause) && !this.#faults.hasLasted(path, cause)) throw cause
    }
    return this.#read?.verdicts ?? new Map()
  }

  #readVerdicts(): readonly Verdict[] {
    const path = this.#layout.verdicts
    const parsed = this.#load(path, parseVerdicts)
    if (parsed?.ok === false) this.#damaged.setAside(path, parsed.detail)
    if (parsed?.ok !== true) return []
    const { verdicts, originals, rest } = parsed
    this.#originals = originals
    if (rest > 0)
      this.#damaged.copyAside(path, `${rest} of ${rest + verdicts.length} verdicts are none`, () =>
        this.#put(path, this.#renderVerdicts(verdicts)),
      )
    return verdicts
  }

  #renderVerdicts(verdicts: readonly Verdict[]): string {
    return JSON.stringify(verdicts.map((verdict) => this.#originals.get(verdict) ?? verdict))
  }

  writeVerdict(verdict: Verdict): void {
    const verdicts = new Map(this.verdicts())
    // Deleted first, so that a new verdict on the same key is the newest entry.
    verdicts.delete(verdict.key)
    verdicts.set(verdict.key, verdict)
    this.#unwritten = new Map(keepVerdicts([...verdicts.values()], verdict.key).map((kept) => [kept.key, kept]))
    this.#writeVerdicts()
  }

  removeVerdict(key: TrialKey): void {
    const verdicts = new Map(this.verdicts())
    if (!verdicts.delete(key)) return
    this.#unwritten = verdicts
    this.#writeVerdicts()
  }

  /**
   * A full disk must not keep the agent from acting on a verdict: each access to the verdicts tries
   * to write them again.
   */
  #writeVerdicts(): void {
    if (this.#unwritten === undefined) return
    try {
      this.#put(this.#layout.verdicts, this.#renderVerdicts([...this.#unwritten.values()]))
      this.#unwritten = undefined
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      this.#logOnce(`verdicts are kept in memory until they can be written: ${cause.message}`, `verdicts ${cause.code}`)
    }
  }

  /**
   * In a new directory, a missing file means local. A damaged one that was set aside stays unknown
   * until it is written again.
   */
  #absent(path: string): RecordState {
    const detail = this.#damaged.explainAbsence(path)
    return detail === undefined ? ABSENT : { kind: 'damaged', detail }
  }

  #put(path: string, text: string): void {
    if (this.#files.read(path)?.equals(Buffer.from(text))) return
    this.#files.makeDirectory(this.#layout.meta)
    this.#files.replace(path, text)
  }

  #readJson<T>(path: string, check: Check<T>): T | undefined {
    const parsed = this.#loadJson(path, check)
    return parsed?.ok ? parsed.value : undefined
  }

  /** For what forbids something as long as it stands. */
  #readOrDamaged<T>(path: string, check: Check<T>): T | 'damaged' | undefined {
    const parsed = this.#loadJson(path, check)
    if (parsed === undefined) return this.#damaged.explainAbsence(path) === undefined ? undefined : 'damaged'
    return parsed.ok ? parsed.value : 'damaged'
  }

  /** undefined: the file does not exist. Sets a damaged one aside. */
  #loadJson<T>(path: string, check: Check<T>): Json<T> | Damaged | undefined {
    const parsed = this.#load(path, (bytes) => loadJson(bytes, check))
    if (parsed?.ok === false) this.#damaged.setAside(path, parsed.detail)
    return parsed
  }

  /**
   * undefined: the file does not exist.
   * @param parse always the same one for a path
   */
  #load<T>(path: string, parse: (bytes: Buffer) => T): T | Damaged | undefined {
    try {
      const bytes = this.#files.read(path)
      this.#faults.worked(path)
      return bytes && this.#parsed.of(path, bytes, parse)
    } catch (cause) {
      if (isDamage(cause) || this.#faults.hasLasted(path, cause)) return { ok: false, detail: errorMessage(cause) }
      throw cause
    }
  }
}
