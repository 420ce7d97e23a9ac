// SPDX-License-Identifier: Apache-2.0
/** Which changes wait for pods that have something to lose. */
import t from 'tap'
import { formatPath } from '../../../src/kubelet/field-path.ts'
import { compareConfigs } from '../../../src/preflight/change/compare.ts'
import { collectFlags } from '../../../src/preflight/change/kubelet-flags.ts'
import { findManagerChanges } from '../../../src/preflight/change/manager-changes.ts'
import type { KubeletVersion } from '../../../src/preflight/kubelet-version.ts'

type Config = Readonly<Record<string, unknown>>

const VERSION = { major: 1, minor: 34, patch: 0, text: '1.34.0' }

function waiting(before: Config, after: Config, ...words: readonly string[]): readonly string[] {
  return waitingOf(VERSION, before, after, ...words)
}

function waitingOf(version: KubeletVersion | undefined, before: Config, after: Config, ...words: readonly string[]): readonly string[] {
  const changes = compareConfigs(before, after, version)
  const compared = { changes, before, after, flags: collectFlags(words), version }
  return findManagerChanges(compared, { locate: () => undefined }).map(({ path }) => formatPath(path))
}

const STATIC = { cpuManagerPolicy: 'static', reservedSystemCPUs: '0' }

t.test('another policy', async (t) => {
  t.same(waiting({}, { maxPods: 20 }), [])
  t.same(waiting({}, { cpuManagerPolicy: 'none', memoryManagerPolicy: 'None', topologyManagerPolicy: 'none' }), [], 'the defaults')
  t.same(waiting({}, STATIC), ['cpuManagerPolicy', 'reservedSystemCPUs'])
  t.same(waiting(STATIC, {}), ['cpuManagerPolicy'])
  t.same(waiting({}, { memoryManagerPolicy: 'Static' }), ['memoryManagerPolicy'])
  t.same(waiting({}, { topologyManagerPolicy: 'restricted' }), ['topologyManagerPolicy'])
})

t.test('what else a manager goes by, where there is one', async (t) => {
  t.same(waiting({}, { reservedSystemCPUs: '0-1' }), [])
  t.same(waiting(STATIC, { ...STATIC, reservedSystemCPUs: '0-1' }), ['reservedSystemCPUs'])
  t.same(waiting(STATIC, { ...STATIC, cpuManagerPolicyOptions: { 'full-pcpus-only': 'true' } }), [
    'cpuManagerPolicyOptions.full-pcpus-only',
  ])
  const counted = (cpu: string) => ({ cpuManagerPolicy: 'static', kubeReserved: { cpu } })
  t.same(waiting(counted('500m'), counted('1500m')), ['kubeReserved.cpu'])
  t.same(waiting(counted('500m'), counted('900m')), [], 'one CPU as before')
  t.same(waiting({ ...STATIC, kubeReserved: { cpu: '1' } }, { ...STATIC, kubeReserved: { cpu: '3' } }), [], 'the list counts')
  const memory = (size: string) => ({ memoryManagerPolicy: 'Static', reservedMemory: [{ numaNode: 0, limits: { memory: size } }] })
  t.same(waiting(memory('1Gi'), memory('2Gi')), ['reservedMemory'])
  t.same(waiting({}, { topologyManagerScope: 'pod' }), [])
  t.same(waiting({ topologyManagerPolicy: 'restricted' }, { topologyManagerPolicy: 'restricted', topologyManagerScope: 'pod' }), [
    'topologyManagerScope',
  ])
})

t.test('the gate of pod-level resources, which changes the files', async (t) => {
  const path = 'featureGates.PodLevelResourceManagers'
  const gates = (featureGates: Config, policy: Config = STATIC) => ({ ...policy, featureGates })
  const of = (minor: number) => ({ ...VERSION, minor, text: `1.${minor}.0` })
  const on = { PodLevelResourceManagers: true }
  t.same(waitingOf(of(36), gates({}), gates(on)), [path])
  t.same(waitingOf(of(36), gates(on), gates({})), [path])
  t.same(waitingOf(of(36), gates({}), gates({ PodLevelResourceManagers: false })), [], 'off as before')
  t.same(waitingOf(of(36), gates({}, {}), gates(on, {})), [], 'no manager gives anything')
  t.same(waitingOf(of(36), gates({}, { memoryManagerPolicy: 'Static' }), gates(on, { memoryManagerPolicy: 'Static' })), [path])
  t.same(waitingOf(of(36), gates({}), gates({ AllAlpha: true })), ['featureGates.AllAlpha'])
  t.same(waitingOf(of(37), gates({}), gates({ AllAlpha: true })), [], 'it is beta')
  t.same(waitingOf(of(37), gates({}), gates({ AllBeta: true })), ['featureGates.AllBeta'])
  t.same(waitingOf(undefined, gates({}), gates({ AllBeta: true })), ['featureGates.AllBeta'], 'nobody knows')
  t.same(waitingOf(of(36), gates({}), gates({ MemoryQoS: true })), [])
})

t.test('a flag wins', async (t) => {
  t.same(waiting({}, { cpuManagerPolicy: 'static' }, '--cpu-manager-policy=none'), [])
})
