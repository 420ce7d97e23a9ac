// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import type { CommandContext } from '../../../../src/command/agent/command.ts'
import { generateCommand } from '../../../../src/command/agent/commands/generate.ts'
import { decodeConfig, type KubeletConfig } from '../../../../src/kubelet/decode.ts'
import { LAST_IN_TABLES } from '../../../../src/kubelet/fields.ts'
import { formatDocument, parseDocument } from '../../../../src/kubelet/yaml.ts'
import type { ConfigzAnswer } from '../../../../src/ports/preflight.ts'
import { compareConfigs } from '../../../../src/preflight/change/compare.ts'
import { checkFields } from '../../../../src/preflight/check-fields.ts'
import { readDocument } from '../../../../src/preflight/document.ts'
import type { KubeletVersion } from '../../../../src/preflight/kubelet-version.ts'
import { isObject } from '../../../../src/values/is-object.ts'
import { IN_PLACE } from '../../../kubelet/in-place-yaml.ts'
import { anyConfig, v } from '../../../preflight/change/configs.ts'
import { withDefaults } from '../../../preflight/change/with-defaults.ts'
import { execute, fakeNode } from '../fake-node.ts'

const CONFIGZ = {
  kubeletconfig: {
    syncFrequency: '1m0s',
    clusterDNS: ['10.96.0.10'],
    hairpinMode: 'no',
    evictionHard: { 'memory.available': '100Mi' },
    maxPods: 110,
  },
}

/** The values that are written where they are missing. */
const EMPTY = { enforceNodeAllocatable: [], evictionHard: {} }

async function generate(options: Record<string, string>, context: Partial<CommandContext> = {}) {
  const node = fakeNode({ context })
  const code = await execute(generateCommand, node, options)
  return { code, out: node.out(), err: node.err() }
}

const answering = (answer: ConfigzAnswer): Partial<CommandContext> => ({ readConfigz: async () => answer })
const reading = (text: string): Partial<CommandContext> => ({ readInput: async () => ({ kind: 'read', bytes: Buffer.from(text) }) })

t.test('reads /configz', async (t) => {
  const result = await generate({}, answering({ kind: 'ok', object: CONFIGZ }))
  t.equal(result.code, 0)
  t.matchSnapshot(result.out)
  t.matchSnapshot(result.err, 'advice')
})

t.test('takes what jq made of the answer, and names what is something else', async (t) => {
  const frequencies = { fileCheckFrequency: '20s', httpCheckFrequency: '20s', nodeStatusUpdateFrequency: '10s' }
  const reported = { syncFrequency: '1m0s', ...frequencies, runtimeRequestTimeout: '2m0s', maxPods: 110 }
  const { out } = await generate({ 'from-file': '-' }, reading(JSON.stringify({ kubeletconfig: reported })))
  const head = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' }
  for (const answer of [reported, { ...reported, ...head }])
    t.match(await generate({ 'from-file': '-' }, reading(JSON.stringify(answer))), { code: 0, out })
  const cases: [text: string, err: RegExp][] = [
    ['{"maxPods": 5}', /not a response of \/configz: it has no kubeletconfig/],
    [JSON.stringify({ ...head, maxPods: 5 }), /not a response of \/configz: it has no kubeletconfig/],
    [JSON.stringify({ ...reported, ...head, kind: 'Other' }), /it has no kubeletconfig/],
    [JSON.stringify({ ...reported, ...head, syncFrequency: '0s' }), /it has no kubeletconfig/],
    ['{"podMaxPids": 5}', /not a response of \/configz: this is a custom kubelet configuration of AKS: write/],
    ['maxPods: 5\n', /x is not a response of \/configz: it is not JSON/],
    ['kubelet-arg: []\n', /not a response of \/configz: this is a config file of k3s or RKE2/],
    [
      'machine:\n  kubelet:\n    extraConfig: {}\n',
      /it holds a config, in machine\.kubelet\.extraConfig of a machine config of Talos, line 3/,
    ],
  ]
  for (const [text, err] of cases) t.match(await generate({ 'from-file': 'x' }, reading(text)), { code: 1, out: '', err }, text)
})

t.test('reads a file, whatever its kind and apiVersion', async (t) => {
  const whole = { kubeletconfig: { ...CONFIGZ.kubeletconfig, kind: 'Other', apiVersion: 'v9' } }
  const { out } = await generate({ 'from-file': '-' }, reading(JSON.stringify(whole)))
  t.match(out, /^apiVersion: kubelet\.config\.k8s\.io\/v1beta1\nkind: KubeletConfiguration\n/)
  for (const text of ['', '{', '[]', '{"kubeletconfig": 5}', JSON.stringify(CONFIGZ.kubeletconfig)])
    t.match(await generate({ 'from-file': 'x' }, reading(text)), { code: 1, out: '', err: /not a response of \/configz/ }, text)
  t.match(await generate({ 'from-file': 'x' }, reading('{"kubeletconfig": {"maxPods": "many"}}')), { code: 1, err: /maxPods must be/ })
  t.match(await generate({ 'from-file': 'x' }), { code: 1, err: /x does not exist/ })
  t.match(await generate({ 'from-file': 'x' }, { readInput: async () => ({ kind: 'too-large' }) }), { code: 1, err: /too long/ })
})

t.test('writes what /configz leaves out because it is empty, where a default would come back', async (t) => {
  const { out } = await generate({ 'from-file': '-' }, reading(JSON.stringify({ kubeletconfig: { maxPods: 5 } })))
  t.match(parseDocument(out), { ok: true, value: { maxPods: 5, enforceNodeAllocatable: [], evictionHard: {} } })
  const kept = { enforceNodeAllocatable: ['pods'], evictionHard: { 'memory.available': '5%' } }
  t.match(parseDocument((await generate({ 'from-file': '-' }, reading(JSON.stringify({ kubeletconfig: kept })))).out), { value: kept })
})

t.test('leaves out the certificate that kubelet makes itself, without which it would not start elsewhere', async (t) => {
  const directory = '/var/lib/kubelet/pki'
  const kubeletconfig = { maxPods: 5, tlsCertFile: `${directory}/kubelet.crt`, tlsPrivateKeyFile: `${directory}/kubelet.key` }
  const { out, err } = await generate({}, answering({ kind: 'ok', object: { kubeletconfig } }))
  t.notMatch(out, /tls/)
  t.notMatch(err, /specific to this node/)
  const own = { ...kubeletconfig, tlsCertFile: '/etc/k.crt' }
  t.match((await generate({}, answering({ kind: 'ok', object: { kubeletconfig: own } }))).out, /tlsCertFile: \/etc\/k.crt/)
})

t.test('leaves out mere defaults, and says what a later kubelet reads in another way', async (t) => {
  const kubeletconfig = { ...CONFIGZ.kubeletconfig, memoryThrottlingFactor: 0.9, enforceNodeAllocatable: ['pods'] }
  const context = { ...answering({ kind: 'ok', object: { kubeletconfig } }), runningVersion: async () => v(36) }
  const { out, err } = await generate({}, context)
  t.same(Object.keys(JSON.parse(JSON.stringify(Object(parseDocument(out)).value))), [
    'apiVersion',
    'kind',
    'clusterDNS',
    'hairpinMode',
    'evictionHard',
  ])
  t.notMatch(err, /changes its meaning/)
  const all = await generate({ all: 'true' }, context)
  t.match(all.out, /^memoryThrottlingFactor: 0\.9$/m)
  const last = `to kubelet 1\\.${LAST_IN_TABLES.minor}: .*: remove it if no pod should be throttled`
  t.match(all.err, new RegExp(`^memoryThrottlingFactor changes its meaning: to kubelet 1\\.36: .*; ${last}$`, 'm'))
  const file = { ...reading(JSON.stringify({ kubeletconfig })), runningVersion: async () => v(36) }
  const unknown = await generate({ 'from-file': '-' }, file)
  t.match(unknown.out, /^maxPods: 110$/m, 'it may be of another node')
  t.match(unknown.err, /^Defaults are in it too, since kubelet's version is not known: --kubelet-version names it\.$/m)
  t.equal((await generate({ 'from-file': '-', 'kubelet-version': '1.36' }, file)).out, out)
  t.match((await generate({}, { ...context, runningVersion: async () => v(19) })).err, /^Defaults are in it too: the tables cover/m)
})

t.test('keeps a default that a file below the drop-in of the agent sets to something else', async (t) => {
  const order = {
    base: { path: '/etc/kubelet.json', config: { maxPods: 250, failSwapOn: false } },
    below: [{ path: '/etc/d/40.conf', config: { evictionHard: { 'memory.available': '500Mi' } } }],
    above: [{ path: '/etc/d/99.conf', config: { maxPods: 110 } }],
  }
  const mergeHere: CommandContext['mergeHere'] = async (config) => ({ config, order })
  const evictionHard = { 'memory.available': '100Mi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%', 'imagefs.available': '15%' }
  const kubeletconfig = { maxPods: 110, failSwapOn: true, evictionHard: { ...evictionHard, 'imagefs.inodesFree': '5%' }, podPidsLimit: -1 }
  const context = { ...answering({ kind: 'ok', object: { kubeletconfig } }), runningVersion: async () => v(36), mergeHere }
  const parsed = parseDocument((await generate({}, context)).out)
  const { podPidsLimit: _, ...kept } = kubeletconfig
  t.match(parsed, { ok: true, value: kept })
  t.notOk(parsed.ok && Object.hasOwn(Object(parsed.value), 'podPidsLimit'))
  const file = await generate({ 'from-file': '-', 'kubelet-version': '1.36' }, reading(JSON.stringify({ kubeletconfig })))
  t.match(file.err, /^Defaults are left out\. .*activation: drop-in.*--all/m)
  t.notMatch((await generate({}, context)).err, /activation: drop-in/)
})

t.test('keeps a default where kubeadm would write something else', async (t) => {
  const kubeletconfig = { cgroupDriver: 'cgroupfs', resolvConf: '/etc/resolv.conf', maxPods: 110 }
  const { out } = await generate({}, { ...answering({ kind: 'ok', object: { kubeletconfig } }), runningVersion: async () => v(36) })
  t.match(out, /^cgroupDriver: cgroupfs$/m)
  t.match(out, /^resolvConf: \/etc\/resolv\.conf$/m)
  t.notMatch(out, /maxPods/)
})

t.test('reports the right that kubelet asks for', async (t) => {
  const forbidden = { kind: 'refused', by: 'kubelet', status: 403, detail: '403: Forbidden' } as const
  const { code, err } = await generate({}, answering(forbidden))
  t.equal(code, 1)
  for (const words of ['nodes/configz', 'deploy/rbac/node-configz.yaml', '--kubeconfig', '--offline']) t.ok(err.includes(words), words)
  t.match(await generate({}, answering({ kind: 'unproven', detail: 'another certificate' })), {
    code: 1,
    err: /another certificate; --offline/,
  })
})

t.test('reports the required right if the API server refuses', async (t) => {
  const forbidden = { kind: 'refused', by: 'api-server', status: 403, detail: '403: nodes/proxy' } as const
  const { code, err } = await generate({}, answering(forbidden))
  t.equal(code, 1)
  for (const words of ['nodes/proxy', '--kubeconfig', 'kubectl get --raw /api/v1/nodes/node-1/proxy/configz', '--offline'])
    t.ok(err.includes(words), words)
  t.match(await generate({}, answering({ ...forbidden, status: 503 })), { code: 1, err: /--offline/ })
  t.match(await generate({}), { code: 1, err: /no connection; --offline/ })
})

t.test('prints the file on disk unchanged', async (t) => {
  const text =
    '# mine\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nproviderID: aws:///i-1\nstaticPodURLHeader: {A: [b]}'
  const files: CommandContext['files'] = { read: () => Buffer.from(text) }
  const result = await generate({ offline: 'true' }, { files })
  t.match(result, { code: 0, out: `${text}\n` })
  t.match(result.err, /check the fields that may be specific to this node: providerID/)
  t.match(result.err, /It contains staticPodURLHeader/)
  t.match(await generate({ offline: 'true' }, { files: { read: () => Buffer.from('a: [') } }), { code: 1, out: '' })
  t.match(await generate({ offline: 'true' }), { code: 1, err: /does not exist/ })
  t.match(await generate({ offline: 'true', 'from-file': 'x' }, { files }), { code: 2, err: /give one of them/ })
})

t.test('names the fields of one machine, and no value that fits every machine', async (t) => {
  const said = async (kubeletconfig: object) => (await generate({ 'from-file': '-' }, reading(JSON.stringify({ kubeletconfig })))).err
  const everywhere = { address: '0.0.0.0', resolvConf: '/etc/resolv.conf', systemReserved: {}, registerWithTaints: [] }
  t.notMatch(await said(everywhere), /specific to this node/)
  const here = {
    resolvConf: '/run/systemd/resolve/resolv.conf',
    containerRuntimeEndpoint: 'unix:///run/crio/crio.sock',
    reservedMemory: [{ numaNode: 0, limits: { memory: '1Gi' } }],
    systemReserved: { memory: '1Gi' },
    kubeReserved: { cpu: '1' },
    registerWithTaints: [{ key: 'a', effect: 'NoSchedule' }],
  }
  for (const name of Object.keys(here)) t.match(await said(here), new RegExp(`specific to this node: .*\\b${name}\\b`), name)
})

t.test('the name of the ConfigMap is one that the Role of the nodes has', async (t) => {
  const { err } = await generate({ 'from-file': '-' }, reading(JSON.stringify({ kubeletconfig: { maxPods: 5 } })))
  const [, name] = / create configmap (\S+) --from-file=kubelet=kubelet.yaml\n/.exec(err) ?? []
  const role = readFileSync(join(import.meta.dirname, '../../../../deploy/rbac/node-configmaps.yaml'), 'utf8')
  t.match(role, `resourceNames: [${name}, `)
})

t.test("the file on disk is printed with kubelet's drop-ins merged", async (t) => {
  const files: CommandContext['files'] = {
    read: () => Buffer.from('# mine\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 5\n'),
  }
  const mergeHere: CommandContext['mergeHere'] = async (config) => ({ config: { ...config, podsPerCore: 3 }, order: undefined })
  const { out } = await generate({ offline: 'true' }, { files, mergeHere })
  t.equal(out, 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 5\npodsPerCore: 3\n')
})

t.test('kubelet reads the generated config as the response', async (t) => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom('yes', 'NO', '0777', '1:30', '1e3', '.5', '~', 'null', '0x1', '- a', '# b', ' c', 'd: e', '2001-01-01', '=', '<<'),
  )
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      word,
      fc.boolean(),
      fc.integer(),
      fc.constant(null),
      fc.array(tie('any')),
      fc.dictionary(word, tie('any')),
    ),
  })).any
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(
        word.filter((name) => !decodes(name)),
        value,
      ),
      async (fields) => {
        const { code, out } = await generate({}, answering({ kind: 'ok', object: { kubeletconfig: fields } }))
        t.equal(code, 0)
        const decoded = decodeConfig(out, parseDocument)
        t.ok(decoded.ok)
        if (decoded.ok)
          t.strictSame(
            JSON.parse(JSON.stringify(decoded.config)),
            JSON.parse(JSON.stringify({ ...EMPTY, ...fields, apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' })),
          )
      },
    ),
    { numRuns: 200 },
  )
})

/** Names that decodeConfig checks. */
function decodes(name: string): boolean {
  return name === 'kind' || name === 'apiVersion'
}

t.test('long texts stay on one line', async (t) => {
  t.equal(formatDocument({ a: 'word '.repeat(50).trim() }).split('\n').length, 2)
})

t.test('what is generated means what runs, and kubelet accepts what it runs with', async () => {
  await fc.assert(
    fc.asyncProperty(anyConfig, fc.integer({ min: 20, max: 37 }).map(v), fc.boolean(), async (config, version, all) => {
      const runs = withDefaults(config, version)
      const context = { ...answering({ kind: 'ok', object: { kubeletconfig: withoutEmpty(runs) } }), runningVersion: async () => version }
      const { code, out } = await generate({ all: String(all) }, context)
      if (code !== 0) return refusals(runs, version).then((before) => before.size > 0)
      const decoded = decodeConfig(out, parseDocument)
      if (!decoded.ok || compareConfigs(runs, decoded.config, version).length > 0) return false
      const [before, after] = [await refusals(runs, version), await refusals(decoded.config, version)]
      return [...after].every((refusal) => before.has(refusal))
    }),
    { numRuns: 300 },
  )
})

/** encoding/json with `omitempty`, as kubelet writes the fields of its config that hold others. */
function withoutEmpty(config: KubeletConfig): KubeletConfig {
  const isEmpty = (value: unknown) => (Array.isArray(value) || isObject(value)) && Object.keys(value).length === 0
  return Object.fromEntries(Object.entries(config).filter(([, value]) => !isEmpty(value)))
}

async function refusals(config: KubeletConfig, version: KubeletVersion): Promise<Set<string>> {
  const head = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' }
  const read = await readDocument(JSON.stringify({ ...config, ...head }), IN_PLACE)
  if (!read.ok) return new Set([read.detail])
  const findings = checkFields(read.document, { version, unknownKeys: 'warn' })
  return new Set(findings.flatMap(({ severity, rule, problem }) => (severity === 'refuse' ? [`${rule} ${problem}`] : [])))
}
