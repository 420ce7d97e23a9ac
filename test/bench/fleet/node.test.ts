import t from 'tap'
import { fleetNode, heartbeat, nodeNames } from '../../../bench/fleet/node.ts'

const AT = '2021-01-14T09:12:31Z'

t.test('a Node is about as long as a real one, before the server adds its own', async (t) => {
  for (const serial of [0, 1, 999]) {
    const bytes = Buffer.byteLength(JSON.stringify(fleetNode(serial, AT)))
    // 15 to 16 KB as the server sends it: uid, times and managedFields come to 2.8 KB.
    t.ok(bytes > 12_200 && bytes < 13_300, `${serial}: ${bytes}`)
  }
})

t.test('each Node is another one', async (t) => {
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

t.test("a heartbeat is of kubelet's own conditions, and changes nothing but a time", async (t) => {
  const { conditions } = heartbeat(AT).status
  t.same(
    conditions.map(({ type }) => type),
    ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'],
  )
  for (const condition of conditions) t.same(Object.keys(condition).sort(), ['lastHeartbeatTime', 'type'])
})
