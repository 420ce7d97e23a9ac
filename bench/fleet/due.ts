/** When whose heartbeat is due: a fleet's are spread evenly over their interval, as they come to be in a cluster that has run for a while. Pure. */

/** Of the whole fleet, since the first one. */
export function beatsDue(elapsedMs: number, nodes: number, everyMs: number): number {
  return Math.floor((elapsedMs * nodes) / everyMs)
}
