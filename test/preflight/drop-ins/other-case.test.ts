// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { listOtherCase } from '../../../src/preflight/drop-ins/read-drop-ins.ts'

t.test('keys that are fields but for upper and lower case, at every depth', async (t) => {
  const config = {
    maxPods: 5,
    maxpods: 6,
    nope: 7,
    authentication: { Anonymous: { enabled: true }, webhook: { ENABLED: true } },
    registerWithTaints: [{ key: 'a', Effect: 'NoSchedule' }],
    featureGates: { nodeswap: true },
    clu\u017fterDomain: 'x',
  }
  t.strictSame(listOtherCase(config), [
    { path: ['maxpods'], field: 'maxPods' },
    { path: ['authentication', 'Anonymous'], field: 'anonymous' },
    { path: ['authentication', 'webhook', 'ENABLED'], field: 'enabled' },
    { path: ['registerWithTaints', 0, 'Effect'], field: 'effect' },
    { path: ['clu\u017fterDomain'], field: 'clusterDomain' },
  ])
})
