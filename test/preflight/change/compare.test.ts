// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { formatPath } from '../../../src/kubelet/field-path.ts'
import { listLeaves, NEWEST_MINOR } from '../../../src/kubelet/fields.ts'
import { type Change, formatSide, HIDDEN } from '../../../src/preflight/change/change.ts'
import { compareConfigs } from '../../../src/preflight/change/compare.ts'
import { ROWS, rowAt } from '../../../src/preflight/change/field-rows.ts'
import { anyConfig, anyVersion, v } from './configs.ts'
import { withDefaults } from './with-defaults.ts'

function lines(before: object, after: object, minor = 20): string[] {
  return compareConfigs({ ...before }, { ...after }, v(minor)).map(
    (change) => `${formatPath(change.path)}: ${formatSide(change.before)} -> ${formatSide(change.after)} (${change.risk})`,
  )
}

t.test('values with the same meaning are not changes', async (t) => {
  t.same(lines({ syncFrequency: '60s' }, { syncFrequency: '1m' }), [])
  t.same(lines({ syncFrequency: '60s' }, {}), [], 'the default, spelled out')
  t.same(lines({ syncFrequency: '0s' }, {}), [], 'zero means not set')
  t.same(lines({ maxPods: null }, { maxPods: 110 }), [])
  t.same(lines({ kubeReserved: { memory: '1Gi', cpu: '1' } }, { kubeReserved: { cpu: '1000m', memory: '1024Mi' } }), [])
  t.same(lines({ evictionHard: { 'nodefs.available': '10%' } }, { evictionHard: { 'nodefs.available': '10.0%' } }), [])
  t.same(lines({ podPidsLimit: -7 }, {}), [])
  t.same(lines({ logging: { flushFrequency: 5_000_000_000 } }, { logging: { flushFrequency: '5s' } }, 28), [])
  t.same(lines({ nodeStatusUpdateFrequency: '20s' }, { nodeStatusUpdateFrequency: '20s', nodeStatusReportFrequency: '20s' }), [])
  t.same(lines({ tlsCipherSuites: [] }, {}), [])
  t.same(lines({ featureGates: { AllAlpha: null } }, { featureGates: { AllAlpha: false } }), [], 'null in a map of booleans')
  t.same(lines({ systemReserved: { cpu: null } }, { systemReserved: { cpu: '' } }), [], 'and of texts')
})

t.test('changes with their risk', async (t) => {
  t.same(lines({}, { maxPods: 200 }), ['maxPods: 110 (default) -> 200 (pod-admission)'])
  t.same(lines({ healthzPort: 0 }, {}), ['healthzPort: 0 -> 10248 (default) (server-clients)'], 'zero is a value of its own')
  t.same(lines({ enforceNodeAllocatable: [] }, {}), ['enforceNodeAllocatable: [] -> ["pods"] (default) (oom-risk)'])
  t.same(lines({ clusterDNS: ['10.0.0.10', '10.0.0.11'] }, { clusterDNS: ['10.0.0.11', '10.0.0.10'] }).length, 1, 'order counts')
  t.same(lines({ featureGates: { A: true } }, { featureGates: { A: false, B: true } }), [
    'featureGates.A: true -> false (maybe-reboot)',
    'featureGates.B: not set -> true (maybe-reboot)',
  ])
  t.same(
    lines({}, { evictionHard: { 'memory.available': '100Mi' } }).map((line) => line.split(':')[0]),
    ['evictionHard["nodefs.available"]', 'evictionHard["nodefs.inodesFree"]', 'evictionHard["imagefs.available"]'],
    'a map replaces the whole default',
  )
  t.same(lines({}, { evictionHard: { 'memory.available': '100Mi' }, mergeDefaultEvictionSettings: true }, 33), [
    'mergeDefaultEvictionSettings: false (default) -> true (evictions)',
  ])
  t.same(lines({}, { authentication: { anonymous: { enabled: true } } }), [
    'authentication.anonymous.enabled: false (default) -> true (server-clients)',
  ])
  t.same(lines({}, { maxParallelImagePulls: 3 }, 27), [
    'serializeImagePulls: true (default) -> false (default) (load)',
    'maxParallelImagePulls: not set -> 3 (load)',
  ])
})

t.test('fields that this version does not know have no effect', async (t) => {
  t.same(lines({}, { maxPod: 200, authentication: { x: 1 }, failCgroupV1: true }), [
    `maxPod: not set -> ${HIDDEN} (none)`,
    `authentication.x: not set -> ${HIDDEN} (none)`,
    `failCgroupV1: not set -> ${HIDDEN} (none)`,
  ])
  t.same(
    lines({}, { maxPod: 200, authentication: { x: 1 } }, NEWEST_MINOR + 1),
    [`maxPod: not set -> ${HIDDEN} (unknown)`, `authentication.x: not set -> ${HIDDEN} (unknown)`],
    'a newer kubelet may know them',
  )
  t.same(lines({}, { failCgroupV1: true }, 31), ['failCgroupV1: false (default) -> true (crash-loop)'])
  t.same(lines({}, { failCgroupV1: true }, 35), [], 'the default is true now')
  t.same(lines({ 'authentication.x509.clientCAFile': '/a' }, {}), [`["authentication.x509.clientCAFile"]: ${HIDDEN} -> not set (none)`])
})

t.test('secrets are replaced', async (t) => {
  const changes = compareConfigs(
    { staticPodURL: 'https://user:hush@host/a?token=hush', unknown: 'hush' },
    { staticPodURL: 'https://user:hush2@host/b', staticPodURLHeader: { Authorization: ['Bearer hush'] }, passwords: { x: 'hush' } },
    v(20),
  )
  t.notMatch(JSON.stringify(changes), /hush/)
  t.match(JSON.stringify(changes), /https:\/\/host\/b/)
  for (const staticPodURL of ['https://u:a@hush@host/', 'https://u:hush/hush@host/', 'https://host/?hush@x', 'hush'])
    t.notMatch(JSON.stringify(compareConfigs({ staticPodURL }, {}, v(20))), /hush/, staticPodURL)
  t.equal(changes.length, 4)
})

t.test('every field has a row', async (t) => {
  t.same(
    [...ROWS.keys()],
    listLeaves().map(([name]) => name),
  )
})

/** Of a field that the tables do not have for this version: its value is hidden. */
const isOutside = ({ risk }: Pick<Change, 'risk'>) => risk === 'none' || risk === 'unknown'

t.test('a config does not differ from itself, with or without defaults', async () => {
  fc.assert(fc.property(anyConfig, anyVersion, (config, version) => compareConfigs(config, config, version).length === 0))
  fc.assert(
    fc.property(anyConfig, anyVersion, (config, version) => {
      return compareConfigs(config, withDefaults(config, version), version).every(isOutside)
    }),
  )
})

t.test('swapping the configs swaps the sides of each change', async (t) => {
  fc.assert(
    fc.property(anyConfig, anyConfig, anyVersion, (a, b, version) => {
      const there = compareConfigs(a, b, version)
      const back = compareConfigs(b, a, version).map(({ before, after, ...change }) => ({ ...change, before: after, after: before }))
      const byPath = (changes: typeof there) => changes.toSorted((x, y) => formatPath(x.path).localeCompare(formatPath(y.path)))
      t.strictSame(byPath(there), byPath(back))
    }),
    { numRuns: 50 },
  )
})

t.test('applying the changes to one config gives the other', async () => {
  fc.assert(
    fc.property(anyConfig, anyConfig, anyVersion, (a, b, version) => {
      const patched = structuredClone(withDefaults(a, version))
      for (const { path, after, risk } of compareConfigs(a, b, version)) {
        // Hidden values cannot be applied.
        if (!isOutside({ risk }) && path[0] !== 'staticPodURL' && path[0] !== 'staticPodURLHeader') set(patched, path, after?.value)
      }
      return compareConfigs(patched, b, version).every(
        ({ path, risk }) => isOutside({ risk }) || String(path[0]).startsWith('staticPodURL'),
      )
    }),
  )
})

function set(target: unknown, [step, ...rest]: readonly (string | number)[], value: unknown): void {
  if (typeof target !== 'object' || target === null || step === undefined) return
  const inner: unknown = Reflect.get(target, step)
  if (rest.length === 0) {
    if (value === undefined) Reflect.deleteProperty(target, step)
    else Reflect.set(target, step, value)
    return
  }
  if (typeof inner !== 'object' || inner === null) Reflect.set(target, step, {})
  set(Reflect.get(target, step), rest, value)
}

t.test('the row of a path', async (t) => {
  t.equal(rowAt(['featureGates', 'X'])?.name, 'featureGates')
  t.equal(rowAt(['authentication', 'x509', 'clientCAFile'])?.name, 'authentication.x509.clientCAFile')
  t.equal(rowAt(['authentication']), undefined)
  t.equal(rowAt([]), undefined)
})
