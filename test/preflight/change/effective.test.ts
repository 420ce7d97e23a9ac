// SPDX-License-Identifier: Apache-2.0
import fc from 'fast-check'
import t from 'tap'
import { anyConfig, anyVersion, v } from './configs.ts'
import { withDefaults } from './with-defaults.ts'

t.test('defaults by version', async (t) => {
  t.match(withDefaults({}, v(20)), { kubeAPIQPS: 5, eventBurst: 10, authentication: { webhook: { enabled: true, cacheTTL: '2m' } } })
  t.match(withDefaults({}, v(27)), { kubeAPIQPS: 50, eventBurst: 100, memoryThrottlingFactor: 0.9 })
  t.equal(withDefaults({}, v(26)).memoryThrottlingFactor, 0.8)
  t.notOk(Object.hasOwn(withDefaults({}, v(37)), 'memoryThrottlingFactor'))
  t.notOk(Object.hasOwn(withDefaults({}, v(30)), 'failCgroupV1'))
  t.equal(withDefaults({}, v(31)).failCgroupV1, false)
  t.equal(withDefaults({}, v(35)).failCgroupV1, true)
  t.match(withDefaults({}, v(30)), { evictionHard: { 'imagefs.inodesFree': '5%' } })
  t.equal(withDefaults({ resolvConf: '' }, v(22)).resolvConf, '/etc/resolv.conf')
  t.equal(withDefaults({ resolvConf: '' }, v(23)).resolvConf, '')
})

t.test('defaults that depend on other fields', async (t) => {
  t.equal(withDefaults({ nodeStatusUpdateFrequency: '1m' }, v(20)).nodeStatusReportFrequency, '1m')
  t.equal(withDefaults({}, v(20)).nodeStatusReportFrequency, '5m')
  t.equal(withDefaults({ maxParallelImagePulls: 2 }, v(27)).serializeImagePulls, false)
  t.match(withDefaults({}, v(35)), { crashLoopBackOff: { maxContainerRestartPeriod: '300s' } })
  t.notOk(Object.hasOwn(withDefaults({ featureGates: { KubeletCrashLoopBackOffMax: false } }, v(35)), 'crashLoopBackOff'))
  t.match(withDefaults({ featureGates: { KubeletEnsureSecretPulledImages: true } }, v(33)), {
    imagePullCredentialsVerificationPolicy: 'NeverVerifyPreloadedImages',
  })
})

t.test('fields that the version does not know are dropped; apiVersion and kind stay', async (t) => {
  t.same(
    Object.keys(withDefaults({ apiVersion: 'a', kind: 'b', maxPod: 1, failCgroupV1: true }, v(20))).filter((name) => !name.match(/^[c-z]/)),
    ['apiVersion', 'address', 'authentication', 'authorization'],
  )
})

t.test('filling in defaults twice changes nothing', async (t) => {
  fc.assert(
    fc.property(anyConfig, anyVersion, (config, version) => {
      const once = withDefaults(config, version)
      t.strictSame(withDefaults(once, version), once)
    }),
    { numRuns: 60 },
  )
})
