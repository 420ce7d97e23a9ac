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

for (const version of ['1.24', '1.34', '1.37']) {
  const files: Files = JSON.parse(readFileSync(new URL(`../kubelet/manager-states/${version}.json`, import.meta.url), 'utf8'))
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

const { 'cpu-static-idle': IDLE = '', 'cpu-none': NONE = '' }: Files = JSON.parse(
  readFileSync(new URL('../kubelet/manager-states/1.34.json', import.meta.url), 'utf8'),
)

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
  const { 'memory-static-idle': memory }: Files = JSON.parse(
    readFileSync(new URL('../kubelet/manager-states/1.34.json', import.meta.url), 'utf8'),
  )
  const seen = (bytes: number) => ({ nodeMemory: new Map([[0, bytes]]) })
  t.same(await unfit({ config: MEMORY, memory, machine: seen(8 * 2 ** 30) }), [])
  t.same(await unfit({ config: MEMORY, memory, machine: seen(8 * 2 ** 30 - 4096) }), ['memory'])
  t.same(await unfit({ memory: '{"policyName":"None","machineState":{}}', machine: seen(1) }), [])
})

t.test('a file that is damaged', async (t) => {
  for (const cpu of ['', '{"policyNa', IDLE.replace('0-3', '0-2')]) t.same(await unfit({ config: STATIC, cpu }), ['cpu'], cpu)
  t.same(await unfit({ cpu: NONE.replace(/\d+\}/, '1}') }), ['cpu'], 'its checksum')
  const gate = 'featureGates: {PodLevelResourceManagers: true}\n'
  t.same(await unfit({ config: gate, cpu: NONE.replace(/\d+\}/, '1}') }), [], 'of a kubelet that has another checksum')
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
