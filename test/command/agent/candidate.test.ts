// SPDX-License-Identifier: Apache-2.0
import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import t from 'tap'
import { parse } from 'yaml'
import { candidateKind, loadCandidate, parseCandidate } from '../../../src/command/agent/candidate.ts'
import type { InputReading } from '../../../src/command/read-input.ts'
import type { BaseView, Desired } from '../../../src/decision/desired.ts'
import { parseLocated } from '../../../src/kubelet/yaml.ts'
import { type OverlayView, readOverlay } from '../../../src/overlay/read-overlay.ts'
import type { LocalConfigView } from '../../../src/ports/assignment-source.ts'
import type { KubeAnswer, KubeRequest } from '../../../src/ports/kube-api.ts'
import type { UnitState } from '../../../src/subject/unit-state.ts'
import { IN_PLACE } from '../../kubelet/in-place-yaml.ts'
import { found, localConfig } from '../../overlay/local-configs.ts'

const NO_NODE: UnitState = { kind: 'unknown', detail: 'there is no systemd' }
const NODE: UnitState = {
  kind: 'known',
  activity: 'running',
  summary: 'active/running/success',
  invocationId: 'one',
  nRestarts: 0,
  startedAtUs: 1,
  kubeletIdentity: 'kubelet',
  process: { kind: 'none' },
  command: undefined,
  localConfigPath: undefined,
  runtimeEndpoint: undefined,
  healthzFlags: {},
  wiring: { kind: 'broken', reason: 'no-config-argument', detail: '' },
}
const LOCAL = found('maxPods: 110\n')
const NOT_ASSIGNED: Desired = { kind: 'local' }

function load(
  text: string,
  reading: InputReading | Buffer,
  answer?: KubeAnswer,
  overlay: OverlayView = { kind: 'none' },
  overlaid = true,
  local: LocalConfigView = LOCAL,
  instance: OverlayView = { kind: 'none' },
  desired?: Desired,
) {
  const calls: string[] = []
  const node = {
    readOverlay: async () => overlay,
    readInstanceConfig: async () => instance,
    readLocalConfig: async () => local,
    yaml: IN_PLACE,
    evaluate: async () => ({ ok: true, values: null }) as const,
    unit: {
      observe: async () => (desired === undefined ? NO_NODE : NODE),
      stillRuns: () => false,
      restart: async () => ({ ok: true }) as const,
    },
    fetchDesired: async () => desired ?? assert.fail('not on a node'),
    readInput: async (path: string | undefined, limit: number): Promise<InputReading> => {
      calls.push(`${path} ${limit}`)
      return Buffer.isBuffer(reading) ? { kind: 'read', bytes: reading } : reading
    },
    api: {
      request: async ({ path }: KubeRequest) => {
        calls.push(path)
        return answer ?? ({ kind: 'unreachable', detail: 'no connection' } as const)
      },
    },
  }
  const loaded = loadCandidate(text, node, overlaid)
  return loaded.then((candidate) => ({ loaded: candidate, calls }))
}

t.test('parses names of candidates', async (t) => {
  const map = (namespace: string, name: string, key: string) => ({ kind: 'config-map', namespace, name, key })
  t.same(parseCandidate('-'), { kind: 'stdin' })
  for (const path of ['kubelet.yaml', '/etc/kubelet.yaml', './configmap/x', 'conf/x', 'configs/x.yaml', 'a:b'])
    t.same(parseCandidate(path), { kind: 'file', path })
  t.same(parseCandidate('configmap/x'), map('kube-system', 'x', 'kubelet'))
  t.same(parseCandidate('cm/x'), map('kube-system', 'x', 'kubelet'))
  t.same(parseCandidate('configmaps/ns/x.y:key.yaml'), map('ns', 'x.y', 'key.yaml'))
})

t.test('rejects invalid names', async (t) => {
  const cases = {
    '': 'is empty',
    'confgmap/x': 'did you mean configmap/x? For a file of that name, write ./confgmap/x',
    'ConfigMap/x': 'did you mean configmap/x?',
    'configmap/': 'is not a valid name of a ConfigMap',
    'configmap/../x': 'is not a valid name of a namespace',
    'configmap/a/b/c': 'is not a valid name of a ConfigMap',
    'configmap/x:..': 'is not a valid key',
    'configmap/x:a:b': 'write configmap/NAME',
    'configmap/x?y': 'is not a valid name',
  }
  for (const [text, problem] of Object.entries(cases))
    t.match(candidateKind.parse(text), { ok: false, detail: new RegExp(problem.replaceAll('?', '\\?')) }, text)
  t.notMatch(candidateKind.parse('configmap/\u001b[2J'), { detail: /\p{Cc}/u })
})

t.test('a request to the API server never leaves the path of ConfigMaps', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: fc.constantFrom('.', '/', '%', '?', '#', 'a', ':', '\n', '\\') }), async (text) => {
      const { calls } = await load(`configmap/${text}`, Buffer.from(''))
      for (const path of calls) t.match(path, /^\/api\/v1\/namespaces\/[a-z.-]+\/configmaps\/[a-z.-]+$/)
    }),
  )
})

t.test('loads a file and standard input', async (t) => {
  const file = await load('x.yaml', Buffer.from('text'))
  t.match(file, {
    loaded: { kind: 'loaded', config: { name: 'x.yaml', files: { kubelet: 'text' }, key: 'kubelet' }, shown: { text: 'text' } },
    calls: ['x.yaml 1048576'],
  })
  const stdin = await load('-', Buffer.from(''))
  t.match(stdin, { loaded: { kind: 'loaded', config: { name: '<stdin>' }, shown: { text: '' } }, calls: ['undefined 1048576'] })
})

t.test('refuses what a ConfigMap cannot hold', async (t) => {
  t.match((await load('x', { kind: 'too-large' })).loaded, {
    kind: 'refused',
    name: 'x',
    report: { outcome: 'refused', findings: [{ rule: 'source/too-large' }] },
  })
  const encoded = (bytes: readonly number[]) => load('x', Buffer.from(bytes)).then(({ loaded }) => loaded)
  t.match(await encoded([0x61, 0x0a, 0x62, 0xff]), {
    kind: 'refused',
    report: { findings: [{ rule: 'source/encoding', position: { line: 2, column: 2 } }] },
  })
  t.match(await encoded([0x61, 0xc3]), { kind: 'refused', report: { findings: [{ position: { line: 1, column: 2 } }] } }, 'cut short')
  t.match(await encoded([0xef, 0xbf, 0xbd]), { kind: 'loaded' }, 'U+FFFD itself is fine')
  t.match(
    await encoded([0x00, 0x01]),
    { kind: 'loaded', shown: { text: '\u0000\u0001' } },
    'the parser refuses binary data that is valid UTF-8',
  )
})

t.test('reports why a file cannot be loaded', async (t) => {
  const detail = async (code: string) => (await load('x', { kind: 'unreadable', code })).loaded
  t.same(await detail('ENOENT'), { kind: 'failed', detail: 'x does not exist' })
  t.match(await detail('EISDIR'), { detail: /is a directory/ })
  t.match(await detail('EACCES'), { detail: /permission denied/ })
  t.match(await detail('EIO'), { detail: /EIO/ })
})

t.test('loads a ConfigMap', async (t) => {
  const data = { kubelet: 'text', other: 'more' }
  const object = { kind: 'ConfigMap', metadata: { name: 'x', namespace: 'kube-system', uid: 'u', resourceVersion: '1' }, data }
  const loadMap = async (text: string, answer: KubeAnswer) => load(text, Buffer.from(''), answer)
  t.match(await loadMap('configmap/x', { kind: 'ok', object }), {
    loaded: { kind: 'loaded', config: { name: 'configmap/kube-system/x:kubelet', files: data, key: 'kubelet' }, shown: { text: 'text' } },
    calls: ['/api/v1/namespaces/kube-system/configmaps/x'],
  })
  t.match(
    (await loadMap('configmap/x:gone', { kind: 'ok', object })).loaded,
    { kind: 'loaded', shown: { text: '' }, config: { key: 'gone' } },
    'preflight reports the missing key',
  )
  t.match((await loadMap('configmap/x', { kind: 'ok', object: { data: 5 } })).loaded, { kind: 'failed' })
  const refused = (status: number): KubeAnswer => ({
    kind: 'refused',
    status,
    reason: '',
    detail: `${status}: no`,
    retryAfterMs: undefined,
  })
  t.match((await loadMap('configmap/x', refused(404))).loaded, {
    kind: 'failed',
    detail: 'configmap/kube-system/x:kubelet: it does not exist',
  })
  t.match((await loadMap('configmap/x', refused(403))).loaded, { kind: 'failed', detail: /403: no/ })
  t.match((await loadMap('configmap/x', { kind: 'unreachable', detail: 'no connection' })).loaded, {
    kind: 'failed',
    detail: /no connection/,
  })
})

t.test('applies the overlay of this node to a ConfigMap, if requested', async (t) => {
  const data = { kubelet: 'maxPods: 1\n' }
  const metadata = { namespace: 'kube-system', name: 'x', uid: 'u', resourceVersion: '7' }
  const answer: KubeAnswer = { kind: 'ok', object: { kind: 'ConfigMap', metadata, data } }
  const overlay = await readOverlay(new Map([['a.yaml', Buffer.from('maxPods: 2\n')]]), IN_PLACE, parseLocated)
  const none = Buffer.from('')
  const { loaded } = await load('configmap/x', none, answer, overlay)
  t.match(loaded, { kind: 'loaded', config: { name: /^configmap\/kube-system\/x:kubelet with overlay [0-9a-f]{16}$/ } })
  t.match(loaded, { config: { files: { kubelet: '{\n  "maxPods": 2\n}\n' } }, shown: { text: '{\n  "maxPods": 2\n}\n' } })
  t.match((await load('configmap/x', none, answer, overlay, false)).loaded, {
    config: { name: 'configmap/kube-system/x:kubelet', files: data },
  })
  const faulty: OverlayView = { kind: 'faulty', detail: '/o/a.yaml: it is empty' }
  t.match((await load('configmap/x', none, answer, faulty)).loaded, { kind: 'failed', detail: /overlay cannot be used: \/o\/a\.yaml/ })
  t.match(
    (await load('file.yaml', Buffer.from('maxPods: 1\n'), undefined, overlay)).loaded,
    { config: { files: data } },
    'a file is used as it is',
  )
})

t.test('kubeadm’s patch for this node is merged last over kubeadm’s ConfigMap, and over no other', async (t) => {
  const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
  const read = (name: string, text: string) => readOverlay(new Map([[name, Buffer.from(text)]]), IN_PLACE, parseLocated)
  const overlay = await read('a.yaml', 'maxPods: 2\ncontainerRuntimeEndpoint: unix:///overlay.sock\n')
  const instance = await read('instance-config.yaml', 'containerRuntimeEndpoint: "unix:///var/run/crio/crio.sock"\n')
  const loadMap = async (name: string, view = instance) => {
    const metadata = { namespace: 'kube-system', name, uid: 'u', resourceVersion: '7' }
    const answer: KubeAnswer = { kind: 'ok', object: { kind: 'ConfigMap', metadata, data: { kubelet: `${head}maxPods: 1\n` } } }
    return (await load(`configmap/${name}`, Buffer.from(''), answer, overlay, true, LOCAL, view)).loaded
  }
  const resultOf = (loaded: Awaited<ReturnType<typeof loadMap>>) => loaded.kind === 'loaded' && JSON.parse(loaded.shown.text)
  const kubeadms = await loadMap('kubelet-config')
  t.match(resultOf(kubeadms), { maxPods: 2, containerRuntimeEndpoint: 'unix:///var/run/crio/crio.sock' })
  const layers = kubeadms.kind === 'loaded' ? kubeadms.layers : []
  t.same(
    layers?.map(({ name }) => name),
    ['ConfigMap kube-system/kubelet-config:kubelet', 'overlay a.yaml', '/var/lib/kubelet/instance-config.yaml'],
  )
  t.match(resultOf(await loadMap('other')), { containerRuntimeEndpoint: 'unix:///overlay.sock' })
  const resolved = await loadMap('kubelet-config', await read('systemd-resolved', ''))
  t.match(resultOf(resolved), { maxPods: 2, resolvConf: '/run/systemd/resolve/resolv.conf' })
  const faulty: OverlayView = { kind: 'faulty', detail: '/var/lib/kubelet/instance-config.yaml: it is empty' }
  t.match(await loadMap('kubelet-config', faulty), { kind: 'failed', detail: /the instance config cannot be used: .*it is empty/ })
})

t.test('a part is merged over the local config, from the cluster and from a manifest, with the overlay or without', async (t) => {
  const annotations = { 'kubelet-cfg-agent.io/base': 'local' }
  const metadata = { name: 'x', namespace: 'kube-system', uid: 'u', resourceVersion: '7', annotations }
  const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { kubelet: 'podPidsLimit: 9\n' } }
  const answer: KubeAnswer = { kind: 'ok', object: configMap }
  const none = Buffer.alloc(0)
  const overlay = await readOverlay(new Map([['a.yaml', Buffer.from('maxPods: 2\n')]]), IN_PLACE, parseLocated)
  const result = async (...args: Parameters<typeof load>) => {
    const { loaded } = await load(...args)
    if (loaded.kind !== 'loaded') throw new Error('not loaded')
    const { name, files, key } = loaded.config
    return [name.replace(/[0-9a-f]{16}$/, 'HASH'), JSON.parse(files[key] ?? ''), loaded.shown.text === files[key]]
  }
  const asked = 'configmap/kube-system/x:kubelet over local'
  t.match(await result('configmap/x', none, answer), [asked, { maxPods: 110, podPidsLimit: 9 }, true])
  t.match(await result('configmap/x', none, answer, overlay), [`${asked} with overlay HASH`, { maxPods: 2, podPidsLimit: 9 }, true])
  t.match(await result('configmap/x', none, answer, overlay, false), [asked, { maxPods: 110, podPidsLimit: 9 }, true])
  const manifest = Buffer.from(JSON.stringify(configMap))
  const onNode = (local?: LocalConfigView) => load('part.json', manifest, answer, undefined, true, local, undefined, NOT_ASSIGNED)
  t.match((await onNode()).loaded, {
    kind: 'loaded',
    config: { name: 'part.json over local', files: { kubelet: /"maxPods": 110/ }, isPart: false },
  })
  const noKubelet: LocalConfigView = { kind: 'unknown', detail: 'there is no unit kubelet.service' }
  for (const { loaded } of [await load('configmap/x', none, answer, undefined, true, noKubelet), await onNode(noKubelet)])
    t.match(loaded, { kind: 'failed', detail: /: the local config is not known: there is no unit kubelet.service/ })
  const unclear = { ...configMap, metadata: { ...metadata, annotations: { 'kubelet-cfg-agent.io/base': 'lokal' } } }
  t.match((await load('configmap/x', none, { kind: 'ok', object: unclear })).loaded, { kind: 'failed', detail: /"lokal" is neither local/ })
})

t.test('where there is no node, a part over the local config is taken alone, since each node checks it again', async (t) => {
  const annotations = { 'kubelet-cfg-agent.io/base': 'local' }
  const part = (lines: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', annotations }, data: { kubelet: lines } })
  const taken = async (lines: string) => {
    const { loaded } = await load('part.json', Buffer.from(JSON.stringify(part(lines))))
    return loaded.kind === 'loaded' ? { ...loaded.config, layers: loaded.layers?.map(({ name }) => name) } : loaded
  }
  t.match(await taken('podPidsLimit: 9\nfeatureGates: {CPUManager: null}\n'), {
    name: 'part.json over local',
    files: {
      kubelet: /^\{[^"]*"apiVersion": "kubelet.config.k8s.io\/v1beta1",[^"]*"kind": "KubeletConfiguration",[^"]*"podPidsLimit": 9,/,
    },
    isPart: true,
    layers: ['the local config of each node, not known here', 'part.json'],
  })
  t.match(await taken('podPidsLimit: [\n'), { kind: 'failed', detail: /^part.json: / })
})

t.test('a part over a ConfigMap of the cluster, which is read by its name', async (t) => {
  const metadata = { name: 'x', namespace: 'ns', uid: 'u', resourceVersion: '7' }
  const base = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { kubelet: localConfig('maxPods: 7\n') } }
  const annotations = { 'kubelet-cfg-agent.io/base': 'ns/x' }
  const part = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'p', annotations }, data: { kubelet: 'podPidsLimit: 9\n' } }
  const { loaded, calls } = await load('part.json', Buffer.from(JSON.stringify(part)), { kind: 'ok', object: base })
  t.match(loaded, {
    kind: 'loaded',
    config: { name: 'part.json over ns/x', files: { kubelet: /"maxPods": 7,\n {2}"podPidsLimit": 9/ }, isPart: false },
  })
  t.same(calls.slice(1), ['/api/v1/namespaces/ns/configmaps/x'])
  const gone: KubeAnswer = { kind: 'refused', status: 404, reason: 'NotFound', detail: '', retryAfterMs: undefined }
  t.match((await load('part.json', Buffer.from(JSON.stringify(part)), gone)).loaded, {
    kind: 'failed',
    detail: 'part.json: ConfigMap ns/x:kubelet cannot be read: it does not exist',
  })
})

t.test('the layers that match the node are laid over a ConfigMap, as over what the selector chooses', async (t) => {
  const config = (data: object, annotations = {}) =>
    ({ kind: 'ok', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, annotations }, data } }) as const
  const metadata = { name: 'x', namespace: 'kube-system', uid: 'u', resourceVersion: '7' }
  const layer: BaseView = {
    ref: { namespace: 'kube-system', name: 'gpu', kubeletConfigKey: 'kubelet' },
    object: { kind: 'found', uid: 'g', resourceVersion: '1', data: { kubelet: 'podPidsLimit: 9\nmaxPods: null\n' } },
  }
  const chosen: Desired = {
    kind: 'config-map',
    ref: { namespace: 'kube-system', name: 'workers', kubeletConfigKey: 'kubelet' },
    object: { kind: 'found', uid: 'w', resourceVersion: '1', data: { kubelet: localConfig('') }, layers: [layer] },
  }
  const none: OverlayView = { kind: 'none' }
  const ask = async (name: string, answer: KubeAnswer, overlaid = true) => {
    const { loaded } = await load(`configmap/${name}`, Buffer.from(''), answer, none, overlaid, LOCAL, none, chosen)
    if (loaded.kind !== 'loaded') return loaded
    const { maxPods, podPidsLimit } = parse(loaded.shown.text)
    return [loaded.config.name, { maxPods, podPidsLimit }, (loaded.layers ?? []).map((each) => each.name)]
  }
  const whole = config({ kubelet: localConfig('maxPods: 7\n') })
  const asked = 'configmap/kube-system/x:kubelet'
  const names = ['ConfigMap kube-system/x:kubelet', 'ConfigMap kube-system/gpu:kubelet']
  t.same(await ask('x', whole), [`${asked} under kube-system/gpu`, { maxPods: undefined, podPidsLimit: 9 }, names])
  t.same(await ask('x', whole, false), [asked, { maxPods: 7, podPidsLimit: undefined }, []], 'unless it is to be as it is in the cluster')
  const part = config({ kubelet: 'podsPerCore: 3' }, { 'kubelet-cfg-agent.io/base': 'local' })
  t.match(await ask('x', part), [`${asked} over local under kube-system/gpu`, { maxPods: undefined, podPidsLimit: 9 }])
  const gpu = { ...whole, object: { ...whole.object, metadata: { ...metadata, name: 'gpu' } } }
  t.match(await ask('gpu', gpu), ['configmap/kube-system/gpu:kubelet', { maxPods: 7 }, []], 'a layer is not laid over itself')
  const staged = config({ kubelet: localConfig('') }, { 'kubelet-cfg-agent.io/rollout': 'plan' })
  t.match(await ask('x', staged), { kind: 'failed', detail: 'takes no layers' })
})
