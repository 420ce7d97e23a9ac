// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { readSight } from '../../../src/command/plugin/node-sight.ts'
import { NAMESPACE, type NodeFields, nodeObject, sourceOf } from './world.ts'

const CONTENT = { namespace: NAMESPACE, name: 'pods', uid: 'uid-of-pods', version: '200' }
const sightOf = (version: string, fields: NodeFields = {}) => readSight(nodeObject('n1', { config: 'pods', version, ...fields }), CONTENT)
const taint = (key: string) => ({ spec: { taints: [{ key, effect: 'NoSchedule' }] } })

t.test('what a node has started', async (t) => {
  t.match(sightOf('200'), { name: 'n1', ready: true, content: 'started', failed: false, leaving: undefined })
  t.match(sightOf('1000'), { content: 'started' }, 'a later version of the same content')
  t.match(sightOf('199'), { content: 'waiting' })
  t.match(sightOf('200', { active: sourceOf('pods', '150') }), { content: 'waiting' })
  const verdict = { state: 'confirmed', reason: 'crash-loop' }
  const failed = { active: sourceOf('pods', '150'), degraded: true, ready: ['False', 'RolledBack', ''], said: { verdict } } as const
  t.match(sightOf('200', failed), { content: 'started', failed: true })
  t.match(sightOf('199', failed), { content: 'waiting', failed: false }, 'what failed was another content')
  t.match(sightOf('200', { ...failed, said: {} }), { content: 'waiting', failed: false }, 'the condition may be about the one before')
  for (const [state, reason] of [
    ['refused', 'validate'],
    ['confirmed', 'requested'],
  ])
    t.match(sightOf('200', { ...failed, said: { verdict: { state, reason } } }), { content: 'waiting', failed: false })
  t.match(sightOf('200', { ...failed, said: { verdict: { ...verdict, state: 'provisional' } } }), { content: 'started', failed: true })
  const atFault = { degraded: true, ready: ['False', 'NodeAtFault', ''] } as const
  t.match(sightOf('200', atFault), { content: 'started', failed: true })
  t.match(sightOf('200', { ...atFault, active: sourceOf('pods', '150') }), { content: 'waiting' }, 'kubelet fails with what ran before')
  t.match(sightOf('200', { config: 'other' }), { content: 'other' })
  t.match(readSight({ kind: 'Node', metadata: { name: 'n1', uid: '1' } }, CONTENT), { content: undefined, ready: undefined })
  t.equal(readSight({ kind: 'Node' }, CONTENT), undefined)
})

t.test('whether it is Ready', async (t) => {
  for (const kubelet of ['False', 'Unknown']) t.match(sightOf('200', { kubelet }), { ready: false })
  const ill = { degraded: true, ready: ['False', 'Unhealthy', ''] } as const
  t.match(sightOf('200', ill), { ready: false, failed: false })
  t.match(sightOf('199', ill), { ready: true }, 'of another content')
})

t.test('whether somebody takes it away', async (t) => {
  t.match(sightOf('200', { spec: { unschedulable: true } }), { leaving: 'cordoned' })
  for (const key of ['ToBeDeletedByClusterAutoscaler', 'karpenter.sh/disrupted']) t.match(sightOf('200', taint(key)), { leaving: 'marked' })
  t.match(sightOf('200', taint('node.kubernetes.io/unreachable')), { leaving: undefined })
})
