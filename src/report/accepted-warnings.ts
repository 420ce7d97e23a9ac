// SPDX-License-Identifier: Apache-2.0
/**
 * The warnings of preflight about the assigned config when it accepted it, for the annotation. Kept
 * on disk (`meta/warnings`), since an agent that starts again does not check again the config that
 * runs. No decision depends on them: nothing here throws.
 */
import { dirname, join } from 'node:path'
import type { Snapshot } from '../decision/snapshot.ts'
import { type Acceptance, OTHERWISE } from '../decision/verdict.ts'
import type { Files } from '../ports/files.ts'
import type { Log } from '../ports/log.ts'
import { contentOfKey, isTrialKey, trialKey } from '../subject/trial-key.ts'
import { cutToBytes, onOneLine } from '../values/cut.ts'
import { isText, listOf, optional, parseJson, shape, type TypeOf } from '../values/json-shape.ts'

interface AcceptedWarningsOptions {
  readonly files: Pick<Files, 'read' | 'makeDirectory' | 'replace'>
  /** The dynamic config directory. */
  readonly directory: string
  readonly log: Log
}

const isKept = shape({
  key: isTrialKey,
  warnings: listOf(isText),
  /** See `AcceptedWarnings.otherwise`. */
  otherwise: optional(isText),
})
type Kept = TypeOf<typeof isKept>

/**
 * The most bytes of all warnings together: the annotation has 4 KiB for everything. The log has all
 * of them.
 */
const MOST_BYTES = 512
const MOST_BYTES_EACH = 200
/** The most bytes of the sentence for the condition. */
const MOST_BYTES_OTHERWISE = 300

export class AcceptedWarnings {
  readonly #options: AcceptedWarningsOptions
  readonly #path: string
  #kept: Kept | undefined
  /**
   * The acceptance that `#kept` was made from. It stays the same until its config is checked again.
   */
  #seen: Acceptance | undefined
  #isWritten = true
  #warned = false

  constructor(options: AcceptedWarningsOptions) {
    this.#options = options
    this.#path = join(options.directory, 'meta', 'warnings')
    this.#kept = this.#read()
  }

  /** To be called with each snapshot. Empty: there are none, or what is assigned is not known. */
  see({ unit, assignedContent, accepted }: Pick<Snapshot, 'unit' | 'assignedContent' | 'accepted'>): readonly string[] {
    if (assignedContent !== undefined && unit.kind !== 'unknown') {
      const key = trialKey(assignedContent, unit.kubeletIdentity)
      const acceptance = accepted.get(key)
      if (acceptance !== undefined && acceptance !== this.#seen) {
        this.#seen = acceptance
        const remarks = acceptance.remarks ?? []
        const otherwise = describeOtherwise(remarks)
        this.#keep({ key, warnings: bound(remarks), ...(otherwise !== undefined && { otherwise }) })
      }
      if (!this.#isWritten) this.#write()
    }
    return this.#find({ unit, assignedContent })?.warnings ?? []
  }

  /**
   * The values of the assigned config that kubelet takes and does something else with, in one
   * sentence, for the condition. To be called after `see`. undefined: there are none.
   */
  otherwise(snapshot: Pick<Snapshot, 'unit' | 'assignedContent'>): string | undefined {
    return this.#find(snapshot)?.otherwise
  }

  /** A short silence of systemd changes nothing. */
  #find({ unit, assignedContent }: Pick<Snapshot, 'unit' | 'assignedContent'>): Kept | undefined {
    if (this.#kept === undefined || assignedContent === undefined) return undefined
    const { key } = this.#kept
    const isOfIt = unit.kind === 'unknown' ? contentOfKey(key) === assignedContent : key === trialKey(assignedContent, unit.kubeletIdentity)
    return isOfIt ? this.#kept : undefined
  }

  #keep(kept: Kept): void {
    const isNothing = this.#kept === undefined && kept.warnings.length === 0
    if (isNothing || JSON.stringify(kept) === JSON.stringify(this.#kept)) return
    this.#kept = kept
    this.#isWritten = false
  }

  #write(): void {
    const { files, log } = this.#options
    try {
      files.makeDirectory(dirname(this.#path))
      files.replace(this.#path, `${JSON.stringify(this.#kept)}\n`)
      this.#isWritten = true
      this.#warned = false
    } catch (error) {
      if (!this.#warned) log.warn('the warnings about the assigned config are only in memory', { error })
      this.#warned = true
    }
  }

  #read(): Kept | undefined {
    try {
      const bytes = this.#options.files.read(this.#path)
      const kept = bytes && parseJson(bytes, isKept)
      if (kept === undefined) return undefined
      const { key, warnings, otherwise } = kept
      return { key, warnings: bound(warnings), ...(otherwise !== undefined && { otherwise: oneLine(otherwise, MOST_BYTES_OTHERWISE) }) }
    } catch {
      return undefined
    }
  }
}

function oneLine(text: string, most = MOST_BYTES_EACH): string {
  return cutToBytes(onOneLine(text), most)
}

/** How many, and the first of them. */
function describeOtherwise(remarks: readonly string[]): string | undefined {
  const [first, ...others] = remarks.filter((remark) => remark.includes(OTHERWISE))
  if (first === undefined) return undefined
  const sentence = others.length === 0 ? `a warning: ${first}` : `${others.length + 1} warnings, the first: ${first}`
  return oneLine(sentence, MOST_BYTES_OTHERWISE)
}

/** One line each, and a last one that counts those that were left out. */
function bound(remarks: readonly string[]): readonly string[] {
  const lines = [...new Set(remarks.map((remark) => oneLine(remark)))]
  const shown: string[] = []
  let bytes = 0
  for (const line of lines) {
    bytes += Buffer.byteLength(line)
    if (bytes > MOST_BYTES) break
    shown.push(line)
  }
  return shown.length === lines.length ? shown : [...shown, `and ${lines.length - shown.length} more: see the log of the agent`]
}
