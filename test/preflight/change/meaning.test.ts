// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import type { KubeletConfig } from '../../../src/kubelet/decode.ts'
import { NEWEST_MINOR, OLDEST_MINOR } from '../../../src/kubelet/fields.ts'
import { listGates, periodsOf } from '../../../src/kubelet/gates.ts'
import { compareConfigs, withoutDefaults } from '../../../src/preflight/change/compare.ts'
import { describeMeanings, listMeaningChanges } from '../../../src/preflight/change/meaning.ts'
import { anyConfig, v } from './configs.ts'
import { withDefaults } from './with-defaults.ts'

/** Without the gates whose default turned. */
function changes(config: KubeletConfig, from: number, to: number): string[] {
  const found = listMeaningChanges(config, v(from), v(to)).filter(({ kind }) => kind !== 'gate')
  return found.map(({ kind, path, before, after }) => `${kind} ${path.join('.')}: ${before} -> ${after}`)
}

function turned(config: KubeletConfig, from: number, to: number): string[] {
  const gates = listMeaningChanges(config, v(from), v(to)).filter(({ kind }) => kind === 'gate')
  return gates.map(({ path, before, after }) => `${path[1]} ${before} -> ${after}`)
}

const OFF = 'no pod is throttled, since the feature gate MemoryQoS is off'
const THROTTLED = '0.9: on cgroup v2, pods that are not Guaranteed are throttled near their memory limit'

t.test('a throttling factor that is written throttles pods where MemoryQoS is on', async (t) => {
  const factor = { memoryThrottlingFactor: 0.9 }
  t.same(changes(factor, 36, 37), [`value memoryThrottlingFactor: ${OFF} -> ${THROTTLED}`])
  t.same(changes(factor, 37, 36), [`value memoryThrottlingFactor: ${THROTTLED} -> ${OFF}`])
  t.same(changes({}, 36, 37), [], 'its default is gone, and throttled nobody')
  t.same(changes({ ...factor, featureGates: { MemoryQoS: false } }, 36, 37), [])
  t.same(changes({ ...factor, featureGates: { AllBeta: false } }, 36, 37), [])
  t.same(changes({ ...factor, featureGates: { MemoryQoS: true } }, 36, 37), [])
  const on = { featureGates: { MemoryQoS: true } }
  t.same(changes(on, 36, 37), [`default memoryThrottlingFactor: ${THROTTLED} -> no pod is throttled`])
})

t.test('advice fits the direction, and what is not set', async (t) => {
  const advice = (config: KubeletConfig, from: number, to: number) =>
    listMeaningChanges(config, v(from), v(to)).find(({ kind }) => kind !== 'gate')?.advice
  t.equal(advice({ memoryThrottlingFactor: 0.9 }, 37, 36), undefined)
  t.equal(advice({ eventRecordQPS: 0 }, 37, 36), undefined)
  t.equal(advice({ featureGates: { MemoryQoS: true } }, 36, 37), 'write memoryThrottlingFactor: 0.9 to keep it')
  t.equal(advice({}, 30, 31), undefined)
})

t.test('a value of another type is not printed', async (t) => {
  const long = 'x'.repeat(300_000)
  t.same(changes({ memoryThrottlingFactor: long }, 36, 37), [])
  t.same(changes({ cgroupDriver: long }, 30, 31), [])
})

t.test('no limit of events is a limit of 5 a second before 1.37', async (t) => {
  t.same(changes({ eventRecordQPS: 0 }, 36, 37), ['value eventRecordQPS: 0: at most 5 events a second -> 0: no limit'])
  t.same(
    changes({ eventRecordQPS: 0 }, 26, 36),
    changes({}, 26, 36).filter((text) => !text.includes('eventRecordQPS')),
  )
  t.same(changes({ eventRecordQPS: 7 }, 36, 37), [])
})

t.test('defaults that moved, of what is not set', async (t) => {
  t.same(changes({ kubeAPIQPS: 9 }, 26, 27), [
    'default eventRecordQPS: 5 (default) -> 50 (default)',
    'default eventBurst: 10 (default) -> 100 (default)',
    'default kubeAPIBurst: 10 (default) -> 100 (default)',
  ])
  t.same(changes({}, 29, 30), ['default evictionHard.imagefs.inodesFree: not set -> "5%" (default)'])
  t.same(
    changes({}, 28, 31).filter((text) => text.includes('failCgroupV1')),
    [],
    'a new field begins with what was',
  )
  t.same(
    changes({}, 28, 35).filter((text) => text.includes('failCgroupV1')),
    ['default failCgroupV1: false (default) -> true (default)'],
  )
  t.same(changes({}, 34, 35), [
    'default imagePullCredentialsVerificationPolicy: not set -> "NeverVerifyPreloadedImages" (default)',
    'default failCgroupV1: false (default) -> true (default)',
  ])
  t.same(changes({}, 30, 31), [
    'default cgroupDriver: "cgroupfs" (default) -> the container runtime\'s, and cgroupfs where it does not tell',
  ])
  t.same(changes({}, 36, 37), [])
})

t.test('values that only one of them reads', async (t) => {
  t.same(changes({ maxParallelImagePulls: 3, serializeImagePulls: false }, 26, 27).slice(-1), [
    'value maxParallelImagePulls: not read -> 3',
  ])
  t.same(changes({ resolvConf: '' }, 22, 23), ['value resolvConf: "/etc/resolv.conf" (default) -> ""'])
  t.same(changes({ logging: { sanitization: true } }, 23, 24), [], 'fields/gone says it')
})

t.test('feature gates whose default turned, where the config does not set them', async (t) => {
  t.ok(turned({}, 36, 37).includes('MemoryQoS off -> on'))
  t.notOk(turned({ featureGates: { MemoryQoS: false } }, 36, 37).some((text) => text.startsWith('MemoryQoS')))
  t.notOk(turned({ featureGates: { AllBeta: false } }, 36, 37).some((text) => text.startsWith('MemoryQoS')))
  t.ok(turned({}, 37, 36).includes('MemoryQoS on -> off'))
  t.notOk(
    turned({}, 36, 37).some((text) => text.startsWith('KubeProxyIPVS')),
    'it came switched on',
  )
  t.ok(turned({}, 20, 37).includes('MemoryQoS not there -> on'), 'it came later, switched off')
  t.ok(turned({}, 22, 37).includes('SeccompDefault off -> on'), 'it is gone, and stays on')
})

t.test('feature gates that one of the kubelets does not know yet', async (t) => {
  t.ok(turned({}, 36, 37).includes('HugepageAwareEviction not there -> on'), 'it came as beta')
  t.ok(turned({}, 37, 36).includes('HugepageAwareEviction on -> off'))
  t.same(
    turned({}, 36, 37).filter((text) => text.startsWith('KubeProxyIPVS')),
    [],
    'it switches off what was there before',
  )
  const [alpha = ''] = listGates().filter((gate) => periodsOf(gate)[0]?.from === 37 && periodsOf(gate)[0]?.state?.stage === 'alpha')
  t.ok(turned({ featureGates: { AllAlpha: true } }, 36, 37).includes(`${alpha} not there -> on`))
  t.notOk(turned({ featureGates: { AllBeta: false } }, 36, 37).some((text) => text.startsWith('HugepageAwareEviction')))
  const found = describeMeanings(listMeaningChanges({}, v(36), v(37)), v(36), v(37), { locate: () => undefined })
  t.match(found.at(0)?.problem, /HugepageAwareEviction \(new\)/)
})

t.test('for people', async (t) => {
  const config = { memoryThrottlingFactor: 0.9, featureGates: { MemoryQoS: true } }
  const findings = describeMeanings(listMeaningChanges({ memoryThrottlingFactor: 0.9 }, v(36), v(37)), v(36), v(37), {
    locate: (path) => (path[0] === 'memoryThrottlingFactor' ? { line: 3, column: 1 } : undefined),
  })
  t.match(findings, [
    {
      rule: 'meaning/value',
      severity: 'warn',
      position: { line: 3, column: 1 },
      problem: `memoryThrottlingFactor changes its meaning: to kubelet 1.36: ${OFF}; to kubelet 1.37: ${THROTTLED}`,
      advice: 'remove it if no pod should be throttled',
    },
    {
      rule: 'meaning/gate',
      severity: 'info',
      path: ['featureGates'],
      problem: /^not set, by default off in kubelet 1\.36 and on in kubelet 1\.37: .*\bMemoryQoS\b/,
    },
  ])
  const moved = describeMeanings(listMeaningChanges(config, v(26), v(27)), v(26), v(27), { locate: () => undefined })
  t.match(
    moved.filter(({ rule }) => rule === 'meaning/default').map(({ problem, advice }) => [problem, advice]),
    [
      [
        'eventRecordQPS is not set, and its default changes: to kubelet 1.26: 5 (default); to kubelet 1.27: 50 (default)',
        'write eventRecordQPS: 5 to keep it',
      ],
    ],
  )
})

const anyMinor = fc.integer({ min: OLDEST_MINOR, max: NEWEST_MINOR })

t.test('a config means the same to one and the same kubelet', async () => {
  fc.assert(fc.property(anyConfig, anyMinor, (config, minor) => listMeaningChanges(config, v(minor), v(minor)).length === 0))
})

t.test('a config without mere defaults means the same, and has none', async (t) => {
  fc.assert(
    fc.property(anyConfig, anyMinor, (config, minor) => {
      const less = withoutDefaults(withDefaults(config, v(minor)), v(minor))
      return compareConfigs(withDefaults(config, v(minor)), less, v(minor)).length === 0
    }),
    { numRuns: 50 },
  )
  t.same(withoutDefaults(withDefaults({}, v(37)), v(37)), {})
  t.same(withoutDefaults({ tracing: {} }, v(37)), { tracing: {} }, 'traces are on with it')
  const kept = { maxPods: 64, enforceNodeAllocatable: [], authentication: { anonymous: { enabled: true } } }
  t.same(withoutDefaults(withDefaults(kept, v(37)), v(37)), kept)
})
