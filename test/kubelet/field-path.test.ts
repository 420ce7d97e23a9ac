// SPDX-License-Identifier: Apache-2.0
import t from 'tap'
import { formatPath } from '../../src/kubelet/field-path.ts'

t.test('formats a path', (t) => {
  t.equal(formatPath(['authentication', 'x509', 'clientCAFile']), 'authentication.x509.clientCAFile')
  t.equal(formatPath(['reservedMemory', 0, 'limits']), 'reservedMemory[0].limits')
  t.equal(formatPath(['evictionHard', 'memory.available']), 'evictionHard["memory.available"]')
  t.equal(formatPath([]), '')
  t.end()
})
