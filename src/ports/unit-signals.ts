/**
 * The port for what systemd says of kubelet's unit by itself. Adapter:
 * `src/systemd/bus-signals.ts`. A signal only wakes the loop: what it says is not read.
 */
export interface UnitSignals {
  /**
   * Since when systemd is listened to and has said nothing of the unit, by CLOCK_MONOTONIC.
   * undefined: it is not listened to.
   */
  quietSinceUs(): number | undefined
}

/** Where nothing can be heard, systemd is asked. */
export const DEAF: UnitSignals = { quietSinceUs: () => undefined }
