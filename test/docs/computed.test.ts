// SPDX-License-Identifier: Apache-2.0
/** The recipes of computed values, with the values that the pages give that they cite. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Evaluator } from '../../src/cel/evaluator.ts'
import { API_VERSION, KIND } from '../../src/kubelet/decode.ts'
import { mergePart } from '../../src/overlay/merge-part.ts'
import { inspectConfig } from '../../src/preflight/parts.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { ROOT } from './pages.ts'

const PAGE = readFileSync(join(ROOT, 'docs/computed.md'), 'utf8')
const [, example = ''] = /^```yaml manifest\n([\s\S]*?)^```$/m.exec(PAGE) ?? []
const RECIPES = join(ROOT, 'deploy/recipes/computed')
const read = (name: string) => readFileSync(join(RECIPES, name), 'utf8')
const [gke, eks, aks, gpu] = [read('gke.yaml'), read('eks.yaml'), read('aks.yaml'), read('gpu.yaml')]

interface Machine {
  readonly cpus: number
  readonly memory: string
  readonly labels?: Readonly<Record<string, string>>
  readonly cidr?: string
}

async function compute(text: string, { cpus, memory, labels = {}, cidr }: Machine) {
  const node = { name: 'n1', labels, capacity: { cpu: String(cpus), memory }, podCIDRs: cidr === undefined ? [] : [cidr] }
  const evaluator = new Evaluator()
  const merged = await mergePart({ root: undefined, parts: [] }, { kubelet: text }, 'kubelet', IN_PLACE, async (expressions) =>
    evaluator.evaluate({ expressions, node }),
  )
  if (!merged.ok) return merged.detail
  const { outcome } = await inspectConfig({ name: 'x', files: merged.rendered.data, key: 'kubelet' }, undefined, IN_PLACE)
  t.equal(outcome, 'accepted')
  const { apiVersion, kind, ...fields } = JSON.parse(merged.rendered.data.kubelet ?? '')
  t.same([apiVersion, kind], [API_VERSION, KIND])
  return fields
}

t.test('the example', async (t) => {
  t.same(await compute(example, { cpus: 4, memory: '16Gi' }), {
    kubeReserved: { cpu: '100m', memory: '819Mi' },
    maxPods: 80,
    evictionHard: { 'memory.available': '500Mi' },
  })
})

t.test('the reservations of GKE, and pods by the CIDR', async (t) => {
  const gkeOf = async (cpus: number, memory: string, cidr = '10.0.0.0/24') => {
    const fields = await compute(gke, { cpus, memory, cidr })
    return typeof fields === 'string' ? fields : [fields.kubeReserved.cpu, fields.kubeReserved.memory, fields.maxPods]
  }
  t.same(await gkeOf(1, '600Mi', '10.0.0.0/28'), ['60m', '255Mi', 8])
  t.same(await gkeOf(2, '4Gi', '10.0.0.0/25'), ['70m', '1024Mi', 64])
  t.same(await gkeOf(4, '16Gi', '10.0.0.0/26'), ['80m', '2662Mi', 32])
  t.same(await gkeOf(8, '128Gi', '10.0.0.0/27'), ['90m', '9543Mi', 16])
  t.same(await gkeOf(64, '256Gi'), ['230m', '12164Mi', 110])
  t.match(await compute(gke, { cpus: 2, memory: '4Gi' }), /computed maxPods .* field not found: podCIDR/)
})

t.test('the reservations of EKS, and pods by the instance type', async (t) => {
  const eksOf = async (type?: string) => {
    const labels = { zone: 'a', ...(type !== undefined && { 'node.kubernetes.io/instance-type': type }) }
    const fields = await compute(eks, { cpus: 2, memory: '8Gi', labels })
    return typeof fields === 'string' ? fields : [fields.maxPods, fields.kubeReserved.memory]
  }
  t.same(await eksOf('m5.large'), [29, '574Mi'])
  t.same(await eksOf('m5.4xlarge'), [234, '2829Mi'])
  t.same(await eksOf('x1.32xlarge'), [110, '1465Mi'])
  t.match(
    await eksOf(),
    /field not found: node.kubernetes.io\/instance-type/,
    'a cloud controller adds the label after the node has joined',
  )
})

t.test('the reservations of AKS', async (t) => {
  const aksOf = async (cpus: number, memory: string) => {
    const fields = await compute(aks, { cpus, memory })
    return typeof fields === 'string' ? fields : [fields.kubeReserved.cpu, fields.kubeReserved.memory]
  }
  for (const [cpus, cpu] of [
    [1, '60m'],
    [2, '100m'],
    [4, '140m'],
    [8, '180m'],
    [16, '260m'],
    [32, '420m'],
    [64, '740m'],
  ] as const)
    t.same(await aksOf(cpus, '8G'), [cpu, '650M'])
  t.same(await aksOf(2, '2G'), ['100m', '500M'])
})

const sized = (memory: string): Machine => ({ cpus: 2, memory, cidr: '10.0.0.0/24' })

t.test('a kernel that shows some MiB more or less changes nothing', async (t) => {
  for (const text of [example, gke, aks]) {
    const [before, after] = [await compute(text, sized('1980Mi')), await compute(text, sized('1955Mi'))]
    t.same(before, after)
    t.notMatch(await compute(text, sized('1Gi')), before, 'and another size does')
  }
})

t.test('nodes with and without GPUs', async (t) => {
  const labels = { 'example.com/gpus': '4' }
  t.same(await compute(gpu, { cpus: 8, memory: '64Gi', labels }), { maxPods: 32, systemReserved: { memory: '2560Mi' } })
  // Feature discovery adds its labels after the node has joined.
  t.notMatch(gpu.replaceAll(/^#.*$/gm, ''), /nvidia\.com/)
  t.same(await compute(gpu, { cpus: 8, memory: '64Gi' }), { maxPods: 110, systemReserved: { memory: '512Mi' } })
})

t.test('every recipe is tested, and the page names it', async (t) => {
  const names = readdirSync(RECIPES)
  t.same(names.sort(), ['aks.yaml', 'eks.yaml', 'gke.yaml', 'gpu.yaml'])
  for (const name of names) t.ok(PAGE.includes(`(../deploy/recipes/computed/${name})`), name)
})
