// SPDX-License-Identifier: Apache-2.0
/** Ports for servers that are started later, of lanes that run side by side. */
import t from 'tap'
import { findFreePort, portsOfLane } from '../real/lab/ports.ts'

async function findMany(): Promise<number[]> {
  return Promise.all(Array.from({ length: 100 }, () => findFreePort()))
}

t.test('none is given twice', async (t) => {
  t.equal(new Set([...(await findMany()), ...(await findMany())]).size, 200)
})

t.test('lanes have none in common', async (t) => {
  t.teardown(() => delete process.env.KCA_LAB_PORTS)
  const bounds: number[] = []
  for (const lane of [0, 1, 23]) {
    Object.assign(process.env, portsOfLane(lane))
    const ports = await findMany()
    bounds.push(Math.min(...ports), Math.max(...ports))
  }
  t.strictSame(
    bounds,
    bounds.toSorted((one, other) => one - other),
  )
  t.ok(Math.min(...bounds) >= 20_000 && Math.max(...bounds) < 32_000, String(bounds))
})
