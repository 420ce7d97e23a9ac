// SPDX-License-Identifier: Apache-2.0
/**
 * Free ports on loopback, below the range from which the kernel gives ports to clients, so that a
 * stopped server's stays free. One is used long after it was found free, so none is given twice:
 * lanes that run side by side have slices of their own.
 */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const LOWEST = 20_000
const SLICES = 24
const IN_SLICE = 500
/** Which slice this process has. Left out: all of them. */
const SLICE = 'KCA_LAB_PORTS'

const given = new Set<number>()

/** The environment of a lane. */
export function portsOfLane(lane: number): Readonly<Record<string, string>> {
  return { [SLICE]: String(lane % SLICES) }
}

export async function findFreePort(): Promise<number> {
  const { [SLICE]: slice } = process.env
  const lowest = LOWEST + Number(slice ?? 0) * IN_SLICE
  const beyond = lowest + (slice === undefined ? SLICES : 1) * IN_SLICE
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    const port = randomInt(lowest, beyond)
    if (given.has(port)) continue
    // At once: another caller may look while this one is tried.
    given.add(port)
    if (await isFree(port)) return port
  }
  throw new Error(`no free port on 127.0.0.1 from ${lowest} to ${beyond - 1}`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
