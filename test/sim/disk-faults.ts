// SPDX-License-Identifier: Apache-2.0
/** The faults of the simulated disk. They end after a while, used up or not. */
import type { FakeDisk, FakeFault } from '../checkpoint/fake/fake-disk.ts'
import type { Random } from './random.ts'

export class DiskFaults {
  readonly #random: Random
  /** Only reads of the agent can fail; the invariants read what is there. */
  agentActs = false
  /**
   * Nothing can be changed: the file system was remounted read-only, as ext4 does after an error.
   */
  readOnly = false
  /** Reads of the agent that have failed so far. */
  failedReads = 0
  #readsLeft = 0
  #writes: { readonly fault: 'EIO' | 'short-write'; left: number } | undefined

  constructor(disk: FakeDisk, random: Random) {
    this.#random = random
    disk.faultOf = () => this.#nextFault()
    disk.readFaultOf = () => (this.agentActs && this.#failsToRead() ? 'EIO' : undefined)
  }

  get writesFail(): boolean {
    return this.#writes !== undefined || this.readOnly
  }

  get readsFail(): boolean {
    return this.#readsLeft > 0
  }

  failWrites(fault: 'EIO' | 'short-write', operations: number): void {
    this.#writes = { fault, left: operations }
  }

  failReads(reads: number): void {
    this.#readsLeft = reads
  }

  repairWrites(): void {
    this.#writes = undefined
  }

  repairReads(): void {
    this.#readsLeft = 0
  }

  /** For the invariants, which read what is there, also in the middle of a pass of the agent. */
  lookAside<T>(look: () => T): T {
    const acts = this.agentActs
    this.agentActs = false
    try {
      return look()
    } finally {
      this.agentActs = acts
    }
  }

  #failsToRead(): boolean {
    if (this.#readsLeft === 0 || this.#random.chance(0.5)) return false
    this.#readsLeft -= 1
    this.failedReads += 1
    return true
  }

  #nextFault(): FakeFault | undefined {
    if (this.readOnly) return 'EROFS'
    if (this.#writes === undefined || this.#writes.left === 0 || this.#random.chance(0.5)) return undefined
    this.#writes.left -= 1
    return this.#writes.fault
  }
}
