// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { describeSource, sameRef, sameSource, sameVersion, withoutOverlay } from '../../src/subject/config-source.ts'
import { A, A_EDITED, B } from '../decision/snapshots.ts'

t.test('a source is compared whole', async (t) => {
  t.ok(sameSource(A, { ...A }))
  t.ok(sameSource('local', 'local'))
  t.notOk(sameSource(A, 'local'))
  t.notOk(sameSource('local', A))
  for (const field of ['namespace', 'name', 'kubeletConfigKey', 'uid', 'resourceVersion'] as const) {
    t.notOk(sameSource(A, { ...A, [field]: 'another' }), field)
  }
})

t.test('a ref leaves the version out', async (t) => {
  t.ok(sameRef(A, A_EDITED))
  t.notOk(sameRef(A, B))
  for (const field of ['namespace', 'name', 'kubeletConfigKey'] as const) t.notOk(sameRef(A, { ...A, [field]: 'another' }), field)
})

t.test('a source reads well', async (t) => {
  t.equal(describeSource('local'), 'local')
  t.equal(describeSource(A), 'kube-system/a:kubelet@1')
})

t.test('an overlay makes a version of its own', async (t) => {
  const overlaid = { ...A, overlay: '3f9a0c1122334455' }
  t.notOk(sameSource(A, overlaid))
  t.notOk(sameVersion(A, overlaid))
  t.ok(sameRef(A, overlaid))
  t.strictSame(withoutOverlay(overlaid), A)
  t.equal(describeSource(overlaid), 'kube-system/a:kubelet@1+merged-3f9a0c11')
})
