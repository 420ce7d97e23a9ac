/**
 * The records of the present boot, in the runtime directory (`/run/kubelet-cfg-agent`): health,
 * evidence, restarts, the start of a spread, what was seen of a rollout. No failure here stops the
 * agent: a record that cannot be written is kept in memory, and an invalid one counts as absent.
 */
import { join } from 'node:path'
import {
  isObservationRecord,
  isRestartRecord,
  isSpreadRecord,
  type ObservationRecord,
  type RestartRecord,
  type SpreadRecord,
} from '../decision/records.ts'
import { isRolloutKnowledge, type RolloutKnowledge } from '../decision/staging-state.ts'
import { type EvidenceRecord, isEvidenceRecord } from '../evidence/kinds.ts'
import { type HealthRecord, isHealthRecord } from '../health/fold.ts'
import type { Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import type { RuntimeRecords } from '../ports/store.ts'
import { type Check, listOf, parseJson } from '../values/json-shape.ts'
import { FileError } from './file-error.ts'

type RuntimeFile = 'health' | 'restarts' | 'spread' | 'evidence' | 'rollout' | 'rollout-turn'

export class FileRuntimeRecords implements RuntimeRecords {
  readonly #files: Files
  readonly #directory: string
  readonly #log: Log
  /** The records that could not be written; they replace their files until they can. */
  readonly #unwritten = new Map<RuntimeFile, string>()

  constructor(files: Files, directory: string, log: Log) {
    this.#files = files
    this.#directory = directory
    this.#log = log
  }

  health(): HealthRecord | undefined {
    return this.#read('health', isHealthRecord)
  }

  writeHealth(record: HealthRecord): void {
    this.#write('health', record)
  }

  restarts(): readonly RestartRecord[] {
    return this.#read('restarts', listOf(isRestartRecord)) ?? []
  }

  writeRestarts(records: readonly RestartRecord[]): void {
    this.#write('restarts', records)
  }

  spread(): SpreadRecord | undefined {
    return this.#read('spread', isSpreadRecord)
  }

  writeSpread(record: SpreadRecord): void {
    this.#write('spread', record)
  }

  evidence(): EvidenceRecord | undefined {
    return this.#read('evidence', isEvidenceRecord)
  }

  writeEvidence(record: EvidenceRecord): void {
    this.#write('evidence', record)
  }

  observation(): ObservationRecord | undefined {
    return this.#read('rollout', isObservationRecord)
  }

  writeObservation(record: ObservationRecord): void {
    this.#write('rollout', record)
  }

  rolloutTurn(): RolloutKnowledge | undefined {
    return this.#read('rollout-turn', isRolloutKnowledge)
  }

  writeRolloutTurn(knowledge: RolloutKnowledge): void {
    this.#write('rollout-turn', knowledge)
  }

  #read<T>(name: RuntimeFile, check: Check<T>): T | undefined {
    const unwritten = this.#unwritten.get(name)
    if (unwritten !== undefined) return parseJson(Buffer.from(unwritten), check)
    try {
      const bytes = this.#files.read(join(this.#directory, name))
      return bytes && parseJson(bytes, check)
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      return undefined
    }
  }

  /** With those that could not be written before: health is written at each look. */
  #write(name: RuntimeFile, record: unknown): void {
    this.#put(name, JSON.stringify(record))
    for (const [other, text] of [...this.#unwritten]) if (other !== name) this.#put(other, text)
  }

  #put(name: RuntimeFile, text: string): void {
    const path = join(this.#directory, name)
    try {
      if (!this.#holds(path, text)) {
        this.#files.makeDirectory(this.#directory)
        // Only atomicity matters here; durability costs nothing, because /run is a tmpfs.
        this.#files.replace(path, text)
      }
      this.#unwritten.delete(name)
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      if (!this.#unwritten.has(name))
        this.#log.warn(`the record ${name} is only in memory and would be lost if the agent ended: ${cause.message}`)
      this.#unwritten.set(name, text)
    }
  }

  #holds(path: string, text: string): boolean {
    try {
      return this.#files.read(path)?.equals(Buffer.from(text)) === true
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause
      return false
    }
  }
}
