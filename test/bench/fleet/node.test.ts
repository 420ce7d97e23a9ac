// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { fleetNode, heartbeat, nodeNames } from '../../../bench/fleet/node.ts'

const AT = '2021-01-14T09:12:31Z'

t.test('a Node has about the size of a real one, before the server adds its fields', async (t) => {
  for (const serial of [0, 1, 999]) {
    const bytes = Buffer.byteLength(JSON.stringify(fleetNode(serial, AT)))
    // The server sends 15 to 16 KB: uid, times and managedFields add 2.8 KB.
    t.ok(bytes > 12_200 && bytes < 13_300, `${serial}: ${bytes}`)
  }
})

t.test('each Node is different', async (t) => {
  const names = nodeNames(1000)
  t.equal(new Set(names).size, 1000)
  names.forEach((name, serial) => {
    const { metadata, spec, status } = fleetNode(serial, AT)
    if (metadata.name !== name) t.fail(`${serial} is called ${metadata.name}`)
    if (!/^10\.\d+\.\d+\.0\/24$/.test(spec.podCIDR)) t.fail(spec.podCIDR)
    if (status.nodeInfo.machineID.length !== 32) t.fail(status.nodeInfo.machineID)
  })
  t.equal(new Set(names.map((_, serial) => fleetNode(serial, AT).status.nodeInfo.systemUUID)).size, 1000)
})

t.test("a heartbeat changes only a time of kubelet's own conditions", async (t) => {
  const { conditions } = heartbeat(AT).status
  t.same(
    conditions.map(({ type }) => type),
    ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'],
  )
  for (const condition of conditions) t.same(Object.keys(condition).sort(), ['lastHeartbeatTime', 'type'])
})
