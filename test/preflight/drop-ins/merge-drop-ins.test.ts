// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import type { KubeletConfig } from '../../../src/kubelet/decode.ts'
import { effectiveConfig } from '../../../src/preflight/change/effective.ts'
import { mergeAround, mergeDropIns, mergesByPatch } from '../../../src/preflight/drop-ins/merge-drop-ins.ts'

const version = (minor: number) => ({ major: 1, minor, patch: 0 })
const v134 = version(34)
const merge = (base: KubeletConfig, ...patches: readonly KubeletConfig[]) => mergeDropIns(base, patches, v134)
/** The value with defaults. */
const effectiveValue = (config: KubeletConfig, name: string, minor = 34) => effectiveConfig(config, version(minor)).get(name)?.value

t.test('objects are merged, lists and values are replaced, and a null removes a field', async (t) => {
  const base = { apiVersion: 'v', kind: 'K', maxPods: 5, clusterDNS: ['10.0.0.1'], authentication: { anonymous: { enabled: false } } }
  const merged = merge(
    base,
    { apiVersion: 'other', kind: 'other', maxPods: 6, clusterDNS: ['10.0.0.2'], authentication: { webhook: { enabled: true } } },
    { maxPods: null, podsPerCore: 3 },
  )
  t.strictSame(merged, {
    apiVersion: 'v',
    kind: 'K',
    clusterDNS: ['10.0.0.2'],
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true } },
    podsPerCore: 3,
  })
})

t.test('a drop-in with thresholds adds to the defaults that the file without thresholds has', async (t) => {
  const merged = merge({}, { evictionHard: { 'memory.available': '1Gi' } })
  t.match(effectiveValue(merged, 'evictionHard'), { 'memory.available': '1Gi', 'nodefs.available': '10%' })
  t.strictSame(
    merge({ evictionHard: { 'memory.available': '2Gi' } }, { evictionHard: { 'imagefs.available': '5%' } }).evictionHard,
    { 'memory.available': '2Gi', 'imagefs.available': '5%' },
    'and to the thresholds of the file',
  )
})

t.test('a drop-in that removes the thresholds leaves kubelet none: it has no default after the merge', async (t) => {
  const bare = { evictionHard: null }
  t.strictSame(effectiveValue(merge({}, bare), 'evictionHard'), {})
  t.strictSame(effectiveValue(merge({ evictionHard: { 'memory.available': '2Gi' } }, bare), 'evictionHard'), {})
  t.strictSame(effectiveValue(merge({}, bare, { evictionHard: { 'imagefs.available': '5%' } }), 'evictionHard'), {
    'imagefs.available': '5%',
  })
  t.match(effectiveValue(mergeDropIns({}, [bare], version(31)), 'evictionHard', 31), { 'memory.available': '100Mi' }, 'up to 1.31')
})

t.test('the default thresholds are merged as the file alone says', async (t) => {
  const base = { mergeDefaultEvictionSettings: true, evictionHard: { 'memory.available': '2Gi' } }
  const all = { 'memory.available': '2Gi', 'nodefs.available': '10%', 'nodefs.inodesFree': '5%', 'imagefs.available': '15%' }
  for (const mergeDefaultEvictionSettings of [false, null])
    t.match(effectiveValue(merge(base, { mergeDefaultEvictionSettings }), 'evictionHard'), all, 'a drop-in comes too late')
})

t.test('a default that depends on another field is that of the file alone', async (t) => {
  const pulls = merge({}, { maxParallelImagePulls: 5 })
  t.equal(effectiveValue(pulls, 'serializeImagePulls'), true, 'which kubelet then refuses')
  t.equal(effectiveValue({ maxParallelImagePulls: 5 }, 'serializeImagePulls'), false)
  const status = merge({}, { nodeStatusUpdateFrequency: '30s' })
  t.equal(effectiveValue(status, 'nodeStatusReportFrequency'), '5m')
  t.equal(effectiveValue({ nodeStatusUpdateFrequency: '30s' }, 'nodeStatusReportFrequency'), '30s')
  const gate = mergeDropIns({}, [{ featureGates: { KubeletCrashLoopBackOffMax: false } }], version(36))
  t.equal(effectiveValue(gate, 'crashLoopBackOff.maxContainerRestartPeriod', 36), '300s')
})

t.test('an empty list of the file gets its default, one of a drop-in stays', async (t) => {
  t.strictSame(effectiveValue(merge({ enforceNodeAllocatable: [] }), 'enforceNodeAllocatable'), ['pods'])
  t.strictSame(effectiveValue(merge({}, { enforceNodeAllocatable: [] }), 'enforceNodeAllocatable'), [])
  t.strictSame(
    effectiveValue(mergeDropIns({ enforceNodeAllocatable: [] }, [], version(31)), 'enforceNodeAllocatable', 31),
    [],
    'up to 1.31',
  )
})

t.test('before 1.32 a drop-in cannot set resolvConf or remove a field', async (t) => {
  const base = { resolvConf: '/a', maxPods: 5, evictionHard: { 'memory.available': '1Gi' } }
  const patch = { resolvConf: '/b', maxPods: null, evictionHard: { 'memory.available': null, 'nodefs.available': '5%' } }
  t.match(mergeDropIns(base, [patch], version(31)), {
    resolvConf: '/a',
    maxPods: 5,
    evictionHard: { 'memory.available': '1Gi', 'nodefs.available': '5%' },
  })
  t.strictSame(mergeDropIns(base, [patch], version(32)), { resolvConf: '/b', evictionHard: { 'nodefs.available': '5%' } })
  t.strictSame(
    [28, 29, 30, 36].map((minor) => mergesByPatch(version(minor))),
    [false, false, true, true],
  )
})

t.test('a config that is a drop-in itself is merged over the file and the drop-ins before it', async (t) => {
  const dropIn = (path: string, config: KubeletConfig) => ({ path, config })
  const order = {
    base: dropIn('/config', { maxPods: 1, podsPerCore: 1, registryBurst: 1, eventBurst: 1 }),
    below: [dropIn('/10', { podsPerCore: 2, registryBurst: 2, eventBurst: 2 })],
    above: [dropIn('/99', { eventBurst: 4 })],
  }
  t.strictSame(mergeAround({ registryBurst: 3, eventBurst: 3 }, order, v134), {
    maxPods: 1,
    podsPerCore: 2,
    registryBurst: 3,
    eventBurst: 4,
  })
})
