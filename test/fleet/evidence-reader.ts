// SPDX-License-Identifier: Apache-2.0
/** Reads the evidence of a simulated node before a claim, and again when what was read is old. */
import type { EvidenceAccess } from '../../src/rollout/view.ts'
import { SECOND_US } from '../../src/values/durations.ts'

/** As the agent takes its baseline again: src/evidence/schedule.ts. */
const OLD_US = 600 * SECOND_US
const OUTAGE_US = 60 * SECOND_US

export class EvidenceReader {
  /** Until then it cannot be read. */
  blindUntilUs = 0
  #read: { readonly atUs: number; readonly access: EvidenceAccess } | undefined
  #isReading = false

  access(nowUs: number): EvidenceAccess {
    if (this.#read === undefined) return { kind: 'unread' }
    const { atUs, access } = this.#read
    return nowUs - atUs > (access.kind === 'readable' ? OLD_US : OUTAGE_US) ? { kind: 'unread' } : access
  }

  /**
   * @returns whether to read it now. Otherwise that is under way, or to be done after `againUs`.
   */
  begin(nowUs: number): { readonly begins: boolean; readonly againUs: number | undefined } {
    if (this.#isReading) return { begins: false, againUs: undefined }
    if (this.access(nowUs).kind !== 'unread') return { begins: false, againUs: nowUs + OUTAGE_US + SECOND_US }
    this.#isReading = true
    return { begins: true, againUs: undefined }
  }

  end(nowUs: number): void {
    this.#isReading = false
    this.#read = { atUs: nowUs, access: nowUs < this.blindUntilUs ? { kind: 'unreadable', detail: 'unreachable' } : { kind: 'readable' } }
  }

  /** The agent was restarted. */
  stop(): void {
    this.#isReading = false
  }
}
