// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { MINUTE_US } from '../decision/snapshots.ts'
import { FleetWorld, RECORD } from './fleet-world.ts'

t.setTimeout(240_000)

const allRun = (fleet: FleetWorld, text: string) =>
  fleet.until(async () => (await fleet.running()).every((running) => running === text), 60 * MINUTE_US)

t.test('a config without the annotation costs no request more, whatever becomes of it', async (t) => {
  const fleet = new FleetWorld(3)
  fleet.api.put(RECORD, {})
  for (const text of ['first', 'second']) {
    fleet.edit(text, {})
    t.ok(await allRun(fleet, text))
    await fleet.run(3 * MINUTE_US)
  }
  t.same(fleet.api.requests, [], 'all requests here are those for rollouts')
  t.equal(fleet.api.watchesOf(RECORD), 0)
  t.same(
    fleet.nodes.map(({ world }) => world.records.get('stagings')),
    fleet.nodes.map(() => undefined),
    'and nothing is remembered of it',
  )
  await fleet.stop()
})

t.test('the record is watched by nodes that wait or are witnesses, by name, and by nobody once all are done', async (t) => {
  const fleet = new FleetWorld(3)
  fleet.api.put(RECORD, {})
  fleet.edit('first')
  t.ok(await fleet.until(() => Object.values(fleet.record() ?? {}).some((text) => text.includes(' claim ')), 5 * MINUTE_US))
  await fleet.run(10e6)
  t.equal(fleet.api.watchesOf(RECORD), 3, 'one witness, and two that wait')
  t.ok(await allRun(fleet, 'first'))
  await fleet.run(5 * MINUTE_US)
  t.equal(fleet.api.watchesOf(RECORD), 0)
  const before = fleet.api.requests.length
  await fleet.run(60 * MINUTE_US)
  t.same(fleet.api.requests.slice(before), [], 'an hour in which nothing changes')
  const paths = new Set(fleet.api.requests.map((request) => request.split(' ').slice(1).join(' ')))
  const configMaps = '/api/v1/namespaces/kube-system/configmaps'
  const named = [`GET ${configMaps}/fleet`, `GET ${configMaps}/${RECORD}`, `GET ${configMaps}?`, `PATCH ${configMaps}/${RECORD}`]
  t.same([...paths].sort(), named.sort(), 'each request names one object; the one with ? selects it by its name')
  await fleet.stop()
})
