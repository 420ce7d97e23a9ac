// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { LONGEST_EXPRESSION } from '../../src/cel/computation.ts'
import { Evaluator } from '../../src/cel/evaluator.ts'
import { type Evaluate, mayCompute } from '../../src/overlay/computed.ts'
import { type BaseTexts, mergePart } from '../../src/overlay/merge-part.ts'
import { readOverlayOnce } from '../../src/overlay/read-overlay.ts'
import { type NodeShown, readNodeShown } from '../../src/subject/node-shown.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'
import { LOCAL_PATH, localConfig } from './local-configs.ts'

const HEADER = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
const COMPUTED = 'apiVersion: kubelet-cfg-agent.io/v1alpha1\nkind: ComputedKubeletConfiguration\n'

const NODE: NodeShown = {
  name: 'n1',
  labels: { size: 'large' },
  capacity: { cpu: '8', memory: '32Gi', 'ephemeral-storage': '100Gi' },
  podCIDRs: ['10.0.1.0/25'],
  architecture: 'amd64',
}

const evaluateFor =
  (node: NodeShown | undefined): Evaluate =>
  async (expressions) =>
    new Evaluator().evaluate({ expressions, node })

const WHOLE: BaseTexts = { root: undefined, parts: [] }
const overLocal = (local = localConfig('maxPods: 110\n')): BaseTexts => ({
  root: { kind: 'local', name: LOCAL_PATH, text: local },
  parts: [],
})

async function merge(text: string, bases: BaseTexts = WHOLE, node: NodeShown | null = NODE) {
  const result = await mergePart(bases, { kubelet: text, other: 'x' }, 'kubelet', IN_PLACE, evaluateFor(node ?? undefined))
  return result.ok ? JSON.parse(result.rendered.data.kubelet ?? '') : result
}

t.test('a whole config gets its computed fields, of each type, at each depth', async (t) => {
  const text = `${COMPUTED}clusterDomain: a.example
kubeReserved: {cpu: 100m}
computed:
  maxPods: "[250, node.cpus * 20].min()"
  kubeReserved.memory: node.capacity['memory'].sub(quantity('31Gi'))
  evictionHard["memory.available"]: "string(node.memory / 1048576 / 100) + 'Mi'"
  featureGates['X']: "node.labels.size.startsWith('l')"
  streamingConnectionIdleTimeout: duration('1h')
  clusterDNS: "['10.96.0.10', node.name]"
  authentication.webhook.enabled: node.architecture == 'amd64'
  podPidsLimit: int(node.podCIDR.split('/')[1])
  nodeStatusMaxImages: node.podCIDRs.size()
  providerID: "'size' in node.labels ? node.labels['size'] : 'small'"
`
  t.same(await merge(text), {
    ...HEADER,
    clusterDomain: 'a.example',
    kubeReserved: { cpu: '100m', memory: '1Gi' },
    maxPods: 160,
    evictionHard: { 'memory.available': '327Mi' },
    featureGates: { X: true },
    streamingConnectionIdleTimeout: '3600s',
    clusterDNS: ['10.96.0.10', 'n1'],
    authentication: { webhook: { enabled: true } },
    podPidsLimit: 25,
    nodeStatusMaxImages: 1,
    providerID: 'large',
  })
})

t.test('the same result has the same name, and the other keys stay', async (t) => {
  const text = `${COMPUTED}computed: {maxPods: "node.cpus >= 8 ? 200 : 100"}\n`
  const render = (cpu: string) =>
    mergePart(WHOLE, { kubelet: text, other: 'x' }, 'kubelet', IN_PLACE, evaluateFor({ ...NODE, capacity: { cpu } }))
  const [eight, nine, four] = [await render('8'), await render('9'), await render('4')]
  t.match(eight, { ok: true, rendered: { data: { other: 'x' } } })
  t.same(eight, nine)
  t.not(Object(eight).rendered.overlay, Object(four).rendered.overlay)
})

t.test('a part, what is under it, and a layer are computed, each at its place', async (t) => {
  const computed = (text: string) => `${COMPUTED}computed: {${text}}\n`
  const bases: BaseTexts = {
    root: { kind: 'config-map', name: 'ConfigMap ns/whole:k', text: `${computed("maxPods: '1', podPidsLimit: '1', podsPerCore: '1'")}` },
    parts: [{ name: 'ConfigMap ns/under:k', text: computed("podPidsLimit: '2', podsPerCore: '2', registryBurst: '2'") }],
    layers: [{ name: 'ConfigMap ns/over:k', text: computed("eventBurst: '4'") }],
  }
  t.same(await merge(computed("podsPerCore: '3', registryBurst: '3', eventBurst: '3'"), bases), {
    ...HEADER,
    ...{ maxPods: 1, podPidsLimit: 2, podsPerCore: 3, registryBurst: 3, eventBurst: 4 },
  })
  t.same(await merge(computed("maxPods: 'null', podPidsLimit: 'node.cpus'"), overLocal()), { ...HEADER, podPidsLimit: 8 })
  const under = overLocal(localConfig('syncFrequency: 2m\nevictionHard: {memory.available: 5%}\nmaxPods: 9\n'))
  const removed = computed("syncFrequency: 'null', evictionHard: 'null', maxPods: 'null', eventBurst: '4'")
  t.same(await merge(removed, under), { ...HEADER, eventBurst: 4 }, 'null removes a field of each type')
  const plain: BaseTexts = { ...WHOLE, layers: [{ name: 'ConfigMap ns/over:k', text: 'maxPods: 7\n' }] }
  t.match(await merge(computed("maxPods: '1'"), plain), { maxPods: 7 }, 'what comes later wins')
})

t.test('a text that cannot be computed is refused, with what cannot, and where', async (t) => {
  const cases: Readonly<Record<string, RegExp>> = {
    'maxPods: "node.labels[\'pods\']"':
      /^kubelet: computed maxPods at line 3, column 12: field not found: pods, in node\.labels\['pods'\]$/,
    'maxPods: "node.gpus"': /field not found: gpus/,
    'maxPods: "node.capacity[\'pods\']"': /field not found: pods/,
    'maxPods: "nodes.cpus"': /there is no variable of this name/,
    'maxPods: "1 +"': /:1:3: .*in 1 \+$/,
    'maxPods: "node.cpus / 0"': /divi(de|sion) by zero/,
    'maxPods: "\'110\'"': /maxPods must be a 32 bit integer, and is not/,
    'maxPods: "1.5"': /maxPods must be a 32 bit integer/,
    'kubeReserved.memory: "node.memory"': /kubeReserved\.memory must be a string/,
    'imagePullCredentialsVerificationPolicy: "1"': /must be a string/,
    'maxPods: 110': /computed maxPods at line 3, column 12 is no expression: write a text/,
    'maxPods: ""': /is no expression/,
    'staticPodURLHeader.Authorization: "[\'s3cret\'"':
      /^kubelet: computed staticPodURLHeader\.Authorization at line 3, column \d+ may hold a secret, and logs show expressions: write it$/,
    'staticPodURLHeader: "{}"': /may hold a secret/,
    'maxpods: "1"': /is no field of a KubeletConfiguration/,
    'authentication.webhooks.enabled: "true"': /is no field/,
    'kubeReserved.memory.more: "1"': /is no field/,
    '"reservedMemory[0].numaNode": "1"': /is no field: write it as in/,
    'kubeReserved..memory: "1"': /is no field: write it as in/,
    [`maxPods: "${'1+'.repeat(LONGEST_EXPRESSION / 2)}1"`]: /has 2001 characters, and an expression at most 2000/,
    'kubeReserved: "{}", kubeReserved.memory: "\'1Gi\'"': /are the same field, or one in the other/,
    'kubeReserved.memory: "\'1Gi\'", \'kubeReserved["memory"]\': "\'2Gi\'"': /are the same field/,
  }
  for (const [computed, detail] of Object.entries(cases))
    t.match(await merge(`${COMPUTED}computed: {${computed}}\n`), { ok: false, fault: 'computed', detail }, computed.slice(0, 80))
  t.match(await merge(`${COMPUTED}maxPods: 5\ncomputed: {maxPods: '1'}\n`), {
    fault: 'computed',
    detail: /is written in the same text too/,
  })
  const gates = Array.from({ length: 65 }, (_, index) => `featureGates.G${index}: 'true'`)
  t.match(await merge(`${COMPUTED}computed: {${gates.join()}}\n`), { detail: /computed has 65 expressions, and a text at most 64$/ })
  t.notMatch(await merge(`${COMPUTED}computed: {${gates.slice(1).join()}}\n`), { ok: false })
  t.match(await merge(`${COMPUTED}maxPods: 5\n`), { detail: /computed must be a mapping/ })
  t.match(await merge(`${COMPUTED}computed: {maxPods: '1'}\ncomputed: {}\n`), { fault: 'computed', detail: /duplicate key/ })
  t.match(await merge(`${COMPUTED.replace('alpha1', 'beta1')}computed: {maxPods: '1'}\n`), {
    fault: 'computed',
    detail: /apiVersion must be/,
  })
  const under: BaseTexts = { ...WHOLE, layers: [{ name: 'ConfigMap ns/over:k', text: `${COMPUTED}computed: {maxPods: 'x'}\n` }] }
  t.match(await merge(localConfig('maxPods: 1\n'), under), { fault: 'computed', detail: /^ConfigMap ns\/over:k: computed maxPods/ })
})

t.test('neither the local config nor the overlay is computed', async (t) => {
  const text = `${COMPUTED}computed: {maxPods: '1'}\n`
  t.match(await merge('podPidsLimit: 7\n', overLocal(text)), { ok: false, fault: 'local', detail: /kind must be KubeletConfiguration/ })
  const files = new Map([['10.yaml', Buffer.from(text)]])
  t.match(await readOverlayOnce('/o', { kind: 'files', files }, IN_PLACE), { kind: 'faulty', detail: /apiVersion is not kubelet\.config/ })
})

t.test('without a Node, the expressions are read, and their fields left out', async (t) => {
  t.same(await merge(`${COMPUTED}podPidsLimit: 7\ncomputed: {maxPods: node.cpus}\n`, WHOLE, null), { ...HEADER, podPidsLimit: 7 })
  t.match(await merge(`${COMPUTED}computed: {maxPods: '1 +'}\n`, WHOLE, null), { ok: false, fault: 'computed' })
})

t.test('a quantity of 0 is not known yet: kubelet publishes one where it cannot read the machine', async (t) => {
  const node = { ...NODE, capacity: { cpu: '0', memory: '0', 'ephemeral-storage': '0Ki' } }
  for (const expression of ['node.cpus', 'node.memory', "node.capacity['ephemeral-storage'].asInteger()"])
    t.match(await merge(`${COMPUTED}computed: {maxPods: "${expression}"}\n`, WHOLE, node), { detail: /field not found: / }, expression)
})

t.test('a text that only mentions the kind stays as it is', async (t) => {
  const text = localConfig('# kind: ComputedKubeletConfiguration\nmaxPods: 5\n')
  t.ok(mayCompute(text))
  const result = await mergePart(WHOLE, { kubelet: text }, 'kubelet', IN_PLACE, evaluateFor(NODE))
  t.match(result, { ok: true, rendered: { data: { kubelet: text } } })
  t.notOk(mayCompute(localConfig('maxPods: 5\n')))
  t.ok(mayCompute('{"apiVersion": "kubelet-cfg-agent.io/v1alpha1", "kind": "ComputedKubeletConfiguration"}'))
})

t.test('the facts of a Node are what it shows, but for what its config makes', async (t) => {
  const node = {
    metadata: { name: 'n1', labels: { a: 'b', bad: 5 } },
    spec: { podCIDR: '10.0.0.0/24' },
    status: { capacity: { cpu: '4', pods: '110', 'nvidia.com/gpu': '4' }, nodeInfo: { architecture: 'arm64', kubeletVersion: 'v1.30.1' } },
  }
  t.same(readNodeShown(node), {
    name: 'n1',
    labels: { a: 'b' },
    capacity: { cpu: '4' },
    podCIDRs: ['10.0.0.0/24'],
    architecture: 'arm64',
  })
  t.same(readNodeShown({ metadata: {} }), { name: '', labels: {}, capacity: {}, podCIDRs: [] })
  t.equal(readNodeShown(undefined), undefined)
})
