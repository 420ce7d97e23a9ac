/**
 * Contact time: how long this node could read the record. Only time between two signs of life with
 * no failure between them counts, so an outage of the node or of the API server counts at most
 * until its last sign. No I/O: the caller passes the time (us, CLOCK_MONOTONIC).
 */
export class Contact {
  #lastUs: number | undefined
  #creditUs = 0

  /** Something was read or received, or the server accepted a watch. */
  synced(nowUs: number): void {
    if (this.#lastUs !== undefined) this.#creditUs += nowUs - this.#lastUs
    this.#lastUs = nowUs
  }

  /** A request failed, or a watch broke. A regular end is no failure. */
  lost(): void {
    this.#lastUs = undefined
  }

  /** The contact time since the last call. */
  take(): number {
    const creditUs = this.#creditUs
    this.#creditUs = 0
    return creditUs
  }
}
