// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { strategicMergePatch } from '../../../../demo/api-server/patch.ts'
import { clearNode } from '../../../../src/command/agent/commands/release.ts'
import type { KubeAnswer, KubeRequest } from '../../../../src/ports/kube-api.ts'
import { defaults } from '../../../settings/settled-settings.ts'
import { fakeNode } from '../fake-node.ts'

const NODE = {
  metadata: {
    name: 'node-1',
    annotations: { 'kubelet-cfg-agent.io/status': '{}', other: 'stays' },
    labels: { 'kubelet-cfg-agent.io/state': 'Promoted', zone: 'stays' },
  },
  status: { conditions: [{ type: 'Ready' }, { type: 'KubeletConfigReady' }, { type: 'KubeletConfigDegraded' }] },
}
const refused = (status: number): KubeAnswer => ({ kind: 'refused', status, reason: '', detail: `${status}: no`, retryAfterMs: undefined })

async function clear(object: unknown = NODE, fault?: (request: KubeRequest) => KubeAnswer | undefined, settings = defaults) {
  let node = object
  const requests: KubeRequest[] = []
  const request = async (asked: KubeRequest): Promise<KubeAnswer> => {
    requests.push(asked)
    const answer = fault?.(asked)
    if (answer !== undefined) return answer
    if (asked.method === 'PATCH') node = strategicMergePatch(node, asked.body)
    return { kind: 'ok', object: node }
  }
  const clearing = await clearNode(fakeNode({ context: { api: { request }, settings } }).context)
  return { clearing, requests, node: () => node }
}

t.test('takes what is its own from the Node, and nothing else', async (t) => {
  const { clearing, node, requests } = await clear()
  t.same(clearing, { kind: 'cleared' })
  t.same(node(), {
    metadata: { name: 'node-1', annotations: { other: 'stays' }, labels: { zone: 'stays' } },
    status: { conditions: [{ type: 'Ready' }] },
  })
  t.same(
    requests.map(({ method, path }) => `${method} ${path}`),
    ['GET /api/v1/nodes/node-1', 'PATCH /api/v1/nodes/node-1/status'],
  )
  t.ok(requests.every(({ timeoutMs = 1e9 }) => timeoutMs <= 5000))
})

t.test('writes nothing where the Node shows nothing of it', async (t) => {
  const { clearing, requests } = await clear({ metadata: { name: 'node-1' }, status: { conditions: [{ type: 'Ready' }] } })
  t.same(clearing, { kind: 'nothing' })
  t.equal(requests.length, 1)
  t.same((await clear(NODE, () => refused(404))).clearing, { kind: 'nothing' }, 'there is no Node')
  const manifests = await clear(NODE, undefined, { ...defaults, manifestDir: '/m' })
  t.same([manifests.clearing, manifests.requests.length], [{ kind: 'nothing' }, 0], 'no API server is used')
})

t.test('says how it is done by hand where it is refused', async (t) => {
  const { clearing } = await clear(NODE, ({ method }) => (method === 'PATCH' ? refused(403) : undefined))
  t.match(clearing, { kind: 'failed', detail: '403: no' })
  t.same(clearing.kind === 'failed' && clearing.advice, [
    `kubectl patch node node-1 --subresource=status --type=strategic -p '{"status":{"conditions":[{"$patch":"delete","type":"KubeletConfigReady"},{"$patch":"delete","type":"KubeletConfigDegraded"}]}}'`,
    'kubectl annotate node node-1 kubelet-cfg-agent.io/status-',
    'kubectl label node node-1 kubelet-cfg-agent.io/state-',
  ])
  t.match((await clear(NODE, () => ({ kind: 'unreachable', detail: 'ECONNREFUSED' }))).clearing, { kind: 'failed', detail: 'ECONNREFUSED' })
})

t.test('removes by the other path what one patch leaves, and advises on nothing that is gone', async (t) => {
  const isOf = ({ method, path }: KubeRequest, end: string) => method === 'PATCH' && path.endsWith(end)
  const statusAlone = await clear(NODE, (asked) => (isOf(asked, '/node-1') ? refused(403) : undefined))
  t.same(statusAlone.clearing, { kind: 'cleared' }, 'deploy/rbac/status.yaml alone')
  const metadataAlone = await clear(NODE, (asked) => (isOf(asked, '/status') ? refused(403) : undefined))
  t.match(metadataAlone.clearing, { kind: 'failed', advice: [/conditions/] })
  t.match(metadataAlone.node(), { metadata: { annotations: { other: 'stays' }, labels: { zone: 'stays' } } })
  t.equal(metadataAlone.clearing.kind === 'failed' && metadataAlone.clearing.advice.length, 1)
  // A server that keeps no metadata in a patch of the status.
  const kept = await clear(NODE, (asked) => {
    const status = strategicMergePatch(NODE.status, (asked.body as { status?: unknown } | undefined)?.status)
    return isOf(asked, '/status') ? { kind: 'ok', object: { ...NODE, status } } : undefined
  })
  t.same(kept.clearing, { kind: 'cleared' })
  t.equal(kept.requests.length, 3)
})
