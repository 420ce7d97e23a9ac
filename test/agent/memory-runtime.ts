// SPDX-License-Identifier: Apache-2.0
/** The records of /run in memory: what ends with a simulated boot. */
import type { GotValue, PutValue, RunName } from '../../src/decision/record-table.ts'
import type { RecordStore } from '../../src/ports/store.ts'

export class MemoryRecords implements RecordStore<RunName> {
  readonly #values = new Map<RunName, unknown>()

  get<N extends RunName>(name: N): GotValue<N> {
    return this.#values.get(name) as GotValue<N>
  }

  put<N extends RunName>(name: N, value: PutValue<N>): void {
    this.#values.set(name, value)
  }

  clear(): void {
    this.#values.clear()
  }
}
