// SPDX-License-Identifier: Apache-2.0
/**
 * `meta/verdicts`. After a downgrade, the file may have words and fields that this agent does not
 * know. Such a verdict still condemns its config, so each is parsed by itself, and an unknown word
 * counts as the known one that keeps the config from kubelet for longest.
 */

import { isVerdict, keepVerdicts, type Verdict } from '../decision/verdict.ts'
import type { Files } from '../ports/files.ts'
import type { TrialKey } from '../subject/trial-key.ts'
import { isObject, type JsonObject } from '../values/is-object.ts'
import { type Check, isAny, isText, listOf, parseJson } from '../values/json-shape.ts'
import { FileError, isDamagedPath } from './file-error.ts'
import type { LastingFaults } from './lasting-faults.ts'
import type { Layout } from './layout.ts'
import type { RecordFiles } from './record-files.ts'

interface VerdictsOptions {
  readonly files: Pick<Files, 'stat'>
  readonly layout: Pick<Layout, 'verdicts'>
  readonly faults: LastingFaults
}

export class KeptVerdicts {
  readonly #meta: RecordFiles
  readonly #files: Pick<Files, 'stat'>
  readonly #path: string
  readonly #faults: LastingFaults
  /** As last read, valid while their file keeps its identity. */
  #read: { readonly identity: string | undefined; readonly verdicts: ReadonlyMap<TrialKey, Verdict> } | undefined
  /** The JSON of verdicts that a newer agent wrote: it is written again in their place. */
  #originals: ReadonlyMap<Verdict, unknown> = new Map()
  /** All verdicts while one of them could not be written; they are in force until it can. */
  #unwritten: ReadonlyMap<TrialKey, Verdict> | undefined

  constructor(meta: RecordFiles, { files, layout, faults }: VerdictsOptions) {
    this.#meta = meta
    this.#files = files
    this.#path = layout.verdicts
    this.#faults = faults
  }

  all(): ReadonlyMap<TrialKey, Verdict> {
    this.write()
    if (this.#unwritten !== undefined) return this.#unwritten
    try {
      const identity = this.#files.stat(this.#path)?.identity
      if (this.#read?.identity === identity) this.#faults.worked(this.#path)
      else this.#read = { identity, verdicts: byKey(this.#load()) }
    } catch (cause) {
      // The verdicts that were read stay in force: nobody else changes the file.
      if (!isDamagedPath(cause) && !this.#faults.hasLasted(this.#path, cause)) throw cause
    }
    return this.#read?.verdicts ?? new Map()
  }

  #load(): readonly Verdict[] {
    const parsed = this.#meta.load(this.#path, parseVerdicts)
    if (parsed?.ok === false) this.#meta.setAside(this.#path, parsed.detail)
    if (parsed?.ok !== true) return []
    const { verdicts, originals, rest } = parsed
    this.#originals = originals
    if (rest > 0) this.#meta.copyAside(this.#path, `${rest} of ${rest + verdicts.length} verdicts are none`, () => this.#replace(verdicts))
    return verdicts
  }

  #replace(verdicts: readonly Verdict[]): void {
    this.#meta.replace(this.#path, JSON.stringify(verdicts.map((verdict) => this.#originals.get(verdict) ?? verdict)))
  }

  add(verdict: Verdict): void {
    const verdicts = new Map(this.all())
    // Deleted first, so that a new verdict on the same key is the newest entry.
    verdicts.delete(verdict.key)
    verdicts.set(verdict.key, verdict)
    this.#unwritten = byKey(keepVerdicts([...verdicts.values()], verdict.key))
    this.write()
  }

  remove(key: TrialKey): void {
    const verdicts = new Map(this.all())
    if (!verdicts.delete(key)) return
    this.#unwritten = verdicts
    this.write()
  }

  /**
   * A full disk must not keep the agent from acting on a verdict: each access to the verdicts tries
   * to write them again.
   */
  write(): void {
    if (this.#unwritten === undefined) return
    try {
      this.#replace([...this.#unwritten.values()])
      this.#unwritten = undefined
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      this.#meta.logOnce(`verdicts are kept in memory until they can be written: ${cause.message}`, `verdicts ${cause.code}`)
    }
  }
}

function byKey(verdicts: readonly Verdict[]): ReadonlyMap<TrialKey, Verdict> {
  return new Map(verdicts.map((verdict) => [verdict.key, verdict]))
}

const CHECK_OF: ReadonlyMap<string, Check<unknown>> = new Map(Object.entries(isVerdict.fields))

type ParsedVerdicts =
  | {
      readonly ok: true
      readonly verdicts: readonly Verdict[]
      /** The parsed JSON of each verdict that holds more than this agent understands. */
      readonly originals: ReadonlyMap<Verdict, unknown>
      /** How many entries of the file are no verdict. */
      readonly rest: number
    }
  | { readonly ok: false; readonly detail: string }

function parseVerdicts(bytes: Uint8Array): ParsedVerdicts {
  const entries = parseJson(bytes, listOf(isAny))
  if (entries === undefined) return { ok: false, detail: 'not the expected JSON' }
  const verdicts: Verdict[] = []
  const originals = new Map<Verdict, unknown>()
  for (const entry of entries) {
    const verdict = isVerdict(entry) ? entry : interpret(entry)
    if (verdict === undefined) continue
    verdicts.push(verdict)
    if (verdict !== entry) originals.set(verdict, entry)
  }
  const rest = entries.length - verdicts.length
  if (rest > 0 && verdicts.length === 0) return { ok: false, detail: 'none of its entries is a verdict' }
  return { ok: true, verdicts, originals, rest }
}

/** undefined: it does not say what is condemned. */
function interpret(entry: unknown): Verdict | undefined {
  if (!isObject(entry)) return undefined
  const { state: word, damage } = entry
  if (!isText(word)) return undefined
  const understood = keepUnderstood(entry)
  const { state = 'confirmed', damage: known } = understood
  const verdict: unknown = {
    // Kubelet's health need not show an unknown failure. Only preflight refuses.
    reason: state === 'refused' ? 'validate' : 'evidence',
    detail: '',
    atWallMs: 0,
    ...understood,
    state,
    ...(damage !== undefined && known === undefined && { damage: 'one-way' }),
  }
  return isVerdict(verdict) ? verdict : undefined
}

/** Without the known fields that have unknown values. */
function keepUnderstood(entry: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([name, value]) => CHECK_OF.get(name)?.(value) !== false))
}
