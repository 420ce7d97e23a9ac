// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { type ChangePolicy, describeChanges } from '../../../src/preflight/policy/check-policy.ts'

const OPEN: ChangePolicy = { base: 'open', allow: [], deny: [], requireDrain: [] }
const v120 = { major: 1, minor: 20, patch: 2 }

t.test('each change has its risk', async (t) => {
  t.same(describeChanges({ maxPods: 64 }, { maxPods: 80 }, v120, OPEN), [
    {
      path: ['maxPods'],
      before: 64,
      after: 80,
      risk: 'pod-admission',
      meaning: 'running pods may fail admission when kubelet restarts, and are then killed',
      policy: { outcome: 'allowed', rule: undefined },
    },
  ])
})

t.test('defaults are filled in, and another spelling is not a change', async (t) => {
  t.same(describeChanges({}, { maxPods: 110, syncFrequency: '60s' }, v120, OPEN), [])
  t.match(describeChanges({}, { maxPods: 64 }, v120, OPEN), [{ before: 110, after: 64 }])
  t.match(describeChanges({ maxPods: 64 }, {}, v120, OPEN), [{ before: 64, after: 110 }])
  t.match(describeChanges({}, { staticPodPath: '/x' }, v120, OPEN), [{ before: undefined, after: '/x' }])
})

t.test('the decision of the policy, with the name of the rule', async (t) => {
  const policy: ChangePolicy = { base: 'guarded', allow: ['clusterDNS'], deny: ['maxPods'], requireDrain: ['clusterDNS'] }
  const changes = describeChanges({}, { maxPods: 64, clusterDNS: ['10.0.0.10'], port: 1, eventBurst: 11 }, v120, policy)
  t.same(Object.fromEntries(changes.map(({ path, policy }) => [path.join('.'), policy])), {
    maxPods: { outcome: 'denied', rule: 'policy/deny[0]' },
    clusterDNS: { outcome: 'drain', rule: 'policy/requireDrain[0]' },
    port: { outcome: 'denied', rule: 'policy/guarded' },
    eventBurst: { outcome: 'allowed', rule: undefined },
  })
})

t.test('a field that no table has is of unknown risk where the policy restricts', async (t) => {
  const risks = (policy: ChangePolicy) => describeChanges({}, { '?authorization': { mode: 'AlwaysAllow' } }, v120, policy)
  t.match(risks({ ...OPEN, base: 'guarded' }), [{ risk: 'unknown', policy: { outcome: 'denied', rule: 'policy/guarded' } }])
  t.match(risks(OPEN), [{ risk: 'none', policy: { outcome: 'allowed' } }])
})

t.test('secrets are not shown', async (t) => {
  const changes = describeChanges({}, { staticPodURLHeader: { Authorization: ['s3cret'] } }, v120, OPEN)
  t.equal(changes.length, 1)
  t.notMatch(JSON.stringify(changes), /s3cret/)
})
