/**
 * The port that reads what a process of kubelet said at its start and before it exited. Adapter:
 * `src/systemd/last-words.ts`.
 */
export interface LastWords {
  /**
   * In one line, bounded, and without control characters or secrets. undefined: it said nothing, or
   * the journal cannot be read. Never rejects.
   * @param invocationId systemd's name for one start of the unit (systemd.exec(5),
   *   "$INVOCATION_ID")
   */
  of(invocationId: string): Promise<string | undefined>
}

export interface FirstWords {
  /**
   * The first lines of its log, as it wrote them, bounded. undefined: the journal cannot be read.
   * Never rejects.
   */
  atStart(invocationId: string): Promise<string | undefined>
}
