// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { formatVersion, parseVersion } from '../../src/preflight/kubelet-version.ts'

t.test('the output of kubelet --version, and short forms', (t) => {
  t.strictSame(parseVersion('Kubernetes v1.20.2\n'), { major: 1, minor: 20, patch: 2 })
  t.strictSame(parseVersion('v1.27.3+k3s1'), { major: 1, minor: 27, patch: 3 })
  t.strictSame(parseVersion('1.30'), { major: 1, minor: 30, patch: 0 })
  t.strictSame(parseVersion('v1.31.0-rc.1'), { major: 1, minor: 31, patch: 0 })
  for (const text of ['', 'kubelet', 'x1.2', '1', 'v1.x']) t.equal(parseVersion(text), undefined, text)
  t.equal(formatVersion({ major: 1, minor: 20, patch: 2 }), '1.20.2')
  t.end()
})
