/**
 * The port that reads what a process of kubelet said before it exited. Adapter:
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
