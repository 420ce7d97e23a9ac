// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { optionsOf, verdicts } from './node-options.ts'

const CPU = '/var/lib/kubelet/cpu_manager_state'
const MEMORY = '/var/lib/kubelet/memory_manager_state'
const withState = (path: string, state: unknown) => ({
  texts: new Map([[path, typeof state === 'string' ? state : JSON.stringify(state)]]),
})
const STATIC = { cpuManagerPolicy: 'static', reservedSystemCPUs: '0' }
const POD_LEVEL = {
  policyName: 'static',
  defaultCpuSet: '0,2-3',
  entries: { '3f2b6f0e-0000-4000-8000-000000000001': { app: '1', b: '1' } },
}
const REFUSED = 'refuse node/cpu-manager-state'

t.test('a state file of another CPU policy', async (t) => {
  t.same(verdicts(STATIC, withState(CPU, { policyName: 'none', defaultCpuSet: '' })), [`${REFUSED} cpuManagerPolicy`])
  t.same(verdicts({}, withState(CPU, { policyName: 'static', defaultCpuSet: '0-3' })), [`${REFUSED} cpuManagerPolicy`])
  t.same(verdicts({}, withState(CPU, { policyName: 'none', defaultCpuSet: '' })), [])
  t.same(verdicts({}, { texts: new Map([[CPU, null]]) }), [], 'no state file')
  t.same(verdicts({}, withState(CPU, '{"policyNa')), [`${REFUSED} cpuManagerPolicy`])
  t.same(verdicts({}, withState(CPU, '')), [`${REFUSED} cpuManagerPolicy`])
  t.same(verdicts({ featureGates: { CPUManager: false } }, withState(CPU, { policyName: 'static' }), optionsOf(20)), [])
})

t.test('a state file of the static policy', async (t) => {
  const state = { policyName: 'static', defaultCpuSet: '0,2-3', entries: { pod: { container: '1' } } }
  t.same(verdicts(STATIC, withState(CPU, state)), [])
  t.same(
    verdicts({ ...STATIC, reservedSystemCPUs: '0-1' }, withState(CPU, state)),
    [`${REFUSED} reservedSystemCPUs`],
    'CPU 1 is assigned to a container',
  )
  t.same(verdicts({ ...STATIC, cpuManagerPolicyOptions: { 'strict-cpu-reservation': 'true' } }, withState(CPU, state), optionsOf(33)), [
    `${REFUSED} reservedSystemCPUs`,
  ])
  t.same(verdicts({ cpuManagerPolicy: 'static', systemReserved: { cpu: '3500m' } }, withState(CPU, state)), [`${REFUSED} systemReserved`])
  t.same(
    verdicts({ cpuManagerPolicy: 'static', systemReserved: { cpu: '2500m' } }, withState(CPU, state)),
    [],
    'kubelet chooses which ones',
  )
  t.same(verdicts(STATIC, withState(CPU, { ...state, defaultCpuSet: '0,2-7' })), [`${REFUSED} cpuManagerPolicy`], 'of another machine')
  t.same(
    verdicts(STATIC, withState(CPU, { ...state, defaultCpuSet: '0,2' })),
    ['warn node/cpu-manager-state cpuManagerPolicy'],
    'CPU 3 is new',
  )
  const online = new Set([0, 1, 2, 3])
  t.same(
    verdicts(STATIC, { ...withState(CPU, { ...state, defaultCpuSet: '0,2' }), onlineCpus: online, presentCpus: online, nodeCpus: online }),
    ['warn node/cpu-manager-state cpuManagerPolicy'],
    'however certain it is: another config changes nothing',
  )
  const aside = { ...optionsOf(30), setsStatesAside: true }
  t.same(verdicts(STATIC, withState(CPU, { policyName: 'none', defaultCpuSet: '' }), aside), [], 'the unit sets it aside')
  t.same(verdicts(STATIC, withState(CPU, { policyName: 'static', defaultCpuSet: '' })), [], 'not yet used')
})

t.test('an option of the static policy is a boolean in any spelling of Go', async (t) => {
  const state = withState(CPU, { policyName: 'static', defaultCpuSet: '2-3' })
  const strict = (value: string) =>
    verdicts({ ...STATIC, reservedSystemCPUs: '0-1', cpuManagerPolicyOptions: { 'strict-cpu-reservation': value } }, state, optionsOf(35))
  for (const value of ['true', 'True', 'TRUE', 't', 'T', '1']) t.same(strict(value), [], value)
  for (const value of ['false', 'F', '0']) t.same(strict(value), [`${REFUSED} reservedSystemCPUs`], value)
})

t.test('a state file of the memory manager', async (t) => {
  const state = (systemReserved: number) => ({
    policyName: 'Static',
    machineState: { 0: { memoryMap: { memory: { systemReserved } } } },
  })
  const config = {
    memoryManagerPolicy: 'Static',
    evictionHard: {},
    kubeReserved: { memory: '1Gi' },
    reservedMemory: [{ numaNode: 0, limits: { memory: '1Gi' } }],
  }
  const refused = 'refuse node/memory-manager-state'
  t.same(verdicts(config, withState(MEMORY, state(2 ** 30))), [])
  t.same(verdicts(config, withState(MEMORY, state(2 ** 31))), [`${refused} reservedMemory`])
  t.same(verdicts({}, withState(MEMORY, state(0))), [`${refused} memoryManagerPolicy`])
  t.same(verdicts({}, withState(MEMORY, { policyName: 'None' })), [])
  t.same(verdicts({}, withState(MEMORY, state(0)), optionsOf(20)), [], '1.20 has no memory manager')
  t.same(verdicts({}, withState(MEMORY, state(0)), { ...optionsOf(30), version: undefined }), [
    'warn node/memory-manager-state memoryManagerPolicy',
  ])
  t.same(verdicts({}, { texts: new Map([['/x/memory_manager_state', '{"policyName":"Static"}']]) }, optionsOf(30, ['--root-dir=/x'])), [
    `${refused} memoryManagerPolicy`,
  ])
})

t.test('kubelet 1.36 reads what it wrote with pod-level resources with that gate alone', async (t) => {
  const idle = withState(CPU, { policyName: 'none', defaultCpuSet: '', checksum: 642675224 })
  const used = withState(CPU, { ...POD_LEVEL, checksum: 3316849370 })
  t.same(verdicts({}, idle, optionsOf(36)), [`${REFUSED} cpuManagerPolicy`])
  t.same(verdicts(STATIC, used, optionsOf(36)), [`${REFUSED} cpuManagerPolicy`])
  t.same(verdicts(STATIC, used, optionsOf(35)), [`${REFUSED} cpuManagerPolicy`], 'older ones know no such file')
  t.same(verdicts(STATIC, used, optionsOf(37)), [], 'newer ones read it')
  t.same(verdicts({ featureGates: { PodLevelResourceManagers: true } }, idle, optionsOf(36)), [])
  t.same(verdicts({}, idle, { ...optionsOf(36), version: undefined }), ['warn node/cpu-manager-state cpuManagerPolicy'])
  const damaged = withState(CPU, { policyName: 'none', defaultCpuSet: '', checksum: 1353318690, data: '{}', dataChecksum: 1 })
  t.same(verdicts({}, damaged, optionsOf(37)), [`${REFUSED} cpuManagerPolicy`])
  t.same(verdicts({}, damaged, optionsOf(36)), [], 'it does not read data')
})
