// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { PluginContext } from '../../../src/command/plugin/command.ts'
import { forecast, renderForecast } from '../../../src/command/plugin/computed-values.ts'
import { type NodeState, readNodeState } from '../../../src/command/plugin/node-state.ts'
import { helperInPlace } from '../../helper/in-place-helper.ts'
import { IN_PLACE } from '../../kubelet/in-place-yaml.ts'

const HEAD = 'apiVersion: kubelet-cfg-agent.io/v1alpha1\nkind: ComputedKubeletConfiguration\n'

function nodes(count: number, labelsOf: (index: number) => Record<string, string>): NodeState[] {
  return Array.from({ length: count }, (_, index) => {
    const node = {
      metadata: { name: `n${index}`, labels: labelsOf(index) },
      status: { capacity: { cpu: String(4 << (index % 3)), memory: '32Gi' } },
    }
    return readNodeState(node, 'kube-system') ?? t.bailout('no Node')
  }) as NodeState[]
}

/** @param tookMs each answer of the helper */
function contextWhere(tookMs = 0): PluginContext {
  let nowUs = 0
  const helper = helperInPlace(() => {
    nowUs += tookMs * 1000
  })
  const { signal } = new AbortController()
  return { yaml: IN_PLACE, helper, signal, monotonicUs: () => nowUs } as unknown as PluginContext
}

const RECIPE = `${HEAD}computed:
  maxPods: "'pool' in node.labels ? [250, node.cpus * 10].min() : 110"
  kubeReserved.memory: "string([node.memory / 20, 1073741824].max() / 1048576) + 'Mi'"
  evictionHard["memory.available"]: quantity('100Mi')
  podPidsLimit: int(node.labels['pids'])
`

t.test('says which values how many nodes get, and where an expression fails', async (t) => {
  const all = nodes(300, (index) => ({ ...(index < 6 && { pool: 'a' }), ...(index !== 7 && { pids: '100' }) }))
  const foreseen = (await forecast(contextWhere(), 'a.yaml', RECIPE, all)) ?? t.bailout('it computes nothing')
  if (foreseen === undefined) return
  t.same(renderForecast(foreseen, 200), [
    'maxPods 110 on 293 nodes, 40 on 2, 80 on 2, 160 on 2',
    'kubeReserved.memory "1638Mi" on 299 nodes',
    'evictionHard["memory.available"] "100Mi" on 299 nodes',
    'podPidsLimit 100 on 299 nodes',
    "On 1 node it fails, and they would stay as they are: n7: computed podPidsLimit at line 7, column 3: field not found: pids, in int(node.labels['pids'])",
  ])
  const many = (await forecast(contextWhere(), 'a.yaml', `${HEAD}computed: {providerID: node.name}\n`, all)) ?? foreseen
  t.match(renderForecast(many, 400), [/^providerID "n0" on 1 node, .* 292 other values on 292$/])
})

t.test('a text that is at fault on every node, or takes too long, is refused', async (t) => {
  const context = contextWhere()
  await t.rejects(forecast(context, 'a.yaml', `${HEAD}computed: {maxPods: '1 +'}\n`, []), { message: /^a.yaml: computed maxPods/ })
  await t.rejects(forecast(context, 'a.yaml', `${HEAD}computed: {maxPod: '1'}\n`, []), { message: /no field/ })
  t.equal(await forecast(context, 'a.yaml', 'maxPods: 5\n', []), undefined)
  const all = nodes(4000, () => ({ pids: '1' }))
  await t.rejects(forecast(contextWhere(2000), 'a.yaml', RECIPE, all), {
    message: 'a.yaml: its expressions take too much: it takes more than 30 s for 4000 nodes',
  })
})

t.test('5,000 nodes take less than 5 s', async (t) => {
  const all = nodes(5000, (index) => ({ pids: String(index % 7), zone: 'a', size: 'large' }))
  const startedMs = process.cpuUsage().user / 1000
  const foreseen = await forecast(contextWhere(), 'a.yaml', RECIPE, all)
  const tookMs = process.cpuUsage().user / 1000 - startedMs
  t.ok(tookMs < 5000, `${tookMs} ms of CPU`)
  t.equal(foreseen?.failing.size, 0)
})
