// SPDX-License-Identifier: Apache-2.0
/** The plugin's lists: in pages, whatever the size of the fleet, and past an expired version. */
import t from 'tap'
import { PAGE } from '../../src/command/list-pages.ts'
import { nodeObject, startPluginWorld } from '../command/plugin/world.ts'

t.test('a fleet is read in pages, each Node once', async (t) => {
  const { server, run } = await startPluginWorld(t)
  const count = 3 * PAGE + 7
  for (let index = 0; index < count; index++) server.objects.put(nodeObject(`node-${index}`, { config: 'c' }))
  const { code, out } = await run('get', '-o', 'json')
  t.equal(code, 0)
  const names = JSON.parse(out).items.map(({ node }: { node: string }) => node)
  t.equal(new Set(names).size, count)
  t.equal(names.length, count)
  const lists = server.requests.filter(({ verb }) => verb === 'list')
  t.equal(lists.length, 4)
  t.ok(lists.every(({ query }) => query.get('limit') === String(PAGE)))
})

t.test('a list whose version expires begins again', async (t) => {
  const { server, run } = await startPluginWorld(t)
  for (let index = 0; index <= PAGE; index++) server.objects.put(nodeObject(`node-${index}`, { config: 'c' }))
  let isCompacted = false
  server.fault = ({ query }) => {
    if (query.has('continue') && !isCompacted) {
      isCompacted = true
      server.store.compact()
    }
    return undefined
  }
  const { code, out } = await run('get', '-o', 'sum')
  t.equal(code, 0)
  t.match(out, /151 Promoted/)
  server.fault = ({ query }) => {
    if (query.has('continue')) server.store.compact()
    return undefined
  }
  t.match(await run('get'), { code: 1, err: /took longer than the API server keeps its version/ })
})

t.test('Nodes that make a page too long are read in smaller pages', async (t) => {
  const { server, run } = await startPluginWorld(t)
  const annotations = { big: 'x'.repeat(2 ** 20) }
  for (let index = 0; index < 10; index++) server.objects.put(nodeObject(`node-${index}`, { config: 'c', annotations }))
  t.match(await run('get', '-o', 'sum'), { code: 0, out: /10 Promoted/, err: '' })
})
