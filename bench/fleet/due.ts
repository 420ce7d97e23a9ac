// SPDX-License-Identifier: Apache-2.0
/**
 * When heartbeats are due: those of a fleet are spread evenly over the interval, as in a cluster
 * that has run for a while. Pure.
 */
/** The number of heartbeats of the whole fleet since the first one. */
export function beatsDue(elapsedMs: number, nodes: number, everyMs: number): number {
  return Math.floor((elapsedMs * nodes) / everyMs)
}
