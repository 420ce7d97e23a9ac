// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { listNames } from '../../../src/command/plugin/config-maps.ts'
import { NAMESPACE, nodeObject, putConfigMap, startPluginWorld } from './world.ts'

t.test('completion offers configs, and nothing else that is a ConfigMap', async (t) => {
  const world = await startPluginWorld(t)
  for (const name of ['pods', 'part']) putConfigMap(world, name, 'maxPods: 50\n')
  world.server.objects.put({
    kind: 'ConfigMap',
    metadata: { name: 'pods-rollout', namespace: NAMESPACE },
    data: { state: '1 1 0 a b 1 0' },
  })
  world.server.objects.put({ kind: 'ConfigMap', metadata: { name: 'coredns', namespace: NAMESPACE }, data: { Corefile: '' } })
  world.files.set('a', 'maxPods: 60\n')
  t.match(await world.run('apply', '-f', 'a', '--base', 'local', 'part', '--yes'), { code: 0 })
  world.server.objects.put(nodeObject('n1', { config: 'pods' }))
  t.same([...(await listNames(world.context, 'config'))].sort(), ['part', 'pods'])
  t.same(await listNames(world.context, 'node'), ['n1'])
})
