// SPDX-License-Identifier: Apache-2.0
/** Which state files kubelet starts with: files that real kubelets wrote, against configs. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { NOTHING_KNOWN, type Surroundings } from '../../src/preflight/node/surroundings.ts'
import { findUnfit } from '../../src/preflight/unfit-states.ts'
import { IN_PLACE } from '../kubelet/in-place-yaml.ts'

type Files = Readonly<Record<string, string>>

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
const STATIC = 'cpuManagerPolicy: static\nreservedSystemCPUs: "0"\n'
const MEMORY = [
  'memoryManagerPolicy: Static',
  'evictionHard: {}',
  'kubeReserved: {memory: 1Gi}',
  'reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]',
  '',
].join('\n')
const CPUS = new Set([0, 1, 2, 3])
const MACHINE = { onlineCpus: CPUS, presentCpus: CPUS, nodeCpus: CPUS }

interface Case {
  readonly config?: string | undefined
  readonly dropIn?: string
  readonly cpu?: string | undefined
  readonly memory?: string | undefined
  readonly machine?: Partial<Surroundings>
  readonly words?: readonly string[]
  readonly root?: string
}

async function unfit({ config = '', dropIn, cpu, memory, machine = MACHINE, words = [], root = '/var/lib/kubelet' }: Case) {
  const files: Files = { '/etc/config.yaml': HEAD + config, ...(dropIn !== undefined && { '/etc/d/10.conf': HEAD + dropIn }) }
  const states = { [`${root}/cpu_manager_state`]: cpu ?? null, [`${root}/memory_manager_state`]: memory ?? null }
  const found = await findUnfit(['--config=/etc/config.yaml', ...(dropIn === undefined ? [] : ['--config-dir=/etc/d']), ...words], {
    files: {
      read: (path) => (files[path] === undefined ? undefined : Buffer.from(files[path])),
      list: () => (dropIn === undefined ? undefined : ['10.conf']),
      stat: () => undefined,
    },
    yaml: IN_PLACE,
    lookAround: async ({ texts, topology }) => {
      t.ok(topology)
      return { ...NOTHING_KNOWN, ...machine, texts: new Map(Object.entries(states).filter(([path]) => texts.includes(path))) }
    },
  })
  return found.map(({ file }) => file.replace(/.*\/(\w+)_manager_state/, '$1'))
}

const GATE = 'featureGates: {PodLevelResourceManagers: true}\n'

function filesOf(version: string): Files {
  return JSON.parse(readFileSync(new URL(`../kubelet/manager-states/${version}.json`, import.meta.url), 'utf8'))
}

/** FNV-1a of 32 bits. */
function hashOf(text: string): number {
  return [...Buffer.from(text)].reduce((hash, byte) => Number((BigInt(hash ^ byte) * 0x01000193n) & 0xffffffffn), 0x811c9dc5)
}

for (const version of ['1.24', '1.34', '1.37']) {
  const files = filesOf(version)
  t.test(`kubelet ${version}`, async (t) => {
    const rows: readonly (readonly [what: string, given: Case, expected: readonly string[]])[] = [
      ['none', { cpu: files['cpu-none'], memory: files['memory-none'] }, []],
      ['none -> static', { config: STATIC, cpu: files['cpu-none'] }, ['cpu']],
      ['static -> none', { cpu: files['cpu-static-idle'] }, ['cpu']],
      ['static -> none, with containers', { cpu: files['cpu-static-used'] }, ['cpu']],
      ['static, not yet begun', { config: STATIC, cpu: files['cpu-static-new'] }, []],
      ['static', { config: STATIC, cpu: files['cpu-static-idle'] }, []],
      ['static, with containers', { config: STATIC, cpu: files['cpu-static-used'] }, []],
      ['a container has CPU 1', { config: STATIC.replace('"0"', '0-1'), cpu: files['cpu-static-used'] }, ['cpu']],
      ['more is reserved', { config: STATIC.replace('"0"', '0-1'), cpu: files['cpu-static-idle'] }, []],
      [
        'reserved CPUs are shared, and must not be',
        { config: `${STATIC}cpuManagerPolicyOptions: {strict-cpu-reservation: "true"}\n`, cpu: files['cpu-static-idle'] },
        ['cpu'],
      ],
      ['None -> Static', { config: MEMORY, memory: files['memory-none'] }, ['memory']],
      ['Static -> None', { memory: files['memory-static-used'] }, ['memory']],
      ['Static', { config: MEMORY, memory: files['memory-static-used'] }, []],
      ['another reservation', { config: MEMORY.replaceAll('1Gi', '2Gi'), memory: files['memory-static-idle'] }, ['memory']],
      ['both', { cpu: files['cpu-static-idle'], memory: files['memory-static-idle'] }, ['cpu', 'memory']],
    ]
    for (const [what, given, expected] of rows) t.same(await unfit(given), expected, what)
  })
}

const { 'cpu-static-idle': IDLE = '', 'cpu-none': NONE = '' } = filesOf('1.34')

t.test('CPUs that came or went', async (t) => {
  const seen = (cpus: readonly number[], nodeCpus: readonly number[] | undefined = cpus) => ({
    onlineCpus: new Set(cpus),
    presentCpus: new Set([0, 1, 2, 3, 4]),
    nodeCpus: nodeCpus && new Set(nodeCpus),
  })
  t.same(await unfit({ config: STATIC, cpu: IDLE, machine: seen([0, 1, 2]) }), ['cpu'])
  t.same(await unfit({ config: STATIC, cpu: IDLE, machine: seen([0, 1, 2, 3, 4]) }), ['cpu'])
  t.same(await unfit({ config: STATIC, cpu: IDLE, machine: seen([0, 1, 2], [0, 1, 2, 3]) }), [], 'the kernel says two things')
  t.same(await unfit({ config: STATIC, cpu: IDLE, machine: { onlineCpus: new Set([0]) } }), [], 'it says one thing alone')
  t.same(await unfit({ cpu: NONE, machine: seen([0]) }), [], 'none asks for no CPUs')
})

t.test('memory of another size, as another kernel leaves', async (t) => {
  const { 'memory-static-idle': memory } = filesOf('1.34')
  const seen = (bytes: number) => ({ nodeMemory: new Map([[0, bytes]]) })
  t.same(await unfit({ config: MEMORY, memory, machine: seen(8 * 2 ** 30) }), [])
  t.same(await unfit({ config: MEMORY, memory, machine: seen(8 * 2 ** 30 - 4096) }), ['memory'])
  t.same(await unfit({ memory: '{"policyName":"None","machineState":{}}', machine: seen(1) }), [])
})

t.test('a file that is damaged', async (t) => {
  for (const cpu of ['', '{"policyNa', IDLE.replace('0-3', '0-2')]) t.same(await unfit({ config: STATIC, cpu }), ['cpu'], cpu)
  t.same(await unfit({ cpu: NONE.replace(/\d+\}/, '1}') }), ['cpu'], 'its checksum')
  t.same(await unfit({ cpu: NONE.replace(/\d+\}/, '1}'), config: GATE }), ['cpu'], 'wrong for any kubelet')
  const { 'cpu-none': cpu = '', 'memory-none': memory = '' } = filesOf('1.37')
  t.same(await unfit({ cpu: cpu.replace(/\d+\}$/, '1}'), memory: memory.replace(/\d+\}$/, '1}') }), ['cpu', 'memory'], 'that of its data')
  t.same(await unfit({ memory: '{"policyName":"None","machineState":{},"checksum":1}' }), ['memory'])
})

t.test('a kubelet that gives CPUs to pods as a whole', async (t) => {
  const of36 = filesOf('1.36-pod-level')
  const { 'cpu-none': none, 'cpu-static-idle': idle, 'cpu-static-used': used = '', 'cpu-static-pod-used': whole = '' } = of36
  const { 'memory-none': memoryNone, 'memory-static-idle': memory } = of36
  for (const config of [GATE, 'featureGates: {AllAlpha: true}\n']) {
    for (const cpu of [idle, used, whole]) t.same(await unfit({ config: config + STATIC, cpu }), [], `${config}${cpu}`)
    t.same(await unfit({ config: config + MEMORY, memory, cpu: none }), [], config)
    t.same(await unfit({ config, memory: memoryNone, cpu: none }), [], config)
  }
  t.same(await unfit({ words: ['--feature-gates=PodLevelResourceManagers=true'], cpu: none }), [], 'by a flag')
  t.same(await unfit({ cpu: none, memory: memoryNone }), ['cpu', 'memory'], 'the gate is off, and the files name no pod')
  t.same(await unfit({ config: STATIC + MEMORY, cpu: idle, memory }), ['cpu', 'memory'])
  t.same(await unfit({ config: STATIC, cpu: used }), [], 'kubelet 1.37 starts with it, 1.36 does not')
  const alone = JSON.stringify({ policyName: 'static', defaultCpuSet: '0,3', podEntries: { a: { cpuSet: '1-2' } } })
  t.same(await unfit({ config: STATIC, cpu: alone }), ['cpu'], 'neither does')
  t.same(await unfit({ config: `${STATIC}featureGates: {AllAlpha: true}\n`, cpu: alone }), [], 'it depends on its version')
  const own = { policyName: 'static', defaultCpuSet: '0-3', checksum: 532911304 }
  t.same(await unfit({ config: STATIC, cpu: JSON.stringify(own) }), [], 'of a pre-release of 1.36')

  const data = '{"policyName":"static","defaultCpuSet":"0,3","podEntries":{"a":{"cpuSet":"1-2"}}}'
  const cpu = JSON.stringify({ policyName: 'static', defaultCpuSet: '0,3', checksum: 1, data, dataChecksum: hashOf(`(string)${data}`) })
  const five = new Set([0, 1, 2, 3, 4])
  t.same(await unfit({ config: GATE + STATIC, cpu }), [])
  t.same(await unfit({ config: STATIC, cpu }), ['cpu'], 'CPUs 1 and 2 are nowhere with the gate off')
  t.same(
    await unfit({ config: GATE + STATIC, cpu, machine: { onlineCpus: five, presentCpus: five, nodeCpus: five } }),
    ['cpu'],
    'CPU 4 is new',
  )
})

t.test('a strictly reserved number of CPUs', async (t) => {
  const strict = (cpu: string) =>
    `cpuManagerPolicy: static\nsystemReserved: {cpu: "${cpu}"}\ncpuManagerPolicyOptions: {strict-cpu-reservation: "true"}\n`
  const shared = (defaultCpuSet: string, entries?: object) => JSON.stringify({ policyName: 'static', defaultCpuSet, entries })
  t.same(await unfit({ config: strict('1'), cpu: shared('1-3') }), [])
  t.same(await unfit({ config: strict('1500m'), cpu: shared('2', { a: { b: '3' } }) }), [])
  t.same(await unfit({ config: strict('1'), cpu: shared('0-3') }), ['cpu'], 'the file is of one that did not reserve strictly')
  t.same(await unfit({ config: strict('2'), cpu: shared('1-3') }), ['cpu'], 'more are reserved')
  t.same(await unfit({ config: strict('1'), cpu: shared('2-3') }), ['cpu'], 'fewer are')
  t.same(await unfit({ config: strict('2'), cpu: shared('1-3'), machine: {} }), [], 'the CPUs of the machine are not known')
  t.same(await unfit({ config: strict('2'), cpu: shared('1-3'), words: ['--reserved-cpus=0'] }), [], 'a flag names them')
})

t.test('what else the memory manager compares', async (t) => {
  const table = (systemReserved: number) => ({ total: 2 ** 33, systemReserved })
  const state = (nodes: Readonly<Record<number, object>>, entries?: object) =>
    JSON.stringify({
      policyName: 'Static',
      machineState: Object.fromEntries(Object.entries(nodes).map(([node, memoryMap]) => [node, { memoryMap }])),
      entries,
    })
  const huge = MEMORY.replace('memory: 1Gi}}]', 'memory: 1Gi, hugepages-2Mi: 4Mi}}]')
  const of = (hugepages: number) => state({ 0: { memory: table(2 ** 30), 'hugepages-2Mi': table(hugepages) } })
  t.same(await unfit({ config: huge, memory: of(2 ** 22) }), [])
  t.same(await unfit({ config: huge, memory: of(2 ** 21) }), ['memory'], 'other huge pages are reserved')
  t.same(await unfit({ config: MEMORY, memory: of(2 ** 22) }), ['memory'], 'none are any more')
  t.same(await unfit({ config: MEMORY, memory: state({}, { a: { b: [] } }) }), ['memory'], 'containers, and no memory')
  t.same(await unfit({ config: MEMORY, memory: state({}) }), [], 'not yet begun')
  const pages = (sizes: object) => ({ nodeHugePages: new Map([[0, new Map(Object.entries(sizes))]]) })
  const sized = state({ 0: { memory: table(2 ** 30), 'hugepages-2Mi': { total: 2 ** 22, systemReserved: 0 } } })
  t.same(await unfit({ config: MEMORY, memory: sized, machine: pages({ 'hugepages-2Mi': 2 ** 22 }) }), [])
  t.same(await unfit({ config: MEMORY, memory: sized, machine: pages({ 'hugepages-2Mi': 2 ** 21 }) }), ['memory'], 'fewer huge pages')
  t.same(
    await unfit({ config: MEMORY, memory: sized, machine: pages({ 'hugepages-2Mi': 2 ** 22, 'hugepages-1Gi': 0 }) }),
    ['memory'],
    'of more sizes',
  )
  t.same(await unfit({ config: MEMORY, memory: sized, machine: { nodeHugePages: new Map() } }), [], 'the machine does not say')
  const two = state({ 0: { memory: table(2 ** 30) }, 1: { memory: table(0) } })
  const nodes = (...ids: number[]) => ({ numaNodes: new Set(ids), nodeMemory: new Map(ids.map((id) => [id, 2 ** 33])) })
  t.same(await unfit({ config: MEMORY, memory: two, machine: nodes(0, 1) }), [])
  t.same(await unfit({ config: MEMORY, memory: two, machine: nodes(0) }), ['memory'], 'a NUMA node is gone')
  t.same(await unfit({ config: MEMORY, memory: two, machine: nodes(0, 1, 2) }), ['memory'], 'one has come')
  t.same(await unfit({ config: MEMORY, memory: two, machine: { ...nodes(0, 1, 2), nodeMemory: new Map() } }), [], 'it does not say')
  t.same(await unfit({ config: MEMORY, memory: two, machine: nodes() }), [], 'it has none that it tells')
})

t.test('what decides is what kubelet starts with', async (t) => {
  t.same(await unfit({ dropIn: STATIC, cpu: IDLE }), [], 'a drop-in sets the policy')
  t.same(await unfit({ words: ['--cpu-manager-policy=static', '--reserved-cpus=0'], cpu: IDLE }), [], 'flags do')
  t.same(await unfit({ words: ['--root-dir=/data'], root: '/data', cpu: IDLE }), ['cpu'])
  t.same(await unfit({ words: ['--root-dir=data'], root: 'data', cpu: IDLE }), [], 'kubelet alone knows where that is')
})

t.test('what cannot be read or judged stays', async (t) => {
  const never = {
    files: { read: () => undefined, list: () => undefined, stat: () => undefined },
    yaml: IN_PLACE,
    lookAround: async () => NOTHING_KNOWN,
  }
  t.same(await findUnfit(undefined, never), [], 'no command line')
  t.same(await findUnfit(['--config=/gone'], never), [], 'no config')
  t.same(await unfit({ config: 'a: [', cpu: IDLE }), [], 'no YAML')
  t.same(await unfit({ dropIn: 'a: [', cpu: IDLE }), [], 'a drop-in that is none')
  t.same(await unfit({}), [], 'no state file')
})
