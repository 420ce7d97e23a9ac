/**
 * What the simulated world or its invariants leave out, since the agent does not do it right yet.
 * Each is removed with the mend of what it names.
 */
export const AWAITED = {
  /** After a try without a request of the agent's, a person's restart counts as the agent's. */
  restartAfterTryAgain: false,
  /** A unit that is down, and that nobody stopped, is started again. */
  leftDown: false,
  /** The pod network is away in a trial. */
  notReady: false,
  /** What is not known of the time before neither condemns nor promotes. */
  unknownBefore: true,
  /** Looks come later than the tolerance for health. */
  lateLooks: false,
  /** Kubelet's identity differs at each start. */
  identity: true,
  /** /run is lost while a restart is due. */
  lostRunWhileDue: true,
} as const
